//! The short ways to a host and what its owner does with it: files, calls, agents, problems.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::events::Event;
use switchboard::policy::{AgentPolicy, CallerId, Grants, Level, Policy};
use switchboard::session::CancelReason;
use switchboard::spec::ServerSpec;
use switchboard::{ErrorKind, Host, HostBuilder};
use switchboard_testkit::Options;
use tempfile::TempDir;

use crate::host_support::{With as _, crashing, tapped, testkit};

/// The bundled server as a process.
const SERVER: &str = env!("CARGO_BIN_EXE_endure-server");

/// A config file with these servers.
fn file_of(servers: &Value) -> (TempDir, PathBuf) {
    file_with(&json!({ "mcpServers": servers }).to_string())
}

fn file_with(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    std::fs::write(&file, text).unwrap();
    (folder, file)
}

fn demo() -> Host {
    let builder = Host::builder().with("demo", testkit(Options::default()));
    builder.build().unwrap()
}

#[tokio::test]
async fn a_file_that_is_opened_is_connected_without_approval() {
    let (_folder, file) = file_of(&json!({
        "demo": {"command": SERVER},
        "gone": {"command": "/there/is/no/such/program"},
        "wrong": {"command": 7},
        "off": {"command": SERVER, "disabled": true},
    }));
    let host = Host::open(&file).await.unwrap();
    let states: Vec<_> = host
        .servers()
        .iter()
        .map(|status| (status.name.to_string(), status.state.word()))
        .collect();
    let expected = [
        ("demo", "connected"),
        ("gone", "failed"),
        ("off", "disabled"),
        ("wrong", "failed"),
    ];
    assert_eq!(states, expected.map(|(name, word)| (name.to_owned(), word)));
    let problems = host.problems();
    let broken: Vec<_> = problems
        .iter()
        .map(|error| (error.server().unwrap().as_str(), error.kind()))
        .collect();
    let expected = [
        ("gone", ErrorKind::Connect),
        ("wrong", ErrorKind::Configuration),
    ];
    assert_eq!(broken, expected);
    let result = host.call("demo/echo", json!({"message": "hello"})).await;
    assert_eq!(result.unwrap().text(), "hello");
    host.shutdown().await;
}

#[tokio::test]
async fn a_file_that_cannot_be_used_cannot_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Host::open(folder.path().join("mcp.json"))
        .await
        .unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Configuration);
    for text in ["", "{", "[]", r#"{"mcpServers": 7}"#] {
        let (_folder, file) = file_with(text);
        let error = Host::open(&file).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration, "{text}: {error}");
        assert!(error.to_string().contains("mcp.json"), "{error}");
    }
}

