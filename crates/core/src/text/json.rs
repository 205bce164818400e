//! The same promise for JSON, kept with JSON's own escapes.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::class::Lines;
use super::sanitise::rewrite;

/// Writes the characters that [`sanitise`](super::sanitise) escapes as `\uXXXX`, in valid JSON.
///
/// The document means the same as before, and its layout stays. Outside strings JSON has one
/// forbidden character only, the lone carriage return, which is white space there and becomes a
/// newline. Escapes that are there already are left alone, lone surrogates too. A text that is not
/// JSON comes out safe to show, and may have become JSON: where all that was wrong with it was a
/// control character inside a string, that one is now escaped.
pub fn write_json_safe(json: &str) -> Cow<'_, str> {
    // Strings need no tracking: every other forbidden character can only stand inside one.
    rewrite(json, Lines::Many, escape)
}

/// Writes a text as a JSON string, quotes included, that is safe to show.
pub fn json_escape(text: &str) -> String {
    let literal = serde_json::Value::from(text).to_string();
    write_json_safe(&literal).into_owned()
}

/// Writes one character as its UTF-16 units, which is how JSON reaches beyond U+FFFF.
fn escape(c: char, out: &mut String) {
    if c == '\r' {
        out.push('\n');
        return;
    }
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string never fails.
        let _ = write!(out, "\\u{unit:04x}");
    }
}
