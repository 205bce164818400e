//! Entries of config files with what may be secret masked, and what is secret in them in clear.

use serde_json::{Map, Value};
use switchboard::config::Entry;
use switchboard::secret::{MASK, SafeUrl, is_secret, mask_args};

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

/// Words before a token that are no part of it.
const SCHEMES: &[&str] = &["Bearer ", "Basic ", "Token "];

/// An entry in our own form and as it is written, with only the fields that have an effect. Not
/// among them: the tools that another client never asks about, which are no more than a suggestion.
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

/// The same with every value masked that may be a secret. References such as `${TOKEN}` are shown.
pub(crate) fn masked(entry: &Entry) -> Map<String, Value> {
    let mut out = plain(entry);
    for (field, value) in &mut out {
        match (field.as_str(), value) {
            ("env", value) => variables(value),
            ("headers", value) => hide(value),
            ("url", Value::String(text)) => *text = url(text),
            ("args", value) => arguments(value),
            (_, value) => each(value, &|text| {
                argument(text, &mask_args(&[text.to_owned()]))
            }),
        }
    }
    out
}

/// What of an entry is a secret in clear, by its name.
pub(crate) fn in_clear(entry: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    for (field, title) in [("env", "the variable"), ("headers", "the header")] {
        let members = entry.get(field).and_then(Value::as_object);
        for (name, value) in members.into_iter().flatten() {
            let Some(text) = value.as_str() else { continue };
            let is_reference = text.contains("${");
            if !is_reference && (is_secret(name, text) || field == "headers" && is_named(name)) {
                found.push(format!("{title} {name}"));
            }
        }
    }
    let args = entry.get("args").and_then(Value::as_array);
    let args = args.into_iter().flatten();
    let args: Vec<String> = args.filter_map(Value::as_str).map(str::to_owned).collect();
    for (at, (arg, masked)) in args.iter().zip(mask_args(&args)).enumerate() {
        if *arg != masked && !arg.contains("${") {
            found.push(format!("argument {}", at + 1));
        }
    }
    let text = entry.get("url").and_then(Value::as_str);
    if text.is_some_and(|text| !text.contains("${") && url(text).contains(MASK)) {
        found.push("a part of the URL".to_owned());
    }
    found
}

