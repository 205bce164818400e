//! The public error of this crate: [`ServerError`], with the server it is about.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use switchboard_core::spec::ServerName;
use switchboard_core::text::with_causes;
use switchboard_wire::RpcError;

use crate::auth_error::AuthError;
use crate::session::{CallError, CloseReason, Delivery, OpenError};
use crate::transport::{Fault, FaultKind};

/// The category of an error.
///
/// ```
/// use switchboard_client::ErrorKind;
///
/// fn is_mistake_of_caller(kind: ErrorKind) -> bool {
///     matches!(kind, ErrorKind::NotFound | ErrorKind::Arguments | ErrorKind::Denied)
/// }
///
/// assert!(!is_mistake_of_caller(ErrorKind::Connect));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The description of a server is wrong.
    Configuration,
    /// The server comes from a project folder and is not approved.
    Untrusted,
    /// There is no such server, tool, resource or prompt.
    NotFound,
    /// The policy does not let the agent do this, or the user refused it.
    Denied,
    /// The server could not be started or reached, or negotiation failed.
    Connect,
    /// The server demands a login, or denies access.
    Authorization,
    /// A call took too long.
    Timeout,
    /// The connection closed during a call.
    Closed,
    /// The server answered with an error.
    Rpc,
    /// The server broke the protocol, or went over a limit.
    Protocol,
    /// The server does not offer what was asked for.
    NotOffered,
    /// The server asked for input that was not provided.
    Input,
    /// The arguments cannot be sent, or do not fit the tool's schema.
    Arguments,
}

/// The reason that a [`Server`](crate::server::Server) could not be used.
///
/// Opaque: programs ask [`ServerError::kind`] and the other methods; the text is for people and may
/// change. Clones share one allocation.
#[derive(Clone)]
pub struct ServerError(Arc<ErrorParts>);

struct ErrorParts {
    server: ServerName,
    identity: String,
    cause: Arc<ServerErrorCause>,
}

/// The cause of a [`ServerError`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerErrorCause {
    /// No connection could be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A request failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The server is not tried again yet, or no longer automatically.
    // Without the name of the server, which the error around this one begins with.
    #[error("{}; {}", with_causes(&**last.cause()), rest(*wait))]
    Resting {
        /// The error of the last attempt.
        last: ServerError,
        /// The time until the next attempt; `None` if there is no automatic one.
        wait: Option<Duration>,
    },
    /// The connection is gone, and automatic reconnection is off.
    #[error("the connection is gone and `reconnect` is off: {0}")]
    Lost(Arc<CloseReason>),
    /// The server was closed for good.
    #[error("the server is used no more: it was removed, or the host shut down")]
    Stopped,
}

impl ServerErrorCause {
    /// The category of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Open(_) => match self.fault().map(of_fault) {
                Some(kind) if self.auth_error().is_some() => kind,
                Some(ErrorKind::Authorization) => ErrorKind::Authorization,
                _ => ErrorKind::Connect,
            },
            Self::Call(error) => match error {
                CallError::Exchange(fault) => of_fault(fault),
                CallError::Rpc(_) => ErrorKind::Rpc,
                CallError::TimedOut { .. } => ErrorKind::Timeout,
                CallError::Closed { .. } => ErrorKind::Closed,
                CallError::BadParams { .. } => ErrorKind::Arguments,
                CallError::NotOffered { .. } => ErrorKind::NotOffered,
                CallError::InputRefused { .. }
                | CallError::InputRequired { .. }
                | CallError::TooManyRounds { .. }
                | CallError::TooManyQuestions { .. } => ErrorKind::Input,
                _ => ErrorKind::Protocol,
            },
            Self::Resting { last, .. } => last.kind(),
            Self::Lost(_) | Self::Stopped => ErrorKind::Connect,
        }
    }

    /// Returns true if the request may have reached the server.
    pub fn was_sent(&self) -> bool {
        match self {
            Self::Call(error) => error.delivery() != Delivery::NeverSent,
            _ => false,
        }
    }

    /// The reason that the connection closed, if that is what happened.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        match self {
            Self::Lost(reason) => Some(reason),
            _ => self.call_error().and_then(CallError::close_reason),
        }
    }

    /// The fault of the HTTP exchange, if that is what happened.
    pub fn fault(&self) -> Option<&Fault> {
        self.call_error().and_then(CallError::fault)
    }

    /// The first and the last lines that the server wrote to stderr, as far as they are known. A
    /// line such as `... 120 lines ...` stands for those in between.
    pub fn stderr(&self) -> &[String] {
        match (self, self.close_reason()) {
            (_, Some(reason)) => &reason.stderr,
            (Self::Open(OpenError::Handshake { seen, .. }), None) => &seen.stderr,
            (Self::Resting { last, .. }, None) => last.stderr(),
            _ => &[],
        }
    }

    /// The reason that a request could not be authorized, if that is what happened.
    pub fn auth_error(&self) -> Option<&AuthError> {
        match &self.fault()?.kind {
            FaultKind::Authorization { error, .. } => Some(error),
            _ => None,
        }
    }

    /// The error of a request, in the handshake or after it.
    pub fn call_error(&self) -> Option<&CallError> {
        match self {
            Self::Call(error) => Some(error),
            Self::Open(OpenError::Handshake { error, .. }) => Some(error),
            Self::Resting { last, .. } => last.cause().call_error(),
            Self::Open(_) | Self::Lost(_) | Self::Stopped => None,
        }
    }
}

