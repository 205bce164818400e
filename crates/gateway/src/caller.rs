//! Who a client of the gateway is.

use std::sync::Arc;

use switchboard::policy::Caller;

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
