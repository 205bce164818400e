//! Files of the person's, in a folder that nobody else can write: read without waiting, written by one
//! at a time.
//!
//! What a person has approved is kept in such files. One that somebody else could have written is an
//! error, never an empty one, so that no fault of a file means yes. What stands in the files is
//! a matter of those who keep them.
//!
//! Each write is noted in a file of its own, with a count of what was kept. A file that is missing
//! though it is noted is [`Lost`], and not a new beginning.

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

/// How long to wait between two looks at a lock that another process holds.
const LOOK: Duration = Duration::from_millis(5);

/// A folder with files that one process at a time writes.
#[derive(Debug)]
pub struct PrivateStore {
    folder: PathBuf,
    /// What is being written; only who holds the lock touches it.
    fresh: PathBuf,
    /// A file of its own, because the others are replaced and a lock would go with them.
    lock: PathBuf,
    /// Which files there should be.
    notes: Notes,
}

/// The right to change files, for as long as it is there.
#[derive(Debug)]
pub struct Held<'a> {
    store: &'a PrivateStore,
}

impl PrivateStore {
    /// The files that are kept in a folder by this name. Nothing is read or made before it is used.
    pub fn at(folder: PathBuf, name: &str) -> Self {
        Self {
            fresh: folder.join(format!("{name}.json.new")),
            lock: folder.join(format!("{name}.lock")),
            notes: Notes::at(folder.clone(), name),
            folder,
        }
    }

    /// Keeps the notes of which files there should be in another folder, so that it is noticed too when
    /// the whole folder is gone. They are beside the files otherwise.
    #[must_use]
    pub fn noted_in(mut self, folder: PathBuf, name: &str) -> Self {
        self.notes = Notes::at(folder, name);
        self
    }

    /// The files that were written and are gone, though nobody has removed them here.
    ///
    /// # Errors
    /// When the notes cannot be read or are not to be trusted.
    pub fn lost(&self) -> Result<Vec<Lost>, StoreError> {
        let noted = self.notes.read()?.into_iter();
        let mut lost = Vec::new();
        for (file, note) in noted.flatten() {
            let path = self.path(&file);
            // Notes are written after the file and removed before it, so one that is missing now was
            // there.
            if is_missing(&path)? {
                lost.push(Lost { path, note });
            }
        }
        Ok(lost)
    }

    /// What was noted about one file, if it was written and is gone.
    ///
    /// # Errors
    /// As for [`PrivateStore::lost`].
    pub fn lost_file(&self, file: &str) -> Result<Option<Lost>, StoreError> {
        let path = self.path(file);
        if !is_missing(&path)? {
            return Ok(None);
        }
        let Some(mut files) = self.notes.read()? else {
            return Ok(None);
        };
        // Another process may have written it since, with its note.
        match files.remove(file) {
            Some(note) if is_missing(&path)? => Ok(Some(Lost { path, note })),
            _ => Ok(None),
        }
    }

    /// Whether there are notes. Files of a version that wrote none have none.
    ///
    /// # Errors
    /// As for [`PrivateStore::lost`].
    pub fn has_notes(&self) -> Result<bool, StoreError> {
        Ok(self.notes.read()?.is_some())
    }

    /// Where a file is.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(file)
    }

    /// Reads a file, if there is one. No lock is needed: files are replaced whole.
    ///
    /// # Errors
    /// When somebody else could have written it, or it is larger than that.
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
        if text.len() > most_bytes {
            let why = format!("it is larger than {most} bytes");
            return Err(StoreError::broken(&path, why));
        }
        Ok(Some(text))
    }

    /// Lists the names of all files; none where the folder is missing. Names that are no Unicode are
    /// none that were given here.
    ///
    /// # Errors
    /// When somebody else could have written into the folder, or it cannot be listed.
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

    /// Changes files, while nobody else does; waits so long for somebody who does.
    ///
    /// # Errors
    /// When the folder is not safe, or it took them longer; and whatever `change` fails for.
    pub fn change<T>(
        &self,
        patience: Duration,
        change: impl FnOnce(&Held<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if !guard::folder(&self.folder)? {
            guard::make_folder(&self.folder)?;
            // Somebody may have been faster, with another folder.
            guard::folder(&self.folder)?;
        }
        self.while_locked(patience, || change(&Held { store: self }))
    }

    /// Waits at most so long until no other process holds the lock, and blocks no thread meanwhile.
    ///
    /// Asynchronous code calls this before [`PrivateStore::change`], which then finds the lock free unless another process
    /// is faster. What is wrong with the folder or the lock is for that to say.
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
                // The system would wait for ever, and cannot be told not to.
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
    /// Writes a new file and puts it in the place of the old one, so that a reader sees one or the other.
    ///
    /// # Errors
    /// When it is larger than that, or cannot be written.
    pub fn replace(&self, file: &str, text: &[u8], most_bytes: usize) -> Result<(), StoreError> {
        let path = self.store.path(file);
        if text.len() > most_bytes {
            return Err(StoreError::TooLarge { path, most_bytes });
        }
        put(&self.store.fresh, &path, text)
    }

    /// Notes that a file is there, after it was written.
    ///
    /// # Errors
    /// When the notes cannot be written.
    pub fn note(&self, file: &str, note: Note) -> Result<(), StoreError> {
        self.store.notes.change(|files| {
            files.insert(file.to_owned(), note);
        })
    }

    /// Notes that a file is not there any more, before it is removed.
    ///
    /// # Errors
    /// When the notes cannot be written.
    pub fn forget(&self, file: &str) -> Result<(), StoreError> {
        self.store.notes.change(|files| {
            files.remove(file);
        })
    }

    /// Takes a file away, if it is there.
    ///
    /// # Errors
    /// When it stays.
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

/// Writes a new file and puts it in the place of the old one.
fn put(fresh: &Path, path: &Path, text: &[u8]) -> Result<(), StoreError> {
    match std::fs::remove_file(fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(StoreError::io("remove", fresh, error));
        }
        // What is gone was left by a process that ended while it wrote.
        _ => {}
    }
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    crate::files::make_private(&mut options);
    let written = options.open(fresh).and_then(|mut file| {
        file.write_all(text)?;
        // Otherwise a crash may leave the new name with nothing behind it.
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

/// Has the new name survive a crash of the machine, where folders can be synced. If it does not, the
/// approval is asked for again, which is no reason to call it failed.
fn settle(folder: &Path) {
    #[cfg(unix)]
    if let Ok(folder) = crate::files::open_folder(folder) {
        folder.sync_all().ok();
    }
    #[cfg(not(unix))]
    let _ = folder;
}
