//! The heart of a connection: what its tasks and its callers share.
//!
//! Three tasks serve a connection, and none of them waits for a consumer: one reads and hands out
//! answers (`read`), one writes what has gathered (`outbox`), one watches the clocks (`clocks`).
//! Callers only ever touch the table of waiting calls and the outbox. Over HTTP there is nothing to
//! write to: each call drives its own exchange (`exchange`), and a task listens to what comes unasked.
//!
//! A call is in one of three places: waiting for a slot, in the table, or resolved. Whoever takes it
//! off the table (an answer, a clock, the end of the connection, the caller that drops it) resolves
//! it, so that it is resolved once.

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
use super::clocks::Reader;
use super::close::{CloseCause, CloseReason};
use super::counters::Counters;
use super::encode::{self, Request};
use super::error::{CallError, Clock, Delivery, Seen};
use super::exchange::ExchangeDriver;
use super::inbound::Inbound;
use super::log_level::Level;
use super::negotiated::{Dialect, PLAIN};
use super::notices::Notices;
use super::options::{CancelReason, Progress};
use super::outbox::{Outbox, Parcel};
use super::pending::{Added, Answer, Table, Waiting, ends};
use super::responder::Responder;
use crate::transport::{self, Kind, Peer};

/// Messages smaller than this take no room of the queue or of the budget: counting them would cost
/// more than they.
pub(crate) const SMALL: usize = 4 * 1024;
const KIB: usize = 1024;

pub(crate) struct Engine {
    pub(crate) outbox: Outbox,
    /// How messages leave where each is sent by itself; then the outbox has nothing to do.
    pub(crate) driver: Option<ExchangeDriver>,
    pub(crate) counters: Counters,
    pub(crate) notices: Notices,
    pub(crate) limits: Limits,
    pub(crate) timeouts: Timeouts,
    /// From which level on the server is to log.
    pub(crate) level: Level,
    /// What of the server's is held for others, besides what is being read.
    pub(crate) budget: Budget,
    pub(crate) peer: Peer,
    /// Set once a version is agreed on, together with `offered`.
    pub(crate) dialect: OnceLock<Dialect>,
    /// What the server offers.
    pub(crate) offered: OnceLock<ServerCapabilities>,
    /// Has what the server asks answered.
    pub(crate) responder: Responder,
    pub(crate) inbound: Inbound,
    /// The tasks that serve the connection.
    pub(crate) tasks: TaskTracker,
    /// Set when the connection is over.
    pub(crate) stop: CancellationToken,
    /// What the reading task is told besides what it reads.
    pub(crate) reader: Reader,
    /// Wakes the task that watches the clocks.
    pub(crate) clocks: Notify,
    table: Mutex<Table>,
    noise: Mutex<Vec<String>>,
    slots: Semaphore,
    room: Arc<Semaphore>,
    next_id: AtomicI64,
}

/// A request to be made.
pub(crate) struct Ask<'a> {
    /// The id to use; the next number where it is left out.
    pub(crate) id: Option<RequestId>,
    pub(crate) request: Request<'a>,
    /// The tool that is called, where it is known without reading the parameters.
    pub(crate) subject: Option<&'a str>,
    pub(crate) progress: Option<watch::Sender<Option<Progress>>>,
    pub(crate) deadline: Deadline,
    /// The version that the request is made in; `None` before one is agreed on.
    pub(crate) version: Option<Version>,
    /// Whether the server is told when nobody waits any more.
    pub(crate) cancellable: bool,
    /// Whether the caller says that it may run twice.
    pub(crate) idempotent: bool,
    pub(crate) reason: &'a CancelReason,
}

