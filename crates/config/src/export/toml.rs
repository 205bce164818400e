//! TOML output, as far as Codex's files need it.

use serde_json::{Map, Value};
use switchboard_core::text::sanitise_line;

/// Formats a table at a path, with its inner tables.
pub(crate) fn table_at(path: &[&str], members: &Map<String, Value>) -> String {
    let head: Vec<String> = path.iter().map(|name| key(name)).collect();
    let mut out = String::new();
    table(&head.join("."), members.iter(), &mut out);
    out
}

/// Formats a table for each server, below `root`.
pub(super) fn document(root: &str, servers: &Map<String, Value>) -> String {
    let mut out = String::new();
    for (name, server) in servers {
        if !out.is_empty() {
            out.push('\n');
        }
        let head = format!("{root}.{}", key(name));
        let members = server.as_object().into_iter().flatten();
        table(&head, members, &mut out);
    }
    out
}

/// Writes a table. Inner tables follow its plain keys: in TOML, keys belong to the table header before them.
fn table<'v>(head: &str, members: impl Iterator<Item = (&'v String, &'v Value)>, out: &mut String) {
    out.push_str(&format!("[{head}]\n"));
    let mut inner = Vec::new();
    for (name, value) in members {
        match value {
            Value::Object(members) => inner.push((name, members)),
            Value::Null => {}
            value => out.push_str(&format!("{} = {}\n", key(name), toml_value(value))),
        }
    }
    // Inner tables after all plain keys of this table.
    for (name, members) in inner {
        out.push('\n');
        table(&format!("{head}.{}", key(name)), members.iter(), out);
    }
}

/// Writes a value on one line.
pub(crate) fn toml_value(value: &Value) -> String {
    match value {
        Value::String(text) => toml_string(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(toml_value).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let members = members.iter();
            let members =
                members.map(|(name, value)| format!("{} = {}", key(name), toml_value(value)));
            let members: Vec<String> = members.collect();
            format!("{{ {} }}", members.join(", "))
        }
        // TOML has no null, and a valid entry has none either.
        Value::Null => toml_string(""),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Writes a key, in quotes if it needs them.
pub(crate) fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_owned()
    } else {
        toml_string(name)
    }
}

/// Quotes a text and escapes every character that a terminal would obey or hide.
fn toml_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if sanitise_line(c.encode_utf8(&mut [0; 4])) != c.to_string() => {
                out.push_str(&format!("\\U{:08X}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tables_come_last_and_texts_are_safe() {
        let servers = json!({"a b": {"env": {"K": "v\u{1b}\u{e0001}\"\\"}, "args": ["x", "é\n"], "on": true}});
        assert_eq!(
            document("mcp_servers", servers.as_object().unwrap()),
            "[mcp_servers.\"a b\"]\nargs = [\"x\", \"é\\n\"]\non = true\n\n\
             [mcp_servers.\"a b\".env]\nK = \"v\\U0000001B\\U000E0001\\\"\\\\\"\n"
        );
    }
}
