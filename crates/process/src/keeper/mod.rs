//! A small process between the host and a server, which outlives the host and leaves nothing behind.
//!
//! Without one, closing a server ends its process group. That needs a host that lives to do it, and
//! misses whoever has left the group. A *keeper* is the host's own executable once more, started
//! under another name: it starts the server, adopts every process of it that loses its parent, and
//! holds one end of a pipe whose other end only the host has. However the host dies, that pipe
//! ends, and the keeper ends the server and all its descendants.
//!
//! Two lines turn it on: [`run_if_asked`] at the top of `main`, and `Stdio::keeper` with the path of that program.
//!
//! There are keepers on Linux with glibc 2.34 and kernel 5.9 or newer; elsewhere both lines do
//! nothing. A keeper is started with an empty environment: the server's variables are data to it.
//! One that was stopped goes on when its host dies.
//!
//! A keeper and its server are the same user, so a server can kill its keeper. Its first process dies
//! with the keeper unless it has arranged not to. The host notices, kills who is still in the
//! server's session or control group, and says so in
//! `CloseReason::cleanup`. A program that calls
//! [`adopt_orphans`] finds all that the server has started.
//!
//! What a keeper cannot do anything about: a server that kills its keeper after the host has died,
//! descendants that have become another user's, and programs that somebody else started on behalf of
//! the server, such as containers.
//!
//! What the host tells its keeper: SIGTERM to ask everybody to end, SIGQUIT to kill them now.

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

/// Becomes a keeper and never returns, if this process was started to be one; does nothing
/// otherwise.
///
/// Call it first in `main`, before a runtime or a thread is started.
pub fn run_if_asked() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if is_keeper() && std::env::args_os().nth(1).is_some_and(|mark| mark == MARK) {
        life::run();
    }
}

/// Makes this process adopt the orphans among its descendants, to end what a server leaves that has
/// killed its keeper.
///
/// It is for a program that starts no other processes in sessions of their own but through this
/// library. When the keeper of a server is lost, the library kills and fetches those children of
/// this process that are in another session and that it has not started itself, with all their
/// descendants: see [`spare_orphans`]. Call it once, after [`run_if_asked`]. Elsewhere than on Linux
/// it does nothing.
pub fn adopt_orphans() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    super::orphans::adopt();
}

/// Leaves the orphans alone that this process has adopted by now.
///
/// Call it after a program has ended that the person uses and that may have left something behind
/// on purpose, such as an editor or what opens a browser.
pub fn spare_orphans() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    super::orphans::spare();
}

/// Kills the orphans that this process has adopted, but for those that are to be spared. Returns the
/// process ids of those that still run when the time is over.
///
/// Call it last in a program that calls [`adopt_orphans`]: a server may have killed its keeper after
/// its connection was dropped. It blocks until all are gone, or for the time it is given.
pub fn end_orphans(within: Duration) -> Vec<u32> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    return super::orphans::end_all(within);
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    {
        let _ = within;
        Vec::new()
    }
}

/// A path that means the program of this process for as long as it runs, if `program` is that one.
///
/// The file itself may be deleted, or replaced by a newer version, which would not be a keeper that
/// this one understands.
pub fn running_program(program: &Path) -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let own = std::env::current_exe().ok()?;
    (own == program).then(|| PathBuf::from("/proc/self/exe"))
}

/// Whether this process was started under the name of a keeper.
///
/// One that asks is none: its `main` did not call [`run_if_asked`].
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn is_keeper() -> bool {
    std::env::args_os().next().is_some_and(|name| name == NAME)
}
