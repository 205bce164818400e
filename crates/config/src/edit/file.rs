//! A change of a file.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use switchboard_core::files::{self, FileError, Refusal, Source};

use super::lock::locked;
use super::replace::replace;
use super::syntax::not_text;
use super::{Change, EditError, apply};

/// How many links are followed to a file.
const LINKS: usize = 40;

/// What an edit is held to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// How long another writer is waited for.
    pub wait: Duration,
    /// The largest file that is edited.
    pub file_bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(5),
            file_bytes: 4 * 1024 * 1024,
        }
    }
}

/// Who may read a file that is new. One that was there keeps the permissions that it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Access {
    /// Its owner alone (0600, in folders of 0700): a person's own file, which may hold secrets.
    #[default]
    Private,
    /// Whoever may read the person's other files (0666 without what the umask takes): a project's file.
    Shared,
}

/// What an edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Edited {
    /// The file itself, behind all links.
    pub file: PathBuf,
    /// Whether anything was written. A server that is disabled twice is written once.
    pub is_changed: bool,
    /// Whether the file was not there before.
    pub is_new: bool,
}

/// Changes a file, one writer at a time and in one step.
///
/// The text is read while the lock is held, so that two writers lose nothing of each other's. The
/// file that a link leads to is changed, and the link stays. [`Change::Add`] makes the file and
/// its folders where there are none. No lock file is left behind.
///
/// # Errors
/// As [`apply`]; when another writer does not come to an end; or when the system refuses. The
/// file is then as it was.
pub fn edit(
    file: &Path,
    change: &Change,
    access: Access,
    bounds: &Bounds,
) -> Result<Edited, EditError> {
    edit_with(file, change, access, bounds, |new, old| {
        std::fs::rename(new, old)
    })
}

/// [`edit`] with the last step given, so that a test can have it fail.
pub(super) fn edit_with(
    file: &Path,
    change: &Change,
    access: Access,
    bounds: &Bounds,
    rename: impl FnOnce(&Path, &Path) -> io::Result<()>,
) -> Result<Edited, EditError> {
    let target = follow(file)?;
    let folder = match target.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return Err(not_a_file(&target)),
    };
    if matches!(change, Change::Add { .. }) {
        make_folders(folder, access).map_err(EditError::io("create", folder))?;
    }
    // By its real name, so that everybody locks the same one.
    let folder = match folder.canonicalize() {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            apply("", change)?;
            return Err(EditError::io("open", folder)(error));
        }
        Err(error) => return Err(EditError::io("open", folder)(error)),
    };
    let name = target.file_name().ok_or_else(|| not_a_file(&target))?;
    let target = folder.join(name);
    locked(&folder, bounds.wait, || {
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

/// Follows links to the file itself, also where that is not there yet.
fn follow(file: &Path) -> Result<PathBuf, EditError> {
    let mut file = file.to_owned();
    for _ in 0..LINKS {
        match std::fs::read_link(&file) {
            // Joining an absolute path gives that path.
            Ok(target) => file = file.parent().unwrap_or(Path::new("")).join(target),
            // No link, or nothing there; what else is wrong shows when it is opened.
            Err(_) => return Ok(file),
        }
    }
    Err(EditError::Io {
        doing: "follow the links of",
        path: file,
        source: io::Error::other("there are too many"),
    })
}

/// Reads a file; nothing when there is none.
fn read(file: &Path, bounds: &Bounds) -> Result<Option<(String, Metadata)>, EditError> {
    let opened = match files::open(file, Source::Referenced) {
        Ok(opened) => opened,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(unread(file, error)),
    };
    // What is read is what will be replaced: the mode of that very file is kept.
    let metadata = opened.metadata().clone();
    let most = usize::try_from(bounds.file_bytes).unwrap_or(usize::MAX);
    let bytes = opened.read(most).map_err(|error| match error.why() {
        Refusal::TooLarge { .. } => EditError::TooLarge {
            most: bounds.file_bytes,
        },
        _ => unread(file, error),
    })?;
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

fn not_a_file(path: &Path) -> EditError {
    EditError::Io {
        doing: "edit",
        path: path.to_owned(),
        source: io::Error::other("it is not a regular file"),
    }
}
