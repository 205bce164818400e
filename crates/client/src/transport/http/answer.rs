//! Classification of HTTP answers: body or stream, and the meaning of refusals.

use std::time::{Duration, SystemTime};

use switchboard_wire::{Envelope, EnvelopeKind, Era};

use super::body::{self, Bounds};
use super::fetch::Response;
use super::inner::{Inner, STREAM};
use super::retry;
use crate::transport::{Fault, FaultKind, Heard, Inlet, Sent};

/// The media type of a body that is one message.
const JSON: &str = "application/json";
/// Maximum length read of the body of a refusal.
const REFUSAL: usize = 64 * 1024;
/// Maximum length read of a body that is not a message, for an excerpt.
const SHOWN: usize = 1024;
/// Maximum time to wait for the body of a refusal.
const PATIENCE: Duration = Duration::from_secs(2);

/// The form of an answer.
pub(crate) enum Form {
    Json,
    Stream,
}

/// Classifies the answer to a request.
///
/// # Errors
/// Fails when the response is not an answer.
pub(crate) async fn kind(inner: &Inner, response: &mut Response) -> Result<Form, Fault> {
    if matches!(response.status, 202 | 204 | 205) {
        let what = "it took the request and did not answer it";
        return Err(inner.answer_fault(FaultKind::NoAnswer { what }));
    }
    // We ask for no encoding, so an encoded body is a mistake or a bomb: never decode it.
    if let Some(coding) = response.header("content-encoding")
        && !coding.trim().eq_ignore_ascii_case("identity")
    {
        let found = format!("a body in {coding}, which was not asked for");
        let excerpt = String::new();
        return Err(inner.answer_fault(FaultKind::ContentType { found, excerpt }));
    }
    match media_type(response) {
        Some(kind) if kind.eq_ignore_ascii_case(JSON) => Ok(Form::Json),
        Some(kind) if kind.eq_ignore_ascii_case(STREAM) => {
            if inner.streams == super::Streams::Refused {
                Err(inner.answer_fault(FaultKind::StreamRefused))
            } else {
                Ok(Form::Stream)
            }
        }
        other => {
            let found = other.unwrap_or("no content type").to_ascii_lowercase();
            let start = body::beginning(&mut *response.body, SHOWN);
            let start = tokio::time::timeout(PATIENCE, start)
                .await
                .unwrap_or_default();
            if start.is_empty() {
                let what = "an empty body";
                return Err(inner.answer_fault(FaultKind::NoAnswer { what }));
            }
            let excerpt = body::excerpt(&start);
            Err(inner.answer_fault(FaultKind::ContentType { found, excerpt }))
        }
    }
}

/// Returns true if a response is a stream that can be read.
pub(crate) fn is_stream(response: &Response) -> bool {
    let is_stream = media_type(response).is_some_and(|kind| kind.eq_ignore_ascii_case(STREAM));
    response.status == 200 && is_stream
}

/// The media type of a body in the server's spelling, without parameters.
fn media_type(response: &Response) -> Option<&str> {
    let whole = response.header("content-type")?;
    let name = whole.split(';').next().unwrap_or(whole);
    Some(name.trim())
}

/// Reads an answer that is one JSON body.
pub(crate) async fn json(
    inner: &Inner,
    response: &mut Response,
    inlet: &dyn Inlet,
    bounds: &Bounds<'_>,
) -> Result<(), Fault> {
    let read = body::whole(&mut *response.body, bounds).await;
    let text = read.map_err(|failed| inner.fault(failed))?;
    let what = match text.trim_ascii() {
        [] => "an empty body",
        text => match inlet.message(text) {
            Heard::Answer => return Ok(()),
            Heard::Aside => "what it sent is no answer to the request",
        },
    };
    Err(inner.answer_fault(FaultKind::NoAnswer { what }))
}

/// The meaning of a status that is not a success.
pub(crate) enum Refused {
    /// The session is not known to the server.
    Session(Fault),
    /// The server sent a JSON-RPC error.
    Rpc {
        /// The message.
        text: Vec<u8>,
        /// The fault to report if the message is not read.
        fault: Fault,
    },
    /// The server refused, with this status.
    Status(Fault),
}

impl Refused {
    /// The fault, without the JSON-RPC error.
    pub(crate) fn into_fault(self) -> Fault {
        match self {
            Self::Session(fault) | Self::Rpc { fault, .. } | Self::Status(fault) => fault,
        }
    }
}

/// Classifies a response whose status is not a success.
pub(crate) async fn classify_refusal(
    inner: &Inner,
    response: &mut Response,
    era: Era,
    with_session: bool,
) -> Refused {
    let start = body::beginning(&mut *response.body, REFUSAL);
    let body = tokio::time::timeout(PATIENCE, start)
        .await
        .unwrap_or_default();
    let fault = status(inner, response, &body);
    // An unknown session before anything else: the request is repeated in a new one.
    if with_session && (response.status == 404 || names_session(response.status, &body)) {
        return Refused::Session(fault);
    }
    // These statuses keep their usual meaning even with a JSON-RPC body. Only in 2026-07-28 does
    // 404 mean an unknown method.
    let plain = matches!(response.status, 401 | 403 | 405 | 407 | 429 | 503)
        || (response.status == 404 && era == Era::Legacy);
    if !plain && is_error(&body) {
        return Refused::Rpc { text: body, fault };
    }
    Refused::Status(fault)
}

/// Makes the fault of a status.
fn status(inner: &Inner, response: &Response, body: &[u8]) -> Fault {
    let after = response.header("retry-after");
    let (now, longest) = (SystemTime::now(), inner.limits.retry_after);
    inner.fault(super::fetch::Failed {
        kind: FaultKind::Status {
            status: response.status,
            excerpt: body::excerpt(body),
            retry_after: after.and_then(|after| retry::retry_after(after, now, longest)),
            challenge: response.header("www-authenticate").map(str::to_owned),
        },
        sent: Sent::Answered,
    })
}

/// Some servers answer 400 for an unknown session, although the specification demands 404.
fn names_session(status: u16, body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).to_ascii_lowercase();
    status == 400 && text.contains("session")
}

fn is_error(body: &[u8]) -> bool {
    matches!(message(body), Some(EnvelopeKind::Failure { .. }))
}

/// Parses a message; `None` if the text is not one.
pub(crate) fn message(text: &[u8]) -> Option<EnvelopeKind<'_>> {
    let text = std::str::from_utf8(text).ok()?;
    Envelope::parse(text.trim_ascii()).ok()?.into_kind().ok()
}
