//! A daemon of one user that keeps servers running between commands.
//!
//! - [`Place`]: the private folder with the socket and the lock of the daemon.
//! - [`Daemon`]: listens on the socket, and answers until it is told to stop.
//! - [`Contact`]: a connection of a command to the daemon.
//!
//! Both sides check that the other belongs to the same user before anything is sent: the folder by its owner
//! and mode, the socket by its owner, the other process by the credentials of the connection. The daemon says its
//! version first, so that a command of another version sends it nothing but a request to stop.
//!
//! There is a daemon on Unix alone; elsewhere everything fails with [`DaemonError::Unsupported`].

mod error;
#[cfg(unix)]
mod frame;
#[cfg(unix)]
mod message;
mod place;
mod status;
#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod unsupported;

pub use error::DaemonError;
pub use place::Place;
pub use status::DaemonStatus;
#[cfg(unix)]
pub use unix::{Contact, Daemon};
#[cfg(not(unix))]
pub use unsupported::{Contact, Daemon};

/// The version that both sides must have to work together.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
