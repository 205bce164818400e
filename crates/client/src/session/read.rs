//! The reading task: cuts a connection's input into lines and hands each to its consumer.
//!
//! It never waits for a consumer, so that a full pipe in one direction cannot block the other.

use std::pin::pin;
use std::sync::Arc;

use serde_json::value::RawValue;
use switchboard_core::limits::{Hold, NoRoom};
use switchboard_wire::{
    Cancelled, CancelledParams, Checked, ElicitationComplete, Envelope, EnvelopeKind, FromRaw,
    LoggingMessage, Notice, Progress as ProgressNotice, ProgressParams, PromptsListChanged, Raw,
    RequestId, ResourcesListChanged, RpcError, ToolsListChanged,
};
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, sleep_until, timeout, timeout_at};

use super::close::CloseCause;
use super::engine::{Engine, SMALL};
use super::error::CallError;
use super::inbound;
use super::notices::Announcement;
use super::options::Progress;
use super::pending::{Answer, Received};
use super::recover_id::{self, MessageOwner};
use super::when_woken::WhenWoken;
use crate::transport::{BoxRead, Frame, KEPT_BUFFER_BYTES, LineBuffer};

/// Maximum length of the excerpt of a line that is not a message.
const EXCERPT: usize = 200;

/// Reads until the connection ends, then closes the engine with the cause.
pub(crate) async fn read(engine: Arc<Engine>, mut reader: BoxRead) {
    let mut lines = LineBuffer::new(engine.limits.message_bytes);
    let cause = until_interrupted(&engine, &mut reader, &mut lines).await;
    // We closed the connection: only drain, so that the process can end.
    if engine.stop.is_cancelled() {
        drain(&engine, &mut reader).await;
        return;
    }
    match cause {
        CloseCause::ProcessEnded | CloseCause::WriteFailed(_) => {
            // Answers may still be in the pipe. Wait only briefly: a child of the server may hold
            // it open.
            let end = Instant::now() + engine.limits.drain;
            while let Ok(Ok(1..)) = timeout_at(end, reader.read_buf(lines.room())).await {
                hand_out(&engine, &mut lines, &mut Over::default());
            }
        }
        _ => {}
    }
    // The end of the stream ends the last line, too.
    last_line(&engine, &lines);
    if engine.peer.is_process() {
        // People need the exit status, and it comes a moment after the end of output: at the latest
        // when stderr has been drained too, in case a child holds that open.
        let patience = 2 * engine.limits.drain;
        timeout(patience, engine.peer.ended()).await.ok();
    }
    engine.close(cause);
    drain(&engine, &mut reader).await;
}

/// Treats a last line without a line break as a message.
fn last_line(engine: &Arc<Engine>, lines: &LineBuffer) {
    if !lines.remainder().is_empty() {
        engine.on_line(lines.remainder());
    }
}

async fn until_interrupted(
    engine: &Arc<Engine>,
    reader: &mut BoxRead,
    lines: &mut LineBuffer,
) -> CloseCause {
    // Polled only after one of these events has woken the task: nearly always there are only bytes.
    let interruption = pin!(interrupted(engine));
    let mut interrupted = WhenWoken::new(interruption);
    let mut over = Over::default();
    let mut held = None;
    let mut is_silent = true;
    // Hand out whole lines first: only the unfinished rest counts against the budget.
    loop {
        hand_out(engine, lines, &mut over);
        if let Err(no_room) = hold_buffer(engine, lines, &mut held) {
            engine.counters.no_room.add();
            over.no_room = Some(no_room);
            lines.refuse_line();
            hand_out(engine, lines, &mut over);
        }
        tokio::select! {
            biased;
            read = reader.read_buf(lines.room()) => match read {
                Ok(0) => return CloseCause::OutputClosed,
                Ok(_) if is_silent => {
                    is_silent = false;
                    engine.peer.note_write();
                }
                Ok(_) => {}
                Err(error) => return CloseCause::ReadFailed(error.to_string()),
            },
            cause = &mut interrupted => return cause,
            () = sleep_until(over.ends_at.unwrap_or_else(Instant::now)), if over.ends_at.is_some() => {
                engine.fail_all(&over.error(engine));
                over.ends_at = None;
            }
        }
    }
}

