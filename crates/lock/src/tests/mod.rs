//! Tests of the parts together; each file has its own unit tests.

mod definitions;
mod files;

use serde_json::{Value, json};
use switchboard::catalog::{Builder, ServerCatalog};
use switchboard::pins::{DiffLine, Side};
use switchboard::spec::ServerName;
use switchboard_wire::{FromRaw, Prompt, Raw, ResourceTemplate, Tool};

fn name(text: &str) -> ServerName {
    ServerName::parse(text).unwrap()
}

fn server(text: &str) -> Builder {
    ServerCatalog::builder(name(text))
}

fn read<T: FromRaw>(text: &str) -> T {
    T::from_raw(&Raw::parse(text).unwrap()).unwrap()
}

fn tool(definition: &Value) -> Tool {
    read(&definition.to_string())
}

/// A tool with something of everything.
fn full() -> Value {
    json!({
        "name": "add",
        "title": "Add",
        "description": "Adds two numbers. Returns their sum.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "a": {"type": "number", "default": 1, "description": "The first."},
                "b": {"type": "number", "enum": [1, 2.5, null, true]},
            },
            "required": ["a"],
        },
        "outputSchema": {"type": "object", "properties": {"sum": {"type": "number"}}},
        "annotations": {"readOnlyHint": true, "title": "Add"},
        "icons": [{"src": "https://x.example/i.png"}],
        "_meta": {"vendor/x": {"deep": ["y"]}},
    })
}

/// A server with one of everything.
fn whole() -> Builder {
    server("s")
        .tools(vec![
            tool(&full()),
            tool(&json!({"name": "sub", "inputSchema": {"type": "object"}})),
        ])
        .prompts(vec![read::<Prompt>(
            r#"{"name":"greet","description":"Greets."}"#,
        )])
        .templates(vec![read::<ResourceTemplate>(
            r#"{"uriTemplate":"file:///{x}","name":"f"}"#,
        )])
        .instructions(Some("Use add first.\nThen stop.".into()))
}

fn shown(diff: &[DiffLine]) -> String {
    diff.iter().map(|line| format!("{line}\n")).collect()
}

/// The lines that differ.
fn changed(diff: &[DiffLine]) -> Vec<String> {
    let lines = diff.iter();
    lines
        .filter(|line| matches!(line.side, Side::Before | Side::After))
        .map(ToString::to_string)
        .collect()
}
