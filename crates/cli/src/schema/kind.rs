//! The types of JSON values.

use switchboard::protocol::Raw;

/// A type of JSON value, as a schema names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Null,
    Array,
    Object,
}

impl Kind {
    /// Parses the `type` of a schema.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
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
    pub(crate) fn of(value: &Raw) -> Self {
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
    pub(crate) fn is_a(self, wanted: Self) -> bool {
        self == wanted || (self == Self::Integer && wanted == Self::Number)
    }

    /// Returns the name in schemas.
    pub(crate) fn name(self) -> &'static str {
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
        let kind = |text| Kind::of(&Raw::parse(text).unwrap());
        assert_eq!(kind("\"5\""), Kind::String);
        assert_eq!(kind("-5"), Kind::Integer);
        assert_eq!(kind("5.0"), Kind::Integer);
        assert_eq!(kind("1e3"), Kind::Integer);
        assert_eq!(kind("1e400"), Kind::Integer);
        assert_eq!(kind("5.5"), Kind::Number);
        assert_eq!(kind("true"), Kind::Boolean);
        assert_eq!(kind("null"), Kind::Null);
        assert_eq!(kind("[]"), Kind::Array);
        assert_eq!(kind("{}"), Kind::Object);
    }

    #[test]
    fn an_integer_is_a_number_and_not_the_reverse() {
        assert!(Kind::Integer.is_a(Kind::Number));
        assert!(!Kind::Number.is_a(Kind::Integer));
    }
}
