//! The servers that a command works with: those of config files, or the one that the command line
//! describes itself.

use std::cell::Cell;
use std::sync::Arc;

use switchboard::Timeouts;
use switchboard::config::{Config, Problem};
use switchboard::host::{Host, HostBuilder, View};
use switchboard::protocol::LogLevel;
use switchboard::session::CancelReason;
use switchboard::spec::ServerName;
use switchboard::text::closest;
use switchboard::transport::Environment;
use switchboard::{CallOptions, Deadline, trust};

use crate::args::Connection;
use crate::ask::{self, Terminal};
use crate::attend::attend;
use crate::described::{self, DEMO};
use crate::elicit::{self, Desk};
use crate::exit::Exit;
use crate::journal::Journal;
use crate::permission::Actor;
use crate::places::places;
use crate::problems;
use crate::report::{Failure, Report};
use crate::sampling;
use crate::screen::Screen;
use crate::secrets;
use crate::state;
use crate::trace::{self, Trace};

/// Which servers a command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About<'a> {
    /// The one of this name.
    Server(&'a str),
    /// All that are configured.
    All,
    /// Whichever has what is asked for.
    Any,
}

impl<'a> About<'a> {
    /// The server of that name, or all where there is none.
    pub(crate) fn named(name: Option<&'a str>) -> Self {
        name.map_or(Self::All, Self::Server)
    }

    fn name(self) -> Option<&'a str> {
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
    /// What the config files say; nothing of them where the command line describes a server.
    pub(crate) config: Arc<Config>,
    /// What is wrong with them, and with the folder that servers are started in.
    pub(crate) problems: Arc<[Problem]>,
    /// The files that cannot be used at all. A command works with the others, and returns 6.
    pub(crate) broken: Arc<[Problem]>,
    /// As whom the command acts.
    pub(crate) actor: Actor,
    /// What a server is told when something is given up that it was asked for.
    pub(crate) reason: CancelReason,
    /// From which level on it is shown what servers log.
    pub(crate) log_level: Option<LogLevel>,
    /// What goes over the wire, until somebody writes it.
    pub(crate) trace: Cell<Option<Trace>>,
}

