//! The older HTTP+SSE.

use serde_json::{Value, json};
use switchboard_testkit::http::{Http, Transport};

use crate::http::client::{JSON, send};

const STREAM: (&str, &str) = ("accept", "text/event-stream");

#[tokio::test]
async fn everything_is_answered_on_the_one_stream() {
    let server = Http::default()
        .transport(Transport::Sse)
        .serve()
        .await
        .unwrap();
    assert!(server.url().ends_with("/sse"));
    let mut stream = send(&server, "GET", "/sse", &[STREAM], "").await;
    let endpoint = stream.event().await.unwrap();
    assert_eq!(endpoint.event, "endpoint");
    assert!(
        endpoint.data.starts_with("/messages?sessionId="),
        "{}",
        endpoint.data
    );
    let post = async |message: Value| {
        let body = message.to_string();
        send(&server, "POST", &endpoint.data, &[JSON], &body)
            .await
            .status
    };
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    assert_eq!(post(initialize).await, 202);
    let answer = stream.message().await.unwrap();
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
    assert_eq!(
        post(json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await,
        202
    );
    let params = json!({"name": "echo", "arguments": {"message": "hello"}});
    assert_eq!(
        post(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})).await,
        202
    );
    let answer = stream.message().await.unwrap();
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(2), &json!("hello"))
    );
    drop(stream);
    server.until(|counts| counts.sessions == 0).await;
    assert_eq!(
        post(json!({"jsonrpc": "2.0", "id": 3, "method": "ping"})).await,
        404
    );
}

#[tokio::test]
async fn a_message_to_the_stream_is_refused() {
    let server = Http::default()
        .transport(Transport::Sse)
        .serve()
        .await
        .unwrap();
    assert_eq!(
        send(&server, "POST", "/sse", &[JSON], "{}").await.status,
        405
    );
    assert_eq!(
        send(&server, "POST", "/mcp", &[JSON], "{}").await.status,
        404
    );
}
