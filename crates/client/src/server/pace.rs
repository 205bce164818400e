//! How often a server that cannot be reached is tried again.

use std::time::Duration;

use switchboard_core::limits::{dice, doubled, share};
use tokio::time::Instant;

use crate::error::ServerError;

/// Whether and how often a connection is made again by itself, on the next use.
///
/// Asking for a connection outright, as [`Server::reconnect`](super::Server::reconnect) does, always tries, and begins
/// to count anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconnect {
    /// Whether a connection that was lost is made again at all.
    pub is_on: bool,
    /// How many attempts may fail in a row before nothing more is tried.
    pub attempts: u32,
    /// The longest rest after the first that failed; doubled each time.
    pub first: Duration,
    /// The longest rest after any.
    pub longest: Duration,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self {
            is_on: true,
            attempts: 5,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(60),
        }
    }
}

impl Reconnect {
    /// On every use, without a rest.
    pub fn always() -> Self {
        Self {
            attempts: u32::MAX,
            first: Duration::ZERO,
            longest: Duration::ZERO,
            ..Self::default()
        }
    }

    /// Never by itself.
    pub fn never() -> Self {
        Self {
            is_on: false,
            ..Self::default()
        }
    }

    /// Sets how many attempts may fail in a row.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }
}

/// The attempts that have failed in a row.
#[derive(Debug, Default)]
pub(super) struct Pace {
    failed: u32,
    not_before: Option<Instant>,
    last: Option<ServerError>,
}

/// Why nothing is tried now.
#[derive(Debug)]
pub(super) struct Rest {
    /// What the last attempt failed for.
    pub(super) last: ServerError,
    /// When the next is made; never by itself where it is left out.
    pub(super) until: Option<Instant>,
}

impl Pace {
    /// Says whether an attempt is to be left out.
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

    /// Notes an attempt that failed.
    pub(super) fn failed(&mut self, error: ServerError, policy: &Reconnect, now: Instant) {
        let ceiling = doubled(policy.first, policy.longest, self.failed);
        self.failed = self.failed.saturating_add(1);
        self.not_before = Some(now + share(ceiling, dice()));
        self.last = Some(error);
    }

    /// Begins to count anew.
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
            pace.failed(failure(), &policy, begin);
            let ceiling = doubled(policy.first, policy.longest, failed - 1);
            assert!(
                pace.rest(&policy, begin + ceiling).is_none(),
                "a rest after {failed} failures is longer than its ceiling"
            );
        }
        pace.failed(failure(), &policy, begin);
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
            pace.failed(failure(), &policy, now);
            assert!(pace.rest(&policy, now).is_none());
        }
    }
}
