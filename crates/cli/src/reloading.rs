//! Config files that are edited while a command runs: read again, and worded for the person.

use std::path::Path;
use std::sync::Arc;

use switchboard::ServerName;
use switchboard::config::{Config, Places, Problem};
use switchboard::host::{Host, Reconciled, Status};
use switchboard::spec::Layer;
use switchboard::transport::Environment;
use switchboard_reload::{Reload, Reloader};
use tokio::sync::Notify;

use crate::described::DEMO;
use crate::hosting::{ConfigFiles, Hosting, with_hint};
use crate::report::Failure;
use crate::scope::places;
use crate::state;

/// Follows the config files of a command.
pub(crate) struct Reloading {
    reloader: Reloader,
    host: Host,
    environment: Environment,
    places: Places,
    /// The files as they were read last.
    files: ConfigFiles,
}

/// The outcome of reading the files again.
pub(crate) enum FileNews {
    /// The host has taken them.
    Taken {
        files: ConfigFiles,
        done: Box<Reconciled>,
        /// Warnings about problems that were not there before.
        warnings: Vec<String>,
    },
    /// Some files cannot be read: the servers stay as they were described before.
    Refused {
        problems: Vec<Problem>,
        /// The approvals that were given or revoked meanwhile.
        done: Box<Reconciled>,
    },
}

impl Reloading {
    /// Prepares to follow the files that a host was opened with.
    ///
    /// # Errors
    /// Fails if the current folder cannot be determined.
    pub(crate) fn new(hosting: &Hosting<'_>, named: Option<&Path>) -> Result<Self, Failure> {
        let environment = hosting.environment.clone();
        let places = places(named, &environment)?;
        let (host, files) = (hosting.host.clone(), hosting.files.clone());
        Ok(Self {
            reloader: Reloader::new(host.clone(), places.clone(), &files.config),
            host,
            environment,
            places,
            files,
        })
    }

    /// Calls this with each config before the host takes it; it returns servers that the host is not to have.
    pub(crate) fn prepare(
        mut self,
        prepare: impl Fn(&Config) -> Vec<ServerName> + Send + Sync + 'static,
    ) -> Self {
        self.reloader = self.reloader.prepare(prepare);
        self
    }

    /// Watches the files. Returns a warning where the system cannot: that is no reason to stop.
    pub(crate) fn watch(&mut self) -> Option<String> {
        let folders = state::decisions(&self.environment);
        let error = self.reloader.watch(folders).err()?;
        let why = std::error::Error::source(&error).map(ToString::to_string);
        let why = why.unwrap_or_default();
        Some(format!(
            "{error}, so changes count once this is started again: {why}"
        ))
    }

    /// Notify this to have the files read again.
    pub(crate) fn trigger(&self) -> Arc<Notify> {
        self.reloader.trigger()
    }

    /// Waits for the next change of the files, and has the host take it. Cancel safe.
    pub(crate) async fn next(&mut self) -> FileNews {
        loop {
            match self.reloader.next().await {
                Reload::Taken { config, done, .. } => {
                    let files = ConfigFiles::of(config, &self.places);
                    // Compared with the files before: an old problem is not told again at every change.
                    let warnings = files.new_problems(&self.files).map(with_hint);
                    let errors = done.errors.iter().map(ToString::to_string);
                    let warnings = warnings.chain(errors).collect();
                    // After the host has taken the files: only now another server is there.
                    self.files = files.clone();
                    self.retire_demo().await;
                    return FileNews::Taken {
                        files,
                        done: Box::new(done),
                        warnings,
                    };
                }
                Reload::Refused { problems, done } => {
                    let done = Box::new(done);
                    return FileNews::Refused { problems, done };
                }
                _ => {}
            }
        }
    }
}

impl Reloading {
    /// Takes the bundled server out, which is there as long as no other is configured.
    async fn retire_demo(&self) {
        let is_bundled = |status: &Status| status.origin.layer == Layer::Program;
        if !self.files.config.entries().is_empty()
            && self.host.server(DEMO).as_ref().is_ok_and(is_bundled)
        {
            // It may be gone already.
            self.host.remove(DEMO).await.ok();
        }
    }
}

/// Describes changes on a line, of the servers that a reader may know of.
pub(crate) fn describe(done: &Reconciled, knows: impl Fn(&ServerName) -> bool) -> String {
    let changes = changes(done, knows);
    let changes = changes.unwrap_or_else(|| "the servers stay as they are".to_owned());
    format!("the config was read again: {changes}")
}

/// Names what has changed, of the servers that a reader may know of; `None` if nothing has.
pub(crate) fn changes(done: &Reconciled, knows: impl Fn(&ServerName) -> bool) -> Option<String> {
    let changes = [
        ("added", &done.added),
        ("changed", &done.changed),
        ("removed", &done.removed),
        ("approved", &done.approved),
        ("approval revoked of", &done.revoked),
    ];
    let changes = changes.into_iter().filter_map(|(what, names)| {
        let names = names.iter().filter(|name| knows(name));
        let names: Vec<&str> = names.map(ServerName::as_str).collect();
        (!names.is_empty()).then(|| format!("{what} {}", names.join(", ")))
    });
    let changes: Vec<String> = changes.collect();
    (!changes.is_empty()).then(|| changes.join("; "))
}
