//! The bounded queue between a tap and its reader.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::Watched;

/// The size that each item counts besides its text, so that empty ones are bounded too.
const ITEM: usize = 128;

/// A queue for one reader: beyond the limits the oldest items are dropped, and counted.
pub(super) struct Ring<T> {
    state: Mutex<RingState<T>>,
    arrived: Notify,
    most: usize,
    most_bytes: usize,
}

struct RingState<T> {
    kept: VecDeque<(T, usize)>,
    bytes: usize,
    /// The number of items dropped before the first that is kept.
    missed: u64,
    /// More items may still come.
    is_open: bool,
    /// The reader still exists.
    is_read: bool,
}

impl<T> Ring<T> {
    pub(super) fn new(most: usize, most_bytes: usize) -> Self {
        Self {
            state: Mutex::new(RingState {
                kept: VecDeque::new(),
                bytes: 0,
                missed: 0,
                is_open: true,
                is_read: true,
            }),
            arrived: Notify::new(),
            most,
            most_bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, RingState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues an item, dropping the oldest if there are too many.
    pub(super) fn push(&self, item: T, bytes: usize) {
        let mut state = self.lock();
        if !state.is_read {
            return;
        }
        let size = bytes.saturating_add(ITEM);
        state.bytes = state.bytes.saturating_add(size);
        state.kept.push_back((item, size));
        while state.kept.len() > self.most || state.bytes > self.most_bytes {
            let Some((_, size)) = state.kept.pop_front() else {
                break;
            };
            state.bytes = state.bytes.saturating_sub(size);
            state.missed += 1;
        }
        drop(state);
        self.arrived.notify_one();
    }

    /// Counts items that were lost before they came here.
    pub(super) fn miss(&self, items: u64) {
        self.lock().missed += items;
        self.arrived.notify_one();
    }

    /// Ends the stream after the items that are kept.
    pub(super) fn close(&self) {
        self.lock().is_open = false;
        self.arrived.notify_one();
    }

    /// Notes that the reader is gone, and drops everything.
    pub(super) fn leave(&self) {
        let mut state = self.lock();
        state.is_read = false;
        state.kept = VecDeque::new();
    }

    /// Returns the next item, if there is one now.
    pub(super) fn take(&self) -> Option<Watched<T>> {
        let mut state = self.lock();
        if state.missed > 0 {
            return Some(Watched::Missed(std::mem::take(&mut state.missed)));
        }
        let (item, size) = state.kept.pop_front()?;
        state.bytes = state.bytes.saturating_sub(size);
        Some(Watched::Item(item))
    }

    /// Waits for the next item; `None` after the last. Cancel safe.
    pub(super) async fn next(&self) -> Option<Watched<T>> {
        loop {
            // Read `is_open` before taking: an item pushed just before the close must still be
            // delivered.
            let is_open = self.lock().is_open;
            if let Some(next) = self.take() {
                return Some(next);
            }
            if !is_open {
                return None;
            }
            self.arrived.notified().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(ring: &Ring<u32>) -> Vec<Watched<u32>> {
        std::iter::from_fn(|| ring.take()).collect()
    }

    #[tokio::test]
    async fn the_oldest_go_first_and_are_counted_before_the_rest() {
        let ring = Ring::new(2, 10_000);
        for item in 0..5 {
            ring.push(item, 1);
        }
        let all = [Watched::Missed(3), Watched::Item(3), Watched::Item(4)];
        assert_eq!(taken(&ring), all);
        ring.push(5, 1);
        ring.close();
        assert_eq!(ring.next().await, Some(Watched::Item(5)));
        assert_eq!(ring.next().await, None);
    }

    #[test]
    fn bytes_are_bounded_at_the_limit() {
        let fits = 1000 - ITEM;
        let ring = Ring::new(100, 1000);
        ring.push(0, fits);
        assert_eq!(taken(&ring), [Watched::Item(0)]);
        ring.push(1, fits + 1);
        assert_eq!(taken(&ring), [Watched::Missed(1)]);
        ring.push(2, fits - ITEM);
        ring.push(3, 0);
        ring.push(4, 0);
        let all = [Watched::Missed(1), Watched::Item(3), Watched::Item(4)];
        assert_eq!(taken(&ring), all);
    }

    #[tokio::test]
    async fn whoever_waits_is_woken_by_an_item_and_by_the_end() {
        let ring = std::sync::Arc::new(Ring::new(10, 10_000));
        let reader = std::sync::Arc::clone(&ring);
        let reading = tokio::spawn(async move { (reader.next().await, reader.next().await) });
        tokio::task::yield_now().await;
        ring.push(1, 0);
        tokio::task::yield_now().await;
        ring.close();
        assert_eq!(reading.await.unwrap(), (Some(Watched::Item(1)), None));
    }

    #[test]
    fn nothing_is_kept_for_nobody() {
        let ring = Ring::new(10, 10_000);
        ring.leave();
        ring.push(1, 0);
        assert_eq!(ring.take(), None);
    }
}
