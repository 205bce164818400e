//! JSON read the plain way, by `serde_json`, to hold our own reading against.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in their order, repeated ones too, each value as its text.
pub(crate) struct Members<'a>(pub(crate) Vec<(Key, &'a str)>);

/// A key as bytes: one with a lone surrogate is no text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Key(pub(crate) Vec<u8>);

impl Key {
    /// The key, where it is a text.
    pub(crate) fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

/// Reads the members of an object; `None` for whatever is not one JSON object.
pub(crate) fn members(text: &str) -> Option<Vec<(Key, &str)>> {
    // Read as bytes, keys may hold control characters, which JSON does not allow.
    value(text)?;
    serde_json::from_str::<Members<'_>>(text)
        .ok()
        .map(|members| members.0)
}

/// Reads the items of an array; `None` for whatever is not one JSON array.
pub(crate) fn items(text: &str) -> Option<Vec<&str>> {
    let items = serde_json::from_str::<Vec<&RawValue>>(text).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// The one value that a text is, without the white space around it.
pub(crate) fn value(text: &str) -> Option<&str> {
    serde_json::from_str::<&RawValue>(text)
        .ok()
        .map(RawValue::get)
}

/// How deep a valid text is nested, counted by its brackets.
pub(crate) fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut quoted, mut escaped) = (false, false);
    for byte in text.bytes() {
        match (quoted, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => quoted = !quoted,
            (false, b'{' | b'[') => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            (false, b'}' | b']') => depth -= 1,
            _ => {}
        }
    }
    deepest
}

/// Asserts that `part` is a piece of `whole`, in place: nothing was written anew.
pub(crate) fn assert_is_part(whole: &str, part: &str) {
    let outer = whole.as_bytes().as_ptr_range();
    let inner = part.as_bytes().as_ptr_range();
    assert!(
        outer.start <= inner.start && inner.end <= outer.end,
        "{part:?} is no part of {whole:?}"
    );
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<Key, &RawValue>()? {
            members.push((key, value.get()));
        }
        Ok(Members(members))
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Key, E> {
        Ok(Key(bytes.to_vec()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Key, E> {
        Ok(Key(text.as_bytes().to_vec()))
    }
}
