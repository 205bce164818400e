//! The reconnect policy: pauses between attempts, and their maximum number.

use std::time::Duration;

use switchboard_core::limits::{dice, doubled, share};
use tokio::time::Instant;

use crate::error::ServerError;

/// The policy of automatic reconnection, which happens on the next use.
///
/// An explicit request to connect, such as [`Server::reconnect`](super::Server::reconnect), always
/// tries and resets the count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconnect {
    /// Reconnects after a lost connection at all.
    pub is_on: bool,
    /// The number of consecutive failures after which automatic attempts stop.
    pub attempts: u32,
    /// The longest pause after the first failure; doubled with each further one.
    pub first: Duration,
    /// The longest pause after any failure.
    pub longest: Duration,
    /// The number of times that a start which fails without a known cause is repeated before it
    /// counts as failed. The waits between are those of
    /// [`Limits`](switchboard_core::limits::Limits): `retry_first`, doubled each time.
    pub start_retries: u32,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self {
            is_on: true,
            attempts: 5,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(60),
            start_retries: 0,
        }
    }
}

impl Reconnect {
    /// Connects on every use, without pauses.
    pub fn always() -> Self {
        Self {
            attempts: u32::MAX,
            first: Duration::ZERO,
            longest: Duration::ZERO,
            ..Self::default()
        }
    }

    /// Never connects automatically after a connection was lost.
    pub fn never() -> Self {
        Self {
            is_on: false,
            ..Self::default()
        }
    }

    /// Sets the number of times that a failed start is repeated before it counts as failed.
    #[must_use]
    pub fn start_retries(mut self, retries: u32) -> Self {
        self.start_retries = retries;
        self
    }

    /// Sets the number of consecutive failures after which automatic attempts stop.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }
}

/// The consecutive failures of one server.
#[derive(Debug, Default)]
pub(super) struct Pace {
    failed: u32,
    not_before: Option<Instant>,
    last: Option<ServerError>,
}

/// A pause between attempts.
#[derive(Debug)]
pub(super) struct Rest {
    /// The error of the last attempt.
    pub(super) last: ServerError,
    /// The time of the next attempt; `None` if there is no automatic one.
    pub(super) until: Option<Instant>,
}

impl Pace {
    /// Returns the pause that applies now, if any.
    pub(super) fn rest(&self, policy: &Reconnect, now: Instant) -> Option<Rest> {
        let last = self.last.clone()?;
        if self.failed >= policy.attempts {
            return Some(Rest { last, until: None });
        }
        let until = self.not_before.filter(|until| *until > now)?;
        Some(Rest {
            last,
            until: Some(until),
        })
    }

    /// Records a failed attempt, and draws the length of the pause.
    pub(super) fn record_failure(&mut self, error: ServerError, policy: &Reconnect, now: Instant) {
        let ceiling = doubled(policy.first, policy.longest, self.failed);
        self.failed = self.failed.saturating_add(1);
        self.not_before = Some(now + share(ceiling, dice()));
        self.last = Some(error);
    }

    /// Returns the error of the last attempt, if it failed.
    pub(super) fn last(&self) -> Option<&ServerError> {
        self.last.as_ref()
    }

    /// Resets the count.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ServerErrorCause;

    fn failure() -> ServerError {
        let name = "x".parse().expect("a name");
        ServerError::new(name, "stdio:x".to_owned(), ServerErrorCause::Stopped)
    }

    #[test]
    fn rests_grow_and_then_nothing_is_tried() {
        let policy = Reconnect::default();
        let mut pace = Pace::default();
        let begin = Instant::now();
        assert!(pace.rest(&policy, begin).is_none());
        for failed in 1..policy.attempts {
            pace.record_failure(failure(), &policy, begin);
            let ceiling = doubled(policy.first, policy.longest, failed - 1);
            assert!(
                pace.rest(&policy, begin + ceiling).is_none(),
                "a rest after {failed} failures is longer than its ceiling"
            );
        }
        pace.record_failure(failure(), &policy, begin);
        let rest = pace.rest(&policy, begin + Duration::from_secs(3600));
        assert!(rest.is_some_and(|rest| rest.until.is_none()));
        pace.reset();
        assert!(pace.rest(&policy, begin).is_none());
    }

    #[test]
    fn whoever_wants_no_rest_gets_none() {
        let policy = Reconnect::always();
        let mut pace = Pace::default();
        let now = Instant::now();
        for _ in 0..100 {
            pace.record_failure(failure(), &policy, now);
            assert!(pace.rest(&policy, now).is_none());
        }
    }
}
