//! The envelope: what is a message, of which kind, and with which parts.

use serde_json::Value;
use switchboard::protocol::{Checked, Envelope, EnvelopeKind, Message, RequestId};

use crate::model::{self, Key};

/// Reads a text as a message and compares every part with what `serde_json` reads there.
///
/// # Panics
/// Where the two differ, where a part is not a piece of the very input, or where a message that is
/// written out again reads as another one.
pub fn envelope(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let expected = model::members(text).and_then(|members| Model::of(&members));
    let parsed = Envelope::parse(text);
    assert_eq!(
        parsed.is_ok(),
        expected.is_some(),
        "{parsed:?} for {text:?}"
    );
    let (Ok(parsed), Some(expected)) = (parsed, expected) else {
        assert!(Message::parse(text).is_err(), "a message after all: {text}");
        return;
    };
    match parsed.into_kind() {
        Ok(kind) => {
            let found = Found::of(text, &kind);
            assert_eq!(expected.judge(), Some(found), "{text:?}");
        }
        Err(error) => {
            assert_eq!(expected.judge(), None, "{error:?} for {text:?}");
            assert_eq!(error.id, expected.id(), "{text:?}");
        }
    }
    comes_back(text);
}

/// A message as its parts, to be compared whole.
#[derive(Debug, PartialEq)]
enum Found<'a> {
    Request(RequestId, String, Option<&'a str>),
    Notification(String, Option<&'a str>),
    Success(RequestId, &'a str),
    Failure(Option<RequestId>, &'a str),
}

impl<'a> Found<'a> {
    fn of(whole: &'a str, kind: &EnvelopeKind<'a>) -> Self {
        let part = |checked: &Checked<'a>| {
            let text = checked.as_str();
            model::assert_is_part(whole, text);
            assert_eq!(checked.depth(), model::depth(text), "{text:?}");
            text
        };
        match kind {
            EnvelopeKind::Request { id, method, params } => {
                let params = params.as_ref().map(part);
                Self::Request(id.clone(), method.to_string(), params)
            }
            EnvelopeKind::Notification { method, params } => {
                Self::Notification(method.to_string(), params.as_ref().map(part))
            }
            EnvelopeKind::Success { id, result } => Self::Success(id.clone(), part(result)),
            EnvelopeKind::Failure { id, error } => Self::Failure(id.clone(), part(error)),
        }
    }
}

/// The members of an envelope, read the plain way.
#[derive(Default)]
struct Model<'a> {
    id: Vec<&'a str>,
    method: Vec<String>,
    params: Vec<&'a str>,
    result: Vec<&'a str>,
    error: Vec<&'a str>,
    jsonrpc: Vec<&'a str>,
}

impl<'a> Model<'a> {
    /// Sorts the members; `None` where a method is no string.
    fn of(members: &[(Key, &'a str)]) -> Option<Self> {
        let mut model = Self::default();
        for (key, value) in members {
            match key.text() {
                Some("id") => model.id.push(value),
                Some("method") => model.method.push(serde_json::from_str(value).ok()?),
                Some("params") => model.params.push(value),
                Some("result") => model.result.push(value),
                // A null error is what JSON-RPC 1 writes beside a result.
                Some("error") if *value != "null" => model.error.push(value),
                Some("jsonrpc") => model.jsonrpc.push(value),
                _ => {}
            }
        }
        Some(model)
    }

    fn id(&self) -> Option<RequestId> {
        match serde_json::from_str(self.id.last()?).ok()? {
            Value::String(text) => Some(RequestId::Text(text)),
            Value::Number(number) => number.as_i64().map(RequestId::Number),
            _ => None,
        }
    }

    /// What kind of message it is; `None` where it is none.
    fn judge(&self) -> Option<Found<'a>> {
        let counts = [
            self.id.len(),
            self.method.len(),
            self.params.len(),
            self.result.len(),
            self.error.len(),
            self.jsonrpc.len(),
        ];
        if counts.iter().any(|count| *count > 1) {
            return None;
        }
        let params = self.params.first().copied();
        match (self.method.first(), self.result.first(), self.error.first()) {
            (Some(method), None, None) if self.id.is_empty() => {
                Some(Found::Notification(method.clone(), params))
            }
            (Some(method), None, None) => Some(Found::Request(self.id()?, method.clone(), params)),
            (None, Some(result), None) => Some(Found::Success(self.id()?, result)),
            (None, None, Some(error)) => Some(Found::Failure(self.id(), error)),
            _ => None,
        }
    }
}

/// A message that is written as a line is one line, and the same message.
fn comes_back(text: &str) {
    let Ok(message) = Message::parse(text) else {
        return;
    };
    let line = message.to_line();
    assert!(!line.contains(['\n', '\r']), "{line:?}");
    let again = Message::parse(&line).unwrap();
    assert_eq!(again.to_line(), line);
    if !text.contains(['\n', '\r']) {
        assert_eq!(again, message, "{text:?}");
    }
}
