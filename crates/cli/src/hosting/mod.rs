//! The host that a command works with: its servers come from config files, or from `--stdio` or `--url`.
//!
//! [`HostSource::open`] builds a host from the command line (`open`), [`ConfigFiles`] owns the config files
//! and their problems (`files`), and a [`Hosting`] is handed to the command: the host, the caller that the
//! command acts as, and the screen that it prints on.

mod files;
mod open;

pub(crate) use files::{ConfigFiles, advise_adding, unknown_server, with_hint};
pub(crate) use open::{HostSource, Opened};

use std::sync::Arc;

use switchboard::auth::{AuthError, Authorizer, TokenStore};
use switchboard::host::{Host, View};
use switchboard::protocol::LogLevel;
use switchboard::session::CancelReason;
use switchboard::spec::ServerName;
use switchboard::transport::Environment;
use switchboard::{CallOptions, Error};

use crate::args::Connection;
use crate::daemon::Starter;
use crate::elicit;
use crate::exit::Exit;
use crate::journal::Journal;
use crate::lifecycle::run_until_signal;
use crate::login::{self, LoginTime, LoginWords};
use crate::permission::Actor;
use crate::report::Failure;
use crate::screen::Screen;

/// The servers that a command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selector<'a> {
    /// The server of this name.
    Server(&'a str),
    /// All configured servers.
    All,
    /// Any server: the host finds the one that has the item.
    Any,
}

impl<'a> Selector<'a> {
    /// Selects the server of that name, or all servers without a name.
    pub(crate) fn from_name(name: Option<&'a str>) -> Self {
        name.map_or(Self::All, Self::Server)
    }

    /// Returns the name if one server is selected.
    pub(crate) fn name(self) -> Option<&'a str> {
        match self {
            Self::Server(name) => Some(name),
            Self::All | Self::Any => None,
        }
    }
}

/// A host with the context of the command that uses it: caller, config files and screen.
pub(crate) struct Hosting<'a> {
    pub(crate) host: Host,
    pub(crate) screen: &'a Screen,
    /// The server of `--stdio` or `--url`.
    pub(crate) described: Option<ServerName>,
    /// The config files; empty if the command line describes the server.
    pub(crate) files: ConfigFiles,
    /// The caller that the command acts as.
    pub(crate) actor: Actor,
    /// The reason sent to a server when a request is cancelled.
    pub(crate) reason: CancelReason,
    /// Minimum level of log messages to show.
    pub(crate) log_level: Option<LogLevel>,
    /// The store of logins.
    pub(crate) tokens: Arc<dyn TokenStore>,
    /// The login of the server of `--url`.
    pub(crate) described_login: Option<Authorizer>,
    /// The words of a command that logs in to the same servers.
    pub(crate) words: LoginWords,
    /// The time that the person has spent on logins.
    pub(crate) login_time: Arc<LoginTime>,
    pub(crate) environment: Environment,
}

