//! The table of servers that `servers` and `doctor` show: a mark, then columns that are dropped from the least
//! important on if the terminal is too narrow.

use std::time::Duration;

use switchboard::host::State;
use switchboard::spec::Origin;
use switchboard_terminal::count::{round, thousands};
use switchboard_terminal::grid::{Align, grid_aligned};
use switchboard_terminal::path::shorten;
use switchboard_terminal::table::one_line;

use crate::screen::Screen;
use crate::style::Style;

/// Width of the mark and the gap behind it.
const MARK: usize = 3;

/// The config column keeps at least this width, or others are dropped.
const LEAST: usize = 20;

const HEADS: [&str; 7] = [
    "SERVER", "STATUS", "PROTOCOL", "TOOLS", "TOKENS", "LATENCY", "CONFIG",
];

const ALIGNED: [Align; 7] = [
    Align::Left,
    Align::Left,
    Align::Left,
    Align::Right,
    Align::Right,
    Align::Right,
    Align::Path,
];

/// Sets of columns to leave out, one after the other, until the rest fits.
const DROPPED: [&[usize]; 4] = [&[], &[2], &[2, 5], &[2, 4, 5]];

/// The judgement of a server in one sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Good,
    /// It works, but something about it is odd.
    Remark,
    /// It waits for the person.
    Waiting,
    Broken,
    /// It is not used.
    Off,
}

impl Mark {
    /// Returns the mark for the state of a server.
    pub(crate) fn of(state: &State) -> Self {
        match state {
            State::Connected | State::Offline => Self::Good,
            State::NeedsApproval(_) | State::NeedsLogin(_) => Self::Waiting,
            State::Failed(_) => Self::Broken,
            _ => Self::Off,
        }
    }

    fn write(self, style: Style) -> String {
        match self {
            Self::Good => style.good("ok"),
            Self::Remark => style.warning(" !"),
            Self::Waiting => style.warning(" ?"),
            Self::Broken => style.error(" x"),
            Self::Off => style.dim(" -"),
        }
    }
}

/// One line of the table. A column without any value is left out.
pub(crate) struct StatusRow {
    pub(crate) mark: Mark,
    pub(crate) name: String,
    pub(crate) status: String,
    pub(crate) protocol: Option<String>,
    pub(crate) tools: Option<usize>,
    /// Estimated tokens of the definitions.
    pub(crate) tokens: Option<usize>,
    pub(crate) latency: Option<Duration>,
    pub(crate) config: String,
}

impl StatusRow {
    fn cells(&self, screen: &Screen) -> [String; 7] {
        let dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        let safe = |text: &str| one_line(text, &screen.secrets());
        [
            safe(&self.name),
            safe(&self.status),
            dash(self.protocol.as_deref().map(safe)),
            dash(self.tools.map(thousands)),
            dash(self.tokens.map(|tokens| thousands(round(tokens)))),
            dash(self.latency.map(milliseconds)),
            dash(Some(safe(&self.config)).filter(|place| !place.is_empty())),
        ]
    }
}

/// Formats the table, or returns `None` if the terminal is too narrow for it.
pub(crate) fn status_table(
    rows: &[StatusRow],
    columns: Option<usize>,
    screen: &Screen,
) -> Option<String> {
    let style = Style::of_stdout();
    let cells: Vec<[String; 7]> = rows.iter().map(|row| row.cells(screen)).collect();
    // A column in which no server has anything says nothing.
    let is_bare = |at: usize| {
        let mut column = cells.iter().filter_map(|row| row.get(at));
        at > 1 && column.all(|cell| cell == "-")
    };
    let room = columns.map(|columns| columns.saturating_sub(MARK));
    for dropped in DROPPED {
        let is_kept = |at: &usize| !dropped.contains(at) && !is_bare(*at);
        let kept: Vec<usize> = (0..HEADS.len()).filter(is_kept).collect();
        let pick = |row: &[String]| -> Vec<String> {
            kept.iter().filter_map(|at| row.get(*at).cloned()).collect()
        };
        let mut all = vec![pick(&HEADS.map(str::to_owned))];
        all.extend(cells.iter().map(|row| pick(row)));
        let aligned: Vec<Align> = kept
            .iter()
            .filter_map(|at| ALIGNED.get(*at).copied())
            .collect();
        if room.is_some_and(|room| needed(&all) > room) {
            continue;
        }
        let Some(text) = grid_aligned(&all, &aligned, room) else {
            continue;
        };
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        let mut out = format!("{:MARK$}{}\n", "", style.dim(head));
        for (row, line) in rows.iter().zip(lines) {
            out.push_str(&format!("{} {line}\n", row.mark.write(style)));
        }
        return Some(out);
    }
    None
}

/// Returns the width that is needed at least: that of all columns, the last one shortened.
fn needed(rows: &[Vec<String>]) -> usize {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths = (0..count).map(|at| match at + 1 {
        last if last == count => widest(at).min(LEAST),
        _ => widest(at) + 2,
    });
    widths.sum()
}

/// Returns the state of a server in words for people: `needs approval`.
pub(crate) fn state_words(word: &str) -> String {
    word.replace('_', " ")
}

/// Formats the place of an entry, with the home folder as `~`.
pub(crate) fn short_place(origin: &Origin) -> String {
    let Some(file) = &origin.file else {
        return String::new();
    };
    let line = origin.line.map(|line| format!(":{line}"));
    shorten(&format!("{}{}", file.display(), line.unwrap_or_default()))
}

/// Formats a time in milliseconds, with a fraction below 1 ms.
pub(crate) fn milliseconds(time: Duration) -> String {
    match time.as_millis() {
        0 => format!("{:.1} ms", time.as_secs_f64() * 1000.0),
        whole => format!("{whole} ms"),
    }
}
