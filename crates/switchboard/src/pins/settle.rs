//! Waits until the lists of a starting server can be considered complete.

use std::time::{Duration, Instant};

/// Decides when a server's lists have stopped changing after it was connected.
///
/// Many servers add to their lists right after the handshake. So the first approval pins the lists only
/// after none of them has changed for a while; a server that never stops is waited for only up to a
/// limit. Reads no clock: the time is passed in.
///
/// ```
/// use std::time::{Duration, Instant};
/// use switchboard::pins::Settling;
///
/// let start = Instant::now();
/// let after = |millis| start + Duration::from_millis(millis);
/// let mut settling = Settling::new(start);
/// settling.record_change(after(300));
/// assert!(!settling.is_settled(after(700)));
/// assert!(settling.is_settled(after(800)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub struct Settling {
    began: Instant,
    last: Instant,
    quiet: Duration,
    longest: Duration,
}

impl Settling {
    /// The time without a change after which the lists are complete.
    pub const QUIET: Duration = Duration::from_millis(500);

    /// The longest wait, whatever the server does.
    pub const LONGEST: Duration = Duration::from_secs(5);

    /// Begins when the lists were first read.
    pub fn new(now: Instant) -> Self {
        Self::with(now, Self::QUIET, Self::LONGEST)
    }

    /// Begins like [`Settling::new`], with other times.
    pub fn with(now: Instant, quiet: Duration, longest: Duration) -> Self {
        Self {
            began: now,
            last: now,
            quiet,
            longest,
        }
    }

    /// Records that a list has changed, or that the server announced a change.
    pub fn record_change(&mut self, now: Instant) {
        self.last = self.last.max(now);
    }

    /// Returns the time at which the lists are settled, unless one changes before.
    pub fn due(&self) -> Instant {
        (self.last + self.quiet).min(self.began + self.longest)
    }

    /// Returns `true` if the lists are settled.
    pub fn is_settled(&self, now: Instant) -> bool {
        now >= self.due()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_never_stops_is_not_waited_for_without_end() {
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        let mut settling = Settling::new(start);
        for at in (0..5000).step_by(100) {
            assert!(!settling.is_settled(after(at)), "{at}");
            settling.record_change(after(at));
        }
        assert_eq!(settling.due(), after(5000));
        assert!(settling.is_settled(after(5000)));
        settling.record_change(after(6000));
        assert!(settling.is_settled(after(6000)));
    }

    #[test]
    fn a_quiet_server_is_settled_after_the_quiet_time_and_not_before() {
        let start = Instant::now();
        let settling = Settling::new(start);
        assert!(!settling.is_settled(start + Settling::QUIET - Duration::from_nanos(1)));
        assert!(settling.is_settled(start + Settling::QUIET));
    }

    #[test]
    fn news_that_come_late_do_not_turn_the_clock_back() {
        let start = Instant::now();
        let mut settling = Settling::new(start + Duration::from_millis(10));
        settling.record_change(start);
        assert_eq!(settling.due(), start + Duration::from_millis(510));
    }
}
