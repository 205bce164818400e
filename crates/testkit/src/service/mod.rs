//! The server itself, whatever carries its messages.
//!
//! A [`Connection`] takes parsed messages ([`Incoming`]) one after the other and answers through a
//! [`Sink`] of lines. It owns what one client's connection is made of: the era it turned out to
//! be, the operations that run, the questions asked back and the subscriptions. What is the same
//! for all clients is in [`Service`].
//!
//! Answers come in any order. Only operations that wait (for time, or for the client) run as
//! tasks; everything else is answered before the next message is looked at.

mod answers;
mod ask;
mod calls;
mod connection;
mod era;
mod failure;
mod incoming;
mod listen;
mod questions;
mod slow;
mod wire;

pub(crate) use connection::Connection;
#[cfg(feature = "http")]
pub(crate) use connection::Way;
#[cfg(feature = "http")]
pub(crate) use era::{EraState, PROTOCOL_VERSION};
#[cfg(feature = "http")]
pub(crate) use failure::Failure;
pub(crate) use incoming::Incoming;
pub(crate) use wire::Sink;

use tokio::sync::broadcast;

use crate::catalog::Catalog;
use crate::{Eras, Journal, Options};

/// How many announcements may wait for one who listens.
const WAITING_ANNOUNCEMENTS: usize = 256;

/// What is the same for all clients.
pub(crate) struct Service {
    pub(crate) catalog: Catalog,
    page_size: Option<usize>,
    pub(crate) eras: Eras,
    announcements: broadcast::Sender<String>,
    journal: Option<Journal>,
}

impl Service {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            catalog: Catalog::new(options),
            page_size: options.page_size,
            eras: options.eras,
            announcements: broadcast::Sender::new(WAITING_ANNOUNCEMENTS),
            journal: options.journal.clone(),
        }
    }

    /// Tells all who listen that `list` has changed.
    fn announce(&self, list: &str) {
        // Nobody need be there.
        let _ = self.announcements.send(list.to_owned());
    }

    /// Hears of lists that change, from now on.
    #[cfg(feature = "http")]
    pub(crate) fn announcements(&self) -> broadcast::Receiver<String> {
        self.announcements.subscribe()
    }
}