impl ServerError {
    pub(crate) fn new(
        server: ServerName,
        identity: String,
        cause: impl Into<ServerErrorCause>,
    ) -> Self {
        Self(Arc::new(ErrorParts {
            server,
            identity,
            cause: Arc::new(cause.into()),
        }))
    }

    /// The server that the error is about.
    pub fn server(&self) -> &ServerName {
        &self.0.server
    }

    /// The identity of that server, such as `stdio:CMD:ARGS`, with secrets redacted.
    pub fn identity(&self) -> &str {
        &self.0.identity
    }

    /// The cause of the error.
    pub fn cause(&self) -> &Arc<ServerErrorCause> {
        &self.0.cause
    }

    /// The category of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.cause.kind()
    }

    /// Returns true if the request may have reached the server; only a request that has not is safe
    /// to repeat.
    pub fn was_sent(&self) -> bool {
        self.0.cause.was_sent()
    }

    /// Returns true if a deadline passed, in a call or in the handshake.
    pub fn is_timeout(&self) -> bool {
        self.0.cause.call_error().is_some_and(CallError::is_timeout)
    }

    /// The error that the server answered with, if it did.
    pub fn rpc(&self) -> Option<&RpcError> {
        self.0.cause.call_error().and_then(CallError::rpc)
    }

    /// The reason that the connection closed, if that is what happened.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        self.0.cause.close_reason()
    }

    /// The fault of the HTTP exchange, if that is what happened.
    pub fn fault(&self) -> Option<&Fault> {
        self.0.cause.fault()
    }

    /// The reason that a request could not be authorized, if that is what happened.
    pub fn auth_error(&self) -> Option<&AuthError> {
        self.0.cause.auth_error()
    }

    /// The first and the last lines that the server wrote to stderr, as far as they are known. A
    /// line such as `... 120 lines ...` stands for those in between.
    pub fn stderr(&self) -> &[String] {
        self.0.cause.stderr()
    }
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = with_causes(&*self.0.cause);
        write!(f, "{}: {cause}", self.0.server)
    }
}

impl fmt::Debug for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerError")
            .field("server", &self.0.server)
            .field("identity", &self.0.identity)
            .field("kind", &self.kind())
            .field("cause", &self.0.cause)
            .finish()
    }
}

impl std::error::Error for ServerError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause.source()
    }
}

/// The category of an exchange's fault.
fn of_fault(fault: &Fault) -> ErrorKind {
    match &fault.kind {
        FaultKind::Status {
            status: 401 | 403, ..
        } => ErrorKind::Authorization,
        FaultKind::Authorization { error, .. } => error.kind(),
        // The server was not reached, or refuses temporarily.
        FaultKind::Status {
            status: 407 | 429 | 502..=504,
            ..
        }
        | FaultKind::Resolve { .. }
        | FaultKind::Forbidden { .. }
        | FaultKind::Connect { .. }
        | FaultKind::Tls { .. }
        | FaultKind::Redirect { .. }
        | FaultKind::TooManyAttempts { .. } => ErrorKind::Connect,
        FaultKind::Interrupted { .. } | FaultKind::SessionLost { .. } => ErrorKind::Closed,
        FaultKind::Status { .. }
        | FaultKind::ContentType { .. }
        | FaultKind::NoAnswer { .. }
        | FaultKind::StreamRefused
        | FaultKind::TooLarge { .. }
        | FaultKind::SessionId { .. } => ErrorKind::Protocol,
    }
}

/// Describes the time of the next attempt.
fn rest(wait: Option<Duration>) -> String {
    match wait {
        Some(wait) => format!("the next attempt is made in {:.1} s", wait.as_secs_f64()),
        None => "automatic reconnection has stopped".to_owned(),
    }
}
