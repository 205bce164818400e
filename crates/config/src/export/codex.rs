//! Peculiarities of Codex: it expands no references, but has keys for variables that are passed on.

use serde_json::{Map, Value};

/// Fields beyond those that every client has: our name and Codex's.
pub(super) const FIELDS: &[(&str, &str)] = &[
    ("env_passthrough", "env_vars"),
    ("cwd", "cwd"),
    ("connect_timeout", "startup_timeout_sec"),
    ("execution_timeout", "tool_timeout_sec"),
    ("allowed_tools", "enabled_tools"),
    ("blocked_tools", "disabled_tools"),
];

/// Turns references into the keys that Codex has for them. Other references stay as they are.
pub(super) fn prepare(
    ours: &mut Map<String, Value>,
    out: &mut Map<String, Value>,
    warnings: &mut Vec<String>,
) {
    if let Some(all) = ours.remove("timeout") {
        for one in ["connect_timeout", "execution_timeout"] {
            if !ours.contains_key(one) {
                ours.insert(one.to_owned(), all.clone());
            }
        }
        warnings.push("codex has no time for lists: `timeout` is for starts and calls".to_owned());
    }
    pass_through(ours);
    headers(ours, out);
}

/// Moves `"KEY": "${KEY}"` from `env` to the variables that are passed through.
fn pass_through(ours: &mut Map<String, Value>) {
    let Some(env) = ours.get_mut("env").and_then(Value::as_object_mut) else {
        return;
    };
    let mut names = Vec::new();
    env.retain(|name, value| {
        // Only a variable that keeps its name can be passed through.
        let is_itself = value.as_str().and_then(variable) == Some(name.as_str());
        if is_itself {
            names.push(Value::from(name.as_str()));
        }
        !is_itself
    });
    let is_empty = env.is_empty();
    if is_empty {
        ours.remove("env");
    }
    if names.is_empty() {
        return;
    }
    let known = ours
        .entry("env_passthrough")
        .or_insert_with(|| Value::Array(Vec::new()));
    if let Some(known) = known.as_array_mut() {
        names.retain(|name| !known.contains(name));
        known.extend(names);
    }
}

/// Moves headers whose value is a variable to the keys that Codex has for them.
fn headers(ours: &mut Map<String, Value>, out: &mut Map<String, Value>) {
    let Some(headers) = ours.get_mut("headers").and_then(Value::as_object_mut) else {
        return;
    };
    let mut variables = Map::new();
    headers.retain(|name, value| {
        let text = value.as_str().unwrap_or_default();
        let bearer = text.strip_prefix("Bearer ").and_then(variable);
        // A bearer token has a key of its own.
        if name.eq_ignore_ascii_case("authorization")
            && let Some(bearer) = bearer
        {
            out.insert("bearer_token_env_var".to_owned(), bearer.into());
            return false;
        }
        if let Some(variable) = variable(text) {
            variables.insert(name.clone(), variable.into());
            return false;
        }
        true
    });
    if headers.is_empty() {
        ours.remove("headers");
    }
    if !variables.is_empty() {
        out.insert("env_http_headers".to_owned(), variables.into());
    }
}

/// Returns the name of the variable if a text is one reference and nothing else.
fn variable(text: &str) -> Option<&str> {
    let inside = text.strip_prefix("${")?.strip_suffix('}')?;
    let name = inside.strip_prefix("env:").unwrap_or(inside);
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // Editor placeholders look like variables.
    let is_ours = matches!(inside, "userHome" | "workspaceFolder" | "pathSeparator")
        || inside == "workspaceFolderBasename";
    (is_name(name) && !name.is_empty() && !is_ours).then_some(name)
}
