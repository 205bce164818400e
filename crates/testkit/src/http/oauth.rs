//! The issuer's endpoints and its token check, as HTTP.

use std::io;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{HeaderName, HeaderValue};

use super::body::{Body, Pipe};
use super::exchange::{Query, Response, plain};
use super::spoil::break_off;
use crate::issuer::{IssuerReply, IssuerRequest, ReplyBody, Site};

/// Pause between two bytes of a dripping answer.
const DRIP: Duration = Duration::from_millis(200);
/// Size of one write of a large answer.
const PIECE_BYTES: usize = 64 * 1024;

/// Answers a request to the issuer, or refuses one to the server; `None` admits it.
pub(super) async fn answer(query: &Query) -> Option<Response> {
    let shared = &query.exchange.shared;
    let issuer = shared.issuer.as_ref()?;
    let issuer_address = if issuer.options().elsewhere {
        shared.other
    } else {
        shared.address
    };
    let site = Site {
        origin: format!("http://{}", shared.address),
        path: shared.transport.path(),
        issuer_origin: format!("http://{issuer_address}"),
    };
    let asked = IssuerRequest {
        site: &site,
        elsewhere: query.exchange.elsewhere,
        method: query.method.as_str(),
        path: &query.path,
        query: &query.query,
        headers: &query.headers,
        body: &query.body,
    };
    let reply = match issuer.answer(&asked) {
        Some(reply) => reply,
        None => issuer.admit(&asked)?,
    };
    Some(send(query, reply).await)
}

async fn send(query: &Query, reply: IssuerReply) -> Response {
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = match reply.body {
        ReplyBody::Json(value) => value.to_string().into(),
        ReplyBody::Text(text) => text.into(),
        ReplyBody::Padded(text, spaces) => Body::poured(None, move |pipe| pad(pipe, text, spaces)),
        ReplyBody::Drip(text) => Body::poured(None, move |pipe| drip(pipe, text)),
        // Never, until the client goes away.
        ReplyBody::Never => std::future::pending().await,
        ReplyBody::Reset => {
            let handle = query.exchange.handle.clone();
            Body::poured(Some(1), move |_| async move {
                break_off(|| handle.reset()).await
            })
        }
    };
    let mut response = plain(status, body);
    for (name, value) in reply.headers {
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            response
                .headers_mut()
                .append(HeaderName::from_static(name), value);
        }
    }
    response
}

async fn pad(pipe: Pipe, text: String, spaces: u64) -> io::Result<()> {
    pipe.send(text).await;
    let mut left = usize::try_from(spaces).unwrap_or(usize::MAX);
    while left > 0 {
        let piece = left.min(PIECE_BYTES);
        pipe.send(vec![b' '; piece]).await;
        left -= piece;
    }
    Ok(())
}

async fn drip(pipe: Pipe, text: String) -> io::Result<()> {
    for byte in text.into_bytes() {
        pipe.send(vec![byte]).await;
        tokio::time::sleep(DRIP).await;
    }
    Ok(())
}
