//! Messages of clients, read strictly, and the messages to them, written fast.

use std::borrow::Cow;
use std::io::Write as _;

use bytes::Bytes;
use switchboard_wire::{
    Envelope, EnvelopeError, EnvelopeKind, FromRaw as _, Raw, RequestId, RpcError, code,
};

use crate::batch::is_batch;

/// One message of a client.
#[derive(Debug)]
pub(crate) enum ClientMessage {
    Request(ClientRequest),
    Notification {
        method: String,
        params: Option<Raw>,
    },
    /// The answer to a question that we asked the client. Without an id it belongs to none.
    Answer {
        id: Option<RequestId>,
        outcome: Result<Raw, RpcError>,
    },
}

/// One request of a client.
#[derive(Debug)]
pub(crate) struct ClientRequest {
    pub(crate) id: RequestId,
    pub(crate) method: String,
    pub(crate) params: Option<Raw>,
}

/// A text that is not a message, with the error to answer with.
#[derive(Debug)]
pub(crate) struct BadMessage {
    pub(crate) id: Option<RequestId>,
    pub(crate) error: RpcError,
}

/// The answer to one request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) id: RequestId,
    pub(crate) outcome: Result<Raw, RpcError>,
    /// Members written before those of the result: `"resultType":"complete"`, or nothing.
    pub(crate) added: Cow<'static, str>,
}

impl ClientMessage {
    /// Reads one message. Repeated members of the envelope, members that differ from ours in case alone,
    /// batches, and messages deeper than `depth` are refused.
    #[allow(clippy::result_large_err, reason = "a bad message is rare")]
    pub(crate) fn parse(text: &str, depth: usize) -> Result<Self, BadMessage> {
        if is_batch(text) {
            return Err(BadMessage::invalid(None, "batches are not accepted"));
        }
        let envelope = Envelope::parse(text).map_err(|error| {
            // JSON that is no object can be parsed: it is no request.
            let is_json = Raw::parse(text).is_ok();
            let code = if is_json {
                code::INVALID_REQUEST
            } else {
                code::PARSE_ERROR
            };
            let error = RpcError::new(code, &error.what);
            BadMessage { id: None, error }
        })?;
        let too_deep = |id: Option<RequestId>| {
            let why = format!("the message is nested deeper than the limit of {depth} levels");
            BadMessage::invalid(id, &why)
        };
        // The envelope itself is one level.
        let fits = |levels: usize| levels < depth;
        match envelope.into_strict_kind()? {
            EnvelopeKind::Request { id, method, params } => {
                if !params.as_ref().is_none_or(|params| fits(params.depth())) {
                    return Err(too_deep(Some(id)));
                }
                Ok(Self::Request(ClientRequest {
                    id,
                    method: method.into_owned(),
                    params: params.map(Raw::from),
                }))
            }
            EnvelopeKind::Notification { method, params } => {
                if !params.as_ref().is_none_or(|params| fits(params.depth())) {
                    return Err(too_deep(None));
                }
                Ok(Self::Notification {
                    method: method.into_owned(),
                    params: params.map(Raw::from),
                })
            }
            EnvelopeKind::Success { id, result } => {
                // The question gets an outcome all the same: nothing else would end its wait.
                let outcome = if fits(result.depth()) {
                    Ok(Raw::from(result))
                } else {
                    Err(too_deep(None).error)
                };
                let id = Some(id);
                Ok(Self::Answer { id, outcome })
            }
            EnvelopeKind::Failure { id, error } => {
                let read = RpcError::from_raw(&Raw::from(error));
                let outcome = Err(read.unwrap_or_else(|_| {
                    RpcError::new(code::INTERNAL_ERROR, "the client sent a malformed error")
                }));
                Ok(Self::Answer { id, outcome })
            }
        }
    }
}

#[cfg(any(test, feature = "http"))]
impl ClientRequest {
    /// The object `_meta` of the parameters, whatever it is.
    pub(crate) fn meta(&self) -> Option<Raw> {
        self.params.as_ref()?.member("_meta")
    }

    /// The protocol version in `_meta`, whatever it says; `None` if there is no such text.
    pub(crate) fn modern_version(&self) -> Option<String> {
        self.meta()?
            .member(switchboard_wire::meta::PROTOCOL_VERSION)?
            .as_text()
    }

    /// Returns true for an `initialize` of a client that says it is modern, and names no version to agree on:
    /// that era has no such method.
    pub(crate) fn is_modern_initialize(&self) -> bool {
        self.method == "initialize"
            && self.modern_version().is_some()
            && self
                .params
                .as_ref()
                .is_none_or(|it| it.member("protocolVersion").is_none())
    }

