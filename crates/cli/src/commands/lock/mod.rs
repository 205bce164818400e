//! `switchboard lock`, and `switchboard verify`.
//!
//! [`LockScope`] selects the servers that a lock covers, and [`CurrentState`] holds their current state.

mod verify;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use switchboard::catalog::ServerCatalog;
use switchboard::config::{Config, Entry, Problem};
use switchboard::files::{self, FileError, Refusal, Source};
use switchboard::host::{Host, State};
use switchboard::pins::DiffLine;
use switchboard::spec::Layer;
use switchboard::spec::packages::package_of;
use switchboard::text::sanitise_line;
use switchboard::transport::Environment;

use super::pins::{own, quiet};
use crate::args::{self, Connection};
use crate::daemon::Starter;
use crate::editing::result;
use crate::elicit;
use crate::exit::Exit;
use crate::hosting::{Hosting, Selector, with_host};
use crate::login::explained;
use crate::problems;
use crate::report::{Failure, Report};
use crate::screen::Screen;
use crate::state;
use switchboard_lock::{Lock, LockDrift};

pub(crate) use verify::verify;

/// Name of the lock file.
const NAME: &str = "mcp.lock";

/// Writes the current state of a project's servers to its lock file.
pub(crate) fn run(args: &args::Lock) -> Exit {
    #[derive(Serialize)]
    struct LockDocument<'a> {
        file: String,
        servers: Vec<String>,
        changed: bool,
        unpinned: Vec<Unpinned<'a>>,
    }
    with_locked_host(&args.connection, async |hosting| {
        let (locked, screen) = (
            LockScope::of(&hosting.files.config, &args.connection)?,
            hosting.screen,
        );
        let now = locked.now(hosting).await?;
        // An incomplete lock would pass for a complete one, so nothing is written.
        if let Some(failed) = now.unreached.first() {
            let message = format!("the definitions of {} could not be read", failed.server);
            let report = Report::new(failed.why, "connect", message);
            return Err(report
                .server(failed.server.clone())
                .fact("reason", failed.message.clone())
                .fact("written", "no, the lock is unchanged")
                .hint("fix, approve or disable the server, then lock again"));
        }
        now.warn(screen);
        // A server may echo a secret that it was given, and the lock file is shared: mask known secrets.
        let text = now.lock.clone().without(&hosting.host.secrets()).to_text();
        // An unreadable file or a link counts as changed, and is replaced.
        let is_changed = locked.text().ok().as_deref() != Some(text.as_bytes());
        if is_changed {
            write(&locked.file, &text).map_err(|error| unwritable(&locked.file, &error))?;
        }
        let shown = locked.file.display().to_string();
        let servers: Vec<String> = now.lock.servers().map(ToString::to_string).collect();
        if screen.is_json() {
            let document = LockDocument {
                file: shown,
                servers,
                changed: is_changed,
                unpinned: now.unpinned,
            };
            result(&document, screen)?;
            return Ok(Exit::Ok);
        }
        let verb = if is_changed { "locked" } else { "as before:" };
        let servers = match servers.as_slice() {
            [] => "no servers".to_owned(),
            servers => servers.join(", "),
        };
        let line = format!("{verb} {servers} in {shown}");
        screen.result(&format!("{}\n", sanitise_line(&line)))?;
        Ok(Exit::Ok)
    })
}

fn with_locked_host(
    connection: &Connection,
    work: impl AsyncFnOnce(&Hosting<'_>) -> Result<Exit, Failure>,
) -> Exit {
    if let Err(exit) = own(connection) {
        return exit;
    }
    if connection.describes_server() {
        let report = Report::usage("a lock is about the servers of a file, not --stdio or --url");
        return Screen::plain(connection.json).fail(&report);
    }
    elicit::declare_all();
    with_host(Starter::Command, Ok(Selector::All), connection, work)
}

/// Writes a file atomically: to a temporary file beside it, which is then renamed.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let new = folder.join(format!(".{NAME}.{}", std::process::id()));
    let written = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&new)
        .and_then(|mut made| {
            made.write_all(text.as_bytes())?;
            made.sync_all()
        })
        .and_then(|()| std::fs::rename(&new, file));
    if written.is_err() {
        // Ignored: it may not have been created at all.
        std::fs::remove_file(&new).ok();
    }
    written
}

fn unwritable(file: &Path, error: &std::io::Error) -> Failure {
    Report::new(Exit::Internal, "internal", "the lock could not be written")
        .fact("file", file.display().to_string())
        .fact("the system says", error.to_string())
}

/// Maximum size of a lock file in bytes.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The servers that a lock covers, and the path of its file.
struct LockScope<'c> {
    file: PathBuf,
    entries: Vec<&'c Entry>,
}

/// Current state of the locked servers.
struct CurrentState<'c> {
    lock: Lock,
    parts: Vec<Arc<ServerCatalog>>,
    unreached: Vec<Unreached>,
    unpinned: Vec<Unpinned<'c>>,
}

/// A server that could not be connected to or listed.
#[derive(Serialize)]
struct Unreached {
    server: String,
    exit: u8,
    message: String,
    #[serde(skip)]
    why: Exit,
}

