//! `switchboard config show`: the entries as the files write them, masked, with their approvals.

use serde::Serialize;
use serde_json::{Map, Value};
use switchboard::config::{Entry, Problem};
use switchboard::text::sanitise_line;

use crate::approvals::{Approval, Approvals};
use crate::args::ConfigShow;
use crate::editing::result;
use crate::problems::{self, Source};
use crate::report::Failure;
use crate::scope::{Files, place};
use crate::screen::{Screen, talk};

/// Shows the servers as the config files describe them.
pub(super) fn show(args: &ConfigShow, screen: &Screen) -> Result<(), Failure> {
    let files = Files::read(args.config.as_deref())?;
    let entries: Vec<&Entry> = match &args.name {
        Some(name) => vec![files.entry(name)?],
        None => files.config.entries().iter().collect(),
    };
    let approvals = Approvals::of(&files.config, &files.environment)?;
    let mut shown = Vec::new();
    for entry in entries {
        // The files can be shown even if the approval store cannot be read.
        let (approval, fingerprint) = match approvals.look(entry) {
            Ok((approval, question)) => (approval, question.map(|question| question.fingerprint)),
            Err(_) => (Approval::Unknown, None),
        };
        shown.push(ShownEntry {
            entry,
            fields: entry.masked(),
            approval,
            fingerprint: fingerprint.map(|fingerprint| fingerprint.to_string()),
        });
    }
    if screen.is_json() {
        let problems = files.config.problems().iter();
        let is_meant =
            |problem: &&Problem| args.name.is_none() || problem.server() == args.name.as_deref();
        return result(
            &Everything {
                servers: shown.iter().map(ShownEntry::item).collect(),
                problems: problems::items(problems.filter(is_meant)),
            },
            screen,
        );
    }
    if args.name.is_none() {
        problems::mention(&files.config, screen);
        if shown.is_empty() {
            talk("no servers are configured; `switchboard config path` lists the config files\n");
        }
    }
    let texts: Vec<String> = shown.iter().map(ShownEntry::text).collect();
    screen.result(&texts.join("\n"))
}

/// A config entry to show, with its approval.
struct ShownEntry<'c> {
    entry: &'c Entry,
    fields: Map<String, Value>,
    approval: Approval,
    fingerprint: Option<String>,
}

impl<'c> ShownEntry<'c> {
    fn text(&self) -> String {
        let entry = self.entry;
        let mut lines = vec![
            entry.name().to_string(),
            format!("  from: {}", place(entry.origin())),
        ];
        for (field, value) in &self.fields {
            match (field.as_str(), value) {
                // Shown together with the command.
                ("args", _) => {}
                ("command", value) => {
                    let args = self.fields.get("args").and_then(Value::as_array);
                    let words = std::iter::once(value).chain(args.into_iter().flatten());
                    let words: Vec<String> = words.map(word).collect();
                    lines.push(format!("  command: {}", words.join(" ")));
                }
                ("env", Value::Object(members)) => {
                    let members = members.iter();
                    lines.extend(
                        members.map(|(name, value)| format!("  env: {name}={}", word(value))),
                    );
                }
                ("headers", Value::Object(members)) => {
                    let members = members.iter();
                    lines.extend(
                        members.map(|(name, value)| format!("  header: {name}: {}", bare(value))),
                    );
                }
                // Shown below, only for a disabled server.
                ("enabled", _) => {}
                (field, value) => lines.push(format!("  {field}: {}", bare(value))),
            }
        }
        if !entry.is_enabled() {
            lines.push("  disabled: `switchboard enable` enables it".to_owned());
        }
        lines.push(match self.approval {
            Approval::NotNeeded => "  approval: not needed".to_owned(),
            Approval::Given => "  approval: given".to_owned(),
            Approval::Unknown => {
                "  approval: unknown; `switchboard trust list` shows why".to_owned()
            }
            Approval::New => "  approval: needed; `switchboard trust approve` asks".to_owned(),
            Approval::Changed => {
                "  approval: outdated (the entry has changed); `switchboard trust approve` asks again"
                    .to_owned()
            }
        });
        let hidden = entry.shadows().iter();
        lines.extend(hidden.map(|origin| format!("  hides: {}", place(origin))));
        let lines = lines
            .iter()
            .map(|line| format!("{}\n", sanitise_line(line)));
        lines.collect()
    }

    fn item(&self) -> EntryItem<'_> {
        let entry = self.entry;
        EntryItem {
            server: entry.name().as_str(),
            transport: entry.transport().to_string(),
            enabled: entry.is_enabled(),
            approval: self.approval.word(),
            fingerprint: self.fingerprint.as_deref(),
            source: Source::of(entry.origin()),
            hides: entry.shadows().iter().map(Source::of).collect(),
            entry: &self.fields,
        }
    }
}

/// Formats a value for people: a string without its quotes.
fn bare(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Formats a value as one word: quoted if it is empty or contains spaces.
fn word(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() && !text.contains(char::is_whitespace) => {
            text.clone()
        }
        other => other.to_string(),
    }
}

/// The document of `config show --json`: see `docs/editing.md`.
#[derive(Serialize)]
struct Everything<'a> {
    servers: Vec<EntryItem<'a>>,
    problems: Vec<problems::ProblemItem<'a>>,
}

#[derive(Serialize)]
struct EntryItem<'a> {
    server: &'a str,
    transport: String,
    enabled: bool,
    approval: &'a str,
    fingerprint: Option<&'a str>,
    source: Source,
    hides: Vec<Source>,
    entry: &'a Map<String, Value>,
}
