//! Why a store cannot be used.

use std::io;
use std::path::PathBuf;

/// Why a store of approvals cannot be used. Whatever the reason, nothing is approved by it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file or folder of the store could not be read or written.
    #[error("cannot {what} {path}", path = path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// Where.
        path: PathBuf,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// Somebody else could have written it.
    #[error("{path} is not safe to keep approvals in: {why}", path = path.display())]
    Unsafe {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
        /// The command that mends it, where one does.
        fix: Option<String>,
    },
    /// The file is none that we wrote.
    #[error(
        "the approvals in {path} cannot be read: {why}; move the file away, and approve again what is asked about",
        path = path.display()
    )]
    Broken {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file was written by a newer version.
    #[error("{path} has format {version}, which this version does not know; update it, or name another folder", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format that it has.
        version: u64,
    },
    /// The file was written, and is gone: nothing of it is approved, and nothing is begun anew.
    #[error(
        "{path} is gone, with what was approved of {servers}",
        path = lost.path.display(),
        servers = lost.note.servers().join(", ")
    )]
    Lost {
        /// The file, and what was in it.
        lost: Box<super::Lost>,
    },
    /// There are as many approvals as may be.
    #[error("there are {most} approvals already: revoke those that are not needed any more")]
    Full {
        /// How many there may be.
        most: usize,
    },
    /// The file would be larger than it may be.
    #[error("{path} would be larger than {most_bytes} bytes: revoke what is not needed any more", path = path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How large it may be.
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
    /// The system refused something that was tried with a file.
    pub fn io(what: &'static str, path: &std::path::Path, source: io::Error) -> Self {
        Self::Io {
            what,
            path: path.to_owned(),
            source,
        }
    }

    /// A file cannot be understood.
    pub fn broken(path: &std::path::Path, why: impl Into<String>) -> Self {
        Self::Broken {
            path: path.to_owned(),
            why: why.into(),
        }
    }
}
