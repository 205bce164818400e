//! The servers that a command works with: those of config files, or the one that the command line
//! describes itself.
//!
//! [`HostSource::open`] makes a host of what the command line says (`open`), [`ConfigFiles`] owns what
//! the config files say and what is wrong with them (`files`), and a [`Hosting`] is handed to the command:
//! an open host, as whom the command acts on it, and where it shows what comes of that.

mod files;
mod open;

pub(crate) use files::{ConfigFiles, advise_adding, unknown_server};
pub(crate) use open::{HostSource, Opened};

use switchboard::CallOptions;
use switchboard::host::{Host, View};
use switchboard::protocol::LogLevel;
use switchboard::session::CancelReason;
use switchboard::spec::ServerName;
use switchboard::transport::Environment;

use crate::args::Connection;
use crate::attend::attend;
use crate::elicit;
use crate::exit::Exit;
use crate::journal::Journal;
use crate::permission::Actor;
use crate::report::Failure;
use crate::screen::Screen;

/// Which servers a command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About<'a> {
    /// The one of this name.
    Server(&'a str),
    /// All that are configured.
    All,
    /// The one that has what is asked for.
    Any,
}

impl<'a> About<'a> {
    /// The server of that name, or all where there is none.
    pub(crate) fn named(name: Option<&'a str>) -> Self {
        name.map_or(Self::All, Self::Server)
    }

    /// The name of the one server, where it is about one.
    pub(crate) fn name(self) -> Option<&'a str> {
        match self {
            Self::Server(name) => Some(name),
            Self::All | Self::Any => None,
        }
    }
}

/// A command's servers, and where it shows what comes of them.
pub(crate) struct Hosting<'a> {
    pub(crate) host: Host,
    pub(crate) screen: &'a Screen,
    /// The server of `--stdio` or `--url`.
    pub(crate) described: Option<ServerName>,
    /// The config files; none where the command line describes a server.
    pub(crate) files: ConfigFiles,
    /// As whom the command acts.
    pub(crate) actor: Actor,
    /// What a server is told when something is given up that it was asked for.
    pub(crate) reason: CancelReason,
    /// From which level on it is shown what servers log.
    pub(crate) log_level: Option<LogLevel>,
}

impl Hosting<'_> {
    /// The same servers, with what comes of them shown elsewhere.
    pub(crate) fn shown_on<'s>(&self, screen: &'s Screen) -> Hosting<'s> {
        Hosting {
            host: self.host.clone(),
            screen,
            described: self.described.clone(),
            files: self.files.clone(),
            actor: self.actor.clone(),
            reason: self.reason.clone(),
            log_level: self.log_level,
        }
    }

    /// The one server that a command is about: the one that the command line describes, or the one that
    /// it names.
    pub(crate) fn one<'n>(&'n self, named: Option<&'n str>) -> Option<&'n str> {
        self.described.as_ref().map(ServerName::as_str).or(named)
    }

    /// The options of a request: its server is told why it is given up.
    pub(crate) fn options(&self) -> CallOptions {
        CallOptions::default().reason(&self.reason)
    }

    /// What the caller can use: the person everything, an agent what it was granted.
    pub(crate) fn view(&self) -> View {
        self.host.view(self.actor.caller.clone())
    }

    /// Says in a report where its server is described, as far as the caller may know of the server.
    pub(crate) fn located(&self, report: Failure) -> Failure {
        let name = report.about().and_then(|name| ServerName::parse(name).ok());
        match name {
            Some(name) if !self.is_agent() || self.knows(&name) => {
                report.located(&self.files.config)
            }
            _ => report,
        }
    }

    /// Has a server, or all of them, log from this level on when it is connected to.
    ///
    /// # Errors
    /// When a server is not there, which it is.
    pub(crate) fn want_logs(&self, one: Option<&str>, level: LogLevel) -> Result<(), Failure> {
        let servers = self.host.servers();
        let names = servers.iter().map(|status| status.name.as_str());
        for name in names.filter(|name| one.is_none_or(|one| one == *name)) {
            self.host.want_log_level(name, level)?;
        }
        Ok(())
    }

    /// Learns the secrets of the servers that were connected to.
    pub(crate) fn learn(&self) {
        let secrets = self.host.secrets();
        elicit::learn(&secrets);
        self.screen.learn(&secrets);
    }

    /// Refuses to go on where files cannot be used and the others have no server; else shows that they cannot be.
    /// A program finds it in the one error that it reads at the end: [`Hosting::fail`], [`Hosting::finish`].
    ///
    /// # Errors
    /// When no server is left to work with.
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

    /// Shows why a command failed, and says what the process is to return.
    pub(crate) fn fail(&self, report: Failure) -> Exit {
        self.learn();
        let mut report = self.located(report);
        if self.screen.is_json() {
            let files = self.files.broken().iter();
            report = files.fold(report, |report, problem| {
                report.fact("config file", problem.to_string())
            });
        }
        if !self.files.broken().is_empty() && report.is_about_something_missing() {
            // It may be in a file that could not be read.
            report.exit = Exit::Configuration;
        }
        self.screen.fail(&report)
    }

    /// Returns the exit code of a command that was done: what it found, as `verify` does, has a code of
    /// its own.
    pub(crate) fn finish(&self, exit: Exit) -> Exit {
        let Some(mut report) = self.files.broken_report(self.is_agent()) else {
            return exit;
        };
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

/// Does something with servers, and leaves nothing of them behind.
pub(crate) fn with_host(
    about: Result<About<'_>, Failure>,
    connection: &Connection,
    work: impl AsyncFnOnce(&Hosting<'_>) -> Result<Exit, Failure>,
) -> Exit {
    let environment = Environment::of_process();
    let screen = Screen::new(connection, &environment);
    let source = HostSource {
        connection,
        environment: &environment,
        screen: &screen,
    };
    let opened = about.and_then(|about| {
        let Opened { hosting, trace } = source.open(about)?;
        // Before the journal is made: a command that cannot begin writes nothing.
        hosting.check_files()?;
        let journal = Journal::open(connection.events.as_deref(), trace, &hosting)?;
        Ok((hosting, journal))
    });
    match opened {
        Ok((hosting, journal)) => attend(&hosting, journal, work(&hosting)),
        Err(report) => screen.fail(&report),
    }
}
