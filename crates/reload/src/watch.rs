//! Waits until one of some files may have changed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use crate::places::WatchPlan;

/// Time without a change after which the files are read: programs write in several steps.
const QUIET: Duration = Duration::from_millis(50);
/// Longest wait for that.
const LONGEST: Duration = Duration::from_secs(1);
/// Attempts to watch folders that change while they are looked at.
const ATTEMPTS: usize = 4;

/// Files cannot be watched, so that changes go unnoticed.
#[derive(Debug, thiserror::Error)]
#[error("files cannot be watched")]
pub struct WatchError(#[from] notify::Error);

/// Watches files, whether they exist or not, and everything that is directly in some folders.
///
/// Not the files are watched but the folders that they are in, so that a file that is replaced by renaming
/// is noticed like one that is written; `plan` has these folders and the names in them. The system's
/// watcher calls back from a thread of its own, which compares the name and notifies `changed`.
pub struct FileWatch {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    plan: Mutex<WatchPlan>,
    changed: Notify,
}

impl FileWatch {
    /// Begins to watch.
    ///
    /// # Errors
    /// Fails if the system watches no more folders.
    pub fn new(files: Vec<PathBuf>, folders: Vec<PathBuf>) -> Result<Self, WatchError> {
        let shared = Arc::<Shared>::default();
        let told = Arc::clone(&shared);
        let watcher = notify::recommended_watcher(move |event| told.take(event))?;
        let mut this = Self {
            files,
            folders,
            watcher,
            watched: BTreeSet::new(),
            shared,
        };
        this.plan_again()?;
        Ok(this)
    }

    /// Waits until a file may have changed, and then until changes have ceased for a moment. Cancel safe: a
    /// change that was not returned comes with the next call.
    ///
    /// # Errors
    /// Fails if the system watches no more folders; what was watched before still is.
    pub async fn next_change(&mut self) -> Result<(), WatchError> {
        let changed = &self.shared.changed;
        changed.notified().await;
        // Until the end of this function: dropped meanwhile, the change counts again.
        let unread = Unread(changed, true);
        let until = Instant::now() + LONGEST;
        while Instant::now() < until && timeout(QUIET, changed.notified()).await.is_ok() {}
        unread.done();
        // Before the files are read: a change from here on is noticed.
        self.plan_again()
    }

    /// Watches the folders that count now: links may lead elsewhere, and folders may have appeared.
    fn plan_again(&mut self) -> Result<(), WatchError> {
        for _ in 0..ATTEMPTS {
            let plan = WatchPlan::of(&self.files, &self.folders);
            *self.shared.plan() = plan.clone();
            let wanted: BTreeSet<PathBuf> = plan.folders().map(Path::to_owned).collect();
            for old in self.watched.difference(&wanted) {
                // It may be gone, and its watch with it.
                self.watcher.unwatch(old).ok();
            }
            self.watched.retain(|folder| wanted.contains(folder));
            for folder in wanted {
                // Again where it is watched: it may be another folder by now.
                match self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
                    Ok(()) => drop(self.watched.insert(folder)),
                    Err(error) if is_full(&error) => return Err(error.into()),
                    // Gone meanwhile, or not to be looked into: then neither is the file in it.
                    Err(_) => drop(self.watched.remove(&folder)),
                }
            }
            // A folder that appeared while its parent was not watched yet is in no event.
            if plan == WatchPlan::of(&self.files, &self.folders) {
                break;
            }
        }
        Ok(())
    }
}

fn is_full(error: &notify::Error) -> bool {
    use notify::ErrorKind;
    match &error.kind {
        ErrorKind::MaxFilesWatch => true,
        // Linux: the limit of watches of a user, or of instances.
        ErrorKind::Io(error) => matches!(error.kind(), std::io::ErrorKind::StorageFull),
        _ => false,
    }
}

impl Shared {
    fn plan(&self) -> MutexGuard<'_, WatchPlan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, event: notify::Result<Event>) {
        let concerns = match event {
            // Reading a file is no change of it, and we read them ourselves.
            Ok(event) if is_reading(event.kind) => false,
            Ok(event) => {
                let plan = self.plan();
                let mut paths = event.paths.iter();
                event.need_rescan() || paths.any(|path| plan.concerns(path))
            }
            // Events may have been lost.
            Err(_) => true,
        };
        if concerns {
            self.changed.notify_one();
        }
    }
}

fn is_reading(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
        EventKind::Access(_) => true,
        _ => false,
    }
}

/// A change that counts again where it was not read.
struct Unread<'n>(&'n Notify, bool);

impl Unread<'_> {
    fn done(mut self) {
        self.1 = false;
    }
}

impl Drop for Unread<'_> {
    fn drop(&mut self) {
        if self.1 {
            self.0.notify_one();
        }
    }
}

impl std::fmt::Debug for FileWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileWatch")
            .field("files", &self.files)
            .field("watched", &self.watched)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, ModifyKind};

    use super::*;

    /// Returns true if an event at that path is passed on.
    fn is_noticed(kind: EventKind, path: &Path, file: &Path) -> bool {
        let shared = Shared::default();
        *shared.plan() = WatchPlan::of(&[file.to_owned()], &[]);
        shared.take(Ok(Event::new(kind).add_path(path.to_owned())));
        let mut noticed = Box::pin(shared.changed.notified());
        noticed.as_mut().enable()
    }

    #[test]
    fn reading_is_no_change_and_another_file_is_none_of_ours() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let (file, other) = (folder.join("mcp.json"), folder.join("history"));
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let closed = EventKind::Access(AccessKind::Close(AccessMode::Write));
        let opened = EventKind::Access(AccessKind::Open(AccessMode::Any));
        for (kind, expected) in [
            (written, true),
            (closed, true),
            (EventKind::Create(CreateKind::File), true),
            (opened, false),
            (
                EventKind::Access(AccessKind::Close(AccessMode::Read)),
                false,
            ),
        ] {
            assert_eq!(is_noticed(kind, &file, &file), expected, "{kind:?}");
            assert!(!is_noticed(kind, &other, &file), "{kind:?}");
        }
    }
}
