//! Who a client of the gateway is.

use std::sync::Arc;

use switchboard::policy::Caller;
#[cfg(feature = "http")]
use switchboard::policy::{AgentPolicy, CallerId, Grants, Level};

use crate::validity::Validity;

/// The agent that a client is when nothing says otherwise.
pub const DEFAULT_AGENT: &str = "gateway";

/// A client as the policy and the seals know it.
///
/// Everything that a client carries for us (cursors, states) is sealed for its principal:
/// what another principal brings back is refused.
#[derive(Debug, Clone)]
pub struct ClientIdentity {
    caller: Caller,
    principal: Arc<str>,
    is_remote: bool,
    validity: Validity,
}

/// What a credential of its own says of the rights of its client.
#[cfg(feature = "http")]
#[derive(Debug, Clone, Copy)]
pub(crate) struct CredentialBounds<'a> {
    /// The only things that it may be used for.
    pub(crate) grants: Option<&'a Grants>,
    /// The highest level of its agent.
    pub(crate) level: Option<Level>,
}

#[cfg(feature = "http")]
impl CredentialBounds<'_> {
    /// The caller that comes with the credential.
    ///
    /// Its rights have to be said by the person: for its agent, or by the grants of the credential, within which
    /// it acts as `usual` while the policy says nothing of the agent. Without either it may use nothing.
    pub(crate) fn caller(self, agent: CallerId, usual: &CallerId) -> Caller {
        let mut caller = Caller::from(agent);
        if self.grants.is_some() {
            caller = caller.acts_as(usual.clone());
        }
        if self.grants.is_none() && self.level.is_none() {
            return caller;
        }
        let grants = self.grants.cloned().unwrap_or_else(Grants::everything);
        let level = self.level.unwrap_or(Level::Yolo);
        caller.bounded_by(AgentPolicy::new(level).grants(grants))
    }
}

impl ClientIdentity {
    /// A client on this machine that acts as an agent: over standard input and output, a Unix socket of
    /// the same user, or with the token that this program made.
    pub fn local(caller: Caller) -> Self {
        let principal = Arc::from(caller.id().as_str());
        Self {
            caller,
            principal,
            is_remote: false,
            validity: Validity::for_ever(),
        }
    }

    /// A client that the network brought, with its own credential. It is told that what it may not use
    /// does not exist.
    pub fn remote(caller: Caller, principal: impl Into<Arc<str>>) -> Self {
        Self {
            caller,
            principal: principal.into(),
            is_remote: true,
            validity: Validity::for_ever(),
        }
    }

    /// The same as long as its credential counts: after that, its sessions, streams and requests end.
    #[must_use]
    pub fn valid(mut self, validity: Validity) -> Self {
        self.validity = validity;
        self
    }

    /// How long the credential counts.
    pub fn validity(&self) -> &Validity {
        &self.validity
    }

    /// The agent that the client acts as.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The name under which sealed texts belong to the client.
    pub fn principal(&self) -> &str {
        &self.principal
    }

    pub(crate) fn shared_principal(&self) -> &Arc<str> {
        &self.principal
    }

    /// Returns true if denials are told as items that do not exist.
    pub fn is_remote(&self) -> bool {
        self.is_remote
    }
}
