//! Agents, what they are granted, and all that they can try.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use switchboard::events::{Event, Events, write_line};
use switchboard::host::{Caller, Host, HostBuilder, View, ViewEvents};
use switchboard::policy::{
    AgentPolicy, CallerId, Decision, Grants, Level, Policy, Request, Target, UseApproval,
    UseRequest,
};
use switchboard::spec::Settings;
use switchboard::{ErrorKind, Operator};

use super::name;
use super::recorder::{Offer, Recorder, Seen};

pub(crate) const SERVERS: [&str; 3] = ["notes", "mail", "vault"];
pub(crate) const TOOLS: [&str; 4] = ["get_one", "get_all", "put_one", "wipe"];
pub(crate) const RESOURCES: [&str; 3] = ["file:///a", "file:///b", "note:c"];
pub(crate) const PROMPTS: [&str; 2] = ["hello", "help"];
pub(crate) const AGENTS: [&str; 3] = ["planner", "writer", "guest"];

/// What no event may have in it.
pub(crate) const CANARY: &str = "canary-5f1d";

/// Says the same to everything, and counts.
#[derive(Clone)]
pub(crate) struct Says(pub(crate) UseApproval, Arc<AtomicUsize>);

impl Says {
    pub(crate) fn new(answer: UseApproval) -> Self {
        Self(answer, Arc::default())
    }

    /// Whether a use is made, after this decision and this answer.
    pub(crate) fn permits(&self, decision: &Decision) -> bool {
        match decision {
            Decision::Allow(_) => true,
            Decision::Ask(..) => self.0 != UseApproval::Refuse,
            Decision::Deny(_) => false,
        }
    }

    pub(crate) fn asked(&self) -> usize {
        self.1.load(Ordering::SeqCst)
    }
}

impl Operator for Says {
    async fn approve_use(&self, _: UseRequest) -> UseApproval {
        self.1.fetch_add(1, Ordering::SeqCst);
        // A person takes a while.
        tokio::task::yield_now().await;
        self.0
    }
}

/// Everything there is, and each tool said to be harmless.
pub(crate) fn offer() -> Offer {
    let tool = |name: &&str| {
        json!({
            "name": name,
            "inputSchema": {"type": "object"},
            "annotations": {"readOnlyHint": true, "destructiveHint": false, "openWorldHint": false},
        })
    };
    let resource = |uri: &&str| json!({"uri": uri, "name": uri, "size": 4});
    let prompt = |name: &&str| {
        let argument = json!({"name": "text", "required": false});
        json!({"name": name, "arguments": [argument]})
    };
    Offer {
        tools: TOOLS.iter().map(tool).collect(),
        resources: RESOURCES.iter().map(resource).collect(),
        prompts: PROMPTS.iter().map(prompt).collect(),
        ..Offer::default()
    }
}

/// A host with those servers.
pub(crate) fn host(
    servers: &[&str],
    make: impl FnOnce(HostBuilder) -> HostBuilder,
) -> (Host, Vec<Recorder>) {
    let mut builder = Host::builder();
    let mut recorders = Vec::new();
    for server in servers {
        let recorder = Recorder::new(offer());
        builder = builder.transport(name(server), recorder.memory(server), Settings::default());
        recorders.push(recorder);
    }
    (make(builder).build().unwrap(), recorders)
}

pub(crate) fn id(agent: &str) -> CallerId {
    CallerId::parse(agent).unwrap()
}

pub(crate) fn agent(agent: &str) -> Caller {
    Caller::agent(agent).unwrap()
}

/// The policy of one agent, with these grants.
pub(crate) fn allowing(who: &str, level: Level, grants: &[&str]) -> Policy {
    let policy = AgentPolicy::new(level).grants(Grants::parse(grants).unwrap());
    Policy::none().agent(id(who), policy)
}

pub(crate) const EVERYTHING: [&str; 3] = ["mcp:*:*", "mcp:*:resource/*", "mcp:*:prompt/*"];

pub(crate) fn drain(events: &mut Events) -> Vec<Event> {
    std::iter::from_fn(|| events.try_recv().ok()).collect()
}

/// What an agent is told, until there is nothing more.
pub(crate) async fn told(events: &mut ViewEvents) -> Vec<Event> {
    let mut all = Vec::new();
    while let Ok(event) = tokio::time::timeout(Duration::from_millis(1), events.recv()).await {
        all.push(event.unwrap());
    }
    all
}

