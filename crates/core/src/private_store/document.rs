//! The JSON documents in a private store, each of which begins with a format version.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::StoreError;

/// The part that every format shares.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

/// Writes a document as indented JSON, so that people can read it.
pub fn write(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document)
        .expect("strings, numbers, lists and maps of strings can always be written");
    text.push('\n');
    text
}

/// Reads a document of this format version.
///
/// # Errors
/// Fails if it has another version, or is not a document of this form.
pub fn parse<D: DeserializeOwned>(text: &[u8], file: &Path, version: u64) -> Result<D, StoreError> {
    let broken = |error: serde_json::Error| StoreError::malformed(file, error.to_string());
    // The version first: a newer format would otherwise be reported as broken.
    let head: Head = serde_json::from_slice(text).map_err(broken)?;
    if head.version != version {
        return Err(StoreError::Newer {
            path: file.to_owned(),
            version: head.version,
        });
    }
    serde_json::from_slice(text).map_err(broken)
}
