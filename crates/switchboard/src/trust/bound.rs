//! Data that an approval covers besides the entry itself: the file of variables, and the content of the
//! program and of files that its arguments name.

use std::collections::HashSet;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Fingerprint;
use super::path;
use crate::files::{self, Refusal, Source};

/// Maximum size of a file whose content is bound.
const MOST_BYTES: u64 = 2 * 1024 * 1024 * 1024;

/// The data that an approval covers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Bind {
    /// The entry, the path of the program, and the file of variables that the entry names.
    #[default]
    Entry,
    /// Also the content of the program, and of every file that an argument names.
    Content,
}

impl std::str::FromStr for Bind {
    type Err = ParseBindError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "entry" => Ok(Self::Entry),
            "content" => Ok(Self::Content),
            _ => Err(ParseBindError),
        }
    }
}

/// The error for a text that is neither `entry` nor `content`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected `entry` or `content`")]
pub struct ParseBindError;

/// The file of variables that an entry names, as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct EnvFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The names that it sets, in its order, each once; or the reason why it cannot be read.
    pub names: Result<Vec<String>, String>,
    /// The SHA-256 of its content; `None` if it cannot be read.
    pub content: Option<Fingerprint>,
}

/// A file whose content is bound.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Content {
    /// The path of the file.
    pub path: PathBuf,
    /// The SHA-256 of its content, or the reason why it cannot be read.
    pub hash: Result<Fingerprint, String>,
}

impl EnvFile {
    /// A file with these names and this text.
    pub fn read(path: impl Into<PathBuf>, mut names: Vec<String>, text: &str) -> Self {
        let mut seen = HashSet::new();
        // Each name once, in the order of the file.
        names.retain(|name| seen.insert(name.clone()));
        Self {
            path: path.into(),
            names: Ok(names),
            content: Some(Fingerprint::of(text)),
        }
    }

    /// A file that cannot be read.
    pub fn unreadable(path: impl Into<PathBuf>, why: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            names: Err(why.into()),
            content: None,
        }
    }

    /// Returns the names that it sets; empty if it cannot be read.
    pub fn names(&self) -> &[String] {
        self.names.as_deref().unwrap_or_default()
    }

    /// Returns the form that goes into a fingerprint.
    pub(super) fn canonical(&self) -> Value {
        let file = path::to_text(&self.path);
        match (&self.names, &self.content) {
            (Ok(names), Some(content)) => {
                json!({"path": file, "names": names, "content": content.to_string()})
            }
            // Not the reason: its words may differ from system to system, and the fingerprint with
            // them.
            _ => json!({"path": file, "unreadable": true}),
        }
    }
}

impl Content {
    /// Reads a file, if it is a regular one, and hashes its content.
    pub fn of(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let hash = hash(&path);
        Self { path, hash }
    }

    /// Describes a file whose content is not known.
    #[cfg(feature = "config")]
    pub(crate) fn unknown(path: impl Into<PathBuf>, why: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            hash: Err(why.into()),
        }
    }

    /// Reads the file again and returns `true` if its content has changed.
    pub fn has_changed(&self) -> bool {
        // A file that could not be read then was not bound, so it cannot have changed.
        self.hash.is_ok() && Self::of(&self.path).hash != self.hash
    }

    /// The form that is part of a fingerprint.
    pub(super) fn canonical(&self) -> Value {
        let hash = self.hash.as_ref().ok().map(ToString::to_string);
        json!({"path": path::to_text(&self.path), "content": hash})
    }

    /// Returns the hash for display, or the reason why there is no hash.
    pub(super) fn hash_text(&self) -> String {
        match &self.hash {
            Ok(hash) => hash.to_string(),
            Err(why) => why.clone(),
        }
    }
}

/// Hashes the content of a file, or returns the reason why it cannot. Does not block on pipes and reads
/// no devices.
fn hash(path: &Path) -> Result<Fingerprint, String> {
    // Follow links, as the system does when it starts the program or an interpreter reads a script.
    let opened = files::open(path, Source::Referenced).map_err(|error| match error.why() {
        Refusal::Absent => "there is no such file".to_owned(),
        // Do not repeat the system's message: some of them quote the path.
        Refusal::Io(_) => "it cannot be read".to_owned(),
        _ => error.to_string(),
    })?;
    // One byte more than is taken, to tell a file of exactly that size from a larger one.
    let mut reader = opened.into_file().take(MOST_BYTES + 1);
    let (mut hasher, mut read) = (Sha256::new(), 0_u64);
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return Err("it cannot be read".to_owned()),
        };
        hasher.update(buffer.get(..count).unwrap_or_default());
        read = read.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        if read > MOST_BYTES {
            return Err("it is too large".to_owned());
        }
    }
    Ok(Fingerprint::new(hasher.finalize().into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_of_a_file_is_hashed_and_nothing_else_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        std::fs::write(&file, "abc").unwrap();
        let hash = Content::of(&file).hash.unwrap().to_string();
        assert!(hash.starts_with("sha256:ba7816bf8f01cfea"), "{hash}");
        assert!(Content::of(folder.path()).hash.is_err());
        assert!(Content::of(folder.path().join("gone")).hash.is_err());
        #[cfg(target_os = "linux")]
        assert!(Content::of("/dev/zero").hash.is_err());
    }
}
