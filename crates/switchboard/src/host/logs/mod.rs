//! What servers say beside their answers: stderr, log messages and other announcements.
//!
//! What comes is handed to a bounded channel at the moment that it comes, as it is; who reads it has it
//! made safe to show. Where nobody listens nothing is made of it at all.

mod heard;
mod listen;

use std::fmt;
use std::time::SystemTime;

use switchboard_wire::{LogLevel, Raw};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

pub(super) use listen::Listener;

use heard::Heard;

use crate::spec::ServerName;
use crate::transport::Watched;

/// Something that a server said beside its answers.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Log {
    /// The server.
    pub server: ServerName,
    /// When it was read.
    pub at: SystemTime,
    /// What it said, without secrets.
    pub said: Said,
    /// How many bytes it was, where it was cut.
    pub cut_from: Option<usize>,
}

/// What a server said.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Said {
    /// A line on stderr.
    Stderr(String),
    /// A log message.
    Message {
        /// How bad it is; nothing where the server does not say it as it should.
        level: Option<LogLevel>,
        /// Which part of the server says so.
        logger: Option<String>,
        /// What it says: often a string, but any value. One that was cut is a string.
        data: Raw,
    },
    /// Another announcement, such as that a resource was updated.
    Announced {
        /// Its name.
        method: String,
        /// What it carries. One that was cut is a string.
        params: Option<Raw>,
    },
}

impl Said {
    /// How bad it is, where that is said.
    pub fn level(&self) -> Option<LogLevel> {
        match self {
            Self::Message { level, .. } => *level,
            Self::Stderr(_) | Self::Announced { .. } => None,
        }
    }
}

/// What all servers say beside their answers, from now on.
///
/// Who reads too slowly misses the oldest, and is told how many.
pub struct Logs(broadcast::Receiver<Heard>);

impl Logs {
    /// What was said next; nothing once the host is gone. Cancel safe.
    pub async fn next(&mut self) -> Option<Watched<Log>> {
        match self.0.recv().await {
            Ok(heard) => Some(heard.shown()),
            Err(RecvError::Lagged(missed)) => Some(Watched::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }

    /// What was said next, if it has been by now.
    pub fn next_now(&mut self) -> Option<Watched<Log>> {
        match self.0.try_recv() {
            Ok(heard) => Some(heard.shown()),
            Err(TryRecvError::Lagged(missed)) => Some(Watched::Missed(missed)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

impl fmt::Debug for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logs").finish_non_exhaustive()
    }
}

/// Where what servers say goes out.
#[derive(Clone)]
pub(super) struct Sender(broadcast::Sender<Heard>);

impl Sender {
    /// A channel that keeps so many for a slow reader.
    pub(super) fn new(most: usize) -> Self {
        Self(broadcast::Sender::new(most.max(1)))
    }

    /// Everything from now on.
    pub(super) fn subscribe(&self) -> Logs {
        Logs(self.0.subscribe())
    }

    fn is_heard(&self) -> bool {
        self.0.receiver_count() > 0
    }
}
