//! One file that is read, changed and replaced while no other writer does.

use std::fs::Metadata;
use std::io;
use std::path::{Component, Path, PathBuf};

use switchboard_core::files;

use super::file::{follow, not_a_file, read};
use super::lock::locked;
use super::replace::replace;
use super::{Access, EditError, EditLimits};

/// A file by its real path: links are followed, whether or not it exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RealFile {
    pub(crate) path: PathBuf,
    /// The folders on the way that do not exist, the outermost first.
    pub(crate) missing: Vec<PathBuf>,
}

/// A file that is locked for one writer.
pub(crate) struct HeldFile<'a> {
    real: &'a RealFile,
    access: Access,
    old: Option<(String, Metadata)>,
}

impl RealFile {
    /// Follows all links on the way to a file.
    pub(crate) fn of(file: &Path) -> Result<Self, EditError> {
        let target = follow(file)?;
        let name = target.file_name().ok_or_else(|| not_a_file(&target))?;
        let folder = match target.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
            Some(folder) => folder,
            None => return Err(not_a_file(&target)),
        };
        // The nearest folder that exists: only that one has a real path.
        let mut absent = Vec::new();
        let mut there = folder;
        let real = loop {
            match there.canonicalize() {
                Ok(real) => break real,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let (Some(above), Some(Component::Normal(name))) =
                        (there.parent(), there.components().next_back())
                    else {
                        return Err(EditError::io("open", folder)(error));
                    };
                    absent.push(name.to_owned());
                    there = if above.as_os_str().is_empty() {
                        Path::new(".")
                    } else {
                        above
                    };
                }
                Err(error) => return Err(EditError::io("open", folder)(error)),
            }
        };
        let mut missing: Vec<PathBuf> = Vec::new();
        for name in absent.iter().rev() {
            missing.push(missing.last().unwrap_or(&real).join(name));
        }
        let path = missing.last().unwrap_or(&real).join(name);
        Ok(Self { path, missing })
    }

    /// Reads the file; `None` if it does not exist.
    pub(crate) fn read(&self, limits: &EditLimits) -> Result<Option<String>, EditError> {
        Ok(read(&self.path, limits)?.map(|(text, _)| text))
    }

    /// Runs `act` while no other writer changes files in this folder. Makes the folder if it is missing.
    pub(crate) fn hold<T>(
        &self,
        access: Access,
        limits: &EditLimits,
        act: impl FnOnce(&HeldFile<'_>) -> T,
    ) -> Result<T, EditError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let made = match access {
            Access::Private => files::make_private_folder(folder),
            Access::Shared => std::fs::create_dir_all(folder),
        };
        made.map_err(EditError::io("create", folder))?;
        locked(folder, limits.wait, || {
            // Read only now, under the lock: another writer may just have finished.
            let old = read(&self.path, limits)?;
            let held = HeldFile {
                real: self,
                access,
                old,
            };
            Ok(act(&held))
        })
    }

    /// Removes the folders that did not exist, as far as they are empty.
    pub(crate) fn remove_folders(folders: &[PathBuf]) {
        for folder in folders.iter().rev() {
            // Not empty, or gone: either way there is nothing to tidy up.
            if std::fs::remove_dir(folder).is_err() {
                return;
            }
        }
    }
}

impl HeldFile<'_> {
    /// The text; `None` if the file does not exist.
    pub(crate) fn text(&self) -> Option<&str> {
        self.old.as_ref().map(|(text, _)| text.as_str())
    }

    /// Replaces the file atomically, with the permissions that it has.
    pub(crate) fn write(&self, text: &str) -> Result<(), EditError> {
        let metadata = self.old.as_ref().map(|(_, metadata)| metadata);
        replace(&self.real.path, metadata, text, self.access, |new, old| {
            std::fs::rename(new, old)
        })
    }

    /// Writes the text that the file had when it was locked, or deletes it if there was none.
    pub(crate) fn restore(&self) -> Result<(), EditError> {
        match self.text() {
            Some(text) => self.write(text),
            None => self.delete(),
        }
    }

    /// Deletes the file.
    pub(crate) fn delete(&self) -> Result<(), EditError> {
        std::fs::remove_file(&self.real.path).map_err(EditError::io("delete", &self.real.path))
    }
}
