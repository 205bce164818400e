//! The server itself, independent of its transport.
//!
//! A [`Connection`] takes parsed messages ([`Incoming`]) one after the other and answers through a
//! [`Sink`] of lines. It owns the state of one client: the era, the running operations, the open
//! questions and the subscriptions. State that all clients share is in [`Service`].
//!
//! Answers come in any order. Only operations that wait (for time, or for the client) run as tasks;
//! everything else is answered before the next message is handled.

mod answers;
mod ask;
mod ask_model;
mod calls;
mod change;
mod complete;
mod connection;
mod era;
mod failure;
mod fixture;
mod incoming;
mod listen;
mod log;
mod questions;
mod rounds;
mod slow;
mod talk;
mod wire;

#[cfg(feature = "http")]
pub(crate) use change::Announcement;
pub(crate) use connection::Connection;
#[cfg(feature = "http")]
pub(crate) use connection::Way;
#[cfg(feature = "http")]
pub(crate) use era::{EraState, PROTOCOL_VERSION, is_handshake};
#[cfg(feature = "http")]
pub(crate) use failure::Failure;
pub(crate) use incoming::Incoming;
pub(crate) use wire::Sink;

use std::hash::RandomState;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};

use tokio::sync::broadcast;

#[cfg(not(feature = "http"))]
use change::Announcement;
use change::Change;

use crate::catalog::Catalog;
use crate::{Eras, Journal, Options};

/// Capacity of the announcements that wait for a listener.
const WAITING_ANNOUNCEMENTS: usize = 256;

/// The state that all clients share.
pub(crate) struct Service {
    catalog: RwLock<Arc<Catalog>>,
    page_size: Option<usize>,
    pub(crate) eras: Eras,
    announcements: broadcast::Sender<Announcement>,
    journal: Option<Journal>,
    growing: bool,
    talking: bool,
    conformance: bool,
    /// Seals the states of calls that ask.
    seal: RandomState,
    /// Held once by each subscription, for counting.
    listening: Arc<()>,
    numbers: AtomicU64,
}

impl Service {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            catalog: RwLock::new(Arc::new(Catalog::new(options))),
            page_size: options.page_size,
            eras: options.eras,
            announcements: broadcast::Sender::new(WAITING_ANNOUNCEMENTS),
            journal: options.journal.clone(),
            growing: options.growing,
            talking: options.talking,
            conformance: options.conformance,
            seal: RandomState::new(),
            listening: Arc::default(),
            numbers: AtomicU64::default(),
        }
    }

    /// Returns a number that is unique in this service.
    fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns true if clients may subscribe to single resources.
    fn is_watchable(&self) -> bool {
        self.growing || self.conformance
    }

    /// Announces a change to all other connections.
    fn announce(&self, from: u64, change: Change) {
        // There may be no other connection.
        let _ = self.announcements.send(Announcement { from, change });
    }

    /// Subscribes to announcements from now on.
    #[cfg(feature = "http")]
    pub(crate) fn announcements(&self) -> broadcast::Receiver<Announcement> {
        self.announcements.subscribe()
    }
}
