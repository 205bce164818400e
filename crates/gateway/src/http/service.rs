//! One request after the other: who may ask at all, what is asked, and the way to the answer.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::Body;
use hyper::header::{
    ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue, TRANSFER_ENCODING,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, StatusCode, Version};
use switchboard_wire::{RpcError, code};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::auth::{Credentials, Peer, identify, no_longer_valid};
use super::body::{BodyError, read_body};
use super::ends::Ends;
use super::modern::ModernClients;
use super::oauth::OAuth;
use super::options::HttpOptions;
use super::origin::{AllowList, OriginRefusal};
use super::respond::{self, HttpResponse};
use super::route::Route;
use super::sessions::Sessions;
use super::stats::{Counters, HttpStats, RefusalReason};
use super::{legacy, modern, older};
use crate::batch::is_batch;
use crate::caller::ClientIdentity;
use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::limits::GatewayLimits;
use crate::message::{BadMessage, ClientMessage};
use crate::scope::Scope;
use crate::validity::InUse;

/// The gateway over HTTP, as a service of tower. Clones share everything.
///
/// [`HttpService::serve`] serves it itself. A program that serves it
/// with a server of its own puts the [`Peer`] of each connection into the extensions of its requests; without
/// it a request is taken for one from loopback.
#[derive(Clone)]
pub struct HttpService {
    pub(super) shared: Arc<HttpShared>,
    pub(super) peer: Option<Peer>,
}

/// What all requests share.
pub(super) struct HttpShared {
    pub(super) gateway: Gateway,
    pub(super) options: HttpOptions,
    allowed: AllowList,
    pub(super) counters: Arc<Counters>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) modern: Arc<ModernClients>,
    ends: Ends,
    /// Cancelled when no more requests are taken.
    pub(super) draining: CancellationToken,
    /// Requests of legacy clients whose connections broke.
    pub(super) tasks: TaskTracker,
}

/// One request with all that is known of it before its message is read.
pub(super) struct Exchange<'a> {
    pub(super) shared: &'a Arc<HttpShared>,
    pub(super) head: &'a Parts,
    pub(super) identity: &'a ClientIdentity,
    pub(super) scope: Scope,
}

impl HttpShared {
    pub(super) fn limits(&self) -> &GatewayLimits {
        &self.gateway.0.options.limits
    }

    pub(super) fn refuse(&self, reason: RefusalReason, response: HttpResponse) -> HttpResponse {
        self.counters.count_refusal(reason);
        response
    }
}

impl Exchange<'_> {
    pub(super) fn limits(&self) -> &GatewayLimits {
        self.shared.limits()
    }

    pub(super) fn refuse(&self, reason: RefusalReason, response: HttpResponse) -> HttpResponse {
        self.shared.refuse(reason, response)
    }

    pub(super) fn header(&self, name: &HeaderName) -> Option<&[u8]> {
        self.head.headers.get(name).map(HeaderValue::as_bytes)
    }

    /// Returns true if the part of the host that is asked for exists for this caller.
    pub(super) fn scope_exists(&self) -> bool {
        let offers = &self.shared.gateway.0.offers;
        offers.current(self.identity, &self.scope).is_some()
    }

    pub(super) fn no_scope(&self) -> HttpResponse {
        let why = "no such profile or server";
        let response = respond::refusal(StatusCode::NOT_FOUND, why);
        self.refuse(RefusalReason::Route, response)
    }

    /// Reads one message.
    pub(super) fn parse(&self, text: &str) -> Result<ClientMessage, HttpResponse> {
        ClientMessage::parse(text, self.limits().json_depth).map_err(|bad| self.bad(&bad))
    }

    pub(super) fn bad(&self, bad: &BadMessage) -> HttpResponse {
        let response = respond::json(StatusCode::BAD_REQUEST, bad.to_bytes());
        self.refuse(RefusalReason::Body, response)
    }
}

