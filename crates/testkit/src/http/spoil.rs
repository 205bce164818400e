//! Faulty responses: wrong ones instead of the right one, and right ones that are spoilt.

use std::io;
use std::time::Duration;

use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, StatusCode};
use serde_json::json;

use super::body::{Body, Pipe};
use super::events::{Shape, Writer};
use super::exchange::{Query, Response, accepted, json, not_allowed, plain, put, with_type};
use super::faults::Target;
use super::gzip;
use crate::chaos::{Act, Flag};

const MIB: u64 = 1024 * 1024;

/// Length of a header value in `huge-headers`.
const FILLER_BYTES: usize = 1000;

/// Returns a response that replaces the right one, if a fault demands it.
pub(super) async fn instead(query: &Query) -> Option<Response> {
    let faults = &query.exchange.shared.faults;
    if faults.is_empty() {
        return None;
    }
    let target = &query.target;
    let strikes = |flag| faults.strikes(flag, target);
    // One fault after the other: the first that strikes makes the response.
    if faults.number(Flag::NoGet).is_some() && target.verb == Method::GET {
        return Some(not_allowed("POST"));
    }
    if let Some(status) = strikes(Flag::Status) {
        return Some(page(u16::try_from(status).unwrap_or(500)));
    }
    if let Some(seconds) = strikes(Flag::RetryAfter)
        && faults.count(Flag::RetryAfter).is_multiple_of(2)
    {
        let mut response = page(429);
        put(&mut response, header::RETRY_AFTER, seconds.into());
        return Some(response);
    }
    if let Some(times) = strikes(Flag::Flap503)
        && faults.count(Flag::Flap503) % times.saturating_add(1) < times
    {
        return Some(page(503));
    }
    if let Some(response) = redirect(query) {
        return Some(response);
    }
    if strikes(Flag::Empty200).is_some() {
        return Some(json(StatusCode::OK, Body::empty()));
    }
    if strikes(Flag::Accepts202).is_some() {
        return Some(accepted());
    }
    if strikes(Flag::ForeignErrorId).is_some() {
        let error = json!({"code": -32600, "message": "Bad Request: not like this"});
        let answer = json!({"jsonrpc": "2.0", "id": "server-error", "error": error});
        return Some(json(StatusCode::BAD_REQUEST, answer.to_string()));
    }
    if let Some(count) = strikes(Flag::HugeErrorBody) {
        let body = Body::poured(None, move |pipe| async move {
            let fill = [Act::Fill(
                b"something went wrong, ",
                count.saturating_mul(MIB),
            )];
            Writer::new(&pipe, Shape::Plain).acts(&fill).await;
            Ok(())
        });
        return Some(with_type(
            StatusCode::INTERNAL_SERVER_ERROR,
            "text/plain",
            body,
        ));
    }
    if let Some(count) = strikes(Flag::HugeBody) {
        let acts = filled(target, count);
        let body = Body::poured(None, move |pipe| async move {
            Writer::new(&pipe, Shape::Plain).acts(&acts).await;
            Ok(())
        });
        return Some(json(StatusCode::OK, body));
    }
    if let Some(count) = strikes(Flag::GzipBomb) {
        let (head, tail) = around(target);
        let body = Body::poured(None, move |pipe| async move {
            gzip::pour(&pipe, &head, count.saturating_mul(MIB), &tail).await;
            Ok(())
        });
        let mut response = json(StatusCode::OK, body);
        put(
            &mut response,
            header::CONTENT_ENCODING,
            HeaderValue::from_static("gzip"),
        );
        return Some(response);
    }
    // Not a response of its own: only later than it should be.
    if let Some(seconds) = strikes(Flag::SlowHeaders) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }
    None
}

/// A page with little but its status, as gateways send it.
fn page(status: u16) -> Response {
    let status = StatusCode::from_u16(status)
        .ok()
        // Informational statuses are not final responses.
        .filter(|status| !status.is_informational())
        .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let text = format!("{status}, and no more than that\n");
    with_type(status, "text/plain", text.into())
}

