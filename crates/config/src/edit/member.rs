//! Sets and removes one member at a path of objects, in any JSON document.

use jsonc_parser::ast::{Object, Value};
use jsonc_parser::common::Ranged;
use serde_json::Map;

use super::EditError;
use super::add::{Habits, add};
use super::document::{self, member, shape};
use super::layout::{Container, Splice, splice};
use super::remove::remove;
use super::render::{self, Style};
use super::syntax::parse;

/// The byte order mark that some editors put before a text.
const MARK: &str = "\u{feff}";

/// Returns the value at a path, if the document has it.
pub(crate) fn value_at(text: &str, path: &[&str]) -> Result<Option<serde_json::Value>, EditError> {
    let Some(document) = parse(text.strip_prefix(MARK).unwrap_or(text))? else {
        return Ok(None);
    };
    let mut object = document::root(&document)?;
    let Some((key, parents)) = path.split_last() else {
        return Ok(Some(plain(&document)));
    };
    for at in 0..parents.len() {
        match inner(object, path, at)? {
            Some(next) => object = next,
            None => return Ok(None),
        }
    }
    Ok(member(object, key)?.map(|(_, found)| plain(&found.value)))
}

/// Sets the member at a path, in the style of its surroundings. Objects on the way are made if they are
/// missing. Everything else in the text stays as it is, byte for byte.
pub(crate) fn set(
    text: &str,
    path: &[&str],
    value: &serde_json::Value,
) -> Result<String, EditError> {
    let (mark, text) = split_mark(text);
    let Some(document) = parse(text)? else {
        return Ok(format!("{mark}{}", begin(text, path, value)));
    };
    let root = document::root(&document)?;
    // From the root: a nested object may be too small to have a style.
    let habits = Habits::of(text, Some(&Container::of_object(root)));
    let mut object = root;
    let mut splices = None;
    for (at, key) in path.iter().enumerate() {
        let container = Container::of_object(object);
        let is_last = at + 1 == path.len();
        match member(object, key)? {
            Some((_, found)) if is_last => {
                let range = found.value.start()..found.value.end();
                let style = habits.in_place(text, &container, range.start);
                splices = Some(vec![Splice {
                    range,
                    text: render::value(value, style),
                }]);
            }
            Some(_) => {
                if let Some(next) = inner(object, path, at)? {
                    object = next;
                }
            }
            // The rest of the path is new.
            None => {
                let below = path.get(at + 1..).unwrap_or_default();
                let value = nested(below, value);
                splices = Some(add(text, &container, &habits, |style| {
                    render::member(key, &value, style)
                }));
                break;
            }
        }
    }
    let out = splice(text, &splices.unwrap_or_default());
    // Compare the whole documents before returning: a mistake must cost an edit, not the user's file.
    let mut expected = plain(&document);
    place(&mut expected, path, value);
    check(&out, &expected)?;
    Ok(format!("{mark}{out}"))
}

/// Removes the member at a path, with the comments that belong to it. Returns the text as it is if the
/// document does not have it.
pub(crate) fn unset(text: &str, path: &[&str]) -> Result<String, EditError> {
    let (mark, text) = split_mark(text);
    let whole = || format!("{mark}{text}");
    let Some(document) = parse(text)? else {
        return Ok(whole());
    };
    let Some((key, parents)) = path.split_last() else {
        return Ok(whole());
    };
    let mut object = document::root(&document)?;
    for at in 0..parents.len() {
        match inner(object, path, at)? {
            Some(next) => object = next,
            None => return Ok(whole()),
        }
    }
    // What is not there needs no edit, and the text stays byte for byte.
    let Some((index, _)) = member(object, key)? else {
        return Ok(whole());
    };
    let out = splice(text, &remove(text, &Container::of_object(object), index));
    let mut expected = plain(&document);
    let mut inside = Some(&mut expected);
    for key in parents {
        inside = inside.and_then(|value| value.get_mut(*key));
    }
    if let Some(members) = inside.and_then(|value| value.as_object_mut()) {
        members.shift_remove(*key);
    }
    check(&out, &expected)?;
    Ok(format!("{mark}{out}"))
}

/// The parser does not accept a byte order mark; it is put back at the end.
fn split_mark(text: &str) -> (&str, &str) {
    match text.strip_prefix(MARK) {
        Some(text) => (MARK, text),
        None => ("", text),
    }
}

/// The object that is the member at `path[at]`; `None` if there is no such member.
fn inner<'d, 't>(
    object: &'d Object<'t>,
    path: &[&str],
    at: usize,
) -> Result<Option<&'d Object<'t>>, EditError> {
    let Some((_, found)) = member(object, path.get(at).copied().unwrap_or_default())? else {
        return Ok(None);
    };
    let pointer = || {
        let keys = path.iter().take(at + 1);
        let escaped = keys.map(|key| key.replace('~', "~0").replace('/', "~1"));
        escaped.map(|key| format!("/{key}")).collect::<String>()
    };
    let next = found.value.as_object();
    next.map(Some).ok_or_else(|| shape(pointer(), "an object"))
}

/// Creates a document in a text that has none, below comments that it may have.
fn begin(text: &str, path: &[&str], value: &serde_json::Value) -> String {
    let Habits { newline, unit } = Habits::of(text, None);
    let comments = text.trim_end();
    let gap = if comments.is_empty() { "" } else { newline };
    let style = Style::Lines {
        newline,
        indent: "",
        unit: &unit,
    };
    let document = render::value(&nested(path, value), style);
    format!("{comments}{gap}{document}{newline}")
}

/// Wraps a value in an object for each key.
fn nested(keys: &[&str], value: &serde_json::Value) -> serde_json::Value {
    keys.iter().rev().fold(value.clone(), |value, key| {
        Map::from_iter([((*key).to_owned(), value)]).into()
    })
}

/// Sets a value in a document that has objects along the path.
fn place(document: &mut serde_json::Value, path: &[&str], value: &serde_json::Value) {
    match path.split_first() {
        None => *document = value.clone(),
        Some((key, below)) => {
            if let Some(members) = document.as_object_mut() {
                let inside = members
                    .entry((*key).to_owned())
                    .or_insert_with(|| Map::new().into());
                place(inside, below, value);
            }
        }
    }
}

fn check(text: &str, expected: &serde_json::Value) -> Result<(), EditError> {
    let found = parse(text).ok().flatten();
    if found.is_some_and(|found| plain(&found) == *expected) {
        Ok(())
    } else {
        Err(EditError::Unsafe)
    }
}

/// Converts a parsed value. The parser limits the depth.
fn plain(value: &Value<'_>) -> serde_json::Value {
    match value {
        Value::NullKeyword(_) => serde_json::Value::Null,
        Value::BooleanLit(it) => it.value.into(),
        // A number that is too large for us is compared by its text.
        Value::NumberLit(it) => {
            serde_json::from_str(it.value).unwrap_or_else(|_| it.value.to_owned().into())
        }
        Value::StringLit(it) => it.value.as_ref().into(),
        Value::Array(it) => it.elements.iter().map(plain).collect(),
        Value::Object(it) => {
            let members = it.properties.iter();
            let members =
                members.map(|member| (member.name.as_str().to_owned(), plain(&member.value)));
            serde_json::Value::Object(members.collect())
        }
    }
}
