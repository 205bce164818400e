//! The rules, and the one place where they decide.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::agent::{AgentPolicy, Audience};
use super::caller::CallerId;
use super::decision::{Decision, List, Reason, Scope};
use super::filter::Filter;
use super::level::Level;
use super::request::{Request, Target, Verb};
use crate::spec::{ServerName, ToolFilter};

/// Says who may do what, and why.
///
/// The person may do everything. For an agent these are asked in turn, and the first that has something
/// against it decides:
///
/// 1. whether it can be done at all: prompts are not called;
/// 2. the audience of the server;
/// 3. whether there is a policy for the agent, or one for others;
/// 4. the level [`Sandboxed`](Level::Sandboxed);
/// 5. block lists, of the server and of the agent, and what is withheld from the agent;
/// 6. allow lists, of the server and of the agent;
/// 7. the grants of the agent, one of which has to cover it;
/// 8. the predicates of the program, in the order in which they were given;
/// 9. the level: [`Trusted`](Level::Trusted) has the person asked, [`Yolo`](Level::Yolo) does not.
///
/// Nothing but the last looks at the verb, and it only to let see without asking what may be
/// used after asking. So what can be seen can be used or asked for, and what cannot be seen cannot
/// be used. A server is seen by whoever has a grant for anything in it.
///
/// A policy never changes, and cloning one copies it: a host that learns of another server makes a new
/// one.
#[derive(Clone, Default)]
pub struct Policy {
    agents: FxHashMap<CallerId, Arc<AgentPolicy>>,
    others: Option<Arc<AgentPolicy>>,
    servers: FxHashMap<ServerName, ServerRules>,
    hooks: Vec<Hook>,
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

    /// Sets what an agent may do.
    #[must_use]
    pub fn agent(mut self, id: CallerId, policy: AgentPolicy) -> Self {
        self.agents.insert(id, Arc::new(policy));
        self
    }

    /// Sets what agents may do that have no policy of their own.
    #[must_use]
    pub fn others(mut self, policy: AgentPolicy) -> Self {
        self.others = Some(Arc::new(policy));
        self
    }

    /// Sets who a server is for.
    #[must_use]
    pub fn audience(mut self, server: ServerName, audience: Audience) -> Self {
        self.servers.entry(server).or_default().audience = audience;
        self
    }

    /// Sets which tools of a server agents can see and use.
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

    /// What an agent may do: by its own policy, or by the one for others.
    pub fn of(&self, agent: &CallerId) -> Option<&AgentPolicy> {
        let own = self.agents.get(agent);
        own.or(self.others.as_ref()).map(|policy| &**policy)
    }

    /// The agents that have a policy of their own, by id.
    pub fn agents(&self) -> Vec<(&CallerId, &AgentPolicy)> {
        let agents = self.agents.iter();
        let mut agents: Vec<_> = agents.map(|(id, policy)| (id, &**policy)).collect();
        agents.sort_unstable_by_key(|(id, _)| *id);
        agents
    }

    /// Whether there is a policy for any agent, also where that is only the one for others.
    pub fn has_agents(&self) -> bool {
        !self.agents.is_empty() || self.others.is_some()
    }

    /// Decides about a request. Who has approved what is not looked at: see
    /// [`Approvals`](super::Approvals).
    pub fn decide(&self, request: &Request<'_>) -> Decision {
        if request.caller.is_owner() {
            return Decision::Allow(Reason::Owner);
        }
        match self.objection(request) {
            Err(reason) => Decision::Deny(reason),
            Ok((Level::Trusted, _)) if request.verb != Verb::List => {
                Decision::Ask(Reason::Level(Level::Trusted), Scope::Server)
            }
            Ok((_, grant)) => Decision::Allow(grant),
        }
    }

    /// Gives the level and the grant that covers this, or else what is against it.
    fn objection(&self, request: &Request<'_>) -> Result<(Level, Reason), Reason> {
        let (target, agent) = (&request.target, request.caller.id());
        if !request.verb.fits(target) {
            return Err(Reason::Unfit);
        }
        let server = self.servers.get(target.server());
        if server.is_some_and(|rules| !rules.audience.has(agent)) {
            return Err(Reason::Audience(target.server().clone()));
        }
        let policy = self.of(agent).ok_or(Reason::NoPolicy)?;
        let level = policy.current_level();
        if level == Level::Sandboxed {
            return Err(Reason::Level(level));
        }
        if let Some(reason) = filtered(server, policy, target) {
            return Err(reason);
        }
        let grant = policy.granted().covering(target).ok_or(Reason::NoGrant)?;
        self.admitted(request)?;
        Ok((level, Reason::Grant(Arc::clone(grant))))
    }

    /// Asks the predicates about a thing; servers as such are none of their business.
    fn admitted(&self, request: &Request<'_>) -> Result<(), Reason> {
        if self.hooks.is_empty() || request.target.item().is_none() {
            return Ok(());
        }
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

/// Says which list of tools is against it: block lists first, so that they win.
fn filtered(
    server: Option<&ServerRules>,
    agent: &AgentPolicy,
    target: &Target<'_>,
) -> Option<Reason> {
    let whose = || List::Server(target.server().clone());
    let of_server = server.map(|rules| &rules.tools).zip(target.tool());
    let block = of_server.and_then(|(filter, tool)| filter.blocks(tool, whose));
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
            .finish()
    }
}

/// Says whether an agent may use something, with all that is known of the agent and its run.
///
/// A predicate can only take away: what it allows still needs a grant, and is still asked about where
/// the level says so. It is asked about things, not about verbs, so that what can be seen and what
/// can be used are always the same: [`Request::verb`] is the target's
/// [own use](super::Target::usual_verb) whatever was wanted. For the same reason it should answer alike
/// when asked alike. It is asked in the middle of a call and must not block.
///
/// A function of a request is one.
pub trait Admit: Send + Sync {
    /// Says whether this may be used.
    fn admit(&self, request: &Request<'_>) -> Verdict;
}

/// What a predicate says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It has nothing against it.
    Allow,
    /// It may not be, and why, in words for the person.
    Deny(Cow<'static, str>),
}

impl Verdict {
    /// It may not be.
    pub fn deny(words: impl Into<Cow<'static, str>>) -> Self {
        Self::Deny(words.into())
    }
}

impl<F: Fn(&Request<'_>) -> Verdict + Send + Sync> Admit for F {
    fn admit(&self, request: &Request<'_>) -> Verdict {
        self(request)
    }
}
