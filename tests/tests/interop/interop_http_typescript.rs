//! Our client over HTTP with the example servers of the TypeScript SDK, each of which shows one shape
//! that a server may have.

use serde_json::json;
use switchboard::protocol::{GetPromptParams, Pairs, Version};
use switchboard::session::{CallOptions, Session};
use switchboard::spec::Protocol;
use switchboard::transport::{Http, LegacySse, Streams};
use switchboard_tests::partners;
use switchboard_tests::running::Running;
use tokio::task::JoinSet;

use crate::http_support::{call, connect, list_everything, text};

async fn example(name: &str) -> Running {
    Running::start(|port| partners::typescript_example(name, port)).await
}

async fn legacy(http: &Http) -> Session {
    let session = connect(http, Protocol::Auto).await;
    assert_eq!(session.negotiated().version, Version::V2025_11_25);
    session
}

#[tokio::test]
async fn a_server_that_answers_in_json() {
    let server = example("jsonResponseStreamableHttp").await;
    let http = Http::new(&server.at("/mcp")).unwrap();
    for http in [http.clone(), http.streams(Streams::Refused)] {
        let session = legacy(&http).await;
        assert_eq!(list_everything(&session).await, ["greet", "multi-greet"]);
        let greeting = call(&session, "greet", json!({"name": "Ada"})).await;
        assert_eq!(text(&greeting), "Hello, Ada!");
        session.close().await;
    }
}

#[tokio::test]
async fn a_server_without_sessions() {
    let server = example("simpleStatelessStreamableHttp").await;
    let session = legacy(&Http::new(&server.at("/mcp")).unwrap()).await;
    let tools = list_everything(&session).await;
    assert_eq!(tools, ["start-notification-stream"]);
    let arguments = json!({"interval": 1, "count": 3});
    let called = call(&session, "start-notification-stream", arguments).await;
    assert!(text(&called).contains("every 1ms"), "{called:?}");

    let uri = "https://example.com/greetings/default";
    let read = session.read_resource(uri, CallOptions::default());
    assert_eq!(
        read.await.unwrap().contents()[0].text(),
        Some("Hello, world!")
    );
    let mut arguments = Pairs::new();
    arguments.insert("name", "Ada".to_owned());
    let params = GetPromptParams {
        name: "greeting-template".to_owned(),
        arguments,
    };
    let prompt = session.get_prompt(&params, CallOptions::default()).await;
    let prompt = prompt.unwrap();
    let said = prompt.messages()[0].content()[0].as_text().unwrap();
    assert!(said.contains("Ada"), "{said}");
    session.close().await;
}

#[tokio::test]
async fn a_server_that_cuts_its_streams_and_has_them_resumed() {
    let server = example("ssePollingExample").await;
    let session = legacy(&Http::new(&server.at("/mcp")).unwrap()).await;
    assert_eq!(list_everything(&session).await, ["long-task"]);
    let done = call(&session, "long-task", json!({})).await;
    assert_eq!(text(&done), "Long task completed successfully!");
    server.says("Closing SSE stream").await;
    session.close().await;
    server.says("Transport closed").await;
}

#[tokio::test]
async fn many_calls_at_a_server_that_has_each_of_them_resumed() {
    // More than may be tried again in a minute, if it is in vain.
    const CALLS: usize = 24;
    let server = example("ssePollingExample").await;
    let session = legacy(&Http::new(&server.at("/mcp")).unwrap()).await;
    let mut under_way = JoinSet::new();
    for _ in 0..CALLS {
        let session = session.clone();
        under_way.spawn(async move { call(&session, "long-task", json!({})).await });
    }
    for done in under_way.join_all().await {
        assert_eq!(text(&done), "Long task completed successfully!");
    }
    session.close().await;
}

#[tokio::test]
async fn a_server_with_both_transports() {
    let server = example("sseAndStreamableHttpCompatibleServer").await;
    let tool = "start-notification-stream";
    let arguments = || json!({"interval": 1, "count": 3});

    let newer = legacy(&Http::new(&server.at("/mcp")).unwrap()).await;
    assert_eq!(list_everything(&newer).await, [tool]);
    call(&newer, tool, arguments()).await;
    newer.close().await;
    server.says("Transport closed").await;

    let url = server.at("/sse");
    let found = connect(&Http::new(&url).unwrap(), Protocol::Auto).await;
    let chosen = connect(&LegacySse::new(&url).unwrap(), Protocol::Auto).await;
    for session in [found, chosen] {
        assert_eq!(session.negotiated().version, Version::V2025_11_25);
        assert_eq!(list_everything(&session).await, [tool]);
        call(&session, tool, arguments()).await;
        session.close().await;
    }
}
