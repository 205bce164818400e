//! The error that a program gets: opaque, with the questions a program asks of it.

mod behind;
mod denial;
mod host;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use switchboard_client::{ErrorKind, ServerError, ServerErrorCause};
use switchboard_wire::{Raw, RpcError};

use behind::Behind;
pub use denial::Denial;
pub(crate) use host::HostError;
pub use host::MissingPolicy;

use crate::auth::{AuthError, NeedsLogin};
use crate::schema::Violation;
use crate::secret::Redactor;
use crate::session::{CallError, CloseReason, OpenError};
use crate::spec::{Origin, ServerName};
use crate::text::with_causes;
use crate::transport::Fault;
use crate::trust::Question;

/// The server that an error is about: its name, identity, description and place in the configuration.
///
/// A description is shown as it was written, before references such as `${TOKEN}` are expanded. The last
/// lines of stderr are in [`Error::stderr`].
///
/// ```
/// use switchboard::Host;
/// use switchboard::spec::ServerSpec;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let spec = ServerSpec::stdio("notes", "no-such-program")?.args(["--token", "hunter2"]);
/// let host = Host::builder().server(spec).build()?;
/// let error = host.connect("notes").await.unwrap_err();
/// let command = error.context().command.as_deref();
/// assert_eq!(command, Some(&["no-such-program", "--token", "***"].map(String::from)[..]));
/// # Ok(())
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The name that a person gave the server.
    pub server: Option<ServerName>,
    /// The identity: `stdio:CMD:ARGS`, secrets redacted.
    pub identity: Option<String>,
    /// The file that describes it.
    pub file: Option<PathBuf>,
    /// The layer of that file: user, ancestor or project.
    pub layer: Option<String>,
    /// The line of that file at which it is described, from 1.
    pub line: Option<usize>,
    /// The column, in characters from 1.
    pub column: Option<usize>,
    /// The command and its arguments, as they are described, with secrets masked.
    pub command: Option<Vec<String>>,
    /// The URL as it is described, with secrets masked.
    pub url: Option<String>,
    /// The whole description as an entry of a config file, with secrets masked.
    pub entry: Option<Arc<Value>>,
    /// The list that was being read, such as `tools`; `None` for other requests.
    pub listing: Option<&'static str>,
    /// The number of starts in a row after which the server's process ended in the same way; 0 where they were not
    /// counted.
    pub starts: u32,
}

impl Context {
    /// Makes the context of a server from its name, identity and origin.
    pub(crate) fn of(server: &ServerName, identity: Option<String>, origin: &Origin) -> Self {
        let is_of_file = origin.file.is_some();
        Self {
            server: Some(server.clone()),
            identity,
            file: origin.file.clone(),
            layer: is_of_file.then(|| origin.layer.to_string()),
            line: origin.line,
            column: origin.column,
            ..Self::default()
        }
    }
}

/// An error of a host or of one of its servers.
///
/// Its text names the server, the error and its causes; it is for people and may change. A program
/// uses [`Error::kind`] and the other methods. For what a person can do about it, see
/// [`explain`](crate::explain()). Clones share their contents.
///
/// ```
/// use switchboard::{ErrorKind, Host, ServerSpec, explain};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let server = ServerSpec::stdio("notes", "no-such-program")?;
/// let host = Host::builder().server(server).build()?;
/// let error = host.connect("notes").await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Connect);
/// assert_eq!(error.server().map(|name| name.as_str()), Some("notes"));
/// // Nothing left, so it is safe to try again.
/// assert!(!error.was_sent());
/// for step in explain(&error).steps {
///     println!("{step}");
/// }
/// # Ok(())
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
/// ```
#[derive(Clone)]
pub struct Error(Arc<ErrorInner>);

#[derive(Clone)]
struct ErrorInner {
    cause: Arc<Cause>,
    context: Context,
    /// Secrets to remove from every text of the error.
    secrets: Option<Arc<Redactor>>,
    /// The redacted source chain, built on first use; `None` if no secret is in it.
    behind: OnceLock<Option<Behind>>,
}

#[derive(Debug)]
pub(crate) enum Cause {
    Server(Arc<ServerErrorCause>),
    Configuration(String),
    Host(HostError),
}

impl Error {
    /// An error in the description of a server.
    pub fn configuration(what: impl Into<String>) -> Self {
        Self::new(Cause::Configuration(what.into()))
    }

    fn new(cause: Cause) -> Self {
        Self(Arc::new(ErrorInner {
            cause: Arc::new(cause),
            context: Context::default(),
            secrets: None,
            behind: OnceLock::new(),
        }))
    }

    /// Sets the server that the error is about.
    #[must_use]
    pub fn in_context(mut self, context: Context) -> Self {
        Arc::make_mut(&mut self.0).context = context;
        self
    }

    /// Notes that the host was reading this list of the server.
    #[must_use]
    pub(crate) fn while_listing(mut self, list: &'static str) -> Self {
        Arc::make_mut(&mut self.0).context.listing = Some(list);
        self
    }

