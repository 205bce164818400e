//! What was approved, in a file of the person's.

mod record;

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use super::facts::Difference;
use super::fingerprint::{Fingerprint, Prefix};
use super::{Claim, path};
pub use crate::private_store::StoreError;
use crate::private_store::{Lost, Note, PrivateStore};
use crate::spec::ServerName;
use record::Record;

/// The file in the folder.
const FILE: &str = "trust.json";

/// Keeps what was approved: in `trust.json` in a folder of the person's, or in memory.
///
/// The folder is made when the first approval is written, for the person alone (0700, the file 0600).
/// A store that somebody else could have written (a link, another owner, writable for group or
/// others) is refused, and so is one that cannot be read: neither counts as empty. Several
/// processes may use one store at once. On systems without owners and modes, who can write there is left
/// to the folder that the program names.
///
/// Its methods block: a program that has no time to lose calls them where it may block.
#[derive(Debug)]
pub struct Store {
    place: Place,
    bounds: Bounds,
}

#[derive(Debug)]
enum Place {
    Memory(Mutex<Vec<Record>>),
    Disk(PrivateStore),
}

/// How much a store may hold, and how long it may take.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// The most approvals.
    pub approvals: usize,
    /// The most bytes of the file.
    pub file_bytes: usize,
    /// How long to wait for another process that writes.
    pub lock_wait: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            approvals: 4096,
            file_bytes: 16 * 1024 * 1024,
            lock_wait: Duration::from_secs(10),
        }
    }
}

/// How a claim stands to what was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// Exactly this was approved.
    Approved,
    /// Nothing of this name in this file ever was.
    New,
    /// Something of this name in this file was, and it is not the same any more.
    Changed(Vec<Difference>),
    /// The same entry was, when less was bound with it: by an earlier release, or before the content of files
    /// was to be bound. The differences are what is bound now.
    BoundLess(Vec<Difference>),
}

/// Something that was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// The name of the server.
    pub server: ServerName,
    /// The file that describes it.
    pub file: PathBuf,
    /// What exactly was approved.
    pub fingerprint: Fingerprint,
    /// When that was, to the second.
    pub approved: SystemTime,
}

/// Which approvals are meant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Which {
    /// All for a server of this name, whatever the file.
    Server(ServerName),
    /// All for this file, by its real path.
    File(PathBuf),
    /// All whose fingerprint begins like this.
    Fingerprint(Prefix),
}