impl Gateway {
    /// The gateway over HTTP. Nothing is served yet.
    ///
    /// # Errors
    /// Fails if the options cannot be used.
    pub fn http(&self, options: HttpOptions) -> Result<HttpService, GatewayError> {
        let allowed = AllowList::new(&options)?;
        let counters = Arc::new(Counters::default());
        let limits = &self.0.options.limits;
        let sessions = Sessions::new(limits, &counters);
        let modern = Arc::new(ModernClients::new(self));
        let shared = HttpShared {
            gateway: self.clone(),
            allowed,
            ends: Ends::new(&sessions, &modern),
            sessions,
            modern,
            counters,
            draining: CancellationToken::new(),
            tasks: TaskTracker::new(),
            options,
        };
        Ok(HttpService {
            shared: Arc::new(shared),
            peer: None,
        })
    }
}

impl HttpService {
    /// The counts since the service was made.
    pub fn stats(&self) -> HttpStats {
        self.shared.counters.read(self.shared.sessions.len())
    }

    /// Returns true if clients need no credential.
    pub(super) fn is_open(&self) -> bool {
        self.shared.options.auth.is_open()
    }

    /// Answers one request.
    ///
    /// # Cancel safety
    /// Dropping the future cancels a modern request, also at its server. A legacy one goes on, as the
    /// specification says.
    pub async fn handle<B>(self, request: Request<B>) -> HttpResponse
    where
        B: Body,
    {
        let (head, body) = request.into_parts();
        let shared = &self.shared;
        shared.counters.request();
        let peer = self.peer.or_else(|| head.extensions.get::<Peer>().copied());
        // Before anything else: requests that a web page was tricked into sending go no further.
        let origin = match shared.allowed.check(&head.headers, &head.uri, peer) {
            Ok(origin) => origin,
            Err(refused) => return foreign(shared, refused),
        };
        let mut response = route(shared, &head, body, peer, origin).await;
        if let Some(origin) = origin {
            respond::readable_by(&mut response, origin);
        }
        // Two ways to say how long a body is are how requests are smuggled past proxies: nothing that
        // follows on this connection is read.
        if head.headers.contains_key(TRANSFER_ENCODING) {
            response = respond::closing(response);
        }
        response
    }
}

impl<B> tower_service::Service<Request<B>> for HttpService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Send,
{
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<HttpResponse, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.handle(request).await) })
    }
}

fn foreign(shared: &HttpShared, refused: OriginRefusal) -> HttpResponse {
    let (reason, status, why) = match refused {
        OriginRefusal::BadHost => {
            let why = "the request needs exactly one Host header with a host";
            (RefusalReason::Host, StatusCode::BAD_REQUEST, why)
        }
        OriginRefusal::ForeignHost => {
            let why = "this host is not one of those that are served here";
            (RefusalReason::Host, StatusCode::FORBIDDEN, why)
        }
        OriginRefusal::ForeignOrigin => {
            let why = "pages of this origin may not use the gateway";
            (RefusalReason::Origin, StatusCode::FORBIDDEN, why)
        }
    };
    shared.refuse(reason, respond::last_refusal(status, why))
}

