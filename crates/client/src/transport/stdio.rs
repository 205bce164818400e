//! A server as a child process: newline-delimited JSON-RPC on its stdin and stdout.
//!
//! The child gets a cleared environment with a short list of variables, nothing but the three
//! standard streams, and a session of its own, so that it and its children can be ended together.
//! Its stderr is always read, so that it never blocks there.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_core::environment::{self, Environment, Family};
use switchboard_core::limits::Limits;
use switchboard_core::secret::{Secret, mask_args};
use switchboard_core::spec::ServerName;
use switchboard_process::leftovers::{Ledger, Recording};
use switchboard_process::{
    Launch, Running, Search, Start, StartError, add_details, keeper, resolve, start,
};

use super::{Connect, ConnectError, Connecting, Ends, Link, Peer};

/// Starts a server as a child process.
///
/// Each connection starts a new process. The process ends when the link is dropped or closed: stdin
/// is closed first, then it is terminated and killed with its children if that is not enough. With
/// a [`Stdio::keeper`] that holds even if the host is killed.
#[derive(Clone)]
pub struct Stdio {
    command: String,
    program: Option<PathBuf>,
    args: Vec<String>,
    env: BTreeMap<String, Secret<String>>,
    passthrough: Vec<String>,
    cwd: Option<PathBuf>,
    /// The environment of the host; that of the process when it is started, where there is none.
    environment: Option<Environment>,
    limits: Limits,
    keeper: Option<PathBuf>,
    record: Option<(Ledger, ServerName)>,
    launcher: Option<Arc<dyn Launch>>,
}

impl Stdio {
    /// Creates a transport that runs `command`: a path, or a name to look up in `PATH`.
    ///
    /// The child gets the safe variables of this process: `PATH`, `HOME`, `LANG` and the like, and
    /// nothing with a secret in it. [`Stdio::clean_env`] gives it none,
    /// [`Stdio::environment`] takes them from elsewhere.
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            program: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            passthrough: Vec::new(),
            cwd: None,
            environment: None,
            limits: Limits::default(),
            keeper: None,
            record: None,
            launcher: None,
        }
    }

    /// Sets the program that the command stands for, if it was looked up before: it is not looked
    /// up again.
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

    /// Sets a variable for the child. The value is a secret: logs and errors do not show it.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), Secret::new(value.into()));
        self
    }

    /// Passes variables of the host on to the child, by name.
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

    /// Sets the environment that the safe variables, and those that are let through, are taken from,
    /// in place of that of this process.
    #[must_use]
    pub fn environment(mut self, environment: &Environment) -> Self {
        self.environment = Some(environment.clone());
        self
    }

    /// Starts the child with the variables that [`Stdio::env`] sets and no others. Without a `PATH`
    /// among them, the command has to be a path.
    #[must_use]
    pub fn clean_env(self) -> Self {
        self.environment(&Environment::default())
    }

    /// Sets the limits of the connection.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Puts a keeper between the host and the server, so that nothing of the server survives the
    /// host, however the host dies: see [`keeper`].
    ///
    /// `program` is an executable whose `main` calls [`keeper::run_if_asked`] first, usually
    /// [`std::env::current_exe`], which is found even after its file was deleted or replaced. On
    /// platforms without keepers the server is started without one.
    #[must_use]
    pub fn keeper(mut self, program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        self.keeper = Some(keeper::running_program(&program).unwrap_or(program));
        self
    }

    /// Records the running server in a ledger, so that a later run can find it if this one dies
    /// without ending it: see [`leftovers`](super::leftovers).
    #[must_use]
    pub fn record(mut self, ledger: &Ledger, server: &ServerName) -> Self {
        self.record = Some((ledger.clone(), server.clone()));
        self
    }

    /// Lets another program of the user start the process, if it can.
    #[doc(hidden)]
    #[must_use]
    pub fn launcher(mut self, launcher: Arc<dyn Launch>) -> Self {
        self.launcher = Some(launcher);
        self
    }

    /// The variables that the child gets, of those of the host.
    fn child_environment(&self, host: &Environment) -> BTreeMap<String, Secret<String>> {
        let mut variables = host.for_child(&self.passthrough, Family::HERE);
        for (name, value) in &self.env {
            environment::set(&mut variables, name, value.clone(), Family::HERE);
        }
        variables
    }

    async fn start(&self) -> Result<Link, ConnectError> {
        // The variables first: the program is looked up in the PATH that the child will have.
        let of_process;
        let host = match &self.environment {
            Some(environment) => environment,
            None => {
                of_process = Environment::of_process();
                &of_process
            }
        };
        let variables = self.child_environment(host);
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
        .map_err(|error| add_details(error, self.cwd.as_deref()))?;
        // A missing folder would otherwise be reported by the system as a missing program.
        if let Some(folder) = self.cwd.as_deref().filter(|folder| !folder.is_dir()) {
            let path = folder.to_owned();
            return Err(StartError::NoFolder { path }.into());
        }
        // Make the path absolute: the child resolves it after changing into its folder.
        let program = std::path::absolute(&program).unwrap_or(program);
        let wanted = Start {
            program,
            args: self.args.clone(),
            network: host.network_variables(&variables, Family::HERE),
            variables,
            cwd: self.cwd.clone(),
            limits: self.limits.clone(),
            keeper: self.keeper.clone(),
            record: self.record.as_ref().map(|(ledger, server)| Recording {
                ledger: ledger.clone(),
                server: server.clone(),
                command: self.command.clone(),
            }),
        };
        let launched = match &self.launcher {
            Some(launcher) => launcher.launch(&wanted).await,
            None => None,
        };
        let Running {
            process,
            reader,
            writer,
            first_id,
        } = match launched {
            Some(running) => running,
            None => start(&wanted).await?,
        };
        Ok(Link {
            ends: Ends::Streams { reader, writer },
            peer: Peer::of(process),
            first_id,
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
