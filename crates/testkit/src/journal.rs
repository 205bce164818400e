//! What a server was asked to run, on paper.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};

/// A file that gets a line for each tool call, before the call is run.
///
/// A line is written at once and by itself, so that it is there whatever becomes of the server
/// afterwards, and several servers can share a file.
#[derive(Debug, Clone)]
pub struct Journal {
    path: PathBuf,
    file: Arc<File>,
}

impl Journal {
    /// Opens a journal; what is in the file already stays.
    ///
    /// # Errors
    /// Fails when the file cannot be opened for appending.
    pub fn open(path: impl Into<PathBuf>) -> io::Result<Self> {
        let path = path.into();
        let file = OpenOptions::new().append(true).create(true).open(&path)?;
        Ok(Self {
            path,
            file: Arc::new(file),
        })
    }

    /// Writes down a call: `{"tool":"echo","arguments":{"message":"hello"}}`.
    pub(crate) fn write(&self, tool: &str, arguments: &Map<String, Value>) -> io::Result<()> {
        let mut line = json!({"tool": tool, "arguments": arguments}).to_string();
        line.push('\n');
        // One write: of a line that is written in parts, a server that is killed leaves a part.
        (&*self.file).write_all(line.as_bytes())
    }
}

/// Two journals are the same when they are the same file by name.
impl PartialEq for Journal {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Journal {}
