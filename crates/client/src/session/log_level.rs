//! The minimum level of a server's log messages.

use std::sync::atomic::{AtomicU8, Ordering};

use switchboard_wire::LogLevel;
use tokio::sync::Mutex as AsyncMutex;

/// The minimum level of a server's log messages, as set by
/// [`Session::set_log_level`](super::Session::set_log_level).
#[derive(Default)]
pub(crate) struct Level {
    /// The level of every modern request, as its position in [`LogLevel::ALL`] counted from one; 0
    /// for none.
    asked: AtomicU8,
    /// The level that was set last; locked while it is being set.
    pub(super) set: AsyncMutex<Option<LogLevel>>,
}

impl Level {
    /// The level of requests that do not have their own.
    pub(super) fn of_requests(&self) -> Option<LogLevel> {
        match self.asked.load(Ordering::Relaxed) {
            0 => None,
            asked => LogLevel::ALL.get(usize::from(asked) - 1).copied(),
        }
    }

    /// Sets the level of all further requests.
    pub(super) fn ask(&self, level: LogLevel) {
        let at = LogLevel::ALL.iter().position(|known| *known == level);
        let asked = at.and_then(|at| u8::try_from(at + 1).ok());
        self.asked
            .store(asked.unwrap_or_default(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_is_asked_for_as_it_was_set() {
        let level = Level::default();
        assert_eq!(level.of_requests(), None);
        for known in LogLevel::ALL {
            level.ask(known);
            assert_eq!(level.of_requests(), Some(known));
        }
    }
}
