//! The tools as `tools/list` shows them.

use serde_json::{Value, json};

use super::{Action, Tool};
use crate::shapes;

const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

pub(super) fn tool(action: Action, definition: Value) -> Tool {
    let name = definition.get("name").and_then(Value::as_str);
    Tool {
        name: name.unwrap_or_default().to_owned(),
        definition,
        action,
    }
}

/// A schema of arguments. Closed: a misspelt argument should be noticed, not ignored.
pub(super) fn input(properties: &Value, required: &[&str]) -> Value {
    json!({
        "$schema": DIALECT,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn output(properties: &Value, required: &[&str]) -> Value {
    json!({
        "$schema": DIALECT,
        "type": "object",
        "properties": properties,
        "required": required,
    })
}

pub(super) fn well_known() -> Vec<Tool> {
    vec![
        tool(
            Action::Echo,
            json!({
                "name": "echo",
                "title": "Echo",
                "description": "Answers with the message it is given.",
                "inputSchema": input(
                    &json!({"message": {"type": "string", "description": "The text to answer with"}}),
                    &["message"],
                ),
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            }),
        ),
        tool(
            Action::GetTime,
            json!({
                "name": "get_time",
                "title": "Current time",
                "description": "Tells the time in UTC as ISO 8601.",
                "inputSchema": input(&json!({}), &[]),
                "outputSchema": output(
                    &json!({"time": {"type": "string", "format": "date-time", "description": "The time in UTC"}}),
                    &["time"],
                ),
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            }),
        ),
        tool(
            Action::Add,
            json!({
                "name": "add",
                "title": "Add",
                "description": "Adds two numbers.",
                "inputSchema": input(
                    &json!({
                        "a": {"type": "number", "description": "The first number"},
                        "b": {"type": "number", "description": "The second number"},
                    }),
                    &["a", "b"],
                ),
                "outputSchema": output(
                    &json!({"sum": {"type": "number", "description": "The sum of both"}}),
                    &["sum"],
                ),
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            }),
        ),
        tool(
            Action::SlowOperation,
            json!({
                "name": "slow_operation",
                "title": "Slow operation",
                "description": "Takes its time, and reports progress after each step to those who ask for it.",
                "inputSchema": input(
                    &json!({
                        "duration": {
                            "type": "number", "minimum": 0, "maximum": 3600, "default": 1,
                            "description": "How many seconds it takes in all",
                        },
                        "steps": {
                            "type": "integer", "minimum": 1, "maximum": 10000, "default": 5,
                            "description": "How many steps it takes them in",
                        },
                    }),
                    &[],
                ),
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            }),
        ),
    ]
}

pub(super) fn for_testing() -> Vec<Tool> {
    vec![
        tool(
            Action::AskName,
            json!({
                "name": "ask_name",
                "title": "Ask for a name",
                "description": "Asks the person at the client for a name, and greets them by it.",
                "inputSchema": input(&json!({}), &[]),
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            }),
        ),
        tool(
            Action::Fail,
            json!({
                "name": "fail",
                "title": "Fail",
                "description": "Fails, with the message it is given.",
                "inputSchema": input(
                    &json!({"message": {"type": "string", "description": "What to say went wrong"}}),
                    &[],
                ),
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            }),
        ),
        tool(
            Action::AnnounceChange,
            json!({
                "name": "announce_change",
                "title": "Announce a change",
                "description": "Tells clients that a list has changed, although it has not.",
                "inputSchema": input(
                    &json!({
                        "list": {
                            "type": "string", "enum": ["tools", "resources", "prompts"],
                            "description": "The list to announce",
                        },
                    }),
                    &["list"],
                ),
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            }),
        ),
    ]
}

/// The tool that answers with results that are odd but valid.
pub(super) fn shape() -> Tool {
    let number = json!({
        "type": "integer", "minimum": 1, "maximum": shapes::modern().len(),
        "description": "The number of the result",
    });
    tool(
        Action::Shape,
        json!({
            "name": "shape",
            "title": "Odd results",
            "description": "Answers with a result that is odd but valid, and always the same for its number.",
            "inputSchema": input(&json!({"number": number}), &["number"]),
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        }),
    )
}

/// The tool that asks the client's model.
pub(super) fn ask_model() -> Tool {
    tool(
        Action::AskModel,
        json!({
            "name": "ask_model",
            "title": "Ask a model",
            "description": "Asks the client's model, and answers with what it says.",
            "inputSchema": input(
                &json!({
                    "prompt": {"type": "string", "description": "What to ask"},
                    "request": {
                        "type": "string",
                        "description": "The whole request as JSON, in place of one that is made of the prompt",
                    },
                }),
                &[],
            ),
            "annotations": {"readOnlyHint": true, "openWorldHint": true},
        }),
    )
}

/// The tool that tells one server from another.
pub(super) fn who_am_i(instance: &str) -> Tool {
    tool(
        Action::WhoAmI,
        json!({
            "name": "whoami",
            "title": instance,
            "description": "Answers with the name that the server was given, and the id of its process.",
            "inputSchema": input(&json!({}), &[]),
            "outputSchema": output(
                &json!({
                    "instance": {"type": "string", "description": "The name"},
                    "pid": {"type": "integer", "description": "The id of the process"},
                }),
                &["instance", "pid"],
            ),
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        }),
    )
}

/// The tool at place `number` of a list, counted from 1.
pub(super) fn generated(number: usize) -> Tool {
    tool(
        Action::Generated,
        json!({
            "name": format!("tool_{number:03}"),
            "title": format!("Tool {number}"),
            "description": format!("Answers with its own name; it is number {number} of the list."),
            "inputSchema": input(
                &json!({"value": {"type": "string", "description": "Something to add to the answer"}}),
                &[],
            ),
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        }),
    )
}