    /// The name that the header `Mcp-Name` must repeat.
    pub(crate) fn name(&self) -> Option<String> {
        let key = Self::name_key(&self.method)?;
        self.params.as_ref()?.member(key)?.as_text()
    }

    /// The parameter of a method that the header `Mcp-Name` must repeat.
    pub(crate) fn name_key(method: &str) -> Option<&'static str> {
        match method {
            "tools/call" | "prompts/get" => Some("name"),
            "resources/read" => Some("uri"),
            _ => None,
        }
    }
}

impl BadMessage {
    fn invalid(id: Option<RequestId>, why: &str) -> Self {
        let error = RpcError::new(code::INVALID_REQUEST, why);
        Self { id, error }
    }

    /// Writes the answer as JSON text; the id is `null` if there is none.
    pub(crate) fn to_bytes(&self) -> Bytes {
        error_bytes(self.id.as_ref(), &self.error)
    }
}

impl From<EnvelopeError> for BadMessage {
    fn from(error: EnvelopeError) -> Self {
        Self::invalid(error.id, &error.what)
    }
}

impl Reply {
    /// The answer with a result as it is.
    pub(crate) fn new(id: RequestId, outcome: Result<Raw, RpcError>) -> Self {
        let added = Cow::Borrowed("");
        Self { id, outcome, added }
    }

    /// Writes the answer as JSON text, the result exactly as it is.
    pub(crate) fn to_bytes(&self) -> Bytes {
        let result = match &self.outcome {
            Ok(result) => result.as_str(),
            Err(error) => return error_bytes(Some(&self.id), error),
        };
        // Room for everything at once: nothing is copied twice.
        let mut out = Vec::with_capacity(result.len() + self.added.len() + 64);
        begin_answer(&mut out, Some(&self.id));
        out.extend_from_slice(br#","result":"#);
        match result.strip_prefix('{') {
            Some(rest) if !self.added.is_empty() => {
                out.push(b'{');
                out.extend_from_slice(self.added.as_bytes());
                if !rest.trim_ascii_start().starts_with('}') {
                    out.push(b',');
                }
                out.extend_from_slice(rest.as_bytes());
            }
            _ => out.extend_from_slice(result.as_bytes()),
        }
        out.push(b'}');
        out.into()
    }
}

/// Writes a notification; `params` is the JSON text of its parameters.
pub(crate) fn notification(method: &str, params: Option<&str>) -> Bytes {
    let length = params.map_or(0, str::len);
    let mut out = Vec::with_capacity(length + method.len() + 48);
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":""#);
    // Our own method names, which need no escapes.
    out.extend_from_slice(method.as_bytes());
    out.push(b'"');
    end_call(&mut out, params);
    out.into()
}

/// Writes a request of ours.
pub(crate) fn question(id: &RequestId, method: &str, params: Option<&str>) -> Bytes {
    let length = params.map_or(0, str::len);
    let mut out = Vec::with_capacity(length + method.len() + 96);
    begin_answer(&mut out, Some(id));
    out.extend_from_slice(br#","method":""#);
    out.extend_from_slice(method.as_bytes());
    out.push(b'"');
    end_call(&mut out, params);
    out.into()
}

fn end_call(out: &mut Vec<u8>, params: Option<&str>) {
    if let Some(params) = params {
        out.extend_from_slice(br#","params":"#);
        out.extend_from_slice(params.as_bytes());
    }
    out.push(b'}');
}

fn error_bytes(id: Option<&RequestId>, error: &RpcError) -> Bytes {
    let text = error.raw().as_str();
    let mut out = Vec::with_capacity(text.len() + 64);
    begin_answer(&mut out, id);
    out.extend_from_slice(br#","error":"#);
    out.extend_from_slice(text.as_bytes());
    out.push(b'}');
    out.into()
}

fn begin_answer(out: &mut Vec<u8>, id: Option<&RequestId>) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write_id(out, id);
}

/// Writes an id as JSON.
pub(crate) fn write_id(out: &mut Vec<u8>, id: Option<&RequestId>) {
    // Writing to a vector does not fail, and a string always has a JSON form.
    let written = match id {
        Some(RequestId::Number(number)) => write!(out, "{number}"),
        Some(RequestId::Text(text)) => serde_json::to_writer(out, text).map_err(Into::into),
        None => out.write_all(b"null"),
    };
    drop(written);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ClientMessage, String> {
        ClientMessage::parse(text, 4).map_err(|bad| {
            let bytes = bad.to_bytes();
            String::from_utf8(bytes.to_vec()).unwrap()
        })
    }

    fn request(text: &str) -> ClientRequest {
        match parse(text) {
            Ok(ClientMessage::Request(request)) => request,
            other => panic!("not a request: {other:?}"),
        }
    }

    #[test]
    fn a_request_keeps_its_id_and_its_parameters() {
        let text = r#"{"jsonrpc":"2.0","id":"7","method":"tools/call","params":{"name":"a\u0062","_meta":{"io.modelcontextprotocol/protocolVersion":"x"}}}"#;
        let request = request(text);
        assert_eq!(request.id, RequestId::from("7"));
        assert_eq!(request.name().as_deref(), Some("ab"));
        assert!(request.meta().unwrap().is_object());
    }

    #[test]
    fn what_is_no_single_message_is_refused_with_its_code() {
        let invalid = |id: &str, why: &str| {
            format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"{why}"}}}}"#)
        };
        for text in [
            "[]",
            " [{}]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        ] {
            let why = invalid("null", "batches are not accepted");
            assert_eq!(parse(text).unwrap_err(), why);
        }
        let twice = r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#;
        let why = invalid("1", "a member of the envelope is there twice");
        assert_eq!(parse(twice).unwrap_err(), why);
        let folded = r#"{"jsonrpc":"2.0","id":1,"method":"ping","Id":2}"#;
        let why = invalid("1", "a member of the envelope is spelt in another case");
        assert_eq!(parse(folded).unwrap_err(), why);
        for text in ["", "{", "nonsense", "{} {}", "\u{0}"] {
            let error = parse(text).unwrap_err();
            assert!(
                error.contains(r#""id":null,"error":{"code":-32700"#),
                "{error}"
            );
        }
        for id in ["null", "1.5", "[]", "{}", "true", "99999999999999999999"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            let why = invalid("null", "the id is neither a string nor an integer");
            assert_eq!(parse(&text).unwrap_err(), why);
        }
    }

