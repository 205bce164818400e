//! Visible escapes for text on a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::class::{Context, Lines};

/// Makes a text of several lines safe to show.
///
/// A forbidden character (see the [module](super)) becomes `\r` for a lone carriage return, and
/// `\u{1b}`, the code point in hexadecimal, for all others. Newline, tab and CRLF pairs stay. The text
/// is borrowed if nothing has to change, and sanitising twice is the same as once.
///
/// This holds for one text: if two sanitised texts are printed directly after each other, marks at the
/// start of the second may attach to the last character of the first.
pub fn sanitise(text: &str) -> Cow<'_, str> {
    rewrite(text, Lines::Many, escape)
}

/// Makes a text safe to show within one line: a name, a table cell, a log line.
///
/// Like [`sanitise`], but newline, tab and every carriage return become `\n`, `\t` and `\r`.
pub fn sanitise_line(text: &str) -> Cow<'_, str> {
    rewrite(text, Lines::One, escape)
}

/// Copies `text`, passing each forbidden character to `write`; borrows if there are no such characters.
pub(super) fn rewrite(text: &str, lines: Lines, write: fn(char, &mut String)) -> Cow<'_, str> {
    let plain = lines.plain_prefix(text);
    if plain == text.len() {
        return Cow::Borrowed(text);
    }
    // All bytes before `plain` are ASCII, so it is a character boundary.
    let (head, tail) = text.split_at(plain);
    let mut context = Context::after(head.chars().next_back(), lines);
    let mut changed: Option<String> = None;
    let mut chars = tail.chars();
    loop {
        let before = chars.as_str().len();
        let Some(c) = chars.next() else { break };
        if context.escapes(c, chars.as_str()) {
            // Copy only when the first forbidden character is found.
            let out = changed.get_or_insert_with(|| {
                let (kept, rest) = text.split_at(text.len() - before);
                let mut out = String::with_capacity(text.len() + rest.len().min(256));
                out.push_str(kept);
                out
            });
            write(c, out);
        } else if let Some(out) = &mut changed {
            out.push(c);
        }
    }
    changed.map_or(Cow::Borrowed(text), Cow::Owned)
}

/// Writes the visible form of one character.
fn escape(c: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ => {
            // Writing to a string never fails.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}
