//! What the person has approved.

mod approval;
mod disk;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::approve::{Item, UseApproval, UseRequest};
use super::decision::{Decision, Reason};
use super::request::Request;
use crate::private_store::{Lost, to_seconds};
pub use crate::private_store::{StoreError, StoreLimits};
use crate::spec::Identity;
pub use approval::{Approval, Covers, Lasts, Which};
use disk::{Disk, Key, Table};

/// Remembers what the person has approved: as long as the program runs, and what is for good in
/// `approvals.json` in a folder of theirs.
///
/// An approval is for one agent and for one server as it was described when the person was asked: its
/// [`Identity`], never its name. It changes nothing about what was granted: what a policy denies stays
/// denied.
///
/// The file is kept like that of a [`trust::Store`](crate::trust::Store): for the person alone, and
/// refused where somebody else could have written it or it cannot be read. Several processes may use
/// one folder; what one of them revokes is over for the others at their next use. Reading and writing
/// blocks for as long as a small file takes.
#[derive(Debug)]
pub struct Approvals {
    session: Mutex<Table>,
    disk: Option<Disk>,
    /// Of the session; the file has its own.
    limits: StoreLimits,
    /// One question at a time, and the second of two that are alike is not asked.
    turn: tokio::sync::Mutex<()>,
}

