//! Notes about the files of a private store, which reveal that a file was deleted.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{StoreError, document, guard, put};

/// The format version that is written and read.
const VERSION: u64 = 1;

/// The maximum size of the notes: some hundred bytes for each file that a store may have.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The maximum number of server names noted for one file; the count includes all.
const MOST_NAMES: usize = 32;

/// A summary of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The number of records in it.
    count: usize,
    /// The servers that they are about, up to a limit.
    servers: Vec<String>,
}

/// A file that was written and is missing, though it was not removed here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Its path.
    pub path: PathBuf,
    /// A summary of its content.
    pub note: Note,
}

impl Note {
    /// Creates a note for `count` records about these servers.
    pub fn of<'s>(count: usize, servers: impl IntoIterator<Item = &'s str>) -> Self {
        let mut names: Vec<String> = Vec::new();
        for name in servers {
            if names.len() < MOST_NAMES && !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        Self {
            count,
            servers: names,
        }
    }

    /// The number of records.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The servers that they are about, up to a limit.
    pub fn servers(&self) -> &[String] {
        &self.servers
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is gone", self.path.display())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NotesDocument {
    version: u64,
    files: BTreeMap<String, Note>,
}

/// The notes of one store, changed only by the holder of the store's lock.
#[derive(Debug)]
pub(super) struct Notes {
    folder: PathBuf,
    file: PathBuf,
    fresh: PathBuf,
}

impl Notes {
    pub(super) fn at(folder: PathBuf, name: &str) -> Self {
        Self {
            file: folder.join(format!("{name}.kept")),
            fresh: folder.join(format!("{name}.kept.new")),
            folder,
        }
    }

    /// Reads the notes; `None` if there never were any.
    pub(super) fn read(&self) -> Result<Option<BTreeMap<String, Note>>, StoreError> {
        if !guard::folder(&self.folder)? {
            return Ok(None);
        }
        let Some(file) = guard::file(&self.file)? else {
            return Ok(None);
        };
        let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
        let mut text = Vec::new();
        file.take(most)
            .read_to_end(&mut text)
            .map_err(|error| StoreError::io("read", &self.file, error))?;
        let document: NotesDocument = document::parse(&text, &self.file, VERSION)?;
        Ok(Some(document.files))
    }

    /// Changes the notes, and writes them if they differ.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, Note>),
    ) -> Result<(), StoreError> {
        if !guard::folder(&self.folder)? {
            guard::make_folder(&self.folder)?;
            guard::folder(&self.folder)?;
        }
        // Write only if something has changed: every write replaces the file.
        let old = self.read()?;
        let mut files = old.clone().unwrap_or_default();
        change(&mut files);
        if old.as_ref() == Some(&files) {
            return Ok(());
        }
        let version = VERSION;
        let text = document::write(&NotesDocument { version, files });
        put(&self.fresh, &self.file, text.as_bytes())
    }
}
