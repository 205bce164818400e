//! Faults of one exchange over a network.

use std::fmt;
use std::time::Duration;

use crate::auth_error::AuthError;

/// The reason that an exchange brought no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The event.
    pub kind: FaultKind,
    /// Tells how far the request came.
    pub sent: Sent,
    /// The server's address, secrets redacted.
    pub url: String,
}

/// The progress of a request on its way to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// Not a byte of it left.
    Never,
    /// It left, and its effect is unknown.
    Maybe,
    /// The server answered, but not with a usable answer.
    Answered,
}

/// The kind of a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// The name of the host could not be resolved.
    Resolve {
        /// The system's message.
        what: String,
    },
    /// The address may not be dialled.
    Forbidden {
        /// The address, and the reason that it may not be dialled.
        what: String,
    },
    /// The connection was not accepted.
    Connect {
        /// The system's message.
        what: String,
    },
    /// The TLS handshake failed.
    Tls {
        /// The problem.
        what: String,
    },
    /// The connection was lost before the answer was complete.
    Interrupted {
        /// The error of the connection.
        what: String,
    },
    /// The server answered with a status that is not a success.
    Status {
        /// The status.
        status: u16,
        /// The start of the body.
        excerpt: String,
        /// The wait that the server asks for.
        retry_after: Option<Duration>,
        /// The `WWW-Authenticate` header.
        challenge: Option<String>,
    },
    /// The request could not be authorized.
    Authorization {
        /// The cause.
        error: Box<AuthError>,
        /// The `WWW-Authenticate` header, if the server answered.
        challenge: Option<String>,
    },
    /// The server redirected us to a place where we do not go.
    Redirect {
        /// The status.
        status: u16,
        /// The target, as the server wrote it.
        location: String,
        /// The reason that we do not go there.
        what: String,
    },
    /// The answer has a content type that is not a message.
    ContentType {
        /// The content type.
        found: String,
        /// The start of the body.
        excerpt: String,
    },
    /// The server accepted the request and did not answer it.
    NoAnswer {
        /// The form that this took.
        what: &'static str,
    },
    /// The answer is a stream, and streams are turned off.
    StreamRefused,
    /// The answer is longer than the limit.
    TooLarge {
        /// The limit.
        limit_bytes: usize,
    },
    /// The server has forgotten our session, and a new one could not be opened.
    SessionLost {
        /// The cause.
        what: String,
    },
    /// The server gave a session id that cannot be used.
    SessionId {
        /// The problem with it.
        what: String,
    },
    /// The server failed so often that requests are paused.
    TooManyAttempts {
        /// The length of the pause.
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
            FaultKind::Resolve { what } => {
                write!(f, "the host of {} was not found: {what}", self.url)
            }
            FaultKind::Forbidden { what } => write!(f, "{} is not dialled: {what}", self.url),
            FaultKind::Connect { what } => write!(f, "no connection to {}: {what}", self.url),
            FaultKind::Tls { what } => {
                write!(f, "no secure connection to {}: {what}", self.url)
            }
            FaultKind::Interrupted { what } => {
                write!(f, "the connection to {} was lost: {what}", self.url)
            }
            FaultKind::Status { status, .. } => {
                write!(f, "{} answered with status {status}", self.url)
            }
            FaultKind::Authorization { error, .. } => write!(f, "{}: {error}", self.url),
            FaultKind::Redirect { status, what, .. } => {
                write!(f, "{} sent us elsewhere ({status}): {what}", self.url)
            }
            FaultKind::ContentType { found, .. } => {
                write!(
                    f,
                    "{} answered with {found}, which is not an MCP message",
                    self.url
                )
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
