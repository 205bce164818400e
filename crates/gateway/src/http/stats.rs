//! Counters of a gateway over HTTP.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Most clients whose mismatching headers are counted by name.
const NAMES: usize = 32;
/// Longest name that is kept.
const NAME_BYTES: usize = 64;

/// The reason that a request was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RefusalReason {
    /// `Host` is missing, repeated or not ours.
    Host,
    /// `Origin` is not one that may use the gateway.
    Origin,
    /// A missing, wrong or insufficient credential.
    Auth,
    /// A path or method that is not served.
    Route,
    /// Another version of HTTP, an unusable head, a wrong `Content-Type` or `Accept`.
    Head,
    /// A body that is too long, too slow, or no message.
    Body,
    /// Headers of the protocol that say something else than the body.
    Mismatch,
    /// A version of the protocol that is not served.
    Version,
    /// A session that does not exist, or belongs to another client.
    Session,
    /// No room for another session.
    Full,
}

/// The number of reasons.
const REASONS: usize = 10;

const ALL: [RefusalReason; REASONS] = [
    RefusalReason::Host,
    RefusalReason::Origin,
    RefusalReason::Auth,
    RefusalReason::Route,
    RefusalReason::Head,
    RefusalReason::Body,
    RefusalReason::Mismatch,
    RefusalReason::Version,
    RefusalReason::Session,
    RefusalReason::Full,
];

/// Counts of a gateway over HTTP since it was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpStats {
    /// Requests, refused ones included.
    pub requests: u64,
    /// Refused requests, by reason; reasons without any are left out.
    pub refused: BTreeMap<RefusalReason, u64>,
    /// Connections that were accepted.
    pub connections: u64,
    /// Connections that were closed at once because there were too many.
    pub connections_refused: u64,
    /// Sessions that are open now.
    pub sessions: usize,
    /// Sessions that ended because their clients never came back.
    pub sessions_expired: u64,
    /// Messages that were dropped because a client did not read.
    pub dropped: u64,
    /// Requests whose headers and body disagreed, by the name of the client.
    pub mismatches: BTreeMap<String, u64>,
}

/// The counters behind [`HttpStats`].
#[derive(Default)]
pub(super) struct Counters {
    requests: AtomicU64,
    refused: [AtomicU64; REASONS],
    connections: AtomicU64,
    connections_refused: AtomicU64,
    expired: AtomicU64,
    dropped: AtomicU64,
    /// The bytes of messages in all channels.
    held: AtomicUsize,
    mismatches: Mutex<BTreeMap<String, u64>>,
}

impl Counters {
    pub(super) fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn count_refusal(&self, reason: RefusalReason) {
        let at = ALL.iter().position(|known| *known == reason);
        if let Some(count) = at.and_then(|at| self.refused.get(at)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn connection(&self, was_refused: bool) {
        let count = if was_refused {
            &self.connections_refused
        } else {
            &self.connections
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn expired(&self) {
        self.expired.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn dropped(&self, count: u64) {
        self.dropped.fetch_add(count, Ordering::Relaxed);
    }

    /// Replaces what one channel holds.
    pub(super) fn hold(&self, before: usize, now: usize) {
        // Wraps around for a channel that holds less than before; the sum is right again.
        let change = now.wrapping_sub(before);
        self.held.fetch_add(change, Ordering::Relaxed);
    }

    /// The bytes of messages in all channels.
    pub(super) fn held_bytes(&self) -> usize {
        self.held.load(Ordering::Relaxed)
    }

    /// Counts a request whose headers and body disagreed.
    pub(super) fn mismatch(&self, client: &str) {
        self.count_refusal(RefusalReason::Mismatch);
        let mut end = client.len().min(NAME_BYTES);
        while !client.is_char_boundary(end) {
            end -= 1;
        }
        let name = client.get(..end).unwrap_or_default();
        let mut names = self
            .mismatches
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // Clients choose their names: only so many are told apart.
        let name = if names.len() < NAMES || names.contains_key(name) {
            name
        } else {
            "others"
        };
        *names.entry(name.to_owned()).or_default() += 1;
    }

    pub(super) fn read(&self, sessions: usize) -> HttpStats {
        let value = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let refused = ALL.into_iter().zip(self.refused.iter().map(value));
        HttpStats {
            requests: value(&self.requests),
            refused: refused.filter(|(_, count)| *count > 0).collect(),
            connections: value(&self.connections),
            connections_refused: value(&self.connections_refused),
            sessions,
            sessions_expired: value(&self.expired),
            dropped: value(&self.dropped),
            mismatches: self
                .mismatches
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_are_counted_by_reason_and_names_are_bounded() {
        let counters = Counters::default();
        for reason in ALL {
            counters.count_refusal(reason);
        }
        counters.count_refusal(RefusalReason::Full);
        for number in 0..100 {
            counters.mismatch(&format!("{}{number}", "ä".repeat(40)));
            counters.mismatch(&format!("client {number}"));
        }
        let stats = counters.read(3);
        assert_eq!(stats.refused.len(), REASONS);
        assert_eq!(stats.refused[&RefusalReason::Full], 2);
        assert_eq!(stats.refused[&RefusalReason::Mismatch], 201);
        assert_eq!(stats.mismatches.values().sum::<u64>(), 200);
        assert!(stats.mismatches.len() <= NAMES + 1);
        assert_eq!(stats.sessions, 3);
    }
}
