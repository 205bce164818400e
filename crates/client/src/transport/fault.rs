//! What can go wrong with one exchange over a network.

use std::fmt;
use std::time::Duration;

use crate::auth::AuthError;

/// Why an exchange brought no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// How far the request came.
    pub sent: Sent,
    /// The server's address, secrets redacted.
    pub url: String,
}

/// How far a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// Not a byte of it left.
    Never,
    /// It left, and what became of it is not known.
    Maybe,
    /// The server answered, but not with what was asked for.
    Answered,
}

/// What happened to an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// The name of the host could not be resolved.
    Resolve {
        /// What the system said.
        what: String,
    },
    /// The address may not be dialled.
    Forbidden {
        /// Which, and why not.
        what: String,
    },
    /// Nobody took the connection.
    Connect {
        /// What the system said.
        what: String,
    },
    /// The other side could not prove who it is.
    Tls {
        /// What is wrong.
        what: String,
    },
    /// The connection was lost before the answer was complete.
    Interrupted {
        /// What happened.
        what: String,
    },
    /// The server answered with a status that is no success.
    Status {
        /// The status.
        status: u16,
        /// How the body begins.
        excerpt: String,
        /// How long the server wants to be left alone.
        retry_after: Option<Duration>,
        /// How the server wants us to prove who we are.
        challenge: Option<String>,
    },
    /// The request could not be authorized.
    Authorization {
        /// Why not.
        error: Box<AuthError>,
        /// How the server wants us to prove who we are, where it answered.
        challenge: Option<String>,
    },
    /// The server sent us elsewhere, where we do not go.
    Redirect {
        /// The status.
        status: u16,
        /// Where to, as the server wrote it.
        location: String,
        /// Why we do not go there.
        what: String,
    },
    /// The answer is of a kind that is no answer.
    ContentType {
        /// What it says it is.
        found: String,
        /// How it begins.
        excerpt: String,
    },
    /// The server took the request and gave no answer to it.
    NoAnswer {
        /// How.
        what: &'static str,
    },
    /// The answer is a stream, and streams are not wanted.
    StreamRefused,
    /// The answer is longer than the limit.
    TooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// The server has forgotten our session, and a new one could not be had.
    SessionLost {
        /// Why not.
        what: String,
    },
    /// The server gave a session id that cannot be used.
    SessionId {
        /// What is wrong with it.
        what: String,
    },
    /// The server failed so often that it is left alone for a while.
    TooManyAttempts {
        /// For how long.
        wait: Duration,
    },
}

impl FaultKind {
    /// The status that the server answered with, if that is what happened.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } | Self::Redirect { status, .. } => Some(*status),
            _ => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FaultKind::Resolve { .. } => write!(f, "the host of {} was not found", self.url),
            FaultKind::Forbidden { what } => write!(f, "{} is not dialled: {what}", self.url),
            FaultKind::Connect { .. } => write!(f, "no connection to {}", self.url),
            FaultKind::Tls { .. } => write!(f, "no secure connection to {}", self.url),
            FaultKind::Interrupted { .. } => {
                write!(f, "the connection to {} was lost", self.url)
            }
            FaultKind::Status { status, .. } => {
                write!(f, "{} answered with status {status}", self.url)
            }
            FaultKind::Authorization { error, .. } => write!(f, "{}: {error}", self.url),
            FaultKind::Redirect { status, what, .. } => {
                write!(f, "{} sent us elsewhere ({status}): {what}", self.url)
            }
            FaultKind::ContentType { found, .. } => {
                write!(f, "{} answered with {found}, which is no message", self.url)
            }
            FaultKind::NoAnswer { what } => write!(f, "{} gave no answer: {what}", self.url),
            FaultKind::StreamRefused => {
                write!(
                    f,
                    "{} answered with a stream, and streams are refused",
                    self.url
                )
            }
            FaultKind::TooLarge { limit_bytes } => {
                write!(
                    f,
                    "the answer is longer than the limit of {limit_bytes} bytes"
                )
            }
            FaultKind::SessionLost { what } => {
                write!(f, "{} has forgotten the session: {what}", self.url)
            }
            FaultKind::SessionId { what } => {
                write!(f, "{} gave an unusable session id: {what}", self.url)
            }
            FaultKind::TooManyAttempts { wait } => write!(
                f,
                "{} failed too often and is left alone for {} s",
                self.url,
                wait.as_secs()
            ),
        }
    }
}

impl std::error::Error for Fault {}
