//! What every partner that we wrote ourselves offers, whatever SDK it is made of.
//!
//! Two tools, one resource and one prompt, the same everywhere, so that a test states its
//! expectation once. The Python partners under `tests/partners/python/` repeat these values.

/// The tool that returns its `message` as text.
pub const ECHO: &str = "echo";

/// The tool that adds the integers `a` and `b`: the sum as text, and structured as `{"result": 5}`.
pub const ADD: &str = "add";

/// The tool that partners over HTTP offer beside the two: reports each of its `steps` as progress and then
/// answers with [`counted`], or with `hang` never. Writes `counting` when it begins, and `cancelled` when it hangs no more.
pub const COUNT: &str = "count";

/// The address of the one resource.
pub const RESOURCE_URI: &str = "partner://greeting";

/// The name of the one resource.
pub const RESOURCE_NAME: &str = "greeting";

/// The text of the one resource.
pub const RESOURCE_TEXT: &str = "Hello from a partner.";

/// The name of the one prompt; its one argument, `name`, is required.
pub const PROMPT: &str = "greet";

/// Returns the text of the one message of the prompt.
#[must_use]
pub fn prompt_text(name: &str) -> String {
    format!("Please greet {name}.")
}

/// Returns the text that [`COUNT`] answers with.
#[must_use]
pub fn counted(steps: i64) -> String {
    format!("counted to {steps}")
}

/// Returns the schema of the arguments of [`ECHO`].
#[cfg(feature = "partners")]
#[must_use]
pub fn echo_input() -> serde_json::Map<String, serde_json::Value> {
    object_schema("message", &["message"], "string")
}

/// Returns the schema of the arguments of [`ADD`].
#[cfg(feature = "partners")]
#[must_use]
pub fn add_input() -> serde_json::Map<String, serde_json::Value> {
    object_schema("a summand", &["a", "b"], "integer")
}

/// Returns the schema of the arguments of [`COUNT`]; `hang` is let through without being named.
#[cfg(feature = "partners")]
#[must_use]
pub fn count_input() -> serde_json::Map<String, serde_json::Value> {
    object_schema("how far to count", &["steps"], "integer")
}

/// Returns the schema of the structured result of [`ADD`].
#[cfg(feature = "partners")]
#[must_use]
pub fn add_output() -> serde_json::Map<String, serde_json::Value> {
    object_schema("the sum", &["result"], "integer")
}

#[cfg(feature = "partners")]
fn object_schema(
    description: &str,
    names: &[&str],
    kind: &str,
) -> serde_json::Map<String, serde_json::Value> {
    let property = serde_json::json!({ "type": kind, "description": description });
    let properties: serde_json::Map<_, _> = names
        .iter()
        .map(|name| ((*name).to_owned(), property.clone()))
        .collect();
    let mut schema = serde_json::Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties.into());
    schema.insert("required".to_owned(), names.to_vec().into());
    schema
}
