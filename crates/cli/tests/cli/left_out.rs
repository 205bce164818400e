//! Tools that are left out, each with a notice in text, JSON and `doctor`.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::run::{Run, switchboard};
use crate::script::Script;

/// A server with one good tool and one that is left out for each reason; the limit on depth is 16.
fn server() -> (Script, TempDir, String) {
    let script = Script::new(
        r#"
def nested(levels):
    schema = {"type": "object"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema

TOOLS = [
    tool("go"),
    tool("go", description="again"),
    tool("x" * 129),
    {"name": "large", "inputSchema": {"type": "object", "description": "y" * (256 * 1024)}},
    {"name": "deep", "inputSchema": nested(7)},
    {"name": "deepest-that-fits", "inputSchema": nested(6)},
    {"name": "schemaless", "inputSchema": "none"},
    {"name": "", "inputSchema": {"type": "object"}},
    5,
]
"#,
    );
    let folder = tempfile::tempdir().unwrap();
    let mut entry = script.entry();
    entry["protocol"] = json!("legacy");
    let config = json!({"limits": {"json_depth": 16}, "mcpServers": {"s": entry}});
    let file = folder.path().join("mcp.json");
    fs::write(&file, config.to_string()).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (script, folder, file)
}

/// How each notice begins, behind the server's name.
fn notices() -> Vec<String> {
    let long = "x".repeat(128);
    vec![
        "tool \"go\": left out: duplicate name".to_owned(),
        format!("tool \"{long}"),
        "tool \"large\": left out: a schema of more than 262144 bytes".to_owned(),
        "tool \"deep\": left out: nested deeper than 16 levels".to_owned(),
        "tool \"schemaless\": left out: ".to_owned(),
        "tool \"\": left out: its name is empty".to_owned(),
    ]
}

fn json_of(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn a_tool_that_is_left_out_has_a_notice_wherever_it_is_listed() {
    let (_script, _folder, file) = server();
    let config = &["--config", file.as_str()];
    for verb in ["tools", "servers"] {
        for one in [&[][..], &["s"]] {
            let run = switchboard(&[&[verb], one, config].concat());
            assert_eq!(run.code, Some(0), "{run:?}");
            let said = format!("{}{}", run.stdout, run.stderr);
            for notice in notices() {
                assert!(said.contains(&notice), "{verb} {one:?} {notice}: {said}");
            }
        }
    }
    let document = json_of(&switchboard(
        &[&["tools", "s", "--json"], &config[..]].concat(),
    ));
    let tools = document["tools"].as_array().unwrap().iter();
    let tools: Vec<&str> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["go", "deepest-that-fits"]);
    assert_eq!(
        document["notices"].as_array().unwrap().len(),
        7,
        "{document}"
    );
    let all = json_of(&switchboard(
        &[&["servers", "--json"], &config[..]].concat(),
    ));
    let notices_of = &all["servers"][0]["notices"];
    assert_eq!(notices_of.as_array().unwrap().len(), 7, "{all}");
    let run = switchboard(&[&["doctor", "--json"], &config[..]].concat());
    let all: Value = serde_json::from_str(&run.stdout).unwrap();
    let findings = all["servers"][0]["findings"].as_array().unwrap();
    let found = findings
        .iter()
        .find(|found| found["check"] == "definitions");
    let found = found.unwrap()["evidence"][0]["lines"].as_array().unwrap();
    for notice in notices() {
        let is_it = |line: &Value| line.as_str().unwrap().starts_with(&notice);
        assert!(found.iter().any(is_it), "{notice}: {found:?}");
    }
}

#[test]
fn a_tool_that_was_left_out_says_why_when_it_is_called() {
    let (_script, _folder, file) = server();
    let run = switchboard(&["call", "s/large", "--config", &file, "--json"]);
    assert_eq!(run.code, Some(11), "{run:?}");
    let error = run.error();
    assert!(error.to_string().contains("262144 bytes"), "{error}");
}

#[test]
fn a_list_that_is_too_deep_beside_its_tools_fails() {
    let script = Script::new(
        r#"
def list_tools(request):
    deep = 1
    for _ in range(200):
        deep = [deep]
    answer(request, {"tools": TOOLS, "_meta": {"a": deep}})
"#,
    );
    let command = script.command();
    let run = switchboard(&[
        "tools",
        "--stdio",
        &command,
        "--protocol",
        "legacy",
        "--json",
    ]);
    assert_eq!(run.code, Some(11), "{run:?}");
    assert!(run.error().to_string().contains("128 levels"), "{run:?}");
}
