//! Which servers a lock is about, and what they are and offer now.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use switchboard::catalog::ServerCatalog;
use switchboard::config::{Config, Entry, Problem};
use switchboard::explain;
use switchboard::files::{self, FileError, Refusal, Source};
use switchboard::host::State;
use switchboard::pins::DiffLine;
use switchboard::pins::lock::{self as locks, Lock, LockDrift};
use switchboard::spec::Layer;
use switchboard::transport::Environment;

use super::{NAME, quiet};
use crate::args::Connection;
use crate::exit::Exit;
use crate::hosting::Hosting;
use crate::problems;
use crate::report::{Failure, Report};
use crate::screen::Screen;
use crate::state;

/// The most bytes of a lock file that is read.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The servers of one folder's files, and the lock that is about them.
pub(super) struct Locked<'c> {
    pub(super) file: PathBuf,
    pub(super) entries: Vec<&'c Entry>,
}

/// What the servers are and offer now.
pub(super) struct Now<'c> {
    pub(super) lock: Lock,
    pub(super) parts: Vec<Arc<ServerCatalog>>,
    pub(super) unreached: Vec<Unreached>,
    pub(super) unpinned: Vec<Unpinned<'c>>,
}

/// A server that could not be asked what it offers.
#[derive(Serialize)]
pub(super) struct Unreached {
    pub(super) server: String,
    pub(super) exit: u8,
    pub(super) message: String,
    #[serde(skip)]
    pub(super) why: Exit,
}

/// An entry that may run another package tomorrow.
#[derive(Serialize)]
pub(super) struct Unpinned<'c> {
    pub(super) server: &'c str,
    pub(super) package: String,
}

impl<'c> Locked<'c> {
    /// The servers of the nearest folder that has a file, or those of the file of `--config`.
    pub(super) fn of(config: &'c Config, connection: &Connection) -> Result<Self, Failure> {
        let is_wanted = |layer: &Layer| match connection.config {
            Some(_) => *layer == Layer::Named,
            None => layer.needs_approval(),
        };
        let mut files = config.files().iter();
        let Some(nearest) = files.rfind(|file| is_wanted(&file.layer)) else {
            let message = "there is no project here: no .mcp.json and no .switchboard/mcp.json";
            let report = Report::new(Exit::Configuration, "configuration", message);
            return Err(report.hint("go to the project's folder, or say --config FILE"));
        };
        // A lock without these servers would be a wrong one: those of a file that cannot be used, and entries that
        // cannot be.
        let broken = config.broken().into_iter();
        let is_entry = |problem: &&Problem| problem.is_error() && problem.server().is_some();
        let mut wrong = broken.chain(config.problems().iter().filter(is_entry));
        if let Some(problem) = wrong.find(|problem| problem.file() == nearest.path) {
            return Err(problems::report(problem));
        }
        let folder = nearest.path.parent().unwrap_or_else(|| Path::new(""));
        let folder = match folder.file_name() {
            // A file that is named may be anywhere, and its lock is beside it.
            Some(name) if name == ".switchboard" && connection.config.is_none() => {
                folder.parent().unwrap_or(folder)
            }
            _ => folder,
        };
        let entries = config.entries().iter();
        Ok(Self {
            file: folder.join(NAME),
            entries: entries
                .filter(|entry| entry.origin().layer == nearest.layer)
                .collect(),
        })
    }

    pub(super) fn read(&self) -> Result<Lock, Failure> {
        let told = |message: &str| {
            let report = Report::new(Exit::Configuration, "configuration", message);
            report.fact("file", self.file.display().to_string())
        };
        let text = self.text().map_err(|error| {
            let report = match error.why() {
                Refusal::Absent => told("there is no lock file"),
                Refusal::TooLarge { .. } => told("the lock file is too long"),
                Refusal::Io(error) => {
                    told("the lock file cannot be read").fact("the system says", error.to_string())
                }
                _ => told("the lock file cannot be read").fact("reason", error.to_string()),
            };
            match error.hint() {
                Some(hint) => report.hint(hint),
                None => report.hint("`switchboard lock` writes it"),
            }
        })?;
        let text = String::from_utf8(text).map_err(|_| {
            let report = told("the lock file cannot be read").fact("reason", "it is not UTF-8");
            report.hint("`switchboard lock` writes it anew")
        })?;
        Lock::parse(&text).map_err(|error| {
            told("the lock file is not right")
                .fact("reason", error.to_string())
                .hint("`switchboard lock` writes it anew")
        })
    }

