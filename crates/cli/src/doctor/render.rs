//! Findings as text and as JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use switchboard::text::{excerpt, sanitise_line};
use switchboard_terminal::count::count as many;
use switchboard_terminal::wrap::wrap;

use super::{Check, Examination, Examined, Finding};
use crate::problems::Source;
use crate::screen::Screen;
use crate::status_table::{StatusRow, short_place, status_table};
use crate::style::Style;

/// Maximum length of a line; servers write some of them.
const LONGEST: usize = 1000;

impl Check {
    /// The stable word for text and JSON: see `docs/cli.md`.
    fn word(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::Approval => "approval",
            Self::Program => "program",
            Self::Start => "start",
            Self::Listing => "listing",
            Self::Answer => "answer",
            Self::Definitions => "definitions",
            Self::Schemas => "schemas",
            Self::Names => "names",
            Self::Context => "context",
            Self::Changes => "changes",
            Self::Messages => "messages",
            Self::Packages => "packages",
            Self::Leftovers => "leftovers",
            Self::State => "state",
        }
    }
}

/// Formats an examination for people: the table, the findings below it, and the summary.
pub(crate) fn text(all: &Examination, columns: Option<usize>, screen: &Screen) -> String {
    let rows: Vec<StatusRow> = all.servers.iter().map(row).collect();
    let table = status_table(&rows, columns, screen).unwrap_or_else(|| heads(all, columns, screen));
    let style = Style::of_stdout();
    let mut groups = vec![("general".to_owned(), &all.general)];
    groups.extend(
        all.servers
            .iter()
            .map(|server| (server.name.to_string(), &server.findings)),
    );
    let mut out = if rows.is_empty() {
        String::new()
    } else {
        table
    };
    for (title, findings) in groups.iter().filter(|(_, found)| !found.is_empty()) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("{}\n", style.strong(&safe(title, screen))));
        let mut lines = Vec::new();
        findings.iter().for_each(|found| finding(found, &mut lines));
        for line in lines {
            let line = format!("{}\n", safe(&line, screen));
            out.push_str(&wrap(&style.code(&line), columns));
        }
    }
    out.push_str(&format!("\n{}\n", summary(all)));
    out
}

fn safe(line: &str, screen: &Screen) -> String {
    // Redacted before it is cut, and made safe for the terminal last.
    let line = excerpt(&screen.redact(line), LONGEST);
    sanitise_line(line.trim_end()).into_owned()
}

fn row(server: &Examined) -> StatusRow {
    // Counts are known only of a server that was connected.
    let is_known = server.took.is_some();
    StatusRow {
        mark: server.mark(),
        name: server.name.to_string(),
        status: server.words(),
        protocol: server.version.clone().filter(|_| is_known),
        tools: is_known.then_some(server.offers.tools),
        tokens: is_known.then_some(server.tokens),
        latency: server.answered,
        config: short_place(&server.origin),
    }
}

/// Formats one line for each server, where the terminal is too narrow for a table.
fn heads(all: &Examination, columns: Option<usize>, screen: &Screen) -> String {
    let lines = all.servers.iter().map(|server| {
        let line = format!("{}: {}\n", server.name, server.words());
        let line = safe(&line, screen);
        format!("{}\n", wrap(&line, columns))
    });
    lines.collect()
}

/// Formats the summary line.
fn summary(all: &Examination) -> String {
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    for server in &all.servers {
        // By their words, so that the summary uses the same ones as the table.
        *states.entry(server.words()).or_default() += 1;
    }
    let servers = many(all.servers.len(), "server");
    let states: Vec<(String, usize)> = states.into_iter().collect();
    match states.as_slice() {
        [] => servers,
        [(words, 1)] => format!("{servers}: {words}"),
        [(words, 2)] => format!("{servers}: both {}", plural(words)),
        [(words, _)] => format!("{servers}: all {}", plural(words)),
        states => {
            let parts = states.iter().map(|(words, count)| match count {
                1 => format!("1 {words}"),
                count => format!("{count} {}", plural(words)),
            });
            let parts: Vec<String> = parts.collect();
            format!("{servers}: {}", parts.join(", "))
        }
    }
}

