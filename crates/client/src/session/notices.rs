//! What servers announce, kept for whoever reads it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard_wire::Raw;
use tokio::sync::{Notify, watch};

use switchboard_core::limits::{Budget, Hold};

/// Something that a server announced.
#[derive(Debug, Clone, PartialEq)]
pub struct Announcement {
    /// The notification's name, such as `notifications/message`.
    pub method: String,
    /// What it carries.
    pub params: Option<Raw>,
}

/// How often each list was said to have changed.
///
/// Counters, so that a reader who looks late still sees that something happened.
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

/// Is told what a server announces, at the moment that it does; it must not wait.
pub trait Ear: Send + Sync {
    /// Takes an announcement, or gives it back where nobody wants it.
    fn take(&self, announcement: Announcement) -> Option<Announcement>;
}

/// The announcements of one connection: a bounded ring, oldest dropped first.
pub(crate) struct Notices {
    ring: Mutex<Ring>,
    arrived: Notify,
    pub(crate) changes: watch::Sender<Changes>,
    most: usize,
    most_bytes: usize,
}

struct Ring {
    kept: VecDeque<Announcement>,
    bytes: usize,
    /// The room that they take.
    held: Option<Hold>,
    closed: bool,
    ear: Option<Box<dyn Ear>>,
}

impl Notices {
    pub(crate) fn new(most: usize, most_bytes: usize, budget: &Budget) -> Self {
        Self {
            ring: Mutex::new(Ring {
                kept: VecDeque::new(),
                bytes: 0,
                // Nothing always fits.
                held: budget.hold(0).ok(),
                closed: false,
                ear: None,
            }),
            arrived: Notify::new(),
            changes: watch::Sender::new(Changes::default()),
            most,
            most_bytes,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps an announcement; returns how many were dropped for it.
    pub(crate) fn push(&self, announcement: Announcement) -> u64 {
        let mut ring = self.lock();
        let announcement = match &ring.ear {
            Some(ear) => match ear.take(announcement) {
                Some(unwanted) => unwanted,
                None => return 0,
            },
            None => announcement,
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

    /// Has somebody told of everything from now on, and first of what is kept.
    pub(crate) fn hear(&self, ear: Box<dyn Ear>) {
        let mut ring = self.lock();
        let kept = std::mem::take(&mut ring.kept);
        ring.kept = kept.into_iter().filter_map(|one| ear.take(one)).collect();
        ring.bytes = ring.kept.iter().map(size).sum();
        ring.has_room();
        ring.ear = Some(ear);
    }

    /// Ends the stream once what is kept was read.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_one();
    }

    /// The oldest announcement that is kept; `None` once the connection has closed.
    pub(crate) async fn next(&self) -> Option<Announcement> {
        loop {
            let arrived = self.arrived.notified();
            {
                let mut ring = self.lock();
                if let Some(announcement) = ring.kept.pop_front() {
                    ring.bytes -= size(&announcement);
                    ring.has_room();
                    if !ring.kept.is_empty() {
                        // Two may have come for one wake-up, before another reader slept.
                        self.arrived.notify_one();
                    }
                    return Some(announcement);
                }
                if ring.closed {
                    // Others may wait as well, and one wake-up is all they share.
                    self.arrived.notify_one();
                    return None;
                }
            }
            arrived.await;
        }
    }
}

impl Ring {
    /// Has the budget cover what is kept; false where it does not fit.
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
            .map(|t| notices.push(announcement(t)))
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
        assert_eq!(notices.push(announcement(&"x".repeat(200))), 1);
        assert_eq!(notices.push(announcement("x")), 0);
    }

    #[tokio::test]
    async fn an_ear_takes_what_it_wants_in_order_and_the_rest_is_kept() {
        struct Odd(std::sync::Arc<Mutex<Vec<Announcement>>>);
        impl Ear for Odd {
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
        notices.push(announcement("a"));
        notices.push(announcement("unwanted"));
        let heard = std::sync::Arc::default();
        notices.hear(Box::new(Odd(std::sync::Arc::clone(&heard))));
        notices.push(announcement("b"));
        notices.push(announcement("unwanted"));
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
        let dropped: Vec<u64> = (0..3).map(|_| notices.push(announcement(&text))).collect();
        assert_eq!(dropped, [0, 0, 1]);
        assert_eq!(budget.held_bytes(), 2 * 43);
        notices.next().await;
        assert_eq!(budget.held_bytes(), 43);
        drop(notices);
        assert_eq!(budget.held_bytes(), 0);
    }
}
