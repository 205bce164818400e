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
pub(crate) use incoming::Incoming;
pub(crate) use wire::Sink;

use crate::catalog::Catalog;
use crate::{Eras, Journal, Options};

/// What is the same for all clients.
pub(crate) struct Service {
    catalog: Catalog,
    page_size: Option<usize>,
    eras: Eras,
    journal: Option<Journal>,
}

impl Service {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            catalog: Catalog::new(options),
            page_size: options.page_size,
            eras: options.eras,
            journal: options.journal.clone(),
        }
    }
}
