//! Finding the parts of a JSON text without decoding them.
//!
//! Every text that arrives here has been checked already, so these functions only look for the ends
//! of values. Given anything but JSON they return `None`; they never panic, recurse or read past the
//! end.

use std::borrow::Cow;

use crate::bytes::plain_end;

/// Walks through the members of the object that begins at `at` and returns its end; `None` if it is
/// not an object.
///
/// `take` receives each key and the start of its value, and returns the end of the value; `None`
/// stops the walk. A key with a lone surrogate cannot be decoded and is passed in its escaped form,
/// which equals no key that callers look for.
pub(crate) fn walk(
    text: &str,
    at: usize,
    take: impl FnMut(&str, usize) -> Option<usize>,
) -> Option<usize> {
    walk_with(string_end, text, at, take)
}

/// Walks with `key_end`, which finds the end of a key and returns true if it has no escapes.
#[inline]
pub(crate) fn walk_with(
    key_end: impl Fn(&[u8], usize) -> Option<(usize, bool)>,
    text: &str,
    at: usize,
    mut take: impl FnMut(&str, usize) -> Option<usize>,
) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = enter_bracket(bytes, at, b'{')?;
    if bytes.get(at) == Some(&b'}') {
        return Some(at + 1);
    }
    loop {
        // The reader of keys is a parameter: checked and unchecked text share this walk.
        let (end, plain) = key_end(bytes, at)?;
        // Without the quotes.
        let key = text.get(at + 1..end - 1)?;
        at = past_space(bytes, end);
        if bytes.get(at) != Some(&b':') {
            return None;
        }
        // Only keys with escapes pay for decoding.
        at = past_space(bytes, at + 1);
        at = if plain {
            take(key, at)?
        } else {
            take(&unescape_key(key), at)?
        };
        at = past_space(bytes, at);
        match bytes.get(at)? {
            b',' => at = past_space(bytes, at + 1),
            b'}' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// Walks through the items of the array that begins at `at` and returns its end; `None` if it is not
/// an array.
///
/// `take` receives the start of each item and returns its end; `None` stops the walk.
pub(crate) fn walk_items(
    text: &str,
    at: usize,
    mut take: impl FnMut(usize) -> Option<usize>,
) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = enter_bracket(bytes, at, b'[')?;
    if bytes.get(at) == Some(&b']') {
        return Some(at + 1);
    }
    loop {
        at = past_space(bytes, take(at)?);
        match bytes.get(at)? {
            b',' => at = past_space(bytes, at + 1),
            b']' => return Some(at + 1),
            _ => return None,
        }
    }
}

/// Calls `take` with each key of an object and the text of its value; `None` for anything else.
pub(crate) fn members<'a>(text: &'a str, mut take: impl FnMut(&str, &'a str)) -> Option<()> {
    let start = past_space(text.as_bytes(), 0);
    walk(text, start, |key, at| {
        let end = value_end(text.as_bytes(), at)?;
        take(key, text.get(at..end)?);
        Some(end)
    })
    .map(|_| ())
}

/// Calls `take` with the text of each item of an array; `None` for anything else.
pub(crate) fn items<'a>(text: &'a str, mut take: impl FnMut(&'a str)) -> Option<()> {
    let start = past_space(text.as_bytes(), 0);
    walk_items(text, start, |at| {
        let end = value_end(text.as_bytes(), at)?;
        take(text.get(at..end)?);
        Some(end)
    })
    .map(|_| ())
}

/// Decodes a key with escapes.
fn unescape_key(key: &str) -> Cow<'_, str> {
    match serde_json::from_str(&format!("\"{key}\"")) {
        Ok(decoded) => Cow::Owned(decoded),
        Err(_) => Cow::Borrowed(key),
    }
}

fn enter_bracket(bytes: &[u8], at: usize, bracket: u8) -> Option<usize> {
    (bytes.get(at)? == &bracket).then(|| past_space(bytes, at + 1))
}

/// Skips white space from `at` on.
#[inline]
pub(crate) fn past_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Returns the end of the value that begins at `at`.
pub(crate) fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at).map(|(end, _)| end),
        b'{' | b'[' => nested_end(bytes, at),
        _ => {
            // A number or a word ends at the next structural character or white space.
            let rest = bytes.get(at..)?;
            let ends =
                |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            (length > 0).then_some(at + length)
        }
    }
}

/// Returns the end of the object or array that begins at `at`, by counting brackets outside strings.
fn nested_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                // Brackets within strings do not count.
                at = string_end(bytes, at)?.0;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                // It cannot fall below zero: the first bracket was counted, and zero returns.
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Returns the end of the string whose opening quote is at `at`, and true if it has no escapes.
#[inline]
pub(crate) fn string_end(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    if bytes.get(at)? != &b'"' {
        return None;
    }
    let end = plain_end(bytes, at + 1);
    if bytes.get(end)? == &b'"' {
        return Some((end + 1, true));
    }
    Some((past_escapes(bytes, end)?, false))
}

/// Returns the end of a string, starting at its first escape.
fn past_escapes(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        // Whatever is escaped is one byte here; the digits of `\u` are not special.
        at = plain_end(bytes, at + 2);
        if bytes.get(at)? == &b'"' {
            return Some(at + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_members(text: &str) -> Option<Vec<(String, &str)>> {
        let mut found = Vec::new();
        members(text, |key, value| found.push((key.to_owned(), value)))?;
        Some(found)
    }

    fn all_items(text: &str) -> Option<Vec<&str>> {
        let mut found = Vec::new();
        items(text, |item| found.push(item))?;
        Some(found)
    }

    #[test]
    fn values_end_where_they_end() {
        let text = " {\n\"a\" : -1.5e3 ,\"b\":\"x\\\"}\\\\\",\"\\u0063\":{\"d\":[\"]\",{}]} , \"e\":[ ]\t}";
        assert_eq!(
            all_members(text).unwrap(),
            [
                ("a".to_owned(), "-1.5e3"),
                ("b".to_owned(), r#""x\"}\\""#),
                ("c".to_owned(), r#"{"d":["]",{}]}"#),
                ("e".to_owned(), "[ ]"),
            ]
        );
        assert_eq!(
            all_items("[null , [1,2],\"a,b\",{}]").unwrap(),
            ["null", "[1,2]", "\"a,b\"", "{}"]
        );
        assert_eq!(all_items("[ ]").unwrap(), [""; 0]);
        assert_eq!(all_members("{ }").unwrap(), []);
    }

    #[test]
    fn a_key_with_a_lone_surrogate_stays_escaped() {
        assert_eq!(
            all_members(r#"{"\ud800":1}"#).unwrap(),
            [(r"\ud800".to_owned(), "1")]
        );
    }

    #[test]
    fn what_is_cut_off_is_nothing() {
        let text = r#"{"a":{"b":["c\"d",1.5]},"e":null}"#;
        assert!(all_members(text).is_some());
        for length in 0..text.len() {
            assert_eq!(all_members(&text[..length]), None, "{}", &text[..length]);
        }
        for text in ["", "[", "[1", "[1,", "{}", "\"", "1", "[,]", "[\"\\"] {
            assert_eq!(all_items(text), None, "{text}");
        }
    }
}
