//! Sessions of the legacy era: `initialize`, the requests after it, the stream of the session, its end.
//!
//! A request of this era is not cancelled by a connection that breaks: it goes on, and its answer is
//! kept on the stream of its POST for a client that resumes it with `Last-Event-ID`.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};
use switchboard_wire::{Era, RpcError, Version, code};
use tokio_util::task::TaskTracker;

use super::agreement::{PROTOCOL_VERSION, SESSION_ID};
use super::channel::Channel;
use super::events::{self, Answer, Ending, EventStream, Work, parse_event_id};
use super::modern::{First, first};
use super::respond::{self, HttpResponse};
use super::service::{Exchange, accepts};
use super::sessions::{Session, SessionId, bounds_of_general, bounds_of_sessions};
use super::stats::RefusalReason;
use crate::batch::{self, Answering};
use crate::client::Client;
use crate::message::{BadMessage, ClientMessage, ClientRequest};
use crate::outlet::Outlet;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Answers a POST of the legacy era.
pub(super) async fn post(exchange: &Exchange<'_>, message: ClientMessage) -> HttpResponse {
    if let ClientMessage::Request(request) = &message
        && request.method == "initialize"
    {
        // Boxed, as notifications below: calls are the usual, and their future stays small.
        return Box::pin(initialize(exchange, message)).await;
    }
    let session = match find(exchange) {
        Ok(session) => session,
        Err(refused) => return refused,
    };
    match message {
        ClientMessage::Request(request) => answer(exchange, &session, request).await,
        other => {
            let _use = session.in_use();
            let outlet: Arc<dyn Outlet> = Arc::clone(&session.general) as _;
            Box::pin(session.client.handle(other, &outlet)).await;
            // 2025-11-25, transports: what is not a request is answered with 202 and no body.
            respond::empty(StatusCode::ACCEPTED)
        }
    }
}

/// Opens a session.
async fn initialize(exchange: &Exchange<'_>, message: ClientMessage) -> HttpResponse {
    let shared = exchange.shared;
    // Room first: a flood of attempts costs nothing else.
    let principal = exchange.identity.shared_principal();
    let Some(slot) = shared.sessions.reserve(principal) else {
        let response = respond::full("too many sessions are open; end one with DELETE");
        return exchange.refuse(RefusalReason::Full, response);
    };
    if !exchange.scope_exists() {
        return exchange.no_scope();
    }
    let limits = exchange.limits();
    let general = Channel::new(0, bounds_of_general(limits), &shared.counters);
    let outlet: Arc<dyn Outlet> = Arc::clone(&general) as _;
    let (identity, scope) = (exchange.identity.clone(), exchange.scope.clone());
    let client = Client::new(
        &shared.gateway,
        identity,
        scope.clone(),
        Arc::clone(&outlet),
    );
    let Some(reply) = client.handle(message, &outlet).await else {
        return respond::refusal(StatusCode::BAD_REQUEST, "the request was cancelled");
    };
    let mut response = respond::json(StatusCode::OK, reply.to_bytes());
    // A refused handshake opens no session: the slot gives its room back.
    if reply.outcome.is_err() {
        return response;
    }
    let opened = slot.open(scope, client, general, exchange.identity.validity());
    let id = opened.and_then(|session| HeaderValue::try_from(session.id.to_text()).ok());
    let Some(id) = id else {
        let why = "the system gave no random numbers";
        return respond::refusal(StatusCode::INTERNAL_SERVER_ERROR, why);
    };
    response.headers_mut().insert(SESSION_ID, id);
    response
}

/// The session that a request names, if its headers are right.
fn find(exchange: &Exchange<'_>) -> Result<Arc<Session>, HttpResponse> {
    let refuse = |reason, status, why| Err(exchange.refuse(reason, respond::refusal(status, why)));
    let mut ids = exchange.head.headers.get_all(&SESSION_ID).iter();
    let id = match (ids.next(), ids.next()) {
        (Some(id), None) => id.as_bytes(),
        // 2025-11-25, transports: a request without a session id is answered with 400.
        (None, _) => {
            let why = "Mcp-Session-Id is missing: send initialize first";
            return refuse(RefusalReason::Session, StatusCode::BAD_REQUEST, why);
        }
        _ => {
            let why = "Mcp-Session-Id is there more than once";
            return refuse(RefusalReason::Session, StatusCode::BAD_REQUEST, why);
        }
    };
    let sessions = &exchange.shared.sessions;
    let session =
        SessionId::parse(id).and_then(|id| sessions.find(id, exchange.identity, &exchange.scope));
    // A client that was too slow for what must arrive has missed something: it begins anew.
    let session = session.filter(|session| {
        let has_missed = session.general.is_closed();
        if has_missed && let Some(session) = sessions.remove(session.id) {
            (exchange.shared.tasks).spawn(async move { session.end().await });
        }
        !has_missed
    });
    // 2025-11-25, transports: 404 tells the client to begin a new session.
    let Some(session) = session else {
        let why = "the session does not exist, or has ended: send initialize again";
        return refuse(RefusalReason::Session, StatusCode::NOT_FOUND, why);
    };
    // 2025-06-18, HTTP: the header is the version that was agreed on. Older versions have no such header.
    let said = exchange.header(&PROTOCOL_VERSION);
    let agreed = session.client.version();
    let is_right = said.is_none_or(|said| match agreed {
        Some(agreed @ (Version::V2025_06_18 | Version::V2025_11_25)) => {
            said == agreed.as_str().as_bytes()
        }
        _ => {
            let known = str::from_utf8(said)
                .ok()
                .and_then(|said| said.parse::<Version>().ok());
            known.is_some_and(|version| version.era() == Era::Legacy)
        }
    });
    if !is_right {
        let why = "MCP-Protocol-Version is not the version that was agreed on";
        return refuse(RefusalReason::Version, StatusCode::BAD_REQUEST, why);
    }
    Ok(session)
}

