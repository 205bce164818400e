//! One definition in a lock: its hash, and its text beside it.

use serde_json::value::RawValue;
use switchboard::pins::Hash;
use switchboard::pins::seams::canonical;
use switchboard::secret::Redactor;
use switchboard::text::write_json_safe;
use switchboard_wire::Raw;

/// Maximum depth of a definition that is written; a deeper one would be mostly indentation.
const DEEPEST: usize = 64;

/// One definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LockedItem {
    pub(super) hash: Hash,
    /// The canonical text; `None` if the lock has only the hash.
    pub(super) text: Option<String>,
}

impl LockedItem {
    /// Creates an item from a canonical text.
    pub(super) fn of(text: String) -> Self {
        Self {
            hash: Hash::of(&text),
            text: Some(text),
        }
    }

    /// Reads a definition that is written beside its hash.
    ///
    /// # Errors
    /// Fails if the text does not match the hash: a reviewer would have seen a text other than the one that
    /// is compared.
    pub(super) fn read(hash: Hash, written: Option<&RawValue>) -> Result<Self, &'static str> {
        let Some(written) = written else {
            return Ok(Self { hash, text: None });
        };
        let raw = Raw::parse(written.get()).map_err(|_| "the definition is no JSON")?;
        // Canonical before hashing: white space and the order of keys may differ.
        let text = canonical(&raw);
        if Hash::of(&text) == hash {
            Ok(Self {
                hash,
                text: Some(text),
            })
        } else {
            Err("the definition is not the one that the hash beside it is of")
        }
    }

    /// Drops the text if it contains a secret; the hash stays.
    pub(super) fn without(&mut self, secrets: &Redactor) {
        let holds = |text: &String| secrets.redact(text) != text.as_str();
        self.text = self.text.take().filter(|text| !holds(text));
    }

    /// Formats the text for the file, indented. Returns `None` if it is longer than `room`.
    pub(super) fn pretty(&self, indent: usize, room: usize) -> Option<String> {
        let text = self.text.as_deref()?;
        let pretty = pretty(text, indent, room)?;
        // Escapes are longer than the characters that they stand for.
        let is_short = write_json_safe(&pretty).len() <= room;
        is_short.then_some(pretty)
    }
}

/// Adds white space to a canonical text and changes nothing else: text that no parsed value holds, such as
/// half a surrogate pair, stays as it is.
fn pretty(text: &str, indent: usize, room: usize) -> Option<String> {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut chars = text.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent + 2 * depth));
    };
    let mut is_string = false;
    while let Some(c) = chars.next() {
        // Stop early: a hostile definition may be deep enough to indent forever.
        if out.len() > room || depth > DEEPEST {
            return None;
        }
        // Copied verbatim up to the closing quote; an escape protects the next character.
        if is_string {
            out.push(c);
            match c {
                '"' => is_string = false,
                '\\' => out.extend(chars.next()),
                _ => {}
            }
            continue;
        }
        match c {
            '"' => {
                is_string = true;
                out.push(c);
            }
            '{' | '[' => {
                out.push(c);
                match chars.next_if(|next| matches!(next, '}' | ']')) {
                    Some(close) => out.push(close),
                    None => {
                        depth += 1;
                        line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            _ => out.push(c),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_all_that_is_added() {
        let text = r#"{"a":[1,{"b":[]}],"c":"x: [y, \"z\"] \ud800","d":{},"d":1e400}"#;
        let expected = "{\n    \"a\": [\n      1,\n      {\n        \"b\": []\n      }\n    ],\n    \
                        \"c\": \"x: [y, \\\"z\\\"] \\ud800\",\n    \"d\": {},\n    \"d\": 1e400\n  }";
        assert_eq!(pretty(text, 2, 1000).as_deref(), Some(expected));
        let again = canonical(&Raw::parse(expected).unwrap());
        assert_eq!(again, text);
        assert_eq!(
            pretty("\"plain, text\"", 4, 100).as_deref(),
            Some("\"plain, text\"")
        );
    }

    #[test]
    fn what_is_too_long_or_too_deep_is_left_out() {
        let item = LockedItem::of(format!("\"{}\"", "x".repeat(100)));
        assert!(item.pretty(0, 102).is_some());
        assert!(item.pretty(0, 101).is_none());
        // Six characters in the file for each of these.
        let hidden = LockedItem::of(format!("\"{}\"", "\u{200b}".repeat(10)));
        assert!(hidden.pretty(0, 62).is_some());
        assert!(hidden.pretty(0, 61).is_none());
        let deep = |depth: usize| LockedItem::of("[".repeat(depth) + "1" + &"]".repeat(depth));
        assert!(deep(DEEPEST).pretty(0, usize::MAX).is_some());
        assert!(deep(DEEPEST + 1).pretty(0, usize::MAX).is_none());
    }

    #[test]
    fn what_has_a_secret_in_it_is_known_by_its_hash_alone() {
        let mut secrets = Redactor::new();
        secrets.add("canary-secret");
        let mut item = LockedItem::of("\"with canary-secret in it\"".to_owned());
        let hash = item.hash;
        item.without(&secrets);
        assert_eq!(item, LockedItem { hash, text: None });
        let mut plain = LockedItem::of("\"plain\"".to_owned());
        plain.without(&secrets);
        assert_eq!(plain, LockedItem::of("\"plain\"".to_owned()));
    }
}
