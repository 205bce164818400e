//! What the rules say, one by one and all together.

mod bounds;
mod grants;
mod model;
mod random;
mod rules;

use super::*;
use crate::spec::{ServerName, ToolFilter};

fn server(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

fn agent(id: &str) -> Caller {
    Caller::agent(id).unwrap()
}

fn id(id: &str) -> CallerId {
    CallerId::parse(id).unwrap()
}

fn grants(texts: &[&str]) -> Grants {
    Grants::parse(texts).unwrap()
}

fn filter(allow: Option<&[&str]>, block: &[&str]) -> ToolFilter {
    let owned = |list: &[&str]| list.iter().map(|&text| text.to_owned()).collect();
    ToolFilter {
        allow: allow.map(owned),
        block: owned(block),
    }
}

/// An agent `a` that may do everything.
fn open(level: Level) -> Policy {
    Policy::none().agent(
        id("a"),
        AgentPolicy::new(level).grants(Grants::everything()),
    )
}

/// One of each kind of thing, of one server.
fn things(server: &ServerName) -> [Target<'_>; 4] {
    [
        Target::Tool { server, name: "x" },
        Target::Resource { server, uri: "f:x" },
        Target::Template {
            server,
            uri_template: "f:{x}",
        },
        Target::Prompt { server, name: "x" },
    ]
}

/// Decides about everything that can be done with one of each kind of thing.
fn all(policy: &Policy, caller: &Caller, server: &ServerName) -> Vec<(Verb, Decision)> {
    let pairs = things(server).into_iter().flat_map(|target| {
        let verbs = Verb::ALL.into_iter().filter(move |verb| verb.fits(&target));
        verbs.map(move |verb| (verb, target))
    });
    pairs
        .map(|(verb, target)| (verb, policy.decide(&Request::new(caller, verb, target))))
        .collect()
}

/// What is decided about calling a tool, as text.
fn call(policy: &Policy, caller: &Caller, server: &ServerName, name: &str) -> String {
    let target = Target::Tool { server, name };
    policy.decide(&Request::usual(caller, target)).to_string()
}
