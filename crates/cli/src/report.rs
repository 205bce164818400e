//! What went wrong, as a person or a program reads it.

use std::path::Path;

use serde::Serialize;
use switchboard::protocol::Raw;
use switchboard::secret::Redactor;
use switchboard::spec::Layer;
use switchboard::text::{excerpt, sanitise_line, write_json_safe};
use switchboard::transport::FaultKind;
use switchboard::{Error, ErrorKind, explain};

use crate::exit::Exit;
use crate::secrets::redact_json;

/// The longest line of a report; servers write some of them.
const LONGEST_LINE: usize = 1000;

/// What went wrong, ready to be shown.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) exit: Exit,
    /// A word for programs.
    kind: &'static str,
    /// What went wrong, in one line.
    message: String,
    server: Option<String>,
    /// What the server is.
    command: Option<String>,
    source: Option<Source>,
    facts: Vec<(String, String)>,
    evidence: Vec<(String, Vec<String>)>,
    causes: Vec<String>,
    hints: Vec<String>,
    /// What the server answered, where it answered with an error.
    rpc: Option<Raw>,
    /// What happened on the network, as a word, and the status where there was one.
    fault: Option<(&'static str, Option<u16>)>,
}

/// Where the server is described.
#[derive(Debug, Serialize)]
struct Source {
    file: Option<String>,
    layer: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
}

/// Why a command did not do what it was asked for.
pub(crate) type Failure = Box<Report>;

