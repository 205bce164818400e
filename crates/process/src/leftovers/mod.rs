//! Servers that an earlier run has left running.
//!
//! A host ends its servers, and with keepers or jobs they even end with a host that crashes. Without
//! those, or if everything but the server was killed, servers can remain. Therefore a host keeps a
//! [`Ledger`]: one small file for each running server, in a folder that the host chooses. The next run
//! can [`list`] the servers whose host is gone.
//!
//! A file contains the server's name, its command without arguments, and the numbers and start times of
//! both processes, but no arguments and no variables. A process is reported only if it still has the
//! recorded start time, so that an unrelated process with the same number never is.
//!
//! ```no_run
//! use switchboard_process::leftovers::{self, Ledger};
//!
//! # fn example(folder: &std::path::Path) -> Result<(), Box<dyn std::error::Error>> {
//! for left in leftovers::list(folder)? {
//!     println!("{} still runs as process {}", left.server(), left.pid());
//! }
//! // What this run starts is written down by `Stdio::record`.
//! let ledger = Ledger::open(folder)?;
//! # drop(ledger);
//! # Ok(())
//! # }
//! ```

#[cfg(target_os = "linux")]
mod end;
mod file;
mod ledger;

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use switchboard_core::spec::ServerName;

pub use ledger::Ledger;
pub(crate) use ledger::LedgerEntry;
pub use ledger::Recording;

use super::instance::{self, Instance};

/// The maximum number of files that are read: a folder with more is not a ledger.
const MOST_FILES: usize = 10_000;

/// A server that runs although its host is gone, or a process that its host could not end.
#[derive(Debug, Clone)]
pub struct Leftover {
    server: ServerName,
    command: String,
    process: Instance,
    host: u32,
    started: SystemTime,
    file: PathBuf,
}

impl Leftover {
    /// The name that the user gave to the server.
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The command that started it, without its arguments.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.process.pid
    }

    /// Its start time.
    pub fn started(&self) -> SystemTime {
        self.started
    }

    /// The process id of its host.
    pub fn host(&self) -> u32 {
        self.host
    }

    /// Ends the process, its group and its descendants: asks them to end, and kills those that remain after
    /// `patience`. Returns true if all of them are gone.
    ///
    /// It blocks for `patience` and up to two seconds more. Signals are sent through pidfds, so a reused
    /// number cannot hit another process.
    ///
    /// # Errors
    /// Fails if a signal is refused, and on all systems but Linux, which have no pidfds.
    pub fn end(&self, patience: Duration) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        {
            let is_gone = end::end(&self.process, patience)?;
            if is_gone {
                // If this fails, the next listing finds that the process is gone.
                std::fs::remove_file(&self.file).ok();
            }
            Ok(is_gone)
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (patience, &self.file);
            Err(io::ErrorKind::Unsupported.into())
        }
    }
}

/// Lists the servers that run although their host is gone, and processes that hosts could not end,
/// oldest first.
///
/// Removes files of processes that are gone. Keeps files of a running host, of another machine or
/// container, and foreign files.
///
/// # Errors
/// Fails if the folder cannot be read. A missing folder counts as empty.
pub fn list(folder: &Path) -> io::Result<Vec<Leftover>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let place = instance::place();
    let mut left = Vec::new();
    for entry in entries.take(MOST_FILES) {
        let file = entry?.path();
        let Some(record) = file::read(&file).filter(|record| record.place == place) else {
            continue;
        };
        if record.host.is_running() && !record.is_left {
            continue;
        }
        match record.process.running_since() {
            Some(started) => left.push(Leftover {
                server: record.server,
                command: record.command,
                process: record.process,
                host: record.host.pid,
                started,
                file,
            }),
            // If this fails, the file still refers to no process.
            None => {
                std::fs::remove_file(&file).ok();
            }
        }
    }
    left.sort_by_key(|left| (left.started, left.process.pid));
    Ok(left)
}
