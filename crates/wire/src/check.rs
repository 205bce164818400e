//! Checks that a text is JSON, and measures how deep it is nested.
//!
//! This is the only pass over a peer's text that trusts nothing. It builds nothing and does not
//! recurse: its memory grows by one bit per open bracket, whatever the text. It accepts exactly what
//! `serde_json` accepts as a raw value; a property test compares the two.

use std::fmt;

use crate::bytes::plain_end;
use crate::ends::Ends;
use crate::nest::{Bracket, Nest};
use crate::scan::past_space;

/// A text that has been checked to be one JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked<'a> {
    text: &'a str,
    depth: usize,
    ends: Option<Box<Ends>>,
}

impl<'a> Checked<'a> {
    /// Checks that `text` is one JSON value, with nothing but white space around it.
    ///
    /// # Errors
    /// Returns the position and the reason of the first error.
    pub fn new(text: &'a str) -> Result<Self, String> {
        // One value, and nothing but white space around it.
        let start = past_space(text.as_bytes(), 0);
        let checked = value(text, start);
        match checked {
            Some((checked, end)) if past_space(text.as_bytes(), end) == text.len() => Ok(checked),
            _ => Err(describe_error(text)),
        }
    }

    /// The text, without white space around it.
    pub fn as_str(&self) -> &'a str {
        self.text
    }

    /// The nesting depth of objects and arrays: 0 for a number.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The end positions of the outer objects and arrays, noted during the check.
    pub(crate) fn into_ends(self) -> Option<Box<Ends>> {
        self.ends
    }
}

impl fmt::Display for Checked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

/// Describes the error in a text that failed the check. Slow path: `serde_json` parses it again to find
/// the position.
pub(crate) fn describe_error(text: &str) -> String {
    // The slower parser is only asked for words: our own keeps no positions.
    match serde_json::from_str::<&serde_json::value::RawValue>(text) {
        Err(error) => error.to_string(),
        Ok(_) => "not a JSON-RPC message".to_owned(),
    }
}

/// Checks the value that begins at `at`; returns it together with its end.
pub(crate) fn value(text: &str, at: usize) -> Option<(Checked<'_>, usize)> {
    let mut nest = Nest::new(Ends::for_text(text, at));
    let end = checked_end(text.as_bytes(), at, &mut nest)?;
    let checked = Checked {
        text: text.get(at..end)?,
        depth: nest.deepest(),
        ends: nest.into_ends(),
    };
    Some((checked, end))
}

/// Returns the end of the value that begins at `at`, recording nesting in `nest`.
fn checked_end(bytes: &[u8], mut at: usize, nest: &mut Nest) -> Option<usize> {
    loop {
        // Not recursive: a deeply nested text cannot exhaust the stack.
        at = match bytes.get(at)? {
            b'"' => past_string(bytes, at)?,
            b'{' => {
                // An empty container never opens a level, so it is only noted for the depth.
                let inside = past_space(bytes, at + 1);
                if bytes.get(inside)? == &b'}' {
                    nest.note_empty();
                    inside + 1
                } else {
                    // The value of the first member comes next; the loop below goes on after it.
                    nest.enter(Bracket::Object, at);
                    at = member_value(bytes, inside)?;
                    continue;
                }
            }
            b'[' => {
                let inside = past_space(bytes, at + 1);
                if bytes.get(inside)? == &b']' {
                    nest.note_empty();
                    inside + 1
                } else {
                    nest.enter(Bracket::Array, at);
                    at = inside;
                    continue;
                }
            }
            b't' => literal_end(bytes, at, b"true")?,
            b'f' => literal_end(bytes, at, b"false")?,
            b'n' => literal_end(bytes, at, b"null")?,
            _ => number_end(bytes, at)?,
        };
        // A value has ended, and it may be the last one of the objects and arrays around it: close those.
        loop {
            let Some(inside) = nest.current() else {
                return Some(at);
            };
            at = past_space(bytes, at);
            match (bytes.get(at)?, inside) {
                // Another member or item follows: go back to checking a value.
                (b',', Bracket::Object) => {
                    at = member_value(bytes, past_space(bytes, at + 1))?;
                    break;
                }
                (b',', Bracket::Array) => {
                    at = past_space(bytes, at + 1);
                    break;
                }
                (b'}', Bracket::Object) | (b']', Bracket::Array) => {
                    at += 1;
                    nest.leave(at);
                }
                _ => return None,
            }
        }
    }
}

/// Returns the start of the value of the member whose key begins at `at`.
fn member_value(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at)? != &b'"' {
        return None;
    }
    let colon = past_space(bytes, past_string(bytes, at)?);
    (bytes.get(colon)? == &b':').then(|| past_space(bytes, colon + 1))
}

/// Returns the end of the string whose opening quote is at `at`, and true if it has no escapes;
/// `None` if it is not a valid string.
pub(crate) fn string_end(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    if bytes.get(at)? != &b'"' {
        return None;
    }
    // Most strings have no escapes and end here.
    let end = plain_end(bytes, at + 1);
    if bytes.get(end) == Some(&b'"') {
        return Some((end + 1, true));
    }
    Some((past_escapes(bytes, end)?, false))
}

