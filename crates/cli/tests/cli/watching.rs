//! `ping`, `logs` and `--trace`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::run::{switchboard, switchboard_for, switchboard_with};
use crate::script::Script;
use crate::serving::Serving;

/// A server that logs when it is listed, and says on stderr what it was given.
const TALKER: &str = r#"
def initialize(request):
    info = {"name": "talker", "version": "1"}
    capabilities = {"tools": {}, "logging": {}}
    answer(request, {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info})

def log(level, data, **more):
    params = {"level": level, "data": data, **more}
    write(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": params}))

def heard(message):
    if message.get("method") == "logging/setLevel":
        answer(message, {})
        message["method"] = "done"
        del message["id"]
        log("debug", "too quiet")
        log("info", "level is " + message["params"]["level"], logger="main")
        log("error", {"bad": "\u001b[31m" + os.environ.get("API_TOKEN", "")})

print("started with", os.environ.get("API_TOKEN"), "\x1b[31m", file=sys.stderr, flush=True)
"#;

const SECRET: &str = "correct-horse-battery-staple";

/// The three lines of a run of `logs` that ends by itself.
fn logs(script: &Script, more: &[&str]) -> Vec<String> {
    let stdio = script.command();
    let given = format!("API_TOKEN={SECRET}");
    let args = ["logs", "talker", "--stdio", &stdio, "-e", &given];
    let args = [&args, more].concat();
    let run = switchboard_for(&args, |run| run.stdout.lines().count() == 3);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    run.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn logs_shows_stderr_and_messages_of_a_level_without_secrets_or_colours() {
    let script = Script::new(TALKER);
    let mut lines = logs(&script, &["--level", "INFO"]);
    lines.sort();
    assert_eq!(
        lines,
        [
            r#"error: {"bad": "\u001b[31m***"}"#,
            "info main: level is info",
            r"stderr: started with *** \u{1b}[31m",
        ]
    );
}

#[test]
fn logs_as_json_is_an_object_on_each_line() {
    let script = Script::new(TALKER);
    let lines = logs(&script, &["--level", "info", "--json"]);
    let mut found: Vec<Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for one in &mut found {
        let time = one.as_object_mut().unwrap().remove("time").unwrap();
        assert_eq!(
            time.as_str().unwrap().len(),
            "2026-07-28T09:30:00.125Z".len()
        );
    }
    found.sort_by_key(|one| (one["stream"].to_string(), one["level"].to_string()));
    assert_eq!(
        found,
        [
            json!({"server": "talker", "stream": "log", "level": "error", "data": {"bad": "\u{1b}[31m***"}}),
            json!({"server": "talker", "stream": "log", "level": "info", "logger": "main", "data": "level is info"}),
            json!({"server": "talker", "stream": "stderr", "text": "started with *** \u{1b}[31m"}),
        ]
    );
    assert!(!lines.concat().contains('\u{1b}'));
}

#[test]
fn logs_ends_when_nobody_is_left_to_say_anything() {
    let script = Script::new(
        "import threading\ndef list_tools(request):\n    answer(request, {'tools': TOOLS})\n    \
         threading.Timer(0.2, lambda: (sys.stderr.write('last words'), sys.stderr.flush(), os._exit(3))).start()\n",
    );
    let run = switchboard(&["logs", "--stdio", &script.command()]);
    assert_eq!(run.code, Some(10), "{run:?}");
    assert_eq!(run.stdout, "stderr: last words\n");
    assert!(run.stderr.contains("exit code 3"), "{}", run.stderr);
    assert!(
        run.stderr.contains("all servers have disconnected"),
        "{}",
        run.stderr
    );
}

#[test]
fn logs_of_a_server_that_does_not_start_is_its_failure() {
    let run = switchboard(&["logs", "--stdio", "sh -c 'echo why >&2; exit 7'"]);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.stderr.contains("exit code 7"), "{}", run.stderr);
}

#[test]
fn logs_says_which_servers_take_no_level_and_which_levels_there_are() {
    let script = Script::new("");
    let args = ["logs", "--stdio", &script.command(), "--level", "info"];
    let run = switchboard_for(&args, |run| !run.stderr.is_empty());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.stderr.contains("does not send log messages"),
        "{}",
        run.stderr
    );
    let run = switchboard(&["logs", "demo", "--level", "loud"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr.contains("notice, warning, error"),
        "{}",
        run.stderr
    );
}

#[test]
fn what_servers_log_is_not_for_agents() {
    let run = switchboard(&["logs", "demo", "--as", "someone"]);
    assert_eq!(run.code, Some(7), "{run:?}");
    let run = switchboard(&["tools", "demo", "--as", "someone", "--trace", "-"]);
    assert_eq!(run.code, Some(2), "{run:?}");
}

#[test]
fn ping_says_how_long_an_answer_took() {
    let run = switchboard(&["ping", "demo"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let took = run.stdout.strip_prefix("demo  ").unwrap();
    let took = took.strip_suffix(" ms\n").unwrap();
    assert!(took.parse::<f64>().unwrap() > 0.0);
    let run = switchboard(&["ping", "demo", "--json"]);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(found["server"], "demo");
    assert!(found["latency_ms"].as_f64().unwrap() > 0.0);
}

#[test]
fn ping_of_many_goes_well_where_one_answers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let own = env!("CARGO_BIN_EXE_switchboard");
    let good = json!({"command": own, "args": ["test-server"]});
    let bad = json!({"command": "/no/such/program"});
    let ping = |servers: Value| {
        fs::write(&file, json!({ "mcpServers": servers }).to_string()).unwrap();
        switchboard(&["ping", "--config", file.to_str().unwrap(), "--json"])
    };
    let run = ping(json!({"good": good, "bad": bad}));
    assert_eq!(run.code, Some(0), "{run:?}");
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let servers = found["servers"].as_array().unwrap();
    let of = |name: &str| servers.iter().find(|one| one["server"] == name).unwrap();
    assert!(of("good")["latency_ms"].as_f64().unwrap() > 0.0);
    assert_eq!(of("bad")["latency_ms"], Value::Null);
    assert_eq!(of("bad")["error"]["exit"], 4);
    let run = ping(json!({"bad": bad}));
    assert_eq!(run.code, Some(4), "{run:?}");
    let run = switchboard(&["ping", "--stdio", "/no/such/program"]);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert_eq!(run.stdout, "");
}

#[test]
fn a_trace_has_every_message_with_its_time_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace");
    let script = Script::new(
        "print('token', os.environ['API_TOKEN'], file=sys.stderr, flush=True)\n\
         def call(request):\n    answer(request, text('\\u001b[2J' + os.environ['API_TOKEN']))\n",
    );
    let stdio = script.command();
    let given = format!("API_TOKEN={SECRET}");
    let trace = file.to_str().unwrap();
    let args = [
        "call", "--stdio", &stdio, "-e", &given, "--trace", trace, "go",
    ];
    for runs in 1..=2 {
        assert_eq!(switchboard(&args).code, Some(0));
        let text = fs::read_to_string(&file).unwrap();
        assert!(
            !text.contains("horse") && !text.contains('\u{1b}'),
            "{text}"
        );
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let is = |way: &'static str| lines.iter().filter(move |line| line["direction"] == way);
        let called = is("sent").filter(|line| line["message"]["method"] == "tools/call");
        assert_eq!(called.count(), runs);
        let answered = is("received")
            .filter(|line| line["message"]["result"]["content"][0]["text"] == "\u{1b}[2J***");
        assert_eq!(answered.count(), runs);
        let stderr: Vec<&Value> = is("stderr").map(|line| &line["text"]).collect();
        assert!(stderr.iter().all(|text| *text == "token ***"), "{stderr:?}");
        assert!(stderr.len() >= runs);
        assert!(
            lines
                .iter()
                .all(|line| line["time"].is_string() && line["server"].is_string())
        );
    }
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_trace_over_http_has_methods_and_statuses_and_can_be_looked_at() {
    let serving = Serving::start(&["--era", "legacy", "--answers", "sse"]);
    let header = format!("Authorization: Bearer {SECRET}");
    let args = [
        "call",
        "--url",
        serving.url(),
        "-H",
        &header,
        "--trace",
        "-",
        "echo",
    ];
    let words = format!("message=is it {SECRET} \u{1b}[2J");
    let run = switchboard_with(&[], &[&args[..], &[words.as_str()]].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        !run.stderr.contains("horse") && !run.stderr.contains('\u{1b}'),
        "{}",
        run.stderr
    );
    let has = |part: &str| run.stderr.lines().any(|line| line.contains(part));
    for part in [
        " -> POST {\"jsonrpc\"",
        " <- POST 202",
        " -> GET",
        " <- GET 200",
        " <- POST 200 {\"jsonrpc\"",
        " -> DELETE",
        "is it ***",
    ] {
        assert!(has(part), "{part}: {}", run.stderr);
    }
}

#[test]
fn a_trace_that_cannot_be_written_is_named_before_anything_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let run = switchboard(&["tools", "demo", "--trace", folder.path().to_str().unwrap()]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""));
    assert!(
        run.stderr.contains("--trace: the file cannot be written"),
        "{}",
        run.stderr
    );
}
