//! The whole programs among the examples, run as processes against real servers.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use switchboard_testkit::Options;
use switchboard_testkit::http::{Http, Server, Transport};
use tokio::process::Command;

/// The bundled server as a process.
const SERVER: &str = env!("CARGO_BIN_EXE_endure-server");

/// Runs a program that has to succeed, and returns its output.
async fn run(program: &str, args: &[&str], folder: &Path) -> String {
    let output = Command::new(program)
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {complaints}");
    assert_eq!(complaints, "", "{program}");
    String::from_utf8(output.stdout).unwrap()
}

/// Calls of a tool that a server over HTTP has seen.
fn calls_of(server: &Server, tool: &str) -> usize {
    let requests = server.requests();
    let is_call = |sent: &Value| sent["method"] == "tools/call" && sent["params"]["name"] == tool;
    requests.iter().filter(|it| is_call(&it.json())).count()
}

#[tokio::test]
async fn every_example_that_the_guide_quotes_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let servers = json!({ "mcpServers": { "demo": { "command": SERVER } } });
    std::fs::write(&file, servers.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let remote = Http::default().serve().await.unwrap();
    let url = remote.url();
    let hello = r#"{"message": "hello"}"#;
    // Each with its arguments and the end of its output.
    let examples: [(&str, &[&str], &str); 9] = [
        (
            env!("CARGO_BIN_EXE_example-agent-tools"),
            &[file, "demo/echo", hello],
            "\nhello\n",
        ),
        (
            env!("CARGO_BIN_EXE_example-answers"),
            &[SERVER],
            "\"text\":\"Hello, Ada!\"}))]\n",
        ),
        (
            env!("CARGO_BIN_EXE_example-calls"),
            &[SERVER, "--start-delay", "0"],
            "raise `execution_timeout`\n",
        ),
        (
            env!("CARGO_BIN_EXE_example-elicit"),
            &[SERVER],
            "mine asks: What is your name?\nHello, Ada!\n",
        ),
        (
            env!("CARGO_BIN_EXE_example-local-tools"),
            &[],
            "{\"words\":2}\n",
        ),
        (
            env!("CARGO_BIN_EXE_example-own-transport"),
            &[SERVER],
            "\nfail\nannounce_change\n",
        ),
        (
            env!("CARGO_BIN_EXE_example-remote"),
            &[&url, "a-token"],
            "\nfail\nannounce_change\n",
        ),
        (
            env!("CARGO_BIN_EXE_example-sampling"),
            &[SERVER, "--asking-models"],
            "mine asks for 100 tokens\n42\n",
        ),
        (
            env!("CARGO_BIN_EXE_example-talking"),
            &[SERVER, "--talking", "--growing"],
            "France, Japan, Jordan\nOk(Changed(\"file:///readme.txt\"))\n",
        ),
    ];
    for (program, args, end) in examples {
        let output = run(program, args, folder.path()).await;
        assert!(output.ends_with(end), "{program}:\n{output}");
    }
    // Its events come from another task, in any order beside the result.
    let output = run(env!("CARGO_BIN_EXE_example-host"), &[SERVER], folder.path()).await;
    assert!(output.contains(r#""role":"tool""#), "{output}");
    remote.shutdown().await;
}

#[test]
fn every_example_is_run_unless_it_needs_the_network() {
    // One fetches a server; a person logs in to a server of the internet with the others.
    let not_run = ["host_login", "login", "time"];
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = std::fs::read_to_string(tests.join("Cargo.toml")).unwrap();
    let examples = tests.join("../crates/switchboard/examples");
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_run = manifest.contains(&format!("/examples/{name}.rs\""));
        assert_eq!(is_run, !not_run.contains(&name), "{name}");
    }
}

#[tokio::test]
async fn the_snippet_of_the_front_page_runs() {
    let folder = tempfile::tempdir().unwrap();
    let servers = json!({ "mcpServers": { "demo": { "command": SERVER }, "gone": { "command": "no-such-program" } } });
    std::fs::write(folder.path().join("mcp.json"), servers.to_string()).unwrap();
    let output = run(env!("CARGO_BIN_EXE_example-open"), &[], folder.path()).await;
    let lines: Vec<&str> = output.lines().collect();
    let [problem, tools, hello] = lines.as_slice() else {
        panic!("{output}");
    };
    assert!(problem.starts_with("gone: "), "{problem}");
    assert_eq!((*tools, *hello), ("7 tools for a model", "hello"));
}

#[tokio::test]
async fn a_registry_in_twelve_lines_runs() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_example-registry-minimal");
    let output = run(program, &[SERVER], folder.path()).await;
    assert_eq!(output, "7 tools, 2 + 3 = 5\n");
}

