//! Makes JSON documents safe to show, using JSON's own escapes.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::class::Lines;
use super::sanitise::rewrite;

/// Escapes the characters that [`sanitise`](super::sanitise) escapes as `\uXXXX`, within valid JSON.
///
/// The document keeps its meaning and its layout. Outside strings, valid JSON has only one forbidden
/// character, the lone carriage return, which is white space there and becomes a newline. Existing
/// escapes are left alone, also lone surrogates. A text that is not JSON becomes safe to show, and may
/// become JSON if its only fault was a control character inside a string.
pub fn write_json_safe(json: &str) -> Cow<'_, str> {
    // No need to track strings: every other forbidden character can only occur inside one.
    rewrite(json, Lines::Many, escape)
}

/// Encodes a text as a JSON string, quotes included, that is safe to show.
pub fn json_escape(text: &str) -> String {
    let literal = serde_json::Value::from(text).to_string();
    write_json_safe(&literal).into_owned()
}

/// Writes one character as UTF-16 units, as JSON does beyond U+FFFF.
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
