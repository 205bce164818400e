//! Encodes messages as single lines, the framing of stdio.
//!
//! Requests are written by hand around the caller's parameters, so that JSON text which the caller
//! already has goes out verbatim.

use serde::Serialize;
use switchboard_wire::{RawError, RequestId, RpcError};

/// A member that the session adds to the parameters: its key and its JSON text.
pub(crate) type Member<'a> = (&'static str, &'a str);

/// Writes the parameters of a request, which are an object.
pub(crate) type Params<'a> = dyn Fn(&mut Vec<u8>) -> Result<(), RawError> + Sync + 'a;

/// The content of a request, before it gets an id.
#[derive(Clone, Copy)]
pub(crate) struct RequestContent<'a> {
    pub(crate) method: &'static str,
    pub(crate) params: &'a Params<'a>,
    /// Members that the session adds to the parameters.
    pub(crate) members: &'a [Member<'a>],
    /// The inside of `_meta`, without its braces; `_meta` is left out when this is empty.
    pub(crate) meta: &'a str,
    /// Asks the server for progress, with the request id as the token.
    pub(crate) wants_progress: bool,
}

/// Writes a request, merging the session's members and `_meta` into the caller's parameters.
pub(crate) fn request(id: &RequestId, request: &RequestContent<'_>) -> Result<Vec<u8>, RawError> {
    let RequestContent {
        method,
        params,
        members,
        meta,
        wants_progress,
    } = *request;
    let mut out = Vec::with_capacity(192 + meta.len());
    out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
    write(&mut out, id)?;
    out.extend_from_slice(br#","method":""#);
    // Method names are our own constants and need no escaping.
    out.extend_from_slice(method.as_bytes());
    out.push(b'"');
    let before = out.len();
    out.extend_from_slice(br#","params":"#);
    let start = out.len();
    params(&mut out)?;
    // Parameters are an object; the session's members go in before its last brace.
    if out.get(start..) == Some(b"null") {
        out.truncate(start);
        out.extend_from_slice(b"{}");
    }
    // Reopen the object: members are appended before its closing brace.
    out.pop();
    for (key, value) in members {
        add_member(&mut out, start, key, value.as_bytes());
    }
    if wants_progress || !meta.is_empty() {
        add_member(&mut out, start, "_meta", b"{");
        if wants_progress {
            out.extend_from_slice(br#""progressToken":"#);
            write(&mut out, id)?;
            if !meta.is_empty() {
                out.push(b',');
            }
        }
        out.extend_from_slice(meta.as_bytes());
        out.push(b'}');
    }
    // Only the opening brace was written: leave `params` out altogether.
    if out.len() == start + 1 {
        out.truncate(before);
    } else {
        out.push(b'}');
    }
    out.push(b'}');
    Ok(line(out))
}

fn add_member(out: &mut Vec<u8>, start: usize, key: &str, value: &[u8]) {
    if out.len() > start + 1 {
        out.push(b',');
    }
    out.push(b'"');
    out.extend_from_slice(key.as_bytes());
    out.extend_from_slice(b"\":");
    out.extend_from_slice(value);
}

/// Writes a notification; without parameters where there are none.
pub(crate) fn notification<P: Serialize>(
    method: &str,
    params: Option<&P>,
) -> Result<Vec<u8>, RawError> {
    let mut out = br#"{"jsonrpc":"2.0","method":"#.to_vec();
    write(&mut out, method)?;
    if let Some(params) = params {
        out.extend_from_slice(br#","params":"#);
        write(&mut out, params)?;
    }
    out.push(b'}');
    Ok(line(out))
}

/// Writes the answer to a request of the server.
pub(crate) fn answer<R: Serialize>(
    id: &RequestId,
    outcome: &Result<R, RpcError>,
) -> Result<Vec<u8>, RawError> {
    let mut out = br#"{"jsonrpc":"2.0","id":"#.to_vec();
    write(&mut out, id)?;
    match outcome {
        Ok(result) => {
            out.extend_from_slice(br#","result":"#);
            write(&mut out, result)?;
        }
        Err(error) => {
            out.extend_from_slice(br#","error":"#);
            write(&mut out, error)?;
        }
    }
    out.push(b'}');
    Ok(line(out))
}

fn write<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<(), RawError> {
    serde_json::to_writer(out, value).map_err(RawError::from)
}

/// Ends the line, and replaces line breaks inside the message.
fn line(mut out: Vec<u8>) -> Vec<u8> {
    // Text that a caller gave may be spread over lines. Valid JSON has line ends between tokens
    // only, where a space means the same.
    if memchr::memchr2(b'\n', b'\r', &out).is_some() {
        for byte in &mut out {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    out.push(b'\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use switchboard_wire::Raw;

    fn written(params: &(impl Serialize + Sync), members: &[Member<'_>], meta: &str) -> String {
        let params = |out: &mut Vec<u8>| Ok(serde_json::to_writer(out, params)?);
        let asked = RequestContent {
            method: "m",
            params: &params,
            members,
            meta,
            wants_progress: false,
        };
        let bytes = request(&7.into(), &asked).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn members_are_added_to_any_parameters() {
        let head = r#"{"jsonrpc":"2.0","id":7,"method":"m""#;
        assert_eq!(written(&json!({}), &[], ""), format!("{head}}}\n"));
        assert_eq!(written(&(), &[], ""), format!("{head}}}\n"));
        assert_eq!(
            written(&json!({}), &[], r#""a":1"#),
            format!("{head},\"params\":{{\"_meta\":{{\"a\":1}}}}}}\n")
        );
        assert_eq!(
            written(&json!({"x": 1}), &[("s", "\"t\"")], r#""a":1"#),
            format!("{head},\"params\":{{\"x\":1,\"s\":\"t\",\"_meta\":{{\"a\":1}}}}}}\n")
        );
    }

    #[test]
    fn a_message_is_one_line_whatever_the_caller_s_text() {
        let spread = Raw::parse("{\r\n \"a\": \"x\\ny\"\n}").unwrap();
        let text = written(&json!({"arguments": spread}), &[], "");
        assert_eq!(text.matches('\n').count(), 1);
        assert!(text.contains(r#""x\ny""#));
    }
}
