//! What the owner of a host lets agents do while it runs.

use std::sync::{Arc, PoisonError};

use super::access::place;
use super::{Host, Inner};
use crate::error::Error;
use crate::policy::{Ask, Caller, Covers, Decision, Lasts, Policy, Request, Scope, Target};

impl Host {
    /// Says what agents may do, as it is now.
    pub fn policy(&self) -> Arc<Policy> {
        self.0.policy()
    }

    /// Changes what agents may do, from now on. A call that was let through already goes on.
    pub fn set_policy(&self, policy: Policy) {
        let current = self.0.options.policy.write();
        *current.unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }

    /// Approves, as long as this host lives, all that an agent was granted of a server: nobody is
    /// asked about it. It is granted nothing by this.
    ///
    /// # Errors
    /// When there is no such server, or too much is approved already.
    pub fn allow_all(&self, caller: &Caller, server: &str) -> Result<(), Error> {
        let member = self.0.named_member(server)?;
        let request = Request::usual(caller, Target::Server(&member.name));
        let why = (self.0.decide(&request).reason().clone(), Scope::Server);
        let ask = Ask::new(&request, why, self.0.identity(&member), place(&member));
        let approvals = &self.0.options.approvals;
        let kept = approvals.remember(&ask, Covers::Server, Lasts::Session);
        kept.map_err(|error| Error::configuration(error.to_string()))
    }
}

impl Inner {
    /// What agents may do, as it is now.
    pub(super) fn policy(&self) -> Arc<Policy> {
        let policy = self.options.policy.read();
        Arc::clone(&policy.unwrap_or_else(PoisonError::into_inner))
    }

    /// Decides about a request by the rules alone.
    pub(super) fn decide(&self, request: &Request<'_>) -> Decision {
        // Not while the lock is held: a predicate of the program may change the policy.
        self.policy().decide(request)
    }
}
