//! What one caller is offered in one scope.
//!
//! An [`Offer`] is made from one snapshot of the host's catalog, and answers everything about names,
//! lists and addresses without asking a server. [`Offers`] keeps the newest one for each caller and
//! scope, and makes another when the catalog, the policy or the approvals have changed.

use std::sync::Arc;

use switchboard::Host;

use crate::caller::ClientIdentity;
use crate::error::GatewayError;
use crate::options::GatewayOptions;
use crate::scope::Scope;

/// The lists that are read in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

/// The offers of a host.
pub(crate) struct Offers {}

/// What one caller is offered in one scope.
pub(crate) struct Offer {}

impl Offers {
    pub(crate) fn new(_host: &Host, _options: &GatewayOptions) -> Result<Self, GatewayError> {
        Ok(Self {})
    }

    /// The current offer. `None` if the scope does not exist for this caller.
    pub(crate) fn current(&self, _identity: &ClientIdentity, _scope: &Scope) -> Option<Arc<Offer>> {
        None
    }
}
