//! Why no connection came about.

use std::io;
use std::path::PathBuf;

/// Why no connection came about.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// No program of that name was found.
    #[error("command {command:?} not found")]
    NotFound {
        /// The command as it was written.
        command: String,
        /// Where it was looked for.
        searched: Vec<PathBuf>,
    },
    /// The program is there but may not be run.
    #[error("{} is not executable", path.display())]
    NotExecutable {
        /// The file that was found.
        path: PathBuf,
    },
    /// The folder to start in is not there.
    #[error("working folder {} does not exist", path.display())]
    NoFolder {
        /// The folder as it was written.
        path: PathBuf,
    },
    /// The operating system refused to start it.
    #[error("could not start {}", path.display())]
    Spawn {
        /// The program.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A transport's own reason.
    #[error("could not connect")]
    Other {
        /// The reason.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl ConnectError {
    /// Wraps a reason of a transport of your own.
    pub fn other(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other {
            source: source.into(),
        }
    }
}