impl Hosting<'_> {
    /// The same servers, with what comes of them shown elsewhere.
    pub(crate) fn shown_on<'s>(&self, screen: &'s Screen) -> Hosting<'s> {
        Hosting {
            host: self.host.clone(),
            screen,
            described: self.described.clone(),
            config: Arc::clone(&self.config),
            problems: Arc::clone(&self.problems),
            broken: Arc::clone(&self.broken),
            actor: self.actor.clone(),
            reason: self.reason.clone(),
            log_level: self.log_level,
            trace: Cell::default(),
        }
    }

    /// How things are asked for: so that a server is told when they are given up.
    pub(crate) fn options(&self) -> CallOptions {
        CallOptions::default().reason(&self.reason)
    }

    /// What whoever acts can use: the person everything, an agent what it was granted.
    pub(crate) fn view(&self) -> View {
        self.host.view(self.actor.caller.clone())
    }

    /// Says in a report where its server is described, to whoever may know of the server.
    pub(crate) fn located(&self, report: Failure) -> Failure {
        let name = report.about().and_then(|name| ServerName::parse(name).ok());
        match name {
            Some(name) if !self.is_agent() || self.knows(&name) => report.located(&self.config),
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

    /// The same, once servers know which of their logs are to be shown.
    fn shown_with_logs(self) -> Result<Self, Failure> {
        if let Some(level) = self.log_level {
            self.want_logs(None, level)?;
        }
        Ok(self)
    }

    /// Learns the secrets of the servers that were connected to.
    pub(crate) fn learn(&self) {
        let secrets = self.host.secrets();
        elicit::learn(&secrets);
        self.screen.learn(&secrets);
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
    let opened = about.and_then(|about| {
        let hosting = open(about, connection, &environment, &screen)?;
        hosting.check_files()?;
        let journal = Journal::open(connection.events.as_deref(), &hosting)?;
        Ok((hosting, journal))
    });
    match opened {
        Ok((hosting, journal)) => attend(&hosting, journal, work(&hosting)),
        Err(report) => screen.fail(&report),
    }
}

/// Makes a host of the servers that a command is about. Nothing is started.
///
/// # Errors
/// When they are not described, or not in a way that can be understood.
pub(crate) fn open<'s>(
    about: About<'_>,
    connection: &Connection,
    environment: &Environment,
    screen: &'s Screen,
) -> Result<Hosting<'s>, Failure> {
    let builder = usual(connection, environment, screen)?;
    let (builder, trace) = match trace::open(connection.trace.as_deref())? {
        Some((tap, trace)) => (builder.tap(&tap), Some(trace)),
        None => (builder, None),
    };
    let trace = Cell::new(trace);
    let (acting, actor) = (&connection.acting, Actor::of(&connection.acting));
    if connection.describes_server() {
        // No file is looked at but for what it says about an agent.
        let config = match acting.agent {
            Some(_) => Config::load(&places(None, environment)?),
            None => Config::default(),
        };
        let own = |problem: &&&Problem| !problem.layer().needs_approval();
        if let Some(problem) = config.broken().iter().find(own) {
            return Err(problems::report(problem));
        }
        let builder = actor.introduce(builder, (&config, acting), environment, screen);
        let (builder, name) = described::add(builder, about.name(), connection, environment)?;
        let builder = sampling::add(builder, None, (connection, environment), screen)?;
        let hosting = Hosting {
            host: builder.build()?,
            screen,
            described: Some(name),
            config: Arc::default(),
            problems: Arc::default(),
            broken: Arc::default(),
            actor,
            reason: given_up(),
            log_level: connection.log_level,
            trace,
        };
        return hosting.shown_with_logs();
    }
    let places = places(connection.config.as_deref(), environment)?;
    let config = Config::load(&places);
    let builder = actor.introduce(builder, (&config, acting), environment, screen);
    let is_agent = acting.agent.is_some();
    let problems = problems::all(&config, &places);
    warn(&config, &problems, (about, is_agent), screen);
    let broken: Arc<[Problem]> = config.broken().into_iter().cloned().collect();
    let is_defined = config.get(DEMO).is_some() || config.bad(DEMO).is_some();
    // A file that cannot be read may have one of that name: the bundled server never stands in for it.
    let is_demo_meant = broken.is_empty()
        && match about {
            About::Server(name) => name == DEMO,
            About::All => {
                let is_empty = config.entries().is_empty() && !has_wrong_entry(&config);
                is_empty && connection.config.is_none()
            }
            About::Any => true,
        };
    if !is_demo_meant {
        known(about, &config, is_agent)?;
    }
    if has_process_options(connection) && (is_defined || !is_demo_meant) {
        let report = Report::usage("--env, --env-passthrough and --cwd belong to --stdio");
        return Err(report.hint("write them into the server's entry in its config file"));
    }
    let builder = sampling::add(builder, Some(&config), (connection, environment), screen)?;
    let mut builder = builder.workspace(places.folder()).config(&config);
    if let Some(home) = places.home() {
        builder = builder.home(home);
    }
    if is_demo_meant && !is_defined {
        builder = described::add_demo(builder, connection, environment)?;
    }
    let hosting = Hosting {
        host: builder.build()?,
        screen,
        described: None,
        config: Arc::new(config),
        problems: problems.into(),
        broken,
        actor,
        reason: given_up(),
        log_level: connection.log_level,
        trace,
    };
    hosting.warn_of_loss(environment);
    hosting.shown_with_logs()
}

fn given_up() -> CancelReason {
    CancelReason::new("the user's client gave up")
}

/// Makes sure that the files know the server that a command is about.
///
/// # Errors
/// When they do not. An agent is told later, and the same about what it may not know of.
pub(crate) fn known(about: About<'_>, config: &Config, is_agent: bool) -> Result<(), Failure> {
    match about {
        About::Server(name)
            if !is_agent && config.get(name).is_none() && config.bad(name).is_none() =>
        {
            Err(match config.broken().first() {
                Some(problem) => problems::report(problem).server(name),
                None => unknown(name, config),
            })
        }
        _ => Ok(()),
    }
}

