//! The calls that wait for an answer, and their clocks.

use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;
use switchboard_core::limits::{Deadline, Hold};
use switchboard_wire::{Checked, Discover, Listen, Method as _, Raw, RequestId};
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use super::close::CloseReason;
use super::error::{CallError, Clock};
use super::options::Progress;

/// What a call gets.
pub(crate) type Answer = Result<Received, CallError>;

/// A result as it came.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) raw: Raw,
    /// How deep it is nested.
    pub(crate) depth: usize,
    /// The room it takes until its caller has it.
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

/// One call that waits.
pub(crate) struct Waiting {
    pub(crate) answer: oneshot::Sender<Answer>,
    pub(crate) method: &'static str,
    pub(crate) since: Instant,
    pub(crate) idle: Duration,
    pub(crate) idle_at: Instant,
    pub(crate) total_at: Instant,
    pub(crate) progress: Option<watch::Sender<Option<Progress>>>,
    /// How far the call has come, to tell progress from its opposite.
    pub(crate) reached: f64,
    /// Whether the server is told when nobody waits any more.
    pub(crate) cancellable: bool,
}

impl Waiting {
    fn ends_at(&self) -> Instant {
        self.idle_at.min(self.total_at)
    }

    /// The clock that has run out, and the time it had.
    pub(crate) fn ran_out(&self, now: Instant) -> Option<(Clock, Duration)> {
        if now >= self.total_at {
            Some((Clock::Total, self.total_at - self.since))
        } else if now >= self.idle_at {
            Some((Clock::Idle, self.idle))
        } else {
            None
        }
    }
}

/// All calls that wait on one connection.
#[derive(Default)]
pub(crate) struct Table {
    waiting: FxHashMap<RequestId, Waiting>,
    /// Subscriptions: they last, and are no calls that somebody is kept waiting by. A call beside
    /// them is alone, and what nobody can be told from is not theirs.
    lasting: FxHashMap<RequestId, Waiting>,
    /// Requests that nobody waits for any more and whose server does not know that: the first questions
    /// of a connection. Their answers are dropped and not held against the server.
    late: Vec<RequestId>,
    closed: Option<Arc<CloseReason>>,
    /// When the clocks are looked at next; `None` when nobody is going to.
    looked_at_next: Option<Instant>,
    pauses: usize,
    paused_since: Option<Instant>,
}

/// What to do after a call was added.
pub(crate) struct Added {
    /// It is the only one.
    pub(crate) alone: bool,
    /// Its clock runs out before the clocks are looked at next.
    pub(crate) look_sooner: bool,
}

impl Table {
    pub(crate) fn add(
        &mut self,
        id: RequestId,
        waiting: Waiting,
    ) -> Result<Added, Arc<CloseReason>> {
        if let Some(reason) = &self.closed {
            return Err(Arc::clone(reason));
        }
        let ends_at = waiting.ends_at();
        let look_sooner = self.looked_at_next.is_none_or(|next| ends_at < next);
        if look_sooner {
            self.looked_at_next = Some(ends_at);
        }
        if waiting.method == Listen::NAME {
            self.lasting.insert(id, waiting);
            return Ok(Added {
                alone: self.waiting.is_empty(),
                look_sooner,
            });
        }
        self.waiting.insert(id, waiting);
        Ok(Added {
            alone: self.waiting.len() == 1,
            look_sooner,
        })
    }

    pub(crate) fn take(&mut self, id: &RequestId) -> Option<Waiting> {
        let taken = self.waiting.remove(id);
        taken.or_else(|| self.lasting.remove(id))
    }

    /// Whether a call waits for that answer, or did until a moment ago.
    pub(crate) fn knows(&self, id: &RequestId) -> bool {
        self.waiting.contains_key(id) || self.lasting.contains_key(id) || self.late.contains(id)
    }

    /// The call in flight, where there is exactly one.
    pub(crate) fn only(&self) -> Option<RequestId> {
        match self.waiting.len() {
            1 => self.waiting.keys().next().cloned(),
            _ => None,
        }
    }

    /// Notes that nobody waits for a request any more, and that an answer to it is none too many.
    pub(crate) fn expect_late(&mut self, id: &RequestId) {
        // A connection has two or three first questions.
        const MOST: usize = 8;
        if self.late.len() == MOST {
            self.late.remove(0);
        }
        self.late.push(id.clone());
    }

