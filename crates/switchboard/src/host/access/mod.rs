//! The rights of callers: the policy, what the person approves where it asks, and pinned definitions.
//!
//! [`Access`] owns the policy, the approvals and the pins. It promises that one decision is behind both
//! listing and use (what a caller cannot use, it cannot see), that a denied use names its rule unless it
//! has to be concealed, that no policy means no access for an agent, that the person is asked one thing at a time, and that a tool which is not what was approved
//! reaches no agent. The owner of the host may do everything, and is never asked.
//!
//! It decides about a [`Member`] and an entry of the newest catalog snapshot, which it reads and never
//! changes. What a server offered when it was approved is its [`MemberBaseline`], kept with the member
//! ([`pinning`]); a change of it has prepared calls look again.

mod pinning;
#[cfg(test)]
mod tests;

use std::sync::{Arc, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use switchboard_wire::Raw;
use tokio::sync::{Mutex as Turn, watch};

pub(super) use pinning::MemberBaseline;

use super::AccessOptions;
use super::member::{Member, next_revision};
use crate::catalog::{Catalog, PromptEntry, ServerCatalog, TemplateEntry, ToolEntry};
use crate::error::{Context, Denial, Error, HostError};
use crate::pins::{Mode, Pins};
use crate::policy::{
    Approvals, Audience, Caller, Covers, Decision, Lasts, List, Policy, Reason, Request, Scope,
    Target, UseRequest,
};
use crate::spec::{ServerName, ToolPredicate};
use crate::talk::{Operator as _, SharedOperator};

/// A use that was allowed.
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

/// The rights of callers.
pub(super) struct Access {
    policy: RwLock<Arc<Policy>>,
    /// The audiences of servers that were added for one agent. They hold beside the policy, which
    /// the program may replace at any time.
    audiences: RwLock<FxHashMap<ServerName, Audience>>,
    approvals: Approvals,
    pins: Pins,
    pin_mode: RwLock<Mode>,
    /// Predicates over the tools of all servers, for everyone.
    filters: Vec<ToolPredicate>,
    operator: SharedOperator,
    /// Held while the person is asked something; `Registry` has it too.
    asking: Arc<Turn<()>>,
    catalog: watch::Receiver<Catalog>,
}

impl Access {
    pub(super) fn new(
        options: AccessOptions,
        asking: Arc<Turn<()>>,
        catalog: watch::Receiver<Catalog>,
    ) -> Self {
        Self {
            policy: RwLock::new(Arc::new(options.policy)),
            audiences: RwLock::default(),
            approvals: options.approvals,
            pins: options.pins,
            pin_mode: RwLock::new(options.pin_mode),
            filters: options.filters,
            operator: options.operator,
            asking,
            catalog,
        }
    }

    /// The policy as it is now.
    pub(super) fn policy(&self) -> Arc<Policy> {
        let policy = self.policy.read();
        Arc::clone(&policy.unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the policy for every decision from now on.
    pub(super) fn set_policy(&self, policy: Policy) {
        let mut current = self.policy.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(policy);
        drop(current);
        next_revision();
    }

    /// Returns the mode for definitions that have changed since they were approved.
    pub(super) fn pin_mode(&self) -> Mode {
        *self.pin_mode.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes that mode. Prepared calls have to look again afterwards.
    #[cfg(feature = "config")]
    pub(super) fn set_pin_mode(&self, mode: Mode) {
        let mut current = self
            .pin_mode
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *current = mode;
    }

    /// Decides about a request by the rules alone.
    pub(super) fn decide(&self, request: &Request<'_>) -> Decision {
        if let Some(reason) = self.outside_audience(request) {
            return Decision::Deny(reason);
        }
        // Not while the lock is held: a predicate of the program may change the policy.
        self.policy().decide(request)
    }

    /// Offers a server to these agents alone, until it is removed, whatever the policy says of it.
    pub(super) fn set_audience(&self, server: &ServerName, audience: Audience) {
        let audiences = self.audiences.write();
        let mut audiences = audiences.unwrap_or_else(PoisonError::into_inner);
        audiences.insert(server.clone(), audience);
    }

    /// Forgets the audience of a server that was removed.
    pub(super) fn forget_audience(&self, server: &ServerName) {
        let audiences = self.audiences.write();
        let mut audiences = audiences.unwrap_or_else(PoisonError::into_inner);
        audiences.remove(server);
    }

    /// Returns the reason if the server was added for other agents.
    fn outside_audience(&self, request: &Request<'_>) -> Option<Reason> {
        let server = request.target.server();
        let audiences = self.audiences.read();
        let audiences = audiences.unwrap_or_else(PoisonError::into_inner);
        let audience = audiences.get(server)?;
        let caller = request.caller;
        let is_included =
            caller.is_owner() || audience.includes(caller.id(), self.policy().acting(caller));
        (!is_included).then(|| Reason::Audience(server.clone()))
    }

    /// Approves, as long as this host lives, all that an agent was granted of a server.
    ///
    /// # Errors
    /// Fails if too many approvals are kept already.
    pub(super) fn allow_all(&self, caller: &Caller, member: &Member) -> Result<(), Error> {
        let request = Request::usual(caller, Target::Server(&member.name));
        let reason = self.decide(&request).reason().clone();
        let (identity, place) = (member.identity(), member.place());
        let ask = UseRequest::new(&request, reason, Scope::Server, identity, place);
        let kept = (self.approvals).remember(&ask, Covers::Server, Lasts::Session);
        kept.map_err(|error| Error::configuration(error.to_string()))
    }

    /// Returns true if a caller can see something. A caller cannot see what it cannot use.
    pub(super) fn sees<'t>(&self, caller: &'t Caller, target: impl Into<Target<'t>>) -> bool {
        caller.is_owner() || {
            let request = Request::list(caller, target);
            !self.decide(&request).is_denied()
        }
    }

    /// Returns true if a caller may know that there is such a server.
    pub(super) fn knows(&self, caller: &Caller, server: &ServerName) -> bool {
        self.sees(caller, Target::Server(server))
    }

    /// Returns true if a caller can see a tool as it is now.
    pub(super) fn sees_tool(&self, caller: &Caller, member: &Member, entry: &ToolEntry) -> bool {
        let may_see =
            caller.is_owner() || (self.sees(caller, entry) && self.is_as_approved(member, entry));
        may_see && self.filtered(caller, member, entry).is_none()
    }

    /// Returns the reason if a predicate of the program does not admit a tool, for the owner too.
    pub(super) fn filtered(
        &self,
        caller: &Caller,
        member: &Member,
        entry: &ToolEntry,
    ) -> Option<Reason> {
        let of_server = member.tool_predicates();
        if of_server.is_empty() && self.filters.is_empty() {
            return None;
        }
        let (tool, context) = (entry.json(), caller.context(&member.name));
        let refuses = |filters: &[ToolPredicate]| {
            let mut filters = filters.iter();
            filters.any(|filter| !filter.admits(tool, &context))
        };
        if refuses(of_server) {
            return Some(Reason::Filter(List::Server(member.name.clone())));
        }
        refuses(&self.filters).then_some(Reason::Filter(List::Host))
    }

    /// Returns true if a caller can see a prompt as it is now.
    pub(super) fn sees_prompt(
        &self,
        caller: &Caller,
        member: &Member,
        entry: &PromptEntry,
    ) -> bool {
        caller.is_owner()
            || (self.sees(caller, entry) && self.is_pinned(member, |pinned| pinned.prompt(entry)))
    }

    /// Returns true if a caller can see a resource template as it is now.
    pub(super) fn sees_template(
        &self,
        caller: &Caller,
        member: &Member,
        entry: &TemplateEntry,
    ) -> bool {
        caller.is_owner()
            || (self.sees(caller, entry) && self.is_pinned(member, |pinned| pinned.template(entry)))
    }

    /// Decides about a use, asking the person if the policy requires it.
    ///
    /// # Errors
    /// Fails if the use is not allowed; [`Access::denied`] makes the error of it.
    pub(super) async fn permit<'t>(
        &self,
        caller: &'t Caller,
        member: &Member,
        target: impl Into<Target<'t>>,
    ) -> Result<Permit, Decision> {
        self.permit_to(&Request::usual(caller, target), member)
            .await
    }

    /// Decides about a call with these arguments, which the person sees if they are asked.
    ///
    /// # Errors
    /// As [`Access::permit`].
    pub(super) async fn permit_call(
        &self,
        caller: &Caller,
        member: &Member,
        entry: &ToolEntry,
        arguments: &Raw,
    ) -> Result<Permit, Decision> {
        let request = Request::usual(caller, entry);
        self.ask_if_needed(&request, member, Some(arguments)).await
    }

    /// The same for another use than the usual one.
    pub(super) async fn permit_to(
        &self,
        request: &Request<'_>,
        member: &Member,
    ) -> Result<Permit, Decision> {
        self.ask_if_needed(request, member, None).await
    }

    async fn ask_if_needed(
        &self,
        request: &Request<'_>,
        member: &Member,
        arguments: Option<&Raw>,
    ) -> Result<Permit, Decision> {
        let decision = self.decide(request);
        match decision {
            Decision::Allow(_) => Ok(Permit { decision }),
            Decision::Deny(_) => Err(decision),
            Decision::Ask(reason, scope) => {
                let (identity, place) = (member.identity(), member.place());
                let mut ask = UseRequest::new(request, reason, scope, identity, place);
                ask.arguments = arguments.cloned();
                let settled = self
                    .approvals
                    .settle(&ask, |request| self.operator.approve_use(request));
                match settled.await {
                    Ok(decision @ Decision::Allow(_)) => Ok(Permit { decision }),
                    Ok(decision) => Err(decision),
                    // An approval that cannot be looked up counts as missing.
                    Err(_) => Err(Decision::Deny(Reason::Refused)),
                }
            }
        }
    }

    /// Makes the error for a use that was denied: one that names the rule, or the one for an item that does
    /// not exist if the agent must not learn of the denial.
    pub(super) fn denied(
        &self,
        request: &Request<'_>,
        decision: &Decision,
        absent: impl FnOnce() -> Error,
    ) -> Error {
        let rule = decision.reason();
        if self.policy().conceals(request.caller, rule) {
            return absent();
        }
        let server = request.target.server().clone();
        // Not the file of the server: an agent has no business with it.
        Error::from(HostError::Denied(Box::new(Denial::new(
            request,
            rule.clone(),
        ))))
        .in_context(Context {
            server: Some(server),
            ..Context::default()
        })
    }

    /// The part of a server in the newest snapshot.
    fn part(&self, member: &Member) -> Option<Arc<ServerCatalog>> {
        let catalog = self.catalog.borrow();
        catalog.server(member.name.as_str()).cloned()
    }
}
