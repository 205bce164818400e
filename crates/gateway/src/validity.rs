//! How long a credential counts.

#![cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "a byte stream only waits for its end")
)]

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use tokio_util::sync::CancellationToken;

/// Longest sleep until a time of the system's clock, which may be set meanwhile.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// How long a credential counts: for ever, until a time, or until [`Validity::end`]. Clones share it.
///
/// When it ends, so do the sessions, streams and requests of the clients that came with it
/// ([`ClientIdentity::valid`](crate::ClientIdentity::valid)).
///
/// ```
/// use switchboard_gateway::Validity;
///
/// let validity = Validity::until_ended();
/// let of_session = validity.clone();
/// assert!(of_session.is_valid());
/// validity.end();
/// assert!(!of_session.is_valid() && Validity::for_ever().is_valid());
/// ```
#[derive(Clone, Default)]
pub struct Validity(Option<Arc<Inner>>);

struct Inner {
    id: u64,
    end: End,
    /// The count of open things that depend on it.
    uses: AtomicUsize,
}

/// A validity that something open depends on: a request, a stream or a session.
pub(crate) struct InUse(Validity);

/// The end of a validity, without keeping it.
#[derive(Clone)]
pub(crate) struct End {
    ended: CancellationToken,
    until: Option<SystemTime>,
}

impl Validity {
    /// Never ends.
    pub fn for_ever() -> Self {
        Self(None)
    }

    /// Ends with [`Validity::end`].
    pub fn until_ended() -> Self {
        Self::new(None)
    }

    /// Ends at that time, or with [`Validity::end`].
    pub fn until(time: SystemTime) -> Self {
        Self::new(Some(time))
    }

    fn new(until: Option<SystemTime>) -> Self {
        static IDS: AtomicU64 = AtomicU64::new(1);
        let ended = CancellationToken::new();
        Self(Some(Arc::new(Inner {
            id: IDS.fetch_add(1, Ordering::Relaxed),
            end: End { ended, until },
            uses: AtomicUsize::new(0),
        })))
    }

    /// Ends it for all clones. One that lasts for ever stays.
    pub fn end(&self) {
        if let Some(inner) = &self.0 {
            inner.end.ended.cancel();
        }
    }

    /// Returns true until it has ended.
    pub fn is_valid(&self) -> bool {
        self.0.as_ref().is_none_or(|inner| !inner.end.is_over())
    }

    /// Completes when it ends; never if it lasts for ever.
    pub async fn ended(&self) {
        match self.end_of() {
            Some(end) => end.wait().await,
            None => std::future::pending().await,
        }
    }

    pub(crate) fn end_of(&self) -> Option<End> {
        self.0.as_ref().map(|inner| inner.end.clone())
    }

    /// Tells validities apart; 0 for those that never end.
    pub(crate) fn id(&self) -> u64 {
        self.0.as_ref().map_or(0, |inner| inner.id)
    }

    /// Returns true if something open depends on it.
    pub(crate) fn is_in_use(&self) -> bool {
        let uses = |inner: &Arc<Inner>| inner.uses.load(Ordering::Acquire);
        self.0.as_ref().is_some_and(|inner| uses(inner) > 0)
    }

    /// Keeps whichever of the two is known to last longer.
    pub(crate) fn extend(&mut self, newer: &Self) {
        if self.is_outlasted_by(newer) {
            *self = newer.clone();
        }
    }

    fn is_outlasted_by(&self, newer: &Self) -> bool {
        match (self.0.as_ref(), newer.0.as_ref()) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(own), Some(newer)) if newer.id == own.id => false,
            (Some(own), Some(newer)) => match (own.end.until, newer.end.until) {
                // Of two that end together the newer one, which its issuer saw last.
                (Some(own), Some(newer)) => newer >= own,
                // One that waits to be ended has no time, and so no earlier end.
                (Some(_), None) => true,
                (None, newer) => newer.is_none(),
            },
        }
    }
}

impl InUse {
    pub(crate) fn new(validity: &Validity) -> Self {
        if let Some(inner) = &validity.0 {
            inner.uses.fetch_add(1, Ordering::AcqRel);
        }
        Self(validity.clone())
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.0.is_valid()
    }

    /// Keeps whichever of the two is known to last longer.
    pub(crate) fn extend(&mut self, newer: &Validity) {
        if self.0.is_outlasted_by(newer) {
            *self = Self::new(newer);
        }
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        if let Some(inner) = &self.0.0 {
            inner.uses.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl End {
    fn is_over(&self) -> bool {
        let is_past = |until| SystemTime::now() >= until;
        self.ended.is_cancelled() || self.until.is_some_and(is_past)
    }

    /// Completes at the end, and when nothing has the validity any more.
    pub(crate) async fn wait(self) {
        while !self.is_over() {
            let Some(until) = self.until else {
                return self.ended.cancelled().await;
            };
            let rest = until.duration_since(SystemTime::now()).unwrap_or_default();
            tokio::select! {
                () = self.ended.cancelled() => return,
                () = tokio::time::sleep(rest.min(LONGEST_SLEEP)) => {}
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // What waits for the end must not wait for ever.
        self.end.ended.cancel();
    }
}

impl fmt::Debug for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validity")
            .field("is_valid", &self.is_valid())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_validity_ends_once_for_all_clones() {
        let validity = Validity::until_ended();
        let clone = validity.clone();
        let waiting = tokio::spawn(async move { clone.ended().await });
        validity.end();
        waiting.await.unwrap();
        assert!(!validity.is_valid());
        Validity::for_ever().end();
        assert!(Validity::for_ever().is_valid());
    }

    #[tokio::test]
    async fn a_validity_ends_at_its_time_and_with_its_last_clone() {
        let soon = SystemTime::now() + Duration::from_millis(20);
        let validity = Validity::until(soon);
        validity.ended().await;
        assert!(SystemTime::now() >= soon && !validity.is_valid());
        let end = Validity::until_ended().end_of().unwrap();
        end.wait().await;
    }

    #[test]
    fn a_validity_is_in_use_as_long_as_something_open_depends_on_it() {
        let (one, two) = (Validity::until_ended(), Validity::until_ended());
        let mut session = InUse::new(&one);
        let request = InUse::new(&one);
        assert!(one.is_in_use() && !two.is_in_use());
        session.extend(&two);
        assert!(one.is_in_use() && two.is_in_use() && session.is_valid());
        drop(request);
        assert!(!one.is_in_use());
        drop(session);
        assert!(!two.is_in_use());
    }

    #[test]
    fn the_longer_validity_is_kept() {
        let at = |seconds| Validity::until(SystemTime::now() + Duration::from_secs(seconds));
        let kept = |own: &Validity, newer: &Validity| {
            let mut kept = own.clone();
            kept.extend(newer);
            kept.id()
        };
        let (short, long) = (at(10), at(20));
        assert_eq!(kept(&short, &long), long.id());
        assert_eq!(kept(&long, &short), long.id());
        assert_eq!(kept(&long, &Validity::for_ever()), 0);
        assert_eq!(kept(&Validity::for_ever(), &long), 0);
        let open = Validity::until_ended();
        assert_eq!(kept(&long, &open), open.id());
        assert_eq!(kept(&open, &long), open.id());
    }
}
