//! Responses.

use bytes::Bytes;
use hyper::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, ALLOW,
    CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use hyper::{HeaderMap, Response, StatusCode};
use switchboard_wire::{RpcError, code};

use super::auth::AuthRefusal;
use super::body::HttpBody;
use super::events::EventStream;
use crate::message::BadMessage;

/// Headers of responses that pages may read.
const EXPOSED: &str = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate";
/// Headers that pages may send; those that repeat arguments are added when they are asked for.
const ALLOWED: &str = "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, \
                       MCP-Protocol-Version, Mcp-Method, Mcp-Name";

pub(super) type HttpResponse = Response<HttpBody>;

pub(super) fn empty(status: StatusCode) -> HttpResponse {
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = status;
    response
}

/// One JSON text.
pub(super) fn json(status: StatusCode, text: Bytes) -> HttpResponse {
    let mut response = Response::new(HttpBody::whole(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

pub(super) fn text(status: StatusCode, text: &'static str) -> HttpResponse {
    let mut response = Response::new(HttpBody::whole(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

pub(super) fn events(events: EventStream) -> HttpResponse {
    let mut response = Response::new(HttpBody::events(events));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // nginx collects answers unless it is told not to, and a stream would arrive at its end.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// A refusal that belongs to no request: a JSON-RPC error without an id.
pub(super) fn refusal(status: StatusCode, why: &str) -> HttpResponse {
    let error = RpcError::new(code::INVALID_REQUEST, why);
    json(status, BadMessage { id: None, error }.to_bytes())
}

/// A refusal after which the connection ends, because the rest of the request is not read.
pub(super) fn last_refusal(status: StatusCode, why: &str) -> HttpResponse {
    closing(refusal(status, why))
}

/// Ends the connection after this response.
pub(super) fn closing(mut response: HttpResponse) -> HttpResponse {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}

pub(super) fn unauthorized(refused: AuthRefusal) -> HttpResponse {
    let mut response = refusal(refused.status, &refused.why);
    if let Some(challenge) = refused.challenge {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
}

pub(super) fn method_not_allowed(methods: &'static str) -> HttpResponse {
    let mut response = refusal(
        StatusCode::METHOD_NOT_ALLOWED,
        "the method is not allowed here",
    );
    response
        .headers_mut()
        .insert(ALLOW, HeaderValue::from_static(methods));
    response
}

pub(super) fn full(why: &str) -> HttpResponse {
    let mut response = refusal(StatusCode::SERVICE_UNAVAILABLE, why);
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("5"));
    response
}

/// The answer to `OPTIONS`: what a page may send, if a page asks.
pub(super) fn options(
    methods: &'static str,
    asked: &HeaderMap,
    origin: Option<&HeaderValue>,
) -> HttpResponse {
    let mut response = empty(StatusCode::NO_CONTENT);
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static(methods);
    headers.insert(ALLOW, methods.clone());
    if origin.is_none() {
        return response;
    }
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    let mut allowed = ALLOWED.to_owned();
    let more = asked.get(ACCESS_CONTROL_REQUEST_HEADERS);
    let more = more.and_then(|more| more.to_str().ok()).unwrap_or_default();
    for name in more.split(',').map(str::trim) {
        let prefix = name.get(..10).unwrap_or_default();
        let is_token = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if prefix.eq_ignore_ascii_case("mcp-param-") && is_token && allowed.len() < 4096 {
            allowed.push_str(", ");
            allowed.push_str(name);
        }
    }
    if let Ok(allowed) = HeaderValue::try_from(allowed) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    response
}

/// Lets the page of an allowed origin read the response.
pub(super) fn readable_by(response: &mut HttpResponse, origin: &HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    let exposed = HeaderValue::from_static(EXPOSED);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
