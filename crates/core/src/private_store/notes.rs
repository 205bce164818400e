//! Notes of which files a private store has, so that one that was deleted is missed.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read as _;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{StoreError, document, guard, put};

/// The format that is written and read.
const VERSION: u64 = 1;

/// The longest file of notes: some hundred bytes for each of as many files as a store has.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The names of servers that are noted for one file; the count has them all.
const MOST_NAMES: usize = 32;

/// What is noted about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// How many things were kept in it.
    count: usize,
    /// The servers that they were about, as far as they are noted.
    servers: Vec<String>,
}

/// A file that was written, is gone, and was not removed here.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lost {
    /// Where it was.
    pub path: PathBuf,
    /// What was in it.
    pub note: Note,
}

impl Note {
    /// Notes so many things about these servers.
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

    /// How many things were kept.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The servers that they were about, as far as they are noted.
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
struct Document {
    version: u64,
    files: BTreeMap<String, Note>,
}

/// The notes of one store. They are changed by who holds the store's lock.
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

    /// Reads what is noted; nothing where nothing ever was.
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
        let document: Document = document::parse(&text, &self.file, VERSION)?;
        Ok(Some(document.files))
    }

    /// Changes what is noted.
    pub(super) fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, Note>),
    ) -> Result<(), StoreError> {
        if !guard::folder(&self.folder)? {
            guard::make_folder(&self.folder)?;
            guard::folder(&self.folder)?;
        }
        let old = self.read()?;
        let mut files = old.clone().unwrap_or_default();
        change(&mut files);
        if old.as_ref() == Some(&files) {
            return Ok(());
        }
        let version = VERSION;
        let text = document::write(&Document { version, files });
        put(&self.fresh, &self.file, text.as_bytes())
    }
}
