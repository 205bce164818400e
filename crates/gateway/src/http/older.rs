//! The transport of 2024-11-05: one stream for everything to the client, and POSTs without answers.

use std::future::{Future as _, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use hyper::StatusCode;

use super::channel::Channel;
use super::events::{self, Ending, EventStream};
use super::respond::{self, HttpResponse};
use super::service::{Exchange, accepts};
use super::sessions::{SessionId, bounds_of_general};
use super::stats::RefusalReason;
use crate::client::Client;
use crate::outlet::{Outlet, Priority};

/// Opens a session, which lasts as long as its stream.
pub(super) fn open(exchange: &Exchange<'_>) -> HttpResponse {
    if !accepts(&exchange.head.headers, "text", "event-stream") {
        let why = "Accept must have text/event-stream";
        let response = respond::refusal(StatusCode::NOT_ACCEPTABLE, why);
        return exchange.refuse(RefusalReason::Head, response);
    }
    let shared = exchange.shared;
    let Some(slot) = shared
        .sessions
        .reserve(exchange.identity.shared_principal())
    else {
        let response = respond::full("too many sessions are open");
        return exchange.refuse(RefusalReason::Full, response);
    };
    let limits = exchange.limits();
    let general = Channel::new(0, bounds_of_general(limits), &shared.counters);
    let outlet: Arc<dyn Outlet> = Arc::clone(&general) as _;
    let (identity, scope) = (exchange.identity.clone(), exchange.scope.clone());
    let client = Client::new(&shared.gateway, identity, scope.clone(), outlet);
    let session = slot.open(
        scope,
        client,
        Arc::clone(&general),
        exchange.identity.validity(),
    );
    let (Some(session), Ok(reader)) = (session, general.attach(None)) else {
        let why = "the system gave no random numbers";
        return respond::refusal(StatusCode::INTERNAL_SERVER_ERROR, why);
    };
    let address = format!("/messages?sessionId={}", session.id.to_text());
    let ending = Ending {
        draining: Box::pin(shared.draining.clone().cancelled_owned()),
        message: None,
    };
    let closing = Closing {
        sessions: Arc::clone(&shared.sessions),
        id: session.id,
    };
    // 2024-11-05, transports: the address for messages is the first event.
    let events = EventStream::new(general, reader, limits.keep_alive)
        .of_session(session.in_use(), false)
        .starting_with(events::endpoint(&address))
        .ending(ending)
        .closing(closing);
    respond::events(events)
}

/// Ends a session when its stream is dropped.
pub(super) struct Closing {
    sessions: Arc<super::sessions::Sessions>,
    id: SessionId,
}

impl Drop for Closing {
    fn drop(&mut self) {
        let Some(session) = self.sessions.remove(self.id) else {
            return;
        };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { session.end().await });
        }
    }
}

/// Takes a message; what answers it comes on the stream.
pub(super) async fn post(exchange: &Exchange<'_>, text: &str) -> HttpResponse {
    let query = exchange.head.uri.query().unwrap_or_default();
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let id = pairs.find(|(name, _)| *name == "sessionId");
    let session = id.and_then(|(_, id)| {
        let id = SessionId::parse(id.as_bytes())?;
        let sessions = &exchange.shared.sessions;
        sessions.find(id, exchange.identity, &exchange.scope)
    });
    let Some(session) = session else {
        let response = respond::refusal(StatusCode::NOT_FOUND, "the session does not exist");
        return exchange.refuse(RefusalReason::Session, response);
    };
    let message = match exchange.parse(text) {
        Ok(message) => message,
        Err(refused) => return refused,
    };
    // Each request is a task: their number is bounded here, because nothing waits for their answers.
    let most = exchange.limits().in_flight.saturating_mul(2);
    if usize::try_from(session.uses()).is_ok_and(|uses| uses > most) {
        let response = respond::full("too many requests of this session are in flight");
        return exchange.refuse(RefusalReason::Full, response);
    }
    let mut work = Box::pin(async move {
        let _use = session.in_use();
        let outlet: Arc<dyn Outlet> = Arc::clone(&session.general) as _;
        if let Some(reply) = session.client.handle(message, &outlet).await {
            outlet.send(reply.to_bytes(), Priority::MustArrive);
        }
    });
    // Polled here first, so that messages take effect in their order.
    let begun = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await;
    if begun.is_pending() {
        exchange.shared.tasks.spawn(work);
    }
    respond::empty(StatusCode::ACCEPTED)
}
