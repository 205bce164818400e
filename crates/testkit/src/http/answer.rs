//! What was said, made an answer.

use std::sync::Arc;

use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::{StatusCode, header};
use switchboard_protocol::{Version, code};

use super::body::Body;
use super::channel::{Channel, Entry, Reader, Role};
use super::config::Answers;
use super::events::{Looks, Shape, Writer, pour};
use super::exchange::{Query, Response, json, put, with_type};
use super::record::Log;
use super::session::Session;
use crate::chaos::Act;

/// How long clients that can be told shall wait before they come back, in milliseconds.
const RETRY_MS: u64 = 500;

/// The answer to a request, as it comes.
pub(super) struct Stream {
    pub(super) session: Arc<Session>,
    pub(super) channel: Arc<Channel>,
    /// The version of a legacy client; `None` for a modern one.
    pub(super) version: Option<Version>,
    /// Whether it is a subscription, which has no answer before its end.
    pub(super) listens: bool,
}

/// Counts an answer while it is made or sent.
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

/// Answers as JSON or as a stream, as the server likes it and the answer allows.
pub(super) async fn answer(query: &Query, stream: Stream) -> Response {
    let shared = &query.exchange.shared;
    let modern = stream.version.is_none();
    let mut running = Running::new(query, modern);
    let Some(mut reader) = stream.channel.read(0) else {
        // The session has ended this very moment.
        return super::exchange::refusal(StatusCode::NOT_FOUND, "Session not found");
    };
    let first = match shared.answers {
        _ if stream.listens => reader.peek_now(),
        Answers::Sse => reader.peek_now(),
        Answers::Json => None,
        Answers::Auto => reader.peek().await,
    };
    let status = match first.map(|first| first.role) {
        Some(Role::Answer(Some(code))) if modern => status(code),
        _ => StatusCode::OK,
    };
    let alone = first.is_some_and(|first| first.alone && first.role != Role::Other);
    let as_json = match shared.answers {
        _ if status != StatusCode::OK => true,
        _ if stream.listens => false,
        Answers::Auto => alone,
        Answers::Json => true,
        Answers::Sse => false,
    };
    if as_json {
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
    open(query, stream.session, reader, stream.version, running)
}

/// The status that goes with an error of the modern era.
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

/// A stream that a GET has opened.
pub(super) fn open_stream(
    query: &Query,
    session: Arc<Session>,
    reader: Reader,
    version: Option<Version>,
) -> Response {
    let running = Running::new(query, false);
    open(query, session, reader, version, running)
}

fn open(
    query: &Query,
    session: Arc<Session>,
    mut reader: Reader,
    version: Option<Version>,
    mut running: Running,
) -> Response {
    let ids = version.is_some() && !query.exchange.shared.stateless;
    let polls = ids && version == Some(Version::V2025_11_25);
    let looks = Looks {
        ids,
        // Clients of older versions read it as a message that is no JSON.
        primed: polls,
        retry: polls.then_some(RETRY_MS),
        ..Looks::default()
    };
    // Whoever closes the stream of a modern request cancels it: its session goes with the body.
    let body = Body::poured(None, move |pipe| async move {
        let _session = session;
        let poured = pour(&pipe, &looks, &mut reader).await;
        running.finish(poured.is_ok());
        poured
    });
    let mut response = with_type(StatusCode::OK, "text/event-stream", body);
    put(
        &mut response,
        CACHE_CONTROL,
        HeaderValue::from_static("no-cache"),
    );
    put(
        &mut response,
        header::HeaderName::from_static("x-accel-buffering"),
        HeaderValue::from_static("no"),
    );
    response
}
