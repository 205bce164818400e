//! One server as it is described: what it is, where the description comes from, how it is used.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{BadServerName, OAuth, Origin, ServerName, Settings, TransportKind};
use crate::secret::{Redactor, SafeUrl, Secret};

/// One server as it is described, with nothing left to expand.
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
    /// The name that a person gave the server.
    pub name: ServerName,
    /// What the server is.
    pub endpoint: Endpoint,
    /// Where the description comes from.
    pub origin: Origin,
    /// Whether it may be used.
    pub is_enabled: bool,
    /// How it is used.
    pub settings: Settings,
}

/// What a server is.
#[derive(Debug, Clone, PartialEq)]
pub enum Endpoint {
    /// A program that is started.
    Process(Process),
    /// Something that answers at a URL.
    Remote(Remote),
}

/// A program that is started as a server.
#[derive(Clone, PartialEq, Default)]
pub struct Process {
    /// The command: a path, or a name to look up in `PATH`.
    pub command: String,
    /// The program that the command was found to be, where that was looked up before and approved.
    pub program: Option<PathBuf>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that are set for it.
    pub env: BTreeMap<String, Secret<String>>,
    /// Variables of the host that are let through to it.
    pub env_passthrough: Vec<String>,
    /// The folder that it is started in.
    pub cwd: Option<PathBuf>,
    /// Parts of its arguments that must not be shown, where nothing in their looks tells so.
    pub secrets: Vec<Secret<String>>,
}

/// A server that answers at a URL.
#[derive(Debug, Clone, PartialEq)]
pub struct Remote {
    /// The URL.
    pub url: SafeUrl,
    /// Headers that are sent with every request.
    pub headers: Vec<(String, Secret<String>)>,
    /// Whether to begin with the older transport: [`TransportKind::Http`] or [`TransportKind::Sse`].
    pub transport: TransportKind,
    /// Whether the server may answer with streams.
    pub streamable: bool,
    /// Whether a session id may be made of letters, digits, dashes and underscores only.
    pub strict_session_id: bool,
    /// Parts of the URL that must not be shown, where nothing in their looks tells so.
    pub secrets: Vec<Secret<String>>,
    /// How the server is logged in to, where its entry says so.
    pub oauth: Option<Box<OAuth>>,
}

/// Why a server cannot be described like that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadSpec {
    /// The name cannot be one.
    #[error(transparent)]
    Name(#[from] BadServerName),
    /// What is there is no URL. It is not quoted: there may be a secret in it.
    #[error("not a URL")]
    Url(#[source] url::ParseError),
}

impl ServerSpec {
    /// A server from its parts.
    pub fn new(name: ServerName, endpoint: Endpoint, origin: Origin) -> Self {
        Self {
            name,
            endpoint,
            origin,
            is_enabled: true,
            settings: Settings::default(),
        }
    }

    /// A server that a command starts.
    ///
    /// # Errors
    /// When the name cannot be one.
    pub fn stdio(name: &str, command: impl Into<String>) -> Result<Self, BadSpec> {
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

    /// A server at a URL, over streamable HTTP.
    ///
    /// # Errors
    /// When the name cannot be one, or that is no URL.
    pub fn http(name: &str, url: &str) -> Result<Self, BadSpec> {
        Self::remote(name, url, TransportKind::Http)
    }

    /// A server at a URL, over HTTP with Server-Sent Events as 2024-11-05 had it.
    ///
    /// # Errors
    /// When the name cannot be one, or that is no URL.
    pub fn sse(name: &str, url: &str) -> Result<Self, BadSpec> {
        Self::remote(name, url, TransportKind::Sse)
    }

    fn remote(name: &str, url: &str, transport: TransportKind) -> Result<Self, BadSpec> {
        let url = SafeUrl::parse(url).map_err(BadSpec::Url)?;
        let name = ServerName::parse(name)?;
        let remote = Remote::new(url, transport);
        Ok(Self::new(name, Endpoint::Remote(remote), Origin::program()))
    }

    /// How the server is reached.
    pub fn transport(&self) -> TransportKind {
        match &self.endpoint {
            Endpoint::Process(_) => TransportKind::Stdio,
            Endpoint::Remote(remote) => remote.transport,
        }
    }

    /// Adds arguments, for a server that is started.
    #[must_use]
    pub fn args<I, S>(self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.process(|process| process.args.extend(args.into_iter().map(Into::into)))
    }

    /// Sets a variable, for a server that is started. Its value is shown nowhere.
    #[must_use]
    pub fn env(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.process(|process| {
            process.env.insert(name.into(), Secret::new(value.into()));
        })
    }

    /// Lets variables of the host through, for a server that is started.
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

    /// Sets the folder to start in, for a server that is started.
    #[must_use]
    pub fn cwd(self, folder: impl Into<PathBuf>) -> Self {
        self.process(|process| process.cwd = Some(folder.into()))
    }

    /// Adds a header, for a server at a URL. Its value is shown nowhere.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Endpoint::Remote(remote) = &mut self.endpoint {
            remote
                .headers
                .push((name.into(), Secret::new(value.into())));
        }
        self
    }

    /// Sets how the server is used.
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
    /// What a command starts.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            ..Self::default()
        }
    }
}

impl Remote {
    /// What is at a URL.
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
