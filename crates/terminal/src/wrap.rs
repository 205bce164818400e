//! Word wrapping with hanging indents, for lines that may have colours in them.

use unicode_width::UnicodeWidthChar as _;

/// Further indentation of the continuation of a plain line.
const HANGING: &str = "  ";

/// Wraps the lines of a text at words, so that none is wider than `columns`; longer words stay whole. Without
/// `columns` the text is unchanged.
///
/// The continuation of a line is indented below it: by two columns more, or below its text if it starts with a
/// list mark. The mark `|` of quoted lines is repeated, so that no part of a quoted line can pass for a line of
/// ours.
pub fn wrap(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else {
        return text.to_owned();
    };
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for line in text.split_inclusive('\n') {
        let (line, end) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        wrap_line(line, columns, &mut out);
        out.push_str(end);
    }
    out
}

fn wrap_line(line: &str, columns: usize, out: &mut String) {
    if visible_width(line) <= columns {
        out.push_str(line);
        return;
    }
    let (lead, words) = lead_of(line);
    out.push_str(line.get(..line.len() - words.len()).unwrap_or_default());
    let mut used = visible_width(&lead.first);
    let mut is_first = true;
    for word in chunks(words, columns.saturating_sub(visible_width(&lead.next))) {
        let width = visible_width(word);
        if is_first {
            is_first = false;
        } else if used + 1 + width > columns {
            out.push('\n');
            out.push_str(&lead.next);
            used = visible_width(&lead.next);
        } else {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += width;
    }
}

/// Splits a text at spaces. A command in backticks stays in one piece if it fits into a line, so that it can be
/// pasted.
fn chunks(text: &str, room: usize) -> Vec<&str> {
    let mut chunks = Vec::new();
    // Parts at odd places are between two backticks.
    let is_paired = text.matches('`').count().is_multiple_of(2);
    let (mut start, mut is_code) = (0, false);
    for (at, c) in text.char_indices() {
        match c {
            '`' => is_code = !is_code && is_paired,
            ' ' if !is_code => {
                chunks.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    chunks.push(text.get(start..).unwrap_or_default());
    let split = chunks.into_iter().flat_map(|chunk| {
        let is_whole = visible_width(chunk) <= room;
        let parts: Vec<&str> = if is_whole {
            vec![chunk]
        } else {
            chunk.split(' ').collect()
        };
        parts
    });
    split.collect()
}

/// The start of a line, and of its continuations.
struct Lead {
    first: String,
    next: String,
}

/// Splits a line into its indentation, with the mark behind it, and the words that follow.
fn lead_of(line: &str) -> (Lead, &str) {
    let words = line.trim_start_matches(' ');
    let indent = line.len() - words.len();
    let first = line.get(..indent).unwrap_or_default();
    // A mark may be coloured: it ends with the first space.
    let (mark, rest) = words.split_once(' ').unwrap_or((words, ""));
    let plain: String = visible(mark).collect();
    match plain.as_str() {
        "|" => (
            Lead {
                first: format!("{first}| "),
                next: format!("{first}{mark} "),
            },
            rest,
        ),
        "-" | "*" | "!" => (
            Lead {
                first: format!("{first}- "),
                next: format!("{first}  "),
            },
            rest,
        ),
        _ => (
            Lead {
                first: first.to_owned(),
                next: format!("{first}{HANGING}"),
            },
            words,
        ),
    }
}

/// Returns the characters of a text without the escape sequences of colours.
fn visible(text: &str) -> impl Iterator<Item = char> + '_ {
    let mut is_escape = false;
    text.chars().filter(move |c| {
        // `ESC [ ... m` is the only sequence that a style writes.
        if *c == '\u{1b}' {
            is_escape = true;
            return false;
        }
        let was_escape = is_escape;
        is_escape = is_escape && *c != 'm';
        !was_escape
    })
}

/// Returns the width of a text in columns, without the escape sequences of colours.
pub fn visible_width(text: &str) -> usize {
    visible(text).map(|c| c.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Style;

    #[test]
    fn long_lines_break_between_words_below_their_text() {
        let text = "error: the server ended before it was ready\n  what to do:\n    - run it by hand and see what it prints\n    | one two three four five six\n";
        assert_eq!(
            wrap(text, Some(28)),
            "error: the server ended\n  before it was ready\n  what to do:\n    \
             - run it by hand and see\n      what it prints\n    | one two three four\n    | five six\n"
        );
        assert_eq!(wrap(text, None), text);
    }

    #[test]
    fn a_word_that_is_too_long_stays_whole() {
        assert_eq!(
            wrap("see https://example.com/a/long/path now", Some(12)),
            "see\n  https://example.com/a/long/path\n  now"
        );
        assert_eq!(wrap("", Some(1)), "");
    }

    #[test]
    fn a_command_that_can_be_pasted_stays_in_one_piece() {
        assert_eq!(
            wrap("- see its entry: `config show pg` shows it", Some(24)),
            "- see its entry:\n  `config show pg` shows\n  it"
        );
        assert_eq!(
            wrap("a `very long command` b ` c", Some(10)),
            "a `very\n  long\n  command`\n  b ` c"
        );
    }

    #[test]
    fn colours_take_no_room() {
        let style = Style::colourful();
        let line = format!("{} short", style.error("error:"));
        assert_eq!(visible_width(&line), 12);
        assert_eq!(wrap(&line, Some(12)), line);
        let quoted = format!("  {} one two", style.dim("|"));
        assert_eq!(
            wrap(&quoted, Some(8)),
            format!("  {} one\n  {} two", style.dim("|"), style.dim("|"))
        );
    }
}
