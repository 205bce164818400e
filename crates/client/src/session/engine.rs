//! The engine of a connection: the state that its tasks and its callers share.
//!
//! Three tasks serve a stream connection, and none of them waits for a consumer: one reads and
//! hands out answers (`read`), one writes queued messages (`outbox`), one enforces deadlines
//! (`clocks`). Callers touch only the table of pending calls and the outbox. Over HTTP there is no
//! stream to write to: each call drives its own exchange (`exchange`), and one task listens for
//! messages that belong to no call.
//!
//! A call is in one of three places: waiting for a slot, in the table, or resolved. It is resolved
//! by the one that takes it off the table (an answer, a deadline, the end of the connection, or the
//! caller that drops it), and taking is exclusive; that is why it is resolved exactly once.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use serde::Serialize;
use switchboard_core::limits::{Budget, Deadline, Limits, Timeouts};
use switchboard_wire::{
    Cancelled, CancelledParams, Era, Notice, RequestId, ServerCapabilities, Version,
};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, SemaphorePermit, oneshot, watch};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::SessionOptions;
use super::callbacks::{Callbacks, PendingCallbacks};
use super::clocks::ReaderMailbox;
use super::close::{CloseCause, CloseReason};
use super::counters::Counters;
use super::encode::{self, RequestContent};
use super::error::{CallError, Clock, Delivery, Seen};
use super::exchange::ExchangeDriver;
use super::inbound::Inbound;
use super::log_level::Level;
use super::negotiated::{Dialect, PLAIN};
use super::notices::Notices;
use super::options::{CancelReason, Progress};
use super::outbox::{Outbox, QueuedMessage};
use super::pending::{Answer, PendingCall, PendingTable, Registered, ends};
use super::responder::Responder;
use crate::transport::{self, Kind, Peer};

/// Messages smaller than this are not counted against the queue or the budget: the bookkeeping
/// would cost more than the message.
pub(crate) const SMALL: usize = 4 * 1024;
const KIB: usize = 1024;

/// The shared state of one connection.
///
/// Owns the table of pending calls, the outbox, the counters, the memory budget and the tasks.
/// Bounds calls in flight (`slots`) and queued bytes (`room`). [`Engine::exchange`] is the way of
/// one request; [`Engine::close`] is the only way that a connection ends, and gives every pending
/// call the same reason.
pub(crate) struct Engine {
    pub(crate) outbox: Outbox,
    /// The exchange driver of an HTTP connection; the outbox is unused then.
    pub(crate) driver: Option<ExchangeDriver>,
    pub(crate) counters: Counters,
    pub(crate) notices: Notices,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    /// The minimum level of the server's log messages.
    pub(crate) level: Level,
    /// The memory budget for messages that are held until a consumer takes them.
    pub(crate) budget: Budget,
    pub(crate) peer: Peer,
    /// Set once a version is negotiated, together with `offered`.
    pub(crate) dialect: OnceLock<Dialect>,
    /// The server's capabilities.
    pub(crate) offered: OnceLock<ServerCapabilities>,
    /// Answers the server's requests.
    pub(crate) responder: Responder,
    pub(crate) inbound: Inbound,
    /// The tasks that serve the connection.
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the connection closes.
    pub(crate) stop: CancellationToken,
    /// Messages to the reading task from other tasks.
    pub(crate) reader: ReaderMailbox,
    /// Wakes the task that watches the clocks.
    pub(crate) clocks: Notify,
    table: Mutex<PendingTable>,
    noise: Mutex<Vec<String>>,
    slots: Semaphore,
    room: Arc<Semaphore>,
    next_id: AtomicI64,
}

/// A request to be made, with its deadline and options.
pub(crate) struct PendingRequest<'a> {
    /// The id to use; the next number if `None`.
    pub(crate) id: Option<RequestId>,
    pub(crate) request: RequestContent<'a>,
    /// The tool that is called, if it is known without parsing the parameters.
    pub(crate) subject: Option<&'a str>,
    pub(crate) progress: Option<watch::Sender<Option<Progress>>>,
    pub(crate) callbacks: Option<&'a Arc<Callbacks>>,
    pub(crate) deadline: Deadline,
    /// The version that the request is made in; `None` before one is negotiated.
    pub(crate) version: Option<Version>,
    /// Sends `notifications/cancelled` when the caller gives up.
    pub(crate) cancellable: bool,
    /// The caller declares that the request may run twice.
    pub(crate) idempotent: bool,
    pub(crate) reason: &'a CancelReason,
}

