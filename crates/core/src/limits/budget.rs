//! How many bytes servers can make us hold, one by one and all together.
//!
//! What a server sends is held until somebody takes it: an answer until its caller has run, an
//! announcement until it is read, a question until it is answered, half a message until the other
//! half comes. Each of these is bounded by itself; a budget bounds their sum. Whatever does not fit
//! is refused, and the one call it belongs to fails: nobody waits for room.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// What all connections of a process may hold together, unless a program says otherwise.
const PROCESS_BYTES: usize = 256 * 1024 * 1024;

static PROCESS: LazyLock<Budget> = LazyLock::new(|| Budget::of(PROCESS_BYTES));

/// A number of bytes that may be held, shared by its clones.
///
/// Every connection has one of its own, of [`Limits::held_bytes`](super::Limits::held_bytes),
/// inside one that it shares with others: by default that of the process, 256 MiB.
///
/// ```
/// use switchboard_core::limits::Budget;
///
/// // For all sessions whose `SessionOptions::budget` it is.
/// let for_this_agent = Budget::of(32 * 1024 * 1024);
/// assert_eq!(for_this_agent.held_bytes(), 0);
/// ```
#[derive(Debug, Clone)]
pub struct Budget(Arc<Account>);

#[derive(Debug)]
struct Account {
    limit: usize,
    held: AtomicUsize,
    within: Option<Budget>,
}

impl Budget {
    /// A budget of its own.
    pub fn of(limit_bytes: usize) -> Self {
        Self::new(limit_bytes, None)
    }

    /// The budget that all connections of this process share unless told otherwise.
    pub fn of_process() -> Self {
        PROCESS.clone()
    }

    /// A budget inside this one: what it holds counts for both.
    #[must_use]
    pub fn part(&self, limit_bytes: usize) -> Self {
        Self::new(limit_bytes, Some(self.clone()))
    }

    fn new(limit: usize, within: Option<Budget>) -> Self {
        Self(Arc::new(Account {
            limit,
            held: AtomicUsize::new(0),
            within,
        }))
    }

    /// How many bytes are held now.
    pub fn held_bytes(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }

    /// How many bytes may be held.
    pub fn limit_bytes(&self) -> usize {
        self.0.limit
    }

    /// Takes room for some bytes, until the hold is dropped.
    ///
    /// # Errors
    /// When they do not fit, with the limit that they would go over.
    pub fn hold(&self, bytes: usize) -> Result<Hold, NoRoom> {
        self.take(bytes)?;
        Ok(Hold {
            budget: self.clone(),
            bytes,
        })
    }

    fn take(&self, bytes: usize) -> Result<(), NoRoom> {
        let account = &*self.0;
        let more = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= account.limit);
        // Nothing is ordered by these numbers: they only have to add up.
        account
            .held
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .map_err(|_| NoRoom {
                limit_bytes: account.limit,
            })?;
        match &account.within {
            None => Ok(()),
            Some(whole) => whole.take(bytes).inspect_err(|_| {
                account.held.fetch_sub(bytes, Ordering::Relaxed);
            }),
        }
    }

    fn give_back(&self, bytes: usize) {
        self.0.held.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(whole) = &self.0.within {
            whole.give_back(bytes);
        }
    }
}

/// There is no room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom {
    /// The bound that there is no room under.
    pub limit_bytes: usize,
}

/// Room taken in a budget; dropping it gives it back.
#[derive(Debug)]
pub struct Hold {
    budget: Budget,
    bytes: usize,
}

impl Hold {
    /// Takes more room, or gives some back, so that it is for this many bytes.
    pub fn resize(&mut self, bytes: usize) -> Result<(), NoRoom> {
        match bytes.checked_sub(self.bytes) {
            Some(0) => {}
            Some(more) => self.budget.take(more)?,
            None => self.budget.give_back(self.bytes - bytes),
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.budget.give_back(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_up_to_the_limit_and_given_back() {
        let budget = Budget::of(10);
        let first = budget.hold(4).unwrap();
        let second = budget.hold(6).unwrap();
        assert_eq!(budget.hold(1).unwrap_err(), NoRoom { limit_bytes: 10 });
        assert!(budget.hold(0).is_ok());
        assert!(budget.hold(usize::MAX).is_err());
        drop(second);
        assert_eq!(budget.held_bytes(), 4);
        drop(first);
        assert_eq!(budget.held_bytes(), 0);
    }

    #[test]
    fn a_part_counts_for_the_whole_and_takes_nothing_where_that_is_full() {
        let whole = Budget::of(10);
        let (one, other) = (whole.part(8), whole.part(8));
        let held = one.hold(8).unwrap();
        assert_eq!(one.hold(1).unwrap_err(), NoRoom { limit_bytes: 8 });
        assert_eq!(other.hold(3).unwrap_err(), NoRoom { limit_bytes: 10 });
        assert_eq!((other.held_bytes(), whole.held_bytes()), (0, 8));
        drop(held);
        assert_eq!((one.held_bytes(), whole.held_bytes()), (0, 0));
    }

    #[test]
    fn a_hold_grows_and_shrinks_within_the_limit() {
        let budget = Budget::of(10);
        let mut hold = budget.hold(2).unwrap();
        hold.resize(10).unwrap();
        assert!(hold.resize(11).is_err());
        assert_eq!(budget.held_bytes(), 10, "a refusal changes nothing");
        hold.resize(1).unwrap();
        assert_eq!(budget.held_bytes(), 1);
        drop(hold);
        assert_eq!(budget.held_bytes(), 0);
    }
}
