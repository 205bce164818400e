//! Lists in two columns: a name or signature, and its description.

use std::io::IsTerminal as _;

use switchboard_core::secret::Redactor;
use switchboard_core::text::sanitise_line;
use unicode_width::UnicodeWidthStr as _;

/// Maximum width of the left column.
const WIDEST: usize = 40;

/// Minimum width of the right column.
const NARROWEST: usize = 20;

/// Indentation of the continuation of a signature.
const CONTINUED: usize = 4;

/// Maximum length of a signature or description.
const LONGEST: usize = 300;

/// Returns the width of the terminal on stdout, or `None` if it is not a terminal.
pub fn columns() -> Option<usize> {
    let stdout = std::io::stdout();
    if !stdout.is_terminal() {
        return None;
    }
    let size = terminal_size::terminal_size_of(stdout);
    // Assume 80 if the terminal does not report its size.
    Some(size.map_or(80, |(width, _)| usize::from(width.0)))
}

/// Formats one line for each row, or several if `columns` are too few: the left text, and the first line of
/// its description.
///
/// Without `columns` lines are not wrapped, as a program that reads them expects.
pub fn table(rows: &[(String, String)], columns: Option<usize>, secrets: &Redactor) -> String {
    let rows: Vec<(String, String)> = rows
        .iter()
        .map(|(left, words)| (one_line(left, secrets), one_line(words, secrets)))
        .collect();
    let widths = rows.iter().map(|(signature, _)| signature.width());
    let most = columns.map_or(WIDEST, |columns| {
        WIDEST.min(columns.saturating_sub(NARROWEST + 2))
    });
    // Entries wider than the limit get a line of their own and do not widen the column.
    let left = widths.filter(|width| *width <= most).max().unwrap_or(0);
    let mut out = String::new();
    for (signature, words) in &rows {
        out.push_str(&row(signature, words, left, columns));
    }
    out
}

/// Returns the first line of a text: redacted, safe to show, and shortened.
pub fn one_line(text: &str, secrets: &Redactor) -> String {
    // Redacted before it is cut: half of a secret is not recognised.
    let redacted = secrets.redact(text.trim());
    let line = redacted.lines().next().unwrap_or_default();
    let mut end = line.len().min(LONGEST);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let more = if end < line.len() { "…" } else { "" };
    let kept = line.get(..end).unwrap_or_default();
    format!("{}{more}", sanitise_line(kept))
}

fn row(signature: &str, words: &str, left: usize, columns: Option<usize>) -> String {
    let beside = " ".repeat(left.saturating_sub(signature.width()) + 2);
    let Some(columns) = columns else {
        let line = format!("{signature}{beside}{words}");
        return format!("{}\n", line.trim_end());
    };
    let indent = " ".repeat(left.max(CONTINUED) + 2);
    let mut lines = wrap_words(words, columns.saturating_sub(indent.width())).into_iter();
    let mut out = String::new();
    // A signature that does not fit beside its description gets lines of its own.
    if signature.width() <= left {
        let first = lines.next().unwrap_or_default();
        out.push_str(format!("{signature}{beside}{first}").trim_end());
    } else {
        let continued = format!("\n{:CONTINUED$}", "");
        out.push_str(&wrap_words(signature, columns.saturating_sub(CONTINUED)).join(&continued));
    }
    out.push('\n');
    for line in lines {
        out.push_str(&format!("{indent}{line}\n"));
    }
    out
}

/// Breaks a text between words into lines of at most `columns`; longer words stay whole.
pub(crate) fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(NARROWEST);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
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
            table(&rows(), None, &Redactor::new()),
            "add(a?: number)  Adds two numbers.\nbare()\n\
             a_tool_with_a_very_long_name_indeed\\u{1b}()  Says one thing and then says it again\n"
        );
    }

    #[test]
    fn a_terminal_gets_lines_that_fit() {
        assert_eq!(
            table(&rows(), Some(44), &Redactor::new()),
            "add(a?: number)  Adds two numbers.\nbare()\n\
             a_tool_with_a_very_long_name_indeed\\u{1b}()\n\
             \x20                Says one thing and then\n\
             \x20                says it again\n"
        );
    }

    #[test]
    fn a_narrow_terminal_gets_lines_that_fit_too() {
        let rows = [
            (
                "slow_operation(duration?: number, steps?: integer)",
                "Takes its time.",
            ),
            (
                "echo(message: string)",
                "Says it again, in the very same words.",
            ),
            ("漢字漢字()", "Wide."),
        ];
        let rows = rows.map(|(left, words)| (left.to_owned(), words.to_owned()));
        assert_eq!(
            table(&rows, Some(40), &Redactor::new()),
            "slow_operation(duration?: number,\n    steps?: integer)\n\
             \x20           Takes its time.\n\
             echo(message: string)\n\
             \x20           Says it again, in the very\n\
             \x20           same words.\n\
             漢字漢字()  Wide.\n"
        );
    }
}
