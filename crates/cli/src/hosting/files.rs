//! The config files of a command.

use std::sync::Arc;

use switchboard::config::{Config, Places, Problem};
use switchboard::text::closest;

use super::About;
use crate::described::DEMO;
use crate::exit::Exit;
use crate::problems;
use crate::report::{Failure, Report};
use crate::screen::Screen;

/// The config files of a command: what they say, and what is wrong with them.
///
/// Some files may be broken: missing though named, empty, unreadable, refused. A command works with the
/// servers of the others, but it always says which file is broken, also with `-q` and `--json`, and
/// returns 6. Where the other files have no server, it does nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigFiles {
    pub(crate) config: Arc<Config>,
    /// What is wrong with them, and with the folder that servers are started in.
    pub(crate) problems: Arc<[Problem]>,
    /// The files that cannot be used at all.
    broken: Arc<[Problem]>,
}

impl ConfigFiles {
    /// Reads the files of these places.
    pub(super) fn load(places: &Places) -> Self {
        let config = Config::load(places);
        Self {
            problems: problems::all(&config, places).into(),
            broken: config.file_errors().into_iter().cloned().collect(),
            config: Arc::new(config),
        }
    }

    /// The files that cannot be used at all.
    pub(crate) fn broken(&self) -> &[Problem] {
        &self.broken
    }

    /// Leaves out the files that cannot be used, for a verb that shows them as findings of its own.
    pub(crate) fn forget_broken(&mut self) {
        self.broken = Arc::default();
    }

    /// The files that cannot be used, as one report.
    pub(crate) fn broken_report(&self, is_agent: bool) -> Option<Failure> {
        let (first, others) = self.broken.split_first()?;
        let report = if is_agent {
            // An excerpt names servers, which the agent may not know of.
            Report::new(Exit::Configuration, "configuration", first.to_string())
        } else {
            problems::report(first)
        };
        let others = others.iter();
        Some(others.fold(report, |report, problem| {
            report.fact("another file", problem.to_string())
        }))
    }

    /// Says what is wrong with the files, as far as it is about what the command is about.
    pub(super) fn warn(&self, about: About<'_>, is_agent: bool, screen: &Screen) {
        if is_agent {
            self.warn_agent(screen);
            return;
        }
        let concerns = |problem: &&Problem| match (about.name(), problem.server()) {
            (Some(wanted), Some(server)) => wanted == server && !self.is_fatal(problem),
            // One that costs a whole file is an error, and shown as one.
            (_, None) => !self.broken.contains(problem),
            _ => true,
        };
        for problem in self.problems.iter().filter(concerns) {
            let hint = problem.hints().first();
            let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
            screen.warn(&format!("{problem}{hint}"));
        }
    }

    /// Says that something is wrong: what it is may name servers and agents that this one may not know of.
    fn warn_agent(&self, screen: &Screen) {
        let is_told = |problem: &Problem| {
            problem.server().is_none() && problem.is_error() && !self.broken.contains(problem)
        };
        if self.problems.iter().any(is_told) {
            screen
                .warn("the config file has errors; the person can run `switchboard config check`");
        }
    }

    /// Makes sure that the files know the server that a command is about.
    ///
    /// # Errors
    /// When they do not. An agent is told later, and the same about what it may not know of.
    pub(super) fn check_known(&self, about: About<'_>, is_agent: bool) -> Result<(), Failure> {
        match about {
            About::Server(name) if !is_agent && !self.define(name) => {
                Err(match self.config.file_errors().first() {
                    Some(problem) => problems::report(problem).server(name),
                    None => self.unknown(name),
                })
            }
            _ => Ok(()),
        }
    }

    /// Whether a command may be about the bundled server.
    pub(super) fn mean_demo(&self, about: About<'_>, has_file: bool) -> bool {
        // A file that cannot be read may have one of that name: the bundled server never stands in for it.
        self.broken.is_empty()
            && match about {
                About::Server(name) => name == DEMO,
                About::All => {
                    self.config.entries().is_empty() && !self.has_wrong_entry() && !has_file
                }
                About::Any => true,
            }
    }

    /// Whether a file has a server of the bundled one's name.
    pub(super) fn define_demo(&self) -> bool {
        self.define(DEMO)
    }

    fn define(&self, name: &str) -> bool {
        self.config.get(name).is_some() || self.config.bad(name).is_some()
    }

    /// Whether an entry cannot be used: the bundled server never stands in for it.
    fn has_wrong_entry(&self) -> bool {
        let mut problems = self.config.problems().iter();
        problems.any(|problem| problem.is_error() && problem.server().is_some())
    }

    /// Whether using the server says it all anyway.
    fn is_fatal(&self, problem: &Problem) -> bool {
        let name = problem.server().unwrap_or_default();
        self.config.get(name).is_none() && problem.is_error()
    }

    fn unknown(&self, name: &str) -> Failure {
        let entries = self.config.entries().iter();
        let names = entries.map(|entry| entry.name().as_str()).chain([DEMO]);
        advise_adding(unknown_server(name, &names.collect::<Vec<_>>()), name)
    }
}

/// Says that a server is not among those that there are.
pub(crate) fn unknown_server(name: &str, names: &[&str]) -> Failure {
    let report = Report::new(
        Exit::Configuration,
        "configuration",
        format!("there is no server named {name:?}"),
    );
    match closest(name, names.iter().copied()) {
        Some(meant) => report.hint(format!("did you mean {meant:?}?")),
        None if names.is_empty() => report.hint("there are no servers"),
        None => report.hint(format!("the servers there are: {}", names.join(", "))),
    }
}

/// Says how a server that is not there comes to be there.
pub(crate) fn advise_adding(report: Failure, name: &str) -> Failure {
    report
        .hint(format!("`switchboard add {name} -- CMD ARGS` adds it"))
        .hint("or start one with --stdio \"CMD ARGS\", or reach it with --url URL")
}
