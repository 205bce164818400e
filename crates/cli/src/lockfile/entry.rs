//! An entry of a config file as the lock has it.

use serde_json::{Map, Value};
use switchboard::pins::Hash;
use switchboard::pins::seams::{MaskPolicy, mask_entry_with};
use switchboard::spec::ServerName;

/// Masks what looks secret, and puts the keys in order.
///
/// Behind a mask stand 16 bits of a hash. They tell that a value is another with a chance of missing it of one in
/// 65,536, and no more about the value than that: who guesses at a weak password has thousands of
/// guesses left that fit.
pub(super) fn masked(server: &ServerName, entry: &Value) -> Value {
    let mark = |pointer: &str, hidden: &str| {
        let hash = Hash::of(&format!("{server}\0{pointer}\0{hidden}"));
        let [first, second, ..] = hash.as_bytes();
        format!(" [{first:02x}{second:02x}]")
    };
    ordered(mask_entry_with(entry, MaskPolicy::Lock, mark))
}

/// Puts the keys of all objects in order.
pub(super) fn ordered(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            let members = members.into_iter();
            Value::Object(
                members
                    .map(|(key, value)| (key, ordered(value)))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => Value::Array(items.into_iter().map(ordered).collect()),
        plain => plain,
    }
}
