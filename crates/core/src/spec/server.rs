//! The description of one server.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{
    MissingVariable, OAuth, Origin, ParseServerNameError, ServerName, Settings, TransportKind,
};
use crate::secret::{Redactor, SafeUrl, Secret};

/// The description of one server, with all references expanded.
///
/// ```
/// use std::time::Duration;
/// use switchboard_core::spec::ServerSpec;
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let time = ServerSpec::stdio("time", "uvx")?.args(["mcp-server-time"]);
/// let wiki = ServerSpec::http("wiki", "https://example.com/mcp")?
///     .header("Authorization", "Bearer x")
///     .timeout(Duration::from_secs(60))
///     .block_tools(["delete_*"]);
/// # drop((time, wiki));
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
///
/// It is serialised as an entry of a config file with the name beside it. Secrets leave as references to
/// variables, `${HUB_TOKEN}`, which [`ServerSpec::secret_variables`] names; [`ServerSpec::in_clear`] is for
/// the text with them in it. A description that was read back has the references, for
/// [`ServerSpec::fill_variables`] to fill in. The origin is not part of it, nor are predicates of the program,
/// which a policy has.
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
    /// The builder methods that were called and have no meaning for this kind of server.
    pub(super) unfit: Vec<&'static str>,
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
    /// True if it gets the variables of `env` alone, and none of the host's.
    pub is_env_clean: bool,
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
    /// True if its headers may replace those that the protocol sets.
    pub override_headers: bool,
    /// True if redirects within the origin are followed. No other redirect ever is.
    pub follow_redirects: bool,
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
    /// A variable that the description refers to is not set.
    #[error(transparent)]
    Variable(#[from] MissingVariable),
    /// A builder method was called that has no meaning for this kind of server.
    #[error("`{method}` has no meaning for a server over {transport}")]
    Unfit {
        /// The method.
        method: &'static str,
        /// How the server is reached.
        transport: TransportKind,
    },
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
            unfit: Vec::new(),
        }
    }

    /// Checks that every builder method that was called has a meaning for this kind of server. A host
    /// checks each server that it is given.
    ///
    /// # Errors
    /// When one has none, such as a header of a server that is started as a process.
    pub fn check(&self) -> Result<(), SpecError> {
        match self.unfit.first() {
            Some(method) => Err(SpecError::Unfit {
                method,
                transport: self.transport(),
            }),
            None => Ok(()),
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

    /// The identifier of the server for logs: `stdio:CMD:ARGS`, `http:URL` or `sse:URL`, with secrets masked.
    /// Errors and statuses of a host have the same one.
    ///
    /// ```
    /// use switchboard_core::spec::ServerSpec;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let spec = ServerSpec::stdio("hub", "npx")?.args(["hub", "--token", "s3cret"]);
    /// assert_eq!(spec.identifier(), "stdio:npx:hub --token ***");
    /// # Ok(())
    /// # }
    /// ```
    pub fn identifier(&self) -> String {
        let redact = |text: String, secrets: &[Secret<String>]| {
            let secrets: Redactor = secrets.iter().map(Secret::expose).collect();
            secrets.redact(&text).into_owned()
        };
        match &self.endpoint {
            Endpoint::Process(process) => {
                let mut text = format!("stdio:{}", process.command);
                if !process.args.is_empty() {
                    text.push(':');
                    text.push_str(&crate::secret::mask_args(&process.args).join(" "));
                }
                redact(text, &process.secrets)
            }
            Endpoint::Remote(remote) => {
                let kind = match remote.transport {
                    TransportKind::Sse => "sse",
                    _ => "http",
                };
                redact(format!("{kind}:{}", remote.url), &remote.secrets)
            }
        }
    }

    /// The transport of the server.
    pub fn transport(&self) -> TransportKind {
        match &self.endpoint {
            Endpoint::Process(_) => TransportKind::Stdio,
            Endpoint::Remote(remote) => remote.transport,
        }
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
            override_headers: false,
            follow_redirects: true,
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
            .field("is_env_clean", &self.is_env_clean)
            .field("cwd", &self.cwd)
            .finish()
    }
}