fn each(value: &mut Value, mask: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = mask(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, mask)),
        Value::Object(members) => members.values_mut().for_each(|member| each(member, mask)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a header is one that a secret is sent in.
fn is_named(header: &str) -> bool {
    is_secret(header, "any value")
}

/// Masks the variables that are secrets.
fn variables(value: &mut Value) {
    let Value::Object(members) = value else {
        return hide(value);
    };
    for (name, value) in members {
        match value {
            Value::String(text) => *text = variable(name, text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            // Nothing that a variable can be.
            Value::Array(_) | Value::Object(_) => hide(value),
        }
    }
}

fn variable(name: &str, text: &str) -> String {
    if text.contains("${") {
        return secret(text);
    }
    let masked = mask_args(&[format!("{name}={text}")]).concat();
    let shown = masked
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix('='));
    // A name that is masked itself is no name.
    shown.map_or_else(|| secret(text), str::to_owned)
}

/// Masks every value, whatever its type is.
fn hide(value: &mut Value) {
    match value {
        Value::Null => {}
        Value::String(text) => *text = secret(text),
        Value::Bool(_) | Value::Number(_) => *value = MASK.into(),
        Value::Array(items) => items.iter_mut().for_each(hide),
        Value::Object(members) => members.values_mut().for_each(hide),
    }
}

fn arguments(value: &mut Value) {
    let items = value.as_array_mut();
    let items = items.map(Vec::as_mut_slice).unwrap_or_default();
    let texts: Vec<String> = items
        .iter()
        .map(|item| item.as_str().unwrap_or_default().to_owned())
        .collect();
    for (item, (text, masked)) in items.iter_mut().zip(texts.iter().zip(mask_args(&texts))) {
        *item = argument(text, &[masked]).into();
    }
}

fn argument(text: &str, masked: &[String]) -> String {
    let masked = masked.concat();
    if masked != text && text.contains("${") {
        secret(text)
    } else {
        masked
    }
}

/// Masks all of a text but references and the kind of a token.
fn secret(text: &str) -> String {
    let scheme = SCHEMES.iter().find(|scheme| text.starts_with(**scheme));
    let scheme = scheme.copied().unwrap_or_default();
    let mut rest = text.strip_prefix(scheme).unwrap_or(text);
    let mut out = scheme.to_owned();
    let hide = |text: &str| if text.is_empty() { "" } else { MASK };
    while let Some((before, inside, after)) = next_reference(rest) {
        out += hide(before);
        out += &reference(inside);
        rest = after;
    }
    out + hide(rest)
}

/// A text up to its first reference, what is inside of that, and what comes behind.
fn next_reference(text: &str) -> Option<(&str, &str, &str)> {
    let (before, from) = text.split_once("${")?;
    let (inside, after) = from.split_once('}')?;
    Some((before, inside, after))
}

/// A reference, its default masked.
fn reference(inside: &str) -> String {
    match inside.split_once(":-") {
        Some((name, default)) if !default.is_empty() => format!("${{{name}:-{MASK}}}"),
        _ => format!("${{{inside}}}"),
    }
}

/// Masks what looks secret in a URL.
fn url(text: &str) -> String {
    // With references in it it is no URL yet: words take their place for as long as it is looked at.
    let mut whole = String::new();
    let mut references = Vec::new();
    let mut rest = text;
    while let Some((before, inside, after)) = next_reference(rest) {
        let word = format!("reference{}x", references.len());
        whole = whole + before + &word;
        references.push((word, reference(inside)));
        rest = after;
    }
    whole += rest;
    let is_clear = !references.iter().any(|(word, _)| text.contains(word));
    match SafeUrl::parse(&whole) {
        Ok(url) if is_clear => {
            let references = references.into_iter();
            references.fold(url.to_string(), |text, (word, reference)| {
                text.replace(&word, &reference)
            })
        }
        _ => secret(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_shown_and_what_is_around_them_is_not() {
        assert_eq!(secret("hunter2"), "***");
        assert_eq!(secret(""), "");
        assert_eq!(secret("Bearer ${TOKEN}"), "Bearer ${TOKEN}");
        assert_eq!(secret("Bearer abc"), "Bearer ***");
        assert_eq!(secret("a${B:-c}d"), "***${B:-***}***");
        assert_eq!(secret("${unclosed"), "***");
    }

    #[test]
    fn a_url_keeps_what_leads_somewhere() {
        assert_eq!(url("https://example.com/mcp"), "https://example.com/mcp");
        assert_eq!(
            url("https://u:p@example.com/mcp?key=hunter2"),
            "https://***@example.com/mcp?key=***"
        );
        assert_eq!(
            url("https://${HOST}/mcp?key=${KEY}"),
            "https://${HOST}/mcp?key=***"
        );
        assert_eq!(url("${BASE}/mcp"), "${BASE}***");
    }

    #[test]
    fn variables_are_masked_where_they_are_secrets() {
        let mut env = serde_json::json!({
            "API_KEY": "hunter2", "LOG_LEVEL": "WARNING", "DATA_DIR": "/srv/data", "N": 5,
            "DATABASE_URL": "postgres://me:hunter2@localhost/db", "T": "a${T:-hunter2}",
        });
        variables(&mut env);
        let shown = serde_json::json!({
            "API_KEY": "***", "LOG_LEVEL": "WARNING", "DATA_DIR": "/srv/data", "N": 5,
            "DATABASE_URL": "postgres://***@localhost/db", "T": "***${T:-***}",
        });
        assert_eq!(env, shown);
    }

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
