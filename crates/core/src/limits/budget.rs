//! Limits the bytes that servers can make us hold, per connection and in total.
//!
//! A server's message is held until it is consumed: a result until its caller runs, a notification
//! until it is read, a request until it is answered, half a message until the rest arrives. Each of
//! these has a limit of its own; a budget limits their sum. A message that does not fit is refused and
//! fails its call. Nothing waits for room, so a full budget cannot deadlock.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

/// The default limit for all connections of a process together.
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
    /// Creates an independent budget.
    pub fn of(limit_bytes: usize) -> Self {
        Self::new(limit_bytes, None)
    }

    /// The default budget, shared by all connections of this process.
    pub fn of_process() -> Self {
        PROCESS.clone()
    }

    /// Creates a budget inside this one: its bytes count for both.
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

    /// The bytes held now.
    pub fn held_bytes(&self) -> usize {
        self.0.held.load(Ordering::Relaxed)
    }

    /// The limit.
    pub fn limit_bytes(&self) -> usize {
        self.0.limit
    }

    /// Reserves bytes until the returned hold is dropped.
    ///
    /// # Errors
    /// Fails if they do not fit, with the limit that would be exceeded.
    pub fn hold(&self, bytes: usize) -> Result<Hold, NoRoom> {
        // Reserve first; only a successful reservation gets a hold that releases it.
        self.take(bytes)?;
        Ok(Hold {
            budget: self.clone(),
            bytes,
        })
    }

    fn take(&self, bytes: usize) -> Result<(), NoRoom> {
        let account = &*self.0;
        let more = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= account.limit);
        // Relaxed: the counter orders nothing else, it only has to add up.
        account
            .held
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more)
            .map_err(|_| NoRoom {
                limit_bytes: account.limit,
            })?;
        // Then the enclosing budget; if that is full, undo our own reservation.
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

/// The error of a full budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoom {
    /// The limit that would be exceeded.
    pub limit_bytes: usize,
}

/// Bytes reserved in a budget; dropping it releases them.
#[derive(Debug)]
pub struct Hold {
    budget: Budget,
    bytes: usize,
}

impl Hold {
    /// Grows or shrinks the reservation to this many bytes.
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
