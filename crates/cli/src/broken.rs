//! Config files that cannot be used at all: missing though named, empty, unreadable, refused or broken.
//!
//! A command works with the servers of the other files, but it always says which file is broken, also with `-q`
//! and `--json`, and returns 6. Where the other files have no server, it does nothing.

use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::problems;
use crate::report::{Failure, Report};

impl Hosting<'_> {
    /// The files that cannot be used, as one report.
    pub(crate) fn broken_files(&self) -> Option<Failure> {
        let (first, others) = self.broken.split_first()?;
        let report = match self.is_agent() {
            // An excerpt names servers, which the agent may not know of.
            true => Report::new(Exit::Configuration, "configuration", first.to_string()),
            false => problems::report(first),
        };
        let others = others.iter();
        Some(others.fold(report, |report, problem| {
            report.fact("another file", problem.to_string())
        }))
    }

    /// Refuses to go on where files cannot be used and the others have no server; else shows that they cannot be.
    /// A program finds it in the one error that it reads at the end: [`Hosting::fail`], [`Hosting::finish`].
    ///
    /// # Errors
    /// When no server is left to work with.
    pub(crate) fn check_files(&self) -> Result<(), Failure> {
        match self.broken_files() {
            Some(report) if self.config.entries().is_empty() => Err(report),
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
            let files = self.broken.iter();
            report = files.fold(report, |report, problem| {
                report.fact("config file", problem.to_string())
            });
        }
        if !self.broken.is_empty() && report.is_about_something_missing() {
            // It may be in a file that could not be read.
            report.exit = Exit::Configuration;
        }
        self.screen.fail(&report)
    }

    /// What the process is to return for a command that was done: what it found, as `verify` does, has a code of its
    /// own.
    pub(crate) fn finish(&self, exit: Exit) -> Exit {
        let Some(mut report) = self.broken_files() else {
            return exit;
        };
        if exit != Exit::Ok {
            report.exit = exit;
        }
        match self.screen.is_json() {
            true => self.screen.fail(&report),
            false => report.exit,
        }
    }
}
