//! Child processes on Unix.
//!
//! There are two ways to start one. If the system supports it, `linux` uses `posix_spawn`; everywhere
//! else, `forked` runs our own steps between fork and exec. Both give the child the same environment: a
//! session of its own, the standard streams and no other file, and signals at their defaults.

mod forked;
mod group;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod pipes;
#[cfg(test)]
mod tests;

pub use forked::keep_standard_streams_only;

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::supervise::{Start, StartedProcess};
use crate::{Cleanup, Exit};

/// A process that leads a group; dropping it before its end kills the group.
pub(super) enum Child {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    Spawned(linux::SpawnedChild),
    Forked(forked::ForkedChild),
}

/// Starts a process; returns when the system has loaded the program, or could not. With a keeper, that is
/// the keeper: see [`Child::has_started`].
pub(super) fn spawn(start: &Start) -> io::Result<StartedProcess> {
    // Pipes first: if they fail, there is no process to end.
    let (ours, theirs) = pipes::open()?;
    Ok(StartedProcess {
        child: spawn_with(start, theirs)?,
        reader: Box::new(ours.reader),
        writer: Box::new(ours.writer),
        stderr: Box::new(ours.stderr),
    })
}

fn spawn_with(start: &Start, streams: pipes::Theirs) -> io::Result<Child> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if let Some(system) = linux::System::detect() {
        return system.spawn(start, streams).map(Child::Spawned);
    }
    forked::spawn(start, streams).map(Child::Forked)
}

impl Child {
    pub(super) fn pid(&self) -> u32 {
        match self {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(child) => child.pid(),
            Self::Forked(child) => child.pid(),
        }
    }

    /// Waits until a keeper has started the server, or could not.
    pub(super) async fn has_started(&mut self) -> io::Result<()> {
        match self {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(child) => child.has_started().await,
            Self::Forked(_) => Ok(()),
        }
    }

    /// Waits until the process has ended, and kills the rest of its group.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing: the next call continues to wait.
    pub(super) async fn wait(&mut self) -> io::Result<Exit> {
        match self {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(child) => child.wait().await,
            Self::Forked(child) => child.wait().await,
        }
    }

    /// Ends the processes that a keeper could not, after the process was waited for; returns a report.
    pub(super) async fn clean_up(&mut self) -> Option<Cleanup> {
        match self {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(child) => child.clean_up().await,
            Self::Forked(_) => None,
        }
    }

    /// Looks for descendants, on systems where those that leave the group are found in no other way.
    pub(super) fn note_descendants(&mut self) {
        match self {
            // The keeper sees them; without one, only the group is known.
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(_) => {}
            Self::Forked(child) => child.note_descendants(),
        }
    }

    /// Asks the group to end.
    pub(super) fn terminate(&self) {
        match self {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(child) => child.terminate(),
            Self::Forked(child) => child.terminate(),
        }
    }

    /// Kills the group, or makes its keeper do that; the process must still be waited for.
    pub(super) fn start_kill(&mut self) {
        match self {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(child) => child.start_kill(),
            Self::Forked(child) => child.start_kill(),
        }
    }

    /// Kills the group, including a keeper.
    pub(super) fn force_kill(&mut self) {
        match self {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(child) => child.force_kill(),
            Self::Forked(child) => child.force_kill(),
        }
    }
}

/// Returns true if a file is executable; `None` if it does not exist.
pub(super) fn may_run(file: &Path) -> Option<bool> {
    let metadata = std::fs::metadata(file).ok()?;
    metadata
        .is_file()
        .then(|| metadata.permissions().mode() & 0o111 != 0)
}