fn redirect(query: &Query) -> Option<Response> {
    let shared = &query.exchange.shared;
    let strikes = |flag| shared.faults.strikes(flag, &query.target);
    let root = query.path.split('/').nth(1).unwrap_or_default();
    let question = if query.query.is_empty() { "" } else { "?" };
    let at = |path: &str| format!("/{root}{path}{question}{}", query.query);
    let moved = query.path.ends_with("/moved");
    let (status, location) = if let Some(hops) = strikes(Flag::RedirectChain) {
        let number = query
            .path
            .split("/hop/")
            .nth(1)
            .and_then(|number| number.parse().ok());
        let number: u64 = number.unwrap_or_default();
        if number >= hops {
            return None;
        }
        (307, at(&format!("/hop/{}", number + 1)))
    } else if let Some(status) = strikes(Flag::RedirectLoop) {
        (status, at(""))
    } else if let Some(status) = strikes(Flag::RedirectToMetadata) {
        (
            status,
            "http://169.254.169.254/latest/meta-data/".to_owned(),
        )
    } else if let Some(status) = strikes(Flag::Redirect).filter(|_| !moved) {
        (status, at("/moved"))
    } else if let Some(status) = strikes(Flag::RedirectDowngrade).filter(|_| !moved) {
        let address = shared.address.to_string();
        let host = query.header("host").unwrap_or(&address);
        (status, format!("http://{host}{}", at("/moved")))
    } else if let Some(status) =
        strikes(Flag::RedirectOtherOrigin).filter(|_| !query.exchange.elsewhere)
    {
        (status, format!("http://{}{}", shared.other, at("")))
    } else {
        return None;
    };
    let status = u16::try_from(status)
        .ok()
        .and_then(|status| StatusCode::from_u16(status).ok());
    let status = status.filter(StatusCode::is_redirection);
    let mut response = plain(
        status.unwrap_or(StatusCode::TEMPORARY_REDIRECT),
        Body::empty(),
    );
    put(
        &mut response,
        header::LOCATION,
        HeaderValue::from_str(&location).ok()?,
    );
    Some(response)
}

/// The start and the end of an answer, around a text that is filled in.
fn around(target: &Target) -> (String, String) {
    let head = json!({"jsonrpc": "2.0", "id": target.id}).to_string();
    let head = head.trim_end_matches('}');
    (
        format!(r#"{head},"result":{{"resultType":"complete","content":[{{"type":"text","text":""#),
        r#""}]}}"#.to_owned(),
    )
}

/// An answer with a text of that many MiB.
pub(super) fn filled(target: &Target, count: u64) -> Vec<Act> {
    let (head, tail) = around(target);
    vec![
        Act::line(head, ""),
        Act::Fill(b"x", count.saturating_mul(MIB)),
        Act::line(tail, ""),
    ]
}

/// Spoils a right response.
pub(super) fn spoil(query: &Query, mut response: Response) -> Response {
    let faults = &query.exchange.shared.faults;
    if faults.is_empty() {
        return response;
    }
    let strikes = |flag| faults.strikes(flag, &query.target);
    if strikes(Flag::WrongContentType).is_some() {
        put(
            &mut response,
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html"),
        );
    }
    if let Some(count) = strikes(Flag::HugeHeaders) {
        // A header map holds at most 32768 entries.
        for number in 0..count.min(30_000) {
            let name = HeaderName::try_from(format!("x-filler-{number}"));
            let value = HeaderValue::try_from("x".repeat(FILLER_BYTES));
            if let (Ok(name), Ok(value)) = (name, value) {
                put(&mut response, name, value);
            }
        }
    }
    // These need the body, which is sent through a pipe instead.
    let slow = strikes(Flag::SlowBody).map(Duration::from_secs);
    let loris = strikes(Flag::SlowLoris).map(Duration::from_millis);
    let reset = strikes(Flag::ResetMidway).is_some();
    let breaks = reset || strikes(Flag::Truncate).is_some();
    if slow.is_none() && loris.is_none() && !breaks {
        return response;
    }
    let handle = query.exchange.handle.clone();
    response.map(|mut body| {
        // Keep the claimed length: a client notices the missing rest only by it.
        let length = body.length();
        Body::poured(length, move |pipe| async move {
            if let Some(time) = slow {
                tokio::time::sleep(time).await;
            }
            while let Some(piece) = body.next().await {
                let piece = piece?;
                if breaks {
                    pipe.send(piece.slice(..piece.len() / 2)).await;
                    return break_off(|| reset.then(|| handle.reset())).await;
                }
                match loris {
                    Some(time) => byte_by_byte(&pipe, &piece, time).await,
                    None => pipe.send(piece).await,
                }
            }
            Ok(())
        })
    })
}

async fn byte_by_byte(pipe: &Pipe, piece: &[u8], time: Duration) {
    for byte in piece {
        pipe.send(vec![*byte]).await;
        tokio::time::sleep(time).await;
    }
}

/// Breaks a body off after the part that was sent has left.
pub(super) async fn break_off<T>(prepare: impl FnOnce() -> T) -> io::Result<()> {
    // While the body waits, its sent part is flushed.
    tokio::time::sleep(Duration::from_millis(20)).await;
    prepare();
    Err(io::Error::other("broken off on purpose"))
}
