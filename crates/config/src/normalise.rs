//! Converts the entries of all clients to one form: our field names, one URL, one unit of time.
//!
//! Every part keeps its position in the file, so that later problems point there.

use std::ops::Range;

use switchboard_core::text::closest;

use super::client::Client;
use super::fields::{self, Of, REMARKS};
use super::keys::Key;
use super::problem::ProblemKind;
use super::read::oauth;
use super::report::{Note, Report, quote_name};
use super::shape::duplicates;
use super::template::is_name;
use super::tree::{Member, Node, NodeKind, latest};

/// Converts an entry to our form. Unknown keys stay as they are and are reported.
pub(super) fn entry(members: &[Member], client: Client, report: &mut Report) -> Vec<Member> {
    let mut form = NormalForm {
        client,
        members: Vec::with_capacity(members.len()),
        headers: Vec::new(),
        oauth: Vec::new(),
        implied: None,
    };
    // Report repeated keys before dropping all but the last of each.
    duplicates(members, report);
    for member in latest(members) {
        let mut member = member.clone();
        // Placeholders first, so that everything after this sees one syntax for them.
        translate(&mut member.value, client);
        if let Some(name) = own_name(&member.key, client) {
            member.key = name.to_owned();
        }
        // 1. Our own fields and their other spellings, 2. fields that are converted, 3. the rest,
        // which stays as it is.
        if let Some(field) = fields::find(&member.key) {
            form.field(field, member, report);
        } else if let Some(name) = fields::find_converted(&member.key) {
            form.convert(name, member, report);
        } else {
            if !REMARKS.contains(&member.key.as_str()) {
                unknown(&member, client, report);
            }
            form.members.push(member);
        }
    }
    form.finish()
}

/// Returns our name for a key that only one client has.
fn own_name(key: &str, client: Client) -> Option<&'static str> {
    Some(match (client, key) {
        (Client::Goose, "cmd") => "command",
        (Client::Goose, "envs") => "env",
        (Client::Goose, "env_keys") => "env_passthrough",
        (Client::Goose, "uri") => "url",
        (Client::Goose, "available_tools") => "allowed_tools",
        (Client::Goose, "display_name" | "bundled") => "description",
        (Client::Mcporter, "baseUrl" | "base_url") => "url",
        (Client::Mcporter, "bearerTokenEnv" | "bearer_token_env") => "bearer_token_env_var",
        _ => return None,
    })
}

fn unknown(member: &Member, client: Client, report: &mut Report) {
    let key = quote_name(&member.key);
    let message = if client.is_ours() {
        format!("unknown key {key}")
    } else {
        format!("the key {key} is not read")
    };
    let note = Note::warning(ProblemKind::UnknownKey, member.key_span.clone(), message);
    // Searching for a suggestion is slow, and its result would not be shown.
    if report.is_full() {
        return report.add(note);
    }
    let names = fields::names();
    report.add(match closest(&member.key, &names) {
        Some(_) => note.did_you_mean(&member.key, &names),
        None if client.is_ours() => note.hint("remove it, or look for its right name"),
        None => note.hint("what it asks for is not done"),
    });
}

/// Writes a path that begins with `~` as one that begins with the home folder. Of a command that is a list,
/// the program.
fn home_path(node: &mut Node) {
    match &mut node.kind {
        NodeKind::Text(text) if text == "~" || text.starts_with("~/") => {
            text.replace_range(..1, "${userHome}");
        }
        NodeKind::List(items) => {
            if let Some(program) = items.first_mut().filter(|item| item.text().is_some()) {
                home_path(program);
            }
        }
        _ => {}
    }
}

struct NormalForm {
    client: Client,
    members: Vec<Member>,
    /// Headers from keys other than `headers`.
    headers: Vec<Member>,
    /// Members of `oauth` that stand beside it.
    oauth: Vec<Member>,
    /// The type implied by the key of the URL, unless the entry names one.
    implied: Option<(&'static str, Range<usize>)>,
}

impl NormalForm {
    fn has(&self, name: &str) -> bool {
        self.members.iter().any(|member| member.key == name)
    }

    /// Adds a field under our name, unless an equivalent key came before.
    fn put(&mut self, name: &str, mut member: Member, report: &mut Report) {
        if self.has(name) {
            let message = format!("{} means the same as a key above", quote_name(&member.key));
            let note = Note::warning(ProblemKind::DuplicateKey, member.key_span, message);
            report.add(note.hint("it is not used; remove one of the two"));
            return;
        }
        member.key = name.to_owned();
        self.members.push(member);
    }

