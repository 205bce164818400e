//! What servers log, beside any command.

use std::fs;

use serde_json::Value;

use crate::run::switchboard;
use crate::script::Script;

/// Logs on three levels before it answers, and says which level it was told.
const LOGGING: &str = r#"
LEVEL = "none"

def initialize(request):
    info = {"name": "script", "version": "1"}
    answer(request, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "logging": {}}, "serverInfo": info})

def log(level, data):
    params = {"level": level, "logger": "it", "data": data}
    write(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": params}))

def refuse(request, code, message, **more):
    global LEVEL
    if request["method"] == "logging/setLevel":
        LEVEL = request["params"]["level"]
        answer(request, {})
    else:
        write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}))

def call(request):
    log("debug", "small")
    log("warning", "big \x1b[31m")
    log("error", {"key": os.environ["TOKEN"]})
    answer(request, text("told " + LEVEL))
"#;

fn call(script: &Script, more: &[&str]) -> crate::run::Run {
    let command = script.command();
    let base = [
        "call",
        "mine/go",
        "--stdio",
        &command,
        "-e",
        "TOKEN=canary-of-logs",
    ];
    switchboard(&[&base, more].concat())
}

#[test]
fn what_is_logged_is_told_beside_a_call_from_the_level_on() {
    let script = Script::new(LOGGING);
    let silent = call(&script, &[]);
    assert_eq!(
        (silent.stdout.as_str(), silent.stderr.as_str()),
        ("told none\n", "")
    );
    let some = call(&script, &["--log-level", "warning"]);
    assert_eq!(some.stdout, "told warning\n");
    assert_eq!(
        some.stderr,
        "mine: warning it: big \\u{1b}[31m\nmine: error it: {\"key\": \"***\"}\n"
    );
    let all = call(&script, &["--log-level", "DEBUG", "--quiet"]);
    assert_eq!(all.stdout, "told debug\n");
    assert_eq!(all.stderr.lines().count(), 3, "{}", all.stderr);
}

#[test]
fn programs_get_it_as_json_and_in_the_file_of_events() {
    let script = Script::new(LOGGING);
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let run = call(
        &script,
        &["--log-level", "warning", "--json", "--events", path],
    );
    let lines: Vec<Value> = run
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2, "{}", run.stderr);
    assert_eq!(lines[0]["data"], "big \u{1b}[31m");
    assert_eq!(lines[1]["data"]["key"], "***");
    let events = fs::read_to_string(path).unwrap();
    assert!(!events.contains("canary-of-logs"), "{events}");
    let logged = events
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let logged: Vec<Value> = logged
        .filter(|line: &Value| line["event"] == "logged")
        .collect();
    assert_eq!(logged.len(), 2, "{events}");
    assert_eq!(logged[0]["level"], "warning");
    assert_eq!(logged[0]["server"], "mine");
}

#[test]
fn what_is_no_level_and_an_agent_are_told_so() {
    let script = Script::new(LOGGING);
    let wrong = call(&script, &["--log-level", "loud"]);
    assert_eq!(wrong.code, Some(2));
    assert!(
        wrong.stderr.contains("expected one of debug, info"),
        "{}",
        wrong.stderr
    );
    let agent = call(&script, &["--log-level", "info", "--as", "a"]);
    assert_eq!(agent.code, Some(2));
}
