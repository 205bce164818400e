//! Child processes that do not outlive their host.
//!
//! - [`resolve`]: finds the file that a command names;
//! - [`start`]: starts it with a cleared environment, only the three standard streams, and a session of
//!   its own; its stderr is always read, and it is ended in steps ([`Process`]);
//! - [`keeper`]: a small process in between, which ends the server however the host dies;
//! - [`Launch`]: processes that another program of the user runs for this one;
//! - [`leftovers`]: servers that an earlier run has left running nevertheless.
//!
//! Programs use the crate `switchboard`, whose `transport::Stdio` starts servers this way.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod cgroup;
mod deadline;
mod error;
mod exit;
mod inspect;
pub mod installer;
mod instance;
pub mod keeper;
pub mod leftovers;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod orphans;
mod process;
mod remote;
mod resolve;
mod stderr;
mod supervise;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use tokio::io::{AsyncRead, AsyncWrite};

pub use deadline::{TooLate, turn, turns, within};
pub use error::{ProgramFile, ProgramForm, StartError};
pub use exit::{Cleanup, Exit};
pub use inspect::add_details;
pub use process::{CleanupListener, Process};
pub use remote::{Launch, Launching, RemoteProcess};
pub use resolve::{Search, resolve};
pub use stderr::{OpenStderrListener, Stderr, StderrListener, is_gap};
pub use supervise::{Running, Start, start};
#[cfg(unix)]
use unix as platform;
#[cfg(unix)]
pub use unix::keep_standard_streams_only;
#[cfg(windows)]
use windows as platform;

/// A stream of bytes from a process.
pub type BoxRead = Box<dyn AsyncRead + Send + Unpin>;
/// A stream of bytes to a process.
pub type BoxWrite = Box<dyn AsyncWrite + Send + Unpin>;
