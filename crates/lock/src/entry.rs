//! A config entry as it is written to the lock.

use serde_json::{Map, Value};
use switchboard::pins::Hash;
use switchboard::pins::seams::{MaskPolicy, mask_entry_with};
use switchboard::spec::ServerName;

/// Masks values that look secret, and sorts the keys.
///
/// A mask is followed by 16 bits of a hash of the value. They reveal that a value has changed, with a chance
/// of 1 in 65,536 of missing it, and little about the value: thousands of guesses at a weak password would
/// match.
pub(super) fn mask_entry(server: &ServerName, entry: &Value) -> Value {
    let mark = |pointer: &str, hidden: &str| {
        let hash = Hash::of(&format!("{server}\0{pointer}\0{hidden}"));
        let [first, second, ..] = hash.as_bytes();
        format!(" [{first:02x}{second:02x}]")
    };
    sort_keys(mask_entry_with(entry, MaskPolicy::Lock, mark))
}

/// Sorts the keys of all objects.
pub(super) fn sort_keys(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(key, value)| (key, sort_keys(value)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sort_keys).collect()),
        plain => plain,
    }
}
