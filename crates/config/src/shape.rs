//! Finds the servers in a file of any shape.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::PathBuf;

use super::client::Client;
use super::expand::Input;
use super::limits::LIMITS;
use super::problem::ProblemKind;
use super::report::{Note, Report, quote_name};
use super::tree::{Member, Node, NodeKind, latest};

/// Sections that only the user's own file may contain, and the reason.
pub(super) const USER_ONLY: &[(&str, &str)] = &[
    ("agents", "it says what agents may do"),
    ("audience", "it says which agents a server is for"),
    ("limits", "it raises what servers may use up"),
    ("providers", "it says who pays for completions"),
    ("network", "it says which addresses may be reached"),
    ("pins", "it says which definitions were approved"),
    ("approvals", "it says what an approval is bound to"),
    ("profiles", "it says what clients of a gateway are offered"),
];

/// Other top-level keys of our files.
pub(super) const TOP: &[&str] = &["mcpServers", "servers", "defaults", "inputs", "$schema"];

/// A server found in a file.
pub(super) struct Found {
    pub(super) name: String,
    /// The position of its key or, in a list, of its name.
    pub(super) at: Range<usize>,
    /// Its JSON pointer.
    pub(super) pointer: String,
    pub(super) node: Node,
    /// The project that Claude Code keeps it for.
    pub(super) project: Option<PathBuf>,
}

/// Finds the servers of a file, in order.
pub(super) fn servers(root: &Node, client: Client, report: &mut Report) -> Vec<Found> {
    if root.object().is_none() {
        let message = format!("the document is {}", root.is_a());
        let note = Note::error(ProblemKind::WrongType, root.span.clone(), message);
        report.add(note.expecting("an object: `{ \"mcpServers\": { ... } }`"));
        return Vec::new();
    }
    if client.is_ours() {
        top(root, report);
    }
    let mut found = Vec::new();
    // A client may have several maps; all of them are read.
    for path in client.roots() {
        let mut node = Some(root);
        for key in *path {
            node = node.and_then(|node| node.get(key));
        }
        if let Some(node) = node {
            let place = MapPlace {
                pointer: format!("/{}", path.join("/")),
                project: None,
            };
            map(node, &place, report, &mut found);
        }
    }
    // Claude Code also keeps servers for each project in the user's file.
    if client == Client::ClaudeCode {
        let projects = root.get("projects").and_then(Node::object);
        for project in projects.unwrap_or_default() {
            if let Some(node) = project.value.get("mcpServers") {
                let pointer = format!("/projects/{}/mcpServers", escaped(&project.key));
                let place = MapPlace {
                    pointer,
                    project: Some(PathBuf::from(&project.key)),
                };
                map(node, &place, report, &mut found);
            }
        }
    }
    // Counted over all maps of the file.
    if let Some(first) = found.get(LIMITS.servers) {
        let message = format!("more than {} servers in one file", LIMITS.servers);
        let note = Note::error(ProblemKind::TooLarge, first.at.clone(), message);
        report.add(note.hint("this one and those after it are not used"));
        found.truncate(LIMITS.servers);
    }
    found
}

/// Checks the top-level keys of one of our files.
fn top(root: &Node, report: &mut Report) {
    let members = root.object().unwrap_or_default();
    duplicates(members, report);
    for Member {
        key,
        key_span,
        value,
    } in members
    {
        // An error and not a warning: a person who relies on the section must learn that it does
        // nothing.
        if let Some((_, why)) = USER_ONLY.iter().find(|(name, _)| name == key) {
            if report.source.layer.needs_approval() {
                let message = format!("`{key}` is not read from a project's file: {why}");
                let note = Note::error(ProblemKind::UserOnly, key_span.clone(), message);
                report.add(note.hint("move it to your own file"));
            }
        } else if !TOP.contains(&key.as_str()) {
            let message = format!("unknown key {}", quote_name(key));
            let note = Note::warning(ProblemKind::UnknownKey, key_span.clone(), message);
            // The commonest mistake: an entry at the top, outside of its map.
            let is_server = value.get("command").or(value.get("url")).is_some();
            report.add(if report.is_full() {
                note
            } else if is_server {
                note.hint("a server belongs into `mcpServers`")
            } else {
                note.did_you_mean(key, TOP)
                    .expecting("`mcpServers`, `defaults` or `inputs`")
            });
        }
    }
    if let (Some(_), Some(second)) = (root.member("mcpServers"), root.member("servers")) {
        let message = "`mcpServers` and `servers` are both there";
        let note = Note::warning(ProblemKind::BothShapes, second.key_span.clone(), message);
        report.add(note.hint("both are read; move all servers into `mcpServers`"));
    }
}

/// The place of a map of servers in a file.
struct MapPlace {
    pointer: String,
    /// The project that its servers are for.
    project: Option<PathBuf>,
}