    #[test]
    fn a_message_at_the_depth_limit_passes_and_one_over_it_does_not() {
        let nested = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"a":{open}{close}}}}}"#)
        };
        assert!(parse(&nested(2)).is_ok());
        let error = parse(&nested(3)).unwrap_err();
        assert!(
            error.contains(r#""id":1,"error":{"code":-32600"#),
            "{error}"
        );
        assert!(
            error.contains("deeper than the limit of 4 levels"),
            "{error}"
        );
    }

    #[test]
    fn an_answer_that_is_too_deep_still_ends_its_question() {
        let text = r#"{"jsonrpc":"2.0","id":"q","result":[[[[1]]]]}"#;
        let Ok(ClientMessage::Answer { id, outcome }) = parse(text) else {
            panic!("not an answer")
        };
        assert_eq!(id, Some(RequestId::from("q")));
        assert_eq!(outcome.unwrap_err().code(), code::INVALID_REQUEST);
    }

    #[test]
    fn a_result_is_written_as_it_is_after_what_is_added() {
        let reply = |result: &str, added| {
            let outcome = Ok(Raw::parse(result).unwrap());
            let id = RequestId::Number(-3);
            let added = Cow::Borrowed(added);
            let bytes = Reply { id, outcome, added }.to_bytes();
            String::from_utf8(bytes.to_vec()).unwrap()
        };
        let head = r#"{"jsonrpc":"2.0","id":-3,"result":"#;
        let odd = r#"{ "b":1e400,"a":"\ud800" }"#;
        assert_eq!(reply(odd, ""), format!("{head}{odd}}}"));
        let added = r#""x":1"#;
        let whole = format!(r#"{head}{{"x":1, "b":1e400,"a":"\ud800" }}}}"#);
        assert_eq!(reply(odd, added), whole);
        assert_eq!(reply("{ }", added), format!(r#"{head}{{"x":1 }}}}"#));
        assert_eq!(reply("null", added), format!("{head}null}}"));
    }

    #[test]
    fn what_we_send_is_json_whatever_the_id() {
        let id = RequestId::from("a\"b\n");
        let text = |bytes: Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        assert_eq!(
            text(question(&id, "roots/list", None)),
            r#"{"jsonrpc":"2.0","id":"a\"b\n","method":"roots/list"}"#
        );
        assert_eq!(
            text(notification("notifications/x", Some("{}"))),
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":{}}"#
        );
    }
}
