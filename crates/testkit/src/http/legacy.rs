//! Streamable HTTP in the legacy era: sessions, and streams that can be resumed.

use std::sync::Arc;

use hyper::StatusCode;
use hyper::header::HeaderValue;
use switchboard_wire::{Era, Message, Version};

use super::answer::{Stream, answer, open_stream};
use super::events;
use super::exchange::{
    Query, Response, accepted, check_stream, message_refusal, not_allowed, plain, refusal,
};
use super::session::{IncomingRequest, Session};
use crate::chaos::Flag;
use crate::service::Incoming;

const SESSION: &str = "mcp-session-id";

/// Answers a POST.
pub(super) async fn post(query: &Query) -> Response {
    let shared = &query.exchange.shared;
    let text = String::from_utf8_lossy(&query.body);
    let incoming = Incoming::parse(&text);
    if let Incoming::One(Err(unread)) = &incoming {
        return message_refusal(StatusCode::BAD_REQUEST, unread.id.as_ref(), &unread.failure);
    }
    // Only `initialize` may come without a session id.
    let begins = matches!(&incoming, Incoming::One(Ok(Message::Request { method, .. }))
        if method == "initialize");
    let expects = match &incoming {
        Incoming::One(Ok(message)) => matches!(message, Message::Request { .. }),
        Incoming::One(Err(_)) => true,
        Incoming::Batch(items) => {
            items.is_empty()
                || items.iter().any(|item| {
                    !matches!(
                        item,
                        Ok(Message::Notification { .. } | Message::Response { .. })
                    )
                })
        }
    };
    let session = match (begins, shared.stateless) {
        (true, true) => Ok(Session::brief(shared, None)),
        (true, false) => Ok(Session::new(shared)),
        (false, true) => {
            stateless_version(query).map(|version| Session::brief(shared, Some(version)))
        }
        (false, false) => find(query).await,
    };
    let session = match session {
        Ok(session) => session,
        Err(response) => return response,
    };
    if !expects {
        session.hear(shared, &text, incoming).await;
        return accepted();
    }
    let asked = IncomingRequest {
        text: &text,
        incoming,
        aside: Some(Arc::clone(&session.general)),
        together: shared.answers != super::Answers::Json,
    };
    // Ask before looking at the version: the handshake in this very request settles it.
    let channel = session.ask(shared, asked).await;
    let version = session.version().await;
    let stream = Stream {
        session: Arc::clone(&session),
        channel,
        version,
        listens: false,
    };
    let mut response = answer(query, stream).await;
    // Only a successful handshake opens a session.
    if begins && version.is_some() && !shared.stateless {
        let id = shared.sessions.insert(session);
        if let Ok(id) = HeaderValue::from_str(&id) {
            response.headers_mut().insert(SESSION, id);
        }
    }
    response
}

/// Answers a GET: the listening stream, or a resumed one.
pub(super) async fn get(query: &Query) -> Response {
    let shared = &query.exchange.shared;
    if shared.stateless {
        return not_allowed("POST");
    }
    if let Err(response) = check_stream(query) {
        return response;
    }
    let session = match find(query).await {
        Ok(session) => session,
        Err(response) => return response,
    };
    // Without an id the general stream is opened; an id resumes the stream that it belongs to.
    let reader = match query.header("last-event-id") {
        None => session.general.read(session.general.unread()),
        Some(id) => events::read_id(id)
            .and_then(|(channel, position)| session.channel(channel)?.read(position)),
    };
    let Some(reader) = reader else {
        return refusal(
            StatusCode::BAD_REQUEST,
            "Last-Event-ID names nothing that is kept",
        );
    };
    let version = session.version().await;
    open_stream(query, session, reader, version)
}

/// Answers a DELETE, which ends a session.
pub(super) async fn delete(query: &Query) -> Response {
    let shared = &query.exchange.shared;
    if shared.stateless {
        return not_allowed("POST");
    }
    if let Err(response) = find(query).await {
        return response;
    }
    shared
        .sessions
        .remove(query.header(SESSION).unwrap_or_default());
    plain(StatusCode::NO_CONTENT, super::body::Body::empty())
}

/// The session of a request, if it names one and carries its version.
async fn find(query: &Query) -> Result<Arc<Session>, Response> {
    let Some(id) = query.header(SESSION) else {
        let what = "Bad Request: Mcp-Session-Id header is required";
        return Err(refusal(StatusCode::BAD_REQUEST, what));
    };
    let session = query.exchange.shared.sessions.get(id);
    // The session before its version: an unknown session is 404, a wrong version 400.
    let session = session.ok_or_else(|| unknown(query))?;
    if let Some(response) = forgets(query, id, &session) {
        return Err(response);
    }
    let agreed = session.version().await;
    let said = query.header("mcp-protocol-version");
    // Before 2025-06-18 there was no such header; since then every request has it.
    let needs = agreed.is_some_and(|agreed| agreed.as_str() >= "2025-06-18");
    match said {
        None if needs => Err("MCP-Protocol-Version is missing".to_owned()),
        Some(said) if agreed.is_none_or(|agreed| agreed.as_str() != said) => Err(format!(
            "MCP-Protocol-Version {said} is not what was agreed on"
        )),
        _ => Ok(session),
    }
    .map_err(|what| refusal(StatusCode::BAD_REQUEST, &format!("Bad Request: {what}")))
}

/// Forgets a session after its calls, if a fault demands it.
fn forgets(query: &Query, id: &str, session: &Session) -> Option<Response> {
    let shared = &query.exchange.shared;
    let number = |flag| shared.faults.number(flag);
    let calls = number(Flag::Forgets404).or(number(Flag::Forgets400))?;
    if !query.target.is_call() || session.count() < calls {
        return None;
    }
    shared.sessions.remove(id);
    Some(unknown(query))
}

/// The response for an unknown session.
fn unknown(query: &Query) -> Response {
    if query
        .exchange
        .shared
        .faults
        .number(Flag::Forgets400)
        .is_some()
    {
        let what = "Bad Request: No valid session ID provided";
        return refusal(StatusCode::BAD_REQUEST, what);
    }
    refusal(StatusCode::NOT_FOUND, "Session not found")
}

/// The version of a request without a session.
fn stateless_version(query: &Query) -> Result<Version, Response> {
    match query.header("mcp-protocol-version") {
        None => Ok(Version::V2025_03_26),
        Some(said) => said
            .parse()
            .ok()
            .filter(|version: &Version| version.era() == Era::Legacy)
            .ok_or_else(|| {
                let what = format!("Bad Request: Unsupported protocol version: {said}");
                refusal(StatusCode::BAD_REQUEST, &what)
            }),
    }
}
