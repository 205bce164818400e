//! From which level on a server is to log.

use std::sync::atomic::{AtomicU8, Ordering};

use switchboard_wire::{Era, LogLevel, SetLevel, SetLevelParams};
use tokio::sync::Mutex as Turn;

use super::{CallError, CallOptions, Session};

/// From which level on a server is to log.
#[derive(Default)]
pub(super) struct Level {
    /// What every request of a modern session asks for: which of all levels, counted from one.
    asked: AtomicU8,
    /// What was agreed on last; held by whoever sets it.
    set: Turn<Option<LogLevel>>,
}

impl Level {
    /// What every request asks for, where a request does not say it.
    pub(super) fn of_requests(&self) -> Option<LogLevel> {
        match self.asked.load(Ordering::Relaxed) {
            0 => None,
            asked => LogLevel::ALL.get(usize::from(asked) - 1).copied(),
        }
    }

    fn ask(&self, level: LogLevel) {
        let at = LogLevel::ALL.iter().position(|known| *known == level);
        let asked = at.and_then(|at| u8::try_from(at + 1).ok());
        self.asked
            .store(asked.unwrap_or_default(), Ordering::Relaxed);
    }
}

impl Session {
    /// Says from which level on the server is to log: see [`Session::announcement`].
    ///
    /// A legacy server is told once. A modern one is told with every request from here on that has no
    /// level of its own ([`CallOptions::log_level`]), and logs nothing otherwise.
    ///
    /// # Errors
    /// When a legacy server does not log, or did not answer.
    pub async fn set_log_level(&self, level: LogLevel) -> Result<(), CallError> {
        let mut set = self.0.level.set.lock().await;
        if *set == Some(level) {
            return Ok(());
        }
        match self.negotiated().era() {
            // 2026-07-28: there is no request for it any more, each request says it for itself.
            Era::Modern => self.0.level.ask(level),
            Era::Legacy => {
                if !self.negotiated().capabilities.has_logging() {
                    return Err(CallError::NotOffered { what: "logging" });
                }
                let options = CallOptions::default();
                let terms = self.terms(options, self.0.timeouts.discovery, false);
                let params = SetLevelParams { level };
                self.0.engine.call::<SetLevel>(&params, terms).await?;
            }
        }
        *set = Some(level);
        Ok(())
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