    /// Whether a first question was given up and may still be answered.
    pub(crate) fn expects_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// Whether an answer that nobody waits for is the late one to a first question; once for each.
    pub(crate) fn take_late(&mut self, id: &RequestId) -> bool {
        let at = self.late.iter().position(|late| late == id);
        at.map(|at| self.late.remove(at)).is_some()
    }

    /// The same for an error. Its id may be another than ours, where a server could not read that.
    pub(crate) fn take_late_error(&mut self, id: &RequestId) -> bool {
        self.take_late(id) || self.take_any_late()
    }

    /// Whether an error without an id may be the answer to a first question: then it is taken for that,
    /// once.
    pub(crate) fn take_any_late(&mut self) -> bool {
        let is_late = !self.late.is_empty();
        self.late.truncate(self.late.len().saturating_sub(1));
        is_late
    }

    /// The probe, where it waits: a server that does not know it may answer without its id.
    pub(crate) fn probe(&self) -> Option<RequestId> {
        let mut waiting = self.waiting.iter();
        // Asking a modern server whether it is there is the same method, and can be cancelled.
        let is_probe = |waiting: &Waiting| waiting.method == Discover::NAME && !waiting.cancellable;
        let probe = waiting.find(|(_, waiting)| is_probe(waiting))?;
        Some(probe.0.clone())
    }

    pub(crate) fn take_all(&mut self) -> Vec<(RequestId, Waiting)> {
        self.waiting.drain().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Closes the table: no call is added any more.
    pub(crate) fn close(&mut self, reason: &Arc<CloseReason>) -> Vec<(RequestId, Waiting)> {
        self.closed.get_or_insert_with(|| Arc::clone(reason));
        self.waiting.drain().chain(self.lasting.drain()).collect()
    }

    pub(crate) fn closed(&self) -> Option<&Arc<CloseReason>> {
        self.closed.as_ref()
    }

    /// Notes progress of a call; false if it is none.
    pub(crate) fn progressed(&mut self, id: &RequestId, progress: Progress, now: Instant) -> bool {
        let Some(waiting) = self.waiting.get_mut(id) else {
            return false;
        };
        // Progress must increase; what does not is no sign of life either.
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

    /// Whether there is a call whose clock has run out.
    pub(crate) fn is_any_late(&self, now: Instant) -> bool {
        let mut all = self.waiting.values().chain(self.lasting.values());
        self.pauses == 0 && all.any(|waiting| waiting.ran_out(now).is_some())
    }

    /// Takes the calls whose clock has run out, and says when to look again.
    pub(crate) fn ran_out(&mut self, now: Instant) -> (Vec<(RequestId, Waiting)>, Option<Instant>) {
        if self.pauses > 0 {
            self.looked_at_next = None;
            return (Vec::new(), None);
        }
        let all = self.waiting.iter().chain(&self.lasting);
        let late: Vec<RequestId> = all
            .filter(|(_, waiting)| waiting.ran_out(now).is_some())
            .map(|(id, _)| id.clone())
            .collect();
        let late = late
            .into_iter()
            .filter_map(|id| self.take(&id).map(|waiting| (id, waiting)))
            .collect();
        let left = self.waiting.values().chain(self.lasting.values());
        self.looked_at_next = left.map(Waiting::ends_at).min();
        (late, self.looked_at_next)
    }

    /// Stops all clocks while a person answers a question.
    pub(crate) fn pause(&mut self, now: Instant) {
        self.pauses += 1;
        self.paused_since.get_or_insert(now);
    }

    /// Lets the clocks run on, for the time that was left.
    pub(crate) fn resume(&mut self, now: Instant) {
        self.pauses = self.pauses.saturating_sub(1);
        if self.pauses > 0 {
            return;
        }
        if let Some(since) = self.paused_since.take() {
            for waiting in self.waiting.values_mut().chain(self.lasting.values_mut()) {
                let stood_still = now - since.max(waiting.since);
                waiting.idle_at = later(waiting.idle_at, stood_still);
                waiting.total_at = later(waiting.total_at, stood_still);
            }
        }
    }
}

/// The moments at which a deadline ends.
pub(crate) fn ends(deadline: Deadline, now: Instant) -> (Instant, Instant) {
    (later(now, deadline.idle), later(now, deadline.total))
}

/// The moment that much later. "Without limit" is a time beyond what a clock shows: then it is as
/// late as anybody waits.
fn later(at: Instant, by: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
    at.checked_add(by.min(FAR)).unwrap_or(at)
}
