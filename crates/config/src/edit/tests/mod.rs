//! Changes of texts and of files.

mod files;
mod invented;
mod refusals;
mod texts;
mod writers;

use serde_json::{Value, json};
use switchboard_core::spec::ServerName;

use super::{Change, EditError};

fn name(name: &str) -> ServerName {
    ServerName::parse(name).unwrap()
}

fn add(server: &str) -> Change {
    add_entry(server, json!({"command": "new", "args": ["-y", "pkg"]}))
}

fn add_entry(server: &str, entry: Value) -> Change {
    Change::Add {
        name: name(server),
        entry,
        replace: false,
    }
}

fn replace(server: &str, entry: Value) -> Change {
    Change::Add {
        name: name(server),
        entry,
        replace: true,
    }
}

fn remove(server: &str) -> Change {
    Change::Remove { name: name(server) }
}

fn enable(server: &str) -> Change {
    Change::Enable { name: name(server) }
}

fn disable(server: &str) -> Change {
    Change::Disable { name: name(server) }
}

#[track_caller]
fn apply(text: &str, change: &Change) -> String {
    super::apply(text, change).unwrap()
}

#[track_caller]
fn refused(text: &str, change: &Change) -> EditError {
    super::apply(text, change).unwrap_err()
}
