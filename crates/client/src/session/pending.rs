//! The table of pending calls, and their clocks.
//!
//! Everything that resolves a call (an answer, a deadline, the end of the connection, a dropped
//! caller) first takes it off the table, under the engine's lock. That makes resolution exclusive.

use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;
use switchboard_core::limits::{Deadline, Hold};
use switchboard_wire::{Checked, Discover, Listen, Method as _, Raw, RequestId};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::callbacks::{Addressee, CallSink, PendingCallbacks};
use super::close::CloseReason;
use super::error::{CallError, Clock};
use super::options::Progress;

/// The outcome of a call.
pub(crate) type Answer = Result<Received, CallError>;

/// A result as it arrived, before the typed reading.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) raw: Raw,
    /// The nesting depth.
    pub(crate) depth: usize,
    /// The budget that it takes until its caller has it.
    pub(crate) held: Option<Hold>,
}

impl Received {
    pub(crate) fn new(result: Checked<'_>, held: Option<Hold>) -> Self {
        Self {
            depth: result.depth(),
            raw: result.into(),
            held,
        }
    }
}

/// A pending call.
pub(crate) struct PendingCall {
    pub(crate) answer: oneshot::Sender<Answer>,
    pub(crate) method: &'static str,
    pub(crate) since: Instant,
    pub(crate) idle: Duration,
    pub(crate) idle_at: Instant,
    pub(crate) total_at: Instant,
    pub(crate) progress: Option<watch::Sender<Option<Progress>>>,
    pub(crate) callbacks: Option<PendingCallbacks>,
    /// The highest progress so far, to ignore reports that go backwards.
    pub(crate) reached: f64,
    /// Sends `notifications/cancelled` when the caller gives up.
    pub(crate) cancellable: bool,
}

impl PendingCall {
    fn ends_at(&self) -> Instant {
        self.idle_at.min(self.total_at)
    }

    /// The clock that has run out, and the time that it allowed.
    pub(crate) fn expired_clock(&self, now: Instant) -> Option<(Clock, Duration)> {
        if now >= self.total_at {
            Some((Clock::Total, self.total_at - self.since))
        } else if now >= self.idle_at {
            Some((Clock::Idle, self.idle))
        } else {
            None
        }
    }
}

/// The pending calls of one connection.
#[derive(Default)]
pub(crate) struct PendingTable {
    waiting: FxHashMap<RequestId, PendingCall>,
    /// Subscriptions. They last and block no caller, so they do not count as in flight: a call
    /// beside them is alone, and an answer without an id is not theirs.
    lasting: FxHashMap<RequestId, PendingCall>,
    /// Requests that were given up without a cancellation: the first requests of a connection.
    /// Their answers are dropped without being counted as unmatched.
    late: Vec<RequestId>,
    closed: Option<Arc<CloseReason>>,
    /// A call was given up that had left: the server may still work on it, and ask on its behalf.
    has_given_up: bool,
    /// The time at which the clocks task wakes next; `None` while it sleeps without a timer.
    next_wake_up: Option<Instant>,
    pauses: usize,
    paused_since: Option<Instant>,
}

/// The consequences of adding a call.
pub(crate) struct Registered {
    /// It is the only call in flight.
    pub(crate) is_alone: bool,
    /// Its deadline is before the next wake-up of the clocks task.
    pub(crate) is_earliest_deadline: bool,
}

impl PendingTable {
    pub(crate) fn add(
        &mut self,
        id: RequestId,
        waiting: PendingCall,
    ) -> Result<Registered, Arc<CloseReason>> {
        if let Some(reason) = &self.closed {
            return Err(Arc::clone(reason));
        }
        let ends_at = waiting.ends_at();
        let is_earliest_deadline = self.next_wake_up.is_none_or(|next| ends_at < next);
        if is_earliest_deadline {
            self.next_wake_up = Some(ends_at);
        }
        if waiting.method == Listen::NAME {
            self.lasting.insert(id, waiting);
            return Ok(Registered {
                is_alone: self.waiting.is_empty(),
                is_earliest_deadline,
            });
        }
        self.waiting.insert(id, waiting);
        Ok(Registered {
            is_alone: self.waiting.len() == 1,
            is_earliest_deadline,
        })
    }

    pub(crate) fn take(&mut self, id: &RequestId) -> Option<PendingCall> {
        let taken = self.waiting.remove(id);
        taken.or_else(|| self.lasting.remove(id))
    }

    /// Returns true if a call waits for that answer, or did until a moment ago.
    pub(crate) fn knows(&self, id: &RequestId) -> bool {
        self.waiting.contains_key(id) || self.lasting.contains_key(id) || self.late.contains(id)
    }

    /// The call in flight, if there is exactly one.
    pub(crate) fn only(&self) -> Option<RequestId> {
        match self.waiting.len() {
            1 => self.waiting.keys().next().cloned(),
            _ => None,
        }
    }

    /// Returns the sink of a call's notifications.
    pub(crate) fn sink(&self, id: &RequestId) -> Option<Arc<dyn CallSink>> {
        let callbacks = self.waiting.get(id)?.callbacks.as_ref()?;
        callbacks.sink().cloned()
    }

    /// Returns the handler of the call that a question of the server belongs to: the call on whose own
    /// stream it came, or else the only one in flight, unless an earlier one may be the one that asks.
    pub(crate) fn addressee(&self, of_call: Option<&RequestId>) -> Option<Addressee> {
        let call = match of_call {
            Some(id) => self.waiting.get(id),
            None if self.has_given_up || self.waiting.len() != 1 => None,
            None => self.waiting.values().next(),
        };
        call?.callbacks.as_ref()?.addressee()
    }

