//! Tools whose arguments are repeated in headers, correctly and incorrectly.

use serde_json::{Value, json};

use super::definitions::{input, tool};
use super::{Action, Tool};

/// A tool with every kind of correct annotation.
pub(super) fn good() -> Tool {
    tool(
        Action::Mirrored,
        json!({
            "name": "route_request",
            "title": "Route a request",
            "description": "Answers with the arguments that it was given; some of them are mirrored into headers.",
            "inputSchema": input(
                &json!({
                    "region": {"type": "string", "description": "Where to", "x-mcp-header": "Region"},
                    "priority": {"type": "integer", "description": "How soon", "x-mcp-header": "Priority"},
                    "dry_run": {"type": "boolean", "description": "Whether it counts", "x-mcp-header": "Dry-Run"},
                    "client": {
                        "type": "object",
                        "description": "Who asks",
                        "properties": {"tenant": {"type": "string", "x-mcp-header": "Tenant"}},
                    },
                    "query": {"type": "string", "description": "What for; in no header"},
                }),
                &["region"],
            ),
            "annotations": {"readOnlyHint": true, "openWorldHint": false},
        }),
    )
}

/// One tool for each kind of incorrect annotation.
pub(super) fn bad() -> Vec<Tool> {
    let text = |header: Value| json!({"type": "string", "x-mcp-header": header});
    let marked = |kind: Value| json!({"type": kind, "x-mcp-header": "Value"});
    let within = |schema: Value| json!({"type": "object", "properties": {"value": schema}});
    let mut at_root = within(json!({"type": "string"}));
    if let Some(members) = at_root.as_object_mut() {
        members.insert("x-mcp-header".to_owned(), "Value".into());
    }
    let referred = json!({
        "type": "object",
        "properties": {"value": {"$ref": "#/$defs/value"}},
        "$defs": {"value": text("Value".into())},
    });
    let twice = json!({
        "type": "object",
        "properties": {"value": text("Value".into()), "other": text("vALUE".into())},
    });
    let cases = [
        ("empty", within(text("".into()))),
        ("space", within(text("Two Words".into()))),
        ("colon", within(text("Value:".into()))),
        ("newline", within(text("Value\r\nX-Other: 1".into()))),
        ("unicode", within(text("Wert\u{e4}".into()))),
        ("no_string", within(text(json!(7)))),
        ("number", within(marked("number".into()))),
        ("object", within(marked("object".into()))),
        ("array", within(marked("array".into()))),
        ("null", within(marked("null".into()))),
        ("two_types", within(marked(json!(["string", "null"])))),
        ("no_type", within(json!({"x-mcp-header": "Value"}))),
        ("duplicate", twice),
        (
            "items",
            within(json!({"type": "array", "items": text("Value".into())})),
        ),
        ("any_of", within(json!({"anyOf": [text("Value".into())]}))),
        ("ref", referred),
        ("root", at_root),
    ];
    cases
        .into_iter()
        .map(|(why, schema)| wrong(why, &schema))
        .collect()
}

fn wrong(why: &str, schema: &Value) -> Tool {
    tool(
        Action::Mirrored,
        json!({
            "name": format!("bad_header_{why}"),
            "description": "Has an annotation that is wrong: clients over HTTP leave it out.",
            "inputSchema": schema,
        }),
    )
}
