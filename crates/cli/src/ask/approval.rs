//! How a question about a project's server looks.
//!
//! At a terminal every literal is shown whole; elsewhere, where a log may keep it, secrets are masked. Long lines are
//! folded with a mark before each continuation, so that nothing in them can pass for a line of its own. What is run
//! is repeated right above the place where the person answers, because an entry can be longer than their screen.

use std::io::{self, IsTerminal as _};

use switchboard::text::sanitise_line;
use switchboard::trust::{Question, Reason};
use unicode_width::UnicodeWidthChar as _;

/// What stands before the rest of a line that is too long for the terminal.
const CONTINUED: &str = "    | ";

/// The narrowest terminal that lines are folded for.
const NARROWEST: usize = 20;

/// The lines to show on stderr: whole at a terminal, masked elsewhere.
pub(crate) fn lines(question: &Question) -> Vec<String> {
    if io::stderr().is_terminal() {
        question.lines()
    } else {
        question.masked_lines()
    }
}

/// Lines as they are written to stderr, indented, and folded where that is a terminal.
pub(crate) fn block(lines: &[String]) -> String {
    let columns = columns();
    let mut out = String::new();
    for line in lines {
        fold(&sanitise_line(line), columns, &mut out);
    }
    out
}

/// What is repeated right above the answer, under a line that says how much there is to read.
pub(crate) fn summary(summary: &[String], lines: usize) -> String {
    let lead = match lines {
        1 => "In short (the line above has everything):".to_owned(),
        _ => format!("In short (the {lines} lines above have everything):"),
    };
    format!("{lead}\n{}", block(summary))
}

/// Says why a server is asked about, behind its name.
pub(crate) fn reason(question: &Question) -> &'static str {
    match question.reason {
        Reason::Changed => "has changed since it was approved",
        Reason::BindsMore => "was approved before Switchboard also bound what is marked as added",
        _ => "came with this folder and is not approved",
    }
}

/// How wide the terminal on stderr is; nothing where there is none.
fn columns() -> Option<usize> {
    if !io::stderr().is_terminal() {
        return None;
    }
    let size = terminal_size::terminal_size_of(io::stderr());
    let columns = size.map_or(80, |(width, _)| usize::from(width.0));
    // A terminal that does not say is taken for the usual one.
    let columns = if columns == 0 { 80 } else { columns };
    // In the last column, some terminals go on to the next line.
    Some(columns.saturating_sub(1).max(NARROWEST))
}

/// Writes one line, in several where it is too long, each continuation behind a mark.
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
