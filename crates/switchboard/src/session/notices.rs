//! What servers announce, kept for whoever reads it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use switchboard_protocol::Raw;
use tokio::sync::{Notify, watch};

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

/// The announcements of one connection: a bounded ring, oldest dropped first.
pub(crate) struct Notices {
    ring: Mutex<Ring>,
    arrived: Notify,
    pub(crate) changes: watch::Sender<Changes>,
    most: usize,
    most_bytes: usize,
}

#[derive(Default)]
struct Ring {
    kept: VecDeque<Announcement>,
    bytes: usize,
    closed: bool,
}

impl Notices {
    pub(crate) fn new(most: usize, most_bytes: usize) -> Self {
        Self {
            ring: Mutex::default(),
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
        let mut dropped = 0;
        let size = size(&announcement);
        ring.bytes += size;
        ring.kept.push_back(announcement);
        while ring.kept.len() > self.most || ring.bytes > self.most_bytes {
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
        let notices = Notices::new(2, 1000);
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
        let notices = Notices::new(1000, 100);
        assert_eq!(notices.push(announcement(&"x".repeat(200))), 1);
        assert_eq!(notices.push(announcement("x")), 0);
    }
}
