//! Rate limit for reports of refused questions.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

const MINUTE: Duration = Duration::from_secs(60);

/// The refused questions of one server, so that it cannot fill a screen with them.
#[derive(Debug, Default)]
pub(super) struct Refusals(Mutex<RecentRefusals>);

#[derive(Debug, Default)]
struct RecentRefusals {
    /// The start of the current minute.
    since: Option<Instant>,
    told: usize,
    /// The refusals that were not reported.
    untold: u64,
}

impl Refusals {
    /// Returns the number of unreported refusals if this one is to be reported; `None` once `most` were
    /// reported in the current minute.
    pub(super) fn admit(&self, most: usize) -> Option<u64> {
        let now = Instant::now();
        let mut lately = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lately.since.is_none_or(|since| now - since >= MINUTE) {
            (lately.since, lately.told) = (Some(now), 0);
        }
        if lately.told >= most {
            lately.untold += 1;
            return None;
        }
        lately.told += 1;
        Some(std::mem::take(&mut lately.untold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn so_many_are_told_in_a_minute_and_the_others_are_counted() {
        let refusals = Refusals::default();
        let told: Vec<_> = (0..5).map(|_| refusals.admit(2)).collect();
        assert_eq!(told, [Some(0), Some(0), None, None, None]);
        tokio::time::advance(MINUTE).await;
        assert_eq!(refusals.admit(2), Some(3));
        assert_eq!(refusals.admit(2), Some(0));
        assert_eq!(refusals.admit(2), None);
        assert_eq!(refusals.admit(0), None);
    }
}
