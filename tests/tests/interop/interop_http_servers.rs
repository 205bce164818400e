//! Our client over HTTP with servers that others wrote: connect, agree, list, call, read, leave.

use serde_json::{Value, json};
use switchboard::protocol::{Era, GetPromptParams, Pairs, Raw, Version};
use switchboard::session::{CallOptions, Session};
use switchboard::spec::Protocol;
use switchboard::transport::{Http, LegacySse};
use switchboard_tests::offer;
use switchboard_tests::partners::{self, Launch};
use switchboard_tests::running::Running;
use tokio::task::JoinSet;

use crate::http_support::{call, call_with_progress, connect, count, list_everything, text};

/// What every partner of our own making offers.
async fn our_offer(session: &Session) {
    let tools = list_everything(session).await;
    assert_eq!(tools, [offer::ECHO, offer::ADD, offer::COUNT]);

    let echo = call(session, offer::ECHO, json!({"message": "grüße\n\"1\""})).await;
    assert_eq!(text(&echo), "grüße\n\"1\"");
    let sum = call(session, offer::ADD, json!({"a": 2, "b": 3})).await;
    let structured: Value = sum.structured_content().unwrap().decode().unwrap();
    assert_eq!(structured, json!({"result": 5}));
    count(session, 3).await;
    at_once(session, 32).await;

    let read = session.read_resource(offer::RESOURCE_URI, CallOptions::default());
    assert_eq!(
        read.await.unwrap().contents()[0].text(),
        Some(offer::RESOURCE_TEXT)
    );

    let mut arguments = Pairs::new();
    arguments.insert("name", "Ada".to_owned());
    let params = GetPromptParams {
        name: offer::PROMPT.to_owned(),
        arguments,
    };
    let prompt = session.get_prompt(&params, CallOptions::default()).await;
    let prompt = prompt.unwrap();
    let said = prompt.messages()[0].content()[0].as_text().unwrap();
    assert_eq!(said, offer::prompt_text("Ada"));
    session.ping().await.unwrap();
}

/// Makes many calls at the same time, each of which gets its own answer.
async fn at_once(session: &Session, calls: usize) {
    let mut under_way = JoinSet::new();
    for number in 0..calls {
        let session = session.clone();
        under_way.spawn(async move {
            let message = format!("call {number}");
            let echo = call(&session, offer::ECHO, json!({ "message": message })).await;
            assert_eq!(text(&echo), message);
        });
    }
    under_way.join_all().await;
}

/// Drops a call that is under way, and sees the server stop.
async fn is_cancelled(session: &Session, server: &Running) {
    let (sender, mut watch) = switchboard::session::progress();
    let options = CallOptions::default().progress(sender);
    let arguments = Raw::of(&json!({"steps": 1, "hang": true})).unwrap();
    tokio::select! {
        ended = session.call_tool(offer::COUNT, Some(arguments), options) => panic!("{ended:?}"),
        began = watch.wait_for(Option::is_some) => drop(began.unwrap()),
    }
    server.says("cancelled").await;
    session.ping().await.unwrap();
}

/// Whether a legacy server has a session to delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sessions {
    Kept,
    None,
}

/// Finds out the era, and is told it.
async fn in_each_era(
    launch: impl Fn(u16) -> Launch,
    expected: &[(Protocol, Version)],
    sessions: Sessions,
) {
    for (protocol, version) in expected {
        let server = Running::start(&launch).await;
        let session = connect(&Http::new(server.url()).unwrap(), *protocol).await;
        assert_eq!(session.negotiated().version, *version, "{server:?}");
        our_offer(&session).await;
        if version.era() == Era::Modern || sessions == Sessions::Kept {
            is_cancelled(&session, &server).await;
        }
        session.close().await;
        if version.era() == Era::Legacy && sessions == Sessions::Kept {
            server.says("DELETE 20").await;
        }
    }
}

fn rmcp3(port: u16) -> Launch {
    partners::rmcp3_http(env!("CARGO_BIN_EXE_rmcp3-http-server"), port)
}