impl Store {
    /// A store in a folder. Nothing is read or made before it is used.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self::new(Place::Disk(PrivateStore::at(folder.into(), "trust")))
    }

    /// A store that is gone with the program.
    pub fn in_memory() -> Self {
        Self::new(Place::Memory(Mutex::default()))
    }

    fn new(place: Place) -> Self {
        Self {
            place,
            bounds: Bounds::default(),
        }
    }

    /// Keeps the note of what was approved in a folder of its own, so that it is noticed too when all of
    /// the other folder is gone.
    #[must_use]
    pub fn noted_in(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Place::Disk(vault) = self.place {
            self.place = Place::Disk(vault.noted_in(folder.into(), "trust"));
        }
        self
    }

    /// What was approved and is gone, because the file is. Nothing of it is approved any more; the next
    /// approval begins a new file. A file of a version that took no notes is noted first.
    ///
    /// # Errors
    /// When the store cannot be read or is not to be trusted.
    pub fn lost(&self) -> Result<Option<Lost>, StoreError> {
        let Place::Disk(vault) = &self.place else {
            return Ok(None);
        };
        if vault.has_notes()? {
            return vault.lost_file(FILE);
        }
        if !self.read(vault)?.is_empty() {
            vault.change(self.bounds.lock_wait, |held| {
                held.note(FILE, note(&self.read(vault)?))
            })?;
        }
        Ok(None)
    }

    /// Forgets that approvals were lost.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn forget_lost(&self) -> Result<(), StoreError> {
        match &self.place {
            Place::Disk(vault) if vault.lost_file(FILE)?.is_some() => {
                vault.change(self.bounds.lock_wait, |held| held.forget(FILE))
            }
            _ => Ok(()),
        }
    }

    /// Sets how much it may hold.
    #[must_use]
    pub fn bounds(mut self, bounds: Bounds) -> Self {
        self.bounds = bounds;
        self
    }

    /// Says how a claim stands to what was approved.
    ///
    /// # Errors
    /// When the store cannot be read or is not to be trusted. Then nothing is approved.
    pub fn standing(&self, claim: &Claim) -> Result<Standing, StoreError> {
        let records = self.records()?;
        let fingerprint = claim.fingerprint();
        let same = records.iter().find(|record| record.is_about(claim));
        Ok(match same {
            Some(record) if record.fingerprint == fingerprint => Standing::Approved,
            Some(record) if claim.weaker_fingerprints().contains(&record.fingerprint) => {
                Standing::BoundLess(record.differences(claim))
            }
            Some(record) => Standing::Changed(record.differences(claim)),
            None => Standing::New,
        })
    }

    /// Approves a claim for good, in place of what was approved of the same name in the same file.
    ///
    /// # Errors
    /// When the store cannot be read or written, is not to be trusted, or is full. Then nothing has
    /// changed.
    pub fn approve(&self, claim: &Claim) -> Result<(), StoreError> {
        self.approve_at(claim, SystemTime::now())
    }

    /// Approves a claim like [`Store::approve`], at a time that the program names.
    ///
    /// # Errors
    /// As for [`Store::approve`].
    pub fn approve_at(&self, claim: &Claim, time: SystemTime) -> Result<(), StoreError> {
        let record = Record::of(claim, time);
        self.change(|records| {
            records.retain(|other| !other.is_about(claim));
            records.push(record);
        })
    }

    /// Waits until [`Store::approve`] does not have to wait for another process.
    pub(super) async fn is_free(&self) {
        if let Place::Disk(vault) = &self.place {
            vault.lock_is_free(self.bounds.lock_wait).await;
        }
    }

    /// Takes approvals back, and says which. None is no error.
    ///
    /// # Errors
    /// When the store cannot be read or written, or is not to be trusted. Then nothing has changed.
    pub fn revoke(&self, which: &Which) -> Result<Vec<Approval>, StoreError> {
        if self.list()?.iter().all(|approval| !which.means(approval)) {
            // Without a reason to write, no folder is made either.
            return Ok(Vec::new());
        }
        let mut revoked = Vec::new();
        self.change(|records| {
            records.retain(|record| {
                let approval = record.approval();
                let is_meant = which.means(&approval);
                if is_meant {
                    revoked.push(approval);
                }
                !is_meant
            });
        })?;
        Ok(revoked)
    }

    /// Lists what was approved, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read or is not to be trusted.
    pub fn list(&self) -> Result<Vec<Approval>, StoreError> {
        let records = self.records()?;
        Ok(records.iter().map(Record::approval).collect())
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Record>)) -> Result<(), StoreError> {
        match &self.place {
            Place::Disk(vault) => vault.change(self.bounds.lock_wait, |held| {
                let records = self.changed(self.read(vault)?, change)?;
                let text = record::write(&records);
                held.replace(FILE, text.as_bytes(), self.bounds.file_bytes)?;
                held.note(FILE, note(&records))
            }),
            Place::Memory(records) => {
                let mut records = lock(records);
                *records = self.changed(records.clone(), change)?;
                Ok(())
            }
        }
    }

    fn changed(
        &self,
        mut records: Vec<Record>,
        change: impl FnOnce(&mut Vec<Record>),
    ) -> Result<Vec<Record>, StoreError> {
        change(&mut records);
        let most = self.bounds.approvals;
        match records.len() > most {
            true => Err(StoreError::Full { most }),
            false => Ok(records),
        }
    }

    fn records(&self) -> Result<Vec<Record>, StoreError> {
        match &self.place {
            Place::Memory(records) => Ok(lock(records).clone()),
            Place::Disk(vault) => self.read(vault),
        }
    }

    fn read(&self, vault: &PrivateStore) -> Result<Vec<Record>, StoreError> {
        match vault.read(FILE, self.bounds.file_bytes)? {
            Some(text) => record::parse(&text, &vault.path(FILE), &self.bounds),
            None => Ok(Vec::new()),
        }
    }
}

impl Which {
    /// Whether an approval is one of them.
    pub fn means(&self, approval: &Approval) -> bool {
        match self {
            Self::Server(name) => *name == approval.server,
            // By text, because paths that differ in a slash only are equal otherwise.
            Self::File(file) => path::to_text(file) == path::to_text(&approval.file),
            Self::Fingerprint(prefix) => prefix.is_of(&approval.fingerprint),
        }
    }
}

fn note(records: &[Record]) -> Note {
    let servers = records.iter().map(|record| record.server.as_str());
    Note::of(records.len(), servers)
}

/// A panic of another thread cannot have left half a change: changes are made to a copy.
fn lock(records: &Mutex<Vec<Record>>) -> MutexGuard<'_, Vec<Record>> {
    records.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
