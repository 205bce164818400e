//! Random waits and exponential backoff, so that clients do not all retry at the same moment.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

/// A random part of a time, evenly distributed from zero to all of it; `dice` comes from [`dice`].
pub fn share(time: Duration, dice: u64) -> Duration {
    let nanos = time.as_nanos().saturating_mul(u128::from(dice)) / u128::from(u64::MAX);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Returns an unpredictable number. Not for secrets.
pub fn dice() -> u64 {
    // Every `RandomState` has keys of its own, seeded by the operating system.
    RandomState::new().build_hasher().finish()
}

/// The longest wait after `before` earlier ones: `first`, doubled each time, at most `longest`.
pub fn doubled(first: Duration, longest: Duration, before: u32) -> Duration {
    let times = 2_u32.checked_pow(before).unwrap_or(u32::MAX);
    first.saturating_mul(times).min(longest)
}
/// The wait before a repetition, after `before` earlier ones: `first`, doubled each time, at most
/// `longest`, and up to half of that at random.
pub fn pause(first: Duration, longest: Duration, before: u32) -> Duration {
    let wait = doubled(first, longest, before);
    wait + share(wait / 2, dice())
}
