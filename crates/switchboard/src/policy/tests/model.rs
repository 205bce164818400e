//! The rules once more, as data and with nothing clever about them.

use super::*;

/// What an agent may do.
#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub(super) level: Level,
    pub(super) grants: Vec<Granted>,
    pub(super) withheld: Vec<Granted>,
    pub(super) tools: Lists,
}

/// Server, kind and item of a grant; the texts need no backslash.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Granted(pub(super) String, pub(super) Kind, pub(super) String);

#[derive(Debug, Clone, Default)]
pub(super) struct Lists {
    pub(super) allow: Option<Vec<String>>,
    pub(super) block: Vec<String>,
}

/// A predicate that denies what has one of these.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Hook {
    Role(String),
    Task(String),
    Server(String),
    Item(String),
    Verb(Verb),
}

/// All rules there are.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub(super) agents: Vec<(String, Agent)>,
    pub(super) others: Option<Agent>,
    pub(super) audiences: Vec<(String, Vec<String>)>,
    pub(super) filters: Vec<(String, Lists)>,
    pub(super) hooks: Vec<Hook>,
}

/// Who asks.
#[derive(Debug, Clone)]
pub(super) struct Who {
    pub(super) id: Option<String>,
    pub(super) role: String,
    pub(super) task: String,
}

impl Granted {
    pub(super) fn text(&self) -> String {
        match self.1 {
            Kind::Tool => format!("mcp:{}:tool/{}", self.0, self.2),
            kind => format!("mcp:{}:{kind}/{}", self.0, self.2),
        }
    }

    fn covers(&self, target: &Target<'_>) -> bool {
        let of_server = like(&self.0, target.server().as_str());
        let item = target.item();
        of_server && item.is_none_or(|(kind, name)| kind == self.1 && like(&self.2, name))
    }
}

impl Lists {
    pub(super) fn filter(&self) -> ToolFilter {
        ToolFilter {
            allow: self.allow.clone(),
            block: self.block.clone(),
        }
    }
}

impl Hook {
    pub(super) fn denies(&self, request: &Request<'_>) -> bool {
        let is = |value: Option<&String>, text: &String| value == Some(text);
        match self {
            Self::Role(role) => is(request.caller.attributes().get("role"), role),
            Self::Task(task) => is(request.caller.run_attributes().get("task"), task),
            Self::Server(name) => request.target.server().as_str() == name,
            Self::Item(name) => request.target.item().is_some_and(|(_, item)| item == name),
            Self::Verb(verb) => request.verb == *verb,
        }
    }
}

impl Who {
    pub(super) fn caller(&self) -> Caller {
        let caller = match &self.id {
            Some(id) => Caller::agent(id).unwrap(),
            None => Caller::owner(),
        };
        caller
            .attribute("role", self.role.as_str())
            .run("task", self.task.as_str())
    }
}

