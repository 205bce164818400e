//! What is in a file of a private store: JSON that begins with the version of its form.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// Only what every form has.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

/// Writes a document for people to read, too.
pub fn write(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document)
        .expect("strings, numbers, lists and maps of strings can always be written");
    text.push('\n');
    text
}

/// Reads a document of a version. Of another one nothing is looked at but that it is one.
///
/// # Errors
/// When it is of another version, or not what it should be.
pub fn parse<D: DeserializeOwned>(text: &[u8], file: &Path, version: u64) -> Result<D, StoreError> {
    let broken = |error: serde_json::Error| StoreError::broken(file, error.to_string());
    let head: Head = serde_json::from_slice(text).map_err(broken)?;
    if head.version != version {
        return Err(StoreError::Newer {
            path: file.to_owned(),
            version: head.version,
        });
    }
    serde_json::from_slice(text).map_err(broken)
}
