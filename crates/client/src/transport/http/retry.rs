//! Rules for sending requests again, and the waits before that.
//!
//! All decisions are pure: the transport passes in what happened and the time. [`repeatable`] is
//! the one place that decides which requests may go out a second time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use switchboard_core::limits::{Limits, doubled, share};
use switchboard_wire::code;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::transport::Sent;

/// The failure of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server answered with this status and no JSON-RPC error.
    Status {
        /// The status.
        status: u16,
        /// The response has `Retry-After`.
        retry_after: bool,
    },
    /// The server does not know our session: 404, or 400 that says so.
    UnknownSession,
    /// The server answered with this error.
    Rpc(i64),
    /// The connection was not made, broke, or ended without an answer.
    Lost,
}

/// The permission to send a request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// It may not.
    No,
    /// Once, after the cause of the refusal is repaired: a new session, fresh headers, another
    /// version, a token.
    AfterRepair,
    /// After some time, as often as [`Backoff`] allows.
    AfterWait,
}

/// Methods that change nothing, or nothing more the second time. Unknown methods are sent once:
/// those of an extension may have effects.
const SAFE: &[&str] = &[
    "completion/complete",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tools/list",
];

/// Decides whether a request may be sent again. `idempotent` is the person's statement about the
/// tool; a server's own annotations do not count.
///
/// A `tools/call` goes out at most once, unless no byte of it left, the tool is idempotent, or the
/// server refused it in a way that the specification places before its execution.
pub(crate) fn repeatable(method: &str, failure: Failure, idempotent: bool, sent: Sent) -> Repeat {
    let is_safe = SAFE.contains(&method) || (method == "tools/call" && idempotent);
    match failure {
        // Refused before anything was run.
        Failure::UnknownSession => Repeat::AfterRepair,
        Failure::Rpc(code::HEADER_MISMATCH | code::UNSUPPORTED_VERSION) => Repeat::AfterRepair,
        Failure::Status { status: 401, .. } => Repeat::AfterRepair,
        Failure::Status {
            status: 429,
            retry_after: true,
        } => Repeat::AfterWait,
        // Maybe run.
        Failure::Status {
            status: 429 | 500 | 502 | 503 | 504,
            ..
        } if is_safe => Repeat::AfterWait,
        Failure::Lost if is_safe || sent == Sent::Never => Repeat::AfterWait,
        Failure::Status { .. } | Failure::Rpc(_) | Failure::Lost => Repeat::No,
    }
}

/// Decides whether a request may be sent again once the cause of the refusal is repaired.
pub(crate) fn is_repairable(method: &str, failure: Failure) -> bool {
    repeatable(method, failure, false, Sent::Answered) == Repeat::AfterRepair
}

/// The waits between attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backoff {
    /// Maximum number of repetitions.
    pub(crate) retries: u32,
    /// The longest wait before the first repetition; doubled each time.
    pub(crate) first: Duration,
    /// The longest wait before any.
    pub(crate) longest: Duration,
    /// The longest wait that is accepted from a server.
    pub(crate) retry_after: Duration,
}

impl From<&Limits> for Backoff {
    fn from(limits: &Limits) -> Self {
        Self {
            retries: limits.retries,
            first: limits.retry_first,
            longest: limits.retry_most,
            retry_after: limits.retry_after,
        }
    }
}

impl Backoff {
    /// Computes the wait before the next repetition, after `repeated` others; `None` when there
    /// were enough.
    ///
    /// The wait that the server asks for is kept in full, with some jitter on top, so that clients
    /// do not all return at once. `dice` is any number, from
    /// [`dice`](switchboard_core::limits::dice).
    pub(crate) fn wait(
        &self,
        repeated: u32,
        asked: Option<Duration>,
        dice: u64,
    ) -> Option<Duration> {
        if repeated >= self.retries {
            return None;
        }
        let ceiling = doubled(self.first, self.longest, repeated);
        let jitter = share(ceiling, dice);
        Some(match asked {
            None => jitter,
            Some(asked) => asked
                .min(self.retry_after)
                .saturating_add(jitter.min(self.first)),
        })
    }
}

/// Parses `Retry-After`: seconds or a date, capped at `longest`. A date in the past means now.
pub(crate) fn retry_after(value: &str, now: SystemTime, longest: Duration) -> Option<Duration> {
    let value = value.trim_matches([' ', '\t']);
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let wait = if is_number {
        // More digits than fit are beyond any cap.
        Duration::from_secs(value.parse().unwrap_or(u64::MAX))
    } else {
        let date = httpdate::parse_http_date(value).ok()?;
        date.duration_since(now).unwrap_or_default()
    };
    Some(wait.min(longest))
}

/// Clamps the reconnect wait of a server to `shortest..=longest`.
pub(crate) fn reconnect_wait(
    asked: Option<Duration>,
    usual: Duration,
    shortest: Duration,
    longest: Duration,
) -> Duration {
    asked.unwrap_or(usual).min(longest).max(shortest)
}

/// A rate limit on attempts per window, whatever the server answers.
#[derive(Debug)]
pub(crate) struct Attempts {
    max: usize,
    window: Duration,
    /// The times of the attempts in the window, the oldest first.
    at: VecDeque<Instant>,
    /// Wakes tasks that wait for an attempt.
    returned: Arc<Notify>,
}

impl Attempts {
    /// Permits `max` attempts within any `window`.
    pub(crate) fn new(max: usize, window: Duration) -> Self {
        Self {
            max: max.max(1),
            window,
            at: VecDeque::new(),
            returned: Arc::default(),
        }
    }

    /// Gives successful attempts back, the most recent first.
    pub(crate) fn give_back(&mut self, fruitful: usize) {
        for _ in 0..fruitful.min(self.at.len()) {
            self.at.pop_back();
        }
        self.returned.notify_waiters();
    }

    /// The notification that attempts were given back.
    pub(crate) fn returned(&self) -> Arc<Notify> {
        Arc::clone(&self.returned)
    }

    /// Takes one attempt now.
    ///
    /// # Errors
    /// Fails when there were too many, with the wait until the next one is permitted.
    pub(crate) fn take(&mut self, now: Instant) -> Result<(), Duration> {
        while let Some(oldest) = self.at.front() {
            let age = now.saturating_duration_since(*oldest);
            if age >= self.window {
                self.at.pop_front();
            } else if self.at.len() >= self.max {
                return Err(self.window.saturating_sub(age));
            } else {
                break;
            }
        }
        self.at.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
