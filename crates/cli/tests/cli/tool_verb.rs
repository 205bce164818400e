//! `switchboard tool` and `switchboard templates`.

use serde_json::Value;

use crate::home::Home;
use crate::pty::Pty;
use crate::run::{said, switchboard};
use crate::script::Script;

#[test]
fn a_tool_is_shown_with_all_that_is_known_of_it() {
    assert_eq!(
        switchboard(&["tool", "demo/add"]),
        said(
            0,
            "\
demo/add(a: number, b: number)
  Adds two numbers.
  arguments:
    a  number, required: The first number
    b  number, required: The second number
  result:
    sum  number, required: The sum of both
  example:
    switchboard call demo/add a=1 b=1
  title:                        Add
  model name:                   mcp__demo__add
  server's hints (unverified):  read-only, closed-world
",
            ""
        )
    );
    let by_model = switchboard(&["tool", "mcp__demo__add"]);
    assert_eq!(by_model, switchboard(&["tool", "demo/add"]));
}

const MANY: &str = r##"
TOOLS = [tool("it's", inputSchema={"type": "object", "properties": {
    "text": {"type": "string", "default": "two words; $(id)"}, "count": {"type": "integer"}, "on": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}}, "odd": {"type": "string", "enum": ["@x"]},
    "deep": {"$ref": "#/$defs/deep"}, "id": {"type": ["string", "integer"], "enum": [7]}},
    "required": ["text", "count", "on", "tags", "odd", "deep", "id"],
    "$defs": {"deep": {"type": "object", "properties": {"in": {"type": "number", "minimum": 0.5}}, "required": ["in"]}}}),
  tool("eq", inputSchema={"type": "object", "properties": {"a=b": {}}, "required": ["a=b"]}),
  tool("bad\x1b", inputSchema={"type": "object"})]
def call(request):
    answer(request, text(json.dumps(request["params"]["arguments"])))
"##;

#[test]
fn the_example_can_be_pasted_and_fits() {
    let server = Script::new(MANY);
    let stdio = server.command();
    for (tool, sent) in [
        (
            "it's",
            r#"{"text": "two words; $(id)", "count": 1, "on": true, "tags": ["hello"], "odd": "@x", "deep": {"in": 0.5}, "id": 7}"#,
        ),
        ("eq", r#"{"a=b": "hello"}"#),
    ] {
        let run = switchboard(&["tool", "--stdio", &stdio, tool, "--json"]);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        let example = document["example"].as_str().unwrap();
        let words = shlex::split(example).unwrap();
        assert_eq!(words[0], "switchboard");
        let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        assert_eq!(
            switchboard(&words),
            said(0, &format!("{sent}\n"), ""),
            "{example}"
        );
    }
    // What could not be pasted as it is shown is not shown.
    let run = switchboard(&["tool", "--stdio", &stdio, "bad\u{1b}", "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["example"], Value::Null);
    let run = switchboard(&["tool", "--stdio", &stdio, "bad\u{1b}"]);
    assert!(!run.stdout.contains('\u{1b}'), "{run:?}");
}

#[test]
fn with_json_the_definition_is_as_the_server_sent_it() {
    let server = Script::new(r#"TOOLS = [tool("go", x={"b": 1.0, "a": 2})]"#);
    let run = switchboard(&["tool", "s/go", "--stdio", &server.command(), "--json"]);
    let document = r#"{"server":"s","tool":{"name": "go", "inputSchema": {"type": "object"}, "x": {"b": 1.0, "a": 2}},"exposed":"mcp__s__go","signature":"s/go()","example":"switchboard call --stdio "#;
    assert!(run.stdout.starts_with(document), "{run:?}");
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_tool_that_is_not_there_is_an_error_as_for_a_call() {
    let mut run = switchboard(&["tool", "demo/ecoh"]);
    let proposed = |verb: &str| format!("`switchboard {verb} demo/echo`");
    run.stderr = run.stderr.replace(&proposed("tool"), &proposed("call"));
    assert_eq!(run, switchboard(&["call", "demo/ecoh"]));
    assert_eq!(run.code, Some(5));
    // A name that only one server has needs no server.
    assert_eq!(switchboard(&["tool", "echo"]).code, Some(0));
}

#[test]
fn an_agent_is_shown_what_it_may_use_and_nothing_else() {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_switchboard");
    let config = format!(
        r#"{{"mcpServers": {{"demo": {{"command": "{own}", "args": ["test-server"]}}}},
            "agents": {{"one": {{"level": "yolo", "grants": ["mcp:demo:echo"]}}}}}}"#
    );
    home.write("config/switchboard/mcp.json", &config);
    let run = home.run(&["tool", "demo/echo", "--as", "one"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let told = |name: &str| {
        let run = home.run(&["tool", name, "--as", "one"]);
        let own_name = name.trim_start_matches("demo/");
        (run.code, run.stdout, run.stderr.replace(own_name, "NAME"))
    };
    assert_eq!(told("demo/add"), told("demo/nil"));
    assert_eq!(told("demo/add").0, Some(7));
}

#[test]
fn templates_are_listed_by_themselves() {
    let line = "note:///{name}  Note  text/plain  A short note that says its own name\n";
    assert_eq!(switchboard(&["templates", "demo"]), said(0, line, ""));
    assert_eq!(
        switchboard(&["templates"]),
        said(0, &format!("demo {line}"), "")
    );
    let run = switchboard(&["templates", "demo", "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["templates"][0]["uriTemplate"], "note:///{name}");
    let server = Script::new("");
    let run = switchboard(&["templates", "--stdio", &server.command()]);
    assert_eq!(
        run,
        said(0, "", "warning: the server offers no templates\n")
    );
}

#[test]
fn a_narrow_terminal_shows_all_of_a_tool() {
    let (code, screen) = Pty::spawn(&["tool", "demo/echo"], &[], 40).finish();
    assert_eq!(code, 0);
    assert!(
        screen.contains("model name:") && screen.contains("mcp__demo__echo"),
        "{screen}"
    );
    assert!(
        screen.contains("switchboard call demo/echo message=hello"),
        "{screen}"
    );
}
