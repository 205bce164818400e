//! Opens a host, for a command or for a whole prompt.

use std::path::PathBuf;
use std::sync::Arc;

use switchboard::auth::TokenStore;
use switchboard::config::{Config, Problem};
use switchboard::host::{Host, HostBuilder};
use switchboard::protocol::LogLevel;
use switchboard::session::CancelReason;
use switchboard::text::sanitise_line;
use switchboard::transport::{Environment, Launch};
use switchboard::{Deadline, Timeouts};

use super::{ConfigFiles, Hosting, Selector};
use crate::args::Connection;
use crate::ask::{self, Attendant};
use crate::daemon::{self, Starter};
use crate::described;
use crate::level_notice;
use crate::login::LoginWords;
use crate::lost_records;
use crate::permission::Actor;
use crate::problems;
use crate::remote;
use crate::report::{Failure, Report};
use crate::sampling;
use crate::scope::places;
use crate::screen::{Screen, talk};
use crate::secrets;
use crate::state;
use crate::style::Style;
use crate::trace::{self, Trace};

/// The inputs that a host is built from, and the screen for its warnings.
#[derive(Clone, Copy)]
pub(crate) struct HostSource<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) environment: &'a Environment,
    pub(crate) screen: &'a Screen,
    /// Further settings of the host, for a command that has some.
    pub(crate) adjust: Option<&'a Adjust<'a>>,
    pub(crate) starter: Starter,
}

/// Adds settings that depend on the config files.
pub(crate) type Adjust<'a> = dyn Fn(HostBuilder, &ConfigFiles) -> Result<HostBuilder, Failure> + 'a;

/// An opened host, and the trace that starts to be written when the work begins.
pub(crate) struct Opened<'a> {
    pub(crate) hosting: Hosting<'a>,
    pub(crate) trace: Option<Trace>,
}

impl<'a> HostSource<'a> {
    /// Builds a host for the servers of a command. Nothing is started.
    ///
    /// # Errors
    /// Fails if a server is unknown, or its description is invalid.
    pub(crate) fn open(self, selector: Selector<'_>) -> Result<Opened<'a>, Failure> {
        // The store of tokens first: described servers and configured ones use the same.
        let tokens = self.tokens();
        // Who acts is fixed before anything is read for them.
        let actor = Actor::of(&self.connection.acting);
        let attendant = Arc::new(Attendant::new(self, actor.was_refused())?);
        let builder = self.builder(&tokens)?.operator(Arc::clone(&attendant));
        // The tap is installed before the host is built, so that it sees the first message.
        let (builder, trace) = match trace::open(self.connection.trace.as_deref())? {
            Some((tap, trace)) => (builder.tap(&tap), Some(trace)),
            None => (builder, None),
        };
        let hosting = if self.connection.describes_server() {
            self.open_described(selector, builder, actor, tokens, &attendant)?
        } else {
            self.open_configured(selector, builder, actor, tokens, &attendant)?
        };
        // Before anything connects: the level is sent when a server is connected.
        if let Some(level) = hosting.log_level {
            hosting.want_logs(None, level)?;
        }
        Ok(Opened { hosting, trace })
    }

    /// Applies the settings that are the same for all servers.
    fn builder(self, tokens: &Arc<dyn TokenStore>) -> Result<HostBuilder, Failure> {
        let Self {
            connection,
            environment,
            ..
        } = self;
        let mut builder = Host::builder()
            .environment(environment)
            .secrets(&secrets::of_connection(connection, environment))
            .eras(&state::eras(environment))
            .token_store(Arc::clone(tokens))
            .trust(state::trust(environment));
        if let Some(profile) = &connection.profile {
            builder = builder.login_profile(profile);
        }
        // Checked here, so that a misspelled folder is an error of the command line.
        if let Some(roots) = self.roots()? {
            builder = builder.roots(roots);
        }
        if ask::has_prompt() {
            // The prompt shows log messages as news.
            builder = builder.log_level(LogLevel::Info);
        }
        if let Some(time) = connection.timeout {
            builder = builder.timeouts(Timeouts::all(Deadline::within(time)));
        }
        if let Some(protocol) = connection.protocol {
            builder = builder.protocol(protocol);
        }
        // Without the path of this program there is no keeper, and servers are ended by their process group.
        if let Ok(program) = std::env::current_exe() {
            builder = builder.keeper(program);
        }
        if let Some(ledger) = state::ledger(environment) {
            builder = builder.ledger(&ledger);
        }
        if let Some(launcher) = self.launcher() {
            builder = builder.launcher(launcher);
        }
        Ok(builder)
    }

    /// Returns what starts the servers in place of this process.
    pub(crate) fn launcher(self) -> Option<Arc<dyn Launch>> {
        daemon::launcher(self.starter, self.connection, self.environment, self.screen)
    }

    /// Opens the store of logins. A warning says once, when the key is made, that it is kept in a file.
    fn tokens(self) -> Arc<dyn TokenStore> {
        // Scripts read stderr too: the warning is for people.
        let is_silent = self.screen.is_json() || self.screen.is_quiet();
        state::tokens(self.environment, move |why| {
            if !is_silent {
                let label = Style::of_stderr().warning("warning:");
                let why = sanitise_line(why).into_owned();
                talk(&format!(
                    "{label} the keyring does not work, so the key of your logins is in a file that only you can read: {why}\n"
                ));
            }
        })
    }

    /// Returns the folders of `--root`.
    fn roots(self) -> Result<Option<&'a [PathBuf]>, Failure> {
        let roots = self.connection.root.as_slice();
        match roots.iter().find(|root| !root.is_dir()) {
            Some(missing) => {
                let report = Report::usage("--root: the folder does not exist");
                Err(report.fact("folder", missing.display().to_string()))
            }
            None => Ok(Some(roots).filter(|roots| !roots.is_empty())),
        }
    }

