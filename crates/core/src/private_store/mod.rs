//! Private files in a folder that no other user can write. Readers take no lock; writers take turns.
//!
//! The user's approvals are kept in such files. A file that another user could have written is an
//! error and never counts as empty, so that no damage to a file can mean "approved". The content is
//! up to the modules that use the store.
//!
//! Every write is also noted in a separate file, with a summary of the content. A file that is noted
//! but missing is reported as [`Lost`] and does not count as a fresh start.

pub mod document;
mod error;
mod guard;
mod hold;
mod notes;
mod records;

use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fd_lock::RwLock;

pub use error::StoreError;
pub use hold::HeldLock;
use notes::Notes;
pub use notes::{Lost, Note};
pub use records::{Document, ONLY, Record, Records, StoreLimits, from_seconds, to_seconds};

/// Polling interval for a lock that another process holds.
const LOOK: Duration = Duration::from_millis(5);

/// A folder of files with one writer at a time.
#[derive(Debug)]
pub struct PrivateStore {
    folder: PathBuf,
    /// The temporary file for writing; only the holder of the lock touches it.
    fresh: PathBuf,
    /// A separate file, because the other files are replaced, and a lock on them would go with them.
    lock: PathBuf,
    /// The list of files that should exist.
    notes: Notes,
}

/// The permission to change files, valid while the lock is held.
#[derive(Debug)]
pub struct Held<'a> {
    store: &'a PrivateStore,
}

impl PrivateStore {
    /// Creates a store in a folder. Nothing is read or created until it is used.
    pub fn at(folder: PathBuf, name: &str) -> Self {
        Self {
            fresh: folder.join(format!("{name}.json.new")),
            lock: folder.join(format!("{name}.lock")),
            notes: Notes::at(folder.clone(), name),
            folder,
        }
    }

    /// Keeps the list of existing files in another folder instead of beside the files, so that the loss
    /// of the whole folder is noticed too.
    #[must_use]
    pub fn noted_in(mut self, folder: PathBuf, name: &str) -> Self {
        self.notes = Notes::at(folder, name);
        self
    }

    /// Lists the files that were written and are missing, though they were not removed here.
    ///
    /// # Errors
    /// Fails if the notes cannot be read or trusted.
    pub fn lost_files(&self) -> Result<Vec<Lost>, StoreError> {
        let noted = self.notes.read()?.into_iter();
        let mut lost = Vec::new();
        for (file, note) in noted.flatten() {
            let path = self.path(&file);
            // Notes are added after a file is written and removed before it is deleted, so a noted file that is
            // missing did exist.
            if is_missing(&path)? {
                lost.push(Lost { path, note });
            }
        }
        Ok(lost)
    }

    /// Returns the note of one file, if it was written and is missing.
    ///
    /// # Errors
    /// Fails like [`PrivateStore::lost_files`].
    pub fn lost_file(&self, file: &str) -> Result<Option<Lost>, StoreError> {
        let path = self.path(file);
        if !is_missing(&path)? {
            return Ok(None);
        }
        let Some(mut files) = self.notes.read()? else {
            return Ok(None);
        };
        // Another process may have written it in the meantime, together with its note: look again.
        match files.remove(file) {
            Some(note) if is_missing(&path)? => Ok(Some(Lost { path, note })),
            _ => Ok(None),
        }
    }

    /// Returns true if there are notes. Earlier versions did not write any.
    ///
    /// # Errors
    /// Fails like [`PrivateStore::lost_files`].
    pub fn has_notes(&self) -> Result<bool, StoreError> {
        Ok(self.notes.read()?.is_some())
    }

    /// The path of a file.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Reads a file if it exists. No lock is needed, because files are replaced as a whole.
    ///
    /// # Errors
    /// Fails if another user could have written it, or if it is larger than `most_bytes`.
    pub fn read(&self, file: &str, most_bytes: usize) -> Result<Option<Vec<u8>>, StoreError> {
        if !guard::folder(&self.folder)? {
            return Ok(None);
        }
        let path = self.path(file);
        let Some(file) = guard::file(&path)? else {
            return Ok(None);
        };
        let most = u64::try_from(most_bytes).unwrap_or(u64::MAX);
        let mut text = Vec::new();
        file.take(most.saturating_add(1))
            .read_to_end(&mut text)
            .map_err(|error| StoreError::io("read", &path, error))?;
        // The limit is tested on what was read: a file may grow while it is read.
        if text.len() > most_bytes {
            let why = format!("it is larger than {most} bytes");
            return Err(StoreError::malformed(&path, why));
        }
        Ok(Some(text))
    }

