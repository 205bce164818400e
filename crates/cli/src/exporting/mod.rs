//! Conversion of our servers to another client's config format.
//!
//! `client` has the format of each client, `references` its syntax of placeholders, `codex` and `toml` the
//! peculiarities of Codex. Nothing is expanded, looked up or run, and a setting without a counterpart is a
//! warning.

mod client;
mod codex;
mod references;
#[cfg(test)]
mod tests;
mod toml;

use serde_json::{Map, Value, json};
use switchboard::config::{Client, Entry, Input, Reference};
use switchboard::spec::ServerName;
use switchboard::text::write_json_safe;

use client::Form;

/// Servers in another client's format.
pub(crate) struct Exported {
    /// The content of the file.
    pub(crate) text: String,
    pub(crate) servers: Vec<ExportedServer>,
    /// Servers that the client cannot have, with the reason.
    pub(crate) left_out: Vec<(ServerName, String)>,
}

/// A server that was written.
pub(crate) struct ExportedServer {
    pub(crate) name: ServerName,
    /// Settings that were lost, or that the client may read differently.
    pub(crate) warnings: Vec<String>,
}

/// Converts entries to a file of another client.
pub(crate) fn export<'e>(entries: impl IntoIterator<Item = &'e Entry>, client: Client) -> Exported {
    let form = Form::of(client);
    let mut servers = Map::new();
    let mut inputs: Vec<Value> = Vec::new();
    let mut out = Exported {
        text: String::new(),
        servers: Vec::new(),
        left_out: Vec::new(),
    };
    for entry in entries {
        let name = entry.name().clone();
        let mut warnings = Vec::new();
        // An entry that the client cannot have does not keep the others from being exported.
        match form.write(entry, &mut warnings) {
            Ok(value) => {
                servers.insert(name.to_string(), value.into());
                // Inputs are shared by all servers of the file.
                questions(entry, &form, &mut inputs);
                out.servers.push(ExportedServer { name, warnings });
            }
            Err(reason) => out.left_out.push((name, reason)),
        }
    }
    out.text = match client {
        Client::Codex => toml::document(form.root, &servers),
        _ => {
            let mut document = Map::new();
            document.insert(form.root.to_owned(), servers.into());
            if !inputs.is_empty() {
                document.insert("inputs".to_owned(), inputs.into());
            }
            let text = serde_json::to_string_pretty(&document).unwrap_or_default();
            format!("{}\n", write_json_safe(&text))
        }
    };
    out
}

/// Adds the inputs that an entry refers to, for a client that asks for them.
fn questions(entry: &Entry, form: &Form, known: &mut Vec<Value>) {
    if !form.asks {
        return;
    }
    for reference in entry.references() {
        let Reference::Input(id) = reference else {
            continue;
        };
        if known.iter().any(|known| known["id"] == **id) {
            continue;
        }
        let described = entry.inputs().iter().find(|input| input.id == *id);
        known.push(question(id, described));
    }
}

fn question(id: &str, input: Option<&Input>) -> Value {
    let Some(input) = input else {
        // Nothing is known of it, so it may be a secret.
        return json!({"type": "promptString", "id": id, "description": id, "password": true});
    };
    let description = input.description.as_deref().unwrap_or(id);
    let mut out = if input.options.is_empty() {
        json!({"type": "promptString", "id": id, "description": description})
    } else {
        json!({"type": "pickString", "id": id, "description": description, "options": input.options})
    };
    if let Some(members) = out.as_object_mut() {
        if input.password {
            members.insert("password".to_owned(), true.into());
        }
        if let Some(default) = &input.default {
            members.insert("default".to_owned(), default.as_str().into());
        }
    }
    out
}
