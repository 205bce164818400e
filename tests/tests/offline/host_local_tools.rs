//! Tools that the program itself runs, beside those of servers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::ErrorKind;
use switchboard::events::Event;
use switchboard::host::{Caller, Host, LocalTool, ToolOutput};
use switchboard::pins::{Mode, Pins};
use switchboard::policy::{AgentPolicy, Grants, Level, Policy};
use switchboard::spec::Protocol;
use switchboard_testkit::Options;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::host_support::agents::{agent, drain, id};
use crate::host_support::{PATIENCE, With as _, testkit};

fn adding() -> LocalTool {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    });
    LocalTool::new(
        "add",
        "Adds two numbers",
        schema,
        async |numbers: BTreeMap<String, i64>| match numbers["a"].checked_add(numbers["b"]) {
            Some(sum) => Ok(json!({"sum": sum})),
            None => Err("the sum is too large"),
        },
    )
}

/// A tool that takes anything.
fn simple<R>(name: &str, run: impl Fn(Value) -> R + Send + Sync + 'static) -> LocalTool
where
    R: Future<Output = Result<&'static str, String>> + Send + 'static,
{
    LocalTool::new(name, "", json!({"type": "object"}), run)
}

/// A host with one real server.
fn host(policy: Policy) -> Host {
    let pins = Pins::in_memory();
    let host = Host::builder().with("demo", testkit(Options::default()));
    host.policy(policy).pins(pins, Mode::Block).build().unwrap()
}

fn names(host: &Host) -> Vec<String> {
    let tools = host.tools();
    tools.iter().map(|tool| tool.key().to_string()).collect()
}

#[tokio::test]
async fn a_local_tool_is_listed_checked_called_and_reported_like_any_other() {
    let host = host(Policy::none());
    host.connect_all().await;
    let before = host.tools().len();
    let mut events = host.events();
    let add = host.register_tool("calculator", adding()).await.unwrap();
    assert_eq!(add.name(), "mcp__calculator__add");
    assert_eq!(add.description(), "Adds two numbers");
    assert_eq!(host.tools().len(), before + 1);
    assert!(host.server("calculator").unwrap().is_ready());

    let result = add.call(json!({"a": 2, "b": 3})).await.unwrap();
    assert_eq!(result.structured().unwrap().as_str(), r#"{"sum":5}"#);
    assert_eq!(result.text(), r#"{"sum":5}"#);
    let error = add.call(json!({"a": "x", "b": 3})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Arguments, "{error}");
    let result = add.call(json!({"a": i64::MAX, "b": 1})).await.unwrap();
    assert!(result.is_error());
    assert_eq!(result.text(), "the sum is too large");
    let calls = drain(&mut events).into_iter();
    let calls = calls.filter(|event| event.call().is_some());
    let calls: Vec<_> = calls.map(|event| event.name()).collect();
    let once = ["call_started", "call_completed"];
    assert_eq!(calls, once.repeat(2), "what does not fit is not called");
    // It is found by its name, with those of the server beside it.
    let arguments = json!({"a": 1, "b": 1});
    for name in ["calculator/add", "mcp__calculator__add", "demo/add"] {
        let result = host.call(name, arguments.clone()).await.unwrap();
        assert!(result.text().contains('2'), "{name}: {}", result.text());
    }
    host.shutdown().await;
}

#[tokio::test]
async fn local_tools_come_and_go_while_the_host_runs() {
    let host = host(Policy::none());
    let said = |name| simple(name, async |_| Ok("said"));
    let one = host.register_tool("mine", said("one")).await.unwrap();
    let two = host.register_tool("mine", said("two")).await.unwrap();
    assert_eq!(names(&host), ["mine/one", "mine/two"]);

    // Names that collide: of a tool, and of a server that is not the program's.
    let error = host.register_tool("mine", said("one")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
    assert!(error.to_string().contains("\"one\" already"), "{error}");
    let error = host.register_tool("demo", said("one")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
    // Names and schemas that cannot be.
    for (server, tool) in [("no name", said("x")), ("mine", said(""))] {
        let error = host.register_tool(server, tool).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
    }
    let odd = LocalTool::new("odd", "", json!("text"), async |_: Value| {
        Ok::<_, String>("")
    });
    let error = host.register_tool("odd", odd).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
    assert_eq!(names(&host), ["mine/one", "mine/two"]);
    assert_eq!(host.servers().len(), 2, "the server and `mine`");

    host.remove_tool("mine", "one").await.unwrap();
    assert_eq!(names(&host), ["mine/two"]);
    one.call(json!({})).await.unwrap_err();
    assert_eq!(two.call(json!({})).await.unwrap().text(), "said");
    let error = host.remove_tool("mine", "one").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    host.remove_tool("demo", "echo").await.unwrap_err();
    // With its last tool the name is free, also for another kind of server.
    host.remove_tool("mine", "two").await.unwrap();
    assert_eq!(host.servers().len(), 1);
    two.call(json!({})).await.unwrap_err();
    let again = host.register_tool("mine", said("one")).await.unwrap();
    assert_eq!(again.call(json!({})).await.unwrap().text(), "said");
    host.remove("mine").await.unwrap();
    assert!(names(&host).is_empty());
}

#[tokio::test]
async fn a_local_tool_obeys_the_policy_and_needs_no_pin() {
    let grants = Grants::parse(["mcp:mine:get_*"]).unwrap();
    let policy = AgentPolicy::new(Level::Yolo).grants(grants);
    let host = host(Policy::none().agent(id("planner"), policy));
    let mut events = host.events();
    for name in ["get_one", "get_two", "delete_all"] {
        let tool = simple(name, async |_| Ok("done"));
        host.register_tool("mine", tool).await.unwrap();
    }
    let view = host.view(agent("planner"));
    let seen: Vec<_> = view
        .tools()
        .iter()
        .map(|it| it.raw_name().to_owned())
        .collect();
    assert_eq!(seen, ["get_one", "get_two"]);
    // The second was added after the first connection: that is no change to be approved.
    let result = view.call("mine/get_two", json!({})).await.unwrap();
    assert_eq!(result.text(), "done");
    let error = view.call("mine/delete_all", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    let decided = drain(&mut events)
        .into_iter()
        .filter_map(|event| match event {
            Event::Decided { call, decision, .. } => Some((call.name.to_string(), decision)),
            _ => None,
        });
    let decided: Vec<_> = decided.collect();
    let expected = [
        ("get_two".to_owned(), "allow"),
        ("delete_all".to_owned(), "deny"),
    ];
    assert_eq!(decided, expected);
}

#[tokio::test]
async fn local_tools_keep_to_deadlines_and_limits_and_one_that_panics_costs_one_call() {
    // The program wants another era of its servers; local tools do not mind.
    let host = Host::builder().protocol(Protocol::Modern).build().unwrap();
    let (started, dropped) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begin, end) = (Arc::clone(&started), Arc::clone(&dropped));
    let endless = simple("endless", move |_| {
        let (begin, end) = (Arc::clone(&begin), NotifyOnDrop(Arc::clone(&end)));
        async move {
            begin.notify_one();
            std::future::pending::<()>().await;
            drop(end);
            Ok("")
        }
    });
    let endless = host.register_tool("mine", endless).await.unwrap();
    let late = endless.call(json!({})).timeout(Duration::from_millis(100));
    let error = late.await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    timeout(PATIENCE, dropped.notified()).await.unwrap();
    // A caller that gives up ends the function, too.
    timeout(PATIENCE, started.notified()).await.unwrap();
    tokio::select! {
        _ = endless.call(json!({})).into_future() => panic!("it has no end"),
        () = started.notified() => {}
    }
    timeout(PATIENCE, dropped.notified()).await.unwrap();

    let panics = simple("panics", async |_| panic!("on purpose"));
    let panics = host.register_tool("mine", panics).await.unwrap();
    let error = panics.call(json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rpc, "{error}");
    let large = LocalTool::new("large", "", json!({"type": "object"}), async |_: Value| {
        Ok::<_, String>(ToolOutput::text("x".repeat(11 * 1024 * 1024)))
    });
    let large = host.register_tool("mine", large).await.unwrap();
    let error = large.call(json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    let fine = simple("fine", async |_| Ok("fine"));
    let fine = host.register_tool("mine", fine).await.unwrap();
    assert_eq!(fine.call(json!({})).await.unwrap().text(), "fine");
    assert!(host.view(Caller::owner()).tool("mine/panics").is_ok());
    host.shutdown().await;
}

struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}
