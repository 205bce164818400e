//! Lists for people.

use std::io::IsTerminal as _;

use switchboard::text::{excerpt, sanitise_line};

use crate::screen::Screen;

/// The left column is as wide as its widest entry, up to this.
const WIDEST: usize = 40;

/// A longer signature or description is cut.
const LONGEST: usize = 300;

/// How wide the terminal is; `None` where there is none.
pub(crate) fn columns() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = terminal_size::terminal_size_of(stdout);
    // A terminal that does not say is taken for the usual one.
    Some(size.map_or(80, |(width, _)| usize::from(width.0)))
}

/// Writes one line for each row, or several where `columns` are too few for one: what it is, and
/// the first line of what is said about it.
///
/// Without `columns` there is no end to a line, which is what a program that reads it wants.
pub(crate) fn table(rows: &[(String, String)], columns: Option<usize>, screen: &Screen) -> String {
    let safe = |text: &str| sanitise_line(&excerpt(&screen.redact(text), LONGEST)).into_owned();
    let rows: Vec<(String, String)> = rows
        .iter()
        .map(|(left, words)| {
            let first_line = words.trim().lines().next().unwrap_or_default();
            (safe(left), safe(first_line))
        })
        .collect();
    let widths = rows.iter().map(|(signature, _)| width(signature));
    let left = widths.filter(|width| *width <= WIDEST).max().unwrap_or(0);
    let mut out = String::new();
    for (signature, words) in &rows {
        out.push_str(&row(signature, words, left, columns));
    }
    out
}

fn row(signature: &str, words: &str, left: usize, columns: Option<usize>) -> String {
    let Some(columns) = columns else {
        let line = format!("{signature:left$}  {words}");
        return format!("{}\n", line.trim_end());
    };
    let indent = left + 2;
    let mut lines = wrap(words, columns.saturating_sub(indent)).into_iter();
    let mut out = String::new();
    if width(signature) <= left {
        let first = lines.next().unwrap_or_default();
        out.push_str(format!("{signature:left$}  {first}").trim_end());
    } else {
        out.push_str(signature);
    }
    out.push('\n');
    for line in lines {
        out.push_str(&format!("{:indent$}{line}\n", ""));
    }
    out
}

/// Breaks a text between words into lines of at most `columns`, if its words are that short.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    // A narrower column is no easier to read.
    let columns = columns.max(20);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<(String, String)> {
        let rows = [
            ("add(a?: number)", "Adds two numbers.\nReally."),
            ("bare()", ""),
            (
                "a_tool_with_a_very_long_name_indeed\u{1b}()",
                "Says one thing and then says it again",
            ),
        ];
        rows.map(|(left, words)| (left.to_owned(), words.to_owned()))
            .to_vec()
    }

    #[test]
    fn a_pipe_gets_one_line_for_each_row() {
        assert_eq!(
            table(&rows(), None, &Screen::plain(false)),
            "add(a?: number)  Adds two numbers.\nbare()\n\
             a_tool_with_a_very_long_name_indeed\\u{1b}()  Says one thing and then says it again\n"
        );
    }

    #[test]
    fn a_terminal_gets_lines_that_fit() {
        assert_eq!(
            table(&rows(), Some(44), &Screen::plain(false)),
            "add(a?: number)  Adds two numbers.\nbare()\n\
             a_tool_with_a_very_long_name_indeed\\u{1b}()\n\
             \x20                Says one thing and then\n\
             \x20                says it again\n"
        );
    }
}
