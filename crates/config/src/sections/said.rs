//! What a config says in the person's own sections.

use super::{
    AgentSection, AudienceSection, LimitsSection, NetworkSection, Placed, ProvidersSection,
};
use crate::Config;

impl Config {
    /// What the person's own file says about agents, in its order. Whoever enforces it turns it into a
    /// policy: see `host::agents`.
    pub fn agents(&self) -> &[AgentSection] {
        &self.sections.agents
    }

    /// Whom the person's own file says that servers are for.
    pub fn audience(&self) -> &[AudienceSection] {
        &self.sections.audience
    }

    /// What the person's own file says is to be done about definitions that have changed.
    pub fn pins(&self) -> Option<&Placed> {
        self.sections.pins.as_ref()
    }

    /// What the person's own file says that approvals are bound to.
    pub fn approvals(&self) -> Option<&Placed> {
        self.sections.approvals.as_ref()
    }

    /// What the person's own file says about bounds.
    pub fn limits(&self) -> &LimitsSection {
        &self.sections.limits
    }

    /// What the person's own file says about servers at URLs.
    pub fn network(&self) -> &NetworkSection {
        &self.sections.network
    }

    /// Who has models, as the person's own file says it: see `host::providers`.
    pub fn providers(&self) -> &ProvidersSection {
        &self.sections.providers
    }

    /// Whether a section about agents could not be read at all, so that none of them may do anything.
    pub fn is_access_unclear(&self) -> bool {
        self.sections.is_unclear
    }
}
