//! Lines that are folded with a mark before each continuation, so that no part of a line can pass for a line of
//! its own.

use std::io::{self, IsTerminal as _};

use unicode_width::UnicodeWidthChar as _;

/// Mark before the continuation of a line that is too long for the terminal.
const CONTINUED: &str = "    | ";

/// The narrowest terminal that lines are folded for.
const NARROWEST: usize = 20;

/// Returns the usable width of the terminal on stderr, or `None` if it is not a terminal.
pub fn stderr_columns() -> Option<usize> {
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
pub fn fold(line: &str, columns: Option<usize>, out: &mut String) {
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
