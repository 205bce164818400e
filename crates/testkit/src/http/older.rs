//! HTTP+SSE of 2024-11-05: one stream for everything, and an endpoint for messages.

use std::sync::Arc;

use hyper::StatusCode;

use super::body::Body;
use super::events::{Looks, pour};
use super::exchange::{Query, Response, check_stream, message_refusal, plain, refusal, with_type};
use super::session::Session;
use super::shared::Shared;
use crate::chaos::Flag;
use crate::service::Incoming;

/// Ends the session together with its stream.
struct Ends {
    shared: Arc<Shared>,
    id: String,
}

impl Drop for Ends {
    fn drop(&mut self) {
        self.shared.sessions.remove(&self.id);
    }
}

/// Opens the stream, which begins with the endpoint.
pub(super) fn stream(query: &Query) -> Response {
    if let Err(response) = check_stream(query) {
        return response;
    }
    let shared = &query.exchange.shared;
    let session = Session::new(shared);
    let Some(mut reader) = session.general.read(0) else {
        return refusal(
            StatusCode::INTERNAL_SERVER_ERROR,
            "a new stream is not empty",
        );
    };
    let id = shared.sessions.insert(session);
    let path = format!("/messages?sessionId={}", escaped(&id));
    let endpoint = match shared.faults.number(Flag::EndpointOtherOrigin) {
        Some(_) => format!("http://{}{path}", shared.other),
        None => path,
    };
    let ends = Ends {
        shared: Arc::clone(shared),
        id,
    };
    let mut looks = Looks::default();
    shared.faults.dress(&mut looks);
    let body = Body::poured(None, move |pipe| async move {
        let _ends = ends;
        let fields = [("event", "endpoint".to_owned()), ("data", endpoint)];
        pipe.send(looks.fields(&fields)).await;
        pour(&pipe, &looks, &mut reader).await
    });
    with_type(StatusCode::OK, "text/event-stream", body)
}

/// Takes a message; its answer comes on the stream.
pub(super) async fn message(query: &Query) -> Response {
    let shared = &query.exchange.shared;
    let mut pairs = query.query.split('&');
    let id = pairs.find_map(|pair| pair.strip_prefix("sessionId="));
    let Some(session) = shared.sessions.get(&unescaped(id.unwrap_or_default())) else {
        return refusal(StatusCode::NOT_FOUND, "Session not found");
    };
    let text = String::from_utf8_lossy(&query.body);
    let incoming = Incoming::parse(&text);
    if let Incoming::One(Err(unread)) = &incoming {
        return message_refusal(StatusCode::BAD_REQUEST, unread.id.as_ref(), &unread.failure);
    }
    session.hear(shared, &text, incoming).await;
    plain(StatusCode::ACCEPTED, Body::from("Accepted".to_owned()))
}

/// Percent-encodes an id for a query.
fn escaped(id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    id.bytes()
        .map(|byte| match byte {
            byte if plain(byte) => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect()
}

fn unescaped(text: &str) -> String {
    let mut parts = text.split('%');
    let mut id = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part
            .get(..2)
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        match code {
            Some(code) => {
                id.push(char::from(code));
                id.push_str(part.get(2..).unwrap_or_default());
            }
            None => id.push_str(part),
        }
    }
    id
}
