//! The JSON-RPC envelope: splits a line into the parts of a message and finds its kind.

use std::borrow::Cow;
use std::fmt;

use crate::scan::{self, past_space};
use crate::{Checked, RequestId, check};

/// One message, with its parts borrowed from the line.
///
/// Values are checked and skipped, not built. A result that is too deep, or that Rust's types cannot
/// hold, can therefore still be matched to its call.
#[derive(Debug, Default)]
pub struct Envelope<'a> {
    id: Option<&'a str>,
    method: Option<Cow<'a, str>>,
    params: Option<Checked<'a>>,
    result: Option<Checked<'a>>,
    error: Option<Checked<'a>>,
    /// The member `jsonrpc`.
    version: Option<&'a str>,
    repeated: bool,
    /// True if a member differs from one of ours in case alone.
    misspelt: bool,
}

/// The members of an envelope.
const MEMBERS: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];

/// A message, by its kind.
#[derive(Debug)]
pub enum EnvelopeKind<'a> {
    /// A request, to which the peer expects an answer.
    Request {
        /// The id to answer with.
        id: RequestId,
        /// The method asked for.
        method: Cow<'a, str>,
        /// Its parameters.
        params: Option<Checked<'a>>,
    },
    /// A notification.
    Notification {
        /// The method named.
        method: Cow<'a, str>,
        /// Its parameters.
        params: Option<Checked<'a>>,
    },
    /// An answer with a result.
    Success {
        /// The id of the request.
        id: RequestId,
        /// The result, unread: only the caller knows its type.
        result: Checked<'a>,
    },
    /// An answer with an error.
    Failure {
        /// The id of the request; `None` if the peer could not tell, or sent no usable id.
        id: Option<RequestId>,
        /// The error.
        error: Checked<'a>,
    },
}

/// A line that is not a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeError {
    /// The id, if one could be read: the call that the line probably belongs to.
    pub id: Option<RequestId>,
    /// True if a member of the line suggests that it is meant to be a JSON-RPC message.
    pub is_rpc: bool,
    /// The reason.
    pub what: String,
}

impl fmt::Display for EnvelopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for EnvelopeError {}

impl<'a> Envelope<'a> {
    /// Reads the envelope of one message, checking all of its text.
    ///
    /// # Errors
    /// Fails if the text is not one JSON object.
    pub fn parse(text: &'a str) -> Result<Self, EnvelopeError> {
        let bytes = text.as_bytes();
        let mut envelope = Self::default();
        let start = past_space(bytes, 0);
        // Check and split in one pass: each member's value is checked when the walk reaches it.
        let end = scan::walk_with(check::string_end, text, start, |key, at| {
            let (value, end) = check::value(text, at)?;
            envelope.take(key, value)?;
            Some(end)
        });
        match end {
            Some(end) if past_space(bytes, end) == text.len() => Ok(envelope),
            _ => Err(EnvelopeError {
                id: None,
                is_rpc: true,
                what: check::describe_error(text),
            }),
        }
    }

    /// Stores one member; `None` if the method is not a string.
    fn take(&mut self, key: &str, value: Checked<'a>) -> Option<()> {
        let before = match key {
            "id" => self.id.replace(value.as_str()).is_some(),
            "params" => self.params.replace(value).is_some(),
            // `"result": null` is a result: some servers answer a ping so.
            "result" => self.result.replace(value).is_some(),
            // `"error": null` beside a result is what JSON-RPC 1 servers write.
            "error" if value.as_str() == "null" => false,
            "error" => self.error.replace(value).is_some(),
            "method" => {
                let name = serde_json::from_str::<Name<'a>>(value.as_str()).ok()?;
                self.method.replace(name.0).is_some()
            }
            "jsonrpc" => self.version.replace(value.as_str()).is_some(),
            _ => {
                self.misspelt |= MEMBERS.iter().any(|known| known.eq_ignore_ascii_case(key));
                false
            }
        };
        self.repeated |= before;
        Some(())
    }

