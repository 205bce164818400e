//! What was approved, in a file of the person's.

mod record;

use std::path::PathBuf;
use std::time::SystemTime;

use super::fingerprint::{Fingerprint, Prefix};
use super::{Claim, path};
use crate::private_store::{Lost, Records};
pub use crate::private_store::{StoreError, StoreLimits};
use crate::spec::ServerName;
use record::Record;

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
pub struct Store(Records<Vec<Record>>);

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

/// One thing that differs from what was approved. Secrets are masked in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Difference {
    /// Where it is: a JSON pointer into the entry, `program`, `references`, `env_file` for what the file of
    /// variables sets, or `content of PATH`.
    pub pointer: String,
    /// What was approved, as JSON; nothing where it was not there.
    pub before: Option<String>,
    /// What is there now, as JSON; nothing where it is gone.
    pub after: Option<String>,
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
        Self(Records::at(folder, "trust"))
    }

    /// A store that is gone with the program.
    pub fn in_memory() -> Self {
        Self(Records::in_memory("trust"))
    }

    /// Keeps the note of what was approved in a folder of its own, so that it is noticed too when all of
    /// the other folder is gone.
    #[must_use]
    pub fn noted_in(self, folder: impl Into<PathBuf>) -> Self {
        Self(self.0.noted_in(folder))
    }

    /// Sets how much it may hold.
    #[must_use]
    pub fn limits(self, limits: StoreLimits) -> Self {
        Self(self.0.with_limits(limits))
    }

    /// What was approved and is gone, because the file is. Nothing of it is approved any more; the next
    /// approval begins a new file. A file of a version that took no notes is noted first.
    ///
    /// # Errors
    /// When the store cannot be read or is not to be trusted.
    pub fn lost(&self) -> Result<Option<Lost>, StoreError> {
        Ok(self.0.lost_files()?.pop())
    }

    /// Forgets that approvals were lost.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn forget_lost(&self) -> Result<(), StoreError> {
        self.0.forget_lost(|_, _| true)
    }

    /// Says how a claim stands to what was approved.
    ///
    /// # Errors
    /// When the store cannot be read or is not to be trusted. Then nothing is approved.
    pub fn standing(&self, claim: &Claim) -> Result<Standing, StoreError> {
        let records = self.0.list()?;
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
        self.0.change_list(|records| {
            records.retain(|other| !other.is_about(claim));
            records.push(record);
        })
    }

    /// Waits until [`Store::approve`] does not have to wait for another process.
    pub(super) async fn is_free(&self) {
        self.0.lock_is_free().await;
    }

    /// Takes approvals back, and says which. None is no error.
    ///
    /// # Errors
    /// When the store cannot be read or written, or is not to be trusted. Then nothing has changed.
    pub fn revoke(&self, which: &Which) -> Result<Vec<Approval>, StoreError> {
        let revoked = self.0.take(|record| which.means(&record.approval()))?;
        Ok(revoked.iter().map(Record::approval).collect())
    }

    /// Lists what was approved, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read or is not to be trusted.
    pub fn list(&self) -> Result<Vec<Approval>, StoreError> {
        Ok(self.0.list()?.iter().map(Record::approval).collect())
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

#[cfg(test)]
mod tests;