impl PendingRequest<'_> {
    /// Encodes the request as a line.
    #[inline]
    pub(super) fn encode(&self, id: &RequestId) -> Result<Vec<u8>, CallError> {
        encode::request(id, &self.request).map_err(|source| CallError::BadParams {
            method: self.request.method.to_owned(),
            source,
        })
    }
}

impl Engine {
    pub(crate) fn new(
        outbox: Outbox,
        driver: Option<ExchangeDriver>,
        peer: Peer,
        options: &SessionOptions,
    ) -> Self {
        let limits = &options.limits;
        let budget = options.budget.part(limits.held_bytes);
        Self {
            outbox,
            driver,
            counters: Counters::default(),
            notices: Notices::new(limits.notices, limits.notice_bytes, &budget),
            timeouts: options.timeouts,
            level: Level::default(),
            budget,
            peer,
            dialect: OnceLock::new(),
            offered: OnceLock::new(),
            responder: Responder::new(Arc::clone(&options.respond), limits),
            inbound: Inbound::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            reader: ReaderMailbox::default(),
            clocks: Notify::new(),
            table: Mutex::default(),
            noise: Mutex::default(),
            slots: Semaphore::new(limits.in_flight.clamp(1, Semaphore::MAX_PERMITS)),
            room: Arc::new(Semaphore::new(
                (limits.queued_bytes / KIB).clamp(1, u32::MAX as usize),
            )),
            limits: limits.clone(),
            next_id: AtomicI64::new(1),
        }
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, PendingTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a number that no request on this connection has used.
    pub(crate) fn next_number(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Sets the first number for ids, on a connection that others have used before.
    pub(crate) fn begin_ids(&self, first: i64) {
        self.next_id.store(first, Ordering::Relaxed);
    }

    /// The dialect that requests are written in.
    pub(crate) fn dialect(&self) -> &Dialect {
        self.dialect.get().unwrap_or(&PLAIN)
    }

    /// The negotiated era; `None` before negotiation.
    pub(crate) fn era(&self) -> Option<Era> {
        self.dialect.get().map(Dialect::era)
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Cancel safety
    /// Dropping the future withdraws the request if none of it has left, and cancels it on the wire
    /// otherwise.
    pub(crate) async fn exchange(&self, ask: PendingRequest<'_>) -> Answer {
        if let Some(driver) = &self.driver {
            return driver.request(self, ask).await;
        }
        // The clocks run from here: waiting for a slot or for room is part of the call's time.
        let now = Instant::now();
        let (idle_at, total_at) = ends(ask.deadline, now);
        let first_end = idle_at.min(total_at);
        // A slot before anything else: a call that finds none has taken no id and no memory.
        let _slot = match self.slots.try_acquire() {
            Ok(slot) => slot,
            // Boxed, like everything that few calls need, to keep the future of a call small.
            Err(_) => Box::pin(self.wait_for_slot(first_end, &ask)).await?,
        };
        // Encode before registering: parameters without a JSON form fail here, while the call is
        // still unknown to the other tasks.
        let id = match ask.id.clone() {
            Some(id) => id,
            None => RequestId::Number(self.next_number()),
        };
        let bytes = ask.encode(&id)?;
        // Reserve room for a large message before it is queued: a server that does not read makes
        // its callers wait here instead of filling the queue.
        let room = if bytes.len() < SMALL {
            None
        } else {
            Some(Box::pin(self.wait_for_room(bytes.len(), first_end, &ask)).await?)
        };
        // Register before a byte leaves: the answer may arrive before the write returns.
        let (answer, answered) = oneshot::channel();
        let waiting = PendingCall {
            answer,
            method: ask.request.method,
            since: now,
            idle: ask.deadline.idle,
            idle_at,
            total_at,
            progress: ask.progress,
            callbacks: ask.callbacks.map(PendingCallbacks::new),
            reached: f64::NEG_INFINITY,
            cancellable: ask.cancellable,
        };
        let registered = self.register(&id, waiting)?;
        // From here on dropping the future must withdraw the request or cancel it on the wire.
        let cancel_on_drop = CancelOnDrop {
            engine: self,
            id: &id,
            reason: ask.reason,
        };
        let mut message = Some(QueuedMessage {
            id: Some(id.clone()),
            bytes,
            _permit: room,
        });
        // A call that is alone in flight writes its line itself, which saves waking the writing
        // task. With several in flight, that task writes them all in one go.
        let shut = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(match message.take() {
                Some(message) if registered.is_alone => self.outbox.write_now(message, cx),
                Some(message) => self.outbox.push(message),
                None => Ok(()),
            })
        })
        .await
        .is_err();
        let answer = answered.await.unwrap_or_else(|_| Err(self.closed_error()));
        // Answered: the call is off the table, so the guard has nothing left to cancel.
        std::mem::forget(cancel_on_drop);
        // The outbox was shut before it took the message, so the request provably never left.
        match answer {
            Err(CallError::Closed { reason, .. }) if shut => Err(CallError::Closed {
                reason,
                delivery: Delivery::NeverSent,
            }),
            answer => answer,
        }
    }

    /// Waits for one of the slots that bound the calls in flight.
    pub(super) async fn wait_for_slot(
        &self,
        until: Instant,
        ask: &PendingRequest<'_>,
    ) -> Result<SemaphorePermit<'_>, CallError> {
        let slot = timeout_at(until, self.slots.acquire())
            .await
            .map_err(|_| timed_out_unsent(ask))?;
        slot.map_err(|_| self.closed_error())
    }

