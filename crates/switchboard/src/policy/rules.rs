//! The rules, and the one place where they decide.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::agent::{AgentPolicy, Audience};
use super::caller::{Caller, CallerId};
use super::decision::{Decision, List, Reason, Scope};
use super::filter::Filter;
use super::level::Level;
use super::request::{Request, Target, Verb};
use crate::spec::{ServerName, ToolFilter};

/// Decides which caller may do what, with the reason.
///
/// The owner may do everything. For an agent these rules are applied in order, and the first objection
/// decides:
///
/// 1. the verb has to apply to the target: prompts are not called;
/// 2. the audience of the server;
/// 3. there has to be a policy for the agent, or one for others;
/// 4. the level [`Sandboxed`](Level::Sandboxed);
/// 5. block lists, of the server and of the agent, and what is withheld from the agent;
/// 6. allow lists, of the server and of the agent;
/// 7. the grants of the agent, one of which has to cover it;
/// 8. the predicates of the program, in the order in which they were given;
/// 9. the level: [`Trusted`](Level::Trusted) asks the user, [`Yolo`](Level::Yolo) does not.
///
/// After the first rule, only the last one looks at the verb: it lets an agent list without asking what
/// it may use after asking. So an agent can use, or ask for, everything that it sees, and nothing that it
/// does not see. An agent sees a server if it has a grant for anything in it.
///
/// A caller with [bounds](super::Caller::bounded_by) has to pass rules 4 to 7 of both policies, and the lower
/// level counts.
///
/// A denied use is an error that names the rule, except for a server that is not for the agent: to the
/// agent that server does not exist. [`Policy::conceal_denials`] makes all denied uses look like that.
///
/// A policy is immutable, and cloning one copies it: a host that learns of another server builds a new
/// policy.
///
/// ```
/// use switchboard::policy::{Audience, Caller, Request, Target, Verb};
/// use switchboard::{AgentPolicy, Level, Policy, ServerName};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = ServerName::parse("diary")?;
/// let policy = Policy::none()
///     .agent("planner".parse()?, AgentPolicy::everything(Level::Yolo))
///     .others(AgentPolicy::everything(Level::Trusted))
///     .audience(server.clone(), Audience::Only(vec!["planner".parse()?]));
/// let target = Target::Tool { server: &server, name: "write" };
/// for (agent, is_allowed) in [("planner", true), ("guest", false)] {
///     let caller = Caller::agent(agent)?;
///     let decision = policy.decide(&Request::new(&caller, Verb::Call, target));
///     assert_eq!(decision.is_allowed(), is_allowed);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Policy {
    agents: FxHashMap<CallerId, Arc<AgentPolicy>>,
    others: Option<Arc<AgentPolicy>>,
    servers: FxHashMap<ServerName, ServerRules>,
    hooks: Vec<Hook>,
    conceals: bool,
}

#[derive(Clone, Debug, Default)]
struct ServerRules {
    audience: Audience,
    tools: Filter,
}

#[derive(Clone)]
struct Hook {
    name: Arc<str>,
    admit: Arc<dyn Admit>,
}

impl Policy {
    /// No agent may do anything.
    pub fn none() -> Self {
        Self::default()
    }

    /// Sets the policy of an agent.
    #[must_use]
    pub fn agent(mut self, id: CallerId, policy: AgentPolicy) -> Self {
        self.agents.insert(id, Arc::new(policy));
        self
    }

    /// Sets the policy of an agent that has none, neither of its own nor the one for others.
    #[doc(hidden)]
    #[must_use]
    pub fn or_agent(self, id: CallerId, policy: AgentPolicy) -> Self {
        if self.of(&id).is_some() {
            return self;
        }
        self.agent(id, policy)
    }

    /// Sets the policy of agents that have none of their own.
    #[must_use]
    pub fn others(mut self, policy: AgentPolicy) -> Self {
        self.others = Some(Arc::new(policy));
        self
    }

    /// Sets the audience of a server.
    #[must_use]
    pub fn audience(mut self, server: ServerName, audience: Audience) -> Self {
        self.servers.entry(server).or_default().audience = audience;
        self
    }

