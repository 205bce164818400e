//! The reason that a connection closed, shared by all calls that waited on it.

use std::fmt;

use crate::transport::{Cleanup, Exit, NetworkVariables, Peer};

/// The event that ended a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CloseCause {
    /// We closed it.
    ByUs,
    /// The server's process ended.
    ProcessEnded,
    /// The server closed its output, but its process lives on, or the connection has no process.
    OutputClosed,
    /// Reading failed.
    ReadFailed(String),
    /// Writing failed: the server closed its input.
    WriteFailed(String),
}

/// The reason that a connection closed, with its evidence: exit status, stderr, noise on stdout.
///
/// All calls that waited on the connection get the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloseReason {
    /// The event that ended it.
    pub cause: CloseCause,
    /// The exit status of the server's process, if it has ended.
    pub exit: Option<Exit>,
    /// The cleanup that was needed after the process ended, when its keeper was lost or could not
    /// end all its children; known only once the process has ended.
    pub cleanup: Option<Cleanup>,
    /// The first and the last lines of stderr. A line such as `... 120 lines ...` stands for those
    /// in between.
    pub stderr: Vec<String>,
    /// The first lines on stdout that were not messages.
    pub noise: Vec<String>,
    /// The certificate and proxy variables that its process was started with.
    pub network: NetworkVariables,
    /// The number of starts in a row that ended in this way while one request was repeated.
    pub starts: u32,
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
            starts: 1,
        }
    }
}

impl CloseReason {
    /// Returns true if this is the end of a process that ended as an earlier one did. On a busy machine one status
    /// may be known too late, which makes no difference.
    #[doc(hidden)]
    pub fn is_repeated(&self, earlier: &Self) -> bool {
        let ended = |reason: &Self| {
            matches!(
                reason.cause,
                CloseCause::ProcessEnded | CloseCause::OutputClosed
            )
        };
        match (self.exit, earlier.exit) {
            (Some(exit), Some(before)) => exit == before,
            (None, None) => false,
            _ => ended(self) && ended(earlier),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(cause: CloseCause, exit: Option<Exit>) -> CloseReason {
        CloseReason {
            cause,
            exit,
            cleanup: None,
            stderr: Vec::new(),
            noise: Vec::new(),
            network: NetworkVariables::default(),
            starts: 1,
        }
    }

    #[test]
    fn the_same_exit_status_twice_is_the_same_end() {
        let code = |code| reason(CloseCause::ProcessEnded, Some(Exit::Code(code)));
        let unknown = || reason(CloseCause::OutputClosed, None);
        let failed = || reason(CloseCause::ReadFailed("x".to_owned()), None);
        assert!(code(3).is_repeated(&code(3)));
        assert!(!code(3).is_repeated(&code(4)));
        assert!(code(3).is_repeated(&unknown()));
        assert!(unknown().is_repeated(&code(3)));
        // Not known to be processes at all.
        assert!(!unknown().is_repeated(&unknown()));
        assert!(!failed().is_repeated(&code(3)));
    }
}
