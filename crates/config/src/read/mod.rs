//! Reads the fields of an entry into a draft of a server.

pub(super) mod oauth;
#[cfg(test)]
mod oauth_tests;
#[cfg(test)]
mod tests;
mod values;

use std::ops::Range;
use std::time::Duration;

use switchboard_core::limits::{Deadline, Timeouts};
use switchboard_core::secret::SafeUrl;
use switchboard_core::spec::{NameStyle, Protocol, Settings, ToolFilter, TransportKind};
use switchboard_core::text::closest;

use oauth::OAuthDraft;
use values::FieldReader;

use super::fields::{self, Of};
use super::limits::LIMITS;
use super::problem::ProblemKind;
use super::report::{Note, Report, is_secret, quote_name};
use super::tree::{Node, NodeKind};

/// The state of placeholders in an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Not expanded; values with one are not validated yet.
    Written,
    /// Expanded.
    Filled,
}

/// A text and its position.
#[derive(Clone)]
pub(super) struct Text {
    pub(super) text: String,
    pub(super) span: Range<usize>,
}

/// The content of an entry.
pub(super) struct Draft {
    pub(super) is_enabled: bool,
    pub(super) transport: TransportKind,
    pub(super) settings: Settings,
    /// Folders for `settings.roots`, which is still empty.
    pub(super) roots: Vec<Text>,
    pub(super) command: Option<Text>,
    pub(super) args: Vec<Text>,
    pub(super) env: Vec<(String, Text)>,
    pub(super) env_file: Option<Text>,
    pub(super) env_passthrough: Vec<Text>,
    pub(super) cwd: Option<Text>,
    pub(super) url: Option<Text>,
    pub(super) headers: Vec<(String, Text)>,
    pub(super) streamable: bool,
    pub(super) strict_session_id: bool,
    pub(super) override_headers: bool,
    pub(super) follow_redirects: bool,
    pub(super) oauth: Option<OAuthDraft>,
}

/// Reads an entry in our form; returns `None` after reporting errors. `at` is the position of the entry.
pub(super) fn read(
    entry: &Node,
    at: &Range<usize>,
    stage: Stage,
    report: &mut Report,
) -> Option<Draft> {
    let before = report.errors();
    let mut values = FieldReader {
        entry,
        stage,
        report,
    };
    // The transport depends on both, so read command and URL first.
    let (command, args) = command(&mut values);
    let url = values.text("url");
    if let Some(url) = &url {
        check_url(url, &mut values);
    }
    let transport = transport(&mut values, at, command.is_some(), url.is_some());
    let env = values.map("env");
    for (name, text) in &env {
        check_variable(name, text, &mut values);
    }
    let headers = values.map("headers");
    for (name, text) in &headers {
        check_header(name, text, &mut values);
    }
    let draft = Draft {
        is_enabled: values.bool("enabled").unwrap_or(true),
        transport: transport.unwrap_or(TransportKind::Stdio),
        settings: settings(&mut values),
        roots: values.list("roots").unwrap_or_default(),
        command,
        args,
        env,
        env_file: values.text("env_file"),
        env_passthrough: passthrough(&mut values),
        cwd: values.text("cwd"),
        url,
        headers,
        streamable: values.bool("streamable").unwrap_or(true),
        strict_session_id: values.bool("strict_session_id").unwrap_or(false),
        override_headers: values.bool("override_headers").unwrap_or(false),
        follow_redirects: values.bool("follow_redirects").unwrap_or(true),
        oauth: oauth::read(&mut values, transport),
    };
    // Warn once, when the file is loaded, and not again after expansion.
    if stage == Stage::Written {
        unused(entry, draft.transport, report);
    }
    (report.errors() == before).then_some(draft)
}

/// Reads the command and its arguments, in either of their two forms.
fn command(values: &mut FieldReader<'_>) -> (Option<Text>, Vec<Text>) {
    let args = values.list("args");
    let Some(member) = values.entry.member("command") else {
        return (None, args.unwrap_or_default());
    };
    let node = &member.value;
    match &node.kind {
        NodeKind::List(_) => {
            let mut parts = values.list("command").unwrap_or_default().into_iter();
            let command = parts.next();
            if command
                .as_ref()
                .is_none_or(|command| command.text.trim().is_empty())
            {
                values.add(empty_command(node));
            }
            if let (Some(_), Some(args)) = (&args, values.entry.member("args")) {
                let message = "`args` beside a command that is a list";
                let at = args.key_span.clone();
                let note = Note::warning(ProblemKind::Suspicious, at, message);
                values.add(note.hint("they are put behind it; write all of them in one place"));
            }
            let args = parts.chain(args.unwrap_or_default()).collect();
            (command, args)
        }
        NodeKind::Text(text) => {
            if text.trim().is_empty() {
                values.add(empty_command(node));
            } else if args.is_none() && is_command_line(text) {
                let message = "the command has a space in it";
                let note = Note::warning(ProblemKind::Suspicious, node.span.clone(), message);
                values.add(
                    note.hint(
                        "no shell takes it apart: put the arguments into `args`, one text each",
                    ),
                );
            }
            (values.text("command"), args.unwrap_or_default())
        }
        _ => {
            values.wrong(node, "a text, or a list of texts");
            (None, Vec::new())
        }
    }
}

