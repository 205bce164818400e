//! One HTTP request and its response: reading, routing, checks.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use hyper::body::{Body as _, Bytes, Incoming as Received};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use switchboard_wire::RequestId;

use super::body::Body;
use super::config::Transport;
use super::faults::Target;
use super::record::Arrival;
use super::shared::Shared;
use super::wire::Handle;
use super::{legacy, modern, oauth, older, spoil};
use crate::service::Failure;

pub(super) type Response = hyper::Response<Body>;

/// Maximum length of a request body.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// The connection that a request came in on.
pub(super) struct Exchange {
    pub(super) shared: Arc<Shared>,
    pub(super) connection: u64,
    pub(super) elsewhere: bool,
    pub(super) handle: Handle,
}

/// A complete request.
pub(super) struct Query {
    pub(super) exchange: Exchange,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// The target for faults; read only if there are any.
    pub(super) target: Target,
}

impl Query {
    /// A header as text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    fn accepts(&self, kind: &str) -> bool {
        let mut accepted = self.headers.get_all(header::ACCEPT).iter();
        accepted.any(|value| {
            let value = value.to_str().unwrap_or_default();
            value
                .split(',')
                .any(|one| one.split(';').next().unwrap_or_default().trim() == kind)
        })
    }
}

/// Answers any request.
pub(super) async fn respond(
    exchange: Exchange,
    request: hyper::Request<Received>,
) -> Result<Response, Infallible> {
    let (head, body) = request.into_parts();
    let Some(body) = collect(body).await else {
        return Ok(refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            "the body is too large, or was cut off",
        ));
    };
    let path_and_query = head.uri.path_and_query();
    // Record before answering: a test that got its answer finds the request in the log.
    exchange.shared.log.record(&Arrival {
        connection: exchange.connection,
        method: head.method.as_str(),
        path: path_and_query.map_or("/", |path| path.as_str()),
        headers: &head.headers,
        body: &body,
        elsewhere: exchange.elsewhere,
    });
    let target = if exchange.shared.faults.is_empty() {
        Target::default()
    } else {
        Target::read(&head.method, &body)
    };
    // Recorded, then delayed: a slow start must not hide the request from a test.
    exchange.shared.ready().await;
    let query = Query {
        exchange,
        target,
        method: head.method,
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        body,
    };
    if let Some(response) = spoil::instead(&query).await {
        return Ok(response);
    }
    // Faults apply before the issuer, so that a missing token does not hide them.
    let response = match oauth::answer(&query).await {
        Some(response) => response,
        None => route(&query).await,
    };
    Ok(spoil::spoil(&query, response))
}

async fn collect(mut body: Received) -> Option<Bytes> {
    let mut whole = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        if let Ok(data) = frame.ok()?.into_data() {
            if whole.len() + data.len() > MAX_BODY_BYTES {
                return None;
            }
            whole.extend_from_slice(&data);
        }
    }
    Some(whole.into())
}

async fn route(query: &Query) -> Response {
    // Streamable HTTP, security: the origin is checked against DNS rebinding before anything else.
    if let Some(origin) = query.header("origin").filter(|origin| !is_local(origin)) {
        return refusal(StatusCode::FORBIDDEN, &format!("not for {origin}"));
    }
    // Redirects within a path lead to paths below it.
    let root = query.path.split('/').nth(1).unwrap_or_default();
    match (query.exchange.shared.transport, root) {
        (Transport::Streamable, "mcp") => streamable(query).await,
        (Transport::Sse, "sse") if query.method == Method::GET => older::stream(query),
        (Transport::Sse, "messages") if query.method == Method::POST => older::message(query).await,
        (Transport::Sse, "sse" | "messages") => not_allowed("GET, POST"),
        _ => refusal(StatusCode::NOT_FOUND, "there is nothing here"),
    }
}

async fn streamable(query: &Query) -> Response {
    let eras = query.exchange.shared.service.eras;
    match query.method {
        Method::POST => {
            if let Err(refused) = check_media(query) {
                return refused;
            }
            // The modern era first: it recognises its requests, and leaves the others to the legacy
            // era.
            match modern::take(query).await {
                Some(response) => response,
                None => legacy::post(query).await,
            }
        }
        Method::GET if eras.legacy() => legacy::get(query).await,
        Method::DELETE if eras.legacy() => legacy::delete(query).await,
        _ if eras.legacy() => not_allowed("GET, POST, DELETE"),
        _ => not_allowed("POST"),
    }
}

/// A POST must be JSON and accept both forms of answers.
fn check_media(query: &Query) -> Result<(), Response> {
    let kind = query.header("content-type").unwrap_or_default();
    if kind.split(';').next().unwrap_or_default().trim() != "application/json" {
        let what = "Content-Type must be application/json";
        return Err(refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
    }
    if !query.accepts("application/json") || !query.accepts("text/event-stream") {
        let what = "Accept must have application/json and text/event-stream";
        return Err(refusal(StatusCode::NOT_ACCEPTABLE, what));
    }
    Ok(())
}

/// A GET must accept a stream.
pub(super) fn check_stream(query: &Query) -> Result<(), Response> {
    if query.accepts("text/event-stream") {
        return Ok(());
    }
    let what = "Accept must have text/event-stream";
    Err(refusal(StatusCode::NOT_ACCEPTABLE, what))
}

/// Returns true for a page of this machine. Requests from other pages are refused.
fn is_local(origin: &str) -> bool {
    let host = origin.split("://").nth(1).unwrap_or_default();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

/// A response with a JSON body.
pub(super) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    with_type(status, "application/json", body.into())
}

/// A response with a body of this type.
pub(super) fn with_type(status: StatusCode, kind: &'static str, body: Body) -> Response {
    let mut response = plain(status, body);
    put(
        &mut response,
        header::CONTENT_TYPE,
        HeaderValue::from_static(kind),
    );
    response
}

pub(super) fn put(response: &mut Response, name: HeaderName, value: HeaderValue) {
    response.headers_mut().insert(name, value);
}

pub(super) fn plain(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// The response to messages without an answer.
pub(super) fn accepted() -> Response {
    plain(StatusCode::ACCEPTED, Body::empty())
}

/// A refusal on the level of HTTP.
pub(super) fn refusal(status: StatusCode, what: &str) -> Response {
    let failure = Failure::legacy_http(what);
    json(status, failure.answer(None))
}

/// A refusal of a message.
pub(super) fn message_refusal(
    status: StatusCode,
    id: Option<&RequestId>,
    failure: &Failure,
) -> Response {
    json(status, failure.answer(id))
}

pub(super) fn not_allowed(allowed: &'static str) -> Response {
    let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, "not in this way");
    put(
        &mut response,
        header::ALLOW,
        HeaderValue::from_static(allowed),
    );
    response
}
