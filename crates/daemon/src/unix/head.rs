//! What a line is, as far as the daemon needs to know: the rest passes as it is.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The parts of a message.
#[derive(Debug, Deserialize)]
pub(super) struct Head<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Notification,
    Answer,
}

impl<'a> Head<'a> {
    /// Reads a line; `None` if it is not one message.
    pub(super) fn read(line: &'a [u8]) -> Option<Self> {
        // A sequence would be read as the members of an object.
        let is_object = line.trim_ascii_start().starts_with(b"{");
        is_object.then(|| serde_json::from_slice(line).ok())?
    }

    pub(super) fn kind(&self) -> Kind {
        match (&self.method, self.id) {
            (Some(_), Some(_)) => Kind::Request,
            (Some(_), None) => Kind::Notification,
            (None, _) => Kind::Answer,
        }
    }

    /// The id as it is written.
    pub(super) fn id(&self) -> &'a str {
        self.id.map_or("null", RawValue::get)
    }

    /// The id, if it is a number.
    pub(super) fn number(&self) -> Option<i64> {
        self.id().parse().ok()
    }

    /// The parameters as they are written.
    pub(super) fn params(&self) -> &'a str {
        self.params.map_or("", RawValue::get)
    }

    pub(super) fn is_error(&self) -> bool {
        self.error.is_some()
    }

    /// The line with another id.
    pub(super) fn with_id(&self, line: &[u8], id: &str) -> Option<Vec<u8>> {
        let own = self.id?.get();
        // A part of the line, so its place follows from its address.
        let start = (own.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?;
        let end = start.checked_add(own.len())?;
        Some([line.get(..start)?, id.as_bytes(), line.get(end..)?].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_apart() {
        for (line, kind) in [
            (r#"{"id":1,"method":"ping"}"#, Kind::Request),
            (
                r#"{"method":"notifications/initialized"}"#,
                Kind::Notification,
            ),
            (r#"{"result":{"method":"x"},"id":"a"}"#, Kind::Answer),
            (r#"{"error":{}}"#, Kind::Answer),
        ] {
            let head = Head::read(line.as_bytes()).unwrap();
            assert_eq!(head.kind(), kind, "{line}");
        }
        for line in [
            "",
            "hello",
            "[]",
            "1",
            r#"{"id":1,"id":2}"#,
            r#"{"method":1}"#,
        ] {
            assert!(Head::read(line.as_bytes()).is_none(), "{line}");
        }
    }

    #[test]
    fn an_answer_is_given_again_under_another_id() {
        let line = br#"{ "jsonrpc" : "2.0","result":{"id":1}, "id" : 1 }"#;
        let head = Head::read(line).unwrap();
        let again = head.with_id(line, "\"x\"").unwrap();
        let expected = r#"{ "jsonrpc" : "2.0","result":{"id":1}, "id" : "x" }"#;
        assert_eq!(String::from_utf8(again).unwrap(), expected);
    }
}