    fn field(&mut self, field: &Key, mut member: Member, report: &mut Report) {
        match field.name {
            "timeout" if self.client.counts_milliseconds() => milliseconds(&mut member.value),
            "command" if matches!(member.value.kind, NodeKind::Object(_)) => {
                return self.command_object(&member, report);
            }
            // In Gemini's files `url` means the older SSE transport.
            "url" if self.client == Client::Gemini => {
                if self.has("url") {
                    return;
                }
                // Set aside until the end: an explicit `type` may still follow.
                self.implied = Some(("sse", member.key_span.clone()));
            }
            // Extensions without a process or a URL of their own.
            "type"
                if self.client == Client::Goose
                    && !matches!(
                        member.value.text(),
                        Some("stdio" | "sse" | "streamable_http")
                    ) =>
            {
                member.key = "source".to_owned();
                member.value.kind = NodeKind::Text("goose".to_owned());
                self.members.push(member);
                return;
            }
            // Goose lists no tools where all are meant.
            "allowed_tools" if self.client == Client::Goose && member.value.size() == 1 => return,
            // Codex has a table for each tool. Elsewhere an object is a mistake, which must not
            // count as a list that allows everything.
            "allowed_tools"
                if self.client == Client::Codex
                    && matches!(member.value.kind, NodeKind::Object(_)) =>
            {
                return self.read_tool_tables(&member, report);
            }
            "env_passthrough" => names_of(&mut member.value),
            "command" | "cwd" | "env_file" => home_path(&mut member.value),
            "roots" => {
                if let NodeKind::List(roots) = &mut member.value.kind {
                    roots.iter_mut().for_each(home_path);
                }
            }
            "always_allow" => all_or_none(&mut member.value),
            "oauth" => oauth::normalise(&mut member.value, report),
            // `enabled` and `disabled` may both be there: the server is off if either says so.
            "enabled" if self.has("enabled") => return self.merge_switch(&member, false),
            _ => {}
        }
        self.put(field.name, member, report);
    }

    fn convert(&mut self, name: &str, mut member: Member, report: &mut Report) {
        match name {
            "disabled" => match member.value.kind {
                NodeKind::Bool(_) if self.has("enabled") => self.merge_switch(&member, true),
                // Turned around here, so that only `enabled` is read later.
                NodeKind::Bool(is) => {
                    member.value.kind = NodeKind::Bool(!is);
                    self.put("enabled", member, report);
                }
                _ => report.add(
                    Note::error(
                        ProblemKind::WrongType,
                        member.value.span.clone(),
                        format!("`disabled` is {}", member.value.is_a()),
                    )
                    .expecting("`true` or `false`"),
                ),
            },
            "httpUrl" | "serverUrl" => {
                // Gemini's files may have both, and `httpUrl` wins.
                if self.client == Client::Gemini {
                    self.members.retain(|member| member.key != "url");
                }
                self.implied = Some(("http", member.key_span.clone()));
                self.put("url", member, report);
            }
            "startup_timeout_ms" | "tool_timeout_ms" => {
                milliseconds(&mut member.value);
                let is_startup = name == "startup_timeout_ms";
                let name = if is_startup {
                    "connect_timeout"
                } else {
                    "execution_timeout"
                };
                self.put(name, member, report);
            }
            // fastmcp and mcporter: `"auth": "oauth"`.
            "auth" => match member.value.text() {
                Some("oauth") if self.has("oauth") => {}
                Some("oauth") => {
                    member.value.kind = NodeKind::Object(Vec::new());
                    self.put("oauth", member, report);
                }
                _ => unknown(&member, self.client, report),
            },
            // Codex has these beside the block.
            "scopes" | "oauth_resource" => {
                let is_scopes = name == "scopes";
                if is_scopes {
                    oauth::split_scopes(&mut member.value);
                }
                member.key = if is_scopes { "scopes" } else { "resource" }.to_owned();
                self.oauth.push(member);
            }
            "trust" => {
                member.value.kind = match member.value.kind {
                    NodeKind::Bool(true) => {
                        let all =
                            Node::new(member.value.span.clone(), NodeKind::Text("*".to_owned()));
                        NodeKind::List(vec![all])
                    }
                    NodeKind::Bool(false) => return,
                    other => other,
                };
                self.put("always_allow", member, report);
            }
            "bearer_token_env_var" => match member.value.text() {
                Some(variable) if is_name(variable) => {
                    // A placeholder and not the value: nothing is read from the environment before
                    // the approval.
                    let text = format!("Bearer ${{{variable}}}");
                    let value = Node::new(member.value.span.clone(), NodeKind::Text(text));
                    self.headers.push(Member {
                        key: "Authorization".to_owned(),
                        value,
                        ..member
                    });
                }
                _ => report.add(no_variable(&member.value)),
            },
            "env_http_headers" => {
                let Some(headers) = member.value.object() else {
                    let message = format!("`{name}` is {}", member.value.is_a());
                    let note = Note::error(ProblemKind::WrongType, member.key_span, message);
                    report.add(note.expecting("an object: names of headers, and of variables"));
                    return;
                };
                for header in headers {
                    match header.value.text() {
                        Some(variable) if is_name(variable) => {
                            let text = NodeKind::Text(format!("${{{variable}}}"));
                            let value = Node::new(header.value.span.clone(), text);
                            self.headers.push(Member {
                                value,
                                ..header.clone()
                            });
                        }
                        _ => report.add(no_variable(&header.value)),
                    }
                }
            }
            _ => {}
        }
    }