    /// Sets the allow and block lists for the tools of a server; they apply to all agents.
    #[must_use]
    pub fn filter(mut self, server: ServerName, filter: &ToolFilter) -> Self {
        self.servers.entry(server).or_default().tools = Filter::of(filter);
        self
    }

    /// Adds a predicate, with a name to be known by.
    #[must_use]
    pub fn admit(mut self, name: &str, admit: impl Admit + 'static) -> Self {
        self.hooks.push(Hook {
            name: Arc::from(name),
            admit: Arc::new(admit),
        });
        self
    }

    /// Sets whether a denied use looks to every agent as if there were no such thing; off by default, so
    /// that an agent learns the rule from an error of the kind [`Denied`](crate::ErrorKind::Denied).
    ///
    /// Turn it on for callers that are not trusted with the names of servers and rules. A server whose
    /// audience does not include an agent never exists for it. For one agent alone, see
    /// [`AgentPolicy::conceal_denials`].
    #[must_use]
    pub fn conceal_denials(mut self, is_on: bool) -> Self {
        self.conceals = is_on;
        self
    }

    /// Returns `true` if a use that this rule denies has to look to the agent as if there were no such
    /// thing.
    pub fn conceals(&self, caller: &Caller, rule: &Reason) -> bool {
        let own = self.of(self.acting(caller)).into_iter();
        let is_concealed = own
            .chain(caller.bounds())
            .any(AgentPolicy::conceals_denials);
        // A tool that the program filters out is not there, whatever the grants say.
        let is_absent = matches!(rule, Reason::Audience(_) | Reason::Filter(_));
        self.conceals || is_concealed || is_absent
    }

    /// Returns the agent's own policy, or else the one for others.
    pub fn of(&self, agent: &CallerId) -> Option<&AgentPolicy> {
        let own = self.agents.get(agent);
        own.or(self.others.as_ref()).map(|policy| &**policy)
    }

    /// Returns the agent whose policy counts for a caller: itself, or the one that it acts as while this says
    /// nothing of it.
    pub fn acting<'c>(&self, caller: &'c Caller) -> &'c CallerId {
        let has_own = self.agents.contains_key(caller.id());
        let stand_in = caller.stand_in().filter(|_| !has_own);
        stand_in.unwrap_or(caller.id())
    }

    /// The agents that have a policy of their own, by id.
    pub fn agents(&self) -> Vec<(&CallerId, &AgentPolicy)> {
        let agents = self.agents.iter();
        let mut agents: Vec<_> = agents.map(|(id, policy)| (id, &**policy)).collect();
        agents.sort_unstable_by_key(|(id, _)| *id);
        agents
    }

    /// Returns `true` if there is a policy for any agent, including the one for others.
    pub fn has_agents(&self) -> bool {
        !self.agents.is_empty() || self.others.is_some()
    }

    /// Decides about a request. Does not look at approvals: see [`Approvals`](super::Approvals).
    pub fn decide(&self, request: &Request<'_>) -> Decision {
        // The owner first: no rule restricts the person.
        if request.caller.is_owner() {
            return Decision::Allow(Reason::Owner);
        }
        match self.objection(request) {
            Err(reason) => Decision::Deny(reason),
            // Listing is not asked about: a question for each list would teach people to say yes.
            Ok((Level::Trusted, _)) if request.verb != Verb::List => {
                let own = self.of(self.acting(request.caller)).into_iter();
                let mut policies = own.chain(request.caller.bounds());
                // The narrower question of the two.
                let is_item = policies.any(|policy| policy.scope() == Scope::Item);
                let scope = if is_item { Scope::Item } else { Scope::Server };
                Decision::Ask(Reason::Level(Level::Trusted), scope)
            }
            Ok((_, grant)) => Decision::Allow(grant),
        }
    }

    /// Returns the level and the grant that covers the request, or else the first objection.
    fn objection(&self, request: &Request<'_>) -> Result<(Level, Reason), Reason> {
        let (target, caller) = (&request.target, request.caller);
        let agent = self.acting(caller);
        // The order is that of the rules in the docs of `Policy`: the first objection is the one
        // reported.
        if !request.verb.fits(target) {
            return Err(Reason::Unfit);
        }
        let server = self.servers.get(target.server());
        // The audience before the agent's policy: it belongs to the server's entry.
        if server.is_some_and(|rules| !rules.audience.includes(caller.id(), agent)) {
            return Err(Reason::Audience(target.server().clone()));
        }
        let policy = self.of(agent).ok_or(Reason::NoPolicy)?;
        let bounds = caller.bounds();
        let level = bounds.map_or(Level::Yolo, AgentPolicy::current_level);
        let level = level.min(policy.current_level());
        if level == Level::Sandboxed {
            return Err(Reason::Level(level));
        }
        // Blocks before grants: a grant never overrides a block.
        if let Some(reason) = filtered(server, policy, target) {
            return Err(reason);
        }
        let mut grant = policy.granted().covering(target).ok_or(Reason::NoGrant)?;
        if let Some(bounds) = bounds {
            if let Some(reason) = filtered(None, bounds, target) {
                return Err(reason);
            }
            grant = bounds.granted().covering(target).ok_or(Reason::NoGrant)?;
        }
        // Predicates come last: they run the program's own code, and only for requests that are granted.
        self.admitted(request)?;
        Ok((level, Reason::Grant(Arc::clone(grant))))
    }

    /// Asks the predicates about an item; they are not asked about a server itself.
    fn admitted(&self, request: &Request<'_>) -> Result<(), Reason> {
        // Predicates are about items; a server as a whole is decided by the rules alone.
        if self.hooks.is_empty() || request.target.item().is_none() {
            return Ok(());
        }
        // With the usual verb, so that listing an item and using it get the same answer.
        let request = Request::usual(request.caller, request.target);
        for hook in &self.hooks {
            if let Verdict::Deny(words) = hook.admit.admit(&request) {
                let name = Arc::clone(&hook.name);
                return Err(Reason::Admit { name, words });
            }
        }
        Ok(())
    }
}

