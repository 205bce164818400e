//! The error that a program gets: opaque, with the questions a program asks of it.

mod behind;
mod host;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use switchboard_wire::RpcError;

use behind::Behind;
pub(crate) use host::HostError;

use crate::secret::Redactor;
use crate::session::{CallError, CloseReason, Delivery, OpenError};
use crate::spec::{Origin, ServerName};
use crate::transport::{Fault, FaultKind};
use crate::trust::Question;

/// What kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A server is described wrongly.
    Configuration,
    /// A server came with a folder, and the person has not approved it.
    Untrusted,
    /// There is no such server, tool, resource or prompt.
    NotFound,
    /// A server could not be started, reached or agreed with.
    Connect,
    /// A server wants to know who asks, or does not let them in.
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
    /// The server asked for input that nobody gave.
    Input,
    /// What was to be sent cannot be sent, or does not fit what the tool takes.
    Arguments,
}

/// Where a server comes from and what it is, for whoever reads an error.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The name that a person gave the server.
    pub server: Option<ServerName>,
    /// What it is: `stdio:CMD:ARGS`, secrets redacted.
    pub identity: Option<String>,
    /// The file that describes it.
    pub file: Option<PathBuf>,
    /// The layer of that file: user, ancestor or project.
    pub layer: Option<String>,
    /// The line of that file at which it is described, from 1.
    pub line: Option<usize>,
    /// The column, in characters from 1.
    pub column: Option<usize>,
}

impl Context {
    /// A server, and where it is described.
    pub(crate) fn of(server: &ServerName, identity: Option<String>, origin: &Origin) -> Self {
        let is_of_file = origin.file.is_some();
        Self {
            server: Some(server.clone()),
            identity,
            file: origin.file.clone(),
            layer: is_of_file.then(|| origin.layer.to_string()),
            line: origin.line,
            column: origin.column,
        }
    }
}

/// Why something did not work.
///
/// Its text is for people and may change; a program asks [`Error::kind`] and its sisters. For
/// what a person can do about it, see [`explain`](crate::explain()). Clones share what they say.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    cause: Arc<Cause>,
    context: Context,
    /// What must not be shown, whoever said it.
    secrets: Option<Arc<Redactor>>,
    /// What is behind the cause, without them, as soon as somebody asks.
    behind: OnceLock<Option<Behind>>,
}

#[derive(Debug)]
pub(crate) enum Cause {
    Open(OpenError),
    Call(CallError),
    Configuration(String),
    Host(HostError),
}

impl Error {
    /// An error in the description of a server.
    pub fn configuration(what: impl Into<String>) -> Self {
        Self::new(Cause::Configuration(what.into()))
    }

    fn new(cause: Cause) -> Self {
        Self(Arc::new(Inner {
            cause: Arc::new(cause),
            context: Context::default(),
            secrets: None,
            behind: OnceLock::new(),
        }))
    }

    /// Says which server the error is about.
    #[must_use]
    pub fn in_context(mut self, context: Context) -> Self {
        Arc::make_mut(&mut self.0).context = context;
        self
    }

    /// Takes secrets out of everything that the error shows.
    #[must_use]
    pub(crate) fn without(mut self, secrets: &Arc<Redactor>) -> Self {
        let inner = Arc::make_mut(&mut self.0);
        inner.secrets = Some(Arc::clone(secrets));
        inner.behind = OnceLock::new();
        self
    }

    /// Takes the secrets out of a text that is shown with the error.
    pub(crate) fn redact(&self, text: &str) -> String {
        match &self.0.secrets {
            Some(secrets) => secrets.redact(text).into_owned(),
            None => text.to_owned(),
        }
    }

    /// What kind of thing went wrong.
    pub fn kind(&self) -> ErrorKind {
        match &*self.0.cause {
            Cause::Configuration(_) => ErrorKind::Configuration,
            Cause::Host(error) => error.kind(),
            Cause::Open(_) => match self.fault().map(of_fault) {
                Some(ErrorKind::Authorization) => ErrorKind::Authorization,
                _ => ErrorKind::Connect,
            },
            Cause::Call(error) => match error {
                CallError::Exchange(fault) => of_fault(fault),
                CallError::Rpc(_) => ErrorKind::Rpc,
                CallError::TimedOut { .. } => ErrorKind::Timeout,
                CallError::Closed { .. } => ErrorKind::Closed,
                CallError::BadParams { .. } => ErrorKind::Arguments,
                CallError::NotOffered { .. } => ErrorKind::NotOffered,
                CallError::InputRefused { .. }
                | CallError::TooManyRounds { .. }
                | CallError::TooManyQuestions { .. } => ErrorKind::Input,
                _ => ErrorKind::Protocol,
            },
        }
    }

