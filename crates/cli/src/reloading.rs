//! Config files that are edited while a command runs: read again, and told to the person.

use std::path::Path;
use std::sync::Arc;

use switchboard::ServerName;
use switchboard::config::{Config, Places};
use switchboard::host::Reconciled;
use switchboard_reload::{Reload, Reloader};
use tokio::sync::Notify;

use crate::hosting::{ConfigFiles, Hosting, with_hint};
use crate::problems;
use crate::report::Failure;
use crate::scope::places;
use crate::state;

/// Follows the config files of a command.
pub(crate) struct Reloading<'h> {
    reloader: Reloader,
    hosting: &'h Hosting<'h>,
    places: Places,
    /// The files as they were read last.
    files: ConfigFiles,
}

impl<'h> Reloading<'h> {
    /// Prepares to follow the files that a host was opened with.
    ///
    /// # Errors
    /// Fails if the current folder cannot be determined.
    pub(crate) fn new(hosting: &'h Hosting<'h>, named: Option<&Path>) -> Result<Self, Failure> {
        let places = places(named, &hosting.environment)?;
        let (host, files) = (hosting.host.clone(), hosting.files.clone());
        Ok(Self {
            reloader: Reloader::new(host, places.clone(), &files.config),
            hosting,
            places,
            files,
        })
    }

    /// Keeps servers out of the host.
    pub(crate) fn leave_out(
        mut self,
        names: impl Fn(&Config) -> Vec<ServerName> + Send + Sync + 'static,
    ) -> Self {
        self.reloader = self.reloader.leave_out(names);
        self
    }

    /// Watches the files. A system that cannot is no reason to stop.
    pub(crate) fn watch(&mut self) {
        let folders = state::decisions(&self.hosting.environment);
        if let Err(error) = self.reloader.watch(folders) {
            let why = std::error::Error::source(&error).map(ToString::to_string);
            let why = why.unwrap_or_default();
            let screen = self.hosting.screen;
            screen.warn(&format!(
                "{error}, so changes count once this is started again: {why}"
            ));
        }
    }

    /// Notify this to have the files read again.
    pub(crate) fn asked(&self) -> Arc<Notify> {
        self.reloader.asked()
    }

    /// Waits for the next change of the files and takes it; returns what to say of it. Problems are shown.
    /// Cancel safe.
    pub(crate) async fn next(&mut self) -> Option<String> {
        match self.reloader.next().await {
            Reload::Taken { config, done, .. } => {
                let files = ConfigFiles::of(config, &self.places);
                for problem in files.new_problems(&self.files) {
                    self.hosting.screen.warn(&with_hint(problem));
                }
                self.files = files;
                for error in &done.errors {
                    self.hosting.screen.warn(&error.to_string());
                }
                Some(describe(&done))
            }
            Reload::Refused(found) => {
                for problem in &found {
                    self.hosting.screen.fail(&problems::report(problem));
                }
                Some("the servers stay as they are until the file can be read".to_owned())
            }
            _ => None,
        }
    }
}

/// Describes changes of servers on a line.
fn describe(done: &Reconciled) -> String {
    let changes = [
        ("added", &done.added),
        ("changed", &done.changed),
        ("removed", &done.removed),
        ("approved", &done.approved),
        ("approval revoked of", &done.revoked),
    ];
    let changes = changes.into_iter().filter(|(_, names)| !names.is_empty());
    let changes = changes.map(|(what, names)| {
        let names: Vec<&str> = names.iter().map(ServerName::as_str).collect();
        format!("{what} {}", names.join(", "))
    });
    let changes: Vec<String> = changes.collect();
    if changes.is_empty() {
        return "the config was read again: the servers stay as they are".to_owned();
    }
    format!("the config was read again: {}", changes.join("; "))
}
