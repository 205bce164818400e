//! What servers ask the person: a form, a visit to an address, and answers that are known beforehand.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::home::Home;
use crate::pty::Pty;
use crate::run::{said, switchboard, switchboard_with};
use crate::script::Script;

/// The tool `go` asks with those parameters, and answers with what comes back; `asks` is Python.
const ASKING: &str = r#"
def initialize(request):
    info = {"name": "script", "version": "1"}
    answer(request, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})

def ask(params):
    write(json.dumps({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params}))
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("id") == "q":
            return message.get("result") or message.get("error")
        heard(message)

def form(**fields):
    required = [name for name, field in fields.items() if field.pop("must", False)]
    return {"message": "Tell me\n\x1b[31mmore", "requestedSchema": {"type": "object", "properties": fields, "required": required}}
"#;

pub(crate) fn asking(call: &str) -> Script {
    Script::new(&format!("{ASKING}\n{call}"))
}

/// A server whose only tool asks once.
pub(crate) fn asking_once(params: &str) -> Script {
    asking(&format!(
        "def call(request):\n    answer(request, text(json.dumps(ask({params}), sort_keys=True)))\n"
    ))
}

pub(crate) fn stdio<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["call", "--stdio", command, "mine/go"];
    args.extend(more);
    args
}

#[test]
fn a_form_is_filled_in_at_a_terminal_in_both_eras() {
    for era in ["legacy", "2026-07-28"] {
        let mut pty = Pty::spawn(&["call", "demo/ask_name", "--protocol", era], &[], 80);
        pty.wait_for("The server \"demo\" asks:\r\n  | What is your name?");
        pty.wait_for("[c]ancel: ");
        pty.send(b"\r");
        pty.wait_for("Name (required)\r\n  | The name to greet you by");
        pty.wait_for("name: ");
        pty.send(b"\r");
        pty.wait_for("a value is required");
        pty.send(b"Bob\r");
        pty.wait_for("This will be sent to \"demo\":\r\n  Name: Bob");
        pty.wait_for("Send it?");
        pty.send(b"e\r");
        pty.wait_for("name [Bob]: ");
        pty.send(b"Ada\r");
        pty.wait_for("Name: Ada");
        pty.wait_for("Send it?");
        pty.send(b"y\r");
        pty.wait_for("Hello, Ada!");
        assert_eq!(pty.finish().0, 0);
    }
}

