//! The types of JSON values.

use switchboard_wire::Raw;

/// A type of JSON value, as a schema names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonType {
    /// A string.
    String,
    /// A number without a fraction.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `null`.
    Null,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl JsonType {
    /// Parses the `type` of a schema.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "null" => Self::Null,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }

    /// Returns the type of a value. A number without a fraction is an integer, however it is written.
    pub fn of(value: &Raw) -> Self {
        let text = value.as_str();
        match text.as_bytes().first() {
            Some(b'"') => Self::String,
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') => Self::Null,
            _ if is_whole(text) => Self::Integer,
            _ => Self::Number,
        }
    }

    /// Returns true if values of this type are also of type `wanted`.
    pub fn is_a(self, wanted: Self) -> bool {
        self == wanted || (self == Self::Integer && wanted == Self::Number)
    }

    /// Returns the name in schemas.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Null => "null",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

/// Returns true if a number is whole; also for one beyond the precision of `f64`.
fn is_whole(number: &str) -> bool {
    if !number.contains(['.', 'e', 'E']) {
        return true;
    }
    number
        .parse::<f64>()
        .map_or(true, |number| !number.is_finite() || number.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_kind() {
        let kind = |text| JsonType::of(&Raw::parse(text).unwrap());
        assert_eq!(kind("\"5\""), JsonType::String);
        assert_eq!(kind("-5"), JsonType::Integer);
        assert_eq!(kind("5.0"), JsonType::Integer);
        assert_eq!(kind("1e3"), JsonType::Integer);
        assert_eq!(kind("1e400"), JsonType::Integer);
        assert_eq!(kind("5.5"), JsonType::Number);
        assert_eq!(kind("true"), JsonType::Boolean);
        assert_eq!(kind("null"), JsonType::Null);
        assert_eq!(kind("[]"), JsonType::Array);
        assert_eq!(kind("{}"), JsonType::Object);
    }

    #[test]
    fn an_integer_is_a_number_and_not_the_reverse() {
        assert!(JsonType::Integer.is_a(JsonType::Number));
        assert!(!JsonType::Number.is_a(JsonType::Integer));
    }
}