#[tokio::test]
async fn the_owner_uses_tools_resources_and_prompts_of_a_host() {
    let host = demo();
    assert!(host.tools().is_empty() && host.tool("demo/echo").is_err());
    // A call connects first.
    let result = host.call("demo/echo", json!({"message": "hello"})).await;
    assert_eq!(result.unwrap().text(), "hello");
    assert_eq!(host.tools().len(), 7);
    let echo = host.tool("mcp__demo__echo").unwrap();
    assert_eq!(echo.to_openai(), echo.openai_chat().value);
    assert_eq!(echo.to_anthropic(), echo.anthropic().value);
    let result = echo.call(json!({"message": "again"})).await.unwrap();
    assert_eq!(result.to_openai("1"), result.openai_chat("1").value);
    let read = host.read("demo", "file:///readme.txt").await.unwrap();
    assert_eq!(read.contents().len(), 1);
    assert_eq!(host.resources().len(), 3);
    let prompt = host.prompt("demo/greeting", json!({"name": "Ada"}));
    assert_eq!(prompt.await.unwrap().messages().len(), 1);
    assert!(!host.prompts().is_empty());
    for wrong in [json!({"nome": "Ada"}), json!(["Ada"])] {
        let error = host.prompt("demo/greeting", wrong).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Arguments);
    }
    let error = host.call("demo/ecko", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_call_that_is_not_awaited_is_not_sent() {
    let (memory, tap) = tapped(Options::default());
    let host = Host::builder().with("demo", memory).build().unwrap();
    let echo = host.find("demo/echo").await.unwrap();
    drop(echo.call(json!({"message": "x"})).idempotent());
    drop(host.call("demo/echo", json!({"message": "x"})));
    drop(host.read("demo", "file:///readme.txt"));
    // The connection keeps the order: anything sent before would be counted by now.
    echo.call(json!({"message": "x"})).await.unwrap();
    assert_eq!(
        (tap.count("tools/call"), tap.count("resources/read")),
        (1, 0)
    );
}

#[tokio::test]
async fn progress_of_a_call_reaches_the_function_in_order() {
    let host = demo();
    let slow = host.find("demo/slow_operation").await.unwrap();
    let arguments = json!({"duration": 0.3, "steps": 3});
    for by_name in [false, true] {
        let steps = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&steps);
        let call = match by_name {
            true => host.call("demo/slow_operation", &arguments),
            false => slow.call(&arguments),
        };
        let call = call.on_progress(move |step| seen.lock().unwrap().push(step.progress));
        let result = call.timeout(Duration::from_secs(60)).await.unwrap();
        assert!(!result.is_error());
        let steps = steps.lock().unwrap();
        assert!(!steps.is_empty() && steps.is_sorted(), "{steps:?}");
    }
}

