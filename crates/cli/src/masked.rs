//! Config entries in our own format, with secrets masked, and a search for secrets in clear.

use serde_json::{Map, Value};
use switchboard::config::Entry;
use switchboard::mask::{self, MaskPolicy};
use switchboard::secret::{MASK, is_secret, mask_args};

/// The fields of an entry, in the order in which they are shown and written.
pub(crate) const FIELDS: &[&str] = &[
    "type",
    "command",
    "args",
    "env",
    "env_passthrough",
    "env_file",
    "cwd",
    "url",
    "headers",
    "streamable",
    "strict_session_id",
    "oauth",
    "enabled",
    "fail_if_no_tools",
    "timeout",
    "connect_timeout",
    "discovery_timeout",
    "execution_timeout",
    "max_retries",
    "retry_backoff",
    "cache_tools_list",
    "reconnect",
    "max_reconnect_attempts",
    "allowed_tools",
    "blocked_tools",
    "protocol",
    "name_style",
    "clean_arguments",
    "idempotent_tools",
    "roots",
    "sampling",
];

/// Returns an entry in our own format, unexpanded, with only the fields that have an effect. The tools that
/// another client never asks about are left out: they are only a suggestion.
pub(crate) fn plain(entry: &Entry) -> Map<String, Value> {
    let mut out = Map::new();
    for field in FIELDS {
        let value = match *field {
            "type" => Some(entry.transport().to_string().into()),
            "command" => entry.command().map(Value::from),
            "args" => Some(entry.args().map(Value::from).collect::<Value>())
                .filter(|args| args.as_array().is_some_and(|args| !args.is_empty())),
            "url" => entry.url().map(Value::from),
            _ => entry.value().get(field).cloned(),
        };
        if let Some(value) = value {
            out.insert((*field).to_owned(), value);
        }
    }
    out
}

/// Returns the entry with every value masked that may be a secret. References such as `${TOKEN}` are shown.
pub(crate) fn mask_fields(entry: &Entry) -> Map<String, Value> {
    let plain = Value::Object(plain(entry));
    match mask::mask_entry(&plain, MaskPolicy::Listing) {
        Value::Object(members) => members,
        // Masking keeps an object an object.
        _ => Map::new(),
    }
}

/// Returns the names of the fields that hold a secret in clear.
pub(crate) fn in_clear(entry: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    for (field, title) in [
        ("env", "the variable"),
        ("headers", "the header"),
        ("oauth", "the OAuth setting"),
    ] {
        let members = entry.get(field).and_then(Value::as_object);
        for (name, value) in members.into_iter().flatten() {
            let Some(text) = value.as_str() else { continue };
            let is_reference = text.contains("${");
            if !is_reference && (is_secret(name, text) || field == "headers" && is_named(name)) {
                found.push(format!("{title} {name}"));
            }
        }
    }
    // Arguments have no names: a value counts as secret if it would be masked.
    let args = entry.get("args").and_then(Value::as_array);
    let args = args.into_iter().flatten();
    let args: Vec<String> = args.filter_map(Value::as_str).map(str::to_owned).collect();
    for (at, (arg, masked)) in args.iter().zip(mask_args(&args)).enumerate() {
        if *arg != masked && !arg.contains("${") {
            found.push(format!("argument {}", at + 1));
        }
    }
    let text = entry.get("url").and_then(Value::as_str);
    if text.is_some_and(|text| {
        !text.contains("${") && mask::url(text, MaskPolicy::Listing).contains(MASK)
    }) {
        found.push("a part of the URL".to_owned());
    }
    found
}

/// Returns true for a header that carries a secret.
fn is_named(header: &str) -> bool {
    is_secret(header, "any value")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_clear_are_named() {
        let entry = serde_json::json!({
            "args": ["--token", "hunter2", "--token", "${T}"],
            "env": {"API_KEY": "hunter2", "OTHER_KEY": "${K}", "LANG": "C", "EMPTY_TOKEN": "",
                    "REGION": "us-east-1", "AUTH_TYPE": "basic"},
            "headers": {"Authorization": "Bearer x", "Accept": "text/plain"},
            "url": "https://example.com/?token=x",
        });
        let entry = entry.as_object().cloned().unwrap();
        assert_eq!(
            in_clear(&entry),
            [
                "the variable API_KEY",
                "the header Authorization",
                "argument 2",
                "a part of the URL"
            ]
        );
    }
}
