//! Arguments that plainly do not fit are shown against the signature, and nothing is sent.

use crate::run::{said, switchboard};
use crate::script::Script;

#[test]
fn a_missing_argument_is_named() {
    assert_eq!(
        switchboard(&["call", "demo/echo"]),
        said(
            2,
            "",
            "error: argument \"message\": missing (string)\n  server: demo\n  \
             signature: echo(message: string)\n  sent: no, nothing was called\n"
        )
    );
}

#[test]
fn all_that_is_wrong_is_said_at_once() {
    assert_eq!(
        switchboard(&["call", "demo/slow_operation", "duration=long", "stepz=2"]),
        said(
            2,
            "",
            "error: 2 arguments do not fit\n  server: demo\n  \
             signature: slow_operation(duration?: number, steps?: integer)\n  \
             stepz: unknown argument; did you mean \"steps\"?\n  \
             duration: expected number, found \"long\"\n  sent: no, nothing was called\n"
        )
    );
}

#[test]
fn a_choice_that_there_is_not_is_refused() {
    let run = switchboard(&["call", "demo/announce_change", "list=toolz", "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    let error = run.error();
    assert_eq!(error["exit"], 2);
    assert_eq!(error["kind"], "arguments");
    assert_eq!(error["server"], "demo");
    assert_eq!(
        error["message"],
        r#"argument "list": expected "tools"|"resources"|"prompts", found "toolz""#
    );
}

#[test]
fn nothing_reaches_the_tool() {
    let server = Script::new(
        r#"
TOOLS = [tool("go", inputSchema={"properties": {"n": {"type": "integer"}}, "required": ["n"]})]
def call(request):
    sys.stderr.write("called\n")
    os._exit(7)
"#,
    );
    for arguments in [
        &[][..],
        &["n=x"],
        &["n:=\"1\""],
        &["--args", r#"{"n":1.5}"#],
    ] {
        let stdio = server.command();
        let mut args = vec!["call", "--stdio", &stdio, "go"];
        args.extend(arguments);
        let run = switchboard(&args);
        assert_eq!(run.code, Some(2), "{arguments:?}: {}", run.stderr);
        assert!(
            run.stderr.contains("  signature: go(n: integer)\n"),
            "{}",
            run.stderr
        );
    }
}

#[test]
fn what_the_schema_does_not_say_plainly_is_left_to_the_server() {
    let server = Script::new(
        r##"
TOOLS = [tool("go", inputSchema={
    "$defs": {"N": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
    "properties": {"n": {"$ref": "#/$defs/N"}, "odd": {"type": "tuple"}, "far": {"$ref": "x:y"}}})]
def call(request):
    answer(request, text(json.dumps(request["params"]["arguments"])))
"##,
    );
    let stdio = server.command();
    let run = switchboard(&[
        "call", "--stdio", &stdio, "go", "n=5", "odd=5", "far=5", "other=5",
    ]);
    assert_eq!(
        run,
        said(
            0,
            "{\"n\": 5, \"odd\": \"5\", \"far\": \"5\", \"other\": \"5\"}\n",
            ""
        )
    );
}