#[tokio::test]
async fn a_call_over_its_time_fails_and_says_that_it_was_sent() {
    let host = demo();
    let slow = host.find("demo/slow_operation").await.unwrap();
    let call = slow.call(json!({"duration": 60}));
    let error = call.timeout(Duration::from_millis(100)).await.unwrap_err();
    assert!(error.is_timeout() && error.was_sent(), "{error}");
    // The same for a call by name, with a function for its progress.
    let call = host.call("demo/slow_operation", json!({"duration": 60}));
    let call = call.timeout(Duration::from_millis(100)).on_progress(drop);
    assert!(call.await.unwrap_err().is_timeout());
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_on_the_wire() {
    let (memory, tap) = tapped(Options::default());
    let host = Host::builder().with("demo", memory).build().unwrap();
    let slow = host.find("demo/slow_operation").await.unwrap();
    let call = slow.call(json!({"duration": 60, "steps": 600}));
    let reason = CancelReason::new("enough");
    let (heard, mut first) = tokio::sync::mpsc::channel(1);
    let call = call.cancel_reason(&reason).on_progress(move |_| {
        heard.try_send(()).ok();
    });
    tokio::select! {
        result = call.into_future() => panic!("{result:?}"),
        _ = first.recv() => {}
    }
    host.check("demo").await.unwrap();
    assert_eq!(tap.count("notifications/cancelled"), 1);
}

#[tokio::test]
async fn a_typed_call_reads_the_structured_result() {
    type Sum = BTreeMap<String, f64>;
    let host = demo();
    let arguments = json!({"a": 2, "b": 3});
    let sum: Sum = host.call("demo/add", &arguments).typed().await.unwrap();
    assert_eq!(sum, Sum::from([("sum".to_owned(), 5.0)]));
    let add = host.tool("demo/add").unwrap();
    let wrong = add.call(&arguments).typed::<String>().await.unwrap_err();
    assert_eq!(wrong.kind(), ErrorKind::Protocol);
    assert_eq!(wrong.server().unwrap().as_str(), "demo");
}

#[tokio::test]
async fn an_agent_without_a_policy_is_an_error_that_says_what_to_write() {
    let (_folder, file) = file_with(
        r#"{"mcpServers": {}, "agents": {"writer": {"level": "yolo", "grants": ["mcp:demo:echo"]}}}"#,
    );
    let host = Host::open(&file).await.unwrap();
    let error = host.agent("planner").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    let missing = error.missing_policy().unwrap();
    assert_eq!(missing.agent.as_str(), "planner");
    assert_eq!(missing.known, [CallerId::parse("writer").unwrap()]);
    assert_eq!(missing.file.as_deref(), Some(file.as_path()));
    assert_eq!(missing.pointer(), "/agents/planner");
    // The example that the error gives is one that a file takes.
    let example: Value = serde_json::from_str(missing.example()).unwrap();
    let text = json!({"mcpServers": {}, "agents": {"planner": example}}).to_string();
    let (_folder, file) = file_with(&text);
    let host = Host::open(&file).await.unwrap();
    assert!(host.config_problems().is_empty());
    assert_eq!(
        host.agent("planner").unwrap().caller().id().as_str(),
        "planner"
    );
    assert!(host.agent("owner").is_err() && host.agent("a b").is_err());
}

#[test]
fn agents_that_the_program_sets_replace_those_of_a_file() {
    let (_folder, file) =
        file_with(r#"{"mcpServers": {}, "agents": {"writer": {"level": "yolo"}}}"#);
    let set = |builder: HostBuilder| {
        let reader = AgentPolicy::new(Level::Trusted);
        let builder = builder.agent("planner", AgentPolicy::everything(Level::Yolo));
        builder.agent("reader", reader)
    };
    let before = set(Host::builder()).file(&file).unwrap();
    let after = set(Host::builder().file(&file).unwrap());
    for builder in [before, after] {
        let host = builder.build().unwrap();
        let policy = host.policy();
        let agents = policy.agents().into_iter();
        let agents: Vec<_> = agents
            .map(|(id, it)| (id.as_str(), it.current_level()))
            .collect();
        let expected = [("planner", Level::Yolo), ("reader", Level::Trusted)];
        assert_eq!(agents, expected);
        assert!(host.agent("writer").is_err());
    }
    // A policy that the program sets is kept, with the agent beside its own.
    let policy = Policy::none().others(AgentPolicy::new(Level::Trusted));
    let host = set(Host::builder().policy(policy)).build().unwrap();
    host.agent("guest").unwrap();
    let error = Host::builder().agent("a b", AgentPolicy::default()).build();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Configuration);
}

#[tokio::test]
async fn the_owner_lists_the_tools_of_one_server_cached_or_fresh() {
    let (memory, tap) = tapped(Options::default());
    let builder = Host::builder().with("demo", memory);
    let host = builder.with("other", testkit(Options::default()));
    let host = host.build().unwrap();
    for lists in [1, 1] {
        assert_eq!(host.tools_of("demo").await.unwrap().len(), 7);
        assert_eq!(tap.count("tools/list"), lists);
    }
    assert_eq!(host.tools_of("demo").fresh().await.unwrap().len(), 7);
    assert_eq!(tap.count("tools/list"), 2);
    assert!(host.tools_of("missing").await.is_err());
}

#[tokio::test]
async fn an_agent_sees_and_calls_what_it_was_granted() {
    let grants = Grants::parse(["mcp:demo:echo"]).unwrap();
    let policy = AgentPolicy::new(Level::Yolo).grants(grants);
    let planner = CallerId::parse("planner").unwrap();
    let host = Host::builder()
        .with("demo", testkit(Options::default()))
        .with("other", testkit(Options::default()))
        .policy(Policy::none().agent(planner, policy))
        .connect()
        .await
        .unwrap();
    let view = host.agent("planner").unwrap();
    let names: Vec<_> = view.servers().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["demo"]);
    assert_eq!(view.tools().len(), 1);
    let result = view.call("demo/echo", json!({"message": "x"})).await;
    assert_eq!(result.unwrap().text(), "x");
    let error = view.call("demo/add", json!({"a": 1, "b": 2})).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
    let denied = "demo: agent planner may not call tool add: no grant";
    assert_eq!(error.to_string(), denied);
    assert_eq!(switchboard::explain(&error).facts[1].1, "no-grant");
    let error = host.agent("guest").unwrap_err();
    assert_eq!(error.missing_policy().unwrap().file, None);
}

