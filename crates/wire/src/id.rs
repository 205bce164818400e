//! The id of a request.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{FromRaw, Misfit, Raw};

/// The id of a request: an integer or a string, never `null`, and never the one for the other.
///
/// `7` and `"7"` are different ids; `7.0` is not an id at all.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestId {
    /// An integer id.
    Number(i64),
    /// A string id.
    Text(String),
}

impl RequestId {
    /// Reads an id off its JSON text; `None` for `null`, fractions and everything else.
    pub fn from_json(text: &str) -> Option<Self> {
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(Self::Text),
            // Nearly all ids look like this, and Rust parses them the same way as JSON, only faster.
            b'1'..=b'9' => text.parse().ok().map(Self::Number),
            // JSON forbids leading zeros, which Rust would accept.
            b'-' | b'0' => serde_json::from_str(text).ok().map(Self::Number),
            _ => None,
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl FromRaw for RequestId {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        Self::from_json(raw.as_str()).ok_or_else(|| {
            Misfit::new(crate::object::mismatch(
                "a string or an integer",
                raw.as_str(),
            ))
        })
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_i64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        Self::from_raw(&raw).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_integers_stay_distinct() {
        for number in [0, -1, i64::MIN, i64::MAX] {
            let text = number.to_string();
            assert_eq!(RequestId::from_json(&text), Some(RequestId::Number(number)));
        }
        assert_eq!(RequestId::from_json("7"), Some(RequestId::Number(7)));
        assert_eq!(RequestId::from_json("\"7\""), Some(RequestId::from("7")));
        assert_ne!(RequestId::from_json("7"), RequestId::from_json("\"7\""));
    }

    #[test]
    fn what_is_no_id_is_none() {
        for text in [
            "null",
            "7.0",
            "1e3",
            "true",
            "[]",
            "{}",
            "",
            "99999999999999999999",
        ] {
            assert_eq!(RequestId::from_json(text), None, "{text}");
        }
    }
}