/// A message that is dropped while it arrives.
#[derive(Default)]
struct Over {
    /// The time until which its end may reveal its id.
    ends_at: Option<Instant>,
    /// The reason that it is dropped, if not its length.
    no_room: Option<NoRoom>,
}

impl Over {
    fn error(&self, engine: &Engine) -> CallError {
        match self.no_room {
            Some(NoRoom { limit_bytes }) => CallError::NoRoom { limit_bytes },
            None => engine.too_large(),
        }
    }
}

/// Adjusts the budget to a buffer that has grown for a large message.
fn hold_buffer(
    engine: &Engine,
    lines: &mut LineBuffer,
    held: &mut Option<Hold>,
) -> Result<(), NoRoom> {
    // `room` also releases the memory of a large message that was handed out.
    let bytes = lines.room().len();
    match held {
        None if bytes <= KEPT_BUFFER_BYTES => {}
        Some(_) if bytes <= KEPT_BUFFER_BYTES => *held = None,
        Some(held) => held.resize(bytes)?,
        None => *held = Some(engine.budget.hold(bytes)?),
    }
    Ok(())
}

/// Waits for an event that ends the reading, besides the end of the stream. Polled only when there
/// is nothing to read and one of its events has woken the task.
async fn interrupted(engine: &Engine) -> CloseCause {
    tokio::select! {
        () = engine.stop.cancelled() => CloseCause::ByUs,
        _ = engine.peer.ended() => CloseCause::ProcessEnded,
        why = engine.reader.write_failure() => CloseCause::WriteFailed(why),
    }
}

