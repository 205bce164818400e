//! JSON-RPC errors.

use std::fmt;

use crate::Raw;

/// Error codes with a meaning that the specification gives them.
pub mod code {
    /// The peer could not parse the message.
    pub const PARSE_ERROR: i64 = -32700;
    /// The message is not a valid request.
    pub const INVALID_REQUEST: i64 = -32600;
    /// The method does not exist or is not available.
    pub const METHOD_NOT_FOUND: i64 = -32601;
    /// The parameters do not fit; also "no such tool", and since 2026-07-28 "no such resource".
    pub const INVALID_PARAMS: i64 = -32602;
    /// Something went wrong inside the peer.
    pub const INTERNAL_ERROR: i64 = -32603;
    /// Legacy: no such resource. Still accepted from modern servers.
    pub const RESOURCE_NOT_FOUND: i64 = -32002;
    /// 2025-11-25 only: URLs must be visited first (`data.elicitations`).
    pub const URL_ELICITATION_REQUIRED: i64 = -32042;
    /// Modern: an HTTP header does not match the body.
    pub const HEADER_MISMATCH: i64 = -32020;
    /// Modern: the request needs a capability that the client did not declare.
    pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
    /// Modern: the version of the request is not supported (`data.supported`).
    pub const UNSUPPORTED_VERSION: i64 = -32022;
    /// Legacy, client to server: the person refused to sample.
    pub const USER_REJECTED: i64 = -1;
}

wire_object! {
    /// An error that a peer answered with.
    pub struct RpcError {
        /// The error's code.
        code: [copy i64] = "code",
        /// The peer's words.
        message: [str] = "message",
        /// Further details from the peer.
        data: [opt of Raw] = "data",
    }
}

impl RpcError {
    /// Creates an error to answer a peer with.
    pub fn new(code: i64, message: &str) -> Self {
        Self::build(code, message, None)
    }

    /// Creates an error with further details.
    pub fn with_data(code: i64, message: &str, data: Raw) -> Self {
        Self::build(code, message, Some(data))
    }

    fn build(code: i64, message: &str, data: Option<Raw>) -> Self {
        #[derive(serde::Serialize)]
        struct RpcErrorMembers<'a> {
            code: i64,
            message: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            data: Option<&'a Raw>,
        }
        let members = RpcErrorMembers {
            code,
            message,
            data: data.as_ref(),
        };
        Self {
            raw: Raw::of(&members).unwrap_or_else(|_| Raw::empty_object()),
            code,
            message: message.to_owned().into(),
            data,
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (code {})", self.message(), self.code)
    }
}

impl std::error::Error for RpcError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FromRaw;

    #[test]
    fn an_error_that_we_make_is_one_that_we_read() {
        let plain = RpcError::new(code::METHOD_NOT_FOUND, "no such method");
        assert_eq!(
            plain.raw().as_str(),
            r#"{"code":-32601,"message":"no such method"}"#
        );
        assert_eq!(RpcError::from_raw(plain.raw()), Ok(plain));
        let more = RpcError::with_data(1, "no", Raw::parse("1.10").unwrap());
        assert_eq!(RpcError::from_raw(more.raw()), Ok(more));
    }
}
