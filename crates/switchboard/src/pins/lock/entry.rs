//! An entry of a config file as the lock has it.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::spec::ServerName;
use crate::trust::{self, hex};

/// Masks what looks secret, and puts the keys in order.
///
/// Behind a mask stand 16 bits of a hash. They tell that a value is another with a chance of missing it of one in
/// 65,536, and no more about the value than that: who guesses at a weak password has thousands of
/// guesses left that fit.
pub(super) fn masked(server: &ServerName, entry: &Value) -> Value {
    let mark = |pointer: &str, hidden: &str| {
        let digest = Sha256::new()
            .chain_update(server.as_str())
            .chain_update([0])
            .chain_update(pointer)
            .chain_update([0])
            .chain_update(hidden)
            .finalize();
        format!(" [{}]", hex(digest.get(..2).unwrap_or_default()))
    };
    ordered(trust::masked(entry, mark))
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