#[tokio::test]
async fn a_registry_with_owners_levels_and_reconnection_runs() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_example-registry");
    let output = run(program, &[SERVER], folder.path()).await;
    let expected = "\
main sees [\"private\", \"shared\"]
main: main
helper sees [\"shared\"]
asked: agent helper wants to call tool echo of shared (level TRUSTED)
helper: helper
guest sees []
guest: shared: agent guest may not call tool echo: level SANDBOXED
mcp__private__add is private/add
Closed, sent: true
5
connected, again: true
empty: the server offers no tools, and `fail_if_no_tools` is set
shared: connected
";
    assert_eq!(output, expected);
}

#[tokio::test]
async fn descriptions_with_filters_cache_retries_and_serde_run() {
    let folder = tempfile::tempdir().unwrap();
    // The first call of `echo` is answered with 503.
    let options = Options {
        chaos: vec!["503-flap=1@echo".parse().unwrap()],
        ..Options::default()
    };
    let remote = Http::new(options).serve().await.unwrap();
    let older = Http::default().transport(Transport::Sse);
    let older = older.serve().await.unwrap();
    let program = env!("CARGO_BIN_EXE_example-descriptions");
    let args = [SERVER, &remote.url(), &older.url()];
    let output = run(program, &args, folder.path()).await;
    let output = output
        .replace(SERVER, "COMMAND")
        .replace(&remote.url(), "URL")
        .replace(&older.url(), "OLDER_URL")
        .replace(r#"[{"name""#, "[\n{\"name\"")
        .replace(r#"},{"name""#, "},\n{\"name\"");
    let expected = r#"[
{"name":"local","type":"stdio","command":"COMMAND","env":{"API_KEY":"${API_KEY}"},"connect_timeout":"60s","discovery_timeout":"60s","execution_timeout":"60s","clean_arguments":true,"include_tools":["echo","add","slow_*"],"exclude_tools":["slow_operation"]},
{"name":"remote","type":"http","url":"URL","headers":{"Authorization":"Bearer ${REMOTE_TOKEN}"},"max_retries":5,"retry_backoff":"20ms","cache_tools_list":true,"idempotent_tools":["echo"]},
{"name":"older","type":"sse","url":"OLDER_URL"}]
stdio:COMMAND
http:URL
sse:OLDER_URL
reader: 14 tools
admin: 16 tools
6 cached, 6 fresh
5 again
1 messages of a prompt
"#;
    assert_eq!(output, expected);
    assert_eq!(calls_of(&remote, "echo"), 2);
    // Once for the catalog and once because the program wants it fresh: the list between is cached.
    let requests = remote.requests();
    let lists = requests.iter().filter(|it| it.rpc_method() == "tools/list");
    assert_eq!(lists.count(), 2);
    // The secret that was stored as a reference reaches the server.
    let token = requests.first().unwrap().header("authorization");
    assert_eq!(token, Some("Bearer s3cret-2"));
    older.shutdown().await;
    remote.shutdown().await;
}

#[tokio::test]
async fn a_manager_with_capabilities_and_offline_tools_runs() {
    let folder = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_example-manager");
    let output = run(program, &[SERVER], folder.path()).await;
    let expected = "\
broken: false
database: false
files: true
mcp__database__run is (\"database\", \"run\")
mcp__files__echo is (\"files\", \"echo\")
hello
Denied: files: agent reader may not call tool add: no grant
NotOffered: database: the tool \"run\" has no live server: it was registered by its description alone
Arguments: database: the arguments do not fit: the value must have `sql`
\"one\\ntwo\"
\"three\"
\"four\"
";
    assert_eq!(output, expected);
}
