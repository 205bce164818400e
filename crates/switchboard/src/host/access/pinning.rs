//! Pinned definitions: those that a server offered when it was approved, and their changes since.

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

/// The definitions that a server offered when it was approved; loaded on first use.
#[derive(Default)]
pub(in crate::host) struct MemberBaseline(Mutex<BaselineState>);

#[derive(Default)]
struct BaselineState {
    pinned: Option<Arc<Pinned>>,
    /// The last check of the instructions: the part and the baseline that were compared, and the
    /// result.
    instructed: Option<(Arc<ServerCatalog>, Arc<Pinned>, bool)>,
}

impl MemberBaseline {
    fn lock(&self) -> MutexGuard<'_, BaselineState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Access {
    /// Returns true if the definitions of a server are approved as they are now, so that this tool
    /// can be called without asking, reading or waiting. It holds until the member changes.
    pub(in crate::host) fn is_cleared(&self, member: &Member, entry: &Arc<ToolEntry>) -> bool {
        // `Warn` reports drifts at each call, and `Off` has no baseline to compare with.
        if !matches!(self.pin_mode(), Mode::Ask | Mode::Block) {
            return false;
        }
        let Some(part) = self.part(member) else {
            return false;
        };
        // By address: the keeper shares entries that did not change, and makes new ones for those
        // that did.
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

    /// Allows a use that a rule allows outright; `None` if the person has to be asked, or it is
    /// denied.
    pub(in crate::host) fn allow_outright(
        &self,
        caller: &Caller,
        entry: &ToolEntry,
    ) -> Option<Permit> {
        let decision = self.decide(&Request::usual(caller, entry));
        decision.is_allowed().then_some(Permit { decision })
    }

    /// Returns true if a tool is unchanged since the person approved the server, or if pins are not
    /// enforced.
    pub(in crate::host) fn is_as_approved(&self, member: &Member, entry: &ToolEntry) -> bool {
        self.is_pinned(member, |pinned| pinned.tool(entry))
    }

    /// Returns true if an item is unchanged since the person approved the server, and so are the
    /// server's instructions, which apply to all of its items.
    pub(super) fn is_pinned(
        &self,
        member: &Member,
        standing: impl Fn(&Pinned) -> Standing,
    ) -> bool {
        if matches!(self.pin_mode(), Mode::Off | Mode::Warn) {
            return true;
        }
        if member.is_offline() || member.is_local() {
            // The program's own words.
            return true;
        }
        let pinned = self.pinned(member);
        pinned.is_some_and(|pinned| {
            standing(&pinned) == Standing::Pinned && self.is_instructed(member, &pinned)
        })
    }

    /// Returns true if the instructions are those that were approved. They are hashed once for each
    /// part of the catalog, because this runs before every call.
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
        // By address again: a new part or a new baseline is a new allocation.
        if let Some((of, to, is_so)) = &member.baseline.lock().instructed
            && Arc::ptr_eq(of, part)
            && Arc::ptr_eq(to, pinned)
        {
            return *is_so;
        }
        let is_so = pinned.instructions(part).is_pinned();
        member.baseline.lock().instructed = Some((Arc::clone(part), Arc::clone(pinned), is_so));
        is_so
    }

    /// Returns a tool as its server offers it now, or as last known if it is no longer offered.
    pub(in crate::host) fn current(&self, entry: &Arc<ToolEntry>) -> Arc<ToolEntry> {
        let catalog = self.catalog.borrow();
        let current = catalog.by_key(entry.server().as_str(), entry.name());
        Arc::clone(current.unwrap_or(entry))
    }

