//! Predicates of the program over the definitions of tools and the context of their use.

use serde_json::{Value, json};
use switchboard::ErrorKind;
use switchboard::events::Event;
use switchboard::host::{Caller, Host, View};
use switchboard::policy::{Level, Request, Target};
use switchboard::spec::{Settings, ToolPredicate};
use switchboard_testkit::Options;

use crate::host_support::agents::{EVERYTHING, agent, allowing, drain};
use crate::host_support::{With as _, name, testkit};

fn tools(view: &View) -> Vec<String> {
    let tools = view.tools();
    tools.iter().map(|tool| tool.key().to_string()).collect()
}

/// Settings with one predicate.
fn filtered(admits: impl Fn(&Value, &Value) -> bool + Send + Sync + 'static) -> Settings {
    let mut settings = Settings::default();
    settings.tool_predicates = vec![ToolPredicate::new(admits)];
    settings
}

/// Tools that take a number; the definition says so.
fn takes_numbers(tool: &Value) -> bool {
    tool["inputSchema"]["properties"]["a"]["type"] == "number"
}

#[tokio::test]
async fn a_predicate_of_one_server_sees_definitions_and_context() {
    let policy = allowing("planner", Level::Yolo, &EVERYTHING);
    let settings = filtered(|tool, context| {
        assert_eq!(context["server"], "demo");
        let agent = &context["agent"];
        takes_numbers(tool)
            || agent["attributes"]["role"] == "admin"
            || context["run"]["limits"]["tools"] == json!(["echo"]) && tool["name"] == "echo"
    });
    let host = Host::builder()
        .transport(name("demo"), testkit(Options::default()), settings)
        .with("other", testkit(Options::default()))
        .policy(policy)
        .build()
        .unwrap();
    host.connect_all().await;
    let of_demo = |caller: Caller| {
        let tools = tools(&host.view(caller)).into_iter();
        let tools = tools.filter(|tool| tool.starts_with("demo/"));
        tools.collect::<Vec<_>>()
    };
    // The same for an agent and for the owner: the predicate sits on the server.
    assert_eq!(of_demo(agent("planner")), ["demo/add"]);
    assert_eq!(of_demo(Caller::owner()), ["demo/add"]);
    assert_eq!(
        of_demo(agent("planner").attribute("role", "admin")).len(),
        7
    );
    let limits = json!({"tools": ["echo"]});
    let run = agent("planner").run_value("limits", &limits);
    assert_eq!(of_demo(run), ["demo/echo", "demo/add"]);
    // The other server has all of its tools.
    assert_eq!(host.tools().len(), 8);

    // What is not listed is not called either, by whatever name.
    let mut events = host.events();
    for view in [host.view(agent("planner")), host.view(Caller::owner())] {
        for tool in ["demo/echo", "mcp__demo__echo"] {
            let error = view.call(tool, json!({"message": "x"})).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        }
        let sum = view.call("demo/add", json!({"a": 1, "b": 2})).await;
        assert!(sum.unwrap().text().contains('3'));
    }
    let denied = drain(&mut events)
        .into_iter()
        .filter_map(|event| match event {
            Event::Decided {
                rule,
                decision: "deny",
                ..
            } => Some(rule.to_string()),
            _ => None,
        });
    let denied: Vec<_> = denied.collect();
    assert_eq!(denied, ["tool filter of server demo"; 4]);
    let demo = name("demo");
    let target = Target::Tool {
        server: &demo,
        name: "echo",
    };
    let why = host.why(&Request::usual(&agent("planner"), target));
    assert_eq!(why.to_string(), "deny: tool filter of server demo");
    host.shutdown().await;
}

#[tokio::test]
async fn a_predicate_of_the_host_applies_to_all_servers_and_to_everyone() {
    let policy = allowing("planner", Level::Yolo, &EVERYTHING);
    let host = Host::builder()
        .with("one", testkit(Options::default()))
        .with("two", testkit(Options::default()))
        .policy(policy)
        .filter_tools(|tool, _| takes_numbers(tool))
        .filter_tools(|_, context| context["server"] != "two" || context["agent"]["id"] == "owner")
        .build()
        .unwrap();
    host.connect_all().await;
    let planner = host.view(agent("planner"));
    assert_eq!(tools(&planner), ["one/add"]);
    let owner = host.view(Caller::owner());
    assert_eq!(tools(&owner), ["one/add", "two/add"]);
    let error = host.find("one/echo").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    let error = planner.find("two/add").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    host.shutdown().await;
}

#[tokio::test]
async fn a_predicate_that_changes_its_mind_stops_calls_of_a_handle() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    let is_open = Arc::new(AtomicBool::new(true));
    let gate = Arc::clone(&is_open);
    let host = Host::builder()
        .with("demo", testkit(Options::default()))
        .filter_tools(move |_, _| gate.load(Ordering::SeqCst))
        .build()
        .unwrap();
    let echo = host.find("demo/echo").await.unwrap();
    echo.call(json!({"message": "x"})).await.unwrap();
    is_open.store(false, Ordering::SeqCst);
    let error = echo.call(json!({"message": "x"})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(!error.was_sent());
    host.shutdown().await;
}

#[tokio::test]
async fn a_predicate_is_evaluated_once_for_each_call() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    let (count, is_open) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(true)),
    );
    let (counted, gate) = (Arc::clone(&count), Arc::clone(&is_open));
    let settings = filtered(move |tool, _| {
        let is_echo = tool["name"] == "echo";
        if is_echo {
            counted.fetch_add(1, Ordering::SeqCst);
        }
        !is_echo || gate.load(Ordering::SeqCst)
    });
    let host = Host::builder()
        .transport(name("demo"), testkit(Options::default()), settings)
        .policy(allowing("planner", Level::Yolo, &EVERYTHING))
        .build()
        .unwrap();
    host.connect_all().await;
    let evaluated = || count.swap(0, Ordering::SeqCst);
    let message = json!({"message": "x"});
    for view in [host.view(Caller::owner()), host.view(agent("planner"))] {
        is_open.store(true, Ordering::SeqCst);
        let echo = view.find("demo/echo").await.unwrap();
        evaluated();
        for _ in 0..3 {
            echo.call(&message).await.unwrap();
            assert_eq!(evaluated(), 1, "{view:?}: a prepared call");
        }
        for tool in ["demo/echo", "mcp__demo__echo"] {
            view.call(tool, &message).await.unwrap();
            assert_eq!(evaluated(), 1, "{view:?}: a call of {tool}");
        }
        // A refused call is evaluated once too, and its error names no other tool of that name.
        is_open.store(false, Ordering::SeqCst);
        echo.call(&message).await.unwrap_err();
        assert_eq!(evaluated(), 1, "{view:?}: a prepared call that is refused");
        let error = view.call("demo/echo", &message).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
        assert_eq!(evaluated(), 1, "{view:?}: a call by name that is refused");
    }
    host.shutdown().await;
}
