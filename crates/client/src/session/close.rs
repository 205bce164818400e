//! Why a connection is no more.

use std::fmt;

use crate::transport::{Cleanup, Exit, NetworkVariables, Peer};

/// What ended a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseCause {
    /// We closed it.
    ByUs,
    /// The server's process ended.
    ProcessEnded,
    /// The server closed its output, and its process lives on or there is none.
    OutputClosed,
    /// Reading failed.
    ReadFailed(String),
    /// Writing failed: the server closed its input.
    WriteFailed(String),
}

/// Why a connection is no more, with what there is to show for it.
///
/// Everybody who waited on the connection gets the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloseReason {
    /// What ended it.
    pub cause: CloseCause,
    /// How the server's process ended, if it has.
    pub exit: Option<Exit>,
    /// What had to be done after it, where its keeper was lost or could not end all of it; known only
    /// if the process has ended.
    pub cleanup: Option<Cleanup>,
    /// The first and the last lines it wrote to stderr, with a line for those between them that were
    /// not kept.
    pub stderr: Vec<String>,
    /// The first lines on its stdout that were no messages.
    pub noise: Vec<String>,
    /// The certificate and proxy variables that its process was started with.
    pub network: NetworkVariables,
}

impl CloseReason {
    pub(crate) fn new(cause: CloseCause, peer: &Peer, noise: Vec<String>) -> Self {
        let exit = peer.exit();
        let cause = match (cause, exit) {
            (CloseCause::OutputClosed | CloseCause::WriteFailed(_), Some(_)) => {
                CloseCause::ProcessEnded
            }
            (cause, _) => cause,
        };
        Self {
            cause,
            exit,
            cleanup: peer.cleanup(),
            stderr: peer.stderr(),
            noise,
            network: peer.network_variables(),
        }
    }
}

impl fmt::Display for CloseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(cleanup) = &self.cleanup {
            return cleanup.fmt(f);
        }
        match (&self.cause, self.exit) {
            (CloseCause::ByUs, _) => f.write_str("the connection was closed by us"),
            (CloseCause::ProcessEnded, Some(exit)) => write!(f, "the server ended with {exit}"),
            (CloseCause::ProcessEnded, None) => f.write_str("the server ended"),
            (CloseCause::OutputClosed, _) => f.write_str("the server closed its output"),
            (CloseCause::ReadFailed(what), _) => {
                write!(f, "reading from the server failed: {what}")
            }
            (CloseCause::WriteFailed(what), _) => write!(f, "writing to the server failed: {what}"),
        }
    }
}
