//! Errors of editing a config file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard_core::spec::ServerName;

/// A failed edit. In every case the file is unchanged.
///
/// No message quotes a value of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// The text cannot be parsed.
    #[error("line {line}, column {column}: {what}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The column, in characters from 1.
        column: usize,
        /// The reason.
        what: String,
    },
    /// A part of the file has the wrong type.
    #[error("{} must be {expected}", place(.pointer))]
    Shape {
        /// Its place, as a JSON pointer.
        pointer: String,
        /// The expected type.
        expected: &'static str,
    },
    /// The file does not contain a server of this name.
    #[error("no server {:?} in this file{}", .name.as_str(), suggestion(.closest.as_deref()))]
    NoSuchServer {
        /// The name.
        name: ServerName,
        /// The most similar name in the file.
        closest: Option<String>,
    },
    /// The file already contains a server of this name.
    #[error("there is a server {:?} in this file already", .0.as_str())]
    Exists(ServerName),
    /// A key or a server occurs twice, so the edit would be ambiguous.
    #[error("{what:?} is in this file twice: remove one of them by hand")]
    Twice {
        /// The key or the name.
        what: String,
    },
    /// The entry to be added is not an object.
    #[error("the entry of a server must be an object")]
    Entry,
    /// The change would have damaged the file.
    #[error("the file is written in a way that cannot be edited safely: change it by hand")]
    Unsafe,
    /// The file is larger than the limit.
    #[error("the file is larger than {most} bytes")]
    TooLarge {
        /// The limit, in bytes.
        most: u64,
    },
    /// Another program is writing.
    #[error("another program has been writing in {} for {waited:?}: try again", .folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
        /// The time spent waiting.
        waited: Duration,
    },
    /// The operating system refused.
    #[error("cannot {doing} {}", .path.display())]
    Io {
        /// The operation.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        #[source]
        source: io::Error,
    },
}

impl EditError {
    /// Converts an error of the operating system.
    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
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

fn suggestion(closest: Option<&str>) -> String {
    closest
        .map(|name| format!(": did you mean {name:?}?"))
        .unwrap_or_default()
}
