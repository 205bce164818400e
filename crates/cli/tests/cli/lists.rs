//! Lists of tools.

use crate::run::{said, switchboard};
use crate::script::Script;

#[test]
fn a_long_list_shows_signatures_and_what_tools_do() {
    assert_eq!(
        switchboard(&["tools", "demo", "--long"]),
        said(
            0,
            "\
echo(message: string)      Answers with the message it is given.
get_time()                 Tells the time in UTC as ISO 8601.
add(a: number, b: number)  Adds two numbers.
slow_operation(duration?: number, steps?: integer)  Takes its time, and reports progress after each step to those who ask for it.
ask_name()                 Asks the person at the client for a name, and greets them by it.
fail(message?: string)     Fails, with the message it is given.
announce_change(list: \"tools\"|\"resources\"|\"prompts\")  Tells clients that a list has changed, although it has not.
",
            ""
        )
    );
}

#[test]
fn a_pipe_gets_the_name_of_each_tool_and_what_it_does() {
    assert_eq!(
        switchboard(&["tools", "demo"]),
        said(
            0,
            "\
echo             Answers with the message it is given.
get_time         Tells the time in UTC as ISO 8601.
add              Adds two numbers.
slow_operation   Takes its time, and reports progress after each step to those who ask for it.
ask_name         Asks the person at the client for a name, and greets them by it.
fail             Fails, with the message it is given.
announce_change  Tells clients that a list has changed, although it has not.
",
            ""
        )
    );
}

#[test]
fn with_tokens_the_cost_of_each_definition_is_shown() {
    let run = switchboard(&["tools", "demo", "--tokens", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let costs = document["tokens"].as_object().unwrap();
    assert_eq!(costs.len(), 7, "{document}");
    // A definition with two described arguments costs more than one without any.
    let cost = |tool: &str| costs[tool].as_u64().unwrap();
    assert!(
        cost("add") > cost("get_time") && cost("get_time") > 10,
        "{costs:?}"
    );
    let all: u64 = costs.values().map(|cost| cost.as_u64().unwrap()).sum();
    let run = switchboard(&["servers", "demo", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["tokens"], all);
    let run = switchboard(&["tools", "demo", "--tokens"]);
    assert!(
        run.stdout
            .contains(&format!("add              {}  Adds", cost("add"))),
        "{run:?}"
    );
}

#[test]
fn all_pages_are_listed() {
    let own = env!("CARGO_BIN_EXE_switchboard");
    for era in ["legacy", "modern"] {
        let stdio = format!("'{own}' test-server --paginate --era {era}");
        let run = switchboard(&["tools", "--stdio", &stdio]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
        assert_eq!(run.stdout.lines().count(), 25, "{}", run.stdout);
    }
    let run = switchboard(&[
        "tools",
        "demo",
        "--env",
        "MCP_TOOL_COUNT=30",
        "--env",
        "MCP_PAGE_SIZE=7",
    ]);
    assert_eq!(run.stdout.lines().count(), 30, "{}", run.stdout);
}

const MIXED: &str = r#"
TOOLS = [tool("good", x={"b": 1, "a": 2}), {"name": "bad", "inputSchema": 5}, 7, tool("better", description="Does it.\nWell.")]
"#;

#[test]
fn a_bad_tool_does_not_cost_the_good_ones() {
    let server = Script::new(MIXED);
    assert_eq!(
        switchboard(&["tools", "mixed", "--stdio", &server.command()]),
        said(
            0,
            "good\nbetter  Does it.\n",
            "warning: mixed: tool \"bad\": left out: inputSchema: expected an object, found 5\n\
             warning: mixed: tools: left out: expected an object, found 7\n"
        )
    );
    let run = switchboard(&["call", "--stdio", &server.command(), "good"]);
    assert_eq!(run, said(0, "went\n", ""));
    let run = switchboard(&["call", "--stdio", &server.command(), "mixed/bad"]);
    assert_eq!(
        run,
        said(
            11,
            "",
            "error: the server's definition of \"bad\" cannot be used\n  server: mixed\n  \
             what is wrong: inputSchema: expected an object, found 5\n"
        )
    );
}

#[test]
fn a_tool_without_a_schema_is_listed_and_called() {
    let server = Script::new(r#"TOOLS = [{"name": "bare"}]"#);
    let notice = "warning: mixed: tool \"bare\": no inputSchema: arguments are not checked\n";
    assert_eq!(
        switchboard(&["tools", "mixed", "--stdio", &server.command()]),
        said(0, "bare\n", notice)
    );
    let run = switchboard(&["call", "--stdio", &server.command(), "bare", "x=1"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), "went\n"),
        "{run:?}"
    );
}

#[test]
fn with_json_the_list_is_one_document_with_the_tools_as_sent() {
    let server = Script::new(MIXED);
    let run = switchboard(&["tools", "mixed", "--stdio", &server.command(), "--json"]);
    let document = concat!(
        r#"{"server":"mixed","tools":[{"name": "good", "inputSchema": {"type": "object"}, "#,
        r#""x": {"b": 1, "a": 2}},{"name": "better", "inputSchema": {"type": "object"}, "#,
        r#""description": "Does it.\nWell."}],"exposed":{"better":"mcp__mixed__better","#,
        r#""good":"mcp__mixed__good"},"notices":[{"name":"bad","message":"left out: inputSchema: expected an object, found 5"},"#,
        r#"{"name":null,"message":"left out: expected an object, found 7"}]}"#,
        "\n"
    );
    assert_eq!(run, said(0, document, ""));
}

#[test]
fn a_list_that_never_ends_is_cut_and_says_so() {
    let server = Script::new(
        r#"
def list_tools(request):
    answer(request, {"tools": [tool("go")], "nextCursor": "again"})
"#,
    );
    let run = switchboard(&["tools", "--stdio", &server.command()]);
    assert_eq!((run.code, run.stdout.lines().next()), (Some(0), Some("go")));
    let warning = "warning: stdio: tools: list cut: the server gave the same cursor twice\n";
    assert!(run.stderr.ends_with(warning), "{}", run.stderr);
}

#[test]
fn a_server_without_tools_has_an_empty_list() {
    let server = Script::new("TOOLS = []");
    let run = switchboard(&["tools", "none", "--stdio", &server.command()]);
    assert_eq!(run, said(0, "", "warning: none offers no tools\n"));
}

#[test]
fn an_unknown_tool_is_never_replaced_by_the_nearest() {
    assert_eq!(
        switchboard(&["call", "demo/ecoh", "message=x"]),
        said(
            5,
            "",
            "error: there is no tool named \"ecoh\"\n  server: demo\n  what to do:\n    \
             - did you mean `switchboard call demo/echo message=x`?\n    - its tools: echo, get_time, add, slow_operation, \
             ask_name, fail, announce_change\n"
        )
    );
    let run = switchboard(&["call", "demo/tool_9", "--env", "MCP_TOOL_COUNT=25"]);
    assert_eq!(run.code, Some(5));
    assert!(
        run.stderr.ends_with("tool_020 and 5 more\n"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_name_that_can_be_read_two_ways_is_not_guessed() {
    let server = Script::new(r#"TOOLS = [tool("a/b"), tool("b"), tool("c/d")]"#);
    let stdio = server.command();
    assert_eq!(
        switchboard(&["call", "--stdio", &stdio, "a/b"]).code,
        Some(2)
    );
    for tool in ["b", "x/a/b", "c/d", "x/c/d", "x/b"] {
        let run = switchboard(&["call", "--stdio", &stdio, tool]);
        assert_eq!(run, said(0, "went\n", ""), "{tool}");
    }
}

#[test]
fn a_server_that_ends_alike_at_its_list_is_started_twice() {
    let server = Script::new(
        r#"
with open(os.path.join(os.path.dirname(sys.argv[0]), "starts"), "a") as starts:
    starts.write("start\n")

def list_tools(request):
    sys.stderr.write("out of disk\n")
    sys.exit(3)
"#,
    );
    let run = switchboard(&[
        "tools",
        "--stdio",
        &server.command(),
        "--protocol",
        "legacy",
    ]);
    assert_eq!(run.code, Some(10), "{run:?}");
    let title = "error: the server ended with exit code 3 while its tools were being listed\n";
    assert!(run.stderr.starts_with(title), "{}", run.stderr);
    let named = "  starts: 2, and each ended in the same way\n";
    assert!(run.stderr.contains(named), "{}", run.stderr);
    let starts = std::fs::read_to_string(server.path("starts")).unwrap();
    assert_eq!(starts.lines().count(), 2);
}
