//! From which level on a server is to log.

use std::sync::atomic::{AtomicU8, Ordering};

use switchboard_wire::LogLevel;
use tokio::sync::Mutex as Turn;

/// From which level on a server is to log.
#[derive(Default)]
pub(crate) struct Level {
    /// What every request of a modern session asks for: which of all levels, counted from one.
    asked: AtomicU8,
    /// What was agreed on last; held while it is being set.
    pub(super) set: Turn<Option<LogLevel>>,
}

impl Level {
    /// What every request asks for, where a request does not say it.
    pub(super) fn of_requests(&self) -> Option<LogLevel> {
        match self.asked.load(Ordering::Relaxed) {
            0 => None,
            asked => LogLevel::ALL.get(usize::from(asked) - 1).copied(),
        }
    }

    /// Has every request ask for a level.
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
