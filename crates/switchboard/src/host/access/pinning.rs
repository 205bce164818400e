//! Pinned definitions: what a server offered when it was approved, and what has changed since.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::{Access, Permit};
use crate::catalog::{Freshness, ItemKind, ServerCatalog, ToolEntry};
use crate::host::catalog_keeper::Stopped;
use crate::host::member::Member;
use crate::pins::{Drift, Kind, Mode, Pinned, Settling, Standing, StoreError};
use crate::policy::{Caller, Request};
use crate::session::Changes;
use crate::talk::{ChangeApproval, ChangeRequest, Operator as _};

/// What a server offered when it was approved, as far as that was looked up.
#[derive(Default)]
pub(in crate::host) struct Baseline(Mutex<Known>);

#[derive(Default)]
struct Known {
    pinned: Option<Arc<Pinned>>,
    /// Of which part it is known whether its instructions are those of which baseline, and whether.
    instructed: Option<(Arc<ServerCatalog>, Arc<Pinned>, bool)>,
}

impl Baseline {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Access {
    /// Whether the definitions of a server were approved as they are now, so that nothing is to be
    /// asked, read or waited for before this tool is called. It holds until the member changes.
    pub(in crate::host) fn is_cleared(&self, member: &Member, entry: &Arc<ToolEntry>) -> bool {
        if !matches!(self.pin_mode, Mode::Ask | Mode::Block) {
            return false;
        }
        let Some(part) = self.part(member) else {
            return false;
        };
        let is_current = part.freshness() == Freshness::Live
            && part
                .tool(entry.name())
                .is_some_and(|now| Arc::ptr_eq(now, entry));
        is_current
            && self.pinned(member).is_some_and(|pinned| {
                pinned.tool(entry) == Standing::Pinned
                    && self.is_instructed_by(member, &part, &pinned)
            })
    }

    /// Allows what a rule allows outright; nothing where the person is to be asked, or it is denied.
    pub(in crate::host) fn allow_outright(
        &self,
        caller: &Caller,
        entry: &ToolEntry,
    ) -> Option<Permit> {
        let decision = self.decide(&Request::usual(caller, entry));
        decision.is_allowed().then_some(Permit { decision })
    }

    /// Whether a tool is what it was when the person approved the server; always where pins are off.
    pub(in crate::host) fn is_as_approved(&self, member: &Member, entry: &ToolEntry) -> bool {
        self.is_pinned(member, |pinned| pinned.tool(entry))
    }

    /// Whether something is what it was when the person approved the server, and so is what the
    /// server says about the use of everything in it.
    pub(super) fn is_pinned(
        &self,
        member: &Member,
        standing: impl Fn(&Pinned) -> Standing,
    ) -> bool {
        if matches!(self.pin_mode, Mode::Off | Mode::Warn) {
            return true;
        }
        if member.is_offline() {
            // The program's own words.
            return true;
        }
        let pinned = self.pinned(member);
        pinned.is_some_and(|pinned| {
            standing(&pinned) == Standing::Pinned && self.is_instructed(member, &pinned)
        })
    }

    /// Whether the instructions are those that were approved. They are hashed once for each offer: this
    /// is asked before every call.
    fn is_instructed(&self, member: &Member, pinned: &Arc<Pinned>) -> bool {
        match self.part(member) {
            Some(part) => self.is_instructed_by(member, &part, pinned),
            None => true,
        }
    }

    fn is_instructed_by(
        &self,
        member: &Member,
        part: &Arc<ServerCatalog>,
        pinned: &Arc<Pinned>,
    ) -> bool {
        if let Some((of, to, is_so)) = &member.baseline.known().instructed
            && Arc::ptr_eq(of, part)
            && Arc::ptr_eq(to, pinned)
        {
            return *is_so;
        }
        let is_so = pinned.instructions(part).is_pinned();
        member.baseline.known().instructed = Some((Arc::clone(part), Arc::clone(pinned), is_so));
        is_so
    }

    /// A tool as its server offers it now; as it was last known where it is not offered any more.
    pub(in crate::host) fn current(&self, entry: &Arc<ToolEntry>) -> Arc<ToolEntry> {
        let catalog = self.catalog.borrow();
        let current = catalog.by_key(entry.server().as_str(), entry.name());
        Arc::clone(current.unwrap_or(entry))
    }

    /// Whether a tool is as it was approved, or the person says that it may be as it is.
    pub(in crate::host) async fn is_reviewed(&self, member: &Member, entry: &ToolEntry) -> bool {
        if self.is_as_approved(member, entry) {
            return true;
        }
        if self.pin_mode != Mode::Ask {
            return false;
        }
        // One question at a time, and the second of two that are alike is not asked.
        let _turn = self.asking.lock().await;
        if self.is_as_approved(member, entry) {
            return true;
        }
        let drifts = self.drifts_of(member, entry);
        if drifts.is_empty() {
            return false;
        }
        let request = ChangeRequest::new(member.name.clone(), drifts.clone());
        if self.operator.approve_change(request).await != ChangeApproval::Approve {
            return false;
        }
        self.pins.is_free().await;
        self.approve_drifts(member, &drifts).is_ok()
    }

