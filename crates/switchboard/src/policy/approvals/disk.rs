//! The approvals that are for good, in their file, and how they are looked up.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::approval::{Approval, Covers, Lasts};
use crate::policy::approve::Item;
use crate::policy::caller::CallerId;
use crate::private_store::{ONLY, Records, StoreError, StoreLimits};
use crate::spec::Identity;

/// Approvals in a file, with a cache of the last reading.
#[derive(Debug)]
pub(super) struct Disk {
    pub(super) records: Records<Vec<Approval>>,
    /// The last reading, and the file that it was of.
    read: Mutex<Option<(Stamp, ApprovalTable)>>,
}

/// File metadata that differs once the file was replaced or touched.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// The number of the file, and when anything about it changed: its owner or mode too.
    place: (u64, i64, i64),
}

impl Disk {
    pub(super) fn at(folder: PathBuf) -> Self {
        Self::new(Records::at(folder, "approvals"))
    }

    fn new(records: Records<Vec<Approval>>) -> Self {
        Self {
            records,
            read: Mutex::default(),
        }
    }

    pub(super) fn noted_in(self, folder: PathBuf) -> Self {
        Self::new(self.records.noted_in(folder))
    }

    pub(super) fn limits(self, limits: StoreLimits) -> Self {
        Self::new(self.records.with_limits(limits))
    }

    /// Returns how long the matching approval lasts. Rereads the file only if its stamp has changed, so
    /// this is cheap enough for every call.
    pub(super) fn find(
        &self,
        key: &Key,
        is: impl Fn(&Item) -> bool,
    ) -> Result<Option<Lasts>, StoreError> {
        let path = self.records.path(ONLY).unwrap_or_default();
        // Take the stamp before reading: a write in between changes it, and the next call rereads the
        // file.
        let stamp = match std::fs::symlink_metadata(&path) {
            Ok(metadata) => Stamp::of(&metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *self.last() = None;
                return Ok(None);
            }
            Err(error) => return Err(StoreError::io("look at", &path, error)),
        };
        // Held while the file is read: two callers would otherwise parse it twice.
        let mut last = self.last();
        let (_, table) = match last.take() {
            Some(known) if known.0 == stamp => last.insert(known),
            _ => last.insert((stamp, ApprovalTable::of(self.records.list()?))),
        };
        Ok(table.find(key, is))
    }

    /// Adds an approval. Replaces one for the same item, and one for an earlier description of the
    /// server.
    pub(super) fn add(&self, approval: Approval) -> Result<(), StoreError> {
        self.records.change_list(|all| {
            // Replaced rather than added to: a server that was edited leaves no approval of its old
            // form.
            all.retain(|other| !is_replaced(other, &approval));
            all.push(approval);
        })
    }

    /// Locks the cache. A panic cannot leave half a table in it: a table is stored only when it is
    /// complete.
    fn last(&self) -> MutexGuard<'_, Option<(Stamp, ApprovalTable)>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns `true` if a new approval replaces an old one. An approval for an earlier description of the
/// same server is dropped, so going back to that description asks again.
fn is_replaced(old: &Approval, new: &Approval) -> bool {
    // The same server, or the same entry of the same file with other content.
    let is_same = old.identity == new.identity;
    let was_it = old.server == new.server && old.origin == new.origin;
    old.caller == new.caller && old.covers == new.covers && (is_same || was_it)
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let place = {
            use std::os::unix::fs::MetadataExt as _;
            // A file that was replaced within one tick of the clock has another inode.
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

/// The caller and the server of an approval.
pub(super) type Key = (CallerId, Identity);

/// Approvals by caller and server. There are few for each key, so a list is searched.
#[derive(Debug, Default)]
pub(super) struct ApprovalTable(HashMap<Key, Vec<Approval>>);

impl ApprovalTable {
    pub(super) fn of(approvals: Vec<Approval>) -> Self {
        let mut table = Self::default();
        for approval in approvals {
            table.insert(approval);
        }
        table
    }

    /// Returns how long the approval lasts whose item satisfies `is`.
    pub(super) fn find(&self, key: &Key, is: impl Fn(&Item) -> bool) -> Option<Lasts> {
        // The usual case: nothing is hashed.
        if self.0.is_empty() {
            return None;
        }
        let found = self
            .0
            .get(key)?
            .iter()
            .find(|approval| match &approval.covers {
                Covers::Server => true,
                Covers::Item(item) => is(item),
            });
        found.map(|approval| approval.lasts)
    }

    /// Adds an approval, in place of one for the same item.
    pub(super) fn insert(&mut self, approval: Approval) {
        let key = (approval.caller.clone(), approval.identity);
        let all = self.0.entry(key).or_default();
        all.retain(|other| other.covers != approval.covers);
        all.push(approval);
    }

    /// Removes and returns the matching approvals.
    pub(super) fn take(&mut self, is_meant: impl Fn(&Approval) -> bool) -> Vec<Approval> {
        let mut taken = Vec::new();
        self.0.retain(|_, all| {
            taken.extend(all.extract_if(.., |approval| is_meant(approval)));
            !all.is_empty()
        });
        taken
    }

    pub(super) fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Approval> {
        self.0.values().flatten()
    }
}
