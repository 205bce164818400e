//! A definition in the lock file: its hash, alone or with the text beside it.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use switchboard::pins::Hash;
use switchboard::text::write_json_safe;

use super::DEFINITION_BYTES;
use super::item::LockedItem;

/// Indentation of a definition in the file.
const INDENT: usize = 12;

/// A definition as it is written to the file.
pub(super) struct WrittenItem {
    pub(super) item: LockedItem,
    /// The text beside the hash.
    definition: Option<Box<RawValue>>,
}

impl WrittenItem {
    /// Creates one from an item, with its text if there is room for it, and deducts its length from the room.
    pub(super) fn of(item: &LockedItem, room: &mut usize) -> Self {
        let pretty = item.pretty(INDENT, DEFINITION_BYTES.min(*room));
        let definition = pretty.and_then(|text| {
            // Measured as written: escapes take more room than the characters that they stand for.
            *room = room.saturating_sub(write_json_safe(&text).len());
            RawValue::from_string(text).ok()
        });
        Self {
            item: item.clone(),
            definition,
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Beside<D> {
    hash: Digest,
    definition: D,
}

impl Serialize for WrittenItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let hash = Digest(self.item.hash);
        match &self.definition {
            Some(definition) => Beside { hash, definition }.serialize(serializer),
            None => hash.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for WrittenItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenVisitor)
    }
}

struct WrittenVisitor;

impl<'de> Visitor<'de> for WrittenVisitor {
    type Value = WrittenItem;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a hash, or an object with `hash` and `definition`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<WrittenItem, E> {
        let hash = text.parse().map_err(E::custom)?;
        item(hash, None)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WrittenItem, A::Error> {
        let read: Beside<Box<RawValue>> = Beside::deserialize(MapAccessDeserializer::new(map))?;
        item(read.hash.0, Some(&read.definition))
    }
}

fn item<E: Error>(hash: Hash, definition: Option<&RawValue>) -> Result<WrittenItem, E> {
    Ok(WrittenItem {
        item: LockedItem::read(hash, definition).map_err(E::custom)?,
        definition: None,
    })
}

struct Digest(Hash);

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}
