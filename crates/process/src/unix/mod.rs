//! What is particular to Unix about child processes.
//!
//! There are two ways to start one. Where the system has what it takes, `linux` asks the C library
//! to do it in one go; everywhere else, `forked` runs our own steps between fork and exec. Both
//! give the child the same: a session of its own, the standard streams and no other file, and
//! signals as a fresh process has them.

mod forked;
mod group;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod pipes;
#[cfg(test)]
mod tests;

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::tend::{Start, Started};
use crate::{Cleanup, Exit};

/// A process that leads a group; dropped before its end, it is killed with its group.
pub(super) enum Child {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    Spawned(linux::Child),
    Forked(forked::Child),
}

/// Starts a process; returns once the system has loaded the program, or could not. With a keeper,
/// that is the keeper: see [`Child::has_started`].
pub(super) fn spawn(start: &Start) -> io::Result<Started> {
    // Before the process: what fails now has nothing to undo.
    let (ours, theirs) = pipes::open()?;
    Ok(Started {
        child: spawn_with(start, theirs)?,
        reader: Box::new(ours.reader),
        writer: Box::new(ours.writer),
        stderr: Box::new(ours.stderr),
    })
}

fn spawn_with(start: &Start, streams: pipes::Theirs) -> io::Result<Child> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if let Some(system) = linux::System::probed() {
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

    /// Waits until the process has ended, and kills whoever it left behind in its group.
    ///
    /// Cancel safe.
    pub(super) async fn wait(&mut self) -> io::Result<Exit> {
        match self {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(child) => child.wait().await,
            Self::Forked(child) => child.wait().await,
        }
    }

    /// Ends what a keeper could not, once the process was waited for; says what that was.
    pub(super) async fn clean_up(&mut self) -> Option<Cleanup> {
        match self {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(child) => child.clean_up().await,
            Self::Forked(_) => None,
        }
    }

    /// Looks who the process has started, where only that finds those who leave its group.
    pub(super) fn note_descendants(&mut self) {
        match self {
            // Its keeper sees them; without one, only the group is known.
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

    /// Kills the group, or has its keeper do that; the process still wants to be waited for.
    pub(super) fn start_kill(&mut self) {
        match self {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(child) => child.start_kill(),
            Self::Forked(child) => child.start_kill(),
        }
    }

    /// Kills the group, its keeper included.
    pub(super) fn force_kill(&mut self) {
        match self {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            Self::Spawned(child) => child.force_kill(),
            Self::Forked(child) => child.force_kill(),
        }
    }
}

/// Whether a file may be run; `None` when there is no such file.
pub(super) fn may_run(file: &Path) -> Option<bool> {
    let metadata = std::fs::metadata(file).ok()?;
    metadata
        .is_file()
        .then(|| metadata.permissions().mode() & 0o111 != 0)
}