impl Report {
    /// A report with nothing but its title.
    pub(crate) fn new(exit: Exit, kind: &'static str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            exit,
            kind,
            message: message.into(),
            server: None,
            command: None,
            source: None,
            facts: Vec::new(),
            evidence: Vec::new(),
            causes: Vec::new(),
            hints: Vec::new(),
            rpc: None,
            fault: None,
        })
    }

    /// A mistake on the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Box<Self> {
        Self::new(Exit::Usage, "usage", message)
    }

    /// Names the server.
    pub(crate) fn server(mut self: Box<Self>, name: impl Into<String>) -> Box<Self> {
        self.server = Some(name.into());
        self
    }

    /// Adds something that is known.
    pub(crate) fn fact(
        mut self: Box<Self>,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Box<Self> {
        self.facts.push((name.into(), value.into()));
        self
    }

    /// Says which file it is about, and where in it: line and column.
    pub(crate) fn described_at(
        mut self: Box<Self>,
        layer: &Layer,
        file: &Path,
        at: Option<(usize, usize)>,
    ) -> Box<Self> {
        self.source = Some(Source {
            file: Some(file.display().to_string()),
            layer: Some(layer.to_string()),
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
        });
        match at {
            Some((line, column)) => self.fact("at", format!("line {line}, column {column}")),
            None => self,
        }
    }

    /// Adds lines that show what it is about.
    pub(crate) fn evidence(
        mut self: Box<Self>,
        title: impl Into<String>,
        lines: Vec<String>,
    ) -> Box<Self> {
        self.evidence.push((title.into(), lines));
        self
    }

    /// Says what happened on the network.
    pub(crate) fn fault(mut self: Box<Self>, word: &'static str, status: Option<u16>) -> Box<Self> {
        self.fault = Some((word, status));
        self
    }

    /// Adds something to do about it.
    pub(crate) fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hints.push(hint.into());
        self
    }

    /// Writes it for a terminal, without secrets and without anything that a terminal obeys.
    pub(crate) fn text(&self, secrets: &Redactor) -> String {
        let whole = |text: &str| sanitise_line(&secrets.redact(text)).into_owned();
        let line =
            |text: &str| sanitise_line(&excerpt(&secrets.redact(text), LONGEST_LINE)).into_owned();
        let mut out = format!("error: {}\n", line(&self.message));
        let mut facts: Vec<(&str, &str)> = Vec::new();
        facts.extend(self.server.as_deref().map(|name| ("server", name)));
        facts.extend(
            self.command
                .as_deref()
                .and_then(|command| self.place(command)),
        );
        let file = self
            .source
            .as_ref()
            .and_then(|source| source.file.as_deref());
        facts.extend(file.map(|file| ("file", file)));
        facts.extend(
            self.facts
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
        for (name, value) in facts {
            out.push_str(&format!("  {}: {}\n", line(name), line(value)));
        }
        for (title, lines) in &self.evidence {
            out.push_str(&format!("  {}:\n", line(title)));
            for text in lines {
                // What is to be approved must be seen to its end.
                let text = match self.exit {
                    Exit::Denied | Exit::Changed => whole(text),
                    _ => line(text),
                };
                out.push_str(&format!("    | {text}\n"));
            }
        }
        for (title, lines) in [
            ("possible causes", &self.causes),
            ("what to do", &self.hints),
        ] {
            if !lines.is_empty() {
                out.push_str(&format!("  {title}:\n"));
            }
            for text in lines {
                out.push_str(&format!("    - {}\n", line(text)));
            }
        }
        out
    }

    /// What the server is: a command, or a URL where none of the facts has it.
    fn place<'c>(&self, identity: &'c str) -> Option<(&'static str, &'c str)> {
        let url = identity.strip_prefix("http:");
        match url.or_else(|| identity.strip_prefix("sse:")) {
            None => Some(("command", identity)),
            Some(_) if self.facts.iter().any(|(name, _)| name == "url") => None,
            Some(url) => Some(("url", url)),
        }
    }

    /// Writes it as one line of JSON, without secrets.
    pub(crate) fn json(&self, secrets: &Redactor) -> String {
        let plain = |text: &str| secrets.redact(text).into_owned();
        let all = |lines: &[String]| lines.iter().map(|text| plain(text)).collect::<Vec<_>>();
        let optional = |text: &Option<String>| text.as_deref().map(plain);
        let document = Document {
            exit: self.exit.number(),
            kind: self.kind,
            server: optional(&self.server),
            command: optional(&self.command),
            message: plain(&self.message),
            source: self.source.as_ref(),
            facts: self
                .facts
                .iter()
                .map(|(name, value)| Fact {
                    name: plain(name),
                    value: plain(value),
                })
                .collect(),
            evidence: self
                .evidence
                .iter()
                .map(|(title, lines)| Evidence {
                    title: plain(title),
                    lines: all(lines),
                })
                .collect(),
            causes: all(&self.causes),
            hints: all(&self.hints),
            fault: self.fault.map(|(word, _)| word),
            status: self.fault.and_then(|(_, status)| status),
            // Redacting keeps it JSON.
            rpc: self
                .rpc
                .as_ref()
                .and_then(|rpc| Raw::parse(&redact_json(secrets, rpc)).ok()),
        };
        // Nothing in it has no JSON form.
        let text = serde_json::to_string(&document).unwrap_or_default();
        format!("{}\n", write_json_safe(&text))
    }
}

/// The error object of `--json`: see `docs/cli.md`.
#[derive(Serialize)]
struct Document<'a> {
    exit: u8,
    kind: &'a str,
    server: Option<String>,
    command: Option<String>,
    message: String,
    source: Option<&'a Source>,
    facts: Vec<Fact>,
    evidence: Vec<Evidence>,
    causes: Vec<String>,
    hints: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rpc: Option<Raw>,
}

#[derive(Serialize)]
struct Fact {
    name: String,
    value: String,
}

#[derive(Serialize)]
struct Evidence {
    title: String,
    lines: Vec<String>,
}