    /// How a tool is not as it was approved, with what its server says about its use.
    pub(in crate::host) fn drifts_of(&self, member: &Member, entry: &ToolEntry) -> Vec<Drift> {
        let Some(pinned) = self.pinned(member) else {
            return Vec::new();
        };
        let mut drifts = match self.part(member) {
            Some(part) if !pinned.instructions(&part).is_pinned() => pinned.compare(&part),
            _ => Vec::new(),
        };
        drifts.retain(|drift| drift.kind == Kind::Instructions);
        drifts.extend(pinned.drift(entry));
        drifts
    }

    /// Takes what has changed for approved.
    pub(in crate::host) fn approve_drifts(
        &self,
        member: &Member,
        drifts: &[Drift],
    ) -> Result<(), StoreError> {
        let approved = self.pins.approve(&member.identity(), drifts)?;
        member.baseline.known().pinned = approved;
        member.mark_changed();
        Ok(())
    }

    /// What a server offered when it was approved, if that is known.
    pub(in crate::host) fn pinned(&self, member: &Member) -> Option<Arc<Pinned>> {
        if let Some(pinned) = &member.baseline.known().pinned {
            return Some(Arc::clone(pinned));
        }
        let pinned = self.pins.baseline(&member.identity()).ok()??;
        member.baseline.known().pinned = Some(Arc::clone(&pinned));
        Some(pinned)
    }

    /// Takes what a server offers for what is approved, the first time: once it has gone quiet, since
    /// servers add tools while they start. `listed` ends when all of its lists are read.
    pub(in crate::host) async fn settle(
        &self,
        member: &Member,
        listed: impl Future<Output = Result<(), Stopped>>,
    ) {
        let is_wanted = match self.pin_mode {
            Mode::Off => false,
            Mode::Ask | Mode::Block | Mode::Warn => self.policy().has_agents(),
        };
        if !is_wanted || self.pinned(member).is_some() {
            return;
        }
        // 1. The lists that the opener did not wait for are a part of it too, unless they take too long.
        tokio::select! {
            listed = listed => if listed.is_err() {
                return;
            },
            () = tokio::time::sleep(Settling::LONGEST) => {}
        }
        // 2. Quiet: nothing has changed for a while, and nothing was said to.
        let session = member.ready().and_then(|ready| ready.server.live());
        let mut announced = session.map(|session| session.changes());
        let mut catalog = self.catalog.clone();
        catalog.mark_unchanged();
        let now = || tokio::time::Instant::now().into_std();
        let mut settling = Settling::new(now());
        let mut seen = self.part(member);
        while !settling.is_settled(now()) {
            let due = tokio::time::Instant::from_std(settling.due());
            tokio::select! {
                _ = catalog.changed() => {}
                // A list that the server says has changed is yet to be read.
                () = next_change(&mut announced) => settling.changed(now()),
                () = tokio::time::sleep_until(due) => continue,
            }
            let part = self.part(member);
            if !is_same(seen.as_deref(), part.as_deref()) {
                settling.changed(now());
            }
            seen = part;
        }
        // 3. Kept, unless tools could not be listed: they would all be news the next time.
        if member.listing.why_unlisted(ItemKind::Tool).is_some() {
            return;
        }
        if let Some(part) = self.part(member) {
            self.pins.is_free().await;
            // Where it cannot be kept, agents see nothing of the server.
            let begun = (self.pins).begin(&member.identity(), &member.name, Pinned::of(&part));
            if let Ok(pinned) = begun {
                member.baseline.known().pinned = Some(pinned);
                member.mark_changed();
            }
        }
    }

    /// Whether a tool that a caller may use is kept from it for what has changed. Where the person can
    /// be asked about that, they are when it is called.
    pub(in crate::host) fn is_quarantined(&self, member: &Member, entry: &ToolEntry) -> bool {
        self.pin_mode == Mode::Block
            && self.pinned(member).is_some()
            && !self.is_as_approved(member, entry)
    }
}

/// Whether two parts offer the same, so that nothing has changed but how fresh they are.
fn is_same(one: Option<&ServerCatalog>, two: Option<&ServerCatalog>) -> bool {
    match (one, two) {
        (Some(one), Some(two)) => Pinned::of(one).compare(two).is_empty(),
        (None, None) => true,
        _ => false,
    }
}

/// Waits until a server says that a list has changed; for ever where it is gone.
async fn next_change(announced: &mut Option<watch::Receiver<Changes>>) {
    if let Some(changes) = announced
        && changes.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}
