//! Parameters and results without members of their own.

use serde::{Deserialize, Serialize};

use crate::{FromRaw, Misfit, Raw};

/// Parameters of a message that has none: `{}` until the session adds `_meta`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoParams {}

/// A result, or a notification's parameters, without members of its own.
///
/// Any object fits, and so does `null`, which some servers send as an empty result.
#[derive(Clone, PartialEq, Debug)]
pub struct Empty(Raw);

impl Empty {
    /// The value as it was sent.
    pub fn raw(&self) -> &Raw {
        &self.0
    }

    /// The `_meta` object, as sent.
    pub fn meta(&self) -> Option<Raw> {
        self.0.member("_meta")
    }
}

impl FromRaw for Empty {
    const TAKES_NULL: bool = true;

    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        if raw.is_object() || raw.is_null() {
            Ok(Self(raw.clone()))
        } else {
            Err(Misfit::new(crate::object::mismatch(
                "an object",
                raw.as_str(),
            )))
        }
    }
}

impl Serialize for Empty {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_and_null_are_empty_and_nothing_else_is() {
        let read = |text: &str| Empty::from_raw(&Raw::parse(text).unwrap());
        assert_eq!(
            read(r#"{"_meta":{"a":1}}"#)
                .unwrap()
                .meta()
                .unwrap()
                .as_str(),
            r#"{"a":1}"#
        );
        assert_eq!(read("null").unwrap().meta(), None);
        assert!(read("[]").is_err());
        assert!(read("true").is_err());
    }
}
