//! Why a process was not started.

use std::io;
use std::path::PathBuf;

/// Why a process was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
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
}

/// What is known of a file that could not be run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProgramFile {
    /// Its permissions, where the system has such.
    pub mode: Option<u32>,
    /// What it looks like.
    pub form: ProgramForm,
}

/// What a file that was to be run looks like.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
