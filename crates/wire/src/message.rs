//! Messages that own their parts, for code that keeps them longer than the line they came in.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::{Envelope, EnvelopeError, EnvelopeKind, FromRaw, Raw, RequestId, RpcError};

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
        /// The id of the request; `None` only for an error without a usable id.
        id: Option<RequestId>,
        /// The result, or the error.
        outcome: Result<Raw, RpcError>,
    },
}

impl Message {
    /// Reads one message.
    ///
    /// # Errors
    /// Fails if the text is not a JSON-RPC message.
    pub fn parse(text: &str) -> Result<Self, EnvelopeError> {
        let envelope = Envelope::parse(text)?;
        Ok(match envelope.into_kind()? {
            EnvelopeKind::Request { id, method, params } => Self::Request {
                id,
                method: method.into_owned(),
                params: params.map(Raw::from),
            },
            EnvelopeKind::Notification { method, params } => Self::Notification {
                method: method.into_owned(),
                params: params.map(Raw::from),
            },
            EnvelopeKind::Success { id, result } => Self::Response {
                id: Some(id),
                outcome: Ok(Raw::from(result)),
            },
            EnvelopeKind::Failure { id, error } => {
                let error =
                    RpcError::from_raw(&Raw::from(error)).map_err(|misfit| EnvelopeError {
                        id: id.clone(),
                        is_rpc: true,
                        what: format!("error: {misfit}"),
                    })?;
                Self::Response {
                    id,
                    outcome: Err(error),
                }
            }
        })
    }

    /// Writes the message as one line, without the newline at its end.
    ///
    /// The parts are written as they are, except that newlines between values become spaces: they
    /// would end the line.
    pub fn to_line(&self) -> String {
        // Raw parts are copied and not decoded again, so that nothing in them changes.
        let mut line = String::from(r#"{"jsonrpc":"2.0""#);
        let mut member = |name: &str, text: &str| {
            line.push_str(",\"");
            line.push_str(name);
            line.push_str("\":");
            // Inside a JSON string a newline is always an escape, so these are white space.
            for (index, piece) in text.split(['\n', '\r']).enumerate() {
                if index > 0 {
                    line.push(' ');
                }
                line.push_str(piece);
            }
        };
        match self {
            Self::Request { id, method, params } => {
                member("id", text_of(id).as_str());
                member("method", text_of(method).as_str());
                if let Some(params) = params {
                    member("params", params.as_str());
                }
            }
            Self::Notification { method, params } => {
                member("method", text_of(method).as_str());
                if let Some(params) = params {
                    member("params", params.as_str());
                }
            }
            Self::Response { id, outcome } => {
                member("id", text_of(id).as_str());
                match outcome {
                    Ok(result) => member("result", result.as_str()),
                    Err(error) => member("error", error.raw().as_str()),
                }
            }
        }
        line.push('}');
        line
    }
}

/// Encodes ids and method names, which always have a JSON form.
fn text_of<T: Serialize>(value: &T) -> Raw {
    Raw::of(value).unwrap_or_else(|_| Raw::null())
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("jsonrpc", "2.0")?;
        match self {
            Self::Request { id, method, params } => {
                map.serialize_entry("id", id)?;
                map.serialize_entry("method", method)?;
                if let Some(params) = params {
                    map.serialize_entry("params", params)?;
                }
            }
            Self::Notification { method, params } => {
                map.serialize_entry("method", method)?;
                if let Some(params) = params {
                    map.serialize_entry("params", params)?;
                }
            }
            Self::Response { id, outcome } => {
                map.serialize_entry("id", id)?;
                match outcome {
                    Ok(result) => map.serialize_entry("result", result)?,
                    Err(error) => map.serialize_entry("error", error)?,
                }
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_written_as_it_was_read() {
        for line in [
            r#"{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"b":1e400,"a":"\ud800"}}"#,
            r#"{"jsonrpc":"2.0","id":-1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":null,"error":{"x":1,"code":-1,"message":"no"}}"#,
        ] {
            let message = Message::parse(line).unwrap();
            assert_eq!(message.to_line(), line);
            assert_eq!(serde_json::to_string(&message).unwrap(), line);
        }
    }

    #[test]
    fn newlines_between_values_do_not_end_the_line() {
        let text = "{\"id\":1,\r\n\"result\":{\r\n\"a\": \"b\\n\"\n}}";
        assert_eq!(
            Message::parse(text).unwrap().to_line(),
            r#"{"jsonrpc":"2.0","id":1,"result":{  "a": "b\n" }}"#
        );
    }
}
