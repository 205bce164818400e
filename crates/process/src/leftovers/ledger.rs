//! The ledger of running servers, each in a file of its own.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use switchboard_core::files::make_private_folder;
use switchboard_core::spec::ServerName;

use super::file::{self, Record};
use super::instance::{self, Instance};

/// The folder in which this process records its running servers. Clones share the ledger.
#[derive(Debug, Clone)]
pub struct Ledger(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    place: String,
    host: Instance,
}

impl Ledger {
    /// Opens the ledger in a folder, which is created with mode 0700 if necessary.
    ///
    /// # Errors
    /// Fails if the folder cannot be created, or if the system does not reveal start times of processes.
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

/// The details to record about a server.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The ledger to write to.
    pub ledger: Ledger,
    /// The name that the user gave to the server.
    pub server: ServerName,
    /// The command that starts it, without its arguments.
    pub command: String,
}

impl Recording {
    /// Records that a server runs.
    ///
    /// Returns `None` if the file could not be written, or if the process is gone already. The server works
    /// without it, and its host still ends it.
    pub(crate) fn of_process(&self, pid: u32) -> Option<LedgerEntry> {
        let file = self.write(pid, false)?;
        Some(LedgerEntry { file })
    }

    /// Records that a process of the server could not be ended.
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

/// The record of a running server; dropping it removes the file.
#[derive(Debug)]
pub(crate) struct LedgerEntry {
    file: PathBuf,
}

impl Drop for LedgerEntry {
    fn drop(&mut self) {
        // If this fails, the next listing finds that the process is gone.
        std::fs::remove_file(&self.file).ok();
    }
}