    /// Switches the server off where `enabled` and `disabled` are both there and one of them says so. `off` is the
    /// value with which this member does.
    fn merge_switch(&mut self, member: &Member, off: bool) {
        let is_off = matches!(member.value.kind, NodeKind::Bool(is) if is == off);
        if let Some(known) = self.members.iter_mut().find(|known| known.key == "enabled")
            && is_off
        {
            known.value.kind = NodeKind::Bool(false);
        }
    }

    /// Adds the type and the headers that other keys imply, now that all explicit keys are known.
    fn finish(mut self) -> Vec<Member> {
        if let Some((name, at)) = self.implied.take()
            && !self.has("type")
        {
            self.members.push(Member {
                key: "type".to_owned(),
                key_span: at.clone(),
                value: Node::new(at, NodeKind::Text(name.to_owned())),
            });
        }
        // After all members: the block may come before or after the fields beside it.
        self.finish_oauth();
        if let Some(at) = self.headers.first().map(|header| header.key_span.clone()) {
            let mut members = self.members.iter_mut();
            let known = members.find(|member| member.key == "headers");
            match known.map(|member| &mut member.value.kind) {
                Some(NodeKind::Object(headers)) => headers.extend(self.headers),
                // Of the wrong type, which is reported when it is read.
                Some(_) => {}
                None => self.members.push(Member {
                    key: "headers".to_owned(),
                    key_span: at.clone(),
                    value: Node::new(at, NodeKind::Object(self.headers)),
                }),
            }
        }
        self.members
    }

    /// Adds the members of `oauth` that stood beside it, unless the block has them itself.
    fn finish_oauth(&mut self) {
        let Some(at) = self.oauth.first().map(|member| member.key_span.clone()) else {
            return;
        };
        let mut members = self.members.iter_mut();
        let known = members.find(|member| member.key == "oauth");
        match known.map(|member| &mut member.value.kind) {
            Some(NodeKind::Object(inside)) => {
                for member in self.oauth.drain(..) {
                    // What the block itself says wins over a field beside it.
                    if !inside.iter().any(|known| known.key == member.key) {
                        inside.push(member);
                    }
                }
            }
            // Of the wrong type, which is told when it is read.
            Some(_) => {}
            None => self.members.push(Member {
                key: "oauth".to_owned(),
                key_span: at.clone(),
                value: Node::new(at, NodeKind::Object(self.oauth.drain(..).collect())),
            }),
        }
    }

    /// Reads Codex's tables of single tools, `[mcp_servers.NAME.tools.TOOL]`: those with `approval_mode = "approve"`
    /// become a list of suggestions, those with `enabled = false` a list of blocked tools.
    fn read_tool_tables(&mut self, member: &Member, report: &mut Report) {
        let tables = member.value.object().unwrap_or_default();
        let names = |is_meant: &dyn Fn(&Node) -> bool| {
            let tools = tables.iter().filter(|tool| is_meant(&tool.value));
            let names = tools
                .map(|tool| Node::new(tool.key_span.clone(), NodeKind::Text(tool.key.clone())));
            names.collect::<Vec<Node>>()
        };
        let mode = |tool: &Node| tool.get("approval_mode").and_then(Node::text) == Some("approve");
        let off = |tool: &Node| {
            let enabled = tool.get("enabled").map(|node| &node.kind);
            matches!(enabled, Some(NodeKind::Bool(false)))
        };
        for (field, names) in [
            ("always_allow", names(&mode)),
            ("blocked_tools", names(&off)),
        ] {
            if !names.is_empty() {
                let value = Node::new(member.value.span.clone(), NodeKind::List(names));
                let member = Member {
                    value,
                    ..member.clone()
                };
                self.put(field, member, report);
            }
        }
    }

