//! Quoting for texts that a person decides about: it shows exactly what is there.

use std::fmt::Write as _;

use super::class::{Context, Lines};
use super::tables::{MARKS, holds};

/// Maximum number of consecutive spaces that are shown as they are.
const SPACES_IN_A_ROW: usize = 8;

/// Quotes a text so that nothing in it can hide, imitate something else or move other text.
///
/// In addition to the escapes of [`sanitise_line`](super::sanitise_line), these become `\u{...}`: every
/// blank except the plain space, right-to-left letters (a terminal may reorder the text after them) and
/// combining marks (they can strike out or cover their neighbour). Quotes and backslashes are escaped as
/// in JSON. More than eight spaces in a row are counted outside of the quotes, where no text can imitate
/// the count: `"a"[42 spaces]"b"`.
pub fn exact(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    let mut is_open = false;
    let mut rest = text;
    while !rest.is_empty() {
        // Spaces first, because a long run of them leaves the quotes.
        let tail = rest.trim_start_matches(' ');
        let spaces = rest.len() - tail.len();
        let is_counted = spaces > SPACES_IN_A_ROW;
        // Quotes are closed before a count and open before everything else.
        if is_open == is_counted {
            out.push('"');
            is_open = !is_open;
        }
        if is_counted {
            // Writing to a string never fails.
            let _ = write!(out, "[{spaces} spaces]");
            rest = tail;
            continue;
        }
        let mut chars = tail.chars();
        out.push_str(rest.get(..spaces).unwrap_or_default());
        if let Some(c) = chars.next() {
            write_char(c, &mut out);
        }
        rest = chars.as_str();
    }
    if is_open {
        out.push('"');
    }
    if out.is_empty() {
        out.push_str("\"\"");
    }
    out
}

fn write_char(c: char, out: &mut String) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        _ if is_shown(c) => out.push(c),
        _ => {
            // Writing to a string never fails.
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
    }
}

/// Quotes a text like [`exact`], but leaves one plain word without quotes.
pub fn exact_word(text: &str) -> String {
    let is_plain = |c: char| {
        (c.is_alphanumeric() && is_shown(c)) || (c.is_ascii() && "_-./@%+=:,~${}*".contains(c))
    };
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        exact(text)
    }
}

/// Returns true if a character is visible as itself in any context.
fn is_shown(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    !Context::after(None, Lines::One).escapes(c, "")
        && !c.is_whitespace()
        && !is_right_to_left(c)
        && !holds(MARKS, c)
}

/// Returns true if a character is in a block of right-to-left scripts.
fn is_right_to_left(c: char) -> bool {
    matches!(u32::from(c),
        // Hebrew, Arabic, Syriac, Thaana, NKo, Samaritan, Mandaic and the Arabic extensions.
        0x0590..=0x08ff
        // Presentation forms of Hebrew and Arabic.
        | 0xfb1d..=0xfdff
        | 0xfe70..=0xfefc
        // Ancient scripts of the supplementary plane; Mende Kikakui, Adlam, Arabic mathematics.
        | 0x1_0800..=0x1_0fff
        | 0x1_e800..=0x1_efff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::sanitise_line;

    #[test]
    fn spaces_are_counted_from_the_ninth_on() {
        let text = |count: usize| format!("a{}b", " ".repeat(count));
        assert_eq!(exact(&text(8)), format!("\"{}\"", text(8)));
        assert_eq!(exact(&text(9)), "\"a\"[9 spaces]\"b\"");
        assert_eq!(exact(&" ".repeat(42)), "[42 spaces]");
        assert_eq!(exact(&format!("{}x", " ".repeat(42))), "[42 spaces]\"x\"");
        // Written out, the same text stays inside the quotes.
        assert_eq!(exact("a[42 spaces]b"), "\"a[42 spaces]b\"");
        let quote = format!("\"{}x", " ".repeat(9));
        assert_eq!(exact(&quote), r#""\""[9 spaces]"x""#);
        assert_eq!(exact("a\"[42 spaces]\"b"), r#""a\"[42 spaces]\"b""#);
    }

    #[test]
    fn no_character_but_a_space_is_blank_moves_or_covers_others() {
        for (text, shown) in [
            ("a\u{2800}b", r#""a\u{2800}b""#),
            ("a\u{a0}b", r#""a\u{a0}b""#),
            ("a\u{3000}b", r#""a\u{3000}b""#),
            ("a\tb\nc", r#""a\tb\nc""#),
            ("\u{5d0}\u{5d1}", r#""\u{5d0}\u{5d1}""#),
            ("\u{627}", r#""\u{627}""#),
            ("a\u{338}", r#""a\u{338}""#),
            ("\u{202e}x", r#""\u{202e}x""#),
            ("größe 東京", "\"größe 東京\""),
            ("", "\"\""),
        ] {
            assert_eq!(exact(text), shown);
            assert_eq!(sanitise_line(shown), shown);
        }
    }

    #[test]
    fn outer_spaces_are_seen() {
        assert_eq!(exact_word("TOKEN"), "TOKEN");
        assert_eq!(exact_word("TOKEN "), "\"TOKEN \"");
        assert_eq!(exact_word(" TOKEN"), "\" TOKEN\"");
        assert_eq!(exact_word(""), "\"\"");
        assert_eq!(exact_word("\u{5d0}"), r#""\u{5d0}""#);
    }
}
