//! A lock that permits one writer at a time.
//!
//! On Unix the folder itself is locked: that leaves no file in a user's project and, unlike a lock on the
//! config file, survives the replacement of the file. If a folder cannot be locked (on network file
//! systems, or without permission to list it), a lock file takes its place and is removed by its holder.
//! On Windows the lock is a file that is opened exclusively and that the system deletes when it is
//! closed, however the holder ends.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::EditError;

#[cfg(unix)]
use unix::attempt;
#[cfg(windows)]
use windows::attempt;

/// Longest pause between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs `act` while no other writer does in this folder.
pub(super) fn locked<T>(
    folder: &Path,
    wait: Duration,
    act: impl FnOnce() -> Result<T, EditError>,
) -> Result<T, EditError> {
    let started = Instant::now();
    let mut pause = Duration::from_millis(1);
    let mut act = Some(act);
    loop {
        // The action runs at most once, however many attempts it takes to get the lock.
        let mut once = || act.take().map(|act| act());
        match attempt(folder, &mut once) {
            Ok(Some(done)) => return done,
            Ok(None) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(EditError::io("lock", folder)(error)),
        }
        // Poll with growing pauses: file locks have no timeout.
        let waited = started.elapsed();
        if waited >= wait {
            return Err(EditError::Busy {
                folder: folder.to_owned(),
                waited,
            });
        }
        std::thread::sleep(pause.min(wait.saturating_sub(waited)));
        pause = (pause * 2).min(PAUSE);
    }
}

#[cfg(unix)]
mod unix {
    use std::fs::OpenOptions;
    use std::io;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    use fd_lock::RwLock;

    /// The lock file of a folder that cannot be locked itself.
    const NAME: &str = ".mcp.json.lock";

    /// Runs `act` if the lock is free; `None` if the locked file turned out to be stale.
    pub(super) fn attempt<T>(
        folder: &Path,
        act: &mut impl FnMut() -> Option<T>,
    ) -> io::Result<Option<T>> {
        // The file system and the permissions of the folder decide which lock is used, so all writers
        // use the same one.
        let held = switchboard_core::files::open_folder(folder).map(RwLock::new);
        match held {
            // The folder itself, so that no lock file is left behind.
            Ok(mut lock) => match lock.try_write() {
                Ok(_guard) => Ok(act()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
                Err(_) => by_file(folder, act),
            },
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => by_file(folder, act),
            Err(error) => Err(error),
        }
    }

    /// Locks with a file.
    pub(super) fn by_file<T>(
        folder: &Path,
        act: &mut impl FnMut() -> Option<T>,
    ) -> io::Result<Option<T>> {
        let path = folder.join(NAME);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        switchboard_core::files::make_private(&mut options);
        let file = options.open(&path)?;
        let own = file.metadata()?;
        if !own.is_file() {
            return Err(io::Error::other("the lock file is not a regular file"));
        }
        // Locked first, compared with the path afterwards: in this order the two cannot change in
        // between.
        let mut lock = RwLock::new(file);
        let _guard = lock.try_write()?;
        // The previous holder may have deleted the file after we opened it: then our lock is worthless.
        let there = std::fs::symlink_metadata(&path);
        if !there.is_ok_and(|there| there.ino() == own.ino() && there.dev() == own.dev()) {
            return Ok(None);
        }
        let done = act();
        // A file that stays does no harm.
        let _ = std::fs::remove_file(&path);
        Ok(done)
    }
}

#[cfg(windows)]
mod windows {
    use std::fs::OpenOptions;
    use std::io;
    use std::os::windows::fs::OpenOptionsExt as _;
    use std::path::Path;

    const NAME: &str = ".mcp.json.lock";
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    const SHARING_VIOLATION: i32 = 32;
    const ACCESS_DENIED: i32 = 5;

    /// Runs `act` if the lock is free.
    pub(super) fn attempt<T>(
        folder: &Path,
        act: &mut impl FnMut() -> Option<T>,
    ) -> io::Result<Option<T>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        // Opened exclusively, and deleted by the system even if this process is killed.
        options.share_mode(0).custom_flags(DELETE_ON_CLOSE);
        match options.open(folder.join(NAME)) {
            Ok(_held) => Ok(act()),
            // The second error means that the file is just being deleted.
            Err(error) => match error.raw_os_error() {
                Some(SHARING_VIOLATION | ACCESS_DENIED) => Err(io::ErrorKind::WouldBlock.into()),
                _ => Err(error),
            },
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_locked_is_waited_for_and_then_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let outer = locked(folder.path(), Duration::ZERO, || {
            let wait = Duration::from_millis(30);
            let inner = locked(folder.path(), wait, || Ok(()));
            assert!(matches!(inner, Err(EditError::Busy { waited, .. }) if waited >= wait));
            Ok(1)
        });
        assert!(matches!(outer, Ok(1)));
        assert!(locked(folder.path(), Duration::ZERO, || Ok(())).is_ok());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_lock_file_excludes_others_and_is_gone_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let mut inside = || {
            let second = unix::by_file(folder.path(), &mut || Some(()));
            assert_eq!(second.unwrap_err().kind(), io::ErrorKind::WouldBlock);
            Some(7)
        };
        assert_eq!(unix::by_file(folder.path(), &mut inside).unwrap(), Some(7));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn lock_files_that_come_and_go_let_one_in_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let counter = folder.path().join("counter");
        std::fs::write(&counter, "0").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut done = 0;
                    while done < 50 {
                        let mut count = || {
                            let old: u32 =
                                std::fs::read_to_string(&counter).unwrap().parse().unwrap();
                            std::fs::write(&counter, (old + 1).to_string()).unwrap();
                            Some(())
                        };
                        match unix::by_file(folder.path(), &mut count) {
                            Ok(Some(())) => done += 1,
                            Ok(None) => {}
                            Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
                        }
                        std::thread::yield_now();
                    }
                });
            }
        });
        assert_eq!(std::fs::read_to_string(&counter).unwrap(), "200");
    }

    #[test]
    fn a_folder_that_is_not_there_cannot_be_locked() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let error = locked(&missing, Duration::ZERO, || Ok(())).unwrap_err();
        assert!(matches!(error, EditError::Io { doing: "lock", .. }));
    }
}
