//! A server as a child process: newline-delimited JSON-RPC on its stdin and stdout.
//!
//! The child gets a cleared environment with a short list of variables, nothing but the three
//! standard streams, and a session of its own, so that it and its children can be ended together.
//! Its stderr is always read, so that it never blocks there.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use switchboard_core::environment::{self, Environment, Family};
use switchboard_core::limits::Limits;
use switchboard_core::secret::{Secret, mask_args};
use switchboard_core::spec::ServerName;
use switchboard_process::leftovers::{Ledger, Recording};
use switchboard_process::{Running, Search, Start, StartError, closer, keeper, resolve, start};

use super::{Connect, ConnectError, Connecting, Ends, Link, Peer};

/// Starts a server as a child process.
#[derive(Clone)]
pub struct Stdio {
    command: String,
    program: Option<PathBuf>,
    args: Vec<String>,
    env: BTreeMap<String, Secret<String>>,
    passthrough: Vec<String>,
    cwd: Option<PathBuf>,
    host: Environment,
    limits: Limits,
    keeper: Option<PathBuf>,
    record: Option<(Ledger, ServerName)>,
}

impl Stdio {
    /// A server that `command` starts: a path, or a name to look up in `PATH`.
    ///
    /// The host's environment reaches the library only as a value: see [`Stdio::host`].
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            program: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            passthrough: Vec::new(),
            cwd: None,
            host: Environment::default(),
            limits: Limits::default(),
            keeper: None,
            record: None,
        }
    }

    /// Says which program the command is, where that was looked up before: it is not looked up again.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Adds arguments. They reach the program as they are: no shell reads them.
    #[must_use]
    pub fn args<I, S>(mut self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable for the child. Its value is a secret to everything but the child.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), Secret::new(value.into()));
        self
    }

    /// Lets variables of the host through to the child, by name.
    #[must_use]
    pub fn env_passthrough<I, S>(mut self, names: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        self.passthrough.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the folder to start in.
    #[must_use]
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = Some(folder.into());
        self
    }

    /// Gives the environment of the host, from which the safe variables are taken.
    #[must_use]
    pub fn host(mut self, environment: &Environment) -> Self {
        self.host = environment.clone();
        self
    }

    /// Sets the bounds of the connection.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Puts a keeper between the host and the server, so that nothing of it runs on when the host
    /// dies, by whatever cause: see [`keeper`].
    ///
    /// `program` is an executable whose `main` calls [`keeper::run_if_asked`] first, mostly
    /// [`std::env::current_exe`]; that one is found also after its file was deleted or replaced.
    /// Where there are no keepers, the server is started without one.
    #[must_use]
    pub fn keeper(mut self, program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        self.keeper = Some(keeper::running_program(&program).unwrap_or(program));
        self
    }

    /// Writes down that the server runs, for as long as it does, so that a later run can find it
    /// if this one dies and cannot end it: see [`leftovers`](super::leftovers).
    #[must_use]
    pub fn record(mut self, ledger: &Ledger, server: &ServerName) -> Self {
        self.record = Some((ledger.clone(), server.clone()));
        self
    }

    /// The variables that the child gets.
    fn child_environment(&self) -> BTreeMap<String, Secret<String>> {
        let mut variables = self.host.for_child(&self.passthrough, Family::HERE);
        for (name, value) in &self.env {
            environment::set(&mut variables, name, value.clone(), Family::HERE);
        }
        variables
    }

    async fn start(&self) -> Result<Link, ConnectError> {
        let variables = self.child_environment();
        let variable = |name: &str| {
            let value = environment::get(&variables, name, Family::HERE);
            value.map(|value| value.expose().as_str())
        };
        let found = self.program.as_ref().and_then(|program| program.to_str());
        let program = resolve(&Search {
            command: found.unwrap_or(&self.command),
            path: variable("PATH"),
            pathext: variable("PATHEXT"),
            cwd: self.cwd.as_deref(),
        })
        .map_err(|error| closer(error, self.cwd.as_deref()))?;
        if let Some(folder) = self.cwd.as_deref().filter(|folder| !folder.is_dir()) {
            let path = folder.to_owned();
            return Err(StartError::NoFolder { path }.into());
        }
        // The child is in its folder when it looks for the program, and would look from there.
        let program = std::path::absolute(&program).unwrap_or(program);
        let running = start(&Start {
            program,
            args: self.args.clone(),
            network: self.host.network_variables(&variables, Family::HERE),
            variables,
            cwd: self.cwd.clone(),
            limits: self.limits.clone(),
            keeper: self.keeper.clone(),
            record: self.record.as_ref().map(|(ledger, server)| Recording {
                ledger: ledger.clone(),
                server: server.clone(),
                command: self.command.clone(),
            }),
        })
        .await?;
        let Running {
            process,
            reader,
            writer,
        } = running;
        Ok(Link {
            ends: Ends::Streams { reader, writer },
            peer: Peer::of(process),
        })
    }

    /// The command as it was written.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The folder to start in.
    pub fn folder(&self) -> Option<&Path> {
        self.cwd.as_deref()
    }
}

impl Connect for Stdio {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(self.start())
    }

    fn identity(&self) -> String {
        let mut identity = format!("stdio:{}", self.command);
        if !self.args.is_empty() {
            identity.push(':');
            identity.push_str(&mask_args(&self.args).join(" "));
        }
        identity
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdio")
            .field("command", &self.command)
            .field("args", &mask_args(&self.args))
            .field("env", &self.env)
            .field("env_passthrough", &self.passthrough)
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
