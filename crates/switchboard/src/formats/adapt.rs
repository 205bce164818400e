//! Definitions adapted to the limits of models' APIs.

use std::fmt;

use serde_json::{Map, Value};
use switchboard_wire::{Schema, Tool};

/// A value in the shape of an API, and what was changed for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapted<T> {
    /// The value.
    pub value: T,
    /// A note for each change and its reason; empty where nothing was lost.
    pub notes: Vec<Note>,
}

/// One thing that an API does not take, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The part that changed: `name`, `description`, `parameters`, `content`.
    pub part: &'static str,
    /// The change and its reason, for a person.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.part, self.text)
    }
}

/// Collects notes on one part after the other.
#[derive(Default)]
pub(super) struct Notes(pub(super) Vec<Note>);

impl Notes {
    pub(super) fn add(&mut self, part: &'static str, text: impl Into<String>) {
        self.0.push(Note {
            part,
            text: text.into(),
        });
    }
}

/// Says where a name is not one that both APIs take; it is not changed, because calls come back
/// under it.
pub(super) fn check_name(name: &str, notes: &mut Notes) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if name.is_empty() || name.len() > 64 || !name.bytes().all(is_plain) {
        notes.add(
            "name",
            "the API takes only 1 to 64 letters, digits, `_` and `-`",
        );
    }
}

/// The description of a tool, or its title where it has none.
pub(super) fn description(tool: &Tool, most: Option<usize>, notes: &mut Notes) -> Option<String> {
    let title = || tool.annotations().and_then(|hints| hints.title());
    // A model chooses by this text, so a title is better than nothing.
    let text = tool.description().or(tool.title()).or_else(title)?;
    let Some(most) = most.filter(|most| text.chars().count() > *most) else {
        return Some(text.to_owned());
    };
    notes.add(
        "description",
        format!("cut to {most} characters, the most that the API takes"),
    );
    let kept = text.chars().take(most.saturating_sub(1));
    Some(kept.chain(['…']).collect())
}

/// Keywords that neither API takes at the root of a schema.
const NOT_AT_THE_ROOT: [&str; 5] = ["allOf", "anyOf", "oneOf", "not", "enum"];

/// The schema of a tool's arguments with a root that APIs take: an object with properties.
///
/// Any loss only widens the schema: the arguments are still checked against the one
/// that the server gave.
pub(super) fn parameters(schema: &Schema, part: &'static str, notes: &mut Notes) -> Value {
    let decoded = schema.raw().decode::<Map<String, Value>>();
    let Ok(mut root) = decoded else {
        notes.add(part, "replaced by any object: it holds what cannot be read");
        return Value::Object(any_object(Map::new()));
    };
    if root.remove("$schema").is_some() {
        notes.add(part, "`$schema` dropped: the API does not take it");
    }
    // Before the keywords are taken out: the target may have some of them.
    follow_root(&mut root, part, notes);
    for keyword in NOT_AT_THE_ROOT {
        let Some(value) = root.remove(keyword) else {
            continue;
        };
        notes.add(
            part,
            format!("`{keyword}` taken from the root: the API does not take it there"),
        );
        if let (Value::Array(branches), "allOf" | "anyOf" | "oneOf") = (value, keyword) {
            merge(&mut root, branches, keyword == "allOf");
        }
    }
    match root.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        None => notes.add(part, "`type` set to `object`, which the API asks for"),
        Some(_) => notes.add(
            part,
            "`type` replaced by `object`: arguments are always one",
        ),
    }
    if !root.get("properties").is_some_and(Value::is_object) {
        notes.add(part, "empty `properties` added, which the API asks for");
    }
    Value::Object(any_object(root))
}

/// Puts in what every schema of arguments must have, `type` first.
fn any_object(mut root: Map<String, Value>) -> Map<String, Value> {
    // First in the object, as people write it.
    root.remove("type");
    let mut whole = Map::new();
    whole.insert("type".to_owned(), Value::String("object".to_owned()));
    whole.extend(root);
    let properties = whole.entry("properties").or_insert(Value::Null);
    if !properties.is_object() {
        *properties = Value::Object(Map::new());
    }
    whole
}

/// Replaces a reference at the root by what it points at.
fn follow_root(root: &mut Map<String, Value>, part: &'static str, notes: &mut Notes) {
    let Some(Value::String(reference)) = root.get("$ref").cloned() else {
        return;
    };
    let pointed = reference
        .strip_prefix('#')
        .and_then(|pointer| Value::Object(root.clone()).pointer(pointer).cloned());
    root.remove("$ref");
    match pointed {
        // One step: a root that points on is as good as none.
        Some(Value::Object(mut target)) if !target.contains_key("$ref") => {
            target.append(root);
            *root = target;
            notes.add(part, "`$ref` at the root replaced by what it points at");
        }
        _ => notes.add(part, "`$ref` at the root dropped: it leads nowhere"),
    }
}

/// Takes the properties of alternatives into the root. Required is what all of them require, or
/// what any of them does where all of them apply.
fn merge(root: &mut Map<String, Value>, branches: Vec<Value>, all_apply: bool) {
    let mut required: Option<Vec<Value>> = None;
    for branch in branches {
        let Value::Object(mut branch) = branch else {
            continue;
        };
        let asked = match branch.remove("required") {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        };
        required = Some(match required {
            None => asked,
            Some(mut before) if all_apply => {
                before.extend(asked);
                before
            }
            Some(before) => before
                .into_iter()
                .filter(|name| asked.contains(name))
                .collect(),
        });
        if let Some(Value::Object(more)) = branch.remove("properties") {
            let known = root
                .entry("properties")
                .or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(known) = known {
                for (name, schema) in more {
                    known.entry(name).or_insert(schema);
                }
            }
        }
    }
    let Some(required) = required.filter(|names| !names.is_empty()) else {
        return;
    };
    let names = root
        .entry("required")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(names) = names {
        for name in required {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
}
