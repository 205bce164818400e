//! The config files of a command and their problems.

use std::sync::Arc;

use switchboard::config::{Config, Places, Problem};
use switchboard::spec::ServerName;
use switchboard::text::{closest, shell_path};

use super::Selector;
use crate::described::DEMO;
use crate::exit::Exit;
use crate::problems;
use crate::report::{Failure, Report};
use crate::role;
use crate::screen::Screen;
use crate::slips;

/// The config files of a command, and their problems.
///
/// Some files may be broken: missing though named, empty, unreadable, refused. A command works with the
/// servers of the others, but always reports the broken file, even with `-q` and `--json`, and returns 6. If
/// no server is left, it does nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConfigFiles {
    pub(crate) config: Arc<Config>,
    /// Problems of the files, and of the folder that servers are started in.
    pub(crate) problems: Arc<[Problem]>,
    /// The files that cannot be used at all.
    broken: Arc<[Problem]>,
}

impl ConfigFiles {
    /// Loads the files at these places.
    pub(super) fn load(places: &Places) -> Self {
        Self::of(Arc::new(Config::load(places)), places)
    }

    /// The files of a config that was read at these places.
    pub(crate) fn of(config: Arc<Config>, places: &Places) -> Self {
        Self {
            problems: problems::all(&config, places).into(),
            broken: config.file_errors().into_iter().cloned().collect(),
            config,
        }
    }

    /// Returns the files that cannot be used at all.
    pub(crate) fn broken_files(&self) -> &[Problem] {
        &self.broken
    }

    /// Clears the broken files, for a command that shows them as findings of its own.
    pub(crate) fn forget_broken(&mut self) {
        self.broken = Arc::default();
    }

    /// Builds one report of all broken files.
    pub(crate) fn broken_report(&self, is_agent: bool) -> Option<Failure> {
        let (first, others) = self.broken.split_first()?;
        let report = if is_agent {
            // An excerpt may name servers that are hidden from the agent.
            Report::new(Exit::Configuration, "configuration", first.to_string())
        } else {
            problems::report(first)
        };
        let others = others.iter();
        Some(others.fold(report, |report, problem| {
            report.fact("another file", problem.to_string())
        }))
    }

    /// Returns the problems that were not there before.
    pub(crate) fn new_problems<'p>(
        &'p self,
        before: &'p Self,
    ) -> impl Iterator<Item = &'p Problem> {
        let is_new = |problem: &&Problem| !before.problems.contains(problem);
        self.problems.iter().filter(is_new)
    }

    /// Warns of the problems that concern the command.
    pub(super) fn warn(&self, selector: Selector<'_>, is_agent: bool, screen: &Screen) {
        if is_agent {
            self.warn_agent(screen);
            return;
        }
        let concerns = |problem: &&Problem| match problem.server() {
            // A server that cannot be used is reported with its problem.
            Some(server) => {
                selector.name().is_none_or(|wanted| wanted == server) && !self.is_fatal(problem)
            }
            // A problem that costs a whole file is reported as an error.
            None => !self.broken.contains(problem),
        };
        for problem in self.problems.iter().filter(concerns) {
            screen.warn(&with_hint(problem));
        }
    }

    /// Warns an agent that there are problems, without details: these may name servers and agents hidden from
    /// it.
    fn warn_agent(&self, screen: &Screen) {
        let is_told = |problem: &Problem| {
            problem.server().is_none() && problem.is_error() && !self.broken.contains(problem)
        };
        if self.problems.iter().any(is_told) {
            screen
                .warn("the config file has errors; the person can run `switchboard config check`");
        }
    }

    /// Checks that the server of the command is configured.
    ///
    /// # Errors
    /// Fails if it is not. Agents get the error later, the same one as for a server that is hidden from them.
    pub(super) fn check_known(
        &self,
        selector: Selector<'_>,
        is_agent: bool,
    ) -> Result<(), Failure> {
        match selector {
            Selector::Server(name) if !is_agent && !self.define(name) => {
                Err(match self.config.file_errors().first() {
                    Some(problem) => problems::report(problem).server(name),
                    None => self.unknown(name),
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns true if a command may use the bundled server.
    pub(super) fn mean_demo(&self, selector: Selector<'_>, has_file: bool) -> bool {
        // A broken file may define a server of that name: the bundled one never replaces it.
        self.broken.is_empty()
            && match selector {
                Selector::Server(name) => name == DEMO,
                Selector::All => {
                    self.config.entries().is_empty() && !self.has_wrong_entry() && !has_file
                }
                Selector::Any => true,
            }
    }

    /// Returns true if a file defines a server with the name of the bundled one.
    pub(super) fn define_demo(&self) -> bool {
        self.define(DEMO)
    }

    fn define(&self, name: &str) -> bool {
        self.config.get(name).is_some() || self.config.bad(name).is_some()
    }

    /// Returns true if some entry is invalid: the bundled server never replaces it.
    fn has_wrong_entry(&self) -> bool {
        let mut problems = self.config.problems().iter();
        problems.any(|problem| problem.is_error() && problem.server().is_some())
    }

    /// Returns true if using the server fails with this problem anyway.
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

/// Formats a problem on a line, with what to do about it.
pub(crate) fn with_hint(problem: &Problem) -> String {
    let hint = problem.hints().first();
    let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
    format!("{problem}{hint}")
}

/// Builds the report for a server that does not exist, with a suggestion.
pub(crate) fn unknown_server(name: &str, names: &[&str]) -> Failure {
    let report = Report::new(
        Exit::Configuration,
        "configuration",
        format!("there is no server named {name:?}"),
    );
    match closest(name, names.iter().copied()) {
        Some(meant) => report.hint(match slips::with_name(name, meant) {
            Some(command) => format!("did you mean `{command}`?"),
            None => format!("did you mean {meant:?}?"),
        }),
        None if names.is_empty() => report.hint(if role::agent().is_some() {
            "this agent may not use any server"
        } else {
            "there are no servers"
        }),
        None => report.hint(format!("known servers: {}", names.join(", "))),
    }
}

/// Adds hints for adding the server.
pub(crate) fn advise_adding(report: Failure, name: &str) -> Failure {
    let is_path = name.starts_with(['.', '/', '~']);
    let report = if ServerName::parse(name).is_ok() {
        report.hint(format!("`switchboard add {name} -- CMD ARGS` adds it"))
    } else if is_path {
        // A script is not a server's name, and this program does not guess what runs it.
        report.hint(format!(
            "to run it: `switchboard tools -- {}`",
            shell_path(name)
        ))
    } else {
        report
    };
    report.hint("or start one with --stdio \"CMD ARGS\", or reach it with --url URL")
}
