//! What one agent may do.

use super::caller::CallerId;
use super::decision::{List, Reason};
use super::filter::Filter;
use super::grants::Grants;
use super::level::Level;
use super::request::Target;
use crate::spec::ToolFilter;

/// What one agent may do. A new one may do nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentPolicy {
    level: Level,
    grants: Grants,
    withheld: Grants,
    tools: Filter,
}

/// Who a server is for. The person can always use it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Audience {
    /// Every agent, as far as it was granted.
    #[default]
    Everyone,
    /// These agents. To all others there is no such server.
    Only(Vec<CallerId>),
}

impl Audience {
    /// Whether an agent is meant.
    pub fn has(&self, agent: &CallerId) -> bool {
        match self {
            Self::Everyone => true,
            Self::Only(agents) => agents.contains(agent),
        }
    }
}

impl AgentPolicy {
    /// An agent at a level, with nothing granted.
    pub fn new(level: Level) -> Self {
        Self {
            level,
            ..Self::default()
        }
    }

    /// An agent at a level that may use all tools, resources and prompts of all servers.
    ///
    /// ```
    /// use switchboard::policy::{AgentPolicy, Level, Policy};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // The person is asked at its first use of each server.
    /// let planner = AgentPolicy::everything(Level::Trusted);
    /// let policy = Policy::none().agent("planner".parse()?, planner);
    /// # drop(policy);
    /// # Ok(())
    /// # }
    /// ```
    pub fn everything(level: Level) -> Self {
        Self::new(level).grants(Grants::everything())
    }

    /// Sets the level.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// Sets what it may use.
    #[must_use]
    pub fn grants(mut self, grants: Grants) -> Self {
        self.grants = grants;
        self
    }

    /// Sets what it may never use, whatever is granted.
    #[must_use]
    pub fn withhold(mut self, grants: Grants) -> Self {
        self.withheld = grants;
        self
    }

    /// Sets which tools it may use, by their own names and whatever the server.
    #[must_use]
    pub fn tools(mut self, filter: &ToolFilter) -> Self {
        self.tools = Filter::of(filter);
        self
    }

    /// Its level.
    pub fn current_level(&self) -> Level {
        self.level
    }

    /// What it may use.
    pub fn granted(&self) -> &Grants {
        &self.grants
    }

    /// What it may never use.
    pub fn withheld(&self) -> &Grants {
        &self.withheld
    }

    /// Which of its own lists blocks this.
    pub(super) fn blocks(&self, target: &Target<'_>) -> Option<Reason> {
        let grant = self.withheld.covering(target);
        if let Some(grant) = grant.filter(|_| target.item().is_some()) {
            return Some(Reason::Withheld(grant.clone()));
        }
        self.tools.blocks(target.tool()?, || List::Agent)
    }

    /// Whether its own allow list leaves this out.
    pub(super) fn leaves_out(&self, target: &Target<'_>) -> bool {
        let tool = target.tool();
        tool.is_some_and(|tool| self.tools.leaves_out(tool))
    }
}