    /// Waits for room in the queue for a message of that length.
    async fn wait_for_room(
        &self,
        len: usize,
        until: Instant,
        ask: &PendingRequest<'_>,
    ) -> Result<OwnedSemaphorePermit, CallError> {
        // A message larger than the whole queue takes all of it.
        let all = u32::try_from(self.limits.queued_bytes / KIB).unwrap_or(u32::MAX);
        let kib = u32::try_from(len / KIB).unwrap_or(u32::MAX).min(all);
        let room = Arc::clone(&self.room).acquire_many_owned(kib.max(1));
        let room = timeout_at(until, room)
            .await
            .map_err(|_| timed_out_unsent(ask))?;
        room.map_err(|_| self.closed_error())
    }

    /// Registers a request in the table, and wakes the clocks task if its deadline is now the
    /// earliest.
    #[inline]
    pub(super) fn register(
        &self,
        id: &RequestId,
        waiting: PendingCall,
    ) -> Result<Registered, CallError> {
        let registered = self.table().add(id.clone(), waiting);
        let registered = registered.map_err(|reason| CallError::Closed {
            reason,
            delivery: Delivery::NeverSent,
        })?;
        if registered.is_earliest_deadline {
            self.clocks.notify_one();
        }
        Ok(registered)
    }

    /// Sends a notification.
    pub(crate) fn notify<P: Serialize>(
        &self,
        method: &str,
        params: Option<&P>,
    ) -> Result<(), CallError> {
        let bytes = notice(method, params)?;
        match &self.driver {
            None => self.outbox.push(QueuedMessage::notice(bytes)),
            Some(driver) => driver.post(self, Kind::Notification, method, bytes),
        }
        .map_err(|_| self.closed_error())
    }

    /// Sends a notification, and over HTTP waits until the server has accepted it.
    pub(crate) async fn notify_and_wait<P: Serialize>(
        &self,
        method: &str,
        params: Option<&P>,
        patience: Duration,
    ) -> Result<(), CallError> {
        let Some(driver) = &self.driver else {
            return self.notify(method, params);
        };
        let bytes = notice(method, params)?;
        let sent = driver.send_bytes(self, Kind::Notification, method, &bytes);
        match transport::within(patience, sent).await {
            Ok(sent) => sent.map_err(|fault| CallError::Exchange(Box::new(fault))),
            Err(_) => Err(CallError::TimedOut {
                method: method.to_owned(),
                clock: Clock::Idle,
                after: patience,
                delivery: Delivery::MaybeProcessed,
                noise: Vec::new(),
            }),
        }
    }

    /// Fails a call whose deadline has passed, and cancels it on the wire.
    pub(crate) fn time_out(&self, id: &RequestId, waiting: PendingCall, now: Instant) {
        let delivery =
            self.withdraw_or_cancel(id, waiting.cancellable, "the time for the call ran out");
        let (clock, after) = waiting
            .expired_clock(now)
            .unwrap_or((Clock::Idle, waiting.idle));
        let error = CallError::TimedOut {
            method: waiting.method.to_owned(),
            clock,
            after,
            delivery,
            noise: self.noise(),
        };
        // A caller that is gone does not need the answer.
        waiting.answer.send(Err(error)).ok();
    }

