//! Tools that change the catalog, for tests of clients that follow it.

use serde_json::{Map, Value, json};

use super::definitions::{input, tool};
use super::{Action, Tool};

/// The kinds of listed items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Resource,
}

/// One change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Add(Kind),
    Remove(Kind),
    /// Changes a definition.
    Change(Kind),
    /// Announces that a resource has new contents.
    Touch,
    /// Ends the subscriptions of all clients, in the given way.
    EndListening,
    /// Changes nothing, and returns the number of subscriptions.
    Listening,
}

impl Kind {
    /// The word for one item.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        }
    }

    /// The list that contains it.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Self::Tool => "tools",
            Self::Prompt => "prompts",
            Self::Resource => "resources",
        }
    }

    /// The argument that identifies an item.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Tool | Self::Prompt => "name",
            Self::Resource => "uri",
        }
    }
}

pub(super) fn all() -> Vec<Tool> {
    use Kind::{Prompt, Resource, Tool};
    let text = |what: &str| json!({"type": "string", "description": what});
    let name = text("Which one");
    let description = text("What it says of itself");
    let schema = json!({"type": "object", "description": "The schema of its arguments"});
    let words = text("What it says");
    let content = json!({"description": "The content of its message, in any shape"});
    let holds = text("What it holds");
    let members = json!({
        "type": "object", "description": "More members of its definition; null leaves one out",
    });
    let how = json!({
        "type": "string", "enum": ["result", "error", "cancelled", "cut"],
        "description": "With a result, an error, a cancellation, or by ending the stream: over stdio, the connection",
    });
    vec![
        step(
            Step::Add(Tool),
            &json!({"name": name, "description": description, "schema": schema}),
            &["name"],
        ),
        step(Step::Remove(Tool), &json!({"name": name}), &["name"]),
        step(
            Step::Change(Tool),
            &json!({"name": name, "description": description, "schema": schema}),
            &["name"],
        ),
        step(
            Step::Add(Prompt),
            &json!({"name": name, "description": description, "text": words, "content": content}),
            &["name"],
        ),
        step(Step::Remove(Prompt), &json!({"name": name}), &["name"]),
        step(
            Step::Change(Prompt),
            &json!({"name": name, "description": description}),
            &["name"],
        ),
        step(
            Step::Add(Resource),
            &json!({"uri": name, "description": description, "text": holds, "definition": members}),
            &["uri"],
        ),
        step(Step::Remove(Resource), &json!({"uri": name}), &["uri"]),
        step(
            Step::Change(Resource),
            &json!({"uri": name, "description": description}),
            &["uri"],
        ),
        step(Step::Touch, &json!({"uri": name, "text": holds}), &["uri"]),
        step(Step::EndListening, &json!({"how": how}), &["how"]),
        step(Step::Listening, &json!({}), &[]),
    ]
}

fn step(step: Step, properties: &Value, required: &[&str]) -> Tool {
    let (name, about) = match step {
        Step::Add(kind) => (
            format!("add_{}", kind.word()),
            format!("Offers one more {}.", kind.word()),
        ),
        Step::Remove(kind) => (
            format!("remove_{}", kind.word()),
            format!("Offers a {} no more.", kind.word()),
        ),
        Step::Change(kind) => (
            format!("change_{}", kind.word()),
            format!("Describes a {} otherwise.", kind.word()),
        ),
        Step::Touch => (
            "touch_resource".to_owned(),
            "Says that a resource, or something below one, has changed; with a text, it has."
                .to_owned(),
        ),
        Step::EndListening => (
            "end_listening".to_owned(),
            "Ends all subscriptions.".to_owned(),
        ),
        Step::Listening => (
            "listening".to_owned(),
            "Says how many subscriptions are open.".to_owned(),
        ),
    };
    let read_only = step == Step::Listening;
    tool(
        Action::Grow(step),
        json!({
            "name": name,
            "description": about,
            "inputSchema": input(properties, required),
            "annotations": {"readOnlyHint": read_only, "openWorldHint": false},
        }),
    )
}

/// A tool that is added while the server runs.
pub(crate) fn grown(name: &str, arguments: &Map<String, Value>) -> Tool {
    let description = arguments.get("description").and_then(Value::as_str);
    let schema = arguments.get("schema").cloned();
    tool(
        Action::Grown,
        json!({
            "name": name,
            "description": description.unwrap_or("Answers with its own name and its arguments."),
            "inputSchema": schema.unwrap_or_else(|| json!({"type": "object"})),
        }),
    )
}