    /// Decides the kind of a message of a peer that is not to be trusted: it must say `"jsonrpc": "2.0"`,
    /// and no member may be one of ours in another case, which some parsers take for it.
    ///
    /// # Errors
    /// Fails for those, and for the reasons of [`Envelope::into_kind`].
    pub fn into_strict_kind(self) -> Result<EnvelopeKind<'a>, EnvelopeError> {
        let what = if self.misspelt {
            "a member of the envelope is spelt in another case"
        } else if self.version != Some(r#""2.0""#) {
            "the member jsonrpc is not \"2.0\""
        } else {
            return self.into_kind();
        };
        Err(EnvelopeError {
            id: self.id.and_then(RequestId::from_json),
            is_rpc: true,
            what: what.to_owned(),
        })
    }

    /// Decides the kind of the message.
    ///
    /// # Errors
    /// Fails if it is not a JSON-RPC message: both or neither of `result` and `error`, a repeated
    /// member, an id that is neither a string nor an integer.
    pub fn into_kind(self) -> Result<EnvelopeKind<'a>, EnvelopeError> {
        // Read the id before anything can fail: an error can then still be matched to its call.
        let id = self.id.and_then(RequestId::from_json);
        let is_rpc = self.version.is_some()
            || self.method.is_some()
            || self.result.is_some()
            || self.error.is_some();
        let wrong = |what: &str| EnvelopeError {
            id: id.clone(),
            is_rpc,
            what: what.to_owned(),
        };
        // Parsers disagree about repeated members, so such a message is ambiguous.
        if self.repeated {
            return Err(wrong("a member of the envelope is there twice"));
        }
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => match (self.id, id.clone()) {
                (None, _) => Ok(EnvelopeKind::Notification {
                    method,
                    params: self.params,
                }),
                (Some(_), Some(id)) => Ok(EnvelopeKind::Request {
                    id,
                    method,
                    params: self.params,
                }),
                (Some(_), None) => Err(wrong("the id is neither a string nor an integer")),
            },
            (None, Some(result), None) => match id.clone() {
                Some(id) => Ok(EnvelopeKind::Success { id, result }),
                None => Err(wrong("a result without a usable id")),
            },
            (None, None, Some(error)) => Ok(EnvelopeKind::Failure { id, error }),
            (None, None, None) => Err(wrong("neither a method nor a result nor an error")),
            (None, Some(_), Some(_)) => Err(wrong("both a result and an error")),
            (Some(_), _, _) => Err(wrong("a method together with a result or an error")),
        }
    }
}

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Result<String, String> {
        let envelope = Envelope::parse(text).map_err(|error| error.what)?;
        match envelope.into_kind() {
            Ok(EnvelopeKind::Request { id, method, .. }) => Ok(format!("request {id} {method}")),
            Ok(EnvelopeKind::Notification { method, .. }) => Ok(format!("notification {method}")),
            Ok(EnvelopeKind::Success { id, result }) => Ok(format!("success {id} {result}")),
            Ok(EnvelopeKind::Failure { id, error }) => Ok(format!("failure {id:?} {error}")),
            Err(error) => Err(format!("{:?} {}", error.id, error.what)),
        }
    }

    #[test]
    fn a_null_result_is_a_result_and_a_null_error_beside_one_is_none() {
        let text = r#"{"jsonrpc":"2.0","id":1,"result":null,"error":null}"#;
        assert_eq!(kind(text), Ok("success 1 null".to_owned()));
    }

    #[test]
    fn an_error_may_name_no_request() {
        let text = r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#;
        assert_eq!(
            kind(text),
            Ok(r#"failure None {"code":1,"message":""}"#.to_owned())
        );
    }

    #[test]
    fn what_is_no_message_still_names_its_call() {
        let both = r#"{"id":"a","result":{},"error":{}}"#;
        assert_eq!(
            kind(both),
            Err(r#"Some(Text("a")) both a result and an error"#.to_owned())
        );
        let twice = r#"{"id":7,"method":"m","method":"n"}"#;
        assert_eq!(
            kind(twice),
            Err("Some(Number(7)) a member of the envelope is there twice".to_owned())
        );
        assert!(kind("[]").is_err());
        assert!(kind(r#"{"id":1.5,"method":"m"}"#).is_err());
    }

    #[test]
    fn a_strict_reader_refuses_lookalikes_and_other_versions() {
        let strict = |text: &str| {
            let kind = Envelope::parse(text).unwrap().into_strict_kind();
            kind.map(drop).map_err(|error| (error.id, error.what))
        };
        let id = Some(RequestId::Number(1));
        assert_eq!(
            strict(r#"{"jsonrpc":"2.0","id":1,"method":"m","x":1}"#),
            Ok(())
        );
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"m","Method":"n"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","PARAMS":{}}"#,
        ] {
            let why = "a member of the envelope is spelt in another case".to_owned();
            assert_eq!(strict(text), Err((id.clone(), why)));
        }
        for text in [
            r#"{"id":1,"method":"m"}"#,
            r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#,
        ] {
            let why = "the member jsonrpc is not \"2.0\"".to_owned();
            assert_eq!(strict(text), Err((id.clone(), why)));
        }
    }

    #[test]
    fn a_key_that_is_no_text_does_not_cost_the_message() {
        let text = r#"{"\ud800":1,"id":3,"result":{}}"#;
        assert_eq!(kind(text), Ok("success 3 {}".to_owned()));
    }

    #[test]
    fn a_result_deeper_than_any_value_type_still_finds_its_call() {
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        let text = format!(r#"{{"id":3,"result":{deep}}}"#);
        assert_eq!(kind(&text), Ok(format!("success 3 {deep}")));
    }
}
