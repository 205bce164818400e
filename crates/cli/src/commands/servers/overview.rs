//! All servers: a table with the details of broken ones below at a terminal, one line for each server elsewhere.

use std::time::Duration;

use switchboard::host::{State, Status};
use switchboard::text::{excerpt, sanitise_line, shell_word};
use switchboard_terminal::wrap::wrap;

use super::{many, transport};
use crate::ask;
use crate::login::explained;
use crate::screen::Screen;
use crate::status_table::{Mark, StatusRow, milliseconds, short_place, state_words, status_table};
use crate::style::Style;
use crate::table::table;

/// Maximum length of a reason; `servers NAME` shows it in full.
const LONGEST: usize = 300;

/// A server with what was measured of it.
pub(super) struct Measured {
    pub(super) status: Status,
    pub(super) latency: Option<Duration>,
    /// Estimated tokens of its definitions.
    pub(super) tokens: usize,
}

/// Formats the states of servers, as a table if there is a terminal that is wide enough.
pub(super) fn overview(servers: &[Measured], columns: Option<usize>, screen: &Screen) -> String {
    let rows: Vec<StatusRow> = servers.iter().map(row).collect();
    let wide = columns.and_then(|columns| status_table(&rows, Some(columns), screen));
    match wide {
        Some(text) => format!("{text}{}", details(servers, columns, screen)),
        None => lines(servers, columns, screen),
    }
}

/// Formats the states of servers without columns.
pub(super) fn lines(servers: &[Measured], columns: Option<usize>, screen: &Screen) -> String {
    // Lines are wrapped at a terminal, where a comma separates better than a gap.
    let gap = if columns.is_some() { ", " } else { "  " };
    let row = |server: &Measured| {
        let words = words(&server.status, server.latency);
        (server.status.name.to_string(), words.join(gap))
    };
    let rows: Vec<_> = servers.iter().map(row).collect();
    table(&rows, columns, &screen.secrets())
}

fn row(server: &Measured) -> StatusRow {
    let status = &server.status;
    let is_used = matches!(status.state, State::Connected | State::Offline);
    let mark = match Mark::of(&status.state) {
        Mark::Good if status.problem().is_some() => Mark::Remark,
        mark => mark,
    };
    StatusRow {
        mark,
        name: status.name.to_string(),
        status: state_words(status.state.word()),
        protocol: status
            .version
            .filter(|_| is_used)
            .map(|version| version.to_string()),
        tools: is_used.then_some(status.offers.tools),
        tokens: is_used.then_some(server.tokens),
        latency: server.latency,
        config: short_place(&status.origin),
    }
}

/// Formats a paragraph for each server that cannot be used, with a command that says more or helps.
fn details(servers: &[Measured], columns: Option<usize>, screen: &Screen) -> String {
    let style = Style::of_stdout();
    let program = if ask::has_prompt() {
        ""
    } else {
        "switchboard "
    };
    let mut out = String::new();
    for Measured { status, .. } in servers {
        let Some(reason) = reason(status) else {
            continue;
        };
        let safe = |text: &str| {
            let text = excerpt(&screen.redact(text), LONGEST);
            sanitise_line(&text).into_owned()
        };
        let name = safe(status.name.as_str());
        out.push_str(&format!("\n{}: {}\n", style.strong(&name), safe(&reason)));
        if let Some(line) = stderr(status) {
            out.push_str(&format!("  {} {}\n", style.dim("|"), safe(line)));
        }
        let word = shell_word(status.name.as_str());
        let (what, verb) = match &status.state {
            State::NeedsApproval(_) => ("review:  ", "trust show"),
            State::NeedsLogin(_) => ("log in:  ", "login"),
            _ => ("details: ", "servers"),
        };
        out.push_str(&format!("  {what} {program}{verb} {word}\n"));
        if matches!(status.state, State::NeedsApproval(_)) {
            out.push_str(&format!("  approve:  {program}trust approve {word}\n"));
        }
    }
    wrap(&out, columns)
}

/// Returns the problem of a server in one line, if it has one.
fn reason(status: &Status) -> Option<String> {
    status.problem().map(|error| explained(error).title)
}

/// Returns the last line that a server with a problem wrote to stderr; `servers NAME` shows more.
fn stderr(status: &Status) -> Option<&str> {
    let lines = status.stderr.iter().rev().map(|line| line.trim());
    let mut lines = lines.filter(|line| !line.is_empty());
    status.problem().and_then(|_| lines.next())
}

/// Returns the state of a server as a list of words.
fn words(status: &Status, latency: Option<Duration>) -> Vec<String> {
    let mut words = vec![status.state.word().to_owned()];
    words.extend(reason(status));
    words.extend(stderr(status).map(|line| format!("stderr: {line}")));
    if let State::Connected | State::Offline = &status.state {
        let offers = status.offers;
        words.extend(status.version.map(|version| version.to_string()));
        words.push(many(offers.tools, "tool"));
        words.push(many(offers.resources, "resource"));
        words.push(many(offers.prompts, "prompt"));
        let took = latency.or(status.took);
        words.extend(took.map(milliseconds));
    }
    words.extend(transport(status).filter(|_| status.transport.is_some()));
    words.push(short_place(&status.origin));
    words.retain(|word| !word.is_empty());
    words
}
