//! Errors of private stores.

use std::io;
use std::path::PathBuf;

/// A store of approvals that cannot be used. Whatever the reason, nothing counts as approved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or folder of the store could not be read or written.
    #[error("cannot {what} {path}", path = path.display())]
    Io {
        /// The operation.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        #[source]
        source: io::Error,
    },
    /// Another user could have written it.
    #[error("{path} is not safe to keep approvals in: {why}", path = path.display())]
    Unsafe {
        /// The file or folder.
        path: PathBuf,
        /// The reason, and advice.
        why: String,
        /// A shell command that fixes it, if one does.
        fix: Option<String>,
    },
    /// The file has not been written by us.
    #[error(
        "the approvals in {path} cannot be read: {why}; move the file away, and approve again what is asked about",
        path = path.display()
    )]
    Broken {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The file was written by a newer version.
    #[error("{path} has format {version}, which this version does not know; update it, or name another folder", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format version.
        version: u64,
    },
    /// The file was written before and is missing now: nothing in it counts as approved, and it is not
    /// created anew.
    #[error(
        "{path} is gone, with what was approved of {servers}",
        path = lost.path.display(),
        servers = lost.note.servers().join(", ")
    )]
    Lost {
        /// The file, and a summary of its content.
        lost: Box<super::Lost>,
    },
    /// The maximum number of approvals is reached.
    #[error("there are {most} approvals already: revoke those that are not needed any more")]
    Full {
        /// The maximum.
        most: usize,
    },
    /// The file would exceed its maximum size.
    #[error("{path} would be larger than {most_bytes} bytes: revoke what is not needed any more", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The maximum size.
        most_bytes: usize,
    },
    /// Another process holds the lock.
    #[error("another process is writing approvals: {path} stayed locked", path = path.display())]
    Locked {
        /// The lock.
        path: PathBuf,
    },
}

impl StoreError {
    /// Creates an error for a failed operation on a file.
    pub fn io(what: &'static str, path: &std::path::Path, source: io::Error) -> Self {
        Self::Io {
            what,
            path: path.to_owned(),
            source,
        }
    }

    /// Creates an error for a file that cannot be understood.
    pub fn malformed(path: &std::path::Path, why: impl Into<String>) -> Self {
        Self::Broken {
            path: path.to_owned(),
            why: why.into(),
        }
    }
}
