//! The policy of one agent: its level, grants, withheld items and tool lists.

use super::caller::CallerId;
use super::decision::{List, Reason, Scope};
use super::filter::Filter;
use super::grants::Grants;
use super::level::Level;
use super::request::Target;
use crate::spec::ToolFilter;

/// The policy of one agent. A new one allows nothing.
///
/// ```
/// use switchboard::{AgentPolicy, Grants, Level};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let planner = AgentPolicy::new(Level::Trusted)
///     .grants(Grants::parse(["mcp:github:*", "mcp:files:read_*"])?)
///     .withhold(Grants::parse(["mcp:github:delete_*"])?);
/// assert_eq!(planner.current_level(), Level::Trusted);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentPolicy {
    level: Level,
    grants: Grants,
    withheld: Grants,
    tools: Filter,
    conceals: bool,
    scope: Scope,
}

/// The agents that a server is offered to. The owner can always use it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Audience {
    /// Every agent, as far as it was granted.
    #[default]
    Everyone,
    /// These agents. For all others the server does not exist.
    Only(Vec<CallerId>),
}

impl Audience {
    /// Returns `true` if the audience includes this agent.
    pub fn has(&self, agent: &CallerId) -> bool {
        match self {
            Self::Everyone => true,
            Self::Only(agents) => agents.contains(agent),
        }
    }

    /// Returns `true` if the audience includes a caller, or the agent whose policy counts for it.
    pub(crate) fn includes(&self, caller: &CallerId, acting: &CallerId) -> bool {
        self.has(caller) || self.has(acting)
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

    /// Sets the grants of the agent.
    #[must_use]
    pub fn grants(mut self, grants: Grants) -> Self {
        self.grants = grants;
        self
    }

    /// Sets the items that the agent may never use, even if they are granted.
    #[must_use]
    pub fn withhold(mut self, grants: Grants) -> Self {
        self.withheld = grants;
        self
    }

    /// Sets the allow and block lists of the agent. They apply to tool names, whatever the server.
    #[must_use]
    pub fn tools(mut self, filter: &ToolFilter) -> Self {
        self.tools = Filter::of(filter);
        self
    }

    /// Sets the scope of the questions at the level [`Trusted`](Level::Trusted): one for each server by
    /// default, or one for each tool, resource and prompt with [`Scope::Item`].
    ///
    /// The scope is in the [`UseRequest`](super::UseRequest). An answer that covers more than it, such as
    /// [`UseApproval::Server`](super::UseApproval::Server), counts as it was given.
    #[must_use]
    pub fn ask(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Returns the scope of the questions to the user.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// Sets whether a denied use looks to this agent as if there were no such thing; see
    /// [`Policy::conceal_denials`](super::Policy::conceal_denials).
    #[must_use]
    pub fn conceal_denials(mut self, is_on: bool) -> Self {
        self.conceals = is_on;
        self
    }

    /// Returns `true` if a denied use looks to this agent as if there were no such thing.
    pub fn conceals_denials(&self) -> bool {
        self.conceals
    }

    /// Its level.
    pub fn current_level(&self) -> Level {
        self.level
    }

    /// Returns the grants of the agent.
    pub fn granted(&self) -> &Grants {
        &self.grants
    }

    /// Returns the items that are withheld from the agent, whatever it was granted.
    pub fn withheld(&self) -> &Grants {
        &self.withheld
    }

    /// Returns the reason if the withheld items or the agent's own block list deny this target.
    pub(super) fn blocks(&self, target: &Target<'_>) -> Option<Reason> {
        let grant = self.withheld.covering(target);
        if let Some(grant) = grant.filter(|_| target.item().is_some()) {
            return Some(Reason::Withheld(grant.clone()));
        }
        self.tools.blocks(target.tool()?, || List::Agent)
    }

    /// Returns `true` if the agent has an allow list for tools and this tool is not in it.
    pub(super) fn leaves_out(&self, target: &Target<'_>) -> bool {
        let tool = target.tool();
        tool.is_some_and(|tool| self.tools.leaves_out(tool))
    }
}
