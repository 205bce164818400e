//! `switchboard leftovers`: lists server processes that earlier runs have left running, from the ledger in
//! the state folder, and ends them.

use std::io;

use serde::Serialize;
use switchboard::Limits;
use switchboard::leftovers::{Leftover, list};
use switchboard::protocol::Raw;
use switchboard::text::{excerpt, sanitise_line};
use switchboard::transport::Environment;

use crate::args::Leftovers;
use crate::exit::Exit;
use crate::report::{Failure, Report};
use crate::screen::Screen;
use crate::state;
use crate::timestamp;

/// Maximum length of a command in the list; longer ones are cut.
const LONGEST: usize = 200;

/// Lists server processes that earlier runs have left running, and ends them with `--end`.
pub(crate) fn run(args: &Leftovers) -> Exit {
    let screen = Screen::plain(args.json);
    screen.finish(look(args, &screen))
}

fn look(args: &Leftovers, screen: &Screen) -> Result<(), Failure> {
    let Some(folder) = state::running(&Environment::of_process()) else {
        let report = Report::new(
            Exit::Configuration,
            "configuration",
            "cannot determine the state folder",
        );
        return Err(report.hint("set HOME, or XDG_STATE_HOME to an absolute path"));
    };
    let left = list(&folder).map_err(|error| {
        Report::new(Exit::Internal, "internal", "the folder cannot be read")
            .fact("folder", folder.display().to_string())
            .fact("the system says", error.to_string())
    })?;
    let patience = Limits::default().end_after_term;
    // All are tried, even if one cannot be ended.
    let outcomes: Vec<(&Leftover, Option<io::Result<bool>>)> = left
        .iter()
        .map(|left| (left, args.end.then(|| left.end(patience))))
        .collect();
    let text = if args.json {
        format!("{}\n", screen.safe_json(&document(&outcomes)?))
    } else {
        outcomes.iter().map(line).collect()
    };
    // The list is printed before the failure: it shows which processes are left.
    screen.result(&text)?;
    failed(&outcomes)
}

fn is_ended(outcome: &io::Result<bool>) -> bool {
    matches!(outcome, Ok(true))
}

/// Returns an error that names the processes that could not be ended.
fn failed(outcomes: &[(&Leftover, Option<io::Result<bool>>)]) -> Result<(), Failure> {
    let mut report = Report::new(
        Exit::Internal,
        "internal",
        "some processes could not be ended",
    );
    let mut all = true;
    for (left, outcome) in outcomes {
        let Some(outcome) = outcome.as_ref().filter(|outcome| !is_ended(outcome)) else {
            continue;
        };
        all = false;
        let why = match outcome {
            Ok(_) => "it still runs".to_owned(),
            Err(error) => error.to_string(),
        };
        report = report.fact(format!("process {}", left.pid()), why);
    }
    if all { Ok(()) } else { Err(report) }
}

/// Formats a process that an earlier run left, and says if it was ended.
fn line((left, outcome): &(&Leftover, Option<io::Result<bool>>)) -> String {
    let mut line = format!(
        "{}  {}  {}  {}",
        left.pid(),
        timestamp::utc_seconds(left.started()),
        left.server(),
        excerpt(left.command(), LONGEST),
    );
    if let Some(outcome) = outcome {
        line.push_str(if is_ended(outcome) {
            "  ended"
        } else {
            "  not ended"
        });
    }
    format!("{}\n", sanitise_line(&line))
}

/// The document of `leftovers --json`: see `docs/cli.md`.
#[derive(Serialize)]
struct LeftoversDocument<'a> {
    leftovers: Vec<LeftoverItem<'a>>,
}

#[derive(Serialize)]
struct LeftoverItem<'a> {
    pid: u32,
    started: String,
    server: &'a str,
    command: &'a str,
    host: u32,
    ended: Option<bool>,
}

fn document(outcomes: &[(&Leftover, Option<io::Result<bool>>)]) -> Result<Raw, Failure> {
    let items = outcomes.iter().map(|(left, outcome)| LeftoverItem {
        pid: left.pid(),
        started: timestamp::utc_seconds(left.started()),
        server: left.server().as_str(),
        command: left.command(),
        host: left.host(),
        ended: outcome.as_ref().map(is_ended),
    });
    let document = LeftoversDocument {
        leftovers: items.collect(),
    };
    Raw::of(&document).map_err(|error| Report::new(Exit::Internal, "internal", error.to_string()))
}
