//! How far the lists of one server have been read.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_wire::LogLevel;
use tokio::sync::{Mutex as Turn, watch};
use tokio::time::Instant;

use super::lists::Kinds;
use crate::catalog::ItemKind;
use crate::error::Error;
use crate::session::{Changes, Session};

/// The lists that an opener waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::host) enum Lists {
    /// The tools.
    Tools,
    /// Tools, prompts, resources and templates.
    All,
}

/// How far the lists of one server have been read, over all of its connections.
///
/// `progress` is that of the newest connection alone: [`Listing::begin`] replaces it, and a report for
/// an older number is dropped. `log` outlives connections: a list may be kept from one to the next.
#[derive(Default)]
pub(in crate::host) struct Listing {
    progress: watch::Sender<Progress>,
    /// Held by the task of a connection: the next waits until the end of the last was reported.
    pub(super) turn: Turn<()>,
    log: Mutex<Log>,
}

/// How far the lists of the newest connection have been read.
#[derive(Default)]
struct Progress {
    /// The number of the connection; 0 before the first.
    connection: u64,
    /// Tells the session of the connection from others.
    changes: Option<watch::Receiver<Changes>>,
    /// How often all lists were requested on this connection, its beginning included.
    requested: u64,
    /// Up to which of these requests the tools are read.
    tools: u64,
    /// Up to which of these requests all lists are read.
    all: u64,
    /// Whether nothing more is read on it.
    is_over: bool,
}

/// What was read of a server, over all of its connections.
#[derive(Default)]
pub(super) struct Log {
    /// The lists that could not be read the last time, and why.
    pub(super) unlisted: Vec<(ItemKind, Error)>,
    /// The lists that are known.
    pub(super) reads: BTreeMap<ItemKind, Read>,
    /// The level from which on the server is to log, where one was set.
    log_level: Option<LogLevel>,
}

/// When a list was read.
#[derive(Clone, Copy)]
pub(super) struct Read {
    pub(super) at: Instant,
    /// For how long the server says that it may be kept.
    pub(super) ttl: Option<Duration>,
}

impl Progress {
    fn is_of(&self, session: &watch::Receiver<Changes>) -> bool {
        let known = self.changes.as_ref();
        known.is_some_and(|known| known.same_channel(session))
    }

    fn read(&self, lists: Lists) -> u64 {
        match lists {
            Lists::Tools => self.tools,
            Lists::All => self.all,
        }
    }
}

impl Listing {
    /// Begins a connection, on which all lists are requested, and returns its number. The progress of
    /// the one before ends here.
    pub(super) fn begin(&self, session: &Session) -> u64 {
        let mut number = 0;
        self.progress.send_modify(|progress| {
            number = progress.connection + 1;
            *progress = Progress {
                connection: number,
                changes: Some(session.changes()),
                requested: 1,
                ..Progress::default()
            };
        });
        number
    }

    /// Reports that lists are read up to a request.
    pub(super) fn mark_read(&self, connection: u64, lists: Lists, request: u64) {
        self.change(connection, |progress| {
            progress.tools = progress.tools.max(request);
            if lists == Lists::All {
                progress.all = progress.all.max(request);
            }
        });
    }

    /// Reports that nothing more is read on a connection.
    pub(super) fn end(&self, connection: u64) {
        self.change(connection, |progress| progress.is_over = true);
    }

    fn change(&self, connection: u64, change: impl FnOnce(&mut Progress)) {
        self.progress.send_if_modified(|progress| {
            // The task of an older connection must not speak for a newer one.
            let is_current = progress.connection == connection;
            if is_current {
                change(progress);
            }
            is_current
        });
    }

    /// Requests all lists on the newest connection.
    pub(super) fn request(&self) {
        self.progress
            .send_modify(|progress| progress.requested += 1);
    }

    /// Requests all lists on a connection, unless there is a newer one.
    pub(super) fn request_on(&self, connection: u64) {
        self.change(connection, |progress| progress.requested += 1);
    }

    /// The number of the newest request on the newest connection.
    pub(super) fn requested(&self) -> u64 {
        self.progress.borrow().requested
    }

    /// Waits for a newer request on a connection; for ever where there is a newer connection.
    pub(super) async fn newer_request(&self, connection: u64, than: u64) {
        let mut progress = self.progress.subscribe();
        let is_newer =
            |progress: &Progress| progress.connection == connection && progress.requested > than;
        if progress.wait_for(is_newer).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits until the lists of that session's connection are read as far as they are requested now,
    /// or the connection is over.
    pub(super) async fn listed(&self, session: &Session, lists: Lists) {
        let own = session.changes();
        let mut progress = self.progress.subscribe();
        let mut goal = None;
        let is_read = |progress: &Progress| {
            // The session is there a moment before it is followed.
            progress.is_of(&own) && {
                let goal = *goal.get_or_insert(progress.requested);
                progress.is_over || progress.read(lists) >= goal
            }
        };
        let mut ending = self.progress.subscribe();
        let ended = async {
            session.closed().await;
            // Its task may still report the end; that of an older connection is not waited for.
            let is_over = |progress: &Progress| progress.is_over || !progress.is_of(&own);
            drop(ending.wait_for(is_over).await);
        };
        tokio::select! {
            read = progress.wait_for(is_read) => drop(read),
            () = ended => {}
        }
    }

    /// Waits until all lists of the newest connection are read, or it is over.
    pub(super) async fn caught_up(&self) {
        let mut progress = self.progress.subscribe();
        let (connection, goal) = {
            let now = progress.borrow();
            (now.connection, now.requested)
        };
        let is_read = |progress: &Progress| {
            progress.connection != connection
                || connection == 0
                || progress.is_over
                || progress.all >= goal
        };
        drop(progress.wait_for(is_read).await);
    }

    pub(super) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has all lists read on the next connection, whatever may be kept.
    pub(super) fn forget_reads(&self) {
        self.log().reads.clear();
    }

    /// Has these read again, whatever was said about how long they may be kept.
    pub(super) fn forget(&self, kinds: Kinds) {
        self.log().reads.retain(|kind, _| !kinds.has(*kind));
    }

    /// The lists that could not be read the last time, and why.
    pub(in crate::host) fn unlisted(&self) -> Vec<(ItemKind, Error)> {
        self.log().unlisted.clone()
    }

    /// The error for which a list could not be read the last time.
    pub(in crate::host) fn why_unlisted(&self, kind: ItemKind) -> Option<Error> {
        let log = self.log();
        let unlisted = log.unlisted.iter().find(|(known, _)| *known == kind);
        unlisted.map(|(_, error)| error.clone())
    }

    /// The level from which on the server is to log, where one was set.
    pub(in crate::host) fn log_level(&self) -> Option<LogLevel> {
        self.log().log_level
    }

    /// Sets the level for later connections, and returns the one before.
    pub(in crate::host) fn set_log_level(&self, level: Option<LogLevel>) -> Option<LogLevel> {
        std::mem::replace(&mut self.log().log_level, level)
    }
}
