//! What may be sent again, and when.
//!
//! All decisions are pure: the transport says what happened and what time it is. [`repeatable`] is
//! the one place that says which requests may go out a second time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use switchboard_core::limits::{Limits, doubled, share};
use switchboard_wire::code;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::transport::Sent;

/// How a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The server answered with this status and nothing that says more.
    Status {
        /// The status.
        status: u16,
        /// Whether it said when to come back.
        retry_after: bool,
    },
    /// The server does not know our session: 404, or 400 that says so.
    UnknownSession,
    /// The server answered with this error.
    Rpc(i64),
    /// The connection was not made, broke, or ended without an answer.
    Lost,
}

/// Whether a request may be sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// It may not.
    No,
    /// Once, when what the server refused it for is put right: a new session, fresh headers,
    /// another version, a token.
    AfterRepair,
    /// When some time has passed, as often as [`Backoff`] allows.
    AfterWait,
}

/// Methods that change nothing, or nothing more the second time. One that is not here is sent
/// once: an extension may have methods that act.
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

/// Decides whether a request may be sent again. `idempotent` is what the person says about the
/// tool; what a server says about its own does not count.
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

/// Decides whether a request may be sent again once what it was refused for is put right.
pub(crate) fn is_repairable(method: &str, failure: Failure) -> bool {
    repeatable(method, failure, false, Sent::Answered) == Repeat::AfterRepair
}

/// How long to wait before sending a request again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backoff {
    /// How often a request is sent again.
    pub(crate) retries: u32,
    /// The longest wait before the first time; doubled each time.
    pub(crate) first: Duration,
    /// The longest wait before any.
    pub(crate) longest: Duration,
    /// The longest that a server may ask to wait.
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
    /// Gives the wait before the next time, after `repeated` others; `None` when it was enough.
    ///
    /// What the server asks for is waited in full, and spread a little beyond, so that not
    /// everybody comes back at the same moment. `dice` is any number, from [`dice`](switchboard_core::limits::dice).
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

/// Reads `Retry-After`: seconds or a date, no more than `longest`. A date that has passed is now.
pub(crate) fn retry_after(value: &str, now: SystemTime, longest: Duration) -> Option<Duration> {
    let value = value.trim_matches([' ', '\t']);
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let wait = if is_number {
        // More digits than fit are more than anybody waits.
        Duration::from_secs(value.parse().unwrap_or(u64::MAX))
    } else {
        let date = httpdate::parse_http_date(value).ok()?;
        date.duration_since(now).unwrap_or_default()
    };
    Some(wait.min(longest))
}

/// Holds what a server asks to wait before reconnecting to `shortest..=longest`.
pub(crate) fn reconnect_wait(
    asked: Option<Duration>,
    usual: Duration,
    shortest: Duration,
    longest: Duration,
) -> Duration {
    asked.unwrap_or(usual).min(longest).max(shortest)
}

/// Counts attempts, so that no server sees more than so many in so long, whatever it answers.
#[derive(Debug)]
pub(crate) struct Attempts {
    max: usize,
    window: Duration,
    /// When the last ones were, the oldest first.
    at: VecDeque<Instant>,
    /// Wakes whoever waits for one.
    returned: Arc<Notify>,
}

impl Attempts {
    /// Allows `max` attempts within any `window`.
    pub(crate) fn new(max: usize, window: Duration) -> Self {
        Self {
            max: max.max(1),
            window,
            at: VecDeque::new(),
            returned: Arc::default(),
        }
    }

    /// Gives back as many attempts as came to something, the last ones first.
    pub(crate) fn give_back(&mut self, fruitful: usize) {
        for _ in 0..fruitful.min(self.at.len()) {
            self.at.pop_back();
        }
        self.returned.notify_waiters();
    }

    /// Says when an attempt was given back.
    pub(crate) fn returned(&self) -> Arc<Notify> {
        Arc::clone(&self.returned)
    }

    /// Takes one attempt now.
    ///
    /// # Errors
    /// When there were too many: how long to wait until there is room for one.
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
