//! Calls that work, and tools that say they did not.

use crate::run::{command, said, switchboard, switchboard_reading, switchboard_with};
use crate::script::Script;

#[test]
fn the_first_command_of_the_readme_prints_hello_and_nothing_else() {
    assert_eq!(
        switchboard(&["call", "demo/echo", "message=hello"]),
        said(0, "hello\n", "")
    );
}

#[test]
fn values_are_typed_by_the_schema() {
    assert_eq!(
        switchboard(&["call", "demo/echo", "message=007"]),
        said(0, "007\n", "")
    );
    assert_eq!(
        switchboard(&["call", "demo/add", "a=2", "b:=3"]),
        said(0, "5\n", "")
    );
}

#[test]
fn arguments_come_as_an_object_too() {
    let args = ["call", "demo/add", "--args", r#"{"a": 1}"#, "b=2.5"];
    assert_eq!(switchboard(&args), said(0, "3.5\n", ""));
    let run = switchboard_reading(r#"{"a": 1, "b": 2}"#, &["call", "demo/add", "--args", "-"]);
    assert_eq!(run, said(0, "3\n", ""));
}

#[test]
fn numbers_arrive_as_they_were_written() {
    let server = Script::new(
        r#"
def heard(message):
    global LINE
    LINE = message
for_line = sys.stdin
class Lines:
    def __iter__(self):
        for line in for_line:
            self.line = line
            yield line
sys.stdin = Lines()
def call(request):
    arguments = sys.stdin.line.split('"arguments":', 1)[1]
    answer(request, text(arguments[:arguments.index("}") + 1]))
TOOLS = [tool("go", inputSchema={"properties": {"n": {"type": "number"}}})]
"#,
    );
    let run = switchboard(&[
        "call",
        "--stdio",
        &server.command(),
        "go",
        "n=1.10e+300",
        "z:=[1.0]",
    ]);
    assert_eq!(run, said(0, "{\"n\":1.10e+300,\"z\":[1.0]}\n", ""));
}

#[test]
fn any_command_can_be_the_server_in_either_era() {
    let own = env!("CARGO_BIN_EXE_switchboard");
    for era in ["legacy", "modern", "both"] {
        let stdio = format!("'{own}' test-server --era {era}");
        for tool in ["echo", "mine/echo"] {
            let run = switchboard(&["call", "--stdio", &stdio, tool, "message=a b"]);
            assert_eq!(run, said(0, "a b\n", ""), "{era} {tool}");
        }
    }
    let run = switchboard(&["call", "demo/echo", "message=x", "--protocol", "2026-07-28"]);
    assert_eq!(run, said(0, "x\n", ""));
    let run = switchboard(&["call", "demo/echo", "message=x", "--protocol", "legacy"]);
    assert_eq!(run, said(0, "x\n", ""));
}

#[test]
fn a_tool_that_fails_is_shown_and_is_no_success() {
    assert_eq!(
        switchboard(&["call", "demo/fail", "message=no luck"]),
        said(
            5,
            "no luck\n",
            "error: the tool reported an error\n  server: demo\n  tool: fail\n"
        )
    );
}

#[test]
fn with_json_the_result_is_what_the_server_sent() {
    let server = Script::new(
        r#"
def call(request):
    write('{"jsonrpc":"2.0","id":%s,"result":{"z":1.10,"content":[{"type":"text","text":"a\\u001bb\x9b"},{"type":"hologram","x":[1e400]}],"later":{"b":null,"a":0}}}' % json.dumps(request["id"]))
"#,
    );
    let stdio = server.command();
    let run = switchboard(&["call", "--stdio", &stdio, "go", "--json"]);
    let sent = concat!(
        r#"{"z":1.10,"content":[{"type":"text","text":"a\u001bb\u009b"},"#,
        r#"{"type":"hologram","x":[1e400]}],"later":{"b":null,"a":0}}"#,
        "\n"
    );
    assert_eq!(run, said(0, sent, ""));
    let run = switchboard(&["call", "--stdio", &stdio, "go"]);
    assert_eq!(
        run,
        said(
            0,
            "a\\u{1b}b\\u{9b}\n[hologram not shown; see --json]\n",
            ""
        )
    );
}

#[test]
fn data_without_text_is_printed_as_json() {
    let server = Script::new(
        r#"
def call(request):
    answer(request, {"content": [], "structuredContent": {"sum": 5, "of": [2, 3]}})
"#,
    );
    let run = switchboard(&["call", "--stdio", &server.command(), "go"]);
    let data = "{\n  \"sum\": 5,\n  \"of\": [\n    2,\n    3\n  ]\n}\n";
    assert_eq!(run, said(0, data, ""));
}

#[test]
fn the_server_gets_the_variables_and_the_folder_it_is_given_and_no_others() {
    let server = Script::new(
        r#"
def call(request):
    names = ["GIVEN", "PASSED", "KEPT"]
    answer(request, text(" ".join(os.environ.get(name, "-") for name in names) + " " + os.getcwd()))
"#,
    );
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let folder = folder.to_str().unwrap();
    let stdio = server.command();
    let mut args = vec!["call", "--stdio", &stdio, "go", "-e", "GIVEN=one"];
    args.extend(["--env-passthrough", "PASSED", "--cwd", folder]);
    let run = switchboard_with(&[("PASSED", "two"), ("KEPT", "three")], &args);
    assert_eq!(run, said(0, &format!("one two - {folder}\n"), ""));
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    let mut command = command(&["call", "demo/echo", "message=hello"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = command.stdout(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_an_error() {
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let output = command(&["call", "demo/echo", "message=x"])
        .stdout(full)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("error: the result could not be written\n"),
        "{stderr}"
    );
}
