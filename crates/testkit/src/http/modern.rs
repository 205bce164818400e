//! Streamable HTTP in the modern era: every request is self-contained.

use hyper::StatusCode;
use serde_json::{Map, Value};
use switchboard_wire::{Message, Raw};

use super::answer::{Stream, answer};
use super::exchange::{Query, Response, accepted, message_refusal};
use super::headers;
use super::session::{IncomingRequest, Session};
use crate::service::{EraState, Failure, Incoming, is_handshake};

/// Handles a POST that is meant for the modern era; `None` leaves it to the legacy one.
pub(super) async fn take(query: &Query) -> Option<Response> {
    let shared = &query.exchange.shared;
    let eras = shared.service.eras;
    if !eras.modern() {
        return None;
    }
    let only = !eras.legacy();
    let text = String::from_utf8_lossy(&query.body);
    let incoming = Incoming::parse(&text);
    let (id, method, params) = match &incoming {
        Incoming::One(Ok(Message::Request { id, method, params })) => (id, method, params),
        // With both eras, the session decides about messages that are not requests.
        _ if !only => return None,
        Incoming::One(Ok(Message::Notification { .. })) => return Some(accepted()),
        Incoming::One(Ok(Message::Response { .. })) => {
            let failure = Failure::invalid_request("a client has nothing to answer in this era");
            return Some(bad(None, &failure));
        }
        Incoming::One(Err(unread)) => return Some(bad(unread.id.as_ref(), &unread.failure)),
        Incoming::Batch(_) => {
            let failure = Failure::invalid_request("batches are not part of this version");
            return Some(bad(None, &failure));
        }
    };
    let params = match members(params.as_ref()) {
        Ok(params) => params,
        Err(failure) => return Some(bad(Some(id), &failure)),
    };
    // With both eras, requests without a sign of the modern era are legacy ones.
    let looks_modern = headers::looks_modern(&query.headers, Some(&params));
    let is_handshake = is_handshake(method, &params);
    if !only && (is_handshake || !looks_modern) {
        return None;
    }
    // The envelope first: without it there is nothing to compare the headers with.
    let mut era = EraState::new(crate::Eras::Modern);
    let envelope = era.admit(method, &params);
    let version_named = matches!(&envelope, Err(failure) if failure.is_unsupported_version());
    if let Err(failure) = &envelope
        && !version_named
    {
        return Some(bad(Some(id), failure));
    }
    let catalog = shared.service.catalog();
    if let Err(failure) = headers::check(&query.headers, &catalog, method, &params)
        && !is_handshake
    {
        return Some(bad(Some(id), &failure));
    }
    if let Err(failure) = envelope {
        let failure = if only {
            failure
        } else {
            all_versions(&params, failure)
        };
        return Some(bad(Some(id), &failure));
    }
    // Every request has a session of its own, which ends with its response.
    let session = Session::brief(shared, None);
    if method == "subscriptions/listen" {
        session.listen(shared);
    }
    let listens = method == "subscriptions/listen";
    let asked = IncomingRequest {
        text: &text,
        incoming,
        aside: shared.listener(),
        together: listens || shared.answers != super::Answers::Json,
    };
    let channel = session.ask(shared, asked).await;
    if listens {
        shared.listens(&channel);
    }
    let stream = Stream {
        session,
        channel,
        version: None,
        listens,
    };
    Some(answer(query, stream).await)
}

/// A server of both eras lists the versions of both.
fn all_versions(params: &Map<String, Value>, failure: Failure) -> Failure {
    match EraState::new(crate::Eras::Both).admit("server/discover", params) {
        Err(failure) => failure,
        Ok(_) => failure,
    }
}

fn members(params: Option<&Raw>) -> Result<Map<String, Value>, Failure> {
    match params {
        None => Ok(Map::new()),
        Some(params) => params
            .decode()
            .map_err(|error| Failure::invalid_params(format!("params: {error}"))),
    }
}

fn bad(id: Option<&switchboard_wire::RequestId>, failure: &Failure) -> Response {
    message_refusal(StatusCode::BAD_REQUEST, id, failure)
}