/// Returns the words for several servers: `need approval`.
fn plural(words: &str) -> String {
    match words.strip_prefix("needs ") {
        Some(rest) => format!("need {rest}"),
        None => words.to_owned(),
    }
}

fn finding(found: &Finding, lines: &mut Vec<String>) {
    let mark = match found.exit {
        Some(_) => "!",
        None => "-",
    };
    lines.push(format!("  {mark} {}: {}", found.check.word(), found.text));
    let facts = found.facts.iter();
    lines.extend(facts.map(|(name, value)| format!("      {name}: {value}")));
    for (title, proof) in &found.evidence {
        lines.push(format!("      {title}:"));
        lines.extend(proof.iter().map(|line| format!("        | {line}")));
    }
    let causes = found.causes.iter();
    lines.extend(causes.map(|cause| format!("      possible cause: {cause}")));
    let fixes = found.fixes.iter();
    lines.extend(fixes.map(|fix| format!("      fix: {fix}")));
}

/// The document of `doctor --json`: see `docs/cli.md`.
#[derive(Serialize)]
pub(crate) struct DoctorDocument<'a> {
    exit: u8,
    findings: Vec<FindingItem<'a>>,
    servers: Vec<ServerFindings<'a>>,
}

#[derive(Serialize)]
struct ServerFindings<'a> {
    server: &'a str,
    state: &'static str,
    transport: Option<&'a str>,
    version: Option<&'a str>,
    program: Option<String>,
    source: Option<Source>,
    took_ms: Option<u128>,
    latency_ms: Option<u128>,
    tools: usize,
    resources: usize,
    templates: usize,
    prompts: usize,
    findings: Vec<FindingItem<'a>>,
}

#[derive(Serialize)]
struct FindingItem<'a> {
    check: &'static str,
    broken: bool,
    exit: Option<u8>,
    message: &'a str,
    facts: Vec<FactItem<'a>>,
    evidence: Vec<EvidenceItem<'a>>,
    causes: &'a [String],
    hints: &'a [String],
}

#[derive(Serialize)]
struct FactItem<'a> {
    name: &'a str,
    value: &'a str,
}

#[derive(Serialize)]
struct EvidenceItem<'a> {
    title: &'a str,
    lines: &'a [String],
}

/// Builds the document of an examination.
pub(crate) fn document(all: &Examination) -> DoctorDocument<'_> {
    let servers = all.servers.iter().map(|server| ServerFindings {
        server: server.name.as_str(),
        state: server.state,
        transport: server.transport.as_deref(),
        version: server.version.as_deref(),
        program: server
            .program
            .as_ref()
            .map(|path| path.display().to_string()),
        source: server
            .origin
            .file
            .as_ref()
            .map(|_| Source::of(&server.origin)),
        took_ms: server.took.map(|took| took.as_millis()),
        latency_ms: server.answered.map(|took| took.as_millis()),
        tools: server.offers.tools,
        resources: server.offers.resources,
        templates: server.offers.templates,
        prompts: server.offers.prompts,
        findings: server.findings.iter().map(item).collect(),
    });
    DoctorDocument {
        exit: all.exit().number(),
        findings: all.general.iter().map(item).collect(),
        servers: servers.collect(),
    }
}

fn item(found: &Finding) -> FindingItem<'_> {
    let facts = found
        .facts
        .iter()
        .map(|(name, value)| FactItem { name, value });
    let evidence = found.evidence.iter();
    FindingItem {
        check: found.check.word(),
        broken: found.exit.is_some(),
        exit: found.exit.map(crate::exit::Exit::number),
        message: &found.text,
        facts: facts.collect(),
        evidence: evidence
            .map(|(title, lines)| EvidenceItem { title, lines })
            .collect(),
        causes: &found.causes,
        hints: &found.fixes,
    }
}
