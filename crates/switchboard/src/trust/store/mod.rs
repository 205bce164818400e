//! Storage of approvals: one file in the user's own folder.

mod record;

use std::path::PathBuf;
use std::time::SystemTime;

use super::fingerprint::{Fingerprint, Prefix};
use super::{Claim, path};
use crate::private_store::{Lost, Records};
pub use crate::private_store::{StoreError, StoreLimits};
use crate::spec::ServerName;
use record::Record;

/// Keeps approvals: in `trust.json` in the user's own folder, or in memory.
///
/// The folder is created when the first approval is written, for the user alone (0700, the file 0600). A
/// store that another user could have written (a link, another owner, writable for group or others) is
/// refused, and so is one that cannot be read: neither counts as empty. Several processes may use one
/// store at once. On systems without owners and modes, the program has to name a folder that only the
/// user can write to.
///
/// Its methods block: async code calls them on a thread that may block.
#[derive(Debug)]
pub struct Store(Records<Vec<Record>>);

/// The state of a claim compared with the approvals.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(hidden)]
pub enum Standing {
    /// Exactly this claim was approved.
    Approved,
    /// No claim of this name in this file was ever approved.
    New,
    /// A claim of this name in this file was approved, and it has changed since.
    Changed(Vec<Difference>),
    /// The same entry was approved when less was bound with it: by an earlier release, or before contents
    /// of files were bound. The differences list what is bound now.
    BoundLess(Vec<Difference>),
}

/// One difference from the approved version. Secrets are masked in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[doc(hidden)]
pub struct Difference {
    /// The place of the difference: a JSON pointer into the entry, `program`, `references`, `env_file`
    /// for the content of the file of variables, or `content of PATH`.
    pub pointer: String,
    /// The approved value as JSON; `None` if there was none.
    pub before: Option<String>,
    /// The current value as JSON; `None` if it was removed.
    pub after: Option<String>,
}

/// Something that was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Approval {
    /// The name of the server.
    pub server: ServerName,
    /// The file that describes it.
    pub file: PathBuf,
    /// The fingerprint of the approved claim.
    pub fingerprint: Fingerprint,
    /// The time of the approval, to the second.
    pub approved: SystemTime,
}

/// Selects approvals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(hidden)]
pub enum Which {
    /// All approvals for a server of this name, whatever the file.
    Server(ServerName),
    /// All approvals for this file, by its real path.
    File(PathBuf),
    /// All approvals whose fingerprint begins with this prefix.
    Fingerprint(Prefix),
}

impl Store {
    /// Keeps approvals in a folder. Nothing is read or created before the first use.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(Records::at(folder, "trust"))
    }

    /// Keeps approvals in memory, until the program ends.
    pub fn in_memory() -> Self {
        Self(Records::in_memory("trust"))
    }

    /// Keeps the index of approvals in a separate folder, so that losing the whole first folder is
    /// noticed too.
    #[must_use]
    pub fn noted_in(self, folder: impl Into<PathBuf>) -> Self {
        Self(self.0.noted_in(folder))
    }

    /// Sets the limits of the store.
    #[must_use]
    pub fn limits(self, limits: StoreLimits) -> Self {
        Self(self.0.with_limits(limits))
    }

    /// Returns the approvals that were lost because the file is gone. None of them counts any more; the
    /// next approval creates a new file. A file from a version that kept no index is added to the index
    /// first.
    ///
    /// # Errors
    /// Fails if the store cannot be read or is not to be trusted.
    pub fn lost_file(&self) -> Result<Option<Lost>, StoreError> {
        Ok(self.0.lost_files()?.pop())
    }

    /// Forgets that approvals were lost.
    ///
    /// # Errors
    /// Fails if the store cannot be written.
    pub fn forget_lost(&self) -> Result<(), StoreError> {
        self.0.forget_lost(|_, _| true)
    }

    /// Compares a claim with the approvals.
    ///
    /// # Errors
    /// Fails if the store cannot be read or is not to be trusted. Then nothing is approved.
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

    /// Approves a claim permanently; replaces the approval for the same name in the same file.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written, is not to be trusted, or is full. Then nothing has
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

    /// Revokes the selected approvals and returns them. It is not an error if there are none.
    ///
    /// # Errors
    /// Fails if the store cannot be read or written, or is not to be trusted. Then nothing has changed.
    pub fn revoke(&self, which: &Which) -> Result<Vec<Approval>, StoreError> {
        let revoked = self.0.take(|record| which.means(&record.approval()))?;
        Ok(revoked.iter().map(Record::approval).collect())
    }

    /// Lists the approvals, oldest first.
    ///
    /// # Errors
    /// Fails if the store cannot be read or is not to be trusted.
    pub fn list(&self) -> Result<Vec<Approval>, StoreError> {
        Ok(self.0.list()?.iter().map(Record::approval).collect())
    }
}

impl Which {
    /// Returns `true` if an approval is selected.
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
