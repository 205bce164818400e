//! Errors of starting a process.

use std::io;
use std::path::PathBuf;

/// A process that was not started, and the reason.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// No program of that name was found.
    #[error("command {command:?} not found")]
    NotFound {
        /// The command as it was written.
        command: String,
        /// The folders that were searched.
        searched: Vec<PathBuf>,
        /// An existing program with a similar name.
        near: Option<PathBuf>,
    },
    /// The program exists but is not executable.
    #[error("{} is not executable", path.display())]
    NotExecutable {
        /// The file that was found.
        path: PathBuf,
        /// Details about the file.
        file: ProgramFile,
    },
    /// The working folder does not exist.
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
        /// Details about the file.
        file: ProgramFile,
        /// The error of the operating system.
        #[source]
        source: io::Error,
    },
}

/// Details about a file that could not be run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramFile {
    /// Its permissions, on systems that have them.
    pub mode: Option<u32>,
    /// Its format.
    pub form: ProgramForm,
}

/// The format of a file that could not be run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProgramForm {
    /// Unreadable, or of an unknown format.
    #[default]
    Unknown,
    /// A folder.
    Folder,
    /// An empty file.
    Empty,
    /// A text without a `#!` line.
    Text,
    /// A script with a `#!` line.
    Script {
        /// The rest of its first line, verbatim.
        interpreter: String,
    },
    /// A binary for a processor or an operating system.
    Native {
        /// The processor or system.
        made_for: &'static str,
    },
}