impl From<Error> for Box<Report> {
    fn from(error: Error) -> Self {
        let diagnosis = explain(&error);
        let context = diagnosis.context;
        let mut report = Report::new(Exit::of(&error), kind(&error), diagnosis.title);
        report.server = context.server.map(|name| name.to_string());
        report.command = context.identity;
        report.source = context.file.map(|file| Source {
            file: Some(file.display().to_string()),
            layer: context.layer,
            line: context.line,
            column: context.column,
        });
        let facts = diagnosis.facts.into_iter();
        report.facts = facts
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let evidence = diagnosis.evidence.into_iter();
        report.evidence = evidence
            .map(|(title, lines)| (title.to_owned(), lines))
            .collect();
        report.causes = diagnosis.causes;
        report.hints = diagnosis.steps;
        let fault = error.fault().map(|fault| &fault.kind);
        report.fault = fault.map(|fault| (word(fault), fault.status()));
        report.rpc = error.rpc().map(|rpc| rpc.raw().clone());
        report
    }
}

fn kind(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::Configuration => "configuration",
        ErrorKind::Untrusted => "untrusted",
        ErrorKind::NotFound => "not-found",
        ErrorKind::Connect => "connect",
        ErrorKind::Authorization => "authorization",
        ErrorKind::Timeout => "timeout",
        ErrorKind::Closed => "closed",
        ErrorKind::Rpc => "rpc",
        ErrorKind::Protocol => "protocol",
        ErrorKind::NotOffered => "not-offered",
        ErrorKind::Input => "input",
        ErrorKind::Arguments => "arguments",
        _ => "internal",
    }
}

/// What happened on the network, for programs: see `docs/cli.md`.
fn word(fault: &FaultKind) -> &'static str {
    match fault {
        FaultKind::Resolve { .. } => "dns",
        FaultKind::Forbidden { .. } => "forbidden",
        FaultKind::Connect { .. } => "connect",
        FaultKind::Tls { .. } => "tls",
        FaultKind::Interrupted { .. } => "interrupted",
        FaultKind::Status { .. } => "status",
        FaultKind::Redirect { .. } => "redirect",
        FaultKind::ContentType { .. } => "content-type",
        FaultKind::NoAnswer { .. } => "no-answer",
        FaultKind::StreamRefused => "stream",
        FaultKind::TooLarge { .. } => "too-large",
        FaultKind::SessionLost { .. } => "session",
        FaultKind::SessionId { .. } => "session-id",
        FaultKind::TooManyAttempts { .. } => "attempts",
        _ => "network",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Box<Report> {
        let mut report = Report::usage("it \u{1b}[31mfailed with s3cr3t")
            .server("demo")
            .fact("code", "7")
            .hint("try again");
        report.evidence = vec![(
            "last lines of stderr".to_owned(),
            vec!["a s3cr3t\u{7}".to_owned()],
        )];
        report.causes = vec!["chance".to_owned()];
        report.rpc = Some(Raw::parse(r#"{"code":-1,"message":"s3cr3t","z":1.0}"#).unwrap());
        report
    }

    fn secrets() -> Redactor {
        ["s3cr3t"].into_iter().collect()
    }

    #[test]
    fn a_report_is_readable_safe_and_without_secrets() {
        assert_eq!(
            sample().text(&secrets()),
            "error: it \\u{1b}[31mfailed with ***\n  server: demo\n  code: 7\n  \
             last lines of stderr:\n    | a ***\\u{7}\n  possible causes:\n    - chance\n  \
             what to do:\n    - try again\n"
        );
    }

    #[test]
    fn a_report_is_one_json_object() {
        assert_eq!(
            sample().json(&secrets()),
            concat!(
                r#"{"exit":2,"kind":"usage","server":"demo","command":null,"#,
                r#""message":"it \u001b[31mfailed with ***","source":null,"#,
                r#""facts":[{"name":"code","value":"7"}],"#,
                r#""evidence":[{"title":"last lines of stderr","lines":["a ***\u0007"]}],"#,
                r#""causes":["chance"],"hints":["try again"],"#,
                r#""rpc":{"code":-1,"message":"***","z":1.0}}"#,
                "\n"
            )
        );
    }
}
