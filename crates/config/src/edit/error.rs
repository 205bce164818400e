//! Why a file was not changed.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard_core::spec::ServerName;

/// Why a file was not changed. Whichever it is, the file is as it was.
///
/// No message quotes a value of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// What is there cannot be read.
    #[error("line {line}, column {column}: {what}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, in characters from 1.
        column: usize,
        /// What is wrong.
        what: String,
    },
    /// Something in the file is of another kind than it has to be.
    #[error("{} must be {expected}", place(.pointer))]
    Shape {
        /// The way to it, as a JSON pointer.
        pointer: String,
        /// What has to be there.
        expected: &'static str,
    },
    /// The file has no server of this name.
    #[error("no server {:?} in this file{}", .name.as_str(), meant(.closest.as_deref()))]
    NoSuchServer {
        /// The name.
        name: ServerName,
        /// The name in the file that is nearest to it.
        closest: Option<String>,
    },
    /// The file has a server of this name already.
    #[error("there is a server {:?} in this file already", .0.as_str())]
    Exists(ServerName),
    /// A key or a server stands in the file twice, so that it is not clear which is meant.
    #[error("{what:?} is in this file twice: remove one of them by hand")]
    Twice {
        /// What stands there twice.
        what: String,
    },
    /// What is to be added is no object.
    #[error("the entry of a server must be an object")]
    Entry,
    /// The change would have damaged the file.
    #[error("the file is written in a way that cannot be edited safely: change it by hand")]
    Unsafe,
    /// The file is larger than config files are.
    #[error("the file is larger than {most} bytes")]
    TooLarge {
        /// The most that is read.
        most: u64,
    },
    /// Somebody else is writing.
    #[error("another program has been writing in {} for {waited:?}: try again", .folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The system refused something.
    #[error("cannot {doing} {}", .path.display())]
    Io {
        /// What was to be done.
        doing: &'static str,
        /// What with.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

impl EditError {
    /// Makes an error of what the system said.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io {
            doing,
            path: path.to_owned(),
            source,
        }
    }
}

fn place(pointer: &str) -> String {
    if pointer.is_empty() {
        "the file".to_owned()
    } else {
        format!("{pointer:?}")
    }
}

fn meant(closest: Option<&str>) -> String {
    closest
        .map(|name| format!(": did you mean {name:?}?"))
        .unwrap_or_default()
}