/// The work on one request of a session.
fn work(session: &Arc<Session>, channel: &Arc<Channel>, request: ClientRequest) -> Work {
    let (session, outlet) = (Arc::clone(session), Arc::clone(channel));
    Box::pin(async move {
        // Held by the work and not by the response: the work survives a broken connection.
        let _use = session.in_use();
        let outlet: Arc<dyn Outlet> = outlet;
        let message = ClientMessage::Request(request);
        let reply = session.client.handle(message, &outlet).await?;
        Some(Answer {
            status: StatusCode::OK,
            text: reply.to_bytes(),
        })
    })
}

async fn answer(
    exchange: &Exchange<'_>,
    session: &Arc<Session>,
    request: ClientRequest,
) -> HttpResponse {
    let channel = new_channel(exchange, session);
    let work = work(session, &channel, request);
    respond_with(exchange, session, &channel, work).await
}

fn new_channel(exchange: &Exchange<'_>, session: &Session) -> Arc<Channel> {
    let bounds = bounds_of_sessions(exchange.limits());
    Channel::new(session.next_stream(), bounds, &exchange.shared.counters)
}

/// Answers with JSON if the answer is all there is, with a stream that can be resumed otherwise.
async fn respond_with(
    exchange: &Exchange<'_>,
    session: &Arc<Session>,
    channel: &Arc<Channel>,
    work: Work,
) -> HttpResponse {
    let limits = exchange.limits();
    let tasks = &exchange.shared.tasks;
    // 2025-11-25, transports: a broken connection does not cancel the request.
    let detached: Work = Box::pin(Detached::new(work, channel, tasks));
    match first(detached, channel, limits.stream_after).await {
        First::Answer(Some(answer)) if !channel.has_waiting() => {
            return respond::json(answer.status, answer.text);
        }
        First::Answer(None) if !channel.has_waiting() => {
            // 2025-06-18, cancellation: a request that its client cancelled has no answer.
            return respond::empty(StatusCode::ACCEPTED);
        }
        First::Answer(answer) => channel.finish(answer.map(|answer| answer.text)),
        // Dropped, the work goes on in a task of its own, and finishes the channel.
        First::Other(work) => drop(work),
    }
    // Kept before the response goes out: the client may lose it and resume at once.
    session.keep(channel, limits.replay_streams);
    let Ok(reader) = channel.attach(None) else {
        return respond::refusal(StatusCode::INTERNAL_SERVER_ERROR, "the stream has ended");
    };
    let mut events = EventStream::new(Arc::clone(channel), reader, limits.keep_alive)
        .of_session(session.in_use(), true);
    // 2025-11-25, HTTP: an event without data at once, so that the stream can be resumed from its start.
    // Clients of older versions would read it as a message.
    if session.client.version() == Some(Version::V2025_11_25) {
        events = events.starting_with(events::priming(channel.number(), limits.retry));
    }
    respond::events(events)
}

/// Work that goes on in a task of its own if it is dropped before it is done.
struct Detached {
    work: Option<Work>,
    channel: Arc<Channel>,
    tasks: TaskTracker,
}

impl Detached {
    fn new(work: Work, channel: &Arc<Channel>, tasks: &TaskTracker) -> Self {
        Self {
            work: Some(work),
            channel: Arc::clone(channel),
            tasks: tasks.clone(),
        }
    }
}

impl Future for Detached {
    type Output = Option<Answer>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Answer>> {
        let Some(work) = &mut self.work else {
            return Poll::Ready(None);
        };
        let done = work.as_mut().poll(cx);
        if done.is_ready() {
            self.work = None;
        }
        done
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else {
            return;
        };
        // Without a runtime there is nothing left that could go on.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let channel = Arc::clone(&self.channel);
        let finish = async move {
            let answer = work.await;
            channel.finish(answer.map(|answer| answer.text));
        };
        self.tasks.spawn_on(finish, &runtime);
    }
}

