//! The table of all servers: columns at a terminal that is wide enough, one line for each server elsewhere.

use std::time::Duration;

use switchboard::host::{State, Status};
use switchboard::text::{excerpt, sanitise_line};

use super::{era, many, milliseconds, place, transport};
use crate::grid::grid;
use crate::login::explained;
use crate::screen::Screen;
use crate::table::table;

/// Maximum length of a reason; `servers NAME` shows it in full.
const LONGEST: usize = 300;

const HEADS: [&str; 9] = [
    "name",
    "state",
    "protocol",
    "transport",
    "tools",
    "resources",
    "prompts",
    "latency",
    "origin",
];

/// Formats the states of servers, in columns if they fit.
pub(super) fn overview(
    servers: &[(Status, Option<Duration>)],
    columns: Option<usize>,
    screen: &Screen,
) -> String {
    let wide = columns.and_then(|columns| wide(servers, columns, screen));
    wide.unwrap_or_else(|| lines(servers, columns, screen))
}

/// Formats the states of servers without columns.
pub(super) fn lines(
    servers: &[(Status, Option<Duration>)],
    columns: Option<usize>,
    screen: &Screen,
) -> String {
    // Lines are wrapped at a terminal, where a comma separates better than a gap.
    let gap = if columns.is_some() { ", " } else { "  " };
    let row = |(status, latency): &(Status, Option<Duration>)| {
        let words = words(status, *latency);
        (status.name.to_string(), words.join(gap))
    };
    let rows: Vec<_> = servers.iter().map(row).collect();
    table(&rows, columns, screen)
}

/// Formats columns if they fit, dropping the least important ones first.
fn wide(servers: &[(Status, Option<Duration>)], columns: usize, screen: &Screen) -> Option<String> {
    let safe = |text: &str| sanitise_line(&excerpt(&screen.redact(text), LONGEST)).into_owned();
    let mut rows = vec![HEADS.map(str::to_owned).to_vec()];
    for (status, latency) in servers {
        rows.push(
            cells(status, *latency)
                .iter()
                .map(|cell| safe(cell))
                .collect(),
        );
    }
    // The origin column shrinks to at most 20 characters before columns are dropped.
    let widest = rows.iter().skip(1).filter_map(|row| row.last());
    let least = widest.map(|cell| cell.chars().count().min(20)).max()?;
    // Try all columns, then without the transport, then without resources and prompts.
    for dropped in [&[][..], &[3], &[3, 5, 6]] {
        let kept: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                let cells = row.iter().enumerate();
                let cells = cells.filter(|(at, _)| !dropped.contains(at));
                cells.map(|(_, cell)| cell.clone()).collect()
            })
            .collect();
        let is_readable = leading_width(&kept) + least <= columns;
        if let Some(text) = grid(&kept, Some(columns)).filter(|_| is_readable) {
            return Some(with_reasons(&text, servers, columns, safe));
        }
    }
    None
}

/// Returns the width of all columns but the last.
fn leading_width(rows: &[Vec<String>]) -> usize {
    let count = rows.first().map_or(0, Vec::len).saturating_sub(1);
    let widths = (0..count).map(|at| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0) + 2
    });
    widths.sum()
}

/// Adds the reason below each server that cannot be used.
fn with_reasons(
    text: &str,
    servers: &[(Status, Option<Duration>)],
    columns: usize,
    safe: impl Fn(&str) -> String,
) -> String {
    let mut lines = text.lines();
    let mut out = format!("{}\n", lines.next().unwrap_or_default());
    for (line, (status, _)) in lines.zip(servers) {
        out.push_str(&format!("{line}\n"));
        if let Some(reason) = reason(status) {
            let last = stderr(status).map(|line| format!("stderr: {line}"));
            for line in [Some(reason), last].into_iter().flatten() {
                let line = crate::grid::cut(&safe(&line), columns.saturating_sub(2));
                out.push_str(&format!("  {line}\n"));
            }
        }
    }
    out
}

fn cells(status: &Status, latency: Option<Duration>) -> [String; 9] {
    let is_used = matches!(status.state, State::Connected | State::Offline);
    let count = |count: usize| {
        if is_used {
            count.to_string()
        } else {
            "-".to_owned()
        }
    };
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let version = status.version.filter(|_| is_used);
    [
        status.name.to_string(),
        status.state.word().to_owned(),
        or_none(version.map(|version| format!("{version} {}", era(version)))),
        or_none(transport(status)),
        count(status.offers.tools),
        count(status.offers.resources),
        count(status.offers.prompts),
        or_none(latency.map(milliseconds)),
        Some(place(status))
            .filter(|place| !place.is_empty())
            .unwrap_or_else(|| "-".to_owned()),
    ]
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
    words.extend(status.transport.map(|transport| transport.to_string()));
    words.push(place(status));
    words.retain(|word| !word.is_empty());
    words
}
