//! Exit codes of the process.

use std::process::ExitCode;

use switchboard::{Error, ErrorKind};

/// The exit code of the process. The numbers are stable: see `docs/cli.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Success.
    Ok,
    /// A fault of this program or of the machine.
    Internal,
    /// Invalid command line, or arguments that do not match the tool's schema.
    Usage,
    /// The server requires authentication, or denies access.
    Authorization,
    /// The server could not be started or reached, or the handshake failed.
    Connect,
    /// The tool reported an error, or there is no such tool.
    Tool,
    /// A config file or entry is invalid, or the server is not configured.
    Configuration,
    /// A server is not approved, or an agent may not do this, or only after asking.
    Denied,
    /// Definitions differ from the approved ones, or from those in a lock file.
    Changed,
    /// A call or a listing timed out.
    Timeout,
    /// The server ended during a call, or the connection was lost.
    Died,
    /// The server violated the protocol or exceeded a limit.
    Protocol,
    /// Ended by a signal.
    Signal(u8),
}

impl Exit {
    /// Returns the number.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Authorization => 3,
            Self::Connect => 4,
            Self::Tool => 5,
            Self::Configuration => 6,
            Self::Denied => 7,
            Self::Changed => 8,
            Self::Timeout => 9,
            Self::Died => 10,
            Self::Protocol => 11,
            // As a shell reports a program that was ended by the signal.
            Self::Signal(signal) => 128_u8.saturating_add(signal),
        }
    }

    /// Returns the code for an error of the library.
    pub(crate) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Configuration => Self::Configuration,
            ErrorKind::Untrusted | ErrorKind::Denied => Self::Denied,
            ErrorKind::Authorization => Self::Authorization,
            // Includes a handshake that timed out: nothing was called yet.
            ErrorKind::Connect => Self::Connect,
            ErrorKind::Timeout => Self::Timeout,
            ErrorKind::Closed => Self::Died,
            ErrorKind::Protocol => Self::Protocol,
            ErrorKind::Rpc | ErrorKind::NotFound | ErrorKind::NotOffered | ErrorKind::Input => {
                Self::Tool
            }
            ErrorKind::Arguments => Self::Usage,
            _ => Self::Internal,
        }
    }

    /// Returns the code for a command of which nothing worked: that of the cause, or 4 for several different
    /// ones.
    pub(crate) fn of_all<'e>(errors: impl IntoIterator<Item = &'e Error>) -> Self {
        let mut exits = errors.into_iter().map(Self::of);
        let Some(first) = exits.next() else {
            return Self::Ok;
        };
        if exits.all(|exit| exit == first) {
            first
        } else {
            Self::Connect
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}