fn empty_command(node: &Node) -> Note {
    let message = "the command is empty";
    Note::error(ProblemKind::WrongType, node.span.clone(), message)
        .expecting("the name or the path of a program")
}

/// Returns true if a command looks like a command line rather than like a path with a space.
fn is_command_line(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    words.next().is_some() && !first.contains(['/', '\\'])
}

/// Determines the transport, which must be unambiguous.
fn transport(
    values: &mut FieldReader<'_>,
    at: &Range<usize>,
    has_command: bool,
    has_url: bool,
) -> Option<TransportKind> {
    let said = values.entry.member("type");
    let kind = match said.map(|member| (&member.value, member.value.text())) {
        None => None,
        Some((_, Some(text))) if text.parse::<TransportKind>().is_ok() => {
            text.parse::<TransportKind>().ok()
        }
        Some((node, text)) => {
            let note = Note::error(
                ProblemKind::WrongType,
                node.span.clone(),
                "this is no type of a server",
            );
            let note = note.expecting("`stdio`, `http` or `sse`");
            let note = match text {
                Some(text) => note.did_you_mean(text, &["stdio", "http", "sse"]),
                None => note,
            };
            values.add(note);
            return None;
        }
    };
    let has_command = has_command || values.entry.member("command").is_some();
    let has_url = has_url || values.entry.member("url").is_some();
    let said = said.map_or_else(|| at.clone(), |member| member.value.span.clone());
    let note = match (has_command, has_url, kind) {
        // Command and URL contradict each other, whatever the type says.
        (true, true, _) => Note::error(
            ProblemKind::BothTransports,
            at.clone(),
            "both `command` and `url` are there",
        )
        .expecting("one of the two")
        .hint("make two servers of it, or remove one of the keys"),
        (false, false, _) => neither(values, at),
        (true, false, Some(kind)) if kind != TransportKind::Stdio => Note::error(
            ProblemKind::TransportMismatch,
            said,
            "the type is that of a server with a URL, and there is a command",
        )
        .hint("write `\"type\": \"stdio\"`, or remove the type"),
        (false, true, Some(TransportKind::Stdio)) => Note::error(
            ProblemKind::TransportMismatch,
            said,
            "the type is that of a server with a command, and there is a URL",
        )
        .hint("write `\"type\": \"http\"`, or remove the type"),
        (true, false, _) => return Some(TransportKind::Stdio),
        (false, true, kind) => return Some(kind.unwrap_or(TransportKind::Http)),
    };
    values.add(note);
    None
}

/// Describes an entry without a transport, often one with a misspelled key.
fn neither(values: &FieldReader<'_>, at: &Range<usize>) -> Note {
    let source = values.entry.get("source").and_then(Node::text);
    let built_in = match source {
        Some("extension") => Some("it comes with a Zed extension, and cannot be copied"),
        Some("goose") => Some("it is built into Goose, and cannot be copied"),
        _ => None,
    };
    if let Some(message) = built_in {
        return Note::error(ProblemKind::NoTransport, at.clone(), message);
    }
    let note = Note::error(
        ProblemKind::NoTransport,
        at.clone(),
        "neither `command` nor `url` is there",
    )
    .expecting("`command` for a program that is started, or `url` for a server that runs");
    let members = values.entry.object().unwrap_or_default().iter();
    let keys = members.map(|member| member.key.as_str());
    let keys: Vec<&str> = keys.filter(|key| !is_secret(key)).collect();
    let meant = ["command", "url"].into_iter().find_map(|meant| {
        let key = closest(meant, &keys)?;
        Some((key, meant))
    });
    match meant {
        Some((key, meant)) => note.hint(format!("write `{meant}` for {}", quote_name(key))),
        None => note,
    }
}