    /// Withdraws a request that has not left, or cancels it on the wire. Returns what is known of
    /// its delivery.
    fn withdraw_or_cancel(&self, id: &RequestId, cancellable: bool, reason: &str) -> Delivery {
        if self.outbox.withdraw(id) {
            return Delivery::NeverSent;
        }
        // Without a cancellation the server will answer: expect that answer, so that it is not counted
        // as unmatched.
        if cancellable {
            self.table().note_given_up();
        } else {
            self.table().expect_late(id);
        }
        // 2026-07-28 HTTP: closing the exchange is the cancellation, and it is closed by now.
        let closing_cancels = self.driver.is_some() && self.era() == Some(Era::Modern);
        if cancellable && !closing_cancels {
            let params = CancelledParams::new(id.clone(), Some(reason));
            // A failure to send is fine: a connection that closes ends the request as well.
            self.notify(Cancelled::NAME, Some(&params)).ok();
        }
        Delivery::MaybeProcessed
    }

    /// Fails one call; returns false when it is not pending.
    pub(crate) fn fail(&self, id: &RequestId, error: CallError) -> bool {
        match self.table().take(id) {
            Some(waiting) => {
                waiting.answer.send(Err(error)).ok();
                true
            }
            None => false,
        }
    }

    /// Fails every call in flight, but not subscriptions.
    pub(crate) fn fail_all(&self, error: &CallError) {
        for (_, waiting) in self.table().take_all() {
            waiting.answer.send(Err(error.clone())).ok();
        }
    }

    /// Closes the connection: fails all pending calls with the same reason and asks the peer to
    /// end.
    pub(crate) fn close(&self, cause: CloseCause) -> Arc<CloseReason> {
        let reason = Arc::new(CloseReason::new(cause, &self.peer, self.noise()));
        // The table first: from here on no call is added, and the first reason is the one that all
        // calls get.
        let waiting = {
            let mut table = self.table();
            if let Some(earlier) = table.closed() {
                return Arc::clone(earlier);
            }
            table.close(&reason)
        };
        // The outbox before the calls are failed: only then is it known which requests never left.
        let never_left = self.outbox.shut();
        for (id, waiting) in waiting {
            let delivery = if never_left.contains(&id) {
                Delivery::NeverSent
            } else {
                Delivery::MaybeProcessed
            };
            let reason = Arc::clone(&reason);
            waiting
                .answer
                .send(Err(CallError::Closed { reason, delivery }))
                .ok();
        }
        // Then the calls that wait for a slot or for room, the tasks, and at last the process,
        // which ends when its input closes.
        self.slots.close();
        self.room.close();
        self.notices.close();
        self.stop.cancel();
        if let Some(driver) = &self.driver {
            driver.take_leave(self);
        }
        self.tasks.close();
        self.peer.end();
        reason
    }

    pub(crate) fn closed_error(&self) -> CallError {
        let reason = self.table().closed().cloned();
        CallError::Closed {
            reason: reason.unwrap_or_else(|| {
                Arc::new(CloseReason::new(CloseCause::ByUs, &self.peer, self.noise()))
            }),
            delivery: Delivery::NeverSent,
        }
    }

    /// Keeps the first lines on stdout that were not messages, as evidence for errors.
    pub(crate) fn keep_noise(&self, line: &[u8]) {
        let mut noise = self.noise.lock().unwrap_or_else(PoisonError::into_inner);
        if noise.len() < self.limits.noise_lines {
            let kept = line.get(..self.limits.stderr_line_bytes).unwrap_or(line);
            noise.push(String::from_utf8_lossy(kept).into_owned());
        }
    }

    fn noise(&self) -> Vec<String> {
        self.noise
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Evidence from outside the protocol: stderr, noise on stdout, network variables.
    pub(crate) fn evidence(&self) -> Seen {
        Seen {
            stderr: self.peer.stderr(),
            noise: self.noise(),
            network: self.peer.network_variables(),
        }
    }
}

/// Encodes a notification as a line.
fn notice<P: Serialize>(method: &str, params: Option<&P>) -> Result<Vec<u8>, CallError> {
    encode::notification(method, params).map_err(|source| CallError::BadParams {
        method: method.to_owned(),
        source,
    })
}

fn timed_out_unsent(ask: &PendingRequest<'_>) -> CallError {
    CallError::TimedOut {
        method: ask.request.method.to_owned(),
        clock: Clock::Idle,
        after: ask.deadline.idle.min(ask.deadline.total),
        delivery: Delivery::NeverSent,
        noise: Vec::new(),
    }
}

/// Withdraws or cancels a request when its future is dropped before the answer came.
pub(super) struct CancelOnDrop<'a> {
    pub(super) engine: &'a Engine,
    pub(super) id: &'a RequestId,
    pub(super) reason: &'a CancelReason,
}

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        let Some(waiting) = self.engine.table().take(self.id) else {
            return;
        };
        self.engine
            .withdraw_or_cancel(self.id, waiting.cancellable, &self.reason.words());
    }
}
