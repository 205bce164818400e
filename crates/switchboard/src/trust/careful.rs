//! Warnings: details of a claim that the user should look at twice.

use std::collections::HashSet;

use serde_json::Value;
use switchboard_core::environment::{Danger, danger};
use switchboard_core::mask::ENV;

use super::Claim;
use crate::text::{Likeness, exact_word, likeness, skeleton_if_foreign};

/// The keys that pass variables of the host through, under every name that clients use for them.
pub(super) const PASSTHROUGH: &[&str] = &["env_passthrough", "envPassthrough", "env_vars"];

/// Returns the warnings about a claim, one a line.
pub(super) fn lines(claim: &Claim) -> Vec<String> {
    let mut lines = names(claim);
    let mut variables: Vec<(String, Danger)> = variables(claim).collect();
    // Those that run code come first: the question repeats only the first lines.
    variables.sort_by_key(|(_, danger)| *danger != Danger::Code);
    let variables = variables.into_iter();
    lines.extend(
        variables.map(|(name, danger)| format!("careful: {} {}", exact_word(&name), danger.text())),
    );
    lines
}

/// Returns the variables with an effect beyond their program, each once, in the order of the claim.
pub(super) fn variables(claim: &Claim) -> impl Iterator<Item = (String, Danger)> {
    let mut found: Vec<(String, Danger)> = Vec::new();
    let set = set_by(claim).filter_map(|name| Some((name, danger(name)?)));
    // A passed variable has the user's own value, so it is dangerous only if it makes the program load
    // code.
    let through = passed(&claim.entry).filter_map(|name| Some((name, danger(name)?)));
    let through = through.filter(|(_, danger)| *danger == Danger::Code);
    // Use a set: an entry or its file of variables may have very many names.
    let mut seen = HashSet::new();
    for (name, danger) in set.chain(through) {
        if seen.insert(name) {
            found.push((name.to_owned(), danger));
        }
    }
    found.into_iter()
}

/// The names of the variables that are set, by the entry and by its file of variables.
fn set_by(claim: &Claim) -> impl Iterator<Item = &str> {
    let of_entry = ENV.iter();
    let of_entry = of_entry.filter_map(|name| claim.entry.get(name)?.as_object());
    let of_entry = of_entry.flat_map(|members| members.keys().map(String::as_str));
    let of_file = claim.env_file.iter().flat_map(|file| file.names());
    of_entry.chain(of_file.map(String::as_str))
}

fn passed(entry: &Value) -> impl Iterator<Item = &str> {
    let through = PASSTHROUGH.iter().filter_map(|name| entry.get(name));
    through.flat_map(|names| match names {
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect::<Vec<_>>(),
    })
}

/// Names that can be taken for another.
fn names(claim: &Claim) -> Vec<String> {
    let name = claim.server.as_str();
    let mut lines = Vec::new();
    if let Some(read) = skeleton_if_foreign(name) {
        lines.push(foreign("the server's name", name, &read));
    }
    for own in &claim.own_servers {
        let (name, own) = (exact_word(name), (own.as_str(), exact_word(own.as_str())));
        match likeness(claim.server.as_str(), own.0) {
            Some(Likeness::Same) => lines.push(format!(
                "careful: the name {name} looks like your own server {}, and is another one",
                own.1
            )),
            Some(Likeness::OneLetter) => lines.push(format!(
                "careful: the name {name} is one letter away from your own server {}",
                own.1
            )),
            None => {}
        }
    }
    if let Some(command) = command(&claim.entry)
        && let Some(read) = skeleton_if_foreign(command)
    {
        lines.push(foreign("the command", command, &read));
    }
    for variable in set_by(claim).chain(passed(&claim.entry)) {
        if let Some(read) = skeleton_if_foreign(variable) {
            lines.push(foreign("the variable", variable, &read));
        }
    }
    lines
}

/// The command as it is written, without its arguments.
pub(super) fn command(entry: &Value) -> Option<&str> {
    let command = entry.get("command")?;
    command.get(0).unwrap_or(command).as_str()
}

/// Words a warning that lists the characters of a name that are not what they look like.
fn foreign(what: &str, name: &str, read: &str) -> String {
    let codes = name.chars().filter(|c| !c.is_ascii());
    let codes: Vec<String> = codes.map(|c| format!("U+{:04X}", u32::from(c))).collect();
    format!(
        "careful: {what} {} has letters of another script ({}) and reads as {}",
        exact_word(name),
        codes.join(" "),
        exact_word(read)
    )
}
