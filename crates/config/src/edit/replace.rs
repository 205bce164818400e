//! Replaces a file atomically.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{Access, EditError};
#[cfg(unix)]
use switchboard_core::files::open_folder;

/// Writes a text beside a file and renames it over the file.
///
/// The caller holds the lock of the folder, so the new file can always have the same name: leftovers of a
/// killed writer are overwritten by the next. `rename` is [`std::fs::rename`].
pub(super) fn replace(
    file: &Path,
    old: Option<&Metadata>,
    text: &str,
    access: Access,
    rename: impl FnOnce(&Path, &Path) -> io::Result<()>,
) -> Result<(), EditError> {
    // A new file gets the usual mode; a replacement is private until it gets the old permissions below.
    let mode = match (old, access) {
        (None, Access::Shared) => 0o666,
        (None, Access::Private) | (Some(_), _) => 0o600,
    };
    let new = Beside::create(file, mode)?;
    let path = new.path.as_path();
    let mut handle = &new.file;
    handle
        .write_all(text.as_bytes())
        .and_then(|()| give_access(&new.file, old))
        // Sync before renaming: after a crash the new name could otherwise refer to an empty file.
        .and_then(|()| new.file.sync_all())
        .map_err(EditError::io("write", path))?;
    rename(path, file).map_err(EditError::io("replace", file))?;
    new.keep();
    sync_folder(file);
    Ok(())
}

/// A new file, which is deleted on drop unless it is kept.
struct Beside {
    path: PathBuf,
    file: File,
    is_kept: bool,
}

impl Beside {
    fn create(file: &Path, mode: u32) -> Result<Self, EditError> {
        let mut name = std::ffi::OsString::from(".");
        name.push(file.file_name().unwrap_or_default());
        name.push(".tmp");
        let path = file.with_file_name(name);
        // A leftover of a killed writer may be in the way.
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(EditError::io("delete", &path)(error));
            }
            _ => {}
        }
        let mut options = OpenOptions::new();
        // `create_new`: no other program can have prepared a file for us to write into.
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
        #[cfg(not(unix))]
        let _ = mode;
        let file = options
            .open(&path)
            .map_err(EditError::io("create", &path))?;
        Ok(Self {
            path,
            file,
            is_kept: false,
        })
    }

    fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if !self.is_kept {
            // Keep the original error; the next writer tries again.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Gives the new file the permissions of the old one, and no more.
#[cfg(unix)]
fn give_access(file: &File, old: Option<&Metadata>) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};

    let Some(old) = old else {
        return Ok(());
    };
    let new = file.metadata()?;
    let mut mode = old.mode() & 0o777;
    // Only root can change the owner; members of a group can keep the group.
    let owner = (old.uid() != new.uid()).then_some(old.uid());
    let group = (old.gid() != new.gid()).then_some(old.gid());
    if owner.is_some() {
        // If this fails, the file belongs to us from now on, as with any editor.
        let _ = fchown(file, owner, None);
    }
    if group.is_some() && fchown(file, None, group).is_err() {
        // The permissions of the old group are not for another one.
        mode &= !0o070;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn give_access(file: &File, old: Option<&Metadata>) -> io::Result<()> {
    match old {
        Some(old) => file.set_permissions(old.permissions()),
        // Only the permissions inherited from the folder exist.
        None => Ok(()),
    }
}

/// Syncs the folder, so that the new name survives a crash. A failure is ignored: the file is whole anyway.
fn sync_folder(file: &Path) {
    #[cfg(unix)]
    if let Some(folder) = file.parent().and_then(|folder| open_folder(folder).ok()) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = file;
}
