//! The servers of this process, each in a file of its own for as long as it runs.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_core::files::make_private_folder;
use switchboard_core::spec::ServerName;

use super::file::{self, Record};
use super::instance::{self, Instance};

/// Where this process writes down which servers it runs. Clones are the same ledger.
#[derive(Debug, Clone)]
pub struct Ledger(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    place: String,
    host: Instance,
}

impl Ledger {
    /// Opens the ledger in a folder, which is made if it is not there, for its owner alone.
    ///
    /// # Errors
    /// When the folder cannot be made, or the system does not say when a process started.
    pub fn open(folder: impl Into<PathBuf>) -> io::Result<Self> {
        let folder = folder.into();
        make_private_folder(&folder)?;
        let host = Instance::of(std::process::id()).ok_or(io::ErrorKind::Unsupported)?;
        let place = instance::place();
        Ok(Self(Arc::new(Inner {
            folder,
            place,
            host,
        })))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }
}

/// What a server is to be written down as.
#[derive(Debug, Clone)]
pub struct Recording {
    /// Where it is written.
    pub ledger: Ledger,
    /// The name that a person gave the server.
    pub server: ServerName,
    /// The command that starts it, without its arguments.
    pub command: String,
}

impl Recording {
    /// Writes down that a server runs.
    ///
    /// Nothing where it could not be written, or the process is gone already: a server works as
    /// well without, and its host still ends it.
    pub(crate) fn of_process(&self, pid: u32) -> Option<Entry> {
        let file = self.write(pid, false)?;
        Some(Entry { file })
    }

    /// Writes down that a process of the server could not be ended, for as long as it runs.
    pub(crate) fn of_left(&self, pid: u32) {
        self.write(pid, true);
    }

    fn write(&self, pid: u32, is_left: bool) -> Option<PathBuf> {
        let Inner {
            folder,
            place,
            host,
        } = &*self.ledger.0;
        let record = Record {
            place: place.clone(),
            server: self.server.clone(),
            command: self.command.clone(),
            process: Instance::of(pid)?,
            host: host.clone(),
            is_left,
        };
        file::write(folder, &record).ok()
    }
}

/// A server that is written down; dropped when its process is gone, it is crossed out.
#[derive(Debug)]
pub(crate) struct Entry {
    file: PathBuf,
}

impl Drop for Entry {
    fn drop(&mut self) {
        // If it stays, the next listing finds that it means nobody.
        std::fs::remove_file(&self.file).ok();
    }
}
