//! Servers that an earlier run has left running.
//!
//! A host ends its servers, and where there are keepers or jobs they end with a host that cannot.
//! What remains are systems and programs without them, and the day on which everything was killed
//! but the server. For that day a host keeps a [`Ledger`]: one small file for each server that runs,
//! in a folder that the host names. The next run can [`list`] those whose host is gone.
//!
//! A file has the server's name, its command without arguments, and the numbers and start times of
//! both processes; no argument and no variable is written. A process is named only if it has the
//! same start time as then, so that one which merely got the same number never is.
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

pub(crate) use ledger::Entry;
pub use ledger::Ledger;
pub use ledger::Recording;

use super::instance::{self, Instance};

/// The most files of a folder that are looked at: a folder that anything fills is none of ours.
const MOST_FILES: usize = 10_000;

/// A server that runs although its host is gone, or what is left of one that its host could not end.
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
    /// The name that a person gave the server.
    pub fn server(&self) -> &ServerName {
        &self.server
    }

    /// The command that started it, without its arguments.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.process.pid
    }

    /// When it was started.
    pub fn started(&self) -> SystemTime {
        self.started
    }

    /// The number that its host had.
    pub fn host(&self) -> u32 {
        self.host
    }

    /// Ends the process, its group and its descendants: asks them to, and kills after `patience`
    /// whoever is left. Says whether all of them are gone.
    ///
    /// It blocks for `patience` and up to two seconds more. No process is signalled by a number
    /// that could mean another by then.
    ///
    /// # Errors
    /// When a signal is refused, and on systems where numbers are all there is to signal by: all
    /// but Linux.
    pub fn end(&self, patience: Duration) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        {
            let is_gone = end::end(&self.process, patience)?;
            if is_gone {
                // If it stays, the next listing finds that it means nobody.
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

/// Lists the servers that run although their host is gone, and what hosts could not end, oldest
/// first.
///
/// Files that mean nobody any more are removed. Those of a host that runs, of another machine or
/// container, and whatever is no file of ours are left alone.
///
/// # Errors
/// When the folder cannot be read. One that is not there is an empty one.
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
            // If it stays, it still means nobody.
            None => {
                std::fs::remove_file(&file).ok();
            }
        }
    }
    left.sort_by_key(|left| (left.started, left.process.pid));
    Ok(left)
}
