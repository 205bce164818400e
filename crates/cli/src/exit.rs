//! What the process returns.

use std::process::ExitCode;

use switchboard::{Error, ErrorKind};

/// What the process returns. The numbers are promised: see `docs/cli.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    Ok,
    /// Our own fault, or the machine's.
    Internal,
    /// The command line, or an argument of the tool, is wrong.
    Usage,
    /// The server wants to know who asks, or does not let them in.
    Authorization,
    /// The server could not be started, reached or agreed with.
    Connect,
    /// The tool reported an error, or there is no such tool.
    Tool,
    /// A server is described wrongly, or not at all.
    Configuration,
    /// A server is not approved, or an agent may do this only after asking.
    Denied,
    /// What a server offers is not what was approved, or not what a lock file says.
    Changed,
    /// A call or a listing took too long.
    Timeout,
    /// The server ended during a call, or the connection to it was lost.
    Died,
    /// The server broke the protocol or went over a limit.
    Protocol,
    /// A signal asked us to stop.
    Signal(u8),
}

impl Exit {
    /// The number.
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
            // What a shell reports of a program that the signal ended.
            Self::Signal(signal) => 128_u8.saturating_add(signal),
        }
    }

    /// The number for an error of the library.
    pub(crate) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Configuration => Self::Configuration,
            ErrorKind::Untrusted => Self::Denied,
            ErrorKind::Authorization => Self::Authorization,
            // Also a handshake that timed out: nothing was called yet.
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

    /// The number for a command of which nothing worked: that of the cause, or 4 for several different ones.
    pub(crate) fn of_all<'e>(errors: impl IntoIterator<Item = &'e Error>) -> Self {
        let mut exits = errors.into_iter().map(Self::of);
        let Some(first) = exits.next() else {
            return Self::Ok;
        };
        match exits.all(|exit| exit == first) {
            true => first,
            false => Self::Connect,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}