    /// What is in the file. It came with the project, so it is no link and no device.
    pub(super) fn text(&self) -> Result<Vec<u8>, FileError> {
        let folder = self.file.parent().unwrap_or_else(|| Path::new(""));
        let read = files::read(&self.file, Source::Project(folder), MOST_BYTES)?;
        Ok(read.bytes)
    }

    /// Connects to all that are switched on.
    pub(super) async fn now(&self, hosting: &Hosting<'_>) -> Result<Now<'c>, Failure> {
        let mut opening = tokio::task::JoinSet::new();
        for entry in self.entries.iter().filter(|entry| entry.is_enabled()) {
            let (host, name) = (hosting.host.clone(), entry.name().clone());
            // What comes of it is in the status.
            opening.spawn(async move { drop(host.connect(name.as_str()).await) });
        }
        opening.join_all().await;
        hosting.learn();
        quiet(&hosting.host).await;
        let catalog = hosting.host.catalog();
        let (mut parts, mut unreached) = (Vec::new(), Vec::new());
        for entry in self.entries.iter().filter(|entry| entry.is_enabled()) {
            let status = hosting.host.server(entry.name().as_str())?;
            let part = catalog.server(entry.name().as_str());
            let unlisted = status.unlisted.first().map(|(_, error)| error.clone());
            let error = status.error().cloned().or(unlisted);
            match (status.state, part, error) {
                (State::Connected, Some(part), None) => parts.push(Arc::clone(part)),
                (_, _, error) => unreached.push(Unreached::of(entry, error.as_ref())),
            }
        }
        let find = |entry: &Entry| parts.iter().find(|part| part.name() == entry.name());
        let lock = Lock::write(self.entries.iter().map(|entry| {
            let part = find(entry).map(|part| &**part);
            (entry.name(), entry.value(), part)
        }));
        let unpinned = self.entries.iter().filter_map(|entry| {
            let package = locks::package_of(entry.value())?;
            (!package.is_pinned()).then(|| Unpinned {
                server: entry.name().as_str(),
                package: format!("{} {}", package.runner, package.name),
            })
        });
        Ok(Now {
            lock,
            unpinned: unpinned.collect(),
            parts,
            unreached,
        })
    }
}

impl Unreached {
    fn of(entry: &Entry, error: Option<&switchboard::Error>) -> Self {
        let why = error.map_or(Exit::Connect, Exit::of);
        let message = error.map(|error| explain(error).title);
        Self {
            server: entry.name().to_string(),
            exit: why.number(),
            message: message.unwrap_or_else(|| "it is not connected".to_owned()),
            why,
        }
    }
}

impl Now<'_> {
    pub(super) fn warn(&self, screen: &Screen) {
        for Unpinned { server, package } in &self.unpinned {
            screen.warn(&format!(
                "{server}: {package} has no version, so another may run tomorrow"
            ));
        }
    }

    /// What differs, where the person's own pins still know what the lock is about.
    pub(super) fn detail(&self, drift: &LockDrift, hosting: &Hosting<'_>) -> Vec<DiffLine> {
        let found = || {
            let part = self
                .parts
                .iter()
                .find(|part| *part.name() == drift.server)?;
            let identity = hosting.host.identity(drift.server.as_str()).ok()?;
            let pins = state::pins(&Environment::of_process());
            let pinned = pins.baseline(&identity).ok()??;
            Some(drift.detail(&pinned, part))
        };
        found().unwrap_or_else(|| drift.diff.clone())
    }
}
