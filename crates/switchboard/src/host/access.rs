//! Whether a caller may do what it wants to: what the policy says, what the person says where it
//! asks, and what has changed since it was approved.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use super::Inner;
use super::member::{Member, Source};
use crate::catalog::{Freshness, ItemKind, PromptEntry, ServerCatalog, TemplateEntry, ToolEntry};
use crate::config::edit;
use crate::error::{Error, HostError};
use crate::pins::{Drift, Kind, Mode, Pinned, Settling, Standing, StoreError};
use crate::policy::{Ask, Caller, Decision, Reason, Request, Target};
use crate::session::Changes;
use crate::spec::{Identity, ServerName};
use crate::text::closest;

/// What was decided about a use.
#[derive(Debug, Clone)]
pub(super) struct Permit {
    /// The rule that allowed it.
    pub(super) decision: Decision,
}

impl Permit {
    /// The person may do everything.
    pub(super) fn owner() -> Self {
        Self {
            decision: Decision::Allow(Reason::Owner),
        }
    }
}

impl Inner {
    /// Whether a caller can see something. What it cannot use, it cannot see.
    pub(super) fn sees<'t>(&self, caller: &'t Caller, target: impl Into<Target<'t>>) -> bool {
        caller.is_owner() || {
            let request = Request::list(caller, target);
            !self.decide(&request).is_denied()
        }
    }

    /// Whether a caller can see a tool as it is now.
    pub(super) fn sees_tool(&self, caller: &Caller, entry: &ToolEntry) -> bool {
        caller.is_owner()
            || (self.sees(caller, entry)
                && self
                    .member(entry.server())
                    .is_some_and(|member| self.is_as_approved(&member, entry)))
    }

    /// Decides about a use, asking the person where the policy wants that.
    ///
    /// # Errors
    /// When it is not allowed. To an agent that looks as if there were no such thing.
    pub(super) async fn permit<'t>(
        &self,
        caller: &'t Caller,
        member: &Member,
        target: impl Into<Target<'t>>,
    ) -> Result<Permit, Decision> {
        self.permit_to(&Request::usual(caller, target), member)
            .await
    }

    /// The same for another use than the usual one.
    pub(super) async fn permit_to(
        &self,
        request: &Request<'_>,
        member: &Member,
    ) -> Result<Permit, Decision> {
        let decision = self.decide(request);
        match decision {
            Decision::Allow(_) => Ok(Permit { decision }),
            Decision::Deny(_) => Err(decision),
            Decision::Ask(reason, scope) => {
                let origin = place(member);
                let identity = self.identity(member);
                let ask = Ask::new(request, (reason, scope), identity, origin);
                let approve = &*self.options.approve;
                match self.options.approvals.settle(&ask, approve).await {
                    Ok(decision @ Decision::Allow(_)) => Ok(Permit { decision }),
                    Ok(decision) => Err(decision),
                    // What cannot be looked up is not approved.
                    Err(_) => Err(Decision::Deny(Reason::Refused)),
                }
            }
        }
    }

    /// Allows what a rule allows outright, of a live server, as it was approved; nothing where anything
    /// is to be asked, read or waited for first.
    pub(super) fn cleared(
        &self,
        caller: &Caller,
        member: &Member,
        entry: &Arc<ToolEntry>,
    ) -> Option<Permit> {
        if !matches!(self.options.pin_mode, Mode::Ask | Mode::Block) {
            return None;
        }
        let part = self.part(member)?;
        let is_current = part.freshness() == Freshness::Live
            && part
                .tool(entry.name())
                .is_some_and(|now| Arc::ptr_eq(now, entry));
        let pinned = is_current.then(|| self.pinned(member)).flatten()?;
        let is_pinned =
            pinned.tool(entry) == Standing::Pinned && self.is_instructed_by(member, &part, &pinned);
        let decision = match is_pinned {
            true => self.decide(&Request::usual(caller, &**entry)),
            false => return None,
        };
        decision.is_allowed().then_some(Permit { decision })
    }

    /// Which server a member really is: where its description comes from, and what is in it.
    pub(super) fn identity(&self, member: &Member) -> Identity {
        *member.identity.get_or_init(|| {
            let mut hash = Sha256::new();
            match &member.source {
                Source::Entry(entry) => hash.update(self.described(entry).description().as_bytes()),
                Source::Spec(spec) => {
                    // In clear, so that another secret is another server; only the hash is kept.
                    let written = edit::entry(spec, edit::Secrets::AsTyped);
                    let written = written.map(|written| written.value.to_string());
                    hash.update(written.unwrap_or_else(|_| format!("{spec:?}")));
                    hash.update(place(member));
                }
                Source::Own(connect, _) => {
                    // What a program calls its transports need not tell two of them apart.
                    hash.update(member.name.as_str());
                    hash.update([0]);
                    hash.update(connect.identity());
                }
                Source::Offline(_) | Source::Broken(_) => hash.update(member.name.as_str()),
            }
            Identity::new(hash.finalize().into())
        })
    }

    /// Whether a tool is what it was when the person approved the server; always where pins are off.
    pub(super) fn is_as_approved(&self, member: &Member, entry: &ToolEntry) -> bool {
        self.is_pinned(member, |pinned| pinned.tool(entry))
    }

    /// Whether something is what it was when the person approved the server, and so is what the
    /// server says about the use of everything in it.
    fn is_pinned(&self, member: &Member, standing: impl Fn(&Pinned) -> Standing) -> bool {
        if matches!(self.options.pin_mode, Mode::Off | Mode::Warn) {
            return true;
        }
        if let Source::Offline(_) = &member.source {
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
        if let Some((of, to, is_so)) = &member.facts().instructed
            && Arc::ptr_eq(of, part)
            && Arc::ptr_eq(to, pinned)
        {
            return *is_so;
        }
        let is_so = pinned.instructions(part).is_pinned();
        member.facts().instructed = Some((Arc::clone(part), Arc::clone(pinned), is_so));
        is_so
    }

    /// A tool as its server offers it now; as it was last known where it is not offered any more.
    pub(super) fn current(&self, entry: &Arc<ToolEntry>) -> Arc<ToolEntry> {
        let catalog = self.catalog.borrow();
        let current = catalog.by_key(entry.server().as_str(), entry.name());
        Arc::clone(current.unwrap_or(entry))
    }

    /// Whether a tool is as it was approved, or the person says that it may be as it is.
    pub(super) async fn is_reviewed(&self, member: &Member, entry: &ToolEntry) -> bool {
        if self.is_as_approved(member, entry) {
            return true;
        }
        if self.options.pin_mode != Mode::Ask {
            return false;
        }
        // One question at a time, and the second of two that are alike is not asked.
        let _turn = self.asking.lock().await;
        if self.is_as_approved(member, entry) {
            return true;
        }
        let drifts = self.drifts_of(member, entry);
        if drifts.is_empty() || !self.options.review.review(&member.name, &drifts).await {
            return false;
        }
        self.options.pins.is_free().await;
        self.approve_drifts(member, &drifts).is_ok()
    }

    /// How a tool is not as it was approved, with what its server says about its use.
    pub(super) fn drifts_of(&self, member: &Member, entry: &ToolEntry) -> Vec<Drift> {
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
    pub(super) fn approve_drifts(
        &self,
        member: &Member,
        drifts: &[Drift],
    ) -> Result<(), StoreError> {
        let approved = self.options.pins.approve(&self.identity(member), drifts)?;
        member.facts().pinned = approved;
        Ok(())
    }

    /// What a server offered when it was approved, if that is known.
    pub(super) fn pinned(&self, member: &Member) -> Option<Arc<Pinned>> {
        if let Some(pinned) = &member.facts().pinned {
            return Some(Arc::clone(pinned));
        }
        let pinned = self.options.pins.baseline(&self.identity(member)).ok()??;
        member.facts().pinned = Some(Arc::clone(&pinned));
        Some(pinned)
    }

    /// Takes what a server offers for what is approved, the first time: once it has gone quiet, since
    /// servers add tools while they start.
    pub(super) async fn settle(&self, member: &Member) {
        let is_wanted = match self.options.pin_mode {
            Mode::Off => false,
            Mode::Ask | Mode::Block | Mode::Warn => self.policy().has_agents(),
        };
        if !is_wanted || self.pinned(member).is_some() {
            return;
        }
        // The lists that nobody waited for are a part of it too, unless they take too long.
        let goal = *member.wanted.borrow();
        let mut listed = member.listed.subscribe();
        tokio::select! {
            listed = listed.wait_for(|listed| *listed >= goal) => drop(listed),
            () = tokio::time::sleep(Settling::LONGEST) => {}
            () = member.gone.cancelled() => return,
            () = self.stop.cancelled() => return,
        }
        let session = member.ready().and_then(|ready| ready.server.live());
        let mut said = session.map(|session| session.changes());
        let mut catalog = self.catalog.subscribe();
        let now = || tokio::time::Instant::now().into_std();
        let mut settling = Settling::new(now());
        let mut seen = self.part(member);
        while !settling.is_settled(now()) {
            let due = tokio::time::Instant::from_std(settling.due());
            tokio::select! {
                _ = catalog.changed() => {}
                // What it says has changed is yet to be read.
                () = news(&mut said) => settling.changed(now()),
                () = tokio::time::sleep_until(due) => continue,
            }
            let part = self.part(member);
            if !is_same(seen.as_deref(), part.as_deref()) {
                settling.changed(now());
            }
            seen = part;
        }
        // Tools that could not be listed would all be news the next time.
        let is_listed = |(kind, _): &(ItemKind, Error)| *kind != ItemKind::Tool;
        let is_whole = member.facts().unlisted.iter().all(is_listed);
        if let Some(part) = self.part(member).filter(|_| is_whole) {
            let (identity, pins) = (self.identity(member), &self.options.pins);
            pins.is_free().await;
            // Where it cannot be kept, agents see nothing of the server.
            if let Ok(pinned) = pins.begin(&identity, &member.name, Pinned::of(&part)) {
                member.facts().pinned = Some(pinned);
            }
        }
    }

    /// Says that there is no such tool, whether there is none or the caller may not know of it.
    pub(super) fn no_tool(&self, caller: &Caller, name: &str) -> Error {
        let catalog = self.catalog.borrow().clone();
        let seen = catalog
            .tools()
            .filter(|entry| self.sees_tool(caller, entry));
        let seen = seen.map(|entry| entry.exposed().to_owned());
        unknown("tool", name, seen.collect())
    }

    /// Says that there is no such prompt, whether there is none or the caller may not know of it.
    pub(super) fn no_prompt(&self, caller: &Caller, name: &str) -> Error {
        let catalog = self.catalog.borrow().clone();
        let seen = catalog
            .prompts()
            .filter(|entry| self.sees_prompt(caller, entry));
        let seen = seen.map(|entry| entry.exposed().to_owned());
        unknown("prompt", name, seen.collect())
    }

    /// Whether a caller can see a prompt as it is now.
    pub(super) fn sees_prompt(&self, caller: &Caller, entry: &PromptEntry) -> bool {
        caller.is_owner()
            || (self.sees(caller, entry)
                && self
                    .member(entry.server())
                    .is_some_and(|member| self.is_pinned(&member, |pinned| pinned.prompt(entry))))
    }

    /// Whether a caller can see a family of resources as it is now.
    pub(super) fn sees_template(&self, caller: &Caller, entry: &TemplateEntry) -> bool {
        caller.is_owner()
            || (self.sees(caller, entry)
                && self
                    .member(entry.server())
                    .is_some_and(|member| self.is_pinned(&member, |pinned| pinned.template(entry))))
    }

    /// Whether a tool that a caller may use is kept from it for what has changed. Where the person can
    /// be asked about that, they are when it is called.
    pub(super) fn is_quarantined(&self, entry: &ToolEntry) -> bool {
        self.options.pin_mode == Mode::Block
            && self.member(entry.server()).is_some_and(|member| {
                self.pinned(&member).is_some() && !self.is_as_approved(&member, entry)
            })
    }

    /// Whether a caller may know that there is such a server.
    pub(super) fn knows(&self, caller: &Caller, server: &ServerName) -> bool {
        self.sees(caller, Target::Server(server))
    }
}

/// Says that there is none of that name, with one that was perhaps meant.
pub(super) fn unknown(what: &'static str, name: &str, names: Vec<String>) -> Error {
    let closest = closest(name, names.iter().map(String::as_str)).map(str::to_owned);
    let known = names.into_iter().take(super::SHOWN_NAMES).collect();
    Error::from(HostError::Unknown {
        what,
        name: name.to_owned(),
        closest,
        known,
    })
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
async fn news(said: &mut Option<watch::Receiver<Changes>>) {
    if let Some(changes) = said
        && changes.changed().await.is_ok()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// Where a member is described, in words.
pub(super) fn place(member: &Member) -> String {
    let origin = &member.origin;
    match &origin.file {
        Some(file) => format!("{}#{}", file.display(), origin.pointer),
        None => origin.layer.to_string(),
    }
}
