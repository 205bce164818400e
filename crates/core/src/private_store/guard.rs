//! Checks that only the user can have written a file or a folder.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use super::StoreError;
use crate::files::{self, FileError, Refusal, Source};

/// Checks a folder and its parents; returns true if it exists.
pub(super) fn folder(path: &Path) -> Result<bool, StoreError> {
    // A user who can change a parent can replace the folder.
    let above = path.parent().unwrap_or(path);
    files::judge_folders(above).map_err(|error| to_store_error(path, error))?;
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(StoreError::io("look at", path, error)),
    };
    // Its own error: a link is the commonest case, and has a fix of its own.
    if metadata.is_symlink() {
        return Err(link_error(path));
    }
    if !metadata.is_dir() {
        return Err(refuse(
            path,
            "it is no folder; name another one, or move it away".into(),
        ));
    }
    check_owner(path, &metadata, 0o700)?;
    Ok(true)
}

/// Creates a folder and its missing parents with access for the user alone.
pub(super) fn make_folder(path: &Path) -> Result<(), StoreError> {
    files::make_private_folder(path).map_err(|error| StoreError::io("make", path, error))
}

/// Opens a file for reading, and checks the open file rather than whatever is at its path later.
pub(super) fn file(path: &Path) -> Result<Option<File>, StoreError> {
    // Opened first and judged by what was opened: the path could lead elsewhere a moment later.
    let opened = match files::open(path, Source::Plain) {
        Ok(opened) => opened,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(to_store_error(path, error)),
    };
    check_owner(path, opened.metadata(), 0o600)?;
    Ok(Some(opened.into_file()))
}

/// Opens a lock file, creating it if necessary.
pub(super) fn lock_file(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    files::make_private(&mut options);
    #[cfg(not(unix))]
    if is_link(path, &io::ErrorKind::Other.into()) {
        return Err(link_error(path));
    }
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) if is_link(path, &error) => return Err(link_error(path)),
        Err(error) => return Err(StoreError::io("open", path, error)),
    };
    let metadata = file
        .metadata()
        .map_err(|error| StoreError::io("look at", path, error))?;
    if !metadata.is_file() {
        return Err(not_a_file(path));
    }
    check_owner(path, &metadata, 0o600)?;
    Ok(file)
}

#[cfg(unix)]
fn is_link(_path: &Path, error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ELOOP)
}

#[cfg(not(unix))]
fn is_link(path: &Path, _error: &io::Error) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Checks that the user owns a file or folder and that others cannot write it.
#[cfg(unix)]
fn check_owner(path: &Path, metadata: &Metadata, mode: u32) -> Result<(), StoreError> {
    use std::os::unix::fs::MetadataExt as _;
    let found = Permissions {
        owner: metadata.uid(),
        mode: metadata.mode(),
    };
    check(path, found, rustix::process::geteuid().as_raw(), mode)
}

/// The owner and mode of a file or folder.
#[cfg(unix)]
#[derive(Clone, Copy)]
struct Permissions {
    owner: u32,
    mode: u32,
}

#[cfg(unix)]
fn check(path: &Path, found: Permissions, me: u32, wanted: u32) -> Result<(), StoreError> {
    let Permissions { owner, mode } = found;
    if owner != me {
        let why = format!(
            "it belongs to user {owner}, and this is user {me}; name a folder of your own, or move it away"
        );
        return Err(refuse(path, why));
    }
    // Only writing is refused: that is what would forge an approval.
    if mode & 0o022 != 0 {
        let name = path.to_string_lossy();
        let why = format!(
            "others than you can write it (mode {:03o}); look through it and run `chmod {wanted:o} {}`",
            mode & 0o777,
            crate::text::shell_path(&name)
        );
        return Err(refuse(path, why));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_path: &Path, _metadata: &Metadata, _mode: u32) -> Result<(), StoreError> {
    Ok(())
}

fn link_error(path: &Path) -> StoreError {
    refuse(
        path,
        "it is a link; put the real one in its place, or name the folder that it leads to".into(),
    )
}

fn not_a_file(path: &Path) -> StoreError {
    refuse(path, "it is no file; move it away".into())
}

/// Converts the refusal of a file, or of a folder above it.
fn to_store_error(path: &Path, error: FileError) -> StoreError {
    let why = match error.hint() {
        Some(hint) => format!("{error}; {hint}"),
        None => error.to_string(),
    };
    let fix = error.fix();
    match error.into_why() {
        Refusal::Link => link_error(path),
        Refusal::NotAFile => not_a_file(path),
        Refusal::Io(error) => StoreError::io("open", path, error),
        _ => StoreError::Unsafe {
            path: path.to_owned(),
            why,
            fix,
        },
    }
}

fn refuse(path: &Path, why: String) -> StoreError {
    StoreError::Unsafe {
        path: path.to_owned(),
        why,
        fix: None,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_ours_and_nobody_elses_to_write_passes() {
        let path = Path::new("/state/trust.json");
        let of = |owner, mode| Permissions { owner, mode };
        for (owner, mode, passes) in [
            (1000, 0o100_600, true),
            (1000, 0o100_644, true),
            (1000, 0o100_620, false),
            (1000, 0o100_602, false),
            (0, 0o100_600, false),
            (1001, 0o100_600, false),
        ] {
            let checked = check(path, of(owner, mode), 1000, 0o600);
            assert_eq!(checked.is_ok(), passes, "{owner} {mode:o}");
        }
        let error = check(path, of(1000, 0o100_666), 1000, 0o600).unwrap_err();
        assert_eq!(
            error.to_string(),
            "/state/trust.json is not safe to keep approvals in: others than you can write it (mode 666); \
             look through it and run `chmod 600 /state/trust.json`"
        );
        let error = check(path, of(7, 0o100_600), 1000, 0o600).unwrap_err();
        assert!(error.to_string().contains("belongs to user 7"), "{error}");
    }
}
