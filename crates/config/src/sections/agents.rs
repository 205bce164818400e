//! What a file says about agents.

use super::placed::Placed;
use super::placed::texts;
use super::{get, unknown_keys, wrong};
use crate::report::{Report, shown};
use crate::shape::duplicates;
use crate::tree::{Node, latest};

const KEYS: &[&str] = &[
    "level",
    "grants",
    "withhold",
    "allowed_tools",
    "blocked_tools",
];

/// What a file says about one agent. None of the texts was looked at but for its type.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentSection {
    /// Its id; `*` for all that have no section of their own.
    pub id: Placed,
    /// How much it is trusted.
    pub level: Option<Placed>,
    /// What it may use.
    pub grants: Vec<Placed>,
    /// What it may never use, whatever is granted; written like grants.
    pub withhold: Vec<Placed>,
    /// The only tools that it may use, whatever is granted, where there is such a list.
    pub allowed_tools: Option<Vec<Placed>>,
    /// The tools that it may not use, whatever is granted.
    pub blocked_tools: Vec<Placed>,
    /// Whether something of it could not be read, so that it cannot be told what was meant.
    pub is_unclear: bool,
}

/// Whom a file says that a server is for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AudienceSection {
    /// The server.
    pub server: Placed,
    /// The agents, by id. None where the list could not be read.
    pub agents: Vec<Placed>,
}

pub(super) fn agents(node: &Node, report: &mut Report) -> Vec<AgentSection> {
    let members = latest(node.object().unwrap_or_default());
    members
        .map(|member| {
            let mut section = AgentSection {
                id: Placed::key(member, report),
                level: None,
                grants: Vec::new(),
                withhold: Vec::new(),
                allowed_tools: None,
                blocked_tools: Vec::new(),
                is_unclear: false,
            };
            let whose = format!("agent {}", shown(&member.key));
            read(&member.value, &whose, &mut section, report);
            section
        })
        .collect()
}

fn read(node: &Node, whose: &str, section: &mut AgentSection, report: &mut Report) {
    let Some(members) = node.object() else {
        wrong(whose, node, "an object with `level` and `grants`", report);
        section.is_unclear = true;
        return;
    };
    duplicates(members, report);
    section.is_unclear |= unknown_keys(node, whose, KEYS, report);
    if let Some(level) = get(node, "level") {
        match level.text() {
            Some(_) => section.level = Some(Placed::of(level, report)),
            None => {
                let expected = "\"yolo\", \"trusted\" or \"sandboxed\"";
                wrong(&format!("`level` of {whose}"), level, expected, report);
                section.is_unclear = true;
            }
        }
    }
    let mut list = |key: &str, expected: &str| {
        let value = get(node, key)?;
        let what = format!("`{key}` of {whose}");
        let texts = texts(value, &what, expected, report);
        section.is_unclear |= texts.is_none();
        texts
    };
    let grants = list("grants", "a list of grants such as \"mcp:github:get_*\"");
    let withhold = list("withhold", "a list such as [\"mcp:github:delete_*\"]");
    let allowed = list("allowed_tools", "a list of names of tools");
    let blocked = list("blocked_tools", "a list of names of tools");
    section.grants = grants.unwrap_or_default();
    section.withhold = withhold.unwrap_or_default();
    section.allowed_tools = allowed;
    section.blocked_tools = blocked.unwrap_or_default();
}

pub(super) fn audience(node: &Node, report: &mut Report) -> Vec<AudienceSection> {
    let members = latest(node.object().unwrap_or_default());
    members
        .map(|member| {
            let what = format!("the audience of {}", shown(&member.key));
            let agents = texts(&member.value, &what, "a list of ids of agents", report);
            AudienceSection {
                server: Placed::key(member, report),
                // For nobody rather than for everybody.
                agents: agents.unwrap_or_default(),
            }
        })
        .collect()
}
