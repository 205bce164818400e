//! Reports of failures: `text` formats them for people, `json` for programs, and `steps` words the
//! steps of a diagnosis as commands.

mod json;
pub(crate) mod steps;
mod text;

use std::path::Path;
use std::sync::OnceLock;

use serde::Serialize;
use switchboard::auth::AuthError;
use switchboard::config::Config;
use switchboard::policy::Target;
use switchboard::protocol::Raw;
use switchboard::secret::mask_args;
use switchboard::spec::{Layer, Origin};
use switchboard::text::{shell_path, shell_word};
use switchboard::transport::FaultKind;
use switchboard::trust::Question;
use switchboard::{Diagnosis, Error, ErrorKind, explain};

use crate::exit::Exit;
use crate::login::{self, LoginWords};

/// A failure, ready to be shown.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) exit: Exit,
    /// A stable word for JSON.
    kind: &'static str,
    /// The failure in one line.
    message: String,
    server: Option<String>,
    /// The server's identity: its command or URL.
    command: Option<String>,
    /// The words of its command, with secrets masked.
    words: Option<Vec<String>>,
    source: Option<ReportSource>,
    facts: Vec<(String, String)>,
    /// Facts that are shown only with `--verbose`.
    details: Vec<(String, String)>,
    evidence: Vec<(String, Vec<String>)>,
    /// The evidence without masking, for a person at a terminal.
    whole: Option<Vec<String>>,
    causes: Vec<String>,
    hints: Vec<String>,
    /// The command that shows more, without the program's name, for a report without a hint to paste.
    look: Option<(&'static str, String)>,
    /// The JSON-RPC error of the server, if it sent one.
    rpc: Option<Raw>,
    /// The network fault as a stable word, and the HTTP status if there was one.
    fault: Option<(&'static str, Option<u16>)>,
    /// The problem with a login.
    login: Option<Box<AuthError>>,
}

/// The place of the server's entry.
#[derive(Debug, Serialize)]
struct ReportSource {
    file: Option<String>,
    layer: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
}

impl ReportSource {
    fn of(origin: &Origin) -> Option<Self> {
        let file = origin.file.as_deref()?;
        Some(Self {
            file: Some(file.display().to_string()),
            layer: Some(origin.layer.to_string()),
            line: origin.line,
            column: origin.column,
        })
    }
}

/// The words of the command of `--stdio`, with secrets masked: that server has no entry which describes it.
static DESCRIBED: OnceLock<Vec<String>> = OnceLock::new();

/// Notes the command of `--stdio` for reports.
pub(crate) fn note_command(program: &str, args: &[String]) {
    let args = mask_args(args).into_iter();
    let words = std::iter::once(program.to_owned()).chain(args);
    DESCRIBED.set(words.collect()).ok();
}

fn starts_process(identity: Option<&str>) -> bool {
    identity.is_some_and(|identity| identity.starts_with("stdio:"))
}

/// The error type of all commands.
pub(crate) type Failure = Box<Report>;

impl Report {
    /// Creates a report that has only a title.
    pub(crate) fn new(exit: Exit, kind: &'static str, message: impl Into<String>) -> Box<Self> {
        Box::new(Self {
            exit,
            kind,
            message: message.into(),
            server: None,
            command: None,
            words: None,
            source: None,
            facts: Vec::new(),
            details: Vec::new(),
            evidence: Vec::new(),
            whole: None,
            causes: Vec::new(),
            hints: Vec::new(),
            look: None,
            rpc: None,
            fault: None,
            login: None,
        })
    }

    /// Creates a report from a diagnosis of the library.
    pub(crate) fn diagnosed(exit: Exit, kind: &'static str, diagnosis: Diagnosis) -> Box<Self> {
        // The context names the server and its entry; the rest is copied as it is.
        let context = diagnosis.context;
        let mut report = Self::new(exit, kind, diagnosis.title);
        report.server = context.server.map(|name| name.to_string());
        report.command = context.identity;
        let is_command = context.file.is_none() && starts_process(report.command.as_deref());
        let described = DESCRIBED.get().filter(|_| is_command).cloned();
        report.words = context.command.or(described);
        report.source = context.file.map(|file| ReportSource {
            file: Some(file.display().to_string()),
            layer: context.layer,
            line: context.line,
            column: context.column,
        });
        let named = |facts: Vec<(&str, String)>| -> Vec<(String, String)> {
            let facts = facts.into_iter();
            facts
                .map(|(name, value)| (name.to_owned(), value))
                .collect()
        };
        report.facts = named(diagnosis.facts);
        report.details = named(diagnosis.details);
        let evidence = diagnosis.evidence.into_iter();
        report.evidence = evidence
            .map(|(title, lines)| (title.to_owned(), lines))
            .collect();
        report.causes = diagnosis.causes;
        report.hints = steps::word_all(&diagnosis.steps);
        report
    }

    /// Creates a report of a mistake on the command line.
    pub(crate) fn usage(message: impl Into<String>) -> Box<Self> {
        Self::new(Exit::Usage, "usage", message)
    }

    /// Sets the server.
    pub(crate) fn server(mut self: Box<Self>, name: impl Into<String>) -> Box<Self> {
        self.server = Some(name.into());
        self
    }

    /// Adds a named fact.
    pub(crate) fn fact(
        mut self: Box<Self>,
        name: impl Into<String>,
        value: impl Into<String>,
    ) -> Box<Self> {
        self.facts.push((name.into(), value.into()));
        self
    }

    /// Sets the file, and the line and column in it.
    pub(crate) fn described_at(
        mut self: Box<Self>,
        layer: &Layer,
        file: &Path,
        at: Option<(usize, usize)>,
    ) -> Box<Self> {
        self.source = Some(ReportSource {
            file: Some(file.display().to_string()),
            layer: Some(layer.to_string()),
            line: at.map(|(line, _)| line),
            column: at.map(|(_, column)| column),
        });
        self
    }

    /// Adds the place of the server's entry and a command to look at it, unless the report has them.
    pub(crate) fn with_location(mut self: Box<Self>, config: &Config) -> Box<Self> {
        let name = self.server.as_deref();
        let Some(entry) = name.and_then(|name| config.get(name)) else {
            return self;
        };
        let origin = entry.origin();
        // An error that knows its own place keeps it.
        if self.source.is_none() {
            self.source = ReportSource::of(origin);
        }
        // A hint with a command is enough.
        if self.hints.iter().any(|hint| hint.contains('`')) {
            return self;
        }
        let file = origin
            .file
            .as_ref()
            .filter(|_| origin.layer == Layer::Named);
        // Only a file that was named needs to be named again.
        let file = file.map(|file| format!(" --config {}", shell_path(&file.to_string_lossy())));
        let tools = || {
            let name = shell_word(entry.name().as_str());
            ("see what it offers", format!("tools {name}"))
        };
        let (why, look) = self.look.take().unwrap_or_else(tools);
        let file = file.unwrap_or_default();
        self.hint(format!("{why}: `switchboard {look}{file}`"))
    }

    /// Writes commands as they are typed at the prompt, without the program's name.
    pub(crate) fn at_prompt(mut self: Box<Self>) -> Box<Self> {
        for hint in &mut self.hints {
            *hint = hint.replace("`switchboard ", "`");
        }
        self
    }

    /// Sets the command that shows what a failed request was about.
    pub(crate) fn look_at(mut self: Box<Self>, target: Target<'_>) -> Box<Self> {
        let server = shell_word(target.server().as_str());
        self.look = Some(match target {
            Target::Tool { server, name } => {
                let tool = format!("{server}/{name}");
                ("see its arguments", format!("tool {}", shell_path(&tool)))
            }
            Target::Prompt { .. } => ("see its prompts", format!("prompts {server}")),
            Target::Resource { .. } => ("see its resources", format!("resources {server}")),
            _ => return self,
        });
        self
    }

    /// Returns true if a server, tool, resource or prompt does not exist.
    pub(crate) fn is_about_something_missing(&self) -> bool {
        matches!(self.kind, "not-found" | "unknown-tool")
    }

    /// Returns the facts, and with `--verbose` the details.
    fn shown_facts(&self, verbose: bool) -> impl Iterator<Item = &(String, String)> {
        let details = self.details.iter().filter(move |_| verbose);
        self.facts.iter().chain(details)
    }

    /// Returns the server that the report is about.
    pub(crate) fn named_server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// Adds evidence: lines under a title.
    pub(crate) fn evidence(
        mut self: Box<Self>,
        title: impl Into<String>,
        lines: Vec<String>,
    ) -> Box<Self> {
        self.evidence.push((title.into(), lines));
        self
    }

    /// Sets the network fault.
    pub(crate) fn fault(mut self: Box<Self>, word: &'static str, status: Option<u16>) -> Box<Self> {
        self.fault = Some((word, status));
        self
    }

    /// Adds a possible cause.
    pub(crate) fn cause(mut self: Box<Self>, cause: impl Into<String>) -> Box<Self> {
        self.causes.push(cause.into());
        self
    }

    /// Returns the title: the problem in one line.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Words the steps of a failed login for this command.
    pub(crate) fn with_login_words(mut self: Box<Self>, words: &LoginWords) -> Box<Self> {
        let Some(error) = self.login.take() else {
            return self;
        };
        let server = self.server.clone().unwrap_or_default();
        let advice = login::failure(&error, &server, words);
        self.message = advice.message;
        let is_said = |name: &String| advice.facts.iter().any(|(known, _)| known == name);
        self.facts.retain(|(name, _)| !is_said(name));
        self.facts.extend(advice.facts);
        self.causes = advice.causes;
        self.hints = advice.hints;
        self
    }

    /// Adds a step to fix the failure.
    pub(crate) fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hints.push(hint.into());
        self
    }
}