const BOTH: [(Protocol, Version); 3] = [
    (Protocol::Auto, Version::V2026_07_28),
    (Protocol::Modern, Version::V2026_07_28),
    (Protocol::Legacy, Version::V2025_11_25),
];

const LEGACY: [(Protocol, Version); 1] = [(Protocol::Auto, Version::V2025_11_25)];

#[tokio::test]
async fn rmcp_3_8_in_both_eras() {
    in_each_era(rmcp3, &BOTH, Sessions::Kept).await;
}

#[tokio::test]
async fn rmcp_3_8_without_sessions_answers_in_json_or_streams() {
    let stateless = |port| rmcp3(port).arg("--stateless");
    in_each_era(stateless, &BOTH, Sessions::None).await;
    let json = |port| rmcp3(port).arg("--stateless").arg("--json");
    in_each_era(json, &BOTH, Sessions::None).await;
}

#[tokio::test]
async fn rmcp_3_8_in_the_legacy_era_alone() {
    in_each_era(|port| rmcp3(port).arg("--legacy"), &LEGACY, Sessions::Kept).await;
}

#[tokio::test]
async fn python_mcp_1_30() {
    in_each_era(partners::python_v1_http, &LEGACY, Sessions::Kept).await;
}

#[tokio::test]
async fn python_mcp_1_30_over_sse_is_found_and_chosen() {
    let server = Running::start(partners::python_v1_sse).await;
    let found = connect(&Http::new(server.url()).unwrap(), Protocol::Auto).await;
    our_offer(&found).await;
    is_cancelled(&found, &server).await;
    assert_eq!(found.negotiated().version, Version::V2025_11_25);
    found.close().await;
    let chosen = connect(&LegacySse::new(server.url()).unwrap(), Protocol::Auto).await;
    our_offer(&chosen).await;
    chosen.close().await;
}

#[tokio::test]
async fn python_mcp_2_3_in_both_eras() {
    in_each_era(partners::python_v2_http, &BOTH, Sessions::Kept).await;
}

#[tokio::test]
async fn fastmcp_4_1_in_both_eras() {
    in_each_era(partners::fastmcp_http, &BOTH, Sessions::Kept).await;
}

async fn everything(session: &Session) {
    let tools = list_everything(session).await;
    assert!(tools.contains(&"echo".to_owned()), "{tools:?}");
    let echo = call(session, "echo", json!({"message": "hello"})).await;
    assert!(text(&echo).contains("hello"));
    let resources = session.list_resources().await.unwrap().items;
    let uri = resources[0].uri();
    let read = session.read_resource(uri, CallOptions::default());
    assert_eq!(read.await.unwrap().contents()[0].uri(), uri);
    let name = tools.iter().find(|name| name.contains("long")).unwrap();
    let arguments = json!({"duration": 0.4, "steps": 2});
    let (result, last) = call_with_progress(session, name, arguments).await;
    assert!(!result.is_error(), "{result:?}");
    assert!(last >= 1.0, "{last}");
}

#[tokio::test]
async fn server_everything_over_streamable_http() {
    let server = Running::start(|port| partners::everything_http("streamableHttp", port)).await;
    let session = connect(&Http::new(&server.at("/mcp")).unwrap(), Protocol::Auto).await;
    assert_eq!(session.negotiated().version, Version::V2025_11_25);
    everything(&session).await;
    session.close().await;
    server.says("Received session termination request").await;
}

#[tokio::test]
async fn server_everything_over_sse_is_found_and_chosen() {
    let server = Running::start(|port| partners::everything_http("sse", port)).await;
    let url = server.at("/sse");
    let found = connect(&Http::new(&url).unwrap(), Protocol::Auto).await;
    assert_eq!(found.negotiated().version, Version::V2025_11_25);
    everything(&found).await;
    found.close().await;
    server.says("Client Disconnected").await;
    let chosen = connect(&LegacySse::new(&url).unwrap(), Protocol::Auto).await;
    everything(&chosen).await;
    chosen.close().await;
}