/// What is the same for all servers.
fn usual(
    connection: &Connection,
    environment: &Environment,
    screen: &Screen,
) -> Result<HostBuilder, Failure> {
    let mut builder = Host::builder()
        .environment(environment)
        .elicit(Desk::new(connection.given.read()?, environment, screen))
        .secrets(&secrets::known(connection, environment))
        .eras(&state::eras(environment))
        .trust(state::trust(environment));
    builder = match Terminal::there_is(screen) {
        _ if !connection.trust.is_empty() => builder.vouch(trust::Only(connection.trust.clone())),
        true => builder.vouch(Terminal),
        false => builder,
    };
    if let Some(missing) = connection.root.iter().find(|root| !root.is_dir()) {
        let report = Report::usage("the folder of --root does not exist");
        return Err(report.fact("folder", missing.display().to_string()));
    }
    if !connection.root.is_empty() {
        builder = builder.roots(&connection.root);
    }
    if ask::has_prompt() {
        // What is logged is told there.
        builder = builder.log_level(LogLevel::Info);
    }
    if let Some(time) = connection.timeout {
        builder = builder.timeouts(Timeouts::all(Deadline::within(time)));
    }
    if let Some(protocol) = connection.protocol {
        builder = builder.protocol(protocol);
    }
    // Without a path to this program, servers end by their process groups.
    if let Ok(program) = std::env::current_exe() {
        builder = builder.keeper(program);
    }
    Ok(match state::ledger(environment) {
        Some(ledger) => builder.ledger(&ledger),
        None => builder,
    })
}

fn unknown(name: &str, config: &Config) -> Failure {
    let names = config
        .entries()
        .iter()
        .map(|entry| entry.name().to_string());
    unknown_to(name, &names.chain([DEMO.to_owned()]).collect::<Vec<_>>())
}

/// Says that a server is not among those that there are.
pub(crate) fn unknown_to(name: &str, names: &[String]) -> Failure {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let report = Report::new(
        Exit::Configuration,
        "configuration",
        format!("there is no server named {name:?}"),
    );
    let report = match closest(name, names.iter().copied()) {
        Some(meant) => report.hint(format!("did you mean {meant:?}?")),
        None if names.is_empty() => report.hint("there are no servers"),
        None => report.hint(format!("the servers there are: {}", names.join(", "))),
    };
    report
        .hint(format!("`switchboard add {name} -- CMD ARGS` adds it"))
        .hint("or start one with --stdio \"CMD ARGS\", or reach it with --url URL")
}

fn has_process_options(connection: &Connection) -> bool {
    !connection.env.is_empty() || !connection.env_passthrough.is_empty() || connection.cwd.is_some()
}

/// Says what is wrong with the files, as far as it is about what the command is about.
fn warn(
    config: &Config,
    problems: &[Problem],
    (about, is_agent): (About<'_>, bool),
    screen: &Screen,
) {
    let broken = config.broken();
    if is_agent {
        // What a problem says may name servers and agents that this one may not know of.
        let is_told = |problem: &Problem| problem.server().is_none() && problem.is_error();
        let mut problems = problems.iter();
        if problems.any(|problem| is_told(problem) && !broken.contains(&problem)) {
            screen
                .warn("the config file has errors; the person can run `switchboard config check`");
        }
        return;
    }
    let concerns = |problem: &&Problem| match (about.name(), problem.server()) {
        (Some(wanted), Some(server)) => wanted == server && !is_fatal(config, problem),
        // One that costs a whole file is an error, and shown as one.
        (_, None) => !broken.contains(problem),
        _ => true,
    };
    for problem in problems.iter().filter(concerns) {
        let hint = problem.hints().first();
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        screen.warn(&format!("{problem}{hint}"));
    }
}

/// Whether an entry cannot be used: the bundled server never stands in for it.
fn has_wrong_entry(config: &Config) -> bool {
    let mut problems = config.problems().iter();
    problems.any(|problem| problem.is_error() && problem.server().is_some())
}

/// Whether using the server says it all anyway.
fn is_fatal(config: &Config, problem: &Problem) -> bool {
    let name = problem.server().unwrap_or_default();
    config.get(name).is_none() && problem.is_error()
}