    /// Notes that a call was given up that may have left.
    pub(crate) fn note_given_up(&mut self) {
        self.has_given_up = true;
    }

    /// Notes that a request was given up without a cancellation, so that its answer is expected.
    pub(crate) fn expect_late(&mut self, id: &RequestId) {
        // A connection has two or three such requests.
        const MOST: usize = 8;
        if self.late.len() == MOST {
            self.late.remove(0);
        }
        self.late.push(id.clone());
    }

    /// Returns true if a first request was given up and may still be answered.
    pub(crate) fn expects_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// Takes the note of a late answer; false if the answer was not expected.
    pub(crate) fn take_late(&mut self, id: &RequestId) -> bool {
        let at = self.late.iter().position(|late| late == id);
        at.map(|at| self.late.remove(at)).is_some()
    }

    /// The same for an error, which may carry a different id if the server could not read ours.
    pub(crate) fn take_late_error(&mut self, id: &RequestId) -> bool {
        self.take_late(id) || self.take_any_late()
    }

    /// Takes the note of any late answer, for an error without an id; false if none is expected.
    pub(crate) fn take_any_late(&mut self) -> bool {
        let is_late = !self.late.is_empty();
        self.late.truncate(self.late.len().saturating_sub(1));
        is_late
    }

    /// The probe, if it is pending: a server that does not know it may answer without its id.
    pub(crate) fn probe(&self) -> Option<RequestId> {
        let mut waiting = self.waiting.iter();
        // A ping of a modern server uses the same method, but can be cancelled.
        let is_probe =
            |waiting: &PendingCall| waiting.method == Discover::NAME && !waiting.cancellable;
        let probe = waiting.find(|(_, waiting)| is_probe(waiting))?;
        Some(probe.0.clone())
    }

    pub(crate) fn take_all(&mut self) -> Vec<(RequestId, PendingCall)> {
        self.waiting.drain().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Closes the table and drains it: no call is added any more.
    pub(crate) fn close(&mut self, reason: &Arc<CloseReason>) -> Vec<(RequestId, PendingCall)> {
        self.closed.get_or_insert_with(|| Arc::clone(reason));
        self.waiting.drain().chain(self.lasting.drain()).collect()
    }

    pub(crate) fn closed(&self) -> Option<&Arc<CloseReason>> {
        self.closed.as_ref()
    }

    /// Records progress of a call; false if the call is unknown or the progress does not increase.
    pub(crate) fn record_progress(
        &mut self,
        id: &RequestId,
        progress: Progress,
        now: Instant,
    ) -> bool {
        let Some(waiting) = self.waiting.get_mut(id) else {
            return false;
        };
        // Progress must increase; a report that does not is not a sign of life.
        if progress.progress.is_nan() || progress.progress <= waiting.reached {
            return false;
        }
        waiting.reached = progress.progress;
        waiting.idle_at = later(now, waiting.idle);
        if let Some(watcher) = &waiting.progress {
            watcher.send_replace(Some(progress));
        }
        true
    }

    /// Returns true if a call's deadline has passed.
    pub(crate) fn has_expired(&self, now: Instant) -> bool {
        let mut all = self.waiting.values().chain(self.lasting.values());
        self.pauses == 0 && all.any(|waiting| waiting.expired_clock(now).is_some())
    }

    /// Takes the calls whose deadline has passed, and returns the time of the next deadline.
    pub(crate) fn take_expired(
        &mut self,
        now: Instant,
    ) -> (Vec<(RequestId, PendingCall)>, Option<Instant>) {
        if self.pauses > 0 {
            self.next_wake_up = None;
            return (Vec::new(), None);
        }
        let all = self.waiting.iter().chain(&self.lasting);
        let late: Vec<RequestId> = all
            .filter(|(_, waiting)| waiting.expired_clock(now).is_some())
            .map(|(id, _)| id.clone())
            .collect();
        let late = late
            .into_iter()
            .filter_map(|id| self.take(&id).map(|waiting| (id, waiting)))
            .collect();
        let left = self.waiting.values().chain(self.lasting.values());
        self.next_wake_up = left.map(PendingCall::ends_at).min();
        (late, self.next_wake_up)
    }

    /// Stops all clocks while a person answers a question.
    pub(crate) fn pause(&mut self, now: Instant) {
        self.pauses += 1;
        self.paused_since.get_or_insert(now);
    }

    /// Resumes the clocks, with the time that each had left.
    pub(crate) fn resume(&mut self, now: Instant) {
        self.pauses = self.pauses.saturating_sub(1);
        if self.pauses > 0 {
            return;
        }
        if let Some(since) = self.paused_since.take() {
            // A call that was made during the pause has stood still only since then.
            for waiting in self.waiting.values_mut().chain(self.lasting.values_mut()) {
                let stood_still = now - since.max(waiting.since);
                waiting.idle_at = later(waiting.idle_at, stood_still);
                waiting.total_at = later(waiting.total_at, stood_still);
            }
        }
    }
}

/// The times at which a deadline's idle and total clocks end.
pub(crate) fn ends(deadline: Deadline, now: Instant) -> (Instant, Instant) {
    (later(now, deadline.idle), later(now, deadline.total))
}

/// That much later, capped at a year: "without limit" may be beyond what an `Instant` can hold.
fn later(at: Instant, by: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
    at.checked_add(by.min(FAR)).unwrap_or(at)
}
