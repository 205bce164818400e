//! Findings as text and as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use switchboard::text::{excerpt, sanitise_line};

use super::{Check, Examination, Examined, Finding};
use crate::problems::Source;
use crate::scope::place;
use crate::screen::Screen;

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
            Self::Changes => "changes",
            Self::Messages => "messages",
            Self::Packages => "packages",
            Self::Leftovers => "leftovers",
            Self::State => "state",
        }
    }
}

/// Formats an examination for people.
pub(crate) fn text(all: &Examination, screen: &Screen) -> String {
    let mut lines = Vec::new();
    if !all.general.is_empty() {
        lines.push("in general".to_owned());
        all.general
            .iter()
            .for_each(|found| finding(found, &mut lines));
    }
    for server in &all.servers {
        lines.push(head(server));
        server
            .findings
            .iter()
            .for_each(|found| finding(found, &mut lines));
    }
    let lines = lines.iter().map(|line| {
        // Redacted before it is cut, and made safe for the terminal last.
        let line = excerpt(&screen.redact(line), LONGEST);
        format!("{}\n", sanitise_line(line.trim_end()))
    });
    lines.collect()
}

/// Formats the summary line.
pub(crate) fn summary(all: &Examination) -> String {
    let many =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mut states: BTreeMap<String, usize> = BTreeMap::new();
    for server in &all.servers {
        // By their words, so that the summary uses the same ones as the list.
        *states.entry(server.words()).or_default() += 1;
    }
    let parts = states
        .iter()
        .map(|(words, count)| format!("{count} {words}"));
    let parts: Vec<String> = parts.collect();
    let servers = many(all.servers.len(), "server");
    if parts.is_empty() {
        servers
    } else {
        format!("{servers}: {}", parts.join(", "))
    }
}

/// Formats the line of a server: name, state and key figures.
fn head(server: &Examined) -> String {
    let mut words = Vec::new();
    words.extend(server.version.clone());
    words.extend(server.transport.clone());
    // Counts are known only of a server that was connected.
    if server.took.is_some() {
        let offers = &server.offers;
        for (count, what) in [
            (offers.tools, "tool"),
            (offers.resources, "resource"),
            (offers.prompts, "prompt"),
        ] {
            words.push(format!(
                "{count} {what}{}",
                if count == 1 { "" } else { "s" }
            ));
        }
    }
    let ms = |time: Duration| time.as_millis();
    words.extend(
        server
            .took
            .map(|took| format!("connected in {} ms", ms(took))),
    );
    words.extend(
        server
            .answered
            .map(|took| format!("answers in {} ms", ms(took))),
    );
    if server.origin.file.is_some() {
        words.push(place(&server.origin));
    }
    format!("{}: {}  {}", server.name, server.words(), words.join(", "))
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
    lines.extend(causes.map(|cause| format!("      perhaps: {cause}")));
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
