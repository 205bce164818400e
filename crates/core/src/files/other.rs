//! Files on systems without owners and modes: write access is left to the folders.

use std::fs::{File, OpenOptions, symlink_metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{Access, FileError, Opened, Refusal, Source};

pub(super) fn open(path: &Path, source: Source<'_>) -> Result<Opened, FileError> {
    let failed = |error: io::Error| FileError::new(path, error.into());
    let is_followed = match source {
        Source::Project(root) => {
            refuse_links(root, path)?;
            false
        }
        Source::Plain => false,
        Source::Own | Source::Referenced | Source::Named => true,
    };
    if !is_followed && symlink_metadata(path).map_err(failed)?.is_symlink() {
        return Err(FileError::new(path, Refusal::Link));
    }
    // The check above has a race with the open below, so the opened file is checked once more.
    let file = open_file(path, is_followed).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_symlink() {
        return Err(FileError::new(path, Refusal::Link));
    }
    let is_any = source == Source::Named && !metadata.is_dir();
    if !metadata.is_file() && !is_any {
        return Err(FileError::new(path, Refusal::NotAFile));
    }
    Ok(Opened {
        file,
        path: path.to_owned(),
        metadata,
        access: Access::Fine,
        group_writable: Vec::new(),
    })
}

pub(super) fn judge_folders(_folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    Ok(Vec::new())
}

pub(super) fn refuse_foreign(_opened: &Opened) -> Option<Refusal> {
    None
}

/// Checks that no folder below a project's is a link.
fn refuse_links(root: &Path, path: &Path) -> Result<(), FileError> {
    let Ok(inside) = path.strip_prefix(root) else {
        return Err(FileError::new(path, Refusal::Outside));
    };
    let mut so_far = root.to_owned();
    for part in inside.parent().unwrap_or(Path::new("")).components() {
        match part {
            Component::Normal(name) => so_far.push(name),
            Component::CurDir => continue,
            _ => return Err(FileError::new(path, Refusal::Outside)),
        }
        if symlink_metadata(&so_far).is_ok_and(|found| found.is_symlink()) {
            return Err(FileError::at_folder(path, &so_far, Refusal::Link));
        }
    }
    Ok(())
}

/// Opens a file. If links are not followed, this opens the link itself, to be recognised as one.
#[cfg(windows)]
fn open_file(path: &Path, is_followed: bool) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt as _;
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    let mut options = OpenOptions::new();
    options.read(true);
    if !is_followed {
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    }
    options.open(path)
}

#[cfg(not(windows))]
fn open_file(path: &Path, _is_followed: bool) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).open(path)
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Absent,
            _ => Self::Io(error),
        }
    }
}
