//! Reads the section `profiles`.

use super::placed::Placed;
use super::placed::texts;
use super::{get, unknown_keys, wrong};
use crate::keys::ValueType::Texts;
use crate::keys::{self, Key};
use crate::problem::ProblemKind;
use crate::report::{Note, Report, quote_name};
use crate::shape::duplicates;
use crate::tree::{Node, NodeKind, latest};

pub(crate) const KEYS: &[Key] = &[
    Key::new("servers", Texts, "The servers that the profile has").or("all"),
    Key::new(
        "tools",
        Texts,
        "Patterns of the only tools that the profile has: `SERVER/TOOL`, with `*` in either part",
    )
    .or("all of its servers"),
    Key::new(
        "without_tools",
        Texts,
        "Patterns of tools that the profile does not have, whatever `tools` says",
    )
    .or("`[]`"),
];

/// A named part of the servers for `switchboard serve`. It narrows, and grants nothing.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ProfileSection {
    /// Its name.
    pub name: Placed,
    /// The servers that it has; all of them if `None`.
    pub servers: Option<Vec<Placed>>,
    /// Patterns of the only tools that it has; all of its servers if `None`.
    pub tools: Option<Vec<Placed>>,
    /// Patterns of tools that it does not have.
    pub without_tools: Vec<Placed>,
    /// True if a part of it could not be read, so that the intention is unknown: it is not to be served.
    pub is_unclear: bool,
}

pub(super) fn profiles(node: &Node, report: &mut Report) -> Vec<ProfileSection> {
    let members = latest(node.object().unwrap_or_default());
    members
        .map(|member| {
            let mut section = ProfileSection {
                name: Placed::key(member, report),
                servers: None,
                tools: None,
                without_tools: Vec::new(),
                is_unclear: false,
            };
            let whose = format!("profile {}", quote_name(&member.key));
            read(&member.value, &whose, &mut section, report);
            section
        })
        .collect()
}

fn read(node: &Node, whose: &str, section: &mut ProfileSection, report: &mut Report) {
    let Some(members) = node.object() else {
        wrong(whose, node, "an object with `servers` and `tools`", report);
        section.is_unclear = true;
        return;
    };
    duplicates(members, report);
    // A misspelled restriction would silently offer more.
    section.is_unclear |= unknown_keys(node, whose, &keys::names(KEYS), report);
    let mut list = |key: &str, expected: &str| {
        let value = get(node, key)?;
        let texts = texts(value, &format!("`{key}` of {whose}"), expected, report);
        section.is_unclear |= texts.is_none();
        // An unreadable list is empty, and not everything.
        Some(texts.unwrap_or_default())
    };
    let servers = list("servers", "a list of names of servers");
    let tools = list("tools", "a list of patterns such as \"github/get_*\"");
    let without = list("without_tools", "a list of patterns such as \"*/delete_*\"");
    for key in ["tools", "without_tools"] {
        section.is_unclear |= get(node, key).is_some_and(|list| misses_slash(list, report));
    }
    section.servers = servers;
    section.tools = tools;
    section.without_tools = without.unwrap_or_default();
}

/// Reports the patterns of a list that do not name a server and a tool; returns true if there are any.
fn misses_slash(list: &Node, report: &mut Report) -> bool {
    let mut is_any = false;
    let NodeKind::List(items) = &list.kind else {
        return false;
    };
    for item in items {
        let Some(text) = item.text() else { continue };
        let parts = text.split_once('/');
        if parts.is_some_and(|(server, tool)| !server.is_empty() && !tool.is_empty()) {
            continue;
        }
        is_any = true;
        let message = "this pattern does not name a server and a tool".to_owned();
        let note = Note::error(ProblemKind::WrongType, item.span.clone(), message);
        report.add(note.expecting("`SERVER/TOOL`, with `*` in either part"));
    }
    is_any
}
