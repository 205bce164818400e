//! The description of one server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{ParseServerNameError, OAuth, Origin, ServerName, Settings, TransportKind};
use crate::secret::{Redactor, SafeUrl, Secret};

/// The description of one server, with all references expanded.
///
/// ```
/// use switchboard_core::spec::ServerSpec;
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let time = ServerSpec::stdio("time", "uvx")?.args(["mcp-server-time"]);
/// let wiki = ServerSpec::http("wiki", "https://example.com/mcp")?.header("Authorization", "Bearer x");
/// # drop((time, wiki));
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSpec {
    /// The name that the user gave to the server.
    pub name: ServerName,
    /// The program to start, or the URL to connect to.
    pub endpoint: Endpoint,
    /// The origin of the description.
    pub origin: Origin,
    /// False if the entry is disabled.
    pub is_enabled: bool,
    /// Settings that apply to any kind of server.
    pub settings: Settings,
}

/// The endpoint of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum Endpoint {
    /// A program to start.
    Process(Process),
    /// A URL to connect to.
    Remote(Remote),
}

/// A program that is started as a server.
#[derive(Clone, PartialEq, Default)]
pub struct Process {
    /// The command: a path, or a name to look up in `PATH`.
    pub command: String,
    /// The resolved program, if the command was looked up and approved before.
    pub program: Option<PathBuf>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables set for it.
    pub env: BTreeMap<String, Secret<String>>,
    /// Variables of the host that are passed through to it.
    pub env_passthrough: Vec<String>,
    /// Its working folder.
    pub cwd: Option<PathBuf>,
    /// Parts of its arguments that are secret although they do not look like it.
    pub secrets: Vec<Secret<String>>,
}

/// A server at a URL.
#[derive(Debug, Clone, PartialEq)]
pub struct Remote {
    /// The URL.
    pub url: SafeUrl,
    /// Headers sent with every request.
    pub headers: Vec<(String, Secret<String>)>,
    /// The transport to begin with: [`TransportKind::Http`] or the older [`TransportKind::Sse`].
    pub transport: TransportKind,
    /// True if the server may answer with streams.
    pub streamable: bool,
    /// True if session ids must consist of letters, digits, dashes and underscores only.
    pub strict_session_id: bool,
    /// Parts of the URL that are secret although they do not look like it.
    pub secrets: Vec<Secret<String>>,
    /// How the server is logged in to, where its entry says so.
    pub oauth: Option<Box<OAuth>>,
}

/// A description that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The name is not valid.
    #[error(transparent)]
    Name(#[from] ParseServerNameError),
    /// The text is not a URL. It is not quoted, because it may contain a secret.
    #[error("not a URL")]
    Url(#[source] url::ParseError),
}

impl ServerSpec {
    /// Creates a description from its parts.
    pub fn new(name: ServerName, endpoint: Endpoint, origin: Origin) -> Self {
        Self {
            name,
            endpoint,
            origin,
            is_enabled: true,
            settings: Settings::default(),
        }
    }

    /// Describes a server that a command starts.
    ///
    /// # Errors
    /// Fails if the name is not valid.
    pub fn stdio(name: &str, command: impl Into<String>) -> Result<Self, SpecError> {
        let process = Process {
            command: command.into(),
            ..Process::default()
        };
        let name = ServerName::parse(name)?;
        Ok(Self::new(
            name,
            Endpoint::Process(process),
            Origin::program(),
        ))
    }

    /// Describes a server at a URL, over streamable HTTP.
    ///
    /// # Errors
    /// Fails if the name or the URL is not valid.
    pub fn http(name: &str, url: &str) -> Result<Self, SpecError> {
        Self::remote(name, url, TransportKind::Http)
    }

    /// Describes a server at a URL, over HTTP with Server-Sent Events as in 2024-11-05.
    ///
    /// # Errors
    /// Fails if the name or the URL is not valid.
    pub fn sse(name: &str, url: &str) -> Result<Self, SpecError> {
        Self::remote(name, url, TransportKind::Sse)
    }

    fn remote(name: &str, url: &str, transport: TransportKind) -> Result<Self, SpecError> {
        let url = SafeUrl::parse(url).map_err(SpecError::Url)?;
        let name = ServerName::parse(name)?;
        let remote = Remote::new(url, transport);
        Ok(Self::new(name, Endpoint::Remote(remote), Origin::program()))
    }

    /// The transport of the server.
    pub fn transport(&self) -> TransportKind {
        match &self.endpoint {
            Endpoint::Process(_) => TransportKind::Stdio,
            Endpoint::Remote(remote) => remote.transport,
        }
    }

    /// Adds arguments. Has no effect on a server at a URL.
    #[must_use]
    pub fn args<I, S>(self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.process(|process| process.args.extend(args.into_iter().map(Into::into)))
    }

    /// Sets a variable, whose value is never shown. Has no effect on a server at a URL.
    #[must_use]
    pub fn env(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.process(|process| {
            process.env.insert(name.into(), Secret::new(value.into()));
        })
    }

    /// Passes variables of the host through. Has no effect on a server at a URL.
    #[must_use]
    pub fn env_passthrough<I, S>(self, names: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.process(|process| {
            let names = names.into_iter().map(Into::into);
            process.env_passthrough.extend(names);
        })
    }

    /// Sets the working folder. Has no effect on a server at a URL.
    #[must_use]
    pub fn cwd(self, folder: impl Into<PathBuf>) -> Self {
        self.process(|process| process.cwd = Some(folder.into()))
    }

    /// Adds a header, whose value is never shown. Has no effect on a server that is started.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Endpoint::Remote(remote) = &mut self.endpoint {
            remote
                .headers
                .push((name.into(), Secret::new(value.into())));
        }
        self
    }

    /// Replaces the settings.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    fn process(mut self, change: impl FnOnce(&mut Process)) -> Self {
        if let Endpoint::Process(process) = &mut self.endpoint {
            change(process);
        }
        self
    }
}

impl Process {
    /// Describes the program that a command starts.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            ..Self::default()
        }
    }
}

impl Remote {
    /// Describes a server at a URL.
    pub fn new(url: SafeUrl, transport: TransportKind) -> Self {
        Self {
            url,
            headers: Vec::new(),
            transport,
            streamable: true,
            strict_session_id: false,
            secrets: Vec::new(),
            oauth: None,
        }
    }
}

impl std::fmt::Debug for Process {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let secrets = self.secrets.iter().map(Secret::expose);
        let secrets: Redactor = secrets.collect();
        let args = crate::secret::mask_args(&self.args);
        let args: Vec<_> = args.iter().map(|arg| secrets.redact(arg)).collect();
        f.debug_struct("Process")
            .field("command", &self.command)
            .field("program", &self.program)
            .field("args", &args)
            .field("env", &self.env)
            .field("env_passthrough", &self.env_passthrough)
            .field("cwd", &self.cwd)
            .finish()
    }
}