/// An entry that names a package without a version.
#[derive(Serialize)]
struct Unpinned<'c> {
    server: &'c str,
    package: String,
}

impl<'c> LockScope<'c> {
    /// Selects the servers of the nearest folder that has a config file, or those of the file of `--config`.
    fn of(config: &'c Config, connection: &Connection) -> Result<Self, Failure> {
        // With --config the lock is about that file; otherwise about the nearest project file.
        let is_wanted = |layer: &Layer| match connection.config {
            Some(_) => *layer == Layer::Named,
            None => layer.needs_approval(),
        };
        let mut files = config.files().iter();
        let Some(nearest) = files.rfind(|file| is_wanted(&file.layer)) else {
            let message = "not a project folder: no .mcp.json and no .switchboard/mcp.json";
            let report = Report::new(Exit::Configuration, "configuration", message);
            return Err(report.hint("change to the project's folder, or use --config FILE"));
        };
        // A lock that silently leaves out broken entries would be wrong, so they are an error.
        let broken = config.file_errors().into_iter();
        let is_entry = |problem: &&Problem| problem.is_error() && problem.server().is_some();
        let mut wrong = broken.chain(config.problems().iter().filter(is_entry));
        if let Some(problem) = wrong.find(|problem| problem.file() == nearest.path) {
            return Err(problems::report(problem));
        }
        let folder = nearest.path.parent().unwrap_or_else(|| Path::new(""));
        let folder = match folder.file_name() {
            // A file of `--config` may be anywhere; its lock is beside it.
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

    fn read(&self) -> Result<Lock, Failure> {
        let told = |message: &str| {
            let report = Report::new(Exit::Configuration, "configuration", message);
            report.fact("file", self.file.display().to_string())
        };
        let text = self.text().map_err(|error| {
            // A missing lock is the usual case, and has the plainest message.
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
            report.hint("`switchboard lock` writes a new one")
        })?;
        Lock::parse(&text).map_err(|error| {
            told("the lock file is not valid")
                .fact("reason", error.to_string())
                .hint("`switchboard lock` writes a new one")
        })
    }

    /// Reads the lock file. It comes with the project, so links and devices are refused.
    fn text(&self) -> Result<Vec<u8>, FileError> {
        let folder = self.file.parent().unwrap_or_else(|| Path::new(""));
        let read = files::read(&self.file, Source::Project(folder), MOST_BYTES)?;
        Ok(read.bytes)
    }

    /// Connects to all enabled servers and collects their definitions.
    async fn now(&self, hosting: &Hosting<'_>) -> Result<CurrentState<'c>, Failure> {
        let mut opening = tokio::task::JoinSet::new();
        for entry in self.entries.iter().filter(|entry| entry.is_enabled()) {
            let (host, name) = (hosting.host.clone(), entry.name().clone());
            // The outcome is read from the status below.
            opening.spawn(async move { drop(host.connect(name.as_str()).await) });
        }
        opening.join_all().await;
        hosting.learn();
        // Servers may add tools after they start: wait until their lists are stable.
        quiet(&hosting.host).await;
        let catalog = hosting.host.catalog();
        // A server counts as reached only if all its lists were read.
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
        // Disabled servers are locked too, by their entries alone.
        let find = |entry: &Entry| parts.iter().find(|part| part.name() == entry.name());
        let mut lock = Lock::write(self.entries.iter().map(|entry| {
            let part = find(entry).map(|part| &**part);
            (entry.name(), entry.value(), part)
        }));
        for entry in self.entries.iter().filter(|entry| entry.is_enabled()) {
            if let Some(issuer) = issuer_of(&hosting.host, entry.name().as_str()).await {
                lock.set_issuer(entry.name(), &issuer);
            }
        }
        let unpinned = self.entries.iter().filter_map(|entry| {
            let package = package_of(entry.value())?;
            (!package.is_pinned()).then(|| Unpinned {
                server: entry.name().as_str(),
                package: format!("{} {}", package.runner, package.name),
            })
        });
        Ok(CurrentState {
            lock,
            unpinned: unpinned.collect(),
            parts,
            unreached,
        })
    }
}

/// The issuer of the login that is stored for a server, where there is one.
async fn issuer_of(host: &Host, server: &str) -> Option<String> {
    let authorizer = host.authorizer(server).await.ok()?;
    let stored = authorizer.stored().await.ok()??;
    Some(stored.key().issuer.clone())
}

impl Unreached {
    fn of(entry: &Entry, error: Option<&switchboard::Error>) -> Self {
        let why = error.map_or(Exit::Connect, Exit::of);
        let message = error.map(|error| explained(error).title);
        Self {
            server: entry.name().to_string(),
            exit: why.number(),
            message: message.unwrap_or_else(|| "it is not connected".to_owned()),
            why,
        }
    }
}

impl CurrentState<'_> {
    fn warn(&self, screen: &Screen) {
        for Unpinned { server, package } in &self.unpinned {
            screen.warn(&format!(
                "{server}: {package} has no version, so it can change at any time"
            ));
        }
    }

    /// Returns the diff of a drift: in full if the person's own pins still hold the locked definition.
    fn detail(&self, drift: &LockDrift, hosting: &Hosting<'_>) -> Vec<DiffLine> {
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