impl Ask<'_> {
    /// The request as it leaves.
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
            reader: Reader::default(),
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

    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number that no request on this connection has had.
    pub(crate) fn next_number(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// How requests are written.
    pub(crate) fn dialect(&self) -> &Dialect {
        self.dialect.get().unwrap_or(&PLAIN)
    }

    /// The era that was agreed on, once one was.
    pub(crate) fn era(&self) -> Option<Era> {
        self.dialect.get().map(Dialect::era)
    }

    /// Makes a request and waits for its answer.
    ///
    /// Dropping the future takes the request back, or tells the server that nobody waits.
    pub(crate) async fn exchange(&self, ask: Ask<'_>) -> Answer {
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
            // Boxed, like everything else that few calls need: no call is as large as that.
            Err(_) => Box::pin(self.wait_for_slot(first_end, &ask)).await?,
        };
        // Written before the call stands in the table: parameters without a JSON form fail here, where nobody
        // else knows of the call yet.
        let id = match ask.id.clone() {
            Some(id) => id,
            None => RequestId::Number(self.next_number()),
        };
        let bytes = ask.encode(&id)?;
        // Room for a large message before it is queued: a server that does not read holds up its callers here
        // rather than their memory in the queue.
        let room = if bytes.len() < SMALL {
            None
        } else {
            Some(Box::pin(self.wait_for_room(bytes.len(), first_end, &ask)).await?)
        };
        // In the table before a byte leaves: the answer may be here before the write returns.
        let (answer, answered) = oneshot::channel();
        let waiting = Waiting {
            answer,
            method: ask.request.method,
            since: now,
            idle: ask.deadline.idle,
            idle_at,
            total_at,
            progress: ask.progress,
            reached: f64::NEG_INFINITY,
            cancellable: ask.cancellable,
        };
        let added = self.stand(&id, waiting)?;
        // From here on a caller that goes away has to take the request back, or tell the server.
        let given_up = GiveUp {
            engine: self,
            id: &id,
            reason: ask.reason,
        };
        let mut parcel = Some(Parcel {
            id: Some(id.clone()),
            bytes,
            _room: room,
        });
        // A call that is alone writes by itself, which saves waking the writing task; where several are
        // under way, that task writes all of them at once.
        let shut = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(match parcel.take() {
                Some(parcel) if added.alone => self.outbox.write_now(parcel, cx),
                Some(parcel) => self.outbox.push(parcel),
                None => Ok(()),
            })
        })
        .await
        .is_err();
        let answer = answered.await.unwrap_or_else(|_| Err(self.closed_before()));
        // The answer is in: the call is off the table, and nobody has to be told anything.
        std::mem::forget(given_up);
        match answer {
            Err(CallError::Closed { reason, .. }) if shut => Err(CallError::Closed {
                reason,
                delivery: Delivery::NeverSent,
            }),
            answer => answer,
        }
    }

    /// Waits until fewer calls are under way than may be.
    pub(super) async fn wait_for_slot(
        &self,
        until: Instant,
        ask: &Ask<'_>,
    ) -> Result<SemaphorePermit<'_>, CallError> {
        let slot = timeout_at(until, self.slots.acquire())
            .await
            .map_err(|_| never_sent(ask))?;
        slot.map_err(|_| self.closed_before())
    }

    /// Waits for room in the queue for a message of that length.
    async fn wait_for_room(
        &self,
        len: usize,
        until: Instant,
        ask: &Ask<'_>,
    ) -> Result<OwnedSemaphorePermit, CallError> {
        // A message larger than the whole queue takes all of it.
        let all = u32::try_from(self.limits.queued_bytes / KIB).unwrap_or(u32::MAX);
        let kib = u32::try_from(len / KIB).unwrap_or(u32::MAX).min(all);
        let room = Arc::clone(&self.room).acquire_many_owned(kib.max(1));
        let room = timeout_at(until, room).await.map_err(|_| never_sent(ask))?;
        room.map_err(|_| self.closed_before())
    }

    /// Puts a request among those that wait, and has its clocks watched.
    #[inline]
    pub(super) fn stand(&self, id: &RequestId, waiting: Waiting) -> Result<Added, CallError> {
        let added = self.table().add(id.clone(), waiting);
        let added = added.map_err(|reason| CallError::Closed {
            reason,
            delivery: Delivery::NeverSent,
        })?;
        if added.look_sooner {
            self.clocks.notify_one();
        }
        Ok(added)
    }

    /// Sends a notification.
    pub(crate) fn notify<P: Serialize>(
        &self,
        method: &str,
        params: Option<&P>,
    ) -> Result<(), CallError> {
        let bytes = notice(method, params)?;
        match &self.driver {
            None => self.outbox.push(Parcel::notice(bytes)),
            Some(driver) => driver.post(self, Kind::Notification, method, bytes),
        }
        .map_err(|_| self.closed_before())
    }

    /// Sends a notification, and waits until the server has taken it where that can be known.
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
            }),
        }
    }

    /// Fails a call whose clock has run out, and tells the server.
    pub(crate) fn time_out(&self, id: &RequestId, waiting: Waiting, now: Instant) {
        let delivery = self.give_up_on(id, waiting.cancellable, "the time for the call ran out");
        let (clock, after) = waiting.ran_out(now).unwrap_or((Clock::Idle, waiting.idle));
        let error = CallError::TimedOut {
            method: waiting.method.to_owned(),
            clock,
            after,
            delivery,
        };
        // A caller that is gone does not need the answer.
        waiting.answer.send(Err(error)).ok();
    }

    /// Takes a request back, or tells the server that nobody waits for it.
    fn give_up_on(&self, id: &RequestId, cancellable: bool, reason: &str) -> Delivery {
        if self.outbox.withdraw(id) {
            return Delivery::NeverSent;
        }
        // The server is not told, and answers in good faith.
        if !cancellable {
            self.table().expect_late(id);
        }
        // 2026-07-28 HTTP: closing the exchange is what cancels, and it is closed by now.
        let closing_cancels = self.driver.is_some() && self.era() == Some(Era::Modern);
        if cancellable && !closing_cancels {
            let params = CancelledParams::new(id.clone(), Some(reason));
            // A connection that closes now cancels everything by itself.
            self.notify(Cancelled::NAME, Some(&params)).ok();
        }
        Delivery::MaybeProcessed
    }

    /// Fails one call; false when it is not waiting.
    pub(crate) fn fail(&self, id: &RequestId, error: CallError) -> bool {
        match self.table().take(id) {
            Some(waiting) => {
                waiting.answer.send(Err(error)).ok();
                true
            }
            None => false,
        }
    }

    /// Fails every call in flight.
    pub(crate) fn fail_all(&self, error: &CallError) {
        for (_, waiting) in self.table().take_all() {
            waiting.answer.send(Err(error.clone())).ok();
        }
    }

    /// Ends the connection: all who wait learn why, and the peer is asked to end.
    pub(crate) fn close(&self, cause: CloseCause) -> Arc<CloseReason> {
        let reason = Arc::new(CloseReason::new(cause, &self.peer, self.noise()));
        // The table first: from here on no call is added, and the first reason is the one that counts.
        let waiting = {
            let mut table = self.table();
            if let Some(earlier) = table.closed() {
                return Arc::clone(earlier);
            }
            table.close(&reason)
        };
        // The outbox before its callers are told: only then is it known which requests never left.
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
        // Calls that wait for a slot or for room, then the tasks, then the process, which ends by itself once
        // its input is closed.
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

    pub(crate) fn closed_before(&self) -> CallError {
        let reason = self.table().closed().cloned();
        CallError::Closed {
            reason: reason.unwrap_or_else(|| {
                Arc::new(CloseReason::new(CloseCause::ByUs, &self.peer, self.noise()))
            }),
            delivery: Delivery::NeverSent,
        }
    }

    /// Keeps the first lines that were no messages.
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

    /// What the server had to say outside the protocol.
    pub(crate) fn seen(&self) -> Seen {
        Seen {
            stderr: self.peer.stderr(),
            noise: self.noise(),
            network: self.peer.network_variables(),
        }
    }
}

/// A notification as it leaves.
fn notice<P: Serialize>(method: &str, params: Option<&P>) -> Result<Vec<u8>, CallError> {
    encode::notification(method, params).map_err(|source| CallError::BadParams {
        method: method.to_owned(),
        source,
    })
}

fn never_sent(ask: &Ask<'_>) -> CallError {
    CallError::TimedOut {
        method: ask.request.method.to_owned(),
        clock: Clock::Idle,
        after: ask.deadline.idle.min(ask.deadline.total),
        delivery: Delivery::NeverSent,
    }
}

/// Gives a call up when its future is dropped before the answer came.
pub(super) struct GiveUp<'a> {
    pub(super) engine: &'a Engine,
    pub(super) id: &'a RequestId,
    pub(super) reason: &'a CancelReason,
}

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        let Some(waiting) = self.engine.table().take(self.id) else {
            return;
        };
        self.engine
            .give_up_on(self.id, waiting.cancellable, &self.reason.words());
    }
}