/// The same where the quote was seen and escapes do not matter: half of a list is strings, and most are short.
#[inline(always)]
fn past_string(bytes: &[u8], at: usize) -> Option<usize> {
    let end = plain_end(bytes, at + 1);
    if bytes.get(end) == Some(&b'"') {
        return Some(end + 1);
    }
    past_escapes(bytes, end)
}

/// The rest of a string, from its first byte that is not plain.
fn past_escapes(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => match bytes.get(at + 1)? {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' => {
                    let digits = bytes.get(at + 2..at + 6)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return None;
                    }
                    at += 6;
                }
                _ => return None,
            },
            // A control character, which must be escaped.
            _ => return None,
        }
        at = plain_end(bytes, at);
    }
}

fn literal_end(bytes: &[u8], at: usize, literal: &[u8]) -> Option<usize> {
    bytes
        .get(at..)?
        .starts_with(literal)
        .then_some(at + literal.len())
}

fn number_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    if bytes.get(at)? == &b'-' {
        at += 1;
    }
    at = match bytes.get(at)? {
        // JSON has no leading zeros.
        b'0' => at + 1,
        _ => digits_end(bytes, at)?,
    };
    if bytes.get(at) == Some(&b'.') {
        at = digits_end(bytes, at + 1)?;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(bytes.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = digits_end(bytes, at)?;
    }
    Some(at)
}

/// Returns the end of the digits that begin at `at`; `None` unless there is at least one.
fn digits_end(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (length > 0).then_some(at + length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    fn agrees(text: &str) {
        let theirs = serde_json::from_str::<&RawValue>(text);
        match (Checked::new(text), theirs) {
            (Ok(ours), Ok(theirs)) => assert_eq!(ours.as_str(), theirs.get(), "{text}"),
            (Err(_), Err(_)) => {}
            (ours, theirs) => panic!("{text:?}: {ours:?} but {theirs:?}"),
        }
    }

    #[test]
    fn what_is_json_is_what_serde_json_says() {
        for text in [
            "",
            " ",
            "null",
            "nul",
            "nulll",
            "true",
            "false",
            "tru",
            "0",
            "-0",
            "-",
            "00",
            "01",
            "1.",
            ".1",
            "1.5",
            "1e",
            "1e5",
            "1E+5",
            "1e-5",
            "1e+",
            "1e400",
            "+1",
            "0x1",
            "1 2",
            "\"",
            "\"a\"",
            "\"\\\"",
            "\"\\u12\"",
            "\"\\u12G4\"",
            "\"\\ud800\"",
            "\"\\x\"",
            "\"\n\"",
            "\"\u{1f}\"",
            "\"\u{7f}\"",
            "'a'",
            "[",
            "[]",
            "[ ]",
            "[1",
            "[1,",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1}",
            "{",
            "{}",
            "{ }",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":1",
            "{\"a\":1,",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}",
            "{1:1}",
            "{\"a\":1]",
            "}",
            "]",
            ",",
            ":",
            "[[]",
            "[]]",
            "{\"a\":{}}",
            " { \"a\" : [ 1 , { } ] } \r\n\t",
            "\u{feff}1",
            "NaN",
            "{\"a\":1\"b\":2}",
            "[\"a\"\"b\"]",
            "tru e",
            "\u{a0}1",
        ] {
            agrees(text);
        }
    }

    #[test]
    fn depth_is_counted_across_words() {
        for depth in [0, 1, 2, 63, 64, 65, 127, 128, 129, 1000] {
            let text = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(Checked::new(&text).unwrap().depth(), depth);
            let mixed = format!("{}{{}}{}", r#"[{"a":"#.repeat(depth), "}]".repeat(depth));
            assert_eq!(Checked::new(&mixed).unwrap().depth(), 2 * depth + 1);
            if depth > 0 {
                let crossed = format!("{}1{}", r#"[{"a":"#.repeat(depth), "]}".repeat(depth));
                assert!(Checked::new(&crossed).is_err());
            }
        }
    }

    /// JSON, nearly JSON, and pieces of it in any order.
    fn texts() -> impl Strategy<Value = String> {
        let pieces = prop::sample::select(vec![
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"\\n\"",
            "\"\\u00e9\"",
            "\"é\"",
            "1",
            "-2.5e3",
            "true",
            "null",
            " ",
            "\n",
            "\"",
            "\\",
            "0",
            ".",
            "e",
            "\u{1}",
            "x",
            "\"k\":",
            "[]",
            "{}",
        ]);
        prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_text_is_judged_as_serde_json_judges_it(text in texts()) {
            agrees(&text);
        }

        #[test]
        fn any_prefix_of_json_is_judged_as_serde_json_judges_it(
            keys in prop::collection::vec("[a-z\"\\\\\u{1}é]{0,40}", 0..6), cut in 0_usize..400,
        ) {
            let value = serde_json::json!({"keys": keys, "nested": [[keys.len()], {"a": keys}]});
            let text = value.to_string();
            agrees(&text);
            if let Some(prefix) = text.get(..cut.min(text.len())) {
                agrees(prefix);
            }
        }
    }
}
