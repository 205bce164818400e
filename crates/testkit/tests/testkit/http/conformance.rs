//! The fixture of the official suite, over HTTP.

use serde_json::json;
use switchboard_testkit::Options;
use switchboard_testkit::http::{Http, Server};

use crate::http::client::{BOTH, JSON, Legacy, Modern, send};

async fn fixture() -> Server {
    let options = Options {
        conformance: true,
        ..Options::default()
    };
    Http::new(options).serve().await.unwrap()
}

#[tokio::test]
async fn a_stream_ends_before_the_answer_and_is_resumed() {
    let server = fixture().await;
    let client = Legacy::open(&server, "2025-11-25").await;
    let events = client.call("test_reconnection", json!({})).await;
    let events = events.events().await;
    // The event that a client resumes from, and no message.
    assert_eq!(events[0].retry, Some(500));
    assert!(events.iter().all(|event| event.data.is_empty()));
    let mut resumed = client.get(events[0].id.as_deref()).await;
    let answer = resumed.message().await.unwrap();
    let text = &answer["result"]["content"][0]["text"];
    assert_eq!(text, "test_reconnection is done");
}

#[tokio::test]
async fn a_modern_call_of_the_same_tool_is_answered_at_once() {
    let server = fixture().await;
    let call = Modern::call("test_reconnection", json!({}));
    let answer = call.send(&server).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json().await["result"]["resultType"], "complete");
}

#[tokio::test]
async fn a_handshake_that_describes_itself_is_an_unknown_method() {
    let server = fixture().await;
    let answer = Modern::new("initialize", json!({})).send(&server).await;
    assert_eq!(answer.status, 404);
    assert_eq!(answer.json().await["error"]["code"], -32601);
    // With a version to agree on it is a handshake, whatever else it has.
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    });
    let answer = Modern::new("initialize", params).send(&server).await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("mcp-session-id").is_some());
}

#[tokio::test]
async fn the_argument_in_a_header_is_checked() {
    let server = fixture().await;
    let call = || Modern::call("test_custom_header", json!({"region": "Hello"}));
    for (header, status) in [
        ("Hello", 200),
        ("=?base64?SGVsbG8=?=", 200),
        ("=?base64?SGVsbG8?=", 400),
        ("hello", 400),
    ] {
        let answer = call().with("Mcp-Param-Region", header).send(&server).await;
        assert_eq!(answer.status, status, "{header}");
    }
    let answer = call().send(&server).await;
    assert_eq!(answer.json().await["error"]["code"], -32020);
}

#[tokio::test]
async fn a_page_of_another_host_is_refused() {
    let server = fixture().await;
    let mut statuses = Vec::new();
    for origin in ["http://evil.example.com", "http://localhost:1234"] {
        let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }});
        let headers = [JSON, BOTH, ("origin", origin)];
        let answer = send(&server, "POST", "/mcp", &headers, &begin.to_string()).await;
        statuses.push(answer.status);
    }
    assert_eq!(statuses, [403, 200]);
}