impl Approvals {
    /// Approvals that outlive the program, in a folder. Nothing is read or made before it is used.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self::new(Some(Disk::at(folder.into())))
    }

    /// Approvals that are gone with the program, those for good too.
    pub fn in_memory() -> Self {
        Self::new(None)
    }

    fn new(disk: Option<Disk>) -> Self {
        Self {
            session: Mutex::default(),
            disk,
            limits: StoreLimits::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    /// Keeps the note of what was approved for good in a folder of its own, so that it is noticed too
    /// when all of the other folder is gone.
    #[must_use]
    pub fn noted_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.disk = self.disk.map(|disk| disk.noted_in(folder.into()));
        self
    }

    /// What was approved for good and is gone, because the file is. It is asked about again; the next
    /// approval begins a new file. A file of a version that took no notes is noted first.
    ///
    /// # Errors
    /// When the file cannot be read or is not to be trusted.
    pub fn lost(&self) -> Result<Option<Lost>, StoreError> {
        match &self.disk {
            Some(disk) => Ok(disk.records.lost_files()?.pop()),
            None => Ok(None),
        }
    }

    /// Forgets that approvals were lost.
    ///
    /// # Errors
    /// When that cannot be written.
    pub fn forget_lost(&self) -> Result<(), StoreError> {
        match &self.disk {
            Some(disk) => disk.records.forget_lost(|_, _| true),
            None => Ok(()),
        }
    }

    /// Sets how much it may hold: in the session, and for good.
    #[must_use]
    pub fn limits(mut self, limits: StoreLimits) -> Self {
        self.disk = self.disk.map(|disk| disk.limits(limits));
        self.limits = limits;
        self
    }

    /// Says whether a request to this very server is approved, and for how long.
    ///
    /// # Errors
    /// When the file cannot be read or is not to be trusted. Then nothing is approved.
    pub fn standing(
        &self,
        request: &Request<'_>,
        identity: &Identity,
    ) -> Result<Option<Lasts>, StoreError> {
        self.find(&(request.caller.id().clone(), *identity), |item| {
            item.is(request)
        })
    }

    /// Decides about a use that a policy wants asked about: by what is remembered, or else by asking.
    /// Returns [`Decision::Allow`] or [`Decision::Deny`].
    ///
    /// An answer that is for good is written before it counts. Dropping the future while it asks
    /// approves nothing. A refusal is not remembered.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is not to be trusted. Then nothing is approved.
    pub async fn settle<F>(
        &self,
        request: &UseRequest,
        ask: impl FnOnce(UseRequest) -> F,
    ) -> Result<Decision, StoreError>
    where
        F: Future<Output = UseApproval>,
    {
        let allow = |lasts| Decision::Allow(Reason::Approved(lasts));
        let _turn = self.turn.lock().await;
        // Who waited for their turn may have been answered with the one before.
        let key = (request.caller.id().clone(), request.identity);
        if let Some(lasts) = self.find(&key, |item| *item == request.item)? {
            return Ok(allow(lasts));
        }
        let answer = ask(request.clone()).await;
        let item = || Covers::Item(request.item.clone());
        let (covers, lasts) = match answer {
            UseApproval::Refuse => return Ok(Decision::Deny(Reason::Refused)),
            UseApproval::Once => return Ok(allow(Lasts::Once)),
            UseApproval::Session => (item(), Lasts::Session),
            UseApproval::Server => (Covers::Server, Lasts::Session),
            UseApproval::Always => (Covers::Server, Lasts::Always),
        };
        if let (Lasts::Always, Some(disk)) = (lasts, &self.disk) {
            disk.records.lock_is_free().await;
        }
        self.remember(request, covers, lasts)?;
        Ok(allow(lasts))
    }

    /// Remembers an approval without asking, in place of one that was for the same.
    ///
    /// # Errors
    /// When the file cannot be read or written, is not to be trusted, or there are too many. Then
    /// nothing has changed.
    pub fn remember(
        &self,
        ask: &UseRequest,
        covers: Covers,
        lasts: Lasts,
    ) -> Result<(), StoreError> {
        self.remember_at(ask, covers, lasts, SystemTime::now())
    }

    /// Remembers an approval like [`Approvals::remember`], at a time that the program names.
    ///
    /// # Errors
    /// As for [`Approvals::remember`].
    pub fn remember_at(
        &self,
        ask: &UseRequest,
        covers: Covers,
        lasts: Lasts,
        time: SystemTime,
    ) -> Result<(), StoreError> {
        let approval = Approval {
            caller: ask.caller.id().clone(),
            server: ask.server.clone(),
            origin: ask.origin.clone(),
            identity: ask.identity,
            covers,
            lasts,
            approved: UNIX_EPOCH + Duration::from_secs(to_seconds(time)),
        };
        match (lasts, &self.disk) {
            // It is over already.
            (Lasts::Once, _) => Ok(()),
            (Lasts::Always, Some(disk)) => disk.add(approval),
            (Lasts::Always, None) | (Lasts::Session, _) => {
                let (mut session, most) = (self.session(), self.limits.records);
                if session.len() >= most {
                    return Err(StoreError::Full { most });
                }
                session.insert(approval);
                Ok(())
            }
        }
    }

    /// Lists what is approved, oldest first.
    ///
    /// # Errors
    /// When the file cannot be read or is not to be trusted.
    pub fn list(&self) -> Result<Vec<Approval>, StoreError> {
        let mut all = match &self.disk {
            Some(disk) => disk.records.list()?,
            None => Vec::new(),
        };
        all.extend(self.session().all().cloned());
        all.sort_by(|one, two| {
            let key = |approval: &'_ Approval| (approval.approved, approval.lasts);
            key(one)
                .cmp(&key(two))
                .then_with(|| one.caller.cmp(&two.caller))
                .then_with(|| one.server.cmp(&two.server))
                .then_with(|| one.covers.cmp(&two.covers))
        });
        Ok(all)
    }

    /// Takes approvals back, and says which. None is no error.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is not to be trusted. Those of the session are
    /// taken back nevertheless.
    pub fn revoke(&self, which: &Which) -> Result<Vec<Approval>, StoreError> {
        let mut revoked = self.session().take(|approval| which.means(approval));
        if let Some(disk) = &self.disk {
            revoked.extend(disk.records.take(|approval| which.means(approval))?);
        }
        Ok(revoked)
    }

    fn find(&self, key: &Key, is: impl Fn(&Item) -> bool) -> Result<Option<Lasts>, StoreError> {
        if let Some(lasts) = self.session().find(key, &is) {
            return Ok(Some(lasts));
        }
        match &self.disk {
            Some(disk) => disk.find(key, &is),
            None => Ok(None),
        }
    }

    /// No change of the table can be left half done by a panic.
    fn session(&self) -> MutexGuard<'_, Table> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
