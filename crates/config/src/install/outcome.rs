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
    /// The servers that were moved to the user's own file, or by an undo back to the client's.
    pub moved: Vec<String>,
    /// The servers that were not moved.
    pub left: Vec<LeftServer>,
    /// The user's own file, if servers were moved.
    pub own_file: Option<PathBuf>,
}

/// A server that was not moved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftServer {
    /// Its name.
    pub name: String,
    /// The reason.
    pub reason: LeftReason,
}

/// The reason why a server was not moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LeftReason {
    /// Its entry is not valid.
    Invalid,
    /// The user's own file has another server of the name.
    NameTaken,
    /// It asks for an input, which only the client can answer.
    AsksForInput,
    /// It has changed in the user's own file since it was moved, and stays there too.
    Changed,
}

impl InstallChange {
    /// Returns true if the file is changed.
    pub fn is_change(self) -> bool {
        !matches!(self, Self::Unchanged | Self::NotInstalled)
    }
}
