//! A small process between the host and a server, which outlives the host and leaves nothing behind.
//!
//! Without one, closing a server ends its process group. That needs a host that lives to do it, and
//! misses whoever has left the group. A *keeper* is the host's own executable once more, started
//! under another name: it starts the server, adopts every process of it that loses its parent, and
//! holds one end of a pipe whose other end only the host has. However the host dies, that pipe
//! ends, and the keeper ends the server and all its descendants.
//!
//! Two lines turn it on: [`run_if_asked`] at the top of `main`, and
//! [`Stdio::keeper`](crate::transport::Stdio::keeper) with the path of that program.
//!
//! ```no_run
//! use switchboard::transport::Stdio;
//!
//! fn main() -> std::io::Result<()> {
//!     switchboard::keeper::run_if_asked();
//!     let time = Stdio::new("uvx").args(["mcp-server-time"]).keeper(std::env::current_exe()?);
//!     # drop(time);
//!     Ok(())
//! }
//! ```
//!
//! There are keepers on Linux with glibc 2.34 and kernel 5.9 or newer; elsewhere both lines do
//! nothing. What a keeper cannot do anything about: a server that kills or stops its keeper (both
//! belong to the same user; the server itself dies with a killed one), descendants that have become
//! another user's, and programs that somebody else started on behalf of the server, such as
//! containers.
//!
//! What the host tells its keeper: SIGTERM to ask everybody to end, SIGQUIT to kill them now.

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
pub(in crate::transport::stdio) use orders::{LIVENESS, MARK, NAME, Report, STATUS};

/// Becomes a keeper and never returns, if this process was started to be one; does nothing
/// otherwise.
///
/// Call it first in `main`, before a runtime or a thread is started.
pub fn run_if_asked() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if is_keeper() && std::env::var_os(MARK).is_some() {
        life::run();
    }
}

/// Whether this process was started under the name of a keeper.
///
/// One that asks is none: its `main` did not call [`run_if_asked`].
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(in crate::transport::stdio) fn is_keeper() -> bool {
    std::env::args_os().next().is_some_and(|name| name == NAME)
}
