//! The record of an install, from which the exact text before it can be restored.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use switchboard_core::private_store::{PrivateStore, document};
use switchboard_core::spec::ServerName;

use super::InstallError;

/// The format of the records.
const VERSION: u64 = 1;

/// Longest wait for another process that changes records.
const PATIENCE: Duration = Duration::from_secs(5);

/// Largest record. It has no more of a file than what the edit replaced.
const MOST_BYTES: usize = 8 * 1024 * 1024;

/// What one install did.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    version: u64,
    server: String,
    /// The entry as it was written.
    pub(super) entry: Map<String, Value>,
    /// The edit of the client's file.
    pub(super) edit: FileEdit,
    /// The servers that were moved to the user's own file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) moved: Option<Moved>,
}

/// The edit of one file. The text before it is the text after it with one piece put back, so that no more of the user's
/// file is copied than necessary.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileEdit {
    file: String,
    /// True if the file existed.
    pub(super) existed: bool,
    /// The folders that the edit made, the outermost first; those whose path is not Unicode are not removed again.
    pub(super) folders: Vec<String>,
    /// The piece: its place, its length after the edit, and its text before.
    at: usize,
    inserted: usize,
    removed: String,
    /// The digest of the text after the edit.
    after: String,
}

/// The servers that an install has moved.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Moved {
    /// The user's own file.
    pub(super) file: String,
    /// The edit of it.
    pub(super) edit: FileEdit,
    pub(super) servers: Vec<MovedServer>,
}

/// A server that was moved.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MovedServer {
    /// Its name in the client's file, and in ours.
    pub(super) from: String,
    pub(super) to: String,
    /// Its entry in the client's file, and in ours.
    pub(super) theirs: Value,
    pub(super) ours: Map<String, Value>,
    /// False if our file had the same entry before.
    pub(super) is_added: bool,
}

impl Record {
    pub(super) fn new(
        server: &ServerName,
        entry: Map<String, Value>,
        edit: FileEdit,
        moved: Option<Moved>,
    ) -> Self {
        Self {
            version: VERSION,
            server: server.to_string(),
            entry,
            edit,
            moved,
        }
    }
}

impl FileEdit {
    pub(super) fn new(file: &Path, before: &Before, after: &str) -> Self {
        let old = before.text.as_deref().unwrap_or_default();
        let head = same_start(old, after);
        let (old_rest, new_rest) = (cut(old, head..), cut(after, head..));
        let tail = same_end(old_rest, new_rest);
        Self {
            file: file.display().to_string(),
            existed: before.text.is_some(),
            folders: {
                let folders = before.missing.iter();
                folders
                    .filter_map(|folder| Some(folder.to_str()?.to_owned()))
                    .collect()
            },
            at: head,
            inserted: new_rest.len() - tail,
            removed: cut(old_rest, ..old_rest.len() - tail).to_owned(),
            after: digest(after.as_bytes()),
        }
    }

    /// The file before the edit; `None` if its text is not the one after it.
    pub(super) fn before(&self, text: &str) -> Option<Before> {
        if digest(text.as_bytes()) != self.after {
            return None;
        }
        let head = text.get(..self.at)?;
        let tail = text.get(self.at.checked_add(self.inserted)?..)?;
        let original = format!("{head}{}{tail}", self.removed);
        Some(Before {
            text: self.existed.then_some(original),
            missing: self.folders.iter().map(PathBuf::from).collect(),
        })
    }
}

/// A file before an edit.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Before {
    /// Its text; `None` if it did not exist.
    pub(super) text: Option<String>,
    /// The folders on the way that did not exist.
    pub(super) missing: Vec<PathBuf>,
}

/// The records of all installs below the same keys of their files: one file of Claude Code has servers of the user
/// and of projects.
pub(super) struct RecordStore<'a> {
    store: PrivateStore,
    root: &'a [String],
}

impl<'a> RecordStore<'a> {
    pub(super) fn at(folder: &Path, root: &'a [String]) -> Self {
        let store = PrivateStore::at(folder.to_owned(), "installs");
        Self { store, root }
    }

    /// Returns the record of a server in a file.
    pub(super) fn read(
        &self,
        file: &Path,
        server: &ServerName,
    ) -> Result<Option<Record>, InstallError> {
        let name = self.file_name(file, server);
        let text = self.store.read(&name, MOST_BYTES);
        let Some(text) = text.map_err(InstallError::Record)? else {
            return Ok(None);
        };
        let read = document::parse(&text, &self.store.path(&name), VERSION);
        read.map(Some).map_err(InstallError::Record)
    }

    /// Writes a record, or removes it.
    pub(super) fn put(
        &self,
        file: &Path,
        server: &ServerName,
        record: Option<&Record>,
    ) -> Result<(), InstallError> {
        let name = self.file_name(file, server);
        let changed = self.store.change(PATIENCE, |held| match record {
            Some(record) => held.replace(&name, document::write(record).as_bytes(), MOST_BYTES),
            None => held.remove(&name),
        });
        changed.map_err(InstallError::Record)
    }

    /// The name of a record: paths and names of servers can have characters that a file name cannot.
    fn file_name(&self, file: &Path, server: &ServerName) -> String {
        let mut hash = Sha256::new();
        hash.update(file.as_os_str().as_encoded_bytes());
        for key in self.root {
            hash.update([0]);
            hash.update(key);
        }
        hash.update([0]);
        hash.update(server.as_str());
        let digits = hex(hash.finalize().as_slice());
        format!("{}.json", cut(&digits, ..32))
    }
}

fn digest(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes).as_slice())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The length of the common start of two texts.
fn same_start(old: &str, new: &str) -> usize {
    let pairs = old.chars().zip(new.chars());
    let same = pairs.take_while(|(old, new)| old == new);
    same.map(|(c, _)| c.len_utf8()).sum()
}

/// The length of the common end of two texts.
fn same_end(old: &str, new: &str) -> usize {
    let pairs = old.chars().rev().zip(new.chars().rev());
    let same = pairs.take_while(|(old, new)| old == new);
    same.map(|(c, _)| c.len_utf8()).sum()
}

fn cut(text: &str, range: impl std::slice::SliceIndex<str, Output = str>) -> &str {
    text.get(range).unwrap_or_default()
}
