//! JSON-RPC errors of the server.

use serde::Serialize;
use serde_json::{Map, Value, json};
#[cfg(feature = "http")]
use switchboard_wire::RequestId;
use switchboard_wire::code;

/// An error that answers a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Failure {
    code: i64,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Box<Value>>,
}

impl Failure {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// A header that contradicts the body.
    #[cfg(feature = "http")]
    pub(crate) fn header_mismatch(message: impl Into<String>) -> Self {
        Self::new(code::HEADER_MISMATCH, message)
    }

    /// The error of legacy servers for misuse of HTTP; the code has no meaning of its own.
    #[cfg(feature = "http")]
    pub(crate) fn legacy_http(message: impl Into<String>) -> Self {
        Self::new(-32000, message)
    }

    #[cfg(feature = "http")]
    pub(crate) fn is_unsupported_version(&self) -> bool {
        self.code == code::UNSUPPORTED_VERSION
    }

    /// The error as a complete message.
    #[cfg(feature = "http")]
    pub(crate) fn answer(&self, id: Option<&RequestId>) -> String {
        json!({"jsonrpc": "2.0", "id": id, "error": self}).to_string()
    }

    pub(crate) fn parse(message: impl Into<String>) -> Self {
        Self::new(code::PARSE_ERROR, message)
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, message)
    }

    pub(crate) fn unknown_method(method: &str) -> Self {
        Self::new(code::METHOD_NOT_FOUND, format!("unknown method {method}"))
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// An unknown resource: has a code of its own until 2025-11-25.
    pub(crate) fn unknown_resource(uri: &str, modern: bool) -> Self {
        let code = if modern {
            code::INVALID_PARAMS
        } else {
            code::RESOURCE_NOT_FOUND
        };
        Self {
            data: Some(Box::new(json!({"uri": uri}))),
            ..Self::new(code, "no such resource")
        }
    }

    pub(crate) fn unsupported_version(supported: &[&str], requested: &Value) -> Self {
        Self {
            data: Some(Box::new(
                json!({"supported": supported, "requested": requested}),
            )),
            ..Self::new(code::UNSUPPORTED_VERSION, "unsupported protocol version")
        }
    }

    /// Demands a visit of an address first: 2025-11-25 only.
    pub(crate) fn visit_first(question: &Value) -> Self {
        Self {
            data: Some(Box::new(json!({"elicitations": [question]}))),
            ..Self::new(
                code::URL_ELICITATION_REQUIRED,
                "a visit to an address is required first",
            )
        }
    }

    pub(crate) fn missing_capability(required: &Value) -> Self {
        Self {
            data: Some(Box::new(json!({"requiredCapabilities": required}))),
            ..Self::new(
                code::MISSING_CLIENT_CAPABILITY,
                "the request needs a capability that the client did not declare",
            )
        }
    }
}

/// Reads a parameter that must be a string.
pub(crate) fn string<'a>(params: &'a Map<String, Value>, name: &str) -> Result<&'a str, Failure> {
    match params.get(name) {
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(Failure::invalid_params(format!("{name} must be a string"))),
        None => Err(Failure::invalid_params(format!("{name} is missing"))),
    }
}

/// Reads a parameter that is an object, or is left out.
pub(crate) fn object<'a>(
    params: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a Map<String, Value>>, Failure> {
    match params.get(name) {
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(Failure::invalid_params(format!("{name} must be an object"))),
        None => Ok(None),
    }
}
