//! `switchboard trust`: lists, shows, gives and revokes approvals of servers in project files. Nothing here
//! starts a server.

mod approve;
mod revoke;

use std::io::IsTerminal as _;

use serde::Serialize;
use switchboard::text::sanitise_line;
use switchboard::trust::{self, Question, Reason};

use crate::approvals::{Approval, Approvals};
use crate::args::{Trust, TrustList, TrustShow, TrustVerb};
use crate::editing::{notes, result};
use crate::exit::Exit;
use crate::lost_records::{self, LostRecords};
use crate::problems::Source;
use crate::report::Failure;
use crate::scope::{Files, place};
use crate::screen::Screen;
use crate::timestamp;

use approve::approve;
use revoke::revoke;

/// Runs the subcommands of `trust`.
pub(crate) fn run(args: &Trust) -> Exit {
    let json = match &args.verb {
        TrustVerb::List(args) => args.json,
        TrustVerb::Show(args) => args.json,
        TrustVerb::Approve(args) => args.json,
        TrustVerb::Revoke(args) => args.json,
    };
    let screen = Screen::plain(json);
    let done = match &args.verb {
        TrustVerb::List(args) => list(args, &screen),
        TrustVerb::Show(args) => show(args, &screen),
        TrustVerb::Approve(args) => approve(args, &screen),
        TrustVerb::Revoke(args) => revoke(args, &screen),
    };
    screen.finish(done)
}

/// An approval in JSON: see `docs/editing.md`.
#[derive(Serialize)]
struct TrustItem {
    server: String,
    file: String,
    fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    approved: Option<String>,
}

impl TrustItem {
    /// Lists an approval that is stored.
    fn from_approval(approval: &trust::Approval) -> Self {
        Self {
            server: approval.server.to_string(),
            file: approval.file.display().to_string(),
            fingerprint: approval.fingerprint.to_string(),
            approved: Some(timestamp::utc_seconds(approval.approved)),
        }
    }

    /// Lists an entry that is not approved, by the question about it.
    fn from_question(question: &Question) -> Self {
        Self {
            server: question.claim.server.to_string(),
            file: question.claim.file.display().to_string(),
            fingerprint: question.fingerprint.to_string(),
            approved: None,
        }
    }

    fn line(&self) -> String {
        let digits = self.fingerprint.trim_start_matches("sha256:");
        let digits: String = digits.chars().take(12).collect();
        let time = self.approved.as_deref().unwrap_or_default();
        let line = format!("{digits}  {time}  {}  {}", self.server, self.file);
        format!("{}\n", sanitise_line(&line))
    }
}

/// The document of `trust list --json`: see `docs/editing.md`.
#[derive(Serialize)]
struct ListedServers {
    approvals: Vec<TrustItem>,
    waiting: Vec<TrustItem>,
}

fn list(_: &TrustList, screen: &Screen) -> Result<(), Failure> {
    let files = Files::read(None)?;
    let approvals = Approvals::of(&files.config, &files.environment)?;
    let given = approvals.store().list()?;
    lost_records::warn(LostRecords::look(&files.environment).trust(), screen);
    let given: Vec<TrustItem> = given.iter().map(TrustItem::from_approval).collect();
    let waiting = waiting(&files, &approvals)?;
    let waiting: Vec<TrustItem> = waiting.iter().map(TrustItem::from_question).collect();
    if screen.is_json() {
        let approvals = given;
        return result(&ListedServers { approvals, waiting }, screen);
    }
    for item in &waiting {
        notes(&[format!("{} of {} is not approved", item.server, item.file)]);
    }
    screen.result(&given.iter().map(TrustItem::line).collect::<String>())
}

/// Returns the questions about all enabled entries that are not approved.
fn waiting(files: &Files, approvals: &Approvals) -> Result<Vec<Question>, Failure> {
    let mut questions = Vec::new();
    for entry in files.config.entries() {
        let (approval, question) = approvals.look(entry)?;
        if !approval.is_settled() && entry.is_enabled() {
            questions.extend(question);
        }
    }
    Ok(questions)
}

/// The document of `trust show --json`: see `docs/editing.md`.
#[derive(Serialize)]
struct Showing<'a> {
    server: &'a str,
    approval: &'a str,
    fingerprint: Option<String>,
    source: Source,
    lines: Vec<String>,
    changes: Vec<Change<'a>>,
    hooks: Vec<&'a str>,
}

#[derive(Serialize)]
struct Change<'a> {
    pointer: &'a str,
    before: Option<&'a str>,
    after: Option<&'a str>,
}

fn binds_more(question: &Question) -> bool {
    question.reason == Reason::BindsMore
}

fn show(args: &TrustShow, screen: &Screen) -> Result<(), Failure> {
    let files = Files::read(None)?;
    let approvals = Approvals::of(&files.config, &files.environment)?;
    let entry = files.entry(&args.name)?;
    let (approval, question) = approvals.look(entry)?;
    let question = question.as_ref();
    // In full for a person at a terminal, masked where it may be stored.
    let is_whole = !screen.is_json() && std::io::stdout().is_terminal();
    let shown = if is_whole {
        Question::lines
    } else {
        Question::masked_lines
    };
    let mut lines = question.map(shown).unwrap_or_default();
    if screen.is_json() {
        let changes = question.iter().flat_map(|question| &question.changes);
        let hooks = question.iter().flat_map(|question| &question.hooks);
        let document = Showing {
            server: entry.name().as_str(),
            approval: approval.word(),
            fingerprint: question.map(|question| question.fingerprint.to_string()),
            source: Source::of(entry.origin()),
            lines,
            changes: changes
                .map(|change| Change {
                    pointer: &change.pointer,
                    before: change.before.as_deref(),
                    after: change.after.as_deref(),
                })
                .collect(),
            hooks: hooks.map(String::as_str).collect(),
        };
        return result(&document, screen);
    }
    lines.push(match approval {
        Approval::NotNeeded => format!(
            "{} needs no approval: it is defined in {}",
            entry.name(),
            place(entry.origin())
        ),
        Approval::Given => "approval: given".to_owned(),
        Approval::New | Approval::Unknown => "approval: not given".to_owned(),
        Approval::Changed if question.is_some_and(binds_more) => {
            "approval: outdated (an older version did not check the lines marked as added)"
                .to_owned()
        }
        Approval::Changed => "approval: outdated (the entry has changed)".to_owned(),
    });
    let lines = lines
        .iter()
        .map(|line| format!("{}\n", sanitise_line(line)));
    screen.result(&lines.collect::<String>())
}