    /// Lists the names of all files; empty if the folder does not exist. Names that are not Unicode are
    /// skipped: no store creates such names.
    ///
    /// # Errors
    /// Fails if another user could have written to the folder, or if it cannot be listed.
    pub fn files(&self) -> Result<Vec<String>, StoreError> {
        if !guard::folder(&self.folder)? {
            return Ok(Vec::new());
        }
        let failed = |error| StoreError::io("list", &self.folder, error);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            names.extend(entry.map_err(failed)?.file_name().into_string());
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Changes files while no other process does; waits up to `patience` for its turn.
    ///
    /// # Errors
    /// Fails if the folder is not safe, if the lock is not released in time, or if `change` fails.
    pub fn change<T>(
        &self,
        patience: Duration,
        change: impl FnOnce(&Held<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if !guard::folder(&self.folder)? {
            guard::make_folder(&self.folder)?;
            // Another process may have created a different folder in the meantime: check again.
            guard::folder(&self.folder)?;
        }
        self.while_locked(patience, || change(&Held { store: self }))
    }

    /// Waits up to `patience` until no other process holds the lock, without blocking a thread.
    ///
    /// Asynchronous code calls this before [`PrivateStore::change`], which then mostly finds the lock free.
    /// Problems of the folder or the lock are left to that call to report.
    pub async fn lock_is_free(&self, patience: Duration) {
        let start = tokio::time::Instant::now();
        while self.is_locked() && start.elapsed() < patience {
            tokio::time::sleep(LOOK).await;
        }
    }

    fn is_locked(&self) -> bool {
        let Ok(true) = guard::folder(&self.folder) else {
            return false;
        };
        let Ok(Some(file)) = guard::file(&self.lock) else {
            return false;
        };
        // A failed attempt means that another process holds it; a successful one is released at once.
        let mut lock = RwLock::new(file);
        let tried = lock.try_write();
        tried.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    }

    fn while_locked<T>(
        &self,
        patience: Duration,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut lock = RwLock::new(guard::lock_file(&self.lock)?);
        let start = Instant::now();
        loop {
            let error = match lock.try_write() {
                Ok(_held) => return work(),
                Err(error) => error,
            };
            match error.kind() {
                io::ErrorKind::Interrupted => {}
                // Poll: the blocking call of the system has no timeout.
                io::ErrorKind::WouldBlock if start.elapsed() < patience => std::thread::sleep(LOOK),
                io::ErrorKind::WouldBlock => {
                    return Err(StoreError::Locked {
                        path: self.lock.clone(),
                    });
                }
                _ => return Err(StoreError::io("lock", &self.lock, error)),
            }
        }
    }
}

impl Held<'_> {
    /// Replaces a file atomically, so that a reader sees the old or the new content.
    ///
    /// # Errors
    /// Fails if the text is larger than `most_bytes`, or cannot be written.
    pub fn replace(&self, file: &str, text: &[u8], most_bytes: usize) -> Result<(), StoreError> {
        let path = self.store.path(file);
        // Check the size before writing: the old file must survive.
        if text.len() > most_bytes {
            return Err(StoreError::TooLarge { path, most_bytes });
        }
        put(&self.store.fresh, &path, text)
    }

    /// Notes that a file exists. Call this after writing it.
    ///
    /// # Errors
    /// Fails if the notes cannot be written.
    pub fn note(&self, file: &str, note: Note) -> Result<(), StoreError> {
        self.store.notes.change(|files| {
            files.insert(file.to_owned(), note);
        })
    }

    /// Notes that a file does not exist any more. Call this before removing it.
    ///
    /// # Errors
    /// Fails if the notes cannot be written.
    pub fn forget(&self, file: &str) -> Result<(), StoreError> {
        self.store.notes.change(|files| {
            files.remove(file);
        })
    }

    /// Removes a file if it exists.
    ///
    /// # Errors
    /// Fails if it cannot be removed.
    pub fn remove(&self, file: &str) -> Result<(), StoreError> {
        let path = self.store.path(file);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io("remove", &path, error));
            }
            _ => settle(&self.store.folder),
        }
        Ok(())
    }
}

/// Writes a temporary file and renames it over the old one.
fn put(fresh: &Path, path: &Path, text: &[u8]) -> Result<(), StoreError> {
    match std::fs::remove_file(fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::io("remove", fresh, error));
        }
        // Removed, or absent. A leftover comes from a process that ended while writing.
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    crate::files::make_private(&mut options);
    let written = options.open(fresh).and_then(|mut file| {
        file.write_all(text)?;
        // Sync before renaming: after a crash the new name could otherwise refer to an empty file.
        file.sync_all()
    });
    written.map_err(|error| StoreError::io("write", fresh, error))?;
    std::fs::rename(fresh, path).map_err(|error| StoreError::io("replace", path, error))?;
    settle(path.parent().unwrap_or(path));
    Ok(())
}

fn is_missing(path: &Path) -> Result<bool, StoreError> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(StoreError::io("look at", path, error)),
    }
}

/// Syncs the folder, so that a renamed file survives a crash of the machine. A failure is ignored: at
/// worst the user is asked to approve again.
fn settle(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = crate::files::open_folder(folder) {
        folder.sync_all().ok();
    }
    #[cfg(not(unix))]
    let _ = folder;
}
