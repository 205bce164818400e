//! A keeper: a small process between host and server that ends the server if the host dies.
//!
//! Without one, closing a server ends its process group. That requires a living host, and misses
//! processes that have left the group. A *keeper* is another instance of the host's own executable,
//! started under another name. It starts the server, adopts every descendant that loses its parent, and
//! holds one end of a pipe whose other end only the host has. However the host dies, that pipe closes,
//! and the keeper ends the server with all its descendants.
//!
//! Two lines turn it on: [`run_if_asked`] at the top of `main`, and `Stdio::keeper` with the path of
//! that program.
//!
//! Keepers exist on Linux with glibc 2.34 and kernel 5.9 or newer; elsewhere both lines do nothing. A
//! keeper is started with an empty environment: the server's variables are only data to it. A stopped
//! keeper continues when its host dies.
//!
//! Keeper and server have the same user, so a server can kill its keeper. The server's first process
//! then dies with the keeper, unless it has prevented that. The host notices, kills the processes that
//! are still in the server's session or control group, and reports it in `CloseReason::cleanup`. A
//! program that calls [`adopt_orphans`] finds all descendants of the server.
//!
//! A keeper is powerless against a server that kills its keeper after the host has died, against
//! descendants that now belong to another user, and against programs that were started elsewhere on
//! behalf of the server, such as containers.
//!
//! The host controls its keeper with signals: SIGTERM asks all processes to end, SIGQUIT kills them now.

use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod cgroup;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod life;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod memory;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod orders;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod signals;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod start;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod tree;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) use orders::{
    LAST, LIVENESS, LastReport, MARK, NAME, Report, STATUS, VARIABLES, write_variables,
};

/// Runs a keeper and never returns if this process was started as one; does nothing otherwise.
///
/// Call it first in `main`, before a runtime or a thread is started.
pub fn run_if_asked() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if is_keeper() && std::env::args_os().nth(1).is_some_and(|mark| mark == MARK) {
        life::run();
    }
}

/// Makes this process adopt orphans among its descendants, so that it can end the processes of a server
/// that has killed its keeper.
///
/// Use it only in a program that starts processes in sessions of their own through this library alone.
/// If the keeper of a server is lost, the library kills and reaps the children of this process that
/// are in another session and that it has not started itself, with all their descendants: see
/// [`spare_orphans`]. Call it once, after [`run_if_asked`]. It does nothing on systems other than Linux.
pub fn adopt_orphans() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    super::orphans::adopt();
}

/// Excludes the orphans that this process has adopted so far from being killed.
///
/// Call it after a program for the user has ended that may have left processes running on purpose, such
/// as an editor or a browser launcher.
pub fn spare_orphans() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    super::orphans::spare();
}

/// Kills the adopted orphans, except for the spared ones. Returns the process ids of those that still
/// run when the time is up.
///
/// Call it last in a program that calls [`adopt_orphans`]: a server may have killed its keeper after its
/// connection was dropped. It blocks until all are gone, or until `within` has passed.
pub fn end_orphans(within: Duration) -> Vec<u32> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    return super::orphans::end_all(within);
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    {
        let _ = within;
        Vec::new()
    }
}

/// Returns a path that means the running program even if its file is deleted or replaced; `None` if
/// `program` is another one.
///
/// A newer version in its place might not be a keeper that this one understands.
pub fn running_program(program: &Path) -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let own = std::env::current_exe().ok()?;
    (own == program).then(|| PathBuf::from("/proc/self/exe"))
}

/// Returns true if this process was started under the name of a keeper.
///
/// A process that gets here is not a keeper: its `main` did not call [`run_if_asked`].
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn is_keeper() -> bool {
    std::env::args_os().next().is_some_and(|name| name == NAME)
}