/// Returns the objection of the first tool list that has one. Block lists come first, so that they win.
fn filtered(
    server: Option<&ServerRules>,
    agent: &AgentPolicy,
    target: &Target<'_>,
) -> Option<Reason> {
    let whose = || List::Server(target.server().clone());
    let of_server = server.map(|rules| &rules.tools).zip(target.tool());
    let block = of_server.and_then(|(filter, tool)| filter.blocks(tool, whose));
    // All blocks before all allow lists: a block is the clearer reason to report.
    if let Some(reason) = block.or_else(|| agent.blocks(target)) {
        return Some(reason);
    }
    if of_server.is_some_and(|(filter, tool)| filter.leaves_out(tool)) {
        return Some(Reason::Unlisted(whose()));
    }
    let is_left_out = agent.leaves_out(target);
    is_left_out.then_some(Reason::Unlisted(List::Agent))
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hooks = self.hooks.iter().map(|hook| &*hook.name);
        f.debug_struct("Policy")
            .field("agents", &self.agents)
            .field("others", &self.others)
            .field("servers", &self.servers)
            .field("hooks", &hooks.collect::<Vec<_>>())
            .field("conceals", &self.conceals)
            .finish()
    }
}

/// A predicate of the program: decides about an agent's use of something, given the agent and its run.
///
/// A predicate can only restrict: a use that it allows still needs a grant, and the user is still asked
/// if the level requires it. It decides about items, not about verbs, so that an agent can see exactly
/// what it can use: [`Request::verb`] is always the target's [own use](super::Target::usual_verb). For
/// the same reason it should give the same answer to the same request. It runs in the middle of a call
/// and must not block.
///
/// Functions that take a request implement it.
#[doc(hidden)]
pub trait Admit: Send + Sync {
    /// Decides about a use.
    fn admit(&self, request: &Request<'_>) -> Verdict;
}

/// The answer of a predicate.
#[derive(Debug, Clone, PartialEq, Eq)]
#[doc(hidden)]
pub enum Verdict {
    /// The predicate has no objection.
    Allow,
    /// The predicate objects, with a reason for the user.
    Deny(Cow<'static, str>),
}

impl Verdict {
    /// Creates an objection.
    pub fn deny(words: impl Into<Cow<'static, str>>) -> Self {
        Self::Deny(words.into())
    }
}

impl<F: Fn(&Request<'_>) -> Verdict + Send + Sync> Admit for F {
    fn admit(&self, request: &Request<'_>) -> Verdict {
        self(request)
    }
}
