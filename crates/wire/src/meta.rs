//! The keys of `_meta` that the specification reserves.

use crate::{FromRaw, Raw, RequestId};

/// Modern: the version that a request is written in.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// Modern: the name and version of the client that sends the request.
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// Modern: the client's capabilities for this request.
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Modern: the name and version of the server that answers.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// Modern: the level from which on the server may send log messages for this request.
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Modern: the id of the `subscriptions/listen` request that a notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// 2025-11-25: the task that a message belongs to.
pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
/// The token that progress notifications for this request will carry.
pub const PROGRESS_TOKEN: &str = "progressToken";
/// W3C trace context: the parent span.
pub const TRACEPARENT: &str = "traceparent";
/// W3C trace context: vendor-specific fields.
pub const TRACESTATE: &str = "tracestate";
/// W3C baggage.
pub const BAGGAGE: &str = "baggage";

/// Reads the subscription that a notification or a result belongs to.
pub fn subscription_id(whole: &Raw) -> Option<RequestId> {
    let id = whole.member("_meta")?.member(SUBSCRIPTION_ID)?;
    RequestId::from_raw(&id).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_id_keeps_its_type() {
        let read = |id: &str| {
            let text = format!(r#"{{"uri":"a:b","_meta":{{"{SUBSCRIPTION_ID}":{id}}}}}"#);
            subscription_id(&Raw::parse(&text).unwrap())
        };
        assert_eq!(read("7"), Some(RequestId::Number(7)));
        assert_eq!(read("\"7\""), Some(RequestId::from("7")));
        assert_eq!(read("null"), None);
        assert_eq!(subscription_id(&Raw::null()), None);
    }
}
