//! Applies a change to the text of a config file.

use std::collections::BTreeSet;

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use serde_json::json;
use switchboard_core::spec::ServerName;

use super::add::{Habits, add};
use super::document::{self, FoundServer, Home, ROOTS};
use super::layout::{Container, Splice, splice};
use super::remove::remove;
use super::render::{self, Style};
use super::syntax::parse;
use super::{Change, EditError, toggle};

/// The byte order mark that some editors put before a text.
const MARK: &str = "\u{feff}";

/// Applies a change to a text.
///
/// A server is added under the key that the file has, `mcpServers` or `servers`, to an object or to a
/// list of entries with a `name`. A text without either key gets `mcpServers`, and an empty text becomes a
/// document. Everything else in the text stays as it is, byte for byte.
///
/// ```
/// use serde_json::json;
/// use switchboard_config::edit::{Change, apply};
/// use switchboard_core::spec::ServerName;
///
/// # fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let text = "{\n  \"mcpServers\": {\n    // mine\n    \"a\": { \"command\": \"a\" }\n  }\n}\n";
/// let name = ServerName::parse("b")?;
/// let entry = json!({"command": "b"});
/// let added = apply(text, &Change::Add { name: name.clone(), entry, replace: false })?;
/// assert!(added.contains("    \"b\": {\n      \"command\": \"b\"\n    }\n"));
/// assert_eq!(apply(&added, &Change::Remove { name })?, text);
/// # Ok(())
/// # }
/// # example().unwrap();
/// ```
///
/// # Errors
/// Fails if the text cannot be parsed, does not contain the server, or contains it twice; or if it
/// already contains the server to be added.
pub fn apply(text: &str, change: &Change) -> Result<String, EditError> {
    // The parser does not accept a byte order mark; put it back at the end.
    let (mark, text) = match text.strip_prefix(MARK) {
        Some(text) => (MARK, text),
        None => ("", text),
    };
    let Some(value) = parse(text)? else {
        return Ok(format!("{mark}{}", begin(text, change)?));
    };
    let root = document::root(&value)?;
    // Find the target before changing anything: ambiguous files are refused here.
    let homes = document::homes(root)?;
    let container = Container::of_object(root);
    // The file's own line ends and indentation, so that a diff shows the new entry alone.
    let habits = Habits::of(text, Some(&container));
    let found = document::find(&homes, change.name())?;
    let splices = match (change, found) {
        (
            Change::Add {
                name,
                entry,
                replace,
            },
            found,
        ) => {
            let entry = entry.as_object().ok_or(EditError::Entry)?;
            match found {
                Some(found) if *replace => replace_entry(text, &found, name, entry, &habits),
                Some(_) => return Err(EditError::Exists(name.clone())),
                None => match homes.first() {
                    Some(home) => add_entry(text, home, name, entry, &habits),
                    None => add(text, &container, &habits, |style| {
                        let [key, _] = ROOTS;
                        render::member(key, &json!({ name.as_str(): entry }), style)
                    }),
                },
            }
        }
        // Before the other changes: none of them makes an entry.
        (_, None) => return Err(document::no_such(&homes, change.name())),
        (Change::Remove { .. }, Some(found)) => remove(text, &found.container, found.index),
        (Change::Enable { .. }, Some(found)) => toggle::enable(text, found.object()?)?,
        (Change::Disable { .. }, Some(found)) => toggle::disable(text, found.object()?, &habits)?,
    };
    // Verify the result before returning it: a mistake here must cost an edit, not the user's file.
    let out = splice(text, &splices);
    check(&homes, &out, change)?;
    Ok(format!("{mark}{out}"))
}

type EntryMap = serde_json::Map<String, serde_json::Value>;

/// Adds an entry to the servers of a document.
fn add_entry(
    text: &str,
    home: &Home<'_, '_>,
    name: &ServerName,
    entry: &EntryMap,
    habits: &Habits,
) -> Vec<Splice> {
    add(text, &home.container, habits, |style| {
        if home.is_list() {
            render::value(&with_name(name, entry), style)
        } else {
            render::member(name.as_str(), &entry.clone().into(), style)
        }
    })
}

/// Replaces the entry of a server.
fn replace_entry(
    text: &str,
    found: &FoundServer<'_, '_>,
    name: &ServerName,
    entry: &EntryMap,
    habits: &Habits,
) -> Vec<Splice> {
    let range = found.value.start()..found.value.end();
    let style = habits.in_place(text, &found.container, range.start);
    let entry = if found.is_listed {
        with_name(name, entry)
    } else {
        entry.clone().into()
    };
    vec![Splice {
        range,
        text: render::value(&entry, style),
    }]
}

/// An entry with its name as a member.
fn with_name(name: &ServerName, entry: &EntryMap) -> serde_json::Value {
    let mut named = EntryMap::new();
    named.insert("name".to_owned(), name.as_str().into());
    // The name comes first in a list, where people look for it.
    let others = entry.iter().filter(|(key, _)| *key != "name");
    named.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    named.into()
}

/// Creates a document in a text that has none, below comments that it may have.
fn begin(text: &str, change: &Change) -> Result<String, EditError> {
    let Change::Add { name, entry, .. } = change else {
        return Err(document::no_such(&[], change.name()));
    };
    if !entry.is_object() {
        return Err(EditError::Entry);
    }
    let Habits { newline, unit } = Habits::of(text, None);
    // A file of comments alone keeps them.
    let comments = text.trim_end();
    let gap = if comments.is_empty() { "" } else { newline };
    let [key, _] = ROOTS;
    let style = Style::Lines {
        newline,
        indent: "",
        unit: &unit,
    };
    let document = render::value(&json!({ key: { name.as_str(): entry } }), style);
    Ok(format!("{comments}{gap}{document}{newline}"))
}

/// Parses the new text and compares its servers with the expected ones.
///
/// A mistake in cutting must cost an edit, not the user's file.
fn check(homes: &[Home<'_, '_>], out: &str, change: &Change) -> Result<(), EditError> {
    let mut expected: BTreeSet<&str> = names(homes);
    match change {
        Change::Add { name, .. } => expected.insert(name.as_str()),
        Change::Remove { name } => expected.remove(name.as_str()),
        Change::Enable { .. } | Change::Disable { .. } => false,
    };
    // Parsed from scratch: only the text counts, not what the edit meant to write.
    let value = parse(out).ok().flatten();
    let root = value.as_ref().and_then(Value::as_object);
    let homes = root.and_then(|root| document::homes(root).ok());
    if homes.is_some_and(|homes| names(&homes) == expected) {
        Ok(())
    } else {
        Err(EditError::Unsafe)
    }
}

fn names<'d>(homes: &[Home<'d, '_>]) -> BTreeSet<&'d str> {
    let servers = homes.iter().flat_map(Home::servers);
    servers.map(|(name, ..)| name).collect()
}