/// One way to use something.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Use {
    Tool(&'static str),
    /// As a model asks for it.
    Model(&'static str),
    Resource(&'static str),
    Prompt(&'static str),
}

impl Use {
    pub(crate) fn all() -> Vec<Self> {
        let tools = TOOLS
            .into_iter()
            .flat_map(|t| [Self::Tool(t), Self::Model(t)]);
        let others = RESOURCES.into_iter().map(Self::Resource);
        tools
            .chain(others)
            .chain(PROMPTS.into_iter().map(Self::Prompt))
            .collect()
    }

    pub(crate) fn seen(self) -> Seen {
        let (method, name) = match self {
            Self::Tool(name) | Self::Model(name) => ("tools/call", name),
            Self::Resource(name) => ("resources/read", name),
            Self::Prompt(name) => ("prompts/get", name),
        };
        let (method, name) = (method.to_owned(), name.to_owned());
        Seen { method, name }
    }

    pub(crate) fn decision(self, host: &Host, caller: &Caller, server: &str) -> Decision {
        let server = &name(server);
        let target = match self {
            Self::Tool(name) | Self::Model(name) => Target::Tool { server, name },
            Self::Resource(uri) => Target::Resource { server, uri },
            Self::Prompt(name) => Target::Prompt { server, name },
        };
        host.why(&Request::usual(caller, target))
    }

    /// The same of something that is not there.
    pub(crate) fn absent(self) -> Self {
        match self {
            Self::Tool(_) => Self::Tool("q"),
            Self::Model(_) => Self::Model("q"),
            Self::Resource(_) => Self::Resource("q"),
            Self::Prompt(_) => Self::Prompt("q"),
        }
    }

    /// Does it, and gives the error without the name where it is not done.
    pub(crate) async fn attempt(self, view: &View, server: &str) -> Result<(), String> {
        let done = match self {
            Self::Tool(tool) => match view.find(&format!("{server}/{tool}")).await {
                Ok(tool) => tool.call(json!({"text": CANARY})).await.map(drop),
                Err(error) => Err(error),
            },
            Self::Model(tool) => {
                let arguments = json!({"text": CANARY}).to_string();
                let call = json!({"id": "1", "type": "function", "function": {
                    "name": format!("mcp__{server}__{tool}"), "arguments": arguments}});
                let call = switchboard::formats::openai::chat_call(&call).unwrap();
                view.call_for_model(&call).await.map(drop)
            }
            Self::Resource(uri) => view.read(server, uri).await.map(drop),
            Self::Prompt(prompt) => {
                let arguments = BTreeMap::from([("text".to_owned(), CANARY.to_owned())]);
                let name = format!("{server}/{prompt}");
                view.prompt(&name, arguments).await.map(drop)
            }
        };
        done.map_err(|error| {
            let is_denied = error.kind() == ErrorKind::Denied;
            assert!(
                is_denied || error.kind() == ErrorKind::NotFound,
                "{error:?}"
            );
            assert_eq!(error.denial().is_some(), is_denied);
            assert!(!error.was_sent(), "{error:?}");
            assert_eq!(error.server().is_some(), is_denied, "{error:?}");
            let own = self.seen().name;
            let text = error.to_string();
            // Refused by the person, it is known by its name for models.
            let text = text.replace(&format!("mcp__{server}__{own}"), "NAME");
            let text = text.replace(&format!("{server}/{own}"), "NAME");
            text.replace(&format!("{own:?}"), "\"NAME\"")
        })
    }
}

/// What a view lists, as uses.
pub(crate) fn listed(view: &View) -> BTreeSet<(String, Seen)> {
    let tools = view.tools();
    let tools = tools.iter().map(|tool| {
        (
            tool.server().to_string(),
            "tools/call",
            tool.raw_name().to_owned(),
        )
    });
    let resources = view.resources();
    let resources = resources.iter().map(|one| {
        (
            one.server().to_string(),
            "resources/read",
            one.uri().to_owned(),
        )
    });
    let prompts = view.prompts();
    let prompts = prompts.iter().map(|one| {
        (
            one.server().to_string(),
            "prompts/get",
            one.name().to_owned(),
        )
    });
    let all = tools.chain(resources).chain(prompts);
    all.map(|(server, method, name)| {
        let method = method.to_owned();
        (server, Seen { method, name })
    })
    .collect()
}

pub(crate) fn has_no_canary(events: &[Event]) {
    for event in events {
        let mut line = format!("{event:?}");
        write_line(event, &mut line);
        assert!(!line.contains(CANARY), "{line}");
    }
}