#[test]
fn every_kind_of_field_is_asked_for_and_what_it_does_not_take_is_said() {
    let script = asking_once(
        r#"form(
            mail={"type": "string", "format": "email", "must": True},
            age={"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            sure={"type": "boolean", "must": True},
            size={"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}], "must": True},
            days={"type": "array", "items": {"type": "string", "enum": ["mo", "tu"]}, "maxItems": 1},
            note={"type": "string", "default": "gone"},
        )"#,
    );
    let command = script.command();
    let mut pty = Pty::spawn(&stdio(&command, &[]), &[], 100);
    pty.wait_for("The server \"mine\" asks:");
    // What it says is quoted, and does nothing to the terminal.
    pty.wait_for("  | Tell me\r\n  | \\u{1b}[31mmore");
    pty.send(b"y\r");
    for (asked, typed) in [
        ("mail: ", "nobody"),
        ("an email address", "ada@example.com"),
        ("age [3]: ", "10"),
        ("must be at most 9", ""),
        ("sure: ", "perhaps"),
        ("enter yes or no", "yes"),
        ("2. Large", "2"),
        ("days: ", "mo, tu"),
        ("must have at most 1 choices", "tu"),
        ("note [gone]: ", "-"),
        ("Send it?", "y"),
    ] {
        pty.wait_for(asked);
        pty.send(format!("{typed}\r").as_bytes());
    }
    pty.wait_for(r#"{"action": "accept", "content": {"age": 3, "days": ["tu"], "mail": "ada@example.com", "size": "l", "sure": true}}"#);
    assert_eq!(pty.finish().0, 0);
}

#[test]
fn a_question_can_be_declined_and_cancelled() {
    for (typed, told) in [
        ("d", "The question was declined."),
        ("c", "The question was dismissed."),
    ] {
        let mut pty = Pty::spawn(&["call", "demo/ask_name"], &[], 80);
        pty.wait_for("Answer it?");
        pty.send(format!("{typed}\r").as_bytes());
        pty.wait_for(told);
        assert_eq!(pty.finish().0, 0);
    }
}

#[test]
fn ctrl_c_at_a_question_ends_the_command_and_tells_the_server() {
    let told = tempfile::NamedTempFile::new().unwrap();
    let script = asking(&format!(
        "def heard(message):\n    open({:?}, 'a').write(json.dumps(message) + '\\n')\n\ndef call(request):\n    ask(form(x={{\"type\": \"string\"}}))\n",
        told.path().display().to_string()
    ));
    let command = script.command();
    let mut pty = Pty::spawn(&stdio(&command, &[]), &[], 80);
    pty.wait_for("Answer it?");
    pty.send(b"\x03");
    pty.wait_for("stopped by SIGINT");
    assert_eq!(pty.finish().0, 130);
    let heard = fs::read_to_string(told.path()).unwrap();
    assert!(heard.contains("notifications/cancelled"), "{heard}");
}

/// A home with one server named `mine`.
fn with_mine(script: &Script) -> Home {
    let home = Home::new();
    let command = script.command();
    let path = command.trim_start_matches("python3 ").trim_matches('\'');
    let file = json!({"mcpServers": {"mine": {"command": "python3", "args": [path]}}});
    home.write("config/switchboard/mcp.json", &file.to_string());
    home
}

/// Opens a prompt with one server named `mine`, which may ask as the script says.
fn prompt(script: &Script) -> (Home, Pty) {
    let home = with_mine(script);
    let mut pty = Pty::start(at_home(&home, &[]), 100);
    pty.wait_for("Ctrl-D exits");
    pty.wait_for("switchboard> ");
    (home, pty)
}

#[test]
fn ctrl_c_at_a_prompt_cancels_on_the_wire_and_whoever_asks_for_ever_is_left() {
    let script = asking(
        r#"
def call(request):
    answers = [ask(form(x={"type": "string"}))["action"] for _ in range(50)]
    answer(request, text(" ".join(sorted(set(answers))) + " " + str(len(answers))))
"#,
    );
    let (_home, mut pty) = prompt(&script);
    for _ in 0..2 {
        pty.send(b"call mine/go\r");
        pty.wait_for("The server \"mine\" asks:");
        pty.wait_for("Answer it?");
        pty.send(b"\x03");
        pty.wait_for("cancel 50");
        pty.wait_for("switchboard> ");
    }
    pty.send(b"exit\r");
    assert_eq!(pty.finish().0, 0);
}

#[test]
fn at_a_dumb_terminal_what_is_typed_after_ctrl_c_is_a_command() {
    let script = asking_once(r#"form(x={"type": "string"})"#);
    let home = with_mine(&script);
    let mut command = at_home(&home, &[]);
    command.env("TERM", "dumb");
    let mut pty = Pty::start(command, 100);
    pty.wait_for("switchboard> ");
    pty.send(b"call mine/go\r");
    pty.wait_for("Answer it?");
    pty.send(b"\x03");
    pty.wait_for(r#"{"action": "cancel"}"#);
    pty.send(b"servers mine\r");
    pty.wait_for("2025-11-25");
    pty.wait_for("switchboard> ");
    pty.send(b"exit\r");
    assert_eq!(pty.finish().0, 0);
}

#[test]
fn answers_can_be_given_beforehand() {
    let by_flag = switchboard(&["call", "demo/ask_name", "--answer", "name=Ada"]);
    assert_eq!(by_flag, said(0, "Hello, Ada!\n", ""));
    let json = switchboard(&[
        "call",
        "demo/ask_name",
        "--answer",
        "name:=\"Eve\"",
        "--protocol",
        "legacy",
    ]);
    assert_eq!(json, said(0, "Hello, Eve!\n", ""));
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), r#"{"name": "Bob", "other": 1}"#).unwrap();
    let path = file.path().to_str().unwrap();
    let by_file = switchboard(&["call", "demo/ask_name", "--answers", path]);
    assert_eq!(by_file, said(0, "Hello, Bob!\n", ""));
    let twice = switchboard(&[
        "call",
        "demo/ask_name",
        "--answers",
        path,
        "--answer",
        "name=x",
    ]);
    assert_eq!(twice.code, Some(2), "{twice:?}");
    fs::write(file.path(), "[]").unwrap();
    let no_object = switchboard(&["call", "demo/ask_name", "--answers", path]);
    assert_eq!(no_object.code, Some(2));
    assert!(
        no_object.stderr.contains("it is no JSON object"),
        "{no_object:?}"
    );
}

#[test]
fn a_form_that_no_answer_is_for_is_not_agreed_to() {
    for fields in [r#"sure={"type": "boolean", "default": True}"#, ""] {
        let script = asking_once(&format!("form({fields})"));
        let command = script.command();
        let other = switchboard(&stdio(&command, &["--answer", "other=1"]));
        assert_eq!(other.stdout, "{\"action\": \"decline\"}\n");
    }
    let script =
        asking_once(r#"form(sure={"type": "boolean", "default": True}, x={"type": "string"})"#);
    let met = switchboard(&stdio(&script.command(), &["--answer", "x=1"]));
    assert_eq!(
        met.stdout,
        "{\"action\": \"accept\", \"content\": {\"sure\": true, \"x\": \"1\"}}\n"
    );
}

#[test]
fn who_asks_for_ever_does_not_fill_the_screen() {
    let script = asking(
        r#"
def call(request):
    answers = [ask(form(x={"type": "string"}))["action"] for _ in range(500)]
    answer(request, text(" ".join(sorted(set(answers))) + " " + str(len(answers))))
"#,
    );
    let run = switchboard(&stdio(&script.command(), &["--answer", "other=1"]));
    assert_eq!(run.stdout, "decline 500\n");
    assert_eq!(run.stderr.lines().count(), 51, "{}", run.stderr);
    assert!(
        run.stderr
            .ends_with("(further messages are hidden until the next command)\n")
    );
}

#[test]
fn where_no_person_can_answer_the_answer_is_no() {
    // Answers for other fields are given, so that servers may ask.
    let call = ["call", "demo/ask_name", "--answer", "other=1"];
    let piped = switchboard(&call);
    assert_eq!(
        (piped.code, piped.stdout.as_str()),
        (Some(0), "The question was declined.\n")
    );
    assert!(
        piped.stderr.contains("there is no terminal to answer at"),
        "{piped:?}"
    );
    let quiet = switchboard(&[&call[..], &["-q"]].concat());
    assert_eq!(quiet, said(0, "The question was declined.\n", ""));
    let json = switchboard(&[&call[..], &["--json"]].concat());
    assert_eq!((json.code, json.stderr.as_str()), (Some(0), ""));
    let wrong = switchboard(&["call", "demo/ask_name", "--answer", "name:=3"]);
    assert!(
        wrong.stderr.contains("demo asks for name: enter text"),
        "{wrong:?}"
    );
}

/// The elicitation that a traced run declared: in `initialize`, or with its first modern request.
fn declared(trace: &Path) -> Value {
    let text = fs::read_to_string(trace).unwrap();
    let messages = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let capabilities = messages.filter_map(|line| {
        let params = &line["message"]["params"];
        let modern = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        let capabilities = [&params["capabilities"], modern];
        let found = capabilities.into_iter().find(|it| it.is_object());
        found.cloned()
    });
    // A server that does not know the modern era is asked twice, with the same capabilities.
    let all: Vec<Value> = capabilities.map(|it| it["elicitation"].clone()).collect();
    assert!(!all.is_empty(), "{text}");
    assert!(all.iter().all(|one| *one == all[0]), "{text}");
    all[0].clone()
}

#[test]
fn a_pipe_declares_no_elicitation_that_it_cannot_answer() {
    for era in ["legacy", "2026-07-28"] {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace");
        let list = |more: &[&'static str]| {
            let list = ["tools", "demo", "--protocol", era, "--trace"];
            let mut args: Vec<String> = list.iter().map(ToString::to_string).collect();
            args.push(trace.display().to_string());
            args.extend(more.iter().map(ToString::to_string));
            args
        };
        let piped = |more: &[&'static str]| {
            let args = list(more);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let run = switchboard(&args);
            assert_eq!(run.code, Some(0), "{run:?}");
            let declared = declared(&trace);
            fs::remove_file(&trace).unwrap();
            declared
        };
        assert_eq!(piped(&[]), Value::Null, "{era}");
        assert_eq!(piped(&["--json"]), Value::Null, "{era}");
        // Forms can be answered with these, and no visits to addresses.
        let forms = piped(&["--answer", "name=Ada"]);
        assert!(
            forms.is_object() && forms["url"].is_null(),
            "{era}: {forms}"
        );
        // A terminal declares both.
        let args = list(&[]);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let pty = Pty::spawn(&args, &[], 80);
        assert_eq!(pty.finish().0, 0);
        let both = declared(&trace);
        assert!(
            both["form"].is_object() && both["url"].is_object(),
            "{era}: {both}"
        );
    }
}

#[test]
fn a_tool_that_has_to_ask_fails_on_a_pipe_and_says_why() {
    for era in ["legacy", "2026-07-28"] {
        let run = switchboard(&["call", "demo/ask_name", "--protocol", era]);
        assert_ne!(run.code, Some(0), "{era}: {run:?}");
        let text = format!("{}{}", run.stdout, run.stderr);
        assert!(text.contains("elicitation"), "{era}: {text}");
    }
}

#[test]
fn a_form_that_asks_for_a_secret_is_never_shown() {
    let script = asking_once(r#"form(api_key={"type": "string"})"#);
    let command = script.command();
    let mut pty = Pty::spawn(&stdio(&command, &[]), &[], 100);
    pty.wait_for("a question of mine was refused: the field \"api_key\" asks for a secret");
    pty.wait_for(r#"{"action": "decline"}"#);
    assert_eq!(pty.finish().0, 0);
    let given = switchboard_with(&[], &stdio(&command, &["--answer", "api_key=x"]));
    assert_eq!(given.stdout, "{\"action\": \"decline\"}\n");
}

pub(crate) fn at_home(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(args);
    let path = format!(
        "{}:{}",
        home.path("bin").display(),
        std::env::var("PATH").unwrap()
    );
    command.env("PATH", path);
    command
}
