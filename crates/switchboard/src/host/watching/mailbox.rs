//! The unread updates of one watcher.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::Update;
use crate::session::CallError;

/// The unread updates of one watcher. A set rather than a queue: an address that changes a thousand
/// times is in it once.
pub(super) struct Mailbox {
    unread: Mutex<Unread>,
    stirred: Notify,
    /// Addresses that are kept.
    most: usize,
    most_bytes: usize,
}

#[derive(Default)]
struct Unread {
    changed: VecDeque<String>,
    bytes: usize,
    missed: u64,
    /// True if changes may have gone unnoticed.
    again: bool,
    /// True once the server has agreed to announce changes.
    begun: bool,
    refused: Option<CallError>,
}

impl Mailbox {
    pub(super) fn new(most: usize, most_bytes: usize) -> Self {
        Self {
            unread: Mutex::default(),
            stirred: Notify::new(),
            most,
            most_bytes,
        }
    }

    fn unread(&self) -> MutexGuard<'_, Unread> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that something has changed.
    pub(super) fn record_change(&self, uri: &str) {
        let mut unread = self.unread();
        // It was not read yet: one update says the same as two.
        if unread.changed.iter().any(|known| known == uri) {
            return;
        }
        // Both bounds hold: few long addresses cost as much as many short ones.
        let has_room =
            unread.changed.len() < self.most && unread.bytes + uri.len() <= self.most_bytes;
        if has_room {
            unread.bytes += uri.len();
            unread.changed.push_back(uri.to_owned());
        } else {
            unread.missed = unread.missed.saturating_add(1);
        }
        drop(unread);
        self.stir();
    }

    /// Notes that the server announces changes from here on: for the first time, or again after a
    /// gap in which changes may have been missed.
    pub(super) fn open(&self) {
        let mut unread = self.unread();
        // The first time there is nothing that could have been missed.
        unread.again = unread.begun;
        unread.begun = true;
        drop(unread);
        self.stir();
    }

    /// Notes that the server refuses to announce changes.
    pub(super) fn refuse(&self, error: &CallError) {
        self.unread().refused = Some(error.clone());
        self.stir();
    }

    /// Wakes the watcher, so that it checks the mailbox and the connection.
    pub(super) fn stir(&self) {
        self.stirred.notify_one();
    }

    /// Waits until there is something to look at.
    pub(super) async fn wait(&self) {
        self.stirred.notified().await;
    }

    pub(super) fn has_begun(&self) -> bool {
        self.unread().begun
    }

    /// Returns the error that ends the updates, if the server refused.
    pub(super) fn refusal(&self) -> Option<CallError> {
        self.unread().refused.clone()
    }

    /// Takes the next update.
    pub(super) fn take(&self) -> Option<Update> {
        let mut unread = self.unread();
        if std::mem::take(&mut unread.again) {
            return Some(Update::Again);
        }
        if let Some(uri) = unread.changed.pop_front() {
            unread.bytes -= uri.len();
            return Some(Update::Changed(uri));
        }
        match std::mem::take(&mut unread.missed) {
            0 => None,
            missed => Some(Update::Missed(missed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mailbox: &Mailbox) -> Vec<Update> {
        std::iter::from_fn(|| mailbox.take()).collect()
    }

    #[test]
    fn what_changes_often_is_told_once_until_it_is_read() {
        let mailbox = Mailbox::new(2, 100);
        for _ in 0..1000 {
            mailbox.record_change("a");
        }
        assert_eq!(all(&mailbox), [Update::Changed("a".to_owned())]);
        mailbox.record_change("a");
        assert_eq!(all(&mailbox), [Update::Changed("a".to_owned())]);
    }

    #[test]
    fn of_more_than_is_kept_the_number_is_told_exactly() {
        let told = |uri: &str| Update::Changed(uri.to_owned());
        let mailbox = Mailbox::new(2, 100);
        for uri in ["a", "b"] {
            mailbox.record_change(uri);
        }
        assert_eq!(all(&mailbox), [told("a"), told("b")]);
        for uri in ["a", "b", "c", "d", "c", "a"] {
            mailbox.record_change(uri);
        }
        assert_eq!(all(&mailbox), [told("a"), told("b"), Update::Missed(3)]);
        let mailbox = Mailbox::new(10, 5);
        for uri in ["123", "45", "6"] {
            mailbox.record_change(uri);
        }
        assert_eq!(all(&mailbox), [told("123"), told("45"), Update::Missed(1)]);
    }

    #[test]
    fn a_beginning_is_no_news_and_another_is() {
        let mailbox = Mailbox::new(2, 100);
        mailbox.open();
        assert!(mailbox.has_begun());
        assert_eq!(all(&mailbox), []);
        mailbox.record_change("a");
        mailbox.open();
        assert_eq!(
            all(&mailbox),
            [Update::Again, Update::Changed("a".to_owned())]
        );
    }
}