    /// Returns true if a tool is as it was approved, or the person approves its changes now.
    pub(in crate::host) async fn is_reviewed(&self, member: &Member, entry: &ToolEntry) -> bool {
        if self.is_as_approved(member, entry) {
            return true;
        }
        if self.pin_mode() != Mode::Ask {
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
        // The person sees exactly the drifts that are stored afterwards.
        let request = ChangeRequest::new(member.name.clone(), drifts.clone());
        if self.operator.approve_change(request).await != ChangeApproval::Approve {
            return false;
        }
        // The file's lock is waited for here: the store itself would block the thread.
        self.pins.is_free().await;
        self.approve_drifts(member, &drifts).is_ok()
    }

    /// Returns the differences between a tool and its approved definition, including those of the
    /// server's instructions.
    pub(in crate::host) fn drifts_of(&self, member: &Member, entry: &ToolEntry) -> Vec<Drift> {
        let Some(pinned) = self.pinned(member) else {
            return Vec::new();
        };
        let mut drifts = match self.part(member) {
            Some(part) if !pinned.instructions(&part).is_pinned() => pinned.compare(&part),
            _ => Vec::new(),
        };
        // Changes of other tools are asked about when those are called.
        drifts.retain(|drift| drift.kind == Kind::Instructions);
        drifts.extend(pinned.drift(entry));
        drifts
    }

    /// Approves these changes.
    pub(in crate::host) fn approve_drifts(
        &self,
        member: &Member,
        drifts: &[Drift],
    ) -> Result<(), StoreError> {
        let approved = self.pins.approve(&member.identity(), drifts)?;
        member.baseline.lock().pinned = approved;
        // Prepared handles look again, and find the new baseline.
        member.mark_changed();
        Ok(())
    }

    /// Returns the definitions that a server offered when it was approved, if they are known.
    pub(in crate::host) fn pinned(&self, member: &Member) -> Option<Arc<Pinned>> {
        if let Some(pinned) = &member.baseline.lock().pinned {
            return Some(Arc::clone(pinned));
        }
        // Not under the member's lock: this may read a file.
        let pinned = self.pins.baseline(&member.identity()).ok()??;
        member.baseline.lock().pinned = Some(Arc::clone(&pinned));
        Some(pinned)
    }

    /// Takes the approved definitions from the store again, which another process may have changed. It
    /// blocks.
    #[cfg(feature = "config")]
    pub(in crate::host) fn read_again(&self, member: &Member) {
        let Some(known) = member.baseline.lock().pinned.clone() else {
            // Looked up at the next use.
            return;
        };
        // A store that cannot be read approves nothing.
        let stored = self.pins.baseline(&member.identity()).ok().flatten();
        if stored.as_ref() == Some(&known) {
            return;
        }
        {
            let mut baseline = member.baseline.lock();
            let is_still_known = baseline
                .pinned
                .as_ref()
                .is_some_and(|it| Arc::ptr_eq(it, &known));
            // Unless this host has approved something meanwhile.
            if is_still_known {
                baseline.pinned = stored;
            }
        }
        member.mark_changed();
    }

    /// Pins the definitions of a server as approved, the first time. It waits until they stop
    /// changing, since servers add tools while they start. `listed` ends when all of its lists are
    /// read.
    pub(in crate::host) async fn settle(
        &self,
        member: &Member,
        listed: impl Future<Output = Result<(), Stopped>>,
    ) {
        // Definitions of an earlier run are no baseline: the server may offer others by now.
        if !self.lacks_baseline(member) || member.facts().is_kept {
            return;
        }
        // 1. The lists that the opener did not wait for are a part of it too, unless they take too long.
        tokio::select! {
            listed = listed => if listed.is_err() {
                return;
            },
            () = tokio::time::sleep(Settling::LONGEST) => {}
        }
        // 2. Wait until nothing has changed for a while, and no change was announced.
        let session = member.ready().and_then(|ready| ready.server.live());
        let mut announced = session.map(|session| session.changes());
        let mut catalog = self.catalog.clone();
        // Only changes from here on count.
        catalog.mark_unchanged();
        let now = || tokio::time::Instant::now().into_std();
        let mut settling = Settling::new(now());
        let mut seen = self.part(member);
        while !settling.is_settled(now()) {
            let due = tokio::time::Instant::from_std(settling.due());
            tokio::select! {
                _ = catalog.changed() => {}
                // A change was announced, and the list is yet to be read.
                () = next_change(&mut announced) => settling.record_change(now()),
                () = tokio::time::sleep_until(due) => continue,
            }
            let part = self.part(member);
            // The catalog changes for other servers too: only this one's definitions matter.
            if !is_same(seen.as_deref(), part.as_deref()) {
                settling.record_change(now());
            }
            seen = part;
        }
        // 3. Kept, unless tools could not be listed: they would all be news the next time.
        if member.listing.why_unlisted(ItemKind::Tool).is_some() {
            return;
        }
        if let Some(part) = self.part(member) {
            self.pins.is_free().await;
            // If it cannot be stored, agents see nothing of the server.
            let begun = (self.pins).begin(&member.identity(), &member.name, Pinned::of(&part));
            if let Ok(pinned) = begun {
                member.baseline.lock().pinned = Some(pinned);
                member.mark_changed();
            }
        }
    }

    /// Returns true if what a server offers has to be pinned before agents can use it, and is not.
    pub(in crate::host) fn lacks_baseline(&self, member: &Member) -> bool {
        let is_wanted = match self.pin_mode() {
            Mode::Off => false,
            Mode::Ask | Mode::Block | Mode::Warn => self.policy().has_agents(),
        };
        is_wanted && !member.is_local() && self.pinned(member).is_none()
    }

    /// Returns true if a caller may be shown the instructions of a server: they are as approved.
    pub(in crate::host) fn shows_instructions(&self, caller: &Caller, member: &Member) -> bool {
        self.knows(caller, &member.name)
            && (caller.is_owner() || self.is_pinned(member, |_| Standing::Pinned))
    }

    /// Returns true if a tool that a caller may use is withheld because it has changed. If the
    /// person can be asked, the question comes when the tool is called instead.
    pub(in crate::host) fn is_quarantined(&self, member: &Member, entry: &ToolEntry) -> bool {
        self.pin_mode() == Mode::Block
            && self.pinned(member).is_some()
            && !self.is_as_approved(member, entry)
    }
}

/// Returns true if two parts offer the same definitions, whatever their freshness.
fn is_same(one: Option<&ServerCatalog>, two: Option<&ServerCatalog>) -> bool {
    match (one, two) {
        (Some(one), Some(two)) => Pinned::of(one).compare(two).is_empty(),
        (None, None) => true,
        _ => false,
    }
}

/// Waits until a server announces that a list has changed; forever if the server is gone.
async fn next_change(announced: &mut Option<watch::Receiver<Changes>>) {
    if let Some(changes) = announced
        && changes.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}
