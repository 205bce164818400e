//! The approvals that are for good, in their file.

use std::fs::Metadata;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::approval::{Approval, Lasts, Which};
use super::table::{Key, Table};
use super::{Bounds, record};
use crate::policy::approve::Item;
use crate::private_store::{Lost, Note, PrivateStore, StoreError};

/// The file in the folder.
const FILE: &str = "approvals.json";

/// Approvals in a file, with what was read of it last.
#[derive(Debug)]
pub(super) struct Disk {
    vault: PrivateStore,
    path: PathBuf,
    read: Mutex<Option<(Stamp, Table)>>,
}

/// What is another once a file was replaced or touched.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// The number of the file, and when anything about it changed: its owner or mode too.
    place: (u64, i64, i64),
}

impl Disk {
    pub(super) fn at(folder: PathBuf) -> Self {
        let vault = PrivateStore::at(folder, "approvals");
        Self {
            path: vault.path(FILE),
            vault,
            read: Mutex::default(),
        }
    }

    /// Keeps the note of what was approved in another folder.
    pub(super) fn noted_in(mut self, folder: PathBuf) -> Self {
        self.vault = self.vault.noted_in(folder, "approvals");
        self
    }

    /// What was approved and is gone with the file. One that was not noted yet is noted first.
    pub(super) fn lost(&self, bounds: &Bounds) -> Result<Option<Lost>, StoreError> {
        if self.vault.has_notes()? {
            return self.vault.lost_file(FILE);
        }
        if !self.list(bounds)?.is_empty() {
            self.vault.change(bounds.lock_wait, |held| {
                held.note(FILE, note(&self.list(bounds)?))
            })?;
        }
        Ok(None)
    }

    /// Forgets that approvals were lost.
    pub(super) fn forget_lost(&self, bounds: &Bounds) -> Result<(), StoreError> {
        match self.vault.lost_file(FILE)? {
            Some(_) => self
                .vault
                .change(bounds.lock_wait, |held| held.forget(FILE)),
            None => Ok(()),
        }
    }

    /// How long what is wanted is approved for. The file is read again only when it is another one, so
    /// that this can be asked with every call.
    pub(super) fn find(
        &self,
        key: &Key,
        is: impl Fn(&Item) -> bool,
        bounds: &Bounds,
    ) -> Result<Option<Lasts>, StoreError> {
        // Looked at before it is read: what is written in between is found the next time.
        let stamp = match std::fs::symlink_metadata(&self.path) {
            Ok(metadata) => Stamp::of(&metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *self.last() = None;
                return Ok(None);
            }
            Err(error) => return Err(StoreError::io("look at", &self.path, error)),
        };
        let mut last = self.last();
        let (_, table) = match last.take() {
            Some(known) if known.0 == stamp => last.insert(known),
            _ => last.insert((stamp, Table::of(self.list(bounds)?))),
        };
        Ok(table.find(key, is))
    }

    /// Reads all there is.
    pub(super) fn list(&self, bounds: &Bounds) -> Result<Vec<Approval>, StoreError> {
        match self.vault.read(FILE, bounds.file_bytes)? {
            Some(text) => record::parse(&text, &self.path, bounds),
            None => Ok(Vec::new()),
        }
    }

    /// Adds an approval, in place of one for the same, and of one for what the server was before.
    pub(super) fn add(&self, approval: Approval, bounds: &Bounds) -> Result<(), StoreError> {
        self.change(bounds, |all| {
            all.retain(|other| !is_replaced(other, &approval));
            all.push(approval);
        })
    }

    /// Waits until a change does not have to wait for another process.
    pub(super) async fn is_free(&self, bounds: &Bounds) {
        self.vault.lock_is_free(bounds.lock_wait).await;
    }

    /// Takes out those that are meant.
    pub(super) fn take(&self, which: &Which, bounds: &Bounds) -> Result<Vec<Approval>, StoreError> {
        let all = self.list(bounds)?;
        if !all.iter().any(|approval| which.means(approval)) {
            // Without a reason to write, no folder is made either.
            return Ok(Vec::new());
        }
        let mut taken = Vec::new();
        self.change(bounds, |all| {
            taken.extend(all.extract_if(.., |approval| which.means(approval)));
        })?;
        Ok(taken)
    }

    fn change(
        &self,
        bounds: &Bounds,
        change: impl FnOnce(&mut Vec<Approval>),
    ) -> Result<(), StoreError> {
        self.vault.change(bounds.lock_wait, |held| {
            let mut all = self.list(bounds)?;
            change(&mut all);
            let most = bounds.approvals;
            if all.len() > most {
                return Err(StoreError::Full { most });
            }
            held.replace(FILE, record::write(&all).as_bytes(), bounds.file_bytes)?;
            held.note(FILE, note(&all))
        })
    }

    /// A panic cannot have left half a table: it is put there when it is whole.
    fn last(&self) -> MutexGuard<'_, Option<(Stamp, Table)>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn note(approvals: &[Approval]) -> Note {
    let servers = approvals.iter().map(|approval| approval.server.as_str());
    Note::of(approvals.len(), servers)
}

/// Whether one approval takes the place of another. One for what a server was before is of no use any
/// more, and going back asks again.
fn is_replaced(old: &Approval, new: &Approval) -> bool {
    let is_same = old.identity == new.identity;
    let was_it = old.server == new.server && old.origin == new.origin;
    old.caller == new.caller && old.covers == new.covers && (is_same || was_it)
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let place = {
            use std::os::unix::fs::MetadataExt as _;
            (metadata.ino(), metadata.ctime(), metadata.ctime_nsec())
        };
        #[cfg(not(unix))]
        let place = (0, 0, 0);
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            place,
        }
    }
}