/// Collects the servers of one map or list.
fn map(node: &Node, place: &MapPlace, report: &mut Report, found: &mut Vec<Found>) {
    let MapPlace { pointer, project } = place;
    match &node.kind {
        NodeKind::Object(members) => {
            duplicates(members, report);
            // JSON parsers keep the last of equal keys.
            for member in latest(members) {
                found.push(Found {
                    name: member.key.clone(),
                    at: member.key_span.clone(),
                    pointer: format!("{pointer}/{}", escaped(&member.key)),
                    node: member.value.clone(),
                    project: project.clone(),
                });
            }
        }
        NodeKind::List(items) => {
            let mut names = HashSet::new();
            let given = items.iter().filter_map(|item| item.get("name")?.text());
            let given: HashSet<&str> = given.collect();
            for (index, item) in items.iter().enumerate() {
                let Some(name) = item.get("name") else {
                    let at = item.span.start..item.span.start + 1;
                    let message = format!("entry {} of the list has no name", index + 1);
                    let name = format!("unnamed-{}", index + 1);
                    // A name that another entry has is never taken away from it.
                    if report.options.name_unnamed && !given.contains(name.as_str()) {
                        let note = Note::warning(ProblemKind::NoName, at.clone(), message);
                        report.add(note.hint(format!("it is used as `{name}`; give it a name")));
                        found.push(Found {
                            name,
                            at,
                            pointer: format!("{pointer}/{index}"),
                            node: item.clone(),
                            project: project.clone(),
                        });
                        continue;
                    }
                    let note = Note::error(ProblemKind::NoName, at, message);
                    report.add(note.expecting("`\"name\": \"...\"` in each entry"));
                    continue;
                };
                let Some(text) = name.text() else {
                    let message = format!("the name of an entry is {}", name.is_a());
                    let note = Note::error(ProblemKind::NoName, name.span.clone(), message);
                    report.add(note.expecting("a text"));
                    continue;
                };
                if !names.insert(text) {
                    let message = format!("the name {} is there twice", quote_name(text));
                    let note = Note::warning(ProblemKind::DuplicateKey, name.span.clone(), message);
                    report.add(note.hint("the last one is used; give them different names"));
                }
                found.push(Found {
                    name: text.to_owned(),
                    at: name.span.clone(),
                    pointer: format!("{pointer}/{index}"),
                    node: item.clone(),
                    project: project.clone(),
                });
            }
        }
        NodeKind::Null => {}
        _ => {
            let message = format!("the servers are {}", node.is_a());
            let note = Note::error(ProblemKind::WrongType, node.span.clone(), message);
            report.add(note.expecting("an object with an entry for each server, by its name"));
        }
    }
}

/// Reports repeated keys, and keys that differ only in case.
pub(super) fn duplicates(members: &[Member], report: &mut Report) {
    let mut seen: HashMap<String, &str> = HashMap::with_capacity(members.len());
    for Member { key, key_span, .. } in members {
        // In lower case: `Env` beside `env` is nearly always a slip.
        let Some(first) = seen.insert(key.to_lowercase(), key) else {
            continue;
        };
        let (message, hint) = if first == key {
            let message = format!("the key {} is there twice", quote_name(key));
            (message, "the last one is used; remove the other")
        } else {
            let message = format!(
                "{} and {} differ only in case",
                quote_name(first),
                quote_name(key)
            );
            (message, "both are read as they are; was one of them meant?")
        };
        let note = Note::warning(ProblemKind::DuplicateKey, key_span.clone(), message);
        report.add(note.hint(hint));
    }
}

/// Reads the inputs that a file describes.
pub(super) fn inputs(root: &Node, client: Client) -> Vec<Input> {
    let node = match client {
        Client::VsCode => root
            .get("inputs")
            .or_else(|| root.get("mcp")?.get("inputs")),
        _ => root.get("inputs"),
    };
    let Some(NodeKind::List(items)) = node.map(|node| &node.kind) else {
        return Vec::new();
    };
    let text = |node: &Node, key: &str| node.get(key)?.text().map(str::to_owned);
    items
        .iter()
        .filter_map(|item| {
            let options = match item.get("options").map(|node| &node.kind) {
                // An option is a text, or an object with a `value`.
                Some(NodeKind::List(options)) => options
                    .iter()
                    .filter_map(|option| option.text().or_else(|| option.get("value")?.text()))
                    .map(str::to_owned)
                    .collect(),
                _ => Vec::new(),
            };
            Some(Input {
                id: text(item, "id")?,
                description: text(item, "description"),
                password: item
                    .get("password")
                    .is_some_and(|node| matches!(node.kind, NodeKind::Bool(true))),
                options,
                default: text(item, "default"),
            })
        })
        .collect()
}

/// Escapes a key for a JSON pointer.
fn escaped(key: &str) -> String {
    // RFC 6901. The tilde first, or the escapes of slashes would be escaped again.
    key.replace('~', "~0").replace('/', "~1")
}