impl Rules {
    /// The real thing.
    pub(super) fn policy(&self) -> Policy {
        let mut policy = Policy::none();
        for (name, agent) in &self.agents {
            policy = policy.agent(id(name), agent.policy());
        }
        if let Some(agent) = &self.others {
            policy = policy.others(agent.policy());
        }
        for (name, agents) in &self.audiences {
            let agents = agents.iter().map(|name| id(name)).collect();
            policy = policy.audience(server(name), Audience::Only(agents));
        }
        for (name, lists) in &self.filters {
            policy = policy.filter(server(name), &lists.filter());
        }
        for (at, hook) in self.hooks.iter().cloned().enumerate() {
            let admit = move |request: &Request<'_>| match hook.denies(request) {
                true => Verdict::deny("denied"),
                false => Verdict::Allow,
            };
            policy = policy.admit(&at.to_string(), admit);
        }
        policy
    }

    pub(super) fn agent(&self, who: &Who) -> Option<&Agent> {
        let id = who.id.as_ref()?;
        let own = self.agents.iter().rfind(|(name, _)| name == id);
        own.map(|(_, agent)| agent).or(self.others.as_ref())
    }

    /// What the rules say: everything that is against it, by its place in the order, and the first
    /// of that.
    pub(super) fn expected(&self, who: &Who, request: &Request<'_>) -> String {
        let Some(name) = &who.id else {
            return "allow: the owner".to_owned();
        };
        let (target, agent) = (&request.target, self.agent(who));
        let server = target.server().as_str();
        let tool = match target {
            Target::Tool { name, .. } => Some(*name),
            _ => None,
        };
        let mut against: Vec<(usize, String)> = Vec::new();
        if !request.verb.fits(target) {
            against.push((1, "nothing that can be done with this".into()));
        }
        let audience = self.audiences.iter().rfind(|(name, _)| name == server);
        if audience.is_some_and(|(_, agents)| !agents.contains(name)) {
            against.push((2, format!("audience of server {server}")));
        }
        if agent.is_none() {
            against.push((3, "no policy for this agent".into()));
        }
        if agent.is_some_and(|agent| agent.level == Level::Sandboxed) {
            against.push((4, "level SANDBOXED".into()));
        }
        let of_server = self.filters.iter().rfind(|(name, _)| name == server);
        let of_server = of_server.map(|(_, lists)| (format!("server {server}"), lists, 5, 8));
        let of_agent = agent.map(|agent| ("the agent".to_owned(), &agent.tools, 7, 9));
        for (whose, lists, first, second) in [of_server, of_agent].into_iter().flatten() {
            let Some(tool) = tool else { continue };
            if let Some(pattern) = lists.block.iter().find(|pattern| like(pattern, tool)) {
                against.push((first, format!("block list of {whose}: {pattern}")));
            }
            let allow = lists.allow.as_ref();
            if allow.is_some_and(|allow| !allow.iter().any(|pattern| like(pattern, tool))) {
                against.push((second, format!("not in the allow list of {whose}")));
            }
        }
        let find = |grants: &[Granted]| {
            let found = grants.iter().find(|grant| grant.covers(target));
            found.map(Granted::text)
        };
        let is_item = target.item().is_some();
        if let Some(text) = agent
            .and_then(|agent| find(&agent.withheld))
            .filter(|_| is_item)
        {
            against.push((6, format!("withheld {text}")));
        }
        let grant = agent.and_then(|agent| find(&agent.grants));
        if grant.is_none() {
            against.push((10, "no grant".into()));
        }
        let usual = Request::usual(request.caller, *target);
        for (at, hook) in self.hooks.iter().enumerate() {
            if is_item && hook.denies(&usual) {
                against.push((11 + at, format!("admit hook {at}: denied")));
            }
        }
        against.sort();
        match (against.into_iter().next(), agent, grant) {
            (Some((_, text)), ..) => format!("deny: {text}"),
            (None, Some(agent), _)
                if agent.level == Level::Trusted && request.verb != Verb::List =>
            {
                "ask: level TRUSTED".to_owned()
            }
            (None, _, grant) => format!("allow: grant {}", grant.unwrap_or_default()),
        }
    }
}

impl Agent {
    fn policy(&self) -> AgentPolicy {
        let read = |grants: &[Granted]| Grants::parse(grants.iter().map(Granted::text)).unwrap();
        AgentPolicy::new(self.level)
            .grants(read(&self.grants))
            .withhold(read(&self.withheld))
            .tools(&self.tools.filter())
    }
}

/// Whether a name is like a pattern, tried out in all ways.
fn like(pattern: &str, name: &str) -> bool {
    let mut rest = name.chars();
    match pattern.chars().next() {
        None => name.is_empty(),
        Some('*') => {
            let others = &pattern[1..];
            name.char_indices().any(|(at, _)| like(others, &name[at..])) || like(others, "")
        }
        Some(c) => {
            let fits = rest.next().is_some_and(|other| c == '?' || c == other);
            fits && like(&pattern[c.len_utf8()..], rest.as_str())
        }
    }
}
