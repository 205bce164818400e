//! `watch`, templates of `read`, and what a server says that nobody here knows of.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::run::{command, switchboard, switchboard_for};
use crate::script::Script;

/// A server with a resource that changes as soon as somebody wants to know.
const CHANGING: &str = r#"
META = {"ui": {"resourceUri": "ui://app", "prefersBorder": None}, "x.y/z": [1.5]}
TOOLS = [tool("go", _meta=META)]

def initialize(request):
    info = {"name": "changing", "version": "1"}
    capabilities = {"tools": {}, "resources": {"subscribe": True}}
    answer(request, {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info})

def updated(uri):
    params = {"uri": uri}
    write(json.dumps({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params}))

def heard(message):
    method, params = message.get("method"), message.get("params", {})
    if method == "resources/subscribe" and params["uri"] == "file:///gone":
        refuse(message, -32002, "no such resource")
    elif method == "resources/subscribe":
        answer(message, {})
        updated(params["uri"] + "/\u001b[31mbelow")
        updated(params["uri"])
    elif method == "resources/read":
        contents = {"uri": params["uri"], "text": "now \u001b[31mred", "_meta": META}
        answer(message, {"contents": [contents], "_meta": META})
    else:
        return
    message["method"] = "done"
    del message["id"]
"#;

#[test]
fn watch_shows_a_line_for_each_change() {
    let script = Script::new(CHANGING);
    let args = ["watch", "--stdio", &script.command(), "file:///a"];
    let run = switchboard_for(&args, |run| run.stdout.lines().count() == 2);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert_eq!(run.stdout, "file:///a/\\u{1b}[31mbelow\nfile:///a\n");
    assert_eq!(run.stderr, "");
}

#[test]
fn watch_reads_what_has_changed_where_that_is_wanted() {
    let script = Script::new(CHANGING);
    let stdio = script.command();
    let args = ["watch", "s", "file:///a", "--stdio", &stdio, "--read"];
    let run = switchboard_for(&args, |run| run.stdout.lines().count() == 4);
    assert_eq!(run.code, Some(0), "{run:?}");
    let shown = "now \\u{1b}[31mred\n";
    let wanted = format!("file:///a/\\u{{1b}}[31mbelow\n{shown}file:///a\n{shown}");
    assert_eq!(run.stdout, wanted);
    let args = [&args[..], &["--json"]].concat();
    let run = switchboard_for(&args, |run| run.stdout.lines().count() == 2);
    assert!(!run.stdout.contains('\u{1b}'), "{}", run.stdout);
    let lines = run.stdout.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        line.as_object_mut().unwrap().remove("time").unwrap();
        line
    });
    let lines: Vec<Value> = lines.collect();
    let meta = json!({"ui": {"resourceUri": "ui://app", "prefersBorder": null}, "x.y/z": [1.5]});
    let contents = json!({"uri": "file:///a", "text": "now \u{1b}[31mred", "_meta": meta});
    let last = json!({
        "server": "s", "uri": "file:///a", "change": "changed",
        "result": {"contents": [contents], "_meta": meta},
    });
    assert_eq!((lines.len(), &lines[1]), (2, &last));
}

#[test]
fn watch_fails_where_the_server_does_not_tell() {
    let script = Script::new(CHANGING);
    let run = switchboard(&["watch", "--stdio", &script.command(), "file:///gone"]);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("no such resource"), "{}", run.stderr);
    let script = Script::new("");
    let run = switchboard(&["watch", "--stdio", &script.command(), "file:///a"]);
    assert!(
        run.stderr.contains("does not offer changes of resources"),
        "{}",
        run.stderr
    );
    let run = switchboard(&["watch", "demo"]);
    assert_eq!(run.code, Some(2), "{run:?}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_watch() {
    let script = Script::new(CHANGING);
    let mut command = command(&["watch", "--stdio", &script.command(), "file:///a"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.next().unwrap().unwrap();
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let mut said = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
}

#[test]
fn a_template_is_filled_in_and_read() {
    let read = |words: &[&str]| switchboard(&[&["read", "demo"], words].concat());
    let run = read(&["note:///{name}", "name=a b/c"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), "This is the note a%20b%2Fc.\n")
    );
    let run = read(&["note:///{name}"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(run.stderr.contains("not filled in: name"), "{}", run.stderr);
    assert!(run.stderr.contains("add name=..."), "{}", run.stderr);
    let run = read(&["note:///{name}", "name=a", "nome=b"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("has no nome"), "{}", run.stderr);
    let run = read(&["note:///{name", "name=a"]);
    assert_eq!(run.code, Some(2));
    let run = read(&["file:///readme.txt", "name=a"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("only a template"), "{}", run.stderr);
}

#[test]
fn what_nobody_here_knows_of_is_in_the_json_as_it_came() {
    let script = Script::new(CHANGING);
    let stdio = script.command();
    let meta = json!({"ui": {"resourceUri": "ui://app", "prefersBorder": null}, "x.y/z": [1.5]});
    let json = |args: &[&str]| -> Value {
        let run = switchboard(&[args, &["--stdio", &stdio, "--json"]].concat());
        serde_json::from_str(&run.stdout).unwrap()
    };
    assert_eq!(json(&["tools"])["tools"][0]["_meta"], meta);
    let read = json(&["read", "ui://app"]);
    assert_eq!(
        (&read["_meta"], &read["contents"][0]["_meta"]),
        (&meta, &meta)
    );
}