async fn route<B: Body>(
    shared: &Arc<HttpShared>,
    head: &Parts,
    body: B,
    peer: Option<Peer>,
    origin: Option<&HeaderValue>,
) -> HttpResponse {
    if head.version < Version::HTTP_11 {
        let why = "HTTP/1.1 is needed";
        let response = respond::last_refusal(StatusCode::HTTP_VERSION_NOT_SUPPORTED, why);
        return shared.refuse(RefusalReason::Head, response);
    }
    let path = head.uri.path();
    let oauth = shared.options.auth.oauth();
    let metadata = oauth.filter(|oauth| oauth.serves(path));
    let found = metadata.map(|_| Route::ResourceMetadata);
    let found = found.or_else(|| Route::find(path, shared.options.legacy_sse));
    let Some(route) = found else {
        let response = respond::refusal(StatusCode::NOT_FOUND, "nothing is served at this path");
        return shared.refuse(RefusalReason::Route, response);
    };
    if !route.has(&head.method) {
        let response = respond::method_not_allowed(route.methods());
        return shared.refuse(RefusalReason::Route, response);
    }
    // Asking for permission needs none, and browsers send no credentials with it.
    if head.method == Method::OPTIONS {
        return respond::options(route.methods(), &head.headers, origin);
    }
    // Before authentication: health checks have no token.
    match route {
        Route::Health => return respond::text(StatusCode::OK, "ok\n"),
        Route::Ready if shared.draining.is_cancelled() => {
            return respond::text(StatusCode::SERVICE_UNAVAILABLE, "draining\n");
        }
        Route::Ready => return respond::text(StatusCode::OK, "ready\n"),
        // Nor has a client that asks where it gets one.
        Route::ResourceMetadata => {
            let text = metadata.map(OAuth::metadata).unwrap_or_default();
            return respond::json(StatusCode::OK, text);
        }
        Route::Protocol(_) | Route::OlderStream | Route::OlderMessages => {}
    }
    let credentials = Credentials {
        headers: &head.headers,
        path,
        peer,
    };
    let options = &shared.options;
    let identity = match identify(&options.auth, &options.identity, credentials).await {
        Ok(identity) => identity,
        // The body of a stranger is not read.
        Err(refused) => {
            let response = respond::closing(respond::unauthorized(refused));
            return shared.refuse(RefusalReason::Auth, response);
        }
    };
    let (scope, is_older) = match route {
        Route::Protocol(scope) => (scope, false),
        _ => (Scope::All, true),
    };
    let exchange = Exchange {
        shared,
        head,
        identity: &identity,
        scope,
    };
    let validity = identity.validity();
    let Some(end) = validity.end_of() else {
        return answer(&exchange, body, is_older).await;
    };
    // Before the request, which may open what the end has to close.
    shared.ends.watch(validity);
    let _in_use = InUse::new(validity);
    // The credential may stop to count while its request is on its way.
    let response = tokio::select! {
        biased;
        () = end.wait() => {
            let response = respond::closing(respond::unauthorized(no_longer_valid(&shared.options.auth)));
            return shared.refuse(RefusalReason::Auth, response);
        }
        // Boxed: it would make the future of every request larger.
        response = Box::pin(answer(&exchange, body, is_older)) => response,
    };
    response.map(|body| body.valid(validity))
}

/// Answers a request of a client that is known.
async fn answer<B: Body>(exchange: &Exchange<'_>, body: B, is_older: bool) -> HttpResponse {
    match exchange.head.method {
        Method::POST => match read_message(exchange, body, is_older).await {
            Ok(body) => match str::from_utf8(&body) {
                Ok(text) if is_older => older::post(exchange, text).await,
                Ok(text) => post(exchange, text).await,
                Err(_) => {
                    let error = RpcError::new(code::PARSE_ERROR, "the body is not UTF-8");
                    exchange.bad(&BadMessage { id: None, error })
                }
            },
            Err(refused) => refused,
        },
        Method::GET if is_older => older::open(exchange),
        Method::GET => legacy::open_stream(exchange),
        _ => legacy::delete(exchange).await,
    }
}

/// The types of content that every client has to accept.
const USUAL_ACCEPT: &[u8] = b"application/json, text/event-stream";

