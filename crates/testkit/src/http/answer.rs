//! Turns the entries of a channel into an HTTP response: JSON or an event stream.

use std::sync::Arc;

use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::{StatusCode, header};
use switchboard_wire::{Version, code};

use super::body::{Body, Pipe};
use super::channel::{Channel, Entry, Reader, Role};
use super::config::Answers;
use super::events::{Looks, Shape, Writer, begin, pour};
use super::exchange::{Query, Response, json, put, with_type};
use super::faults::{Cut, Plan};
use super::record::Log;
use super::session::Session;
use super::spoil::{break_off, filled};
use crate::chaos::Act;

/// The `retry` of streams that can be resumed, in milliseconds.
const RETRY_MS: u64 = 500;

/// The answer to a request, as it arrives.
pub(super) struct Stream {
    pub(super) session: Arc<Session>,
    pub(super) channel: Arc<Channel>,
    /// The version of a legacy client; `None` for a modern one.
    pub(super) version: Option<Version>,
    /// It is a subscription, which has no answer before its end.
    pub(super) listens: bool,
}

/// Counts an answer as running until it is dropped.
pub(super) struct Running {
    log: Arc<Log>,
    modern: bool,
    done: bool,
}

impl Running {
    fn new(query: &Query, modern: bool) -> Self {
        let log = Arc::clone(&query.exchange.shared.log);
        log.count(|counts| counts.running += 1);
        Self {
            log,
            modern,
            done: false,
        }
    }

    fn finish(&mut self, done: bool) {
        self.done = done;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.log.count(|counts| {
            counts.running -= 1;
            counts.cancelled += u64::from(self.modern && !self.done);
        });
    }
}

/// Answers as JSON or as a stream, as the settings prefer and the answer allows.
pub(super) async fn answer(query: &Query, stream: Stream) -> Response {
    let shared = &query.exchange.shared;
    let modern = stream.version.is_none();
    // The plan of the faults first: some of them demand a stream.
    let plan = shared
        .faults
        .plan(&query.target, !modern && !shared.stateless);
    let mut running = Running::new(query, modern);
    let Some(mut reader) = stream.channel.read(0) else {
        // The session has ended this very moment.
        return super::exchange::refusal(StatusCode::NOT_FOUND, "Session not found");
    };
    // With `Auto` the first message decides the form, so wait for it; a subscription cannot wait.
    let first = match shared.answers {
        _ if stream.listens || plan.sse => reader.peek_now(),
        Answers::Sse => reader.peek_now(),
        Answers::Json => None,
        Answers::Auto => reader.peek().await,
    };
    // 2026-07-28 HTTP: an error has a status of its own, which must be known before the headers
    // leave.
    let status = match first.map(|first| first.role) {
        Some(Role::Answer(Some(code))) if modern => status(code),
        _ => StatusCode::OK,
    };
    let alone = first.is_some_and(|first| first.alone && first.role != Role::Other);
    // A status other than 200 has a JSON body: streams are for results.
    let as_json = match shared.answers {
        _ if status != StatusCode::OK => true,
        _ if stream.listens || plan.sse => false,
        Answers::Auto => alone,
        Answers::Json => true,
        Answers::Sse => false,
    };
    if as_json {
        // JSON has room for the answer alone: progress and logs before it are left out.
        while let Some(entry) = reader.next().await {
            if let Role::Answer(error) = entry.role {
                running.finish(true);
                let status = match error {
                    Some(code) if modern => self::status(code),
                    _ => StatusCode::OK,
                };
                return whole(status, &entry);
            }
        }
    }
    let opened = Opened {
        session: stream.session,
        reader,
        version: stream.version,
        running,
        plan,
    };
    open(query, opened)
}

/// The HTTP status of a modern error.
fn status(code: i64) -> StatusCode {
    match code {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::HEADER_MISMATCH
        | code::MISSING_CLIENT_CAPABILITY
        | code::UNSUPPORTED_VERSION
        | code::INVALID_REQUEST
        | code::PARSE_ERROR => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

/// One message as a body.
fn whole(status: StatusCode, entry: &Arc<Entry>) -> Response {
    if let [Act::Bytes(bytes)] = entry.acts.as_slice() {
        return json(status, Body::Whole(Some(bytes.clone().into())));
    }
    let entry = Arc::clone(entry);
    let body = Body::poured(None, move |pipe| async move {
        Writer::new(&pipe, Shape::Plain).acts(&entry.acts).await;
        Ok(())
    });
    json(status, body)
}

/// Answers a GET with a stream.
pub(super) fn open_stream(
    query: &Query,
    session: Arc<Session>,
    reader: Reader,
    version: Option<Version>,
) -> Response {
    let opened = Opened {
        session,
        reader,
        version,
        running: Running::new(query, false),
        plan: query.exchange.shared.faults.plan(&query.target, true),
    };
    open(query, opened)
}

/// A stream that is about to be sent.
struct Opened {
    session: Arc<Session>,
    reader: Reader,
    version: Option<Version>,
    running: Running,
    plan: Plan,
}

fn open(query: &Query, opened: Opened) -> Response {
    let shared = &query.exchange.shared;
    let (plan, version) = (&opened.plan, opened.version);
    // Ids only where a stream can be resumed: in a legacy session, unless a fault forbids it.
    let ids = version.is_some() && !shared.stateless && plan.cut != Cut::NoFinal;
    // Clients of older versions would read such an event as a message that is not JSON.
    let polls = ids && version == Some(Version::V2025_11_25);
    let mut looks = Looks {
        ids,
        primed: polls || (ids && plan.cut != Cut::Whole),
        retry: plan.retry.or(polls.then_some(RETRY_MS)),
        ..Looks::default()
    };
    shared.faults.dress(&mut looks);
    let huge = plan.huge.map(|count| filled(&query.target, count));
    // Closing the stream of a modern request cancels it: its session is dropped with the body.
    let body = Body::poured(None, move |pipe| async move {
        let Opened {
            session: _session,
            mut reader,
            mut running,
            plan,
            ..
        } = opened;
        let poured = match (plan.cut, huge) {
            (Cut::Whole, Some(acts)) => {
                begin(&pipe, &looks, &reader).await;
                let shape = Shape::Events {
                    looks: &looks,
                    id: None,
                };
                Writer::new(&pipe, shape).acts(&acts).await;
                Ok(())
            }
            (Cut::Whole, None) => {
                comment(&pipe, plan.comments).await;
                pour(&pipe, &looks, &mut reader).await
            }
            (cut, _) => {
                begin(&pipe, &looks, &reader).await;
                comment(&pipe, 1).await;
                if cut == Cut::Drop {
                    break_off(|| ()).await
                } else {
                    Ok(())
                }
            }
        };
        // A stream that was cut off on purpose was not cancelled by the client.
        running.finish(true);
        poured
    });
    let mut response = with_type(StatusCode::OK, "text/event-stream", body);
    put(
        &mut response,
        CACHE_CONTROL,
        HeaderValue::from_static("no-cache"),
    );
    let unbuffered = header::HeaderName::from_static("x-accel-buffering");
    put(&mut response, unbuffered, HeaderValue::from_static("no"));
    response
}

/// Writes comment lines.
async fn comment(pipe: &Pipe, count: u64) {
    let acts = [Act::Repeat(
        count,
        Box::new(|number| format!(": nothing yet, {number}\n")),
    )];
    Writer::new(pipe, Shape::Plain).acts(&acts).await;
}
