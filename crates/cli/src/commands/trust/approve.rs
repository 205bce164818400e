//! `switchboard trust approve`: shows what each server would run, asks, and stores the approvals.

use serde::Serialize;
use switchboard::config::Entry;
use switchboard::text::sanitise_line;
use switchboard::trust::Question;

use super::{TrustItem, waiting};
use crate::approvals::Approvals;
use crate::args::TrustApprove;
use crate::ask;
use crate::editing::{notes, result};
use crate::exit::Exit;
use crate::problems;
use crate::report::{Failure, Report};
use crate::scope::Files;
use crate::screen::{Screen, talk};

/// The document of `trust approve --json`: see `docs/editing.md`.
#[derive(Serialize)]
struct Approved {
    approved: Vec<TrustItem>,
    refused: Vec<TrustItem>,
    settled: Vec<String>,
}

/// Approves servers of project files, exactly as they are shown.
pub(super) fn approve(args: &TrustApprove, screen: &Screen) -> Result<(), Failure> {
    let files = Files::read(None)?;
    let approvals = Approvals::of(&files.config, &files.environment)?;
    // Before any question: an answer that cannot be stored would be lost.
    approvals.must_be_kept()?;
    // `--yes` alone would approve servers that were not named.
    if args.yes && args.names.is_empty() && !args.all {
        return Err(Report::usage("--yes needs to know which servers")
            .hint("name the servers, or use --all"));
    }
    let mut settled: Vec<&Entry> = Vec::new();
    let mut questions = Vec::new();
    for name in &args.names {
        let entry = files.entry(name)?;
        match approvals.look(entry)? {
            (approval, Some(question)) if !approval.is_settled() => questions.push(question),
            _ => settled.push(entry),
        }
    }
    if args.names.is_empty() {
        questions = waiting(&files, &approvals)?;
        problems::mention(&files.config, screen);
    }
    if !screen.is_json() {
        for entry in &settled {
            notes(&[format!(
                "{} needs no approval any more, or never did",
                entry.name()
            )]);
        }
        if questions.is_empty() && settled.is_empty() {
            notes(&["no server here needs approval".to_owned()]);
        }
    }
    // All questions are answered before anything is stored.
    let (yes, no) = answers(questions, args, screen)?;
    for question in &yes {
        approvals.approve(&question.claim)?;
    }
    let document = Approved {
        approved: yes.iter().map(TrustItem::from_question).collect(),
        refused: no.iter().map(TrustItem::from_question).collect(),
        settled: settled
            .iter()
            .map(|entry| entry.name().to_string())
            .collect(),
    };
    if screen.is_json() {
        result(&document, screen)?;
    } else {
        let lines = document.approved.iter().map(|item| {
            let line = format!("approved {} of {}", item.server, item.file);
            format!("{}\n", sanitise_line(&line))
        });
        screen.result(&lines.collect::<String>())?;
    }
    if no.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = no.iter().map(|no| no.claim.server.as_str()).collect();
    let message = format!("not approved: {}", names.join(", "));
    Err(Report::new(Exit::Denied, "untrusted", message))
}

/// Asks each question, and returns the approved and the refused ones.
fn answers(
    questions: Vec<Question>,
    args: &TrustApprove,
    screen: &Screen,
) -> Result<(Vec<Question>, Vec<Question>), Failure> {
    let can_ask = ask::is_attended() && !screen.is_json();
    // Without a person nothing is approved, not even partly.
    if !args.yes && !can_ask && !questions.is_empty() {
        return Err(unattended(&questions, screen));
    }
    let (mut yes, mut no) = (Vec::new(), Vec::new());
    for question in questions {
        if !screen.is_json() {
            ask::show_question(&question, !args.yes);
        }
        if args.yes || ask::is_yes("approve it?") == Some(true) {
            yes.push(question);
        } else {
            no.push(question);
        }
    }
    Ok((yes, no))
}

/// Builds the report if there is no person to ask, and shows the questions.
fn unattended(questions: &[Question], screen: &Screen) -> Failure {
    let message = "nothing is approved: there is no terminal to ask at";
    let mut report = Report::new(Exit::Denied, "untrusted", message);
    for question in questions {
        let name = &question.claim.server;
        if screen.is_json() {
            let title = format!("what {name} wants to do");
            report = report.evidence(title, question.masked_lines());
        } else {
            // Shown in full here: a report would cut long lines.
            ask::show_question(question, false);
            talk("\n");
        }
        report = report.hint(format!(
            "if this is what you expect: `switchboard trust approve {name} --yes`"
        ));
    }
    report
}