    /// Zed's older form: `"command": {"path", "args", "env"}`.
    fn command_object(&mut self, member: &Member, report: &mut Report) {
        for part in member.value.object().unwrap_or_default() {
            let name = match part.key.as_str() {
                "path" => "command",
                "args" | "env" => part.key.as_str(),
                _ => {
                    unknown(part, self.client, report);
                    continue;
                }
            };
            self.put(name, part.clone(), report);
        }
    }
}

fn no_variable(node: &Node) -> Note {
    let message = "this is not the name of a variable";
    Note::error(ProblemKind::WrongType, node.span.clone(), message)
        .expecting("the name of a variable of the host, which holds the value")
}

/// Adds the unit to a bare number of milliseconds.
fn milliseconds(node: &mut Node) {
    if let NodeKind::Number(number) = &node.kind {
        node.kind = NodeKind::Text(format!("{number}ms"));
    }
}

/// Converts `[{"name": "X"}]` to `["X"]`; Codex accepts both.
fn names_of(node: &mut Node) {
    if let NodeKind::List(items) = &mut node.kind {
        for item in items {
            if let Some(name) = item.get("name").cloned() {
                *item = name;
            }
        }
    }
}

/// Converts `true` to a list with `*`, and `false` to an empty list.
fn all_or_none(node: &mut Node) {
    if let NodeKind::Bool(all) = node.kind {
        let star = Node::new(node.span.clone(), NodeKind::Text("*".to_owned()));
        node.kind = NodeKind::List(if all { vec![star] } else { Vec::new() });
    }
}

/// Converts `$env:NAME` of mcporter to `${env:NAME}`.
fn dollar_env(text: &str) -> String {
    let mut parts = text.split("$env:");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, rest) = part.split_at(end.unwrap_or(part.len()));
        out.push_str(&format!("${{env:{name}}}{rest}"));
    }
    out
}

/// Converts the placeholders of other clients to ours.
fn translate(node: &mut Node, client: Client) {
    match &mut node.kind {
        NodeKind::Text(text) => match client {
            Client::OpenCode => {
                *text = text.replace("{env:", "${env:").replace("{file:", "${file:");
            }
            Client::Gemini => *text = braced(text),
            Client::Mcporter if !text.contains("${env:") => *text = dollar_env(text),
            _ => {}
        },
        NodeKind::List(items) => items.iter_mut().for_each(|item| translate(item, client)),
        NodeKind::Object(members) => members
            .iter_mut()
            .for_each(|member| translate(&mut member.value, client)),
        NodeKind::Null | NodeKind::Bool(_) | NodeKind::Number(_) => {}
    }
}

/// Converts `$NAME` to `${NAME}`.
fn braced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        // As a shell reads it: the name ends where a character cannot belong to one.
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let (name, behind) = after
            .split_at_checked(end.unwrap_or(after.len()))
            .unwrap_or_default();
        if is_name(name) {
            out.push_str("${");
            out.push_str(name);
            out.push('}');
            rest = behind;
        } else {
            out.push('$');
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

/// Merges the defaults of a file into one of its entries.
pub(super) fn merge(entry: &mut Vec<Member>, defaults: &[Member]) {
    let has = |entry: &[Member], name: &str| entry.iter().any(|member| member.key == name);
    let is_remote = has(entry, "url");
    for default in defaults {
        // A default for processes is not one for URLs, and the other way round: either would be an
        // error in the entry.
        match fields::find(&default.key).map(|field| field.of) {
            Some(Of::Process) if is_remote => continue,
            Some(Of::Remote) if !is_remote => continue,
            None => continue,
            Some(_) => {}
        }
        let known = entry.iter_mut().find(|member| member.key == default.key);
        match known.map(|member| &mut member.value.kind) {
            None => entry.push(default.clone()),
            // Maps are merged; for everything else the entry's own value wins.
            Some(NodeKind::Object(own)) => {
                for member in default.value.object().unwrap_or_default() {
                    if !own
                        .iter()
                        .any(|own| own.key.eq_ignore_ascii_case(&member.key))
                    {
                        own.push(member.clone());
                    }
                }
            }
            Some(_) => {}
        }
    }
}