fn settings(values: &mut FieldReader<'_>) -> Settings {
    let defaults = Settings::default();
    let allow = values.names("allowed_tools");
    Settings {
        timeouts: timeouts(values),
        protocol: values
            .parsed::<Protocol>("protocol", "`auto`, `legacy` or `2026-07-28`")
            .unwrap_or_default(),
        max_retries: values.count("max_retries"),
        retry_backoff: values.time("retry_backoff"),
        message_bytes: values.size("message_bytes"),
        cache_tools_list: values
            .bool("cache_tools_list")
            .unwrap_or(defaults.cache_tools_list),
        reconnect: values.bool("reconnect").unwrap_or(defaults.reconnect),
        max_reconnect_attempts: values
            .count("max_reconnect_attempts")
            .unwrap_or(defaults.max_reconnect_attempts),
        fail_if_no_tools: values
            .bool("fail_if_no_tools")
            .unwrap_or(defaults.fail_if_no_tools),
        tools: ToolFilter {
            allow: allow.filter(|names| !names.iter().any(|name| name == "*")),
            block: values.names("blocked_tools").unwrap_or_default(),
        },
        tool_predicates: Vec::new(),
        name_style: values
            .parsed::<NameStyle>("name_style", "`mcp__server__tool` or `mcp_server_tool`"),
        clean_arguments: values
            .bool("clean_arguments")
            .unwrap_or(defaults.clean_arguments),
        idempotent_tools: values.names("idempotent_tools").unwrap_or_default(),
        roots: Vec::new(),
        sampling: values.bool("sampling").unwrap_or(defaults.sampling),
        suggested_tools: values.names("always_allow").unwrap_or_default(),
    }
}

fn timeouts(values: &mut FieldReader<'_>) -> Timeouts {
    let defaults = Deadline::default();
    // A longer idle time implies at least that much in total.
    let deadline = |idle: Duration| Deadline {
        idle,
        total: defaults.total.max(idle),
    };
    let all = values.time("timeout").map_or(defaults, deadline);
    let mut one = |key| values.time(key).map_or(all, deadline);
    Timeouts {
        connect: one("connect_timeout"),
        discovery: one("discovery_timeout"),
        execution: one("execution_timeout"),
    }
}

fn passthrough(values: &mut FieldReader<'_>) -> Vec<Text> {
    let names = values.list("env_passthrough").unwrap_or_default();
    for name in &names {
        if values.is_filled(&name.text) && !is_variable(&name.text) {
            values.add(bad_variable(&name.span));
        }
    }
    names
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

fn bad_variable(span: &Range<usize>) -> Note {
    let message = "this cannot be the name of a variable";
    Note::error(ProblemKind::BadVariable, span.clone(), message)
        .expecting("a name without `=` and NUL")
}

fn check_variable(name: &str, value: &Text, values: &mut FieldReader<'_>) {
    if !is_variable(name) {
        values.add(bad_variable(&value.span));
    } else if value.text.contains('\0') {
        let message = "a NUL character in the value of a variable";
        let note = Note::error(ProblemKind::BadVariable, value.span.clone(), message);
        values.add(note.expecting("a text without it"));
    }
}

fn check_header(name: &str, value: &Text, values: &mut FieldReader<'_>) {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(is_token) {
        let message = "this cannot be the name of a header";
        let note = Note::error(ProblemKind::BadHeader, value.span.clone(), message);
        values.add(note.expecting("letters, digits and dashes"));
    } else if value.text.contains(|c: char| c.is_control() && c != '\t') {
        let message = "a control character in the value of a header";
        let note = Note::error(ProblemKind::BadHeader, value.span.clone(), message);
        values.add(note.hint("look for a line end in the variable or the file it comes from"));
    }
}

fn check_url(url: &Text, values: &mut FieldReader<'_>) {
    if !values.is_filled(&url.text) {
        return;
    }
    let parsed = SafeUrl::parse(&url.text);
    let is_http = |url: &SafeUrl| matches!(url.expose().scheme(), "http" | "https");
    if !parsed.as_ref().is_ok_and(is_http) {
        let message = match parsed {
            Ok(_) => "the URL does not begin with `http://` or `https://`",
            Err(_) => "this is no URL",
        };
        let note = Note::error(ProblemKind::BadUrl, url.span.clone(), message);
        values.add(note.expecting("a whole URL: `https://example.com/mcp`"));
    }
}

/// Reports fields that apply to the other kind of servers.
fn unused(entry: &Node, transport: TransportKind, report: &mut Report) {
    let other = match transport {
        TransportKind::Stdio => Of::Remote,
        TransportKind::Http | TransportKind::StreamableHttp | TransportKind::Sse => Of::Process,
    };
    for member in entry.object().unwrap_or_default() {
        let is_other = fields::find(&member.key).is_some_and(|field| field.of == other);
        if is_other && !matches!(member.key.as_str(), "url" | "command") {
            let whose = match other {
                Of::Remote => "with a URL",
                _ => "that are started",
            };
            let message = format!("`{}` is for servers {whose} and has no effect", member.key);
            let at = member.key_span.clone();
            report.add(Note::warning(ProblemKind::Unused, at, message).hint("remove it"));
        }
    }
}

/// Returns true if a bare number of seconds is so large that milliseconds may have been meant.
fn is_doubtful(time: Duration) -> bool {
    time > LIMITS.plain_seconds
}
