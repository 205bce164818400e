//! The journal: a file with all tool calls that a server ran.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};

/// A file that gets a line for each tool call, before the call is run.
///
/// Each line is written at once and in one piece, so that it survives whatever happens to the
/// server afterwards, and several servers can share a file.
#[derive(Debug, Clone)]
pub struct Journal {
    path: PathBuf,
    file: Arc<File>,
}

impl Journal {
    /// Opens a journal; existing lines are kept.
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

    /// Writes a call: `{"tool":"echo","arguments":{"message":"hello"}}`.
    pub(crate) fn write(&self, tool: &str, arguments: &Map<String, Value>) -> io::Result<()> {
        // Encode first, so that only one write is needed.
        let mut line = json!({"tool": tool, "arguments": arguments}).to_string();
        line.push('\n');
        // One write: a server killed between two would leave half a line.
        (&*self.file).write_all(line.as_bytes())
    }
}

/// Journals are equal when their paths are.
impl PartialEq for Journal {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Journal {}
