//! Layout of the question about a project's server.
//!
//! At a terminal every literal is shown in full; elsewhere a log may keep it, so secrets are masked. Long
//! lines are folded with a mark before each continuation, so that no part of a line can pass for a line of
//! its own. The command is repeated right above the answer, because an entry can be longer than the screen.

use std::io::{self, IsTerminal as _};

use switchboard::text::sanitise_line;
use switchboard::trust::{Question, Reason};
use unicode_width::UnicodeWidthChar as _;

/// Mark before the continuation of a line that is too long for the terminal.
const CONTINUED: &str = "    | ";

/// The narrowest terminal that lines are folded for.
const NARROWEST: usize = 20;

/// Returns the lines to show on stderr: in full at a terminal, masked elsewhere.
pub(crate) fn lines(question: &Question) -> Vec<String> {
    if io::stderr().is_terminal() {
        question.lines()
    } else {
        question.masked_lines()
    }
}

/// Formats lines for stderr: indented, and folded if stderr is a terminal.
pub(crate) fn block(lines: &[String]) -> String {
    let columns = columns();
    let mut out = String::new();
    for line in lines {
        fold(&sanitise_line(line), columns, &mut out);
    }
    out
}

/// Formats the summary that is repeated right above the answer, under a line that says how much there is to
/// read.
pub(crate) fn summary(summary: &[String], lines: usize) -> String {
    let lead = match lines {
        1 => "In short (the line above has everything):".to_owned(),
        _ => format!("In short (the {lines} lines above have everything):"),
    };
    format!("{lead}\n{}", block(summary))
}

/// Returns the reason for the question, worded to follow the server's name.
pub(crate) fn reason(question: &Question) -> &'static str {
    match question.reason {
        Reason::Changed => "has changed since it was approved",
        Reason::BindsMore => "was approved before Switchboard also bound what is marked as added",
        _ => "came with this folder and is not approved",
    }
}

/// Returns the usable width of the terminal on stderr, or `None` if it is not a terminal.
fn columns() -> Option<usize> {
    if !io::stderr().is_terminal() {
        return None;
    }
    let size = terminal_size::terminal_size_of(io::stderr());
    let columns = size.map_or(80, |(width, _)| usize::from(width.0));
    // Width 0 means that the terminal does not report its size: assume 80.
    let columns = if columns == 0 { 80 } else { columns };
    // Some terminals wrap already in the last column.
    Some(columns.saturating_sub(1).max(NARROWEST))
}

/// Writes one line, folded at `columns`, each continuation behind a mark.
fn fold(line: &str, columns: Option<usize>, out: &mut String) {
    out.push_str("  ");
    let Some(columns) = columns else {
        out.push_str(line);
        out.push('\n');
        return;
    };
    let mut used = 2;
    for c in line.chars() {
        // Some terminals give letters of ambiguous width two columns.
        let width = c.width_cjk().unwrap_or(0);
        if used + width > columns {
            out.push('\n');
            out.push_str(CONTINUED);
            used = CONTINUED.len();
        }
        out.push(c);
        used += width;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_folded_and_every_continuation_is_marked() {
        let mut out = String::new();
        fold("runs: sh -c \"0123456789 program: /x\"", Some(24), &mut out);
        assert_eq!(out, "  runs: sh -c \"012345678\n    | 9 program: /x\"\n");
        let mut whole = String::new();
        fold("runs: sh -c \"0123456789 program: /x\"", None, &mut whole);
        assert_eq!(whole, "  runs: sh -c \"0123456789 program: /x\"\n");
    }

    #[test]
    fn wide_letters_do_not_reach_beyond_the_terminal() {
        let mut out = String::new();
        fold(&"\u{6771}".repeat(20), Some(20), &mut out);
        assert_eq!(out.lines().count(), 3, "{out}");
        assert!(out.lines().skip(1).all(|line| line.starts_with(CONTINUED)));
    }
}
