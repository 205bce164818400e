//! Reads the sections `agents` and `audience`.

use super::placed::Placed;
use super::placed::texts;
use super::{get, unknown_keys, wrong};
use crate::keys::ValueType::{Flag, Texts, Words};
use crate::keys::{self, Key};
use crate::report::{Report, quote_name};
use crate::shape::duplicates;
use crate::tree::{Node, NodeKind, latest};

pub(crate) const KEYS: &[Key] = &[
    Key::new(
        "level",
        Words(&["yolo", "trusted", "sandboxed"]),
        "`sandboxed` reaches nothing, `trusted` asks you at the first use of each server, \
         `yolo` never asks",
    )
    .or("`sandboxed`, with a warning"),
    Key::new(
        "grants",
        Texts,
        "Items that the agent may use: `mcp:SERVER:TOOL`, `mcp:SERVER:resource/URI` or \
         `mcp:SERVER:prompt/NAME`, with `*` in either part. `[]` grants nothing",
    )
    .or("everything, as the level says"),
    Key::new(
        "withhold",
        Texts,
        "Items that the agent may never use, even if granted; written like grants",
    )
    .or("`[]`"),
    Key::new(
        "allowed_tools",
        Texts,
        "The only tools that the agent may use, by their own names, of all servers",
    )
    .or("all"),
    Key::new(
        "blocked_tools",
        Texts,
        "Tools that the agent may not use, even if granted",
    )
    .or("`[]`"),
    Key::new(
        "ask",
        Words(&["server", "tool"]),
        "What one question to you covers: a server, or a single tool, resource or prompt",
    )
    .or("`server`"),
    Key::new(
        "conceal_denials",
        Flag,
        "Whether denied items look to the agent as if they did not exist",
    )
    .or("`false`"),
];

/// The section of one agent. Its texts are not validated beyond their type.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AgentSection {
    /// Its id; `*` for all agents without a section of their own.
    pub id: Placed,
    /// Its trust level.
    pub level: Option<Placed>,
    /// The grants; `None` without the key, which is not the same as an empty list.
    pub grants: Option<Vec<Placed>>,
    /// Tools that it may never use, even if granted; written like grants.
    pub withhold: Vec<Placed>,
    /// If set, the only tools that it may use, even if others are granted.
    pub allowed_tools: Option<Vec<Placed>>,
    /// Tools that it may not use, even if granted.
    pub blocked_tools: Vec<Placed>,
    /// The scope of a question to the user: a server, or one tool.
    pub ask: Option<Placed>,
    /// True if a denied use looks to the agent as if there were no such thing.
    pub conceal_denials: bool,
    /// True if a part of it could not be read, so that the intention is unknown.
    pub is_unclear: bool,
}

/// The agents that a server is for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct AudienceSection {
    /// The server.
    pub server: Placed,
    /// The ids of the agents; empty if the list could not be read.
    pub agents: Vec<Placed>,
}

pub(super) fn agents(node: &Node, report: &mut Report) -> Vec<AgentSection> {
    let members = latest(node.object().unwrap_or_default());
    members
        .map(|member| {
            let mut section = AgentSection {
                id: Placed::key(member, report),
                level: None,
                grants: None,
                withhold: Vec::new(),
                allowed_tools: None,
                blocked_tools: Vec::new(),
                ask: None,
                conceal_denials: false,
                is_unclear: false,
            };
            let whose = format!("agent {}", quote_name(&member.key));
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
    // A misspelled restriction would silently grant more, so unknown keys make it unclear.
    section.is_unclear |= unknown_keys(node, whose, &keys::names(KEYS), report);
    let mut word = |key: &str, expected: &str| {
        let value = get(node, key)?;
        if value.text().is_none() {
            wrong(&format!("`{key}` of {whose}"), value, expected, report);
            section.is_unclear = true;
            return None;
        }
        Some(Placed::of(value, report))
    };
    let level = word("level", "\"yolo\", \"trusted\" or \"sandboxed\"");
    let ask = word("ask", "\"server\" or \"tool\"");
    section.level = level;
    section.ask = ask;
    if let Some(value) = get(node, "conceal_denials") {
        match value.kind {
            NodeKind::Bool(is_on) => section.conceal_denials = is_on,
            _ => {
                let what = format!("`conceal_denials` of {whose}");
                wrong(&what, value, "true or false", report);
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
    section.grants = grants;
    section.withhold = withhold.unwrap_or_default();
    section.allowed_tools = allowed;
    section.blocked_tools = blocked.unwrap_or_default();
}

pub(super) fn audience(node: &Node, report: &mut Report) -> Vec<AudienceSection> {
    let members = latest(node.object().unwrap_or_default());
    members
        .map(|member| {
            let what = format!("the audience of {}", quote_name(&member.key));
            let agents = texts(&member.value, &what, "a list of ids of agents", report);
            AudienceSection {
                server: Placed::key(member, report),
                // If unreadable, the server is for no agent, rather than for all.
                agents: agents.unwrap_or_default(),
            }
        })
        .collect()
}
