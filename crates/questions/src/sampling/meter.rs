//! Counts the recent sampling requests of servers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::limits::SamplingLimits;
use switchboard_core::spec::ServerName;

const MINUTE: Duration = Duration::from_secs(60);

/// Counts recent requests and tokens, separately for each server.
#[derive(Default)]
pub struct Meter {
    lately: Mutex<BTreeMap<ServerName, RecentRequests>>,
}

/// The requests of the last minute. There are never more of them than may be made in one.
#[derive(Default)]
struct RecentRequests {
    next: u64,
    made: VecDeque<Made>,
}

struct Made {
    number: u64,
    at: Instant,
    tokens: u64,
}

/// One request that was let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticket(u64);

impl Meter {
    /// Admits a request that takes at most this many tokens.
    ///
    /// # Errors
    /// Fails if a limit is exceeded, with a message for the server.
    pub fn admit(
        &self,
        server: &ServerName,
        tokens: u64,
        limits: &SamplingLimits,
    ) -> Result<Ticket, String> {
        let now = Instant::now();
        let mut lately = self.lock();
        let lately = lately.entry(server.clone()).or_default();
        // Requests older than a minute no longer count.
        while lately
            .made
            .front()
            .is_some_and(|made| now - made.at >= MINUTE)
        {
            lately.made.pop_front();
        }
        let wait = || {
            let first = lately
                .made
                .front()
                .map(|made| MINUTE.saturating_sub(now - made.at));
            first.unwrap_or(MINUTE).as_secs() + 1
        };
        if lately.made.len() >= limits.requests_per_minute {
            let most = limits.requests_per_minute;
            return Err(format!(
                "more than {most} requests in a minute: try again in {} s",
                wait()
            ));
        }
        // An estimate until the answer says how many there were: see `settle`.
        let taken: u64 = lately.made.iter().map(|made| made.tokens).sum();
        if taken.saturating_add(tokens) > limits.tokens_per_minute {
            let most = limits.tokens_per_minute;
            return Err(format!(
                "more than {most} tokens in a minute: try again in {} s",
                wait()
            ));
        }
        // A number, not a place: older requests leave the queue while this one runs.
        lately.next += 1;
        let number = lately.next;
        lately.made.push_back(Made {
            number,
            at: now,
            tokens,
        });
        Ok(Ticket(number))
    }

    /// Replaces the estimated tokens of a request with the actual number.
    pub fn settle(&self, server: &ServerName, ticket: Ticket, tokens: u64) {
        let mut lately = self.lock();
        let made = lately.get_mut(server).map(|lately| &mut lately.made);
        let mut made = made.into_iter().flatten();
        if let Some(made) = made.find(|made| made.number == ticket.0) {
            made.tokens = tokens;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ServerName, RecentRequests>> {
        self.lately.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> SamplingLimits {
        SamplingLimits {
            requests_per_minute: 2,
            tokens_per_minute: 100,
            ..SamplingLimits::default()
        }
    }

    fn name(text: &str) -> ServerName {
        ServerName::parse(text).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn requests_are_counted_by_the_minute_and_by_server() {
        let (meter, limits, a) = (Meter::default(), limits(), name("a"));
        meter.admit(&a, 1, &limits).unwrap();
        tokio::time::advance(Duration::from_secs(20)).await;
        meter.admit(&a, 1, &limits).unwrap();
        let error = meter.admit(&a, 1, &limits).unwrap_err();
        assert_eq!(error, "more than 2 requests in a minute: try again in 41 s");
        meter.admit(&name("b"), 1, &limits).unwrap();
        tokio::time::advance(Duration::from_secs(40)).await;
        meter.admit(&a, 1, &limits).unwrap();
        assert!(meter.admit(&a, 1, &limits).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_are_counted_as_they_may_be_and_then_as_they_were() {
        let (meter, limits, a) = (Meter::default(), limits(), name("a"));
        let first = meter.admit(&a, 100, &limits).unwrap();
        assert!(
            meter
                .admit(&a, 1, &limits)
                .unwrap_err()
                .contains("100 tokens")
        );
        meter.settle(&a, first, 30);
        assert!(meter.admit(&a, 71, &limits).is_err());
        meter.admit(&a, 70, &limits).unwrap();
        assert!(meter.admit(&name("b"), u64::MAX, &limits).is_err());
    }
}
