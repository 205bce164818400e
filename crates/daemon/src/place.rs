//! The private folder of the daemon.

use std::path::{Path, PathBuf};

/// The folder with the socket and the lock of a user's daemon.
#[derive(Debug, Clone)]
pub struct Place {
    folder: PathBuf,
}

impl Place {
    /// A place at a folder, which is made with mode 0700 when a daemon starts.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self { folder }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The socket that the daemon listens on.
    pub fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// The file that a running daemon has locked.
    #[cfg(unix)]
    pub(crate) fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }
}
