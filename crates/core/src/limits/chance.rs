//! Waits that are spread, so that not everybody comes back at the same moment.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

/// A part of a time, evenly spread from none to all of it; `dice` is any number, from [`dice`].
pub fn share(time: Duration, dice: u64) -> Duration {
    let nanos = time.as_nanos().saturating_mul(u128::from(dice)) / u128::from(u64::MAX);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Gives a number that nobody foresees; nothing secret may rest on it.
pub fn dice() -> u64 {
    // Each state has keys of its own, which the standard library draws from the system.
    RandomState::new().build_hasher().finish()
}

/// The longest wait after so many waits before it: `first`, doubled each time, `longest` at most.
pub fn doubled(first: Duration, longest: Duration, before: u32) -> Duration {
    let times = 2_u32.checked_pow(before).unwrap_or(u32::MAX);
    first.saturating_mul(times).min(longest)
}
