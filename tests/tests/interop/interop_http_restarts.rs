//! Servers that others wrote and that are killed, with and without a call under way, and come back
//! behind the same address.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard::Server;
use switchboard::protocol::{Era, Raw};
use switchboard::session::{CallOptions, Delivery, SessionOptions};
use switchboard::spec::{Protocol, ServerName};
use switchboard::transport::{Http, LegacySse};
use switchboard_tests::offer;
use switchboard_tests::partners::{self, Launch};
use switchboard_tests::running::Running;
use tokio::task::JoinSet;

use crate::http_support::{self, text};

/// A call must fail long before its own deadline does it.
const SOON: Duration = Duration::from_secs(30);

enum Over {
    Http,
    Sse,
}

/// One partner, and what is used of it.
struct Case<L> {
    launch: L,
    url: fn(&Running) -> String,
    over: Over,
    protocol: Protocol,
    era: Era,
    resource: &'static str,
    /// A tool that reports progress and takes longer than the test does.
    hanging: (&'static str, Value),
    /// What the server writes when that tool begins, if it writes anything.
    begins: Option<&'static str>,
}

fn arguments(value: &Value) -> Option<Raw> {
    Some(Raw::of(value).unwrap())
}

async fn is_killed_and_comes_back<L: Fn(u16) -> Launch>(case: Case<L>) {
    let mut running = Running::start(&case.launch).await;
    let (name, url) = (ServerName::parse("partner").unwrap(), (case.url)(&running));
    let options = SessionOptions::default().protocol(case.protocol);
    let server = match case.over {
        Over::Http => Server::new(name, Http::new(&url).unwrap(), options),
        Over::Sse => Server::new(name, LegacySse::new(&url).unwrap(), options),
    };
    let tools = server.list_tools().await.unwrap().items;
    assert_eq!(server.era().await, Some(case.era));

    // Between calls, nobody notices.
    running.restart(&case.launch).await;
    assert_eq!(server.list_tools().await.unwrap().items, tools);
    running.restart(&case.launch).await;
    let read = server.read_resource(case.resource, CallOptions::default());
    assert_eq!(read.await.unwrap().contents()[0].uri(), case.resource);
    let message = json!({"message": "still here"});
    let echo = server.call_tool("echo", arguments(&message), CallOptions::default());
    assert!(text(&echo.await.unwrap()).contains("still here"));

    // A call that was under way has failed, and may have been run.
    let (sender, mut watch) = switchboard::session::progress();
    let options = CallOptions::default().progress(sender);
    let (tool, with) = &case.hanging;
    let calling = server.call_tool(tool, arguments(with), options);
    let killing = async {
        watch.wait_for(Option::is_some).await.unwrap();
        running.kill().await;
    };
    let both = async { tokio::join!(calling, killing).0 };
    let error = tokio::time::timeout(SOON, both).await.unwrap().unwrap_err();
    assert!(error.was_sent() && !error.is_timeout(), "{error:?}");
    assert!(error.rpc().is_none(), "nobody answered: {error:?}");

    running.restart(&case.launch).await;
    assert_eq!(server.list_tools().await.unwrap().items, tools);
    if let Some(begins) = case.begins {
        assert_eq!(running.said(begins), 0, "it was called again");
    }
    server.close().await;
}

fn ours<L: Fn(u16) -> Launch>(launch: L, protocol: Protocol, era: Era) -> Case<L> {
    Case {
        launch,
        url: |running| running.url().to_owned(),
        over: Over::Http,
        protocol,
        era,
        resource: offer::RESOURCE_URI,
        hanging: (offer::COUNT, json!({"steps": 2, "hang": true})),
        begins: Some("counting"),
    }
}

fn rmcp3(port: u16) -> Launch {
    partners::rmcp3_http(env!("CARGO_BIN_EXE_rmcp3-http-server"), port)
}

#[tokio::test]
async fn rmcp_3_8_in_the_modern_era() {
    is_killed_and_comes_back(ours(rmcp3, Protocol::Auto, Era::Modern)).await;
}

#[tokio::test]
async fn rmcp_3_8_with_sessions() {
    is_killed_and_comes_back(ours(rmcp3, Protocol::Legacy, Era::Legacy)).await;
}

#[tokio::test]
async fn python_mcp_1_30_with_sessions() {
    let case = ours(partners::python_v1_http, Protocol::Auto, Era::Legacy);
    is_killed_and_comes_back(case).await;
}

#[tokio::test]
async fn python_mcp_2_3_in_the_modern_era() {
    let case = ours(partners::python_v2_http, Protocol::Auto, Era::Modern);
    is_killed_and_comes_back(case).await;
}

#[tokio::test]
async fn fastmcp_4_1_in_the_modern_era() {
    let case = ours(partners::fastmcp_http, Protocol::Auto, Era::Modern);
    is_killed_and_comes_back(case).await;
}

#[tokio::test]
async fn python_mcp_1_30_over_sse() {
    let case = ours(partners::python_v1_sse, Protocol::Auto, Era::Legacy);
    let over = Over::Sse;
    is_killed_and_comes_back(Case { over, ..case }).await;
}

#[tokio::test]
async fn python_mcp_1_30_whose_sse_was_found() {
    let case = ours(partners::python_v1_sse, Protocol::Auto, Era::Legacy);
    is_killed_and_comes_back(case).await;
}

fn everything() -> Case<impl Fn(u16) -> Launch> {
    Case {
        launch: |port| partners::everything_http("streamableHttp", port),
        url: |running| running.at("/mcp"),
        over: Over::Http,
        protocol: Protocol::Auto,
        era: Era::Legacy,
        resource: "demo://resource/static/document/architecture.md",
        hanging: (
            "trigger-long-running-operation",
            json!({"duration": 600, "steps": 3000}),
        ),
        begins: None,
    }
}

#[tokio::test]
async fn server_everything_which_answers_400_to_a_session_that_it_forgot() {
    is_killed_and_comes_back(everything()).await;
}

/// Kills a server with many calls under way, and starts it anew or not before they are given up.
async fn all_fail_soon<L: Fn(u16) -> Launch>(case: Case<L>, comes_back: bool) {
    // More than may be tried again in a minute.
    const CALLS: usize = 30;
    let mut running = Running::start(&case.launch).await;
    let http = Http::new(&(case.url)(&running)).unwrap();
    let session = http_support::connect(&http, case.protocol).await;
    let mut under_way = JoinSet::new();
    let mut begun = Vec::new();
    let (tool, with) = case.hanging;
    for _ in 0..CALLS {
        let (sender, watch) = switchboard::session::progress();
        let options = CallOptions::default().progress(sender);
        let (session, with) = (session.clone(), arguments(&with));
        under_way.spawn(async move { session.call_tool(tool, with, options).await });
        begun.push(watch);
    }
    for watch in &mut begun {
        watch.wait_for(Option::is_some).await.unwrap();
    }
    match comes_back {
        true => running.restart(&case.launch).await,
        false => running.kill().await,
    }
    let ended = tokio::time::timeout(SOON, under_way.join_all()).await;
    for result in ended.unwrap() {
        let error = result.unwrap_err();
        assert!(!error.is_timeout(), "{error:?}");
        assert_eq!(error.delivery(), Delivery::MaybeProcessed, "{error:?}");
    }
}

#[tokio::test]
async fn of_many_calls_under_way_all_fail_soon() {
    for comes_back in [false, true] {
        let case = ours(rmcp3, Protocol::Legacy, Era::Legacy);
        all_fail_soon(case, comes_back).await;
        all_fail_soon(everything(), comes_back).await;
    }
}
