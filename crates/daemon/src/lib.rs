//! A daemon of one user that keeps servers running between commands.
//!
//! - [`Place`]: the private folder with the socket and the lock of the daemon.
//! - [`Daemon`]: listens on the socket, runs servers for commands, and ends them when it stops.
//! - [`DaemonLauncher`]: the side of a command: its servers are started in the daemon, if one runs.
//! - [`Contact`]: a connection for questions about the daemon itself.
//!
//! The daemon judges nothing: which server is started, with which variables and for whom, is decided in the
//! command, and so are approvals, permissions and questions. A server is lent to one command at a time, so that
//! everything it sends reaches the right one; afterwards it waits for the next command that describes the same
//! server, if nothing of the earlier one is left in it.
//!
//! Both sides check that the other belongs to the same user before anything is sent: the folder by its owner
//! and mode, the socket by its owner, the other process by the credentials of the connection. The daemon says its
//! version first, so that a command of another version sends it nothing but a request to stop. Variables of
//! servers travel over that connection and are kept in memory, never in a file.
//!
//! There is a daemon on Unix alone; elsewhere everything fails with [`DaemonError::Unsupported`].

mod error;
#[cfg(unix)]
mod frame;
#[cfg(unix)]
mod message;
mod options;
mod place;
mod status;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod unsupported;
mod unused;

pub use error::DaemonError;
pub use options::DaemonOptions;
pub use place::Place;
pub use status::{DaemonStatus, ServerStatus};
#[cfg(unix)]
pub use switchboard_process::keep_standard_streams_only;
#[cfg(unix)]
pub use unix::{Contact, Daemon, DaemonLauncher};
#[cfg(not(unix))]
pub use unsupported::{Contact, Daemon, DaemonLauncher};
pub use unused::{Notice, Unused};

/// The version that both sides must have to work together.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