/// Answers a batch, which only 2025-03-26 has.
pub(super) async fn post_batch(exchange: &Exchange<'_>, text: &str) -> HttpResponse {
    let refuse = |why: &str| {
        let error = RpcError::new(code::INVALID_REQUEST, why);
        exchange.bad(&BadMessage { id: None, error })
    };
    // Without a session there is no version that has batches.
    if exchange.header(&SESSION_ID).is_none() {
        return refuse("batches are not part of this version");
    }
    let session = match find(exchange) {
        Ok(session) => session,
        Err(refused) => return refused,
    };
    if session.client.version() != Some(Version::V2025_03_26) {
        return refuse("batches are not part of this version");
    }
    let messages = match batch::parse(text, exchange.limits()) {
        Ok(messages) => messages,
        Err(bad) => return exchange.bad(&bad),
    };
    let channel = new_channel(exchange, &session);
    let outlet: Arc<dyn Outlet> = Arc::clone(&session.general) as _;
    let mut parts = Vec::new();
    for message in messages {
        match message {
            ClientMessage::Request(request) => {
                let work = work(&session, &channel, request);
                let answering = async move { work.await.map(|answer| answer.text) };
                parts.push(Box::pin(answering) as Answering);
            }
            other => {
                session.client.handle(other, &outlet).await;
            }
        }
    }
    // 2025-03-26, transports: a batch without requests is answered with 202.
    if parts.is_empty() {
        return respond::empty(StatusCode::ACCEPTED);
    }
    let all: Work = Box::pin(async move {
        let text = batch::join(parts).await?;
        let status = StatusCode::OK;
        Some(Answer { status, text })
    });
    respond_with(exchange, &session, &channel, all).await
}

/// Opens the stream of a session, or resumes one of its streams.
pub(super) fn open_stream(exchange: &Exchange<'_>) -> HttpResponse {
    let headers = &exchange.head.headers;
    if !accepts(headers, "text", "event-stream") {
        let why = "Accept must have text/event-stream";
        let response = respond::refusal(StatusCode::NOT_ACCEPTABLE, why);
        return exchange.refuse(RefusalReason::Head, response);
    }
    if is_modern_only(exchange) {
        return respond::method_not_allowed("POST, OPTIONS");
    }
    let session = match find(exchange) {
        Ok(session) => session,
        Err(refused) => return refused,
    };
    // The newest stream wins: a client that lost its connection must not wait until we find that out.
    let opened = match exchange.header(&LAST_EVENT_ID) {
        None => session
            .general
            .attach(None)
            .ok()
            .map(|reader| (Arc::clone(&session.general), reader)),
        Some(id) => {
            let id = str::from_utf8(id).ok().and_then(parse_event_id);
            // 2025-11-25, transports: only messages of the stream that broke are sent again.
            id.and_then(|(stream, number)| {
                let channel = session.stream(stream)?;
                let reader = channel.attach(Some(number)).ok()?;
                Some((channel, reader))
            })
        }
    };
    let Some((channel, reader)) = opened else {
        let why = "the stream cannot be resumed behind this Last-Event-ID";
        let response = respond::refusal(StatusCode::BAD_REQUEST, why);
        return exchange.refuse(RefusalReason::Session, response);
    };
    let shared = exchange.shared;
    let draining = Box::pin(shared.draining.clone().cancelled_owned());
    let ending = Ending {
        draining,
        message: None,
    };
    let number = channel.number();
    let limits = exchange.limits();
    let mut events =
        EventStream::new(channel, reader, limits.keep_alive).of_session(session.in_use(), true);
    if number == 0 {
        events = events.ending(ending);
    }
    respond::events(events)
}

/// Ends a session.
pub(super) async fn delete(exchange: &Exchange<'_>) -> HttpResponse {
    if is_modern_only(exchange) {
        return respond::method_not_allowed("POST, OPTIONS");
    }
    let session = match find(exchange) {
        Ok(session) => session,
        Err(refused) => return refused,
    };
    // Of two that end it at once, one does.
    if let Some(session) = exchange.shared.sessions.remove(session.id) {
        session.end().await;
    }
    respond::empty(StatusCode::NO_CONTENT)
}

/// Returns true for a client of the modern era, which has only POST.
fn is_modern_only(exchange: &Exchange<'_>) -> bool {
    let said = exchange.header(&PROTOCOL_VERSION);
    exchange.header(&SESSION_ID).is_none()
        && said.is_some_and(|said| said > Version::NEWEST_LEGACY.as_str().as_bytes())
}
