//! Entries in our own format, as they are or with secrets masked, and a search for secrets in clear.

use serde_json::{Map, Value};
use switchboard_core::mask::{self, MaskPolicy};
use switchboard_core::secret::{MASK, is_secret, mask_args};

use super::entry::Entry;
use super::fields::FIELDS;

impl Entry {
    /// Returns the entry in our own format, unexpanded, with only the fields that have an effect. The tools
    /// that another client never asks about are left out: they are only a suggestion.
    #[doc(hidden)]
    pub fn canonical(&self) -> Map<String, Value> {
        let mut out = Map::new();
        for field in FIELDS.iter().map(|field| field.name) {
            let value = match field {
                "always_allow" => None,
                "type" => Some(self.transport().to_string().into()),
                "command" => self.command().map(Value::from),
                "args" => Some(self.args().map(Value::from).collect::<Value>())
                    .filter(|args| args.as_array().is_some_and(|args| !args.is_empty())),
                "url" => self.url().map(Value::from),
                _ => self.value().get(field).cloned(),
            };
            if let Some(value) = value {
                out.insert(field.to_owned(), value);
            }
        }
        out
    }

    /// Returns the entry in our own format with every value masked that may be a secret. References such as
    /// `${TOKEN}` are shown.
    #[doc(hidden)]
    pub fn masked(&self) -> Map<String, Value> {
        match mask::mask_entry(&Value::Object(self.canonical()), MaskPolicy::Listing) {
            Value::Object(members) => members,
            // Masking keeps an object an object.
            _ => Map::new(),
        }
    }
}

/// Returns the names of the fields of an entry in our own format that hold a secret in clear.
#[doc(hidden)]
pub fn secrets_in_clear(entry: &Map<String, Value>) -> Vec<String> {
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
            if !is_reference
                && (is_secret(name, text) || field == "headers" && is_secret_header(name))
            {
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
fn is_secret_header(header: &str) -> bool {
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
            secrets_in_clear(&entry),
            [
                "the variable API_KEY",
                "the header Authorization",
                "argument 2",
                "a part of the URL"
            ]
        );
    }
}