/// Reads the body of a POST, after its headers have been found to be right.
async fn read_message<B: Body>(
    exchange: &Exchange<'_>,
    body: B,
    is_older: bool,
) -> Result<Bytes, HttpResponse> {
    let headers = &exchange.head.headers;
    let bad_head = |status, why| {
        let response = respond::last_refusal(status, why);
        Err(exchange.refuse(RefusalReason::Head, response))
    };
    if !is_json(headers) {
        let why = "Content-Type must be application/json";
        return bad_head(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    }
    if headers.contains_key(CONTENT_ENCODING) {
        let why = "bodies must not be compressed";
        return bad_head(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    }
    // 2025-11-25, transports: a client must accept both types.
    // Fast path: nearly all clients write it in this way.
    let usual = headers.get(ACCEPT).map(HeaderValue::as_bytes);
    let accepts_all = usual == Some(USUAL_ACCEPT)
        || accepts(headers, "application", "json") && accepts(headers, "text", "event-stream");
    if !is_older && !accepts_all {
        let why = "Accept must have application/json and text/event-stream";
        return bad_head(StatusCode::NOT_ACCEPTABLE, why);
    }
    let limits = exchange.limits();
    let read = read_body(body, limits.message_bytes, limits.body_time).await;
    let (status, why) = match read {
        Ok(bytes) => return Ok(bytes),
        Err(BodyError::TooLong) => (StatusCode::PAYLOAD_TOO_LARGE, "the body is too long"),
        Err(BodyError::TooSlow) => (StatusCode::REQUEST_TIMEOUT, "the body came too slowly"),
        Err(BodyError::Broken) => (StatusCode::BAD_REQUEST, "the body broke off"),
    };
    let response = respond::last_refusal(status, why);
    Err(exchange.refuse(RefusalReason::Body, response))
}

/// Answers a POST of either era.
async fn post(exchange: &Exchange<'_>, text: &str) -> HttpResponse {
    if is_batch(text) {
        // Boxed: batches are rare, and would make the future of every request larger.
        return Box::pin(legacy::post_batch(exchange, text)).await;
    }
    match exchange.parse(text) {
        // Before `is_modern`, which takes every `initialize` for a legacy one.
        Ok(ClientMessage::Request(request)) if request.is_modern_initialize() => {
            modern::post(exchange, ClientMessage::Request(request)).await
        }
        Ok(message) if modern::is_modern(exchange, &message) => {
            modern::post(exchange, message).await
        }
        Ok(message) => legacy::post(exchange, message).await,
        Err(refused) => refused,
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut kinds = headers.get_all(CONTENT_TYPE).iter();
    let (Some(kind), None) = (kinds.next(), kinds.next()) else {
        return false;
    };
    let mut parts = kind.as_bytes().split(|byte| *byte == b';');
    let kind = parts.next().unwrap_or_default().trim_ascii();
    // JSON is UTF-8; another charset would be read wrongly.
    let is_utf8 = |part: &[u8]| {
        let part = part.trim_ascii();
        let is_charset = part
            .get(..8)
            .is_some_and(|p| p.eq_ignore_ascii_case(b"charset="));
        let value = part.get(8..).unwrap_or_default();
        !is_charset
            || value.eq_ignore_ascii_case(b"utf-8")
            || value.eq_ignore_ascii_case(b"\"utf-8\"")
    };
    kind.eq_ignore_ascii_case(b"application/json") && parts.all(is_utf8)
}

/// Returns true if a type of content is accepted. A weight of zero refuses it.
pub(super) fn accepts(headers: &HeaderMap, kind: &str, subkind: &str) -> bool {
    headers.get_all(ACCEPT).iter().any(|value| {
        let ranges = value.as_bytes().split(|byte| *byte == b',');
        let mut ranges = ranges.filter_map(|range| {
            let mut parts = range.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let range = parts.next()?;
            let is_refused =
                parts.any(|part| matches!(part, b"q=0" | b"q=0.0" | b"q=0.00" | b"q=0.000"));
            (!is_refused).then_some(range)
        });
        ranges.any(|range| {
            let mut halves = range.splitn(2, |byte| *byte == b'/');
            let is = |half: Option<&[u8]>, wanted: &str| {
                half.is_some_and(|h| h == b"*" || h.eq_ignore_ascii_case(wanted.as_bytes()))
            };
            is(halves.next(), kind) && is(halves.next(), subkind)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        headers
    }

    #[test]
    fn json_is_the_only_content_type() {
        let json = |value| is_json(&headers(CONTENT_TYPE, value));
        let good = [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
        ];
        assert!(good.into_iter().all(json));
        let bad = [
            "",
            "text/plain",
            "application/json-rpc",
            "application/x-www-form-urlencoded",
            "multipart/form-data",
            "application/json; charset=utf-16",
            "text/plain, application/json",
        ];
        for value in bad {
            assert!(!json(value), "{value}");
        }
        assert!(!is_json(&HeaderMap::new()));
    }

    #[test]
    fn accept_is_read_with_its_ranges_and_weights() {
        let accepted = |value| {
            let headers = headers(ACCEPT, value);
            let json = accepts(&headers, "application", "json");
            (json, accepts(&headers, "text", "event-stream"))
        };
        assert_eq!(
            accepted("application/json, text/event-stream"),
            (true, true)
        );
        assert_eq!(
            accepted("text/event-stream;q=0.5 , APPLICATION/JSON"),
            (true, true)
        );
        assert_eq!(accepted("*/*"), (true, true));
        assert_eq!(accepted("application/*"), (true, false));
        assert_eq!(accepted("application/json"), (true, false));
        assert_eq!(
            accepted("application/json;q=0, text/event-stream"),
            (false, true)
        );
        assert_eq!(accepted("application/jsonx, text/html"), (false, false));
    }
}