#[tokio::test]
async fn a_host_whose_servers_were_all_disconnected_stays_usable() {
    let host = Host::builder()
        .with("one", testkit(Options::default()))
        .with("two", testkit(Options::default()))
        .connect()
        .await
        .unwrap();
    host.disconnect_all().await;
    assert!(host.servers().iter().all(|status| !status.is_ready()));
    assert!(host.problems().is_empty(), "{:?}", host.problems());
    let result = host.call("two/echo", json!({"message": "x"})).await;
    assert_eq!(result.unwrap().text(), "x");
}

#[tokio::test]
async fn all_servers_are_checked_at_once_and_by_name() {
    let host = Host::builder()
        .with("b", testkit(Options::default()))
        .with("a", crashing())
        .build()
        .unwrap();
    let checked = host.check_all().await;
    let checked: Vec<_> = checked
        .iter()
        .map(|(name, answered)| (name.as_str(), answered.is_ok()))
        .collect();
    assert_eq!(checked, [("a", false), ("b", true)]);
}

#[tokio::test]
async fn a_server_is_found_with_the_safe_variables_unless_they_are_cleaned() {
    // `env` is looked up in PATH, and prints what the server gets.
    let variables = |spec: ServerSpec| async {
        let host = Host::builder().server(spec).build().unwrap();
        let error = host.connect("it").await.unwrap_err();
        let noise = format!("{:?}", switchboard::explain(&error).evidence);
        host.shutdown().await;
        (error, noise)
    };
    let spec = ServerSpec::stdio("it", "env").unwrap();
    let (_, seen) = variables(spec.clone()).await;
    assert!(seen.contains("PATH="), "{seen}");
    let (error, _) = variables(spec.clean_env()).await;
    assert!(error.to_string().contains("\"env\" not found"), "{error}");
    let whole = which("env");
    let clean = ServerSpec::stdio("it", whole).unwrap().clean_env();
    let (_, seen) = variables(clean.env("ONLY", "this")).await;
    assert!(!seen.contains("PATH="), "{seen}");
}

/// The program of that name.
fn which(name: &str) -> String {
    let path = std::env::var_os("PATH").unwrap();
    let mut found = std::env::split_paths(&path).map(|folder| folder.join(name));
    let found = found.find(|file| file.is_file()).unwrap();
    found.to_str().unwrap().to_owned()
}

#[test]
fn a_setting_for_the_other_kind_of_server_fails_the_host() {
    let wrong = || ServerSpec::stdio("it", "x").unwrap().header("A", "b");
    let error = Host::builder().server(wrong()).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    let words = "it: `header` has no meaning for a server over stdio";
    assert_eq!(error.to_string(), words);
    let host = Host::builder().build().unwrap();
    assert_eq!(host.add(wrong()).unwrap_err().to_string(), words);
    assert!(host.servers().is_empty());
    let error = Host::builder().offline("a b", Vec::new()).build();
    assert!(error.unwrap_err().to_string().contains("\"a b\""));
}

#[tokio::test]
async fn the_text_of_an_error_names_its_cause() {
    // A port that was free a moment ago: nothing listens there.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", free.local_addr().unwrap());
    drop(free);
    let spec = ServerSpec::http("gone", &url).unwrap().max_retries(0);
    let host = Host::builder().server(spec).build().unwrap();
    let mut events = host.events();
    let error = host.connect("gone").await.unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("gone: "), "{text}");
    assert!(text.to_lowercase().contains("refused"), "{text}");
    let failed = loop {
        if let Event::ConnectFailed { error, .. } = events.recv().await.unwrap() {
            break error;
        }
    };
    assert!(failed.to_lowercase().contains("refused"), "{failed}");
    // A text that names its cause already is not repeated.
    let host = Host::builder().with("ends", crashing()).build().unwrap();
    let text = host.connect("ends").await.unwrap_err().to_string();
    let parts: Vec<&str> = text.split(": ").collect();
    let once: std::collections::BTreeSet<&&str> = parts.iter().collect();
    assert_eq!(once.len(), parts.len(), "{text}");
}