    /// The server that the error is about.
    pub fn server(&self) -> Option<&ServerName> {
        self.0.context.server.as_ref()
    }

    /// Where the server comes from and what it is.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Whether the request may have reached the server; only a request that has not is safe to
    /// repeat without a thought.
    pub fn was_sent(&self) -> bool {
        match &*self.0.cause {
            Cause::Call(error) => error.delivery() != Delivery::NeverSent,
            Cause::Host(error) => error.was_sent(),
            Cause::Open(_) | Cause::Configuration(_) => false,
        }
    }

    /// Whether time ran out, in a call or in the handshake.
    pub fn is_timeout(&self) -> bool {
        self.call_error().is_some_and(CallError::is_timeout)
    }

    /// The error that the server answered with, if it did.
    pub fn rpc(&self) -> Option<&RpcError> {
        self.call_error().and_then(CallError::rpc)
    }

    /// Why the connection closed, if that is what happened.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        match &*self.0.cause {
            Cause::Host(HostError::Lost(reason) | HostError::Ended(reason)) => Some(reason),
            _ => self.call_error().and_then(CallError::close_reason),
        }
    }

    /// Whether the server is switched off.
    pub fn is_disabled(&self) -> bool {
        matches!(&*self.0.cause, Cause::Host(HostError::Disabled))
    }

    /// What the person would have to approve, if that is what is missing.
    pub fn question(&self) -> Option<&Question> {
        match &*self.0.cause {
            Cause::Host(HostError::Untrusted(question)) => Some(question),
            _ => None,
        }
    }

    /// What went wrong with the exchange over the network, if that is what happened.
    pub fn fault(&self) -> Option<&Fault> {
        self.call_error().and_then(CallError::fault)
    }

    /// The first and the last lines that the server wrote to stderr, as far as they are known; a line
    /// such as `... 120 lines ...` stands for those between them.
    pub fn stderr(&self) -> &[String] {
        match (&*self.0.cause, self.close_reason()) {
            (_, Some(reason)) => &reason.stderr,
            (Cause::Open(OpenError::Handshake { seen, .. }), None) => &seen.stderr,
            (Cause::Host(HostError::Resting { last, .. }), None) => last.stderr(),
            _ => &[],
        }
    }

    pub(crate) fn cause(&self) -> &Cause {
        &self.0.cause
    }

    fn call_error(&self) -> Option<&CallError> {
        match &*self.0.cause {
            Cause::Call(error) => Some(error),
            Cause::Open(OpenError::Handshake { error, .. }) => Some(error),
            Cause::Host(HostError::Resting { last, .. }) => last.call_error(),
            Cause::Open(_) | Cause::Configuration(_) | Cause::Host(_) => None,
        }
    }
}

/// What kind of thing a fault of an exchange is.
fn of_fault(fault: &Fault) -> ErrorKind {
    match &fault.kind {
        FaultKind::Status {
            status: 401 | 403, ..
        } => ErrorKind::Authorization,
        // The server was not reached, or does not want to be just now.
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

impl From<HostError> for Error {
    fn from(error: HostError) -> Self {
        Self::new(Cause::Host(error))
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        Self::new(Cause::Open(error))
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        Self::new(Cause::Call(error))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(server) = self.server() {
            write!(f, "{server}: ")?;
        }
        let said = match &*self.0.cause {
            Cause::Open(error) => error.to_string(),
            Cause::Call(error) => error.to_string(),
            Cause::Configuration(what) => what.clone(),
            Cause::Host(error) => error.to_string(),
        };
        f.write_str(&self.redact(&said))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cause = self.redact(&format!("{:?}", self.0.cause));
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("cause", &format_args!("{cause}"))
            .field("context", &self.0.context)
            .finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let source = match &*self.0.cause {
            Cause::Open(error) => error.source(),
            Cause::Call(error) => error.source(),
            Cause::Host(error) => error.source(),
            Cause::Configuration(_) => None,
        }?;
        let behind = || {
            let secrets = self.0.secrets.as_ref()?;
            Behind::of(source, secrets)
        };
        match self.0.behind.get_or_init(behind) {
            Some(behind) => Some(behind),
            None => Some(source),
        }
    }
}
