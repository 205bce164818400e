//! The level from which on servers that clients share are to log.

use std::sync::{Arc, Mutex, PoisonError};

use switchboard_wire::{Era, LogLevel};
use tokio::sync::watch;

use crate::session::{CallError, Session};

/// The most verbose level that any client wants. Clones share it.
#[derive(Clone, Default)]
pub(in crate::host) struct ClientLevels(Arc<Levels>);

#[derive(Default)]
struct Levels {
    /// The number of clients that want each level.
    wanted: Mutex<[usize; LogLevel::ALL.len()]>,
    most_verbose: watch::Sender<Option<LogLevel>>,
}

impl ClientLevels {
    /// Notes that a client wants another level than before.
    pub(super) fn change(&self, before: Option<LogLevel>, now: Option<LogLevel>) {
        let mut wanted = self.0.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        let mut most_verbose = None;
        for (count, level) in wanted.iter_mut().zip(LogLevel::ALL) {
            if before == Some(level) {
                *count = count.saturating_sub(1);
            }
            if now == Some(level) {
                *count += 1;
            }
            if *count > 0 {
                most_verbose = most_verbose.or(Some(level));
            }
        }
        // Under the lock, so that the last change is the one that is seen.
        self.0.most_verbose.send_if_modified(|known| {
            let is_other = *known != most_verbose;
            *known = most_verbose;
            is_other
        });
    }

    /// Follows the most verbose level.
    pub(in crate::host) fn subscribe(&self) -> watch::Receiver<Option<LogLevel>> {
        self.0.most_verbose.subscribe()
    }
}

/// Sets the level of a legacy server that logs, now and whenever clients want another. `most` is the level
/// that the owner wants, if any. Never returns.
pub(in crate::host) async fn follow_level(
    session: &Session,
    mut wanted: watch::Receiver<Option<LogLevel>>,
    most: impl Fn() -> Option<LogLevel>,
    report: impl Fn(&CallError),
) {
    let negotiated = session.negotiated();
    if negotiated.era() == Era::Legacy && negotiated.capabilities.has_logging() {
        loop {
            let level = *wanted.borrow_and_update();
            if let Some(level) = level {
                let level = most().map_or(level, |most| most.min(level));
                let set = session.set_log_level(level).await;
                // A connection that closed needs no level.
                match set {
                    Ok(()) | Err(CallError::Closed { .. }) => {}
                    Err(error) => report(&error),
                }
            }
            if wanted.changed().await.is_err() {
                break;
            }
        }
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_verbose_level_of_the_clients_that_are_left_counts() {
        let (levels, now) = (ClientLevels::default(), |levels: &ClientLevels| {
            *levels.subscribe().borrow()
        });
        assert_eq!(now(&levels), None);
        levels.change(None, Some(LogLevel::Error));
        levels.change(None, Some(LogLevel::Debug));
        levels.change(None, Some(LogLevel::Debug));
        assert_eq!(now(&levels), Some(LogLevel::Debug));
        levels.change(Some(LogLevel::Debug), Some(LogLevel::Info));
        assert_eq!(now(&levels), Some(LogLevel::Debug));
        levels.change(Some(LogLevel::Debug), None);
        assert_eq!(now(&levels), Some(LogLevel::Info));
        levels.change(Some(LogLevel::Info), None);
        levels.change(Some(LogLevel::Error), None);
        assert_eq!(now(&levels), None);
    }
}
