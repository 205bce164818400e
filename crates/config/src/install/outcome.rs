//! What an install or an undo did.

use std::path::PathBuf;

/// The change that was made, or that a dry run would make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum InstallChange {
    /// The entry was added.
    Installed,
    /// An earlier entry of the gateway was changed, for example because the program has moved.
    Updated,
    /// The entry was there already.
    Unchanged,
    /// The file is what it was before the install, byte for byte.
    Restored,
    /// The install had made the file, which was deleted.
    Deleted,
    /// The file has changed since the install, or there is no record of it: only the entry was removed.
    Removed,
    /// There was nothing to undo.
    NotInstalled,
}

/// The result of an install, an undo or a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The change.
    pub change: InstallChange,
    /// The file itself, after following links.
    pub file: PathBuf,
    /// The difference as a unified diff, with secrets masked; empty if nothing changes.
    pub diff: String,
}

impl InstallChange {
    /// Returns true if the file is changed.
    pub fn is_change(self) -> bool {
        !matches!(self, Self::Unchanged | Self::NotInstalled)
    }
}
