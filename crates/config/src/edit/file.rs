//! Applies a change to a config file on disk.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard_core::files::{self, FileError, Refusal, Source};

use super::lock::locked;
use super::replace::replace;
use super::syntax::not_text;
use super::{Change, EditError, apply};

/// Maximum number of links on the way to a file.
const LINKS: usize = 40;

/// The limits of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EditLimits {
    /// Longest wait for another writer.
    pub wait: Duration,
    /// Largest file that is edited.
    pub file_bytes: u64,
}

impl Default for EditLimits {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(5),
            file_bytes: 4 * 1024 * 1024,
        }
    }
}

/// The permissions of a new file. An existing file keeps its permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// For its owner alone (0600, in folders of 0700): a user's own file, which may contain secrets.
    #[default]
    Private,
    /// The default of the user's umask: a file of a project.
    Shared,
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edited {
    /// The file itself, after following links.
    pub file: PathBuf,
    /// True if anything was written. Disabling a server twice writes once.
    pub is_changed: bool,
    /// True if the file did not exist before.
    pub is_new: bool,
}

/// Changes a file atomically, with one writer at a time.
///
/// The text is read while the lock is held, so that concurrent writers do not lose each other's changes.
/// A link stays, and the file that it leads to is changed. [`Change::Add`] creates the file and its
/// folders if necessary. No lock file is left behind.
///
/// # Errors
/// Fails like [`apply`], if another writer does not finish in time, or if the operating system refuses.
/// The file is unchanged then.
pub fn edit(
    file: &Path,
    change: &Change,
    access: Access,
    bounds: &EditLimits,
) -> Result<Edited, EditError> {
    edit_with(file, change, access, bounds, |new, old| {
        std::fs::rename(new, old)
    })
}

/// Implements [`edit`] with the last step as a parameter, so that a test can make it fail.
pub(super) fn edit_with(
    file: &Path,
    change: &Change,
    access: Access,
    bounds: &EditLimits,
    rename: impl FnOnce(&Path, &Path) -> io::Result<()>,
) -> Result<Edited, EditError> {
    // Resolve links first: the lock and the replacement concern the real file.
    let target = follow(file)?;
    let folder = match target.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return Err(not_a_file(&target)),
    };
    // Only an addition makes folders: a removal from a file that is not there must not.
    if matches!(change, Change::Add { .. }) {
        make_folders(folder, access).map_err(EditError::io("create", folder))?;
    }
    // Lock the folder by its real name, so that all writers lock the same one.
    let folder = match folder.canonicalize() {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // The better error if there is one: no server of that name.
            apply("", change)?;
            return Err(EditError::io("open", folder)(error));
        }
        Err(error) => return Err(EditError::io("open", folder)(error)),
    };
    // By the real folder and the plain name: the links were followed before.
    let name = target.file_name().ok_or_else(|| not_a_file(&target))?;
    let target = folder.join(name);
    locked(&folder, bounds.wait, || {
        // Read only now, under the lock: another writer may just have finished.
        let old = read(&target, bounds)?;
        let (text, metadata) = match &old {
            Some((text, metadata)) => (text.as_str(), Some(metadata)),
            None => ("", None),
        };
        let new = apply(text, change)?;
        let is_changed = new != text;
        if is_changed {
            replace(&target, metadata, &new, access, rename)?;
        }
        Ok(Edited {
            file: target.clone(),
            is_changed,
            is_new: old.is_none(),
        })
    })
}

/// Follows links to the file itself, even if that does not exist yet.
pub(super) fn follow(file: &Path) -> Result<PathBuf, EditError> {
    let mut file = file.to_owned();
    for _ in 0..LINKS {
        match std::fs::read_link(&file) {
            // Joining an absolute path results in that path.
            Ok(target) => file = file.parent().unwrap_or(Path::new("")).join(target),
            // Not a link, or missing; other problems show when it is opened.
            Err(_) => return Ok(file),
        }
    }
    Err(EditError::Io {
        doing: "follow the links of",
        path: file,
        source: io::Error::other("there are too many"),
    })
}

/// Reads a file; `None` if it does not exist.
pub(super) fn read(
    file: &Path,
    bounds: &EditLimits,
) -> Result<Option<(String, Metadata)>, EditError> {
    let opened = match files::open(file, Source::Referenced) {
        Ok(opened) => opened,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(unread(file, error)),
    };
    // Take the metadata from the open file: its mode is kept when it is replaced.
    let metadata = opened.metadata().clone();
    let most = usize::try_from(bounds.file_bytes).unwrap_or(usize::MAX);
    let bytes = opened.read(most).map_err(|error| match error.why() {
        Refusal::TooLarge { .. } => EditError::TooLarge {
            most: bounds.file_bytes,
        },
        _ => unread(file, error),
    })?;
    // Not converted with losses: the file is written back.
    let text = String::from_utf8(bytes.bytes)
        .map_err(|error| not_text(error.as_bytes(), &error.utf8_error()))?;
    Ok(Some((text, metadata)))
}

fn unread(file: &Path, error: FileError) -> EditError {
    match error.into_why() {
        Refusal::Io(error) => EditError::io("read", file)(error),
        _ => not_a_file(file),
    }
}

fn make_folders(folder: &Path, access: Access) -> io::Result<()> {
    match access {
        Access::Private => files::make_private_folder(folder),
        Access::Shared => std::fs::create_dir_all(folder),
    }
}

pub(super) fn not_a_file(path: &Path) -> EditError {
    EditError::Io {
        doing: "edit",
        path: path.to_owned(),
        source: io::Error::other("it is not a regular file"),
    }
}