    /// Builds a host with the server of `--stdio` or `--url`.
    fn open_described(
        self,
        selector: Selector<'_>,
        builder: HostBuilder,
        actor: Actor,
        tokens: Arc<dyn TokenStore>,
        attendant: &Arc<Attendant>,
    ) -> Result<Hosting<'a>, Failure> {
        // Only the policy of the agent comes from the config files.
        let config = self.agent_config()?;
        let builder = actor.introduce(builder, &config, self);
        let login = remote::login(self.connection, &tokens, self.environment)?;
        let (builder, name) = described::add(builder, selector.name(), &login, self)?;
        let builder = sampling::add(builder, None, self, attendant)?;
        Ok(Hosting {
            described: Some(name),
            described_login: login,
            ..self.hosting(builder, actor, tokens)?
        })
    }

    /// Loads the config files for the policy of the agent that acts beside `--stdio` or `--url`. Their
    /// servers are not used.
    fn agent_config(self) -> Result<Config, Failure> {
        // Without an agent no policy is needed, and no file is read.
        if self.connection.acting.agent.is_none() {
            return Ok(Config::default());
        }
        let config = Config::load(&places(None, self.environment)?);
        let own = |problem: &&&Problem| !problem.layer().needs_approval();
        match config.file_errors().iter().find(own) {
            Some(problem) => Err(problems::report(problem)),
            None => Ok(config),
        }
    }

    /// Builds a host with the servers of config files, or with the bundled one.
    fn open_configured(
        self,
        selector: Selector<'_>,
        builder: HostBuilder,
        actor: Actor,
        tokens: Arc<dyn TokenStore>,
        attendant: &Arc<Attendant>,
    ) -> Result<Hosting<'a>, Failure> {
        let places = places(self.connection.config.as_deref(), self.environment)?;
        let files = ConfigFiles::load(&places);
        // The policy before the servers: no server is ever there without it.
        let mut builder = actor.introduce(builder, &files.config, self);
        if let Some(adjust) = self.adjust {
            builder = adjust(builder, &files)?;
        }
        files.warn(selector, actor.is_agent(), self.screen);
        // Decided before the host is built: an unknown server is an error of the command line.
        let has_demo = self.has_demo(selector, &files, &actor)?;
        let builder = sampling::add(builder, Some(&files.config), self, attendant)?;
        let mut builder = builder.workspace(places.folder()).config(&files.config);
        if let Some(home) = places.home() {
            builder = builder.home(home);
        }
        if has_demo {
            builder = described::add_demo(builder, self)?;
        }
        let hosting = Hosting {
            files,
            ..self.hosting(builder, actor, tokens)?
        };
        // After the host is built: the warning names only servers that it has.
        lost_records::warn_of_loss(&hosting, self.environment);
        level_notice::tell_once(&hosting, &hosting.files.config, self.environment);
        Ok(hosting)
    }

    /// Returns true if the bundled server is among those of the command.
    ///
    /// # Errors
    /// Fails if the command is about an unknown server, or has options that do not apply to configured
    /// servers.
    fn has_demo(
        self,
        selector: Selector<'_>,
        files: &ConfigFiles,
        actor: &Actor,
    ) -> Result<bool, Failure> {
        let has_file = self.connection.config.is_some();
        let is_meant = files.mean_demo(selector, has_file);
        if !is_meant {
            files.check_known(selector, actor.is_agent())?;
        }
        let has_demo = is_meant && !files.define_demo();
        // Options that would be ignored are errors.
        if !has_demo && self.has_process_options() {
            let report = Report::usage("--env, --env-passthrough and --cwd need --stdio");
            return Err(report.hint("write them into the server's entry in its config file"));
        }
        Ok(has_demo)
    }

    fn has_process_options(self) -> bool {
        let connection = self.connection;
        !connection.env.is_empty()
            || !connection.env_passthrough.is_empty()
            || connection.cwd.is_some()
    }

    /// Builds the host and its context.
    fn hosting(
        self,
        builder: HostBuilder,
        actor: Actor,
        tokens: Arc<dyn TokenStore>,
    ) -> Result<Hosting<'a>, Failure> {
        Ok(Hosting {
            host: builder.build()?,
            screen: self.screen,
            described: None,
            files: ConfigFiles::default(),
            actor,
            reason: CancelReason::new("cancelled by the client"),
            log_level: self.connection.log_level,
            tokens,
            described_login: None,
            words: LoginWords::of(self.connection),
            login_time: Arc::default(),
            environment: self.environment.clone(),
        })
    }
}
