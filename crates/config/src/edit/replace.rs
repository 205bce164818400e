//! A file that is replaced in one step.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::{Access, EditError};
#[cfg(unix)]
use switchboard_core::files::open_folder;

/// Writes a text beside a file and puts it in the file's place.
///
/// The caller holds the folder's lock, and so the new file can have one name for all: what a
/// writer left that was killed is overwritten by the next. `rename` is [`std::fs::rename`].
pub(super) fn replace(
    file: &Path,
    old: Option<&Metadata>,
    text: &str,
    access: Access,
    rename: impl FnOnce(&Path, &Path) -> io::Result<()>,
) -> Result<(), EditError> {
    // What is new is made like any file; what was there gets its permissions when it is written.
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
        .and_then(|()| new.file.sync_all())
        .map_err(EditError::io("write", path))?;
    rename(path, file).map_err(EditError::io("replace", file))?;
    new.keep();
    sync_folder(file);
    Ok(())
}

/// A new file, which is deleted again unless it is kept.
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
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(EditError::io("delete", &path)(error));
            }
            _ => {}
        }
        let mut options = OpenOptions::new();
        // Nobody else can have put something there for us to write into.
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
            // The error that led here is the one to be told; the next writer tries again.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Lets those read the new file that could read the old one, and nobody else.
#[cfg(unix)]
fn give_access(file: &File, old: Option<&Metadata>) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown};

    let Some(old) = old else {
        return Ok(());
    };
    let new = file.metadata()?;
    let mut mode = old.mode() & 0o777;
    // Only root can give a file to somebody else; a group can be kept by its members.
    let owner = (old.uid() != new.uid()).then_some(old.uid());
    let group = (old.gid() != new.gid()).then_some(old.gid());
    if owner.is_some() {
        // Where it fails, the file is ours from now on, as with any editor.
        let _ = fchown(file, owner, None);
    }
    if group.is_some() && fchown(file, None, group).is_err() {
        // What one group could read is not for another.
        mode &= !0o070;
    }
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn give_access(file: &File, old: Option<&Metadata>) -> io::Result<()> {
    match old {
        Some(old) => file.set_permissions(old.permissions()),
        // What a folder hands down is the only access there is.
        None => Ok(()),
    }
}

/// Makes the new name last. The file is whole either way, so a folder that cannot do that is no error.
fn sync_folder(file: &Path) {
    #[cfg(unix)]
    if let Some(folder) = file.parent().and_then(|folder| open_folder(folder).ok()) {
        let _ = folder.sync_all();
    }
    #[cfg(not(unix))]
    let _ = file;
}
