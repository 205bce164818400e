//! Cleans up arguments that models produce, for servers that are strict about them.
//!
//! Models fill in every member that a schema offers, with empty values if they have nothing to say, and
//! shorten lists of typed objects to lists of names. Many servers accept neither. Only entries with
//! `clean_arguments` get this: it changes the arguments, and therefore reports each change.

use std::fmt;

use serde_json::{Map, Value};
use switchboard_wire::{Raw, RawError};

/// Cleaned arguments, and the changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleaned {
    /// The arguments to send; the original text if nothing was changed.
    pub arguments: Raw,
    /// The changes, in the order of the arguments.
    pub changes: Vec<Change>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The place in the original arguments, as a JSON pointer.
    pub pointer: String,
    /// The kind of change.
    pub kind: ChangeKind,
}

/// The kinds of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeKind {
    /// A `null` was removed.
    NullDropped,
    /// An object or array that is empty, perhaps after cleaning, was removed.
    EmptyDropped,
    /// A name in `sources` became an object with that type.
    SourceTyped,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            ChangeKind::NullDropped => "null dropped",
            ChangeKind::EmptyDropped => "dropped, being empty",
            ChangeKind::SourceTyped => "name made an object with a type",
        };
        write!(f, "`{}`: {what}", self.pointer)
    }
}

/// Cleans the arguments of a call.
///
/// Removes nulls and empty objects and arrays at every depth, and turns the names in a list called
/// `sources` into objects with a `type`. The arguments as a whole stay even if they become empty, and so
/// do `false`, zero and the empty string, because those are meaningful.
///
/// # Errors
/// Fails if the arguments contain values that cannot be decoded, such as half a surrogate pair.
pub fn clean(arguments: &Raw) -> Result<Cleaned, RawError> {
    let mut changes = Vec::new();
    // `decode` refuses more than 128 levels, which limits the recursion below.
    let mut value: Value = arguments.decode()?;
    members(&mut value, "", &mut changes);
    // Unchanged arguments keep their text: numbers and order as the caller wrote them.
    let arguments = if changes.is_empty() {
        arguments.clone()
    } else {
        Raw::of(&value)?
    };
    Ok(Cleaned { arguments, changes })
}

/// Cleans the members or items of a value.
fn members(value: &mut Value, at: &str, changes: &mut Vec<Change>) {
    match value {
        Value::Object(named) => {
            let kept = std::mem::take(named).into_iter();
            *named = kept
                .filter_map(|(name, mut value)| {
                    // Pointers refer to the original arguments, before anything is removed.
                    let place = format!("{at}/{}", escape_pointer(&name));
                    if name == "sources" {
                        type_sources(&mut value, &place, changes);
                    }
                    is_kept(&mut value, &place, changes).then_some((name, value))
                })
                .collect::<Map<_, _>>();
        }
        Value::Array(items) => {
            let mut number = 0;
            items.retain_mut(|item| {
                let place = format!("{at}/{number}");
                number += 1;
                is_kept(item, &place, changes)
            });
        }
        _ => {}
    }
}

/// Cleans a value; returns false if it should be removed.
fn is_kept(value: &mut Value, at: &str, changes: &mut Vec<Change>) -> bool {
    // From the inside out: a container that becomes empty is dropped too.
    members(value, at, changes);
    let kind = match value {
        Value::Null => ChangeKind::NullDropped,
        Value::Object(named) if named.is_empty() => ChangeKind::EmptyDropped,
        Value::Array(items) if items.is_empty() => ChangeKind::EmptyDropped,
        _ => return true,
    };
    changes.push(Change {
        pointer: at.to_owned(),
        kind,
    });
    false
}

fn type_sources(value: &mut Value, at: &str, changes: &mut Vec<Change>) {
    let Value::Array(items) = value else {
        return;
    };
    for (number, item) in items.iter_mut().enumerate() {
        if let Value::String(name) = item {
            let name = Value::String(std::mem::take(name));
            *item = Value::Object(Map::from_iter([("type".to_owned(), name)]));
            changes.push(Change {
                pointer: format!("{at}/{number}"),
                kind: ChangeKind::SourceTyped,
            });
        }
    }
}

/// Escapes the name of a member for a JSON pointer.
fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str) -> (String, Vec<String>) {
        let cleaned = clean(&Raw::parse(text).unwrap()).unwrap();
        let changes = cleaned.changes.iter().map(ToString::to_string).collect();
        (cleaned.arguments.as_str().to_owned(), changes)
    }

    #[track_caller]
    fn becomes(before: &str, after: &str, changes: &[&str]) {
        let changes = changes.iter().map(|change| (*change).to_owned()).collect();
        assert_eq!(cleaned(before), (after.to_owned(), changes));
    }

    #[test]
    fn nulls_are_dropped_at_every_depth() {
        becomes(
            r#"{"a":null,"b":{"c":null,"d":1},"e":[null,2,null]}"#,
            r#"{"b":{"d":1},"e":[2]}"#,
            &[
                "`/a`: null dropped",
                "`/b/c`: null dropped",
                "`/e/0`: null dropped",
                "`/e/2`: null dropped",
            ],
        );
    }

    #[test]
    fn what_is_empty_is_dropped_with_what_only_held_it() {
        becomes(
            r#"{"a":{},"b":[],"c":{"d":{"e":null}},"f":[[],{}],"g":1}"#,
            r#"{"g":1}"#,
            &[
                "`/a`: dropped, being empty",
                "`/b`: dropped, being empty",
                "`/c/d/e`: null dropped",
                "`/c/d`: dropped, being empty",
                "`/c`: dropped, being empty",
                "`/f/0`: dropped, being empty",
                "`/f/1`: dropped, being empty",
                "`/f`: dropped, being empty",
            ],
        );
    }

    #[test]
    fn names_of_sources_get_a_type() {
        becomes(
            r#"{"sources":["web",{"type":"news"},"x"]}"#,
            r#"{"sources":[{"type":"web"},{"type":"news"},{"type":"x"}]}"#,
            &[
                "`/sources/0`: name made an object with a type",
                "`/sources/2`: name made an object with a type",
            ],
        );
        becomes(
            r#"{"q":{"sources":["web"]}}"#,
            r#"{"q":{"sources":[{"type":"web"}]}}"#,
            &["`/q/sources/0`: name made an object with a type"],
        );
        becomes(r#"{"sources":"web"}"#, r#"{"sources":"web"}"#, &[]);
    }

    #[test]
    fn what_says_something_stays() {
        let text = r#"{ "a": false, "b": 0, "c": "", "d": [0], "z": 1.10 }"#;
        // The text itself: numbers and spaces are those of the model.
        becomes(text, text, &[]);
    }

    #[test]
    fn the_arguments_themselves_stay_however_empty() {
        becomes("{}", "{}", &[]);
        becomes(r#"{"a":null}"#, "{}", &["`/a`: null dropped"]);
        becomes("null", "null", &[]);
        becomes("[]", "[]", &[]);
    }

    #[test]
    fn the_order_stays_and_places_are_pointers() {
        becomes(
            r#"{"z":1,"a/b~c":null,"m":2}"#,
            r#"{"z":1,"m":2}"#,
            &["`/a~1b~0c`: null dropped"],
        );
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        assert!(clean(&Raw::parse(r#"{"a":"\ud800"}"#).unwrap()).is_err());
    }
}