    /// Notes how many starts in a row ended in this way, unless more are known already.
    #[must_use]
    pub(crate) fn after_starts(mut self, starts: u32) -> Self {
        let context = &mut Arc::make_mut(&mut self.0).context;
        context.starts = context.starts.max(starts);
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

    /// Returns the kind of error.
    pub fn kind(&self) -> ErrorKind {
        match &*self.0.cause {
            Cause::Configuration(_) => ErrorKind::Configuration,
            Cause::Host(error) => error.kind(),
            Cause::Server(cause) => cause.kind(),
        }
    }

    /// The server that the error is about.
    pub fn server(&self) -> Option<&ServerName> {
        self.0.context.server.as_ref()
    }

    /// Returns the name, identity and origin of the server.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Returns true if the request may have reached the server. Only a request that was not sent is
    /// safe to repeat automatically.
    pub fn was_sent(&self) -> bool {
        match &*self.0.cause {
            Cause::Server(cause) => cause.was_sent(),
            Cause::Host(error) => error.was_sent(),
            Cause::Configuration(_) => false,
        }
    }

    /// Returns true if a call or the handshake timed out.
    pub fn is_timeout(&self) -> bool {
        let is_late = matches!(
            &*self.0.cause,
            Cause::Host(HostError::NewServerTimedOut { .. })
        );
        is_late || self.call_error().is_some_and(CallError::is_timeout)
    }

    /// The error that the server answered with, if it did.
    pub fn rpc(&self) -> Option<&RpcError> {
        self.call_error().and_then(CallError::rpc)
    }

    /// Returns the result that does not fit its type, as the server sent it, if the caller wants it
    /// verbatim.
    #[doc(hidden)]
    pub fn unfit_result(&self) -> Option<&Raw> {
        self.call_error().and_then(CallError::unfit_result)
    }

    /// Returns the server's questions, as it sent them, if the caller relays them: see
    /// [`InputRelay`](crate::session::InputRelay).
    #[doc(hidden)]
    pub fn input_required(&self) -> Option<&Raw> {
        self.call_error().and_then(CallError::input_required)
    }

    /// Returns the reason for which the connection closed, if the error is a closed connection.
    pub fn close_reason(&self) -> Option<&CloseReason> {
        match &*self.0.cause {
            Cause::Host(HostError::Ended(reason)) => Some(reason),
            Cause::Server(cause) => cause.close_reason(),
            Cause::Host(_) | Cause::Configuration(_) => None,
        }
    }

    /// Returns the authorization error, if a request or a login could not be authorized.
    pub fn auth_error(&self) -> Option<&AuthError> {
        match &*self.0.cause {
            Cause::Server(cause) => cause.auth_error(),
            Cause::Host(HostError::Auth(error)) => Some(error),
            Cause::Host(_) | Cause::Configuration(_) => None,
        }
    }

    /// Returns the login that the person has to make, if the server needs one.
    pub fn needs_login(&self) -> Option<&NeedsLogin> {
        self.auth_error().and_then(AuthError::needs_login)
    }

    /// Returns true if the server is disabled.
    pub fn is_disabled(&self) -> bool {
        matches!(&*self.0.cause, Cause::Host(HostError::Disabled))
    }

    /// Returns the question that the person has to answer, if the server lacks approval.
    pub fn question(&self) -> Option<&Question> {
        match &*self.0.cause {
            Cause::Host(HostError::Untrusted(question)) => Some(question),
            _ => None,
        }
    }

    /// The agent that the policy does not mention, and where an entry for it would be, if that is what
    /// is missing.
    pub fn missing_policy(&self) -> Option<&MissingPolicy> {
        match &*self.0.cause {
            Cause::Host(HostError::NoPolicy(missing)) => Some(missing),
            _ => None,
        }
    }

    /// Returns the denied use and the rule that denied it, if the kind is [`ErrorKind::Denied`].
    pub fn denial(&self) -> Option<&Denial> {
        match &*self.0.cause {
            Cause::Host(HostError::Denied(denial)) => Some(denial),
            _ => None,
        }
    }

    /// The arguments that do not fit, where nothing was sent for that reason.
    pub fn violations(&self) -> &[Violation] {
        match &*self.0.cause {
            Cause::Host(HostError::Arguments { violations, .. }) => violations,
            _ => &[],
        }
    }

    /// Returns the network fault, if the exchange over the network failed.
    pub fn fault(&self) -> Option<&Fault> {
        self.call_error().and_then(CallError::fault)
    }

    /// The first and the last lines that the server wrote to stderr, as far as they are known; a line
    /// such as `... 120 lines ...` stands for those between them.
    pub fn stderr(&self) -> &[String] {
        match (&*self.0.cause, self.close_reason()) {
            (_, Some(reason)) => &reason.stderr,
            (Cause::Server(cause), None) => cause.stderr(),
            _ => &[],
        }
    }

    pub(crate) fn cause(&self) -> &Cause {
        &self.0.cause
    }

    fn call_error(&self) -> Option<&CallError> {
        match &*self.0.cause {
            Cause::Server(cause) => cause.call_error(),
            Cause::Configuration(_) | Cause::Host(_) => None,
        }
    }
}

impl From<HostError> for Error {
    fn from(error: HostError) -> Self {
        Self::new(Cause::Host(error))
    }
}

impl From<ServerErrorCause> for Error {
    fn from(cause: ServerErrorCause) -> Self {
        Self::new(Cause::Server(Arc::new(cause)))
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        ServerErrorCause::from(error).into()
    }
}

impl From<CallError> for Error {
    fn from(error: CallError) -> Self {
        ServerErrorCause::from(error).into()
    }
}

impl From<ServerError> for Error {
    fn from(error: ServerError) -> Self {
        Self::new(Cause::Server(Arc::clone(error.cause()))).in_context(Context {
            server: Some(error.server().clone()),
            identity: Some(error.identity().to_owned()),
            ..Context::default()
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(server) = self.server() {
            write!(f, "{server}: ")?;
        }
        let text = match &*self.0.cause {
            Cause::Server(cause) => with_causes(&**cause),
            Cause::Configuration(what) => what.clone(),
            Cause::Host(error) => with_causes(error),
        };
        f.write_str(&self.redact(&text))
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
            Cause::Server(cause) => cause.source(),
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
