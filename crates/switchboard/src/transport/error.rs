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
        /// A program that is there and has nearly that name.
        near: Option<PathBuf>,
    },
    /// The program is there but may not be run.
    #[error("{} is not executable", path.display())]
    NotExecutable {
        /// The file that was found.
        path: PathBuf,
        /// What is known of it.
        file: ProgramFile,
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
        /// What is known of it.
        file: ProgramFile,
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

/// What is known of a file that could not be run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramFile {
    /// Its permissions, where the system has such.
    pub mode: Option<u32>,
    /// What it looks like.
    pub form: ProgramForm,
}

/// What a file that was to be run looks like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProgramForm {
    /// It could not be looked at, or looks like nothing that is known.
    #[default]
    Unknown,
    /// There is nothing in it.
    Empty,
    /// A text that does not say what reads it.
    Text,
    /// A script, and what it says reads it.
    Script {
        /// The rest of its first line, verbatim.
        interpreter: String,
    },
    /// A program for a processor or a system.
    Native {
        /// Which.
        made_for: &'static str,
    },
}
