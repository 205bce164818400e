//! Notifications of a server, kept in a bounded ring until they are read.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard_wire::Raw;
use tokio::sync::{Notify, watch};

use switchboard_core::limits::{Budget, Hold};

/// A notification of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// The notification's name, such as `notifications/message`.
    pub method: String,
    /// The parameters.
    pub params: Option<Raw>,
}

/// Counters of list changes, by list.
///
/// Counters, so that a late reader still sees that something happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// The list of tools.
    pub tools: u64,
    /// The list of prompts.
    pub prompts: u64,
    /// The list of resources.
    pub resources: u64,
}

/// Receives a server's notifications as they arrive. Called by the reading task, so it must not
/// block.
pub trait NoticeSink: Send + Sync {
    /// Takes a notification, or gives it back if it is not wanted.
    fn take(&self, announcement: Announcement) -> Option<Announcement>;

    /// Takes a log message that the sink of its call has had already, like [`NoticeSink::take`].
    fn take_relayed(&self, announcement: Announcement) -> Option<Announcement> {
        self.take(announcement)
    }
}

/// The unread notifications of one connection: a bounded ring, oldest dropped first.
pub(crate) struct Notices {
    ring: Mutex<NoticeQueue>,
    arrived: Notify,
    pub(crate) changes: watch::Sender<Changes>,
    most: usize,
    most_bytes: usize,
}

struct NoticeQueue {
    kept: VecDeque<Announcement>,
    bytes: usize,
    /// The budget that they take.
    held: Option<Hold>,
    closed: bool,
    sink: Option<Box<dyn NoticeSink>>,
}

impl Notices {
    pub(crate) fn new(most: usize, most_bytes: usize, budget: &Budget) -> Self {
        Self {
            ring: Mutex::new(NoticeQueue {
                kept: VecDeque::new(),
                bytes: 0,
                // Zero bytes always fit.
                held: budget.hold(0).ok(),
                closed: false,
                sink: None,
            }),
            arrived: Notify::new(),
            changes: watch::Sender::new(Changes::default()),
            most,
            most_bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, NoticeQueue> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a notification; returns the number that were dropped for it. `is_relayed` if the sink of
    /// its call has had it.
    pub(crate) fn push(&self, announcement: Announcement, is_relayed: bool) -> u64 {
        let mut ring = self.lock();
        let unwanted = match &ring.sink {
            Some(sink) if is_relayed => sink.take_relayed(announcement),
            Some(sink) => sink.take(announcement),
            None => Some(announcement),
        };
        let Some(announcement) = unwanted else {
            return 0;
        };
        let mut dropped = 0;
        let size = size(&announcement);
        ring.bytes += size;
        ring.kept.push_back(announcement);
        while ring.kept.len() > self.most || ring.bytes > self.most_bytes || !ring.has_room() {
            let Some(oldest) = ring.kept.pop_front() else {
                break;
            };
            ring.bytes -= self::size(&oldest);
            dropped += 1;
        }
        drop(ring);
        self.arrived.notify_one();
        dropped
    }

    /// Installs a sink for all notifications from now on, and first those that are kept.
    pub(crate) fn set_sink(&self, sink: Box<dyn NoticeSink>) {
        let mut ring = self.lock();
        let kept = std::mem::take(&mut ring.kept);
        ring.kept = kept.into_iter().filter_map(|one| sink.take(one)).collect();
        ring.bytes = ring.kept.iter().map(size).sum();
        ring.has_room();
        ring.sink = Some(sink);
    }

    /// Ends the stream after the notifications that are kept.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_one();
    }

    /// Returns the oldest notification that is kept, or `None` once the connection has closed.
    /// Cancel safe.
    pub(crate) async fn next(&self) -> Option<Announcement> {
        loop {
            // Subscribe before looking: a notification between the look and the wait must not be
            // missed.
            let arrived = self.arrived.notified();
            {
                let mut ring = self.lock();
                if let Some(announcement) = ring.kept.pop_front() {
                    ring.bytes -= size(&announcement);
                    ring.has_room();
                    if !ring.kept.is_empty() {
                        // Two notifications may share one wake-up: pass it on to the next reader.
                        self.arrived.notify_one();
                    }
                    return Some(announcement);
                }
                if ring.closed {
                    // Pass the wake-up on: other readers wait as well.
                    self.arrived.notify_one();
                    return None;
                }
            }
            arrived.await;
        }
    }
}

impl NoticeQueue {
    /// Resizes the budget to what is kept; false if it does not fit.
    fn has_room(&mut self) -> bool {
        let bytes = self.bytes;
        self.held
            .as_mut()
            .is_none_or(|held| held.resize(bytes).is_ok())
    }
}

fn size(announcement: &Announcement) -> usize {
    announcement.method.len() + announcement.params.as_ref().map_or(0, Raw::len_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announcement(text: &str) -> Announcement {
        Announcement {
            method: "m".to_owned(),
            params: Some(Raw::of(text).unwrap()),
        }
    }

    #[tokio::test]
    async fn the_oldest_are_dropped_and_counted() {
        let notices = Notices::new(2, 1000, &Budget::of(1000));
        let dropped: u64 = ["a", "b", "c", "d"]
            .map(|t| notices.push(announcement(t), false))
            .iter()
            .sum();
        assert_eq!(dropped, 2);
        notices.close();
        assert_eq!(notices.next().await, Some(announcement("c")));
        assert_eq!(notices.next().await, Some(announcement("d")));
        assert_eq!(notices.next().await, None);
        assert_eq!(notices.next().await, None);
    }

    #[test]
    fn bytes_are_bounded_too() {
        let notices = Notices::new(1000, 100, &Budget::of(1000));
        assert_eq!(notices.push(announcement(&"x".repeat(200)), false), 1);
        assert_eq!(notices.push(announcement("x"), false), 0);
    }

    #[tokio::test]
    async fn an_ear_takes_what_it_wants_in_order_and_the_rest_is_kept() {
        struct Odd(std::sync::Arc<Mutex<Vec<Announcement>>>);
        impl NoticeSink for Odd {
            fn take(&self, one: Announcement) -> Option<Announcement> {
                if one == announcement("unwanted") {
                    return Some(one);
                }
                self.0.lock().unwrap().push(one);
                None
            }
        }
        let budget = Budget::of(1000);
        let notices = Notices::new(10, 1000, &budget);
        notices.push(announcement("a"), false);
        notices.push(announcement("unwanted"), false);
        let heard = std::sync::Arc::default();
        notices.set_sink(Box::new(Odd(std::sync::Arc::clone(&heard))));
        notices.push(announcement("b"), false);
        notices.push(announcement("unwanted"), false);
        let wanted = ["a", "b"].map(announcement);
        assert_eq!(*heard.lock().unwrap(), wanted);
        notices.close();
        assert_eq!(budget.held_bytes(), 2 * "m\"unwanted\"".len());
        for _ in 0..2 {
            assert_eq!(notices.next().await, Some(announcement("unwanted")));
        }
        assert_eq!(notices.next().await, None);
    }

    #[tokio::test]
    async fn what_is_kept_is_within_the_budget() {
        let budget = Budget::of(100);
        let notices = Notices::new(1000, 1000, &budget);
        let text = "x".repeat(40);
        let dropped: Vec<u64> = (0..3)
            .map(|_| notices.push(announcement(&text), false))
            .collect();
        assert_eq!(dropped, [0, 0, 1]);
        assert_eq!(budget.held_bytes(), 2 * 43);
        notices.next().await;
        assert_eq!(budget.held_bytes(), 43);
        drop(notices);
        assert_eq!(budget.held_bytes(), 0);
    }
}
