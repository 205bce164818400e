//! The JSON-RPC envelope: what kind of message a line is.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::object::Key;
use crate::{FromRaw, Raw, RequestId, RpcError};

/// A message read once, its parts borrowed from the line.
///
/// Values are skipped over, not built, so that a part which is too deep, or holds what Rust's
/// types cannot, still lets the message be matched to its call.
#[derive(Debug, Default)]
pub struct Envelope<'a> {
    id: Option<&'a str>,
    method: Option<Cow<'a, str>>,
    params: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    error: Option<&'a RawValue>,
    repeated: bool,
}

/// What kind of message an envelope is.
#[derive(Debug)]
pub enum Kind<'a> {
    /// The peer asks something and waits for the answer.
    Request {
        /// The id to answer with.
        id: RequestId,
        /// The method asked for.
        method: &'a str,
        /// Its parameters.
        params: Option<&'a RawValue>,
    },
    /// The peer says something.
    Notification {
        /// What it says.
        method: &'a str,
        /// Its parameters.
        params: Option<&'a RawValue>,
    },
    /// The peer answers.
    Success {
        /// The id of the request.
        id: RequestId,
        /// The result, which is raw until somebody who knows its type reads it.
        result: &'a RawValue,
    },
    /// The peer answers with an error.
    Failure {
        /// The id of the request; `None` where the peer could not tell, or sent no usable id.
        id: Option<RequestId>,
        /// The error.
        error: &'a RawValue,
    },
}

/// Why a line is no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvelopeError {
    /// The id, where one could be read: the call that the line probably belongs to.
    pub id: Option<RequestId>,
    /// What is wrong.
    pub what: String,
}

impl fmt::Display for EnvelopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for EnvelopeError {}

impl<'a> Envelope<'a> {
    /// Reads the envelope of one message.
    ///
    /// # Errors
    /// When the text is not one JSON object.
    pub fn parse(text: &'a str) -> Result<Self, EnvelopeError> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let broken = |error: serde_json::Error| EnvelopeError {
            id: None,
            what: error.to_string(),
        };
        let envelope = deserializer.deserialize_map(Members).map_err(broken)?;
        deserializer.end().map_err(broken)?;
        Ok(envelope)
    }

    /// Says what kind of message it is.
    ///
    /// # Errors
    /// When it is none: both or neither of `result` and `error`, a key twice, an id that is
    /// neither string nor integer.
    pub fn kind(&self) -> Result<Kind<'_>, EnvelopeError> {
        let id = self.id.and_then(RequestId::from_json);
        let wrong = |what: &str| EnvelopeError {
            id: id.clone(),
            what: what.to_owned(),
        };
        if self.repeated {
            return Err(wrong("a member of the envelope is there twice"));
        }
        match (&self.method, self.result, self.error) {
            (Some(method), None, None) => match (self.id, id.clone()) {
                (None, _) => Ok(Kind::Notification {
                    method,
                    params: self.params,
                }),
                (Some(_), Some(id)) => Ok(Kind::Request {
                    id,
                    method,
                    params: self.params,
                }),
                (Some(_), None) => Err(wrong("the id is neither a string nor an integer")),
            },
            (None, Some(result), None) => match id.clone() {
                Some(id) => Ok(Kind::Success { id, result }),
                None => Err(wrong("a result without a usable id")),
            },
            (None, None, Some(error)) => Ok(Kind::Failure { id, error }),
            (None, None, None) => Err(wrong("neither a method nor a result nor an error")),
            (None, Some(_), Some(_)) => Err(wrong("both a result and an error")),
            (Some(_), _, _) => Err(wrong("a method together with a result or an error")),
        }
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Envelope<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(key) = map.next_key_seed(Key)? {
            let value: &'de RawValue = map.next_value()?;
            let before = match &*key {
                "id" => envelope.id.replace(value.get()).is_some(),
                "params" => envelope.params.replace(value).is_some(),
                // `"result": null` is a result: some servers answer a ping so.
                "result" => envelope.result.replace(value).is_some(),
                // `"error": null` beside a result is what JSON-RPC 1 servers write.
                "error" if value.get() == "null" => false,
                "error" => envelope.error.replace(value).is_some(),
                "method" => {
                    let name = serde_json::from_str::<Name<'de>>(value.get())
                        .map_err(serde::de::Error::custom)?;
                    envelope.method.replace(name.0).is_some()
                }
                _ => false,
            };
            envelope.repeated |= before;
        }
        Ok(envelope)
    }
}

#[derive(serde::Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// A message that owns its parts.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// A request.
    Request {
        /// Its id.
        id: RequestId,
        /// Its method.
        method: String,
        /// Its parameters.
        params: Option<Raw>,
    },
    /// A notification.
    Notification {
        /// Its method.
        method: String,
        /// Its parameters.
        params: Option<Raw>,
    },
    /// An answer.
    Response {
        /// The id of the request; `None` only for an error that names none.
        id: Option<RequestId>,
        /// The result, or the error.
        outcome: Result<Raw, RpcError>,
    },
}

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    /// When the text is no JSON-RPC message.
    pub fn parse(text: &str) -> Result<Self, EnvelopeError> {
        let envelope = Envelope::parse(text)?;
        Ok(match envelope.kind()? {
            Kind::Request { id, method, params } => Self::Request {
                id,
                method: method.to_owned(),
                params: params.map(Raw::from_checked),
            },
            Kind::Notification { method, params } => Self::Notification {
                method: method.to_owned(),
                params: params.map(Raw::from_checked),
            },
            Kind::Success { id, result } => Self::Response {
                id: Some(id),
                outcome: Ok(Raw::from_checked(result)),
            },
            Kind::Failure { id, error } => {
                let error = RpcError::from_raw(&Raw::from_checked(error)).map_err(|misfit| {
                    EnvelopeError {
                        id: id.clone(),
                        what: format!("error: {misfit}"),
                    }
                })?;
                Self::Response {
                    id,
                    outcome: Err(error),
                }
            }
        })
    }
}
