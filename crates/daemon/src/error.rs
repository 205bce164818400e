//! The errors of the daemon and of connections to it.

use std::io;
use std::path::PathBuf;

use switchboard_core::files::FileError;

/// The reason that the daemon cannot run, or cannot be talked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DaemonError {
    /// This system has no Unix sockets with credentials.
    #[error(
        "there is no daemon on this system: it needs Unix sockets that tell the user of the other end"
    )]
    Unsupported,
    /// Another daemon has the lock.
    #[error("a daemon runs already")]
    Running,
    /// Other users could use or replace the socket.
    #[error("{}: {why}", path.display())]
    Unsafe {
        /// The folder or the socket.
        path: PathBuf,
        /// The reason.
        why: &'static str,
    },
    /// A folder on the path to the socket is unsafe.
    #[error(transparent)]
    Folder(#[from] FileError),
    /// The path of the socket is longer than the system allows.
    #[error("{}: the path is too long for a socket", path.display())]
    TooLong {
        /// The path.
        path: PathBuf,
    },
    /// A file or the socket cannot be used.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The other end belongs to another user.
    #[error("the other end of the socket belongs to another user")]
    Foreign,
    /// The other end has closed the connection, or it broke.
    #[error("the connection is lost")]
    Lost(#[source] io::Error),
    /// The other end sent something that is not of this protocol.
    #[error("the other end does not speak the protocol of the daemon: {0}")]
    Protocol(String),
    /// The other end did not answer in time.
    #[error("the daemon does not answer")]
    Silent,
}