impl Hosting<'_> {
    /// Returns the same host with another screen.
    pub(crate) fn shown_on<'s>(&self, screen: &'s Screen) -> Hosting<'s> {
        Hosting {
            host: self.host.clone(),
            screen,
            described: self.described.clone(),
            files: self.files.clone(),
            actor: self.actor.clone(),
            reason: self.reason.clone(),
            log_level: self.log_level,
            tokens: Arc::clone(&self.tokens),
            described_login: self.described_login.clone(),
            words: self.words.clone(),
            login_time: Arc::clone(&self.login_time),
            environment: self.environment.clone(),
        }
    }

    /// Returns the login of a server.
    ///
    /// # Errors
    /// Fails if it has none, or if it must not be used.
    pub(crate) async fn authorizer(&self, server: &str) -> Result<Authorizer, Error> {
        match &self.described_login {
            Some(login) if self.one(None) == Some(server) => Ok(login.clone()),
            _ => self.host.authorizer(server).await,
        }
    }

    /// Returns true if a server is reached by URL.
    pub(crate) fn is_remote(&self, server: &str) -> bool {
        let entry = self.files.config.get(server);
        entry.is_some_and(|entry| entry.value().get("url").is_some())
    }

    /// Makes the report of a failed login.
    pub(crate) fn login_failure(&self, error: &AuthError, server: &str) -> Failure {
        login::failure(error, server, &self.words)
    }

    /// Returns the one server that a command is about: the one that the command line describes, or the one
    /// that it names.
    pub(crate) fn one<'n>(&'n self, named: Option<&'n str>) -> Option<&'n str> {
        self.described.as_ref().map(ServerName::as_str).or(named)
    }

    /// Returns the options of a request, with the reason to send if it is cancelled.
    pub(crate) fn options(&self) -> CallOptions {
        CallOptions::default().reason(&self.reason)
    }

    /// Returns the caller's view: everything for the person, the granted items for an agent.
    pub(crate) fn view(&self) -> View {
        self.host.view(self.actor.caller.clone())
    }

    /// Adds the place of the server's entry to a report, if the caller may know of the server.
    pub(crate) fn with_location(&self, report: Failure) -> Failure {
        let report = report.with_login_words(&self.words);
        let name = report
            .named_server()
            .and_then(|name| ServerName::parse(name).ok());
        match name {
            Some(name) if !self.is_agent() || self.knows(&name) => {
                report.with_location(&self.files.config)
            }
            _ => report,
        }
    }

    /// Sets the log level that one server, or all of them, is asked for when it is connected.
    ///
    /// # Errors
    /// Fails if the host no longer has one of the servers.
    pub(crate) fn want_logs(&self, one: Option<&str>, level: LogLevel) -> Result<(), Failure> {
        let servers = self.host.servers();
        let names = servers.iter().map(|status| status.name.as_str());
        for name in names.filter(|name| one.is_none_or(|one| one == *name)) {
            self.host.want_log_level(name, level)?;
        }
        Ok(())
    }

    /// Makes the screen and questions redact the secrets of the servers that were connected to.
    pub(crate) fn learn(&self) {
        let secrets = self.host.secrets();
        elicit::learn(&secrets);
        self.screen.learn(&secrets);
    }

    /// Fails if there are broken files and no server is left; otherwise shows that they are broken. With
    /// `--json` it is part of the one error at the end: [`Hosting::fail`], [`Hosting::finish`].
    ///
    /// # Errors
    /// Returns the report of the broken files if no server is left to work with.
    pub(crate) fn check_files(&self) -> Result<(), Failure> {
        match self.files.broken_report(self.is_agent()) {
            Some(report) if self.files.config.entries().is_empty() => Err(report),
            Some(report) if !self.screen.is_json() => {
                self.screen.fail(&report);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Shows the report of a failed command, and returns the exit code.
    pub(crate) fn fail(&self, report: Failure) -> Exit {
        // Learn secrets first: the report may quote them.
        self.learn();
        let mut report = self.with_location(report);
        if self.screen.is_json() {
            let files = self.files.broken_files().iter();
            report = files.fold(report, |report, problem| {
                report.fact("config file", problem.to_string())
            });
        }
        if !self.files.broken_files().is_empty() && report.is_about_something_missing() {
            // The missing thing may be in the broken file.
            report.exit = Exit::Configuration;
        }
        self.screen.fail(&report)
    }

    /// Returns the exit code of a command that succeeded. A code of its own, as that of `verify`, wins over
    /// that of broken files.
    pub(crate) fn finish(&self, exit: Exit) -> Exit {
        let Some(mut report) = self.files.broken_report(self.is_agent()) else {
            return exit;
        };
        // The command's own code says more than a broken file.
        if exit != Exit::Ok {
            report.exit = exit;
        }
        if self.screen.is_json() {
            self.screen.fail(&report)
        } else {
            report.exit
        }
    }
}

/// Opens a host, runs `work` on it, and closes all servers.
pub(crate) fn with_host(
    starter: Starter,
    selector: Result<Selector<'_>, Failure>,
    connection: &Connection,
    work: impl AsyncFnOnce(&Hosting<'_>) -> Result<Exit, Failure>,
) -> Exit {
    let environment = Environment::of_process();
    let screen = Screen::new(connection, &environment);
    let source = HostSource {
        connection,
        environment: &environment,
        screen: &screen,
        adjust: None,
        starter,
    };
    let opened = selector.and_then(|selector| {
        // Opening starts no server: a mistake in the config fails before anything runs.
        let Opened { hosting, trace } = source.open(selector)?;
        // Before the journal is opened: a command that cannot begin writes nothing.
        hosting.check_files()?;
        let journal = Journal::open(connection.events.as_deref(), trace, &hosting)?;
        Ok((hosting, journal))
    });
    match opened {
        Ok((hosting, journal)) => run_until_signal(&hosting, journal, work(&hosting)),
        Err(report) => screen.fail(&report),
    }
}
