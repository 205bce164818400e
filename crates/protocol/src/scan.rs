//! Finding the parts of a JSON text without reading them.
//!
//! Every text that comes here has been checked by the JSON parser already, so this only looks for
//! where values end. On a text that is not JSON it stops and says so; it never panics, recurses or
//! reads past the end.

use std::borrow::Cow;

/// Calls `take` with each key of an object and the text of its value; `None` for anything else.
///
/// A key that is no text, because it holds a lone surrogate, is given as it is escaped: it is
/// unlike every key that anybody looks for.
pub(crate) fn members<'a>(text: &'a str, mut take: impl FnMut(&str, &'a str)) -> Option<()> {
    let bytes = text.as_bytes();
    let mut at = past_space(bytes, open(bytes, b'{')?);
    if bytes.get(at) == Some(&b'}') {
        return Some(());
    }
    loop {
        let key_end = string_end(bytes, at)?;
        let key = key_text(text.get(at..key_end)?)?;
        at = past_space(bytes, key_end);
        if bytes.get(at) != Some(&b':') {
            return None;
        }
        at = past_space(bytes, at + 1);
        let end = value_end(bytes, at)?;
        take(&key, text.get(at..end)?);
        at = past_space(bytes, end);
        match bytes.get(at)? {
            b',' => at = past_space(bytes, at + 1),
            b'}' => return Some(()),
            _ => return None,
        }
    }
}

/// Calls `take` with the text of each item of an array until it says `false`; `None` for anything
/// else.
pub(crate) fn items<'a>(text: &'a str, mut take: impl FnMut(&'a str) -> bool) -> Option<()> {
    let bytes = text.as_bytes();
    let mut at = past_space(bytes, open(bytes, b'[')?);
    if bytes.get(at) == Some(&b']') {
        return Some(());
    }
    loop {
        let end = value_end(bytes, at)?;
        if !take(text.get(at..end)?) {
            return Some(());
        }
        at = past_space(bytes, end);
        match bytes.get(at)? {
            b',' => at = past_space(bytes, at + 1),
            b']' => return Some(()),
            _ => return None,
        }
    }
}

/// The text between the quotes of a JSON string that has no escapes.
pub(crate) fn plain_string(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    (next_special(inner.as_bytes(), 0) == inner.len()).then_some(inner)
}

fn key_text(quoted: &str) -> Option<Cow<'_, str>> {
    if let Some(plain) = plain_string(quoted) {
        return Some(Cow::Borrowed(plain));
    }
    match serde_json::from_str(quoted) {
        Ok(decoded) => Some(Cow::Owned(decoded)),
        Err(_) => quoted.get(1..quoted.len() - 1).map(Cow::Borrowed),
    }
}

fn open(bytes: &[u8], bracket: u8) -> Option<usize> {
    let at = past_space(bytes, 0);
    (bytes.get(at) == Some(&bracket)).then_some(at + 1)
}

fn past_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Where the value that begins at `at` ends.
fn value_end(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => string_end(bytes, at),
        b'{' | b'[' => nested_end(bytes, at),
        _ => {
            let rest = bytes.get(at..)?;
            let ends =
                |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t');
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            (length > 0).then_some(at + length)
        }
    }
}

/// Where the object or array that begins at `at` ends: brackets are counted, strings passed over.
fn nested_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at)? {
            b'"' => {
                at = string_end(bytes, at)?;
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
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

/// Where the string whose opening quote is at `at` ends.
fn string_end(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'"') {
        return None;
    }
    let mut at = at + 1;
    loop {
        at = next_special(bytes, at);
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            // Whatever is escaped is one byte here; the digits of `\u` are not special.
            _ => at += 2,
        }
    }
}

/// Where the next quote or backslash is, from `at` on; the end where there is none.
fn next_special(bytes: &[u8], at: usize) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Eight bytes at a time: a byte of `word ^ pattern` is zero where the byte is the one looked
    // for, and subtracting one from a zero byte carries into its highest bit.
    let zero = |word: u64| word.wrapping_sub(LOW) & !word & HIGH;
    let rest = bytes.get(at..).unwrap_or_default();
    let (chunks, tail) = rest.as_chunks::<8>();
    for (index, chunk) in chunks.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let found = zero(word ^ (LOW * 0x22)) | zero(word ^ (LOW * 0x5c));
        if found != 0 {
            // The lowest bit found is always a true one; only higher ones may be carried into.
            let inside = usize::try_from(found.trailing_zeros() / 8).unwrap_or(0);
            return at + index * 8 + inside;
        }
    }
    let inside = tail.iter().position(|byte| matches!(byte, b'"' | b'\\'));
    at + chunks.len() * 8 + inside.unwrap_or(tail.len())
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
        items(text, |item| {
            found.push(item);
            true
        })?;
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

    #[test]
    fn special_bytes_are_found_at_every_place() {
        for special in ['"', '\\'] {
            for before in 0..20 {
                // Bytes next to the ones looked for, and beyond ASCII.
                let text = format!("{}é{special}#!]", "#".repeat(before));
                let place = text.find(special).unwrap();
                assert_eq!(next_special(text.as_bytes(), 0), place);
            }
        }
    }
}