impl From<Error> for Box<Report> {
    fn from(error: Error) -> Self {
        let mut report = Report::diagnosed(Exit::of(&error), kind(&error), explain(&error));
        report.whole = error.question().map(Question::lines);
        let fault = error.fault().map(|fault| &fault.kind);
        report.fault = fault.map(|fault| (word(fault), fault.status()));
        report.rpc = error.rpc().map(|rpc| rpc.raw().clone());
        report.login = error.auth_error().cloned().map(Box::new);
        if let Some(FaultKind::Authorization { challenge, .. }) = fault
            && let Some(challenge) = challenge
        {
            report
                .facts
                .push(("challenge".to_owned(), challenge.clone()));
        }
        // `with_login_words` says it again where more is known about the command.
        let plain = LoginWords::default();
        match report.login.clone() {
            Some(login) => {
                let mut report = report.with_login_words(&plain);
                report.login = Some(login);
                report
            }
            None => report,
        }
    }
}

fn kind(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::Configuration => "configuration",
        ErrorKind::Untrusted => "untrusted",
        ErrorKind::NotFound => "not-found",
        ErrorKind::Denied => "denied",
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

/// Returns the stable word for a network fault: see `docs/cli.md`.
fn word(fault: &FaultKind) -> &'static str {
    match fault {
        FaultKind::Resolve { .. } => "dns",
        FaultKind::Forbidden { .. } => "forbidden",
        FaultKind::Connect { .. } => "connect",
        FaultKind::Tls { .. } => "tls",
        FaultKind::Interrupted { .. } => "interrupted",
        FaultKind::Status { .. } => "status",
        FaultKind::Authorization { .. } => "authorization",
        FaultKind::Redirect { .. } => "redirect",
        FaultKind::ContentType { .. } => "content-type",
        FaultKind::NoAnswer { .. } => "no-answer",
        FaultKind::StreamRefused => "stream",
        FaultKind::TooLarge { .. } => "too-large",
        FaultKind::SessionLost { .. } => "session",
        FaultKind::SessionId { .. } => "session-id",
        FaultKind::TooManyAttempts { .. } => "attempts",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;
    use switchboard::secret::Redactor;

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
            sample().text(&secrets(), Style::plain(), false),
            "error: it \\u{1b}[31mfailed with ***\n  server: demo\n  code: 7\n  \
             last lines of stderr:\n    | a ***\\u{7}\n  possible causes:\n    - chance\n  \
             what to do:\n    - try again\n"
        );
    }

    #[test]
    fn with_colour_a_report_says_the_same() {
        let mut colourful = sample().text(&secrets(), Style::colourful(), false);
        assert!(colourful.contains("\u{1b}["), "{colourful:?}");
        while let Some(start) = colourful.find('\u{1b}') {
            let end = colourful[start..].find('m').unwrap();
            colourful.replace_range(start..=start + end, "");
        }
        assert_eq!(colourful, sample().text(&secrets(), Style::plain(), false));
    }

    #[test]
    fn details_are_for_those_who_ask_for_more() {
        let mut report = sample();
        report.details = vec![("first attempt".to_owned(), "with s3cr3t".to_owned())];
        let shown = |verbose| report.text(&secrets(), Style::plain(), verbose);
        assert!(!shown(false).contains("first attempt"));
        assert!(shown(true).contains("  first attempt: with ***\n"));
        assert!(!report.json(&secrets(), false).contains("first attempt"));
        let fact = r#"{"name":"first attempt","value":"with ***"}"#;
        assert!(report.json(&secrets(), true).contains(fact));
    }

    #[test]
    fn a_place_is_written_as_editors_read_it() {
        let report =
            Report::usage("x").described_at(&Layer::Project, Path::new("/p"), Some((3, 7)));
        let text = report.text(&secrets(), Style::plain(), false);
        assert!(text.contains("  file: /p:3:7 (project)\n"), "{text}");
    }

    #[test]
    fn a_report_is_one_json_object() {
        assert_eq!(
            sample().json(&secrets(), false),
            concat!(
                r#"{"exit":2,"kind":"usage","server":"demo","identity":null,"#,
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