/// Reads and discards, so that a server that is ending never blocks on its output.
async fn drain(engine: &Engine, reader: &mut BoxRead) {
    if !engine.peer.is_process() {
        return;
    }
    let mut forgotten = Vec::with_capacity(16 * 1024);
    let reading = async {
        while let Ok(1..) = reader.read_buf(&mut forgotten).await {
            forgotten.clear();
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = reading => {}
        _ = engine.peer.ended() => {}
    }
}

fn hand_out(engine: &Arc<Engine>, lines: &mut LineBuffer, over: &mut Over) {
    while let Some(frame) = lines.next_frame() {
        match frame {
            Frame::Line(line) => engine.on_line(line),
            Frame::OverLimit { head } => {
                if over.no_room.is_none() {
                    engine.counters.over_limit.add();
                }
                match recover_id::owner_in_head(head) {
                    MessageOwner::Request(id) => engine.fail_or_count(&id, over.error(engine)),
                    MessageOwner::Server => {}
                    // Its end may contain the id. Without calls in flight there is no call to fail.
                    MessageOwner::Unknown if engine.table().len() == 0 => {}
                    MessageOwner::Unknown => {
                        over.ends_at = Some(Instant::now() + engine.limits.oversize_wait);
                    }
                }
            }
            Frame::OverLimitEnd { tail, .. } => {
                let error = over.error(engine);
                over.no_room = None;
                if over.ends_at.take().is_none() {
                    continue;
                }
                match recover_id::id_in_tail(tail) {
                    Some(id) => engine.fail_or_count(&id, error),
                    None => engine.fail_all(&error),
                }
            }
        }
    }
}

impl Engine {
    pub(crate) fn on_line(self: &Arc<Self>, line: &[u8]) {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let line = line.trim_ascii();
        match line.first() {
            None => self.counters.blank_lines.add(),
            Some(b'{' | b'[') => match std::str::from_utf8(line) {
                Ok(text) => self.on_text(text),
                Err(_) => {
                    self.counters.invalid_utf8.add();
                    self.on_broken(line, None, "not valid UTF-8");
                }
            },
            Some(_) => {
                if std::str::from_utf8(line).is_err() {
                    self.counters.invalid_utf8.add();
                }
                self.on_noise(line);
            }
        }
    }

    fn on_noise(&self, line: &[u8]) {
        self.counters.noise_lines.add();
        self.keep_noise(line);
    }

    fn on_text(self: &Arc<Self>, text: &str) {
        if text.starts_with('[') {
            // 2025-03-26: a server may send several messages as an array.
            match serde_json::from_str::<Vec<&RawValue>>(text) {
                Ok(batch) => batch
                    .iter()
                    .for_each(|message| self.on_message(message.get())),
                // Many log lines begin with a bracket.
                Err(_) => self.on_noise(text.as_bytes()),
            }
            return;
        }
        self.on_message(text);
    }

    fn on_message(self: &Arc<Self>, text: &str) {
        let envelope = match Envelope::parse(text) {
            Ok(envelope) => envelope,
            Err(error) => return self.on_broken(text.as_bytes(), error.id, &error.what),
        };
        // Each kind goes to its consumer; none of them is waited for.
        match envelope.into_kind() {
            Ok(EnvelopeKind::Success { id, result }) => self.succeed(&id, result),
            Ok(EnvelopeKind::Failure { id, error }) => self.on_failure(id, error, text),
            Ok(EnvelopeKind::Notification { method, params }) => self.on_notice(&method, params),
            Ok(EnvelopeKind::Request { id, method, params }) => {
                inbound::on_request(self, id, &method, params.map(Raw::from), None);
            }
            // Some servers log JSON objects: one without any JSON-RPC member is not an answer.
            Err(error) if !error.is_rpc => self.on_noise(text.as_bytes()),
            Err(error) => self.on_broken(text.as_bytes(), error.id, &error.what),
        }
    }

    /// Resolves the call that waits for this result.
    #[inline]
    pub(crate) fn succeed(&self, id: &RequestId, result: Checked<'_>) {
        let waiting = self.table().take(id);
        match waiting {
            // A caller that is gone does not need the answer.
            Some(waiting) => drop(waiting.answer.send(self.receive(result))),
            None => self.count_unmatched(id),
        }
    }

    /// Counts an answer that matches no call, unless it is the late one to a first request.
    #[cold]
    fn count_unmatched(&self, id: &RequestId) {
        if !self.table().take_late(id) {
            self.counters.unmatched_answers.add();
            // Evidence for the call whose answer this may have been.
            self.keep_noise(
                format!("a response with id {id}, which no request waits for").as_bytes(),
            );
        }
    }

    pub(crate) fn too_large(&self) -> CallError {
        CallError::TooLarge {
            limit_bytes: self.limits.message_bytes,
        }
    }

    /// Reserves budget for a result until its caller takes it.
    fn receive(&self, result: Checked<'_>) -> Answer {
        let held = match result.as_str().len() {
            ..SMALL => None,
            bytes => Some(self.budget.hold(bytes).map_err(|NoRoom { limit_bytes }| {
                self.counters.no_room.add();
                CallError::NoRoom { limit_bytes }
            })?),
        };
        Ok(Received::new(result, held))
    }

    pub(crate) fn on_failure(&self, id: Option<RequestId>, error: Checked<'_>, text: &str) {
        let Some(id) = self.request_of(id) else {
            if !self.table().take_any_late() {
                self.counters.unmatched_answers.add();
            }
            return;
        };
        let error = match RpcError::from_raw(&Raw::from(error)) {
            Ok(error) => CallError::Rpc(Box::new(error)),
            Err(misfit) => malformed(text.as_bytes(), &format!("error: {misfit}")),
        };
        self.fail_or_count(&id, error);
    }

    /// Finds the request that an error answers.
    ///
    /// A server that cannot read the probe may answer it without its id, or with another one. An
    /// error without an id belongs to the only call in flight, or to none.
    fn request_of(&self, id: Option<RequestId>) -> Option<RequestId> {
        let table = self.table();
        match id {
            Some(id) if table.knows(&id) => Some(id),
            Some(id) => table.probe().or(Some(id)),
            // It may be the late answer to a first request, which belongs to no call.
            None if table.expects_late() => table.probe(),
            None => table.probe().or_else(|| table.only()),
        }
    }

    /// Fails the call that an answer belongs to; an answer that matches no call is counted.
    pub(crate) fn fail_or_count(&self, id: &RequestId, error: CallError) {
        if !self.fail(id, error) && !self.table().take_late_error(id) {
            self.counters.unmatched_answers.add();
        }
    }

    /// Handles a line that should have been a message: fails the call it belongs to, if its id can
    /// be recovered.
    fn on_broken(&self, line: &[u8], id: Option<RequestId>, what: &str) {
        self.counters.malformed.add();
        self.keep_noise(line);
        let id = id.or_else(|| match recover_id::owner_in_head(line) {
            MessageOwner::Request(id) => Some(id),
            MessageOwner::Server => None,
            MessageOwner::Unknown => recover_id::id_in_tail(line),
        });
        if let Some(id) = id {
            self.fail(&id, malformed(line, what));
        }
    }

    pub(crate) fn on_notice(&self, method: &str, params: Option<Checked<'_>>) {
        self.on_notice_of(None, method, params);
    }

    /// Handles a notification that came on the stream of a call, if there is one.
    pub(crate) fn on_notice_of(
        &self,
        call: Option<&RequestId>,
        method: &str,
        params: Option<Checked<'_>>,
    ) {
        match method {
            ProgressNotice::NAME => {
                let progress =
                    params.and_then(|params| ProgressParams::from_raw(&Raw::from(params)).ok());
                let known = progress.is_some_and(|params| {
                    let token = params.progress_token();
                    let progress = Progress::of(&params, self.limits.progress_bytes);
                    let mut table = self.table();
                    let sink = table.sink(token);
                    let known = table.record_progress(token, progress, Instant::now());
                    // Not under the lock, which the caller's tasks need.
                    drop(table);
                    sink.inspect(|sink| sink.progress(params.raw()));
                    known
                });
                if !known {
                    self.counters.odd_progress.add();
                }
                return;
            }
            Cancelled::NAME => {
                let cancelled =
                    params.and_then(|params| CancelledParams::from_raw(&Raw::from(params)).ok());
                if let Some(id) = cancelled.as_ref().and_then(CancelledParams::request_id) {
                    inbound::on_request_cancelled(self, id);
                }
                return;
            }
            ToolsListChanged::NAME => self.notices.changes.send_modify(|seen| seen.tools += 1),
            PromptsListChanged::NAME => self.notices.changes.send_modify(|seen| seen.prompts += 1),
            ResourcesListChanged::NAME => {
                self.notices.changes.send_modify(|seen| seen.resources += 1);
            }
            _ => {}
        }
        let announcement = Announcement {
            method: method.to_owned(),
            params: params.map(Raw::from),
        };
        if let (ElicitationComplete::NAME, Some(params)) = (method, &announcement.params) {
            self.responder.on_elicitation_complete(params);
        }
        let is_relayed = call.is_some_and(|call| self.relay_log(call, &announcement));
        let dropped = self.notices.push(announcement, is_relayed);
        self.counters.dropped_notices.add_many(dropped);
    }
}

impl Engine {
    /// Hands a log message to the sink of its call; returns false if there is none.
    fn relay_log(&self, call: &RequestId, announcement: &Announcement) -> bool {
        let params = announcement.params.as_ref();
        let params = params.filter(|_| announcement.method == LoggingMessage::NAME);
        let Some(params) = params else {
            return false;
        };
        let sink = self.table().sink(call);
        sink.inspect(|sink| sink.log(params)).is_some()
    }
}

pub(crate) fn malformed(line: &[u8], what: &str) -> CallError {
    let excerpt = line.get(..EXCERPT).unwrap_or(line);
    CallError::Malformed {
        what: what.to_owned(),
        excerpt: String::from_utf8_lossy(excerpt).into_owned(),
    }
}
