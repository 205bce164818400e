//! The user's approvals: for the session, and on disk.

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
use disk::{ApprovalTable, Disk, Key};

/// Remembers the user's approvals: in memory while the program runs, and permanent ones in
/// `approvals.json` in the user's own folder.
///
/// An approval is for one agent and for one server as it was described when the user was asked: its
/// [`Identity`], never its name. It grants nothing: a request that a policy denies stays denied.
///
/// The file is kept like that of a [`trust::Store`](crate::trust::Store): only the user can access it,
/// and it is refused if another user could have written it or if it cannot be read. Several processes may
/// use one folder; an approval that one of them revokes ends for the others at their next use. Methods
/// block while they read and write this small file.
#[derive(Debug)]
pub struct Approvals {
    session: Mutex<ApprovalTable>,
    disk: Option<Disk>,
    /// Of the session; the file has its own.
    limits: StoreLimits,
    /// Held while asking: one question at a time, and an identical second question is not asked.
    turn: tokio::sync::Mutex<()>,
}

impl Approvals {
    /// Keeps approvals in a folder, beyond the end of the program. Nothing is read or created before the
    /// first use.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self::new(Some(Disk::at(folder.into())))
    }

    /// Keeps all approvals in memory, permanent ones too.
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

    /// Keeps the index of permanent approvals in a separate folder, so that losing the whole first folder
    /// is noticed too.
    #[must_use]
    pub fn noted_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.disk = self.disk.map(|disk| disk.noted_in(folder.into()));
        self
    }

    /// Returns the permanent approvals that were lost because their file is gone. The user is asked
    /// again; the next approval creates a new file. A file from a version that kept no index is added to
    /// the index first.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not to be trusted.
    pub fn lost_file(&self) -> Result<Option<Lost>, StoreError> {
        match &self.disk {
            Some(disk) => Ok(disk.records.lost_files()?.pop()),
            None => Ok(None),
        }
    }

    /// Forgets that approvals were lost.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
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

    /// Returns how long a request to exactly this server is approved; `None` if it is not.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not to be trusted. Then nothing is approved.
    pub fn standing(
        &self,
        request: &Request<'_>,
        identity: &Identity,
    ) -> Result<Option<Lasts>, StoreError> {
        self.find(&(request.caller.id().clone(), *identity), |item| {
            item.is(request)
        })
    }

    /// Decides a request for which a policy wants the user asked: by a remembered approval, or else by
    /// asking.
    /// Returns [`Decision::Allow`] or [`Decision::Deny`].
    ///
    /// A permanent answer is written before it counts. Dropping the future while it asks approves
    /// nothing. A refusal is not remembered.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written, or is not to be trusted. Then nothing is approved.
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
        // Look again after waiting for the turn: the answer to the previous question may cover this
        // request.
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
        // Wait for other processes without blocking the executor, before the blocking write below.
        if let (Lasts::Always, Some(disk)) = (lasts, &self.disk) {
            disk.records.lock_is_free().await;
        }
        // Write first: if that fails, nothing is approved.
        self.remember(request, covers, lasts)?;
        Ok(allow(lasts))
    }

    /// Stores an approval without asking; it replaces an earlier one for the same item.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written, is not to be trusted, or there are too many
    /// approvals. Then nothing has changed.
    pub fn remember(
        &self,
        ask: &UseRequest,
        covers: Covers,
        lasts: Lasts,
    ) -> Result<(), StoreError> {
        self.remember_at(ask, covers, lasts, SystemTime::now())
    }

    /// Stores an approval like [`Approvals::remember`], at a time that the program gives.
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
            // There is nothing to keep: the approval is used up by this call.
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

    /// Lists the approvals, oldest first.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is not to be trusted.
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

    /// Revokes the matching approvals and returns them. It is not an error if none match.
    ///
    /// # Errors
    /// Fails if the file cannot be read or written, or is not to be trusted. Approvals of the session are
    /// revoked nevertheless.
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
    fn session(&self) -> MutexGuard<'_, ApprovalTable> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
