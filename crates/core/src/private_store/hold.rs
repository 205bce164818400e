//! Locks that are held across several changes, such as a request to another machine.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::PathBuf;

use fd_lock::RwLock;

use super::{PrivateStore, StoreError, guard};

/// A lock that this process holds until the value is dropped, or the process ends.
pub struct HeldLock {
    path: PathBuf,
    /// Closing the file releases the lock.
    _file: RwLock<File>,
}

impl fmt::Debug for HeldLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeldLock")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

impl PrivateStore {
    /// Takes the lock in the file of this name, unless another task or process holds it.
    ///
    /// The lock has a file of its own: [`PrivateStore::change`] works while it is held.
    ///
    /// # Errors
    /// Fails if the folder or the file is not safe, or cannot be created.
    pub fn try_hold(&self, file: &str) -> Result<Option<HeldLock>, StoreError> {
        if !guard::folder(&self.folder)? {
            guard::make_folder(&self.folder)?;
            // Another process may have created a different folder in the meantime: check again.
            guard::folder(&self.folder)?;
        }
        let path = self.path(file);
        // Never wait: the caller decides how long to poll.
        let mut lock = RwLock::new(guard::lock_file(&path)?);
        match lock.try_write() {
            // The guard only borrows the file. Forget it, so that the lock lasts as long as the file is open.
            Ok(guard) => std::mem::forget(guard),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(StoreError::io("lock", &path, error)),
        }
        Ok(Some(HeldLock { path, _file: lock }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_excludes_others_until_it_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = PrivateStore::at(folder.path().join("state"), "x");
        let held = store.try_hold("a.lock").expect("a lock");
        assert!(held.is_some());
        assert!(store.try_hold("a.lock").expect("no fault").is_none());
        assert!(store.try_hold("b.lock").expect("a lock").is_some());
        drop(held);
        assert!(store.try_hold("a.lock").expect("a lock").is_some());
    }
}
