//! Streamable HTTP in the legacy era.

use serde_json::json;
use switchboard_testkit::http::{Answers, Http};
use switchboard_testkit::{Eras, Options};

use crate::http::client::{BOTH, JSON, Legacy, send};
use crate::http::{only, plain};

#[tokio::test]
async fn a_session_begins_with_the_handshake_and_ends_with_a_delete() {
    let server = plain().await;
    let client = Legacy::open(&server, "2025-11-25").await;
    let id = client.session.clone().unwrap();
    assert!(id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
    let answer = client.call("echo", json!({"message": "hello"})).await;
    assert_eq!(answer.json().await["result"]["content"][0]["text"], "hello");
    assert_eq!(client.send("DELETE", &[], "").await.status, 204);
    assert_eq!(server.counts().sessions, 0);
    assert_eq!(
        client
            .call("echo", json!({"message": "hello"}))
            .await
            .status,
        404
    );
    assert_eq!(client.send("DELETE", &[], "").await.status, 404);
}

#[tokio::test]
async fn a_request_names_its_session_and_its_version() {
    let server = plain().await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let mut client = Legacy::open(&server, "2025-11-25").await;
    assert_eq!(client.post(&list).await.status, 200);
    client.version = "2025-06-18";
    assert_eq!(client.post(&list).await.status, 400);
    let session = client.session.take().unwrap();
    client.version = "2025-11-25";
    assert_eq!(client.post(&list).await.status, 400);
    let headers = [JSON, BOTH, ("mcp-session-id", session.as_str())];
    let answer = send(&server, "POST", "/mcp", &headers, &list.to_string()).await;
    assert_eq!(answer.status, 400);
    // Before there was such a header, nobody could have sent it.
    let client = Legacy::open(&server, "2025-03-26").await;
    let session = client.session.unwrap();
    let headers = [JSON, BOTH, ("mcp-session-id", session.as_str())];
    let answer = send(&server, "POST", "/mcp", &headers, &list.to_string()).await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_probe_is_refused_in_words_that_lead_to_the_handshake() {
    let server = only(Eras::Legacy).await;
    let probe = crate::http::client::Modern::new("server/discover", json!({}));
    let answer = probe.send(&server).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.header("mcp-session-id"), None);
    assert_eq!(answer.json().await["error"]["code"], -32000);
}

#[tokio::test]
async fn progress_and_questions_come_before_the_answer() {
    let server = plain().await;
    let capabilities = json!({"elicitation": {}});
    let client = Legacy::open_with(&server, "2025-11-25", capabilities).await;
    let mut stream = client.call("ask_name", json!({})).await;
    let first = stream.event().await.unwrap();
    assert_eq!(
        (first.id.as_deref(), first.retry, first.data.as_str()),
        (Some("2-0"), Some(500), "")
    );
    let question = stream.message().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result":
        {"action": "accept", "content": {"name": "Ada"}}});
    assert_eq!(client.post(&answer).await.status, 202);
    let result = stream.message().await.unwrap();
    assert_eq!(result["result"]["content"][0]["text"], "Hello, Ada!");
    assert_eq!(stream.event().await, None);
}

#[tokio::test]
async fn what_belongs_to_no_request_comes_on_the_stream_of_a_get() {
    let server = plain().await;
    let client = Legacy::open(&server, "2025-06-18").await;
    let mut stream = client.get(None).await;
    assert_eq!(stream.status, 200);
    let announce = client
        .call("announce_change", json!({"list": "prompts"}))
        .await;
    assert_eq!(announce.header("content-type"), Some("application/json"));
    let event = stream.event().await.unwrap();
    assert_eq!(event.json()["method"], "notifications/prompts/list_changed");
    assert_eq!(event.id.as_deref(), Some("0-1"));
    drop(stream);
    // What is said while nobody listens is kept, and what was seen is not said again.
    client
        .call("announce_change", json!({"list": "tools"}))
        .await;
    let mut stream = client.get(Some("0-1")).await;
    let event = stream.event().await.unwrap();
    assert_eq!(event.json()["method"], "notifications/tools/list_changed");
    assert_eq!(client.get(Some("0-99")).await.status, 400);
    assert_eq!(client.get(Some("nonsense")).await.status, 400);
}

#[tokio::test]
async fn a_stream_that_broke_is_taken_up_where_it_ended() {
    let server = Http::default().answers(Answers::Sse).serve().await.unwrap();
    let client = Legacy::open(&server, "2025-11-25").await;
    let arguments = json!({"duration": 0.2, "steps": 2});
    let meta = json!({"progressToken": 7});
    let mut stream = client.request(5, "slow_operation", arguments, meta).await;
    stream.event().await.unwrap();
    let first = stream.event().await.unwrap();
    assert_eq!(first.json()["params"]["progress"], 1);
    // Closing is not cancelling in this era.
    drop(stream);
    let events = client.get(first.id.as_deref()).await.events().await;
    let messages: Vec<_> = events
        .iter()
        .filter(|event| !event.data.is_empty())
        .collect();
    assert_eq!(messages.len(), 2);
    assert_eq!(messages[0].json()["params"]["progress"], 2);
    assert_eq!(messages[1].json()["id"], 5);
    assert_eq!(server.counts().cancelled, 0);
}

#[tokio::test]
async fn a_call_is_cancelled_by_a_notification() {
    let server = Http::default().answers(Answers::Sse).serve().await.unwrap();
    let client = Legacy::open(&server, "2025-11-25").await;
    let mut stream = client
        .call("slow_operation", json!({"duration": 3600}))
        .await;
    stream.event().await.unwrap();
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 1}});
    assert_eq!(client.post(&cancel).await.status, 202);
    assert_eq!(stream.event().await, None);
}

#[tokio::test]
async fn a_server_without_sessions_asks_for_none() {
    let server = Http::default().stateless().serve().await.unwrap();
    let client = Legacy::open(&server, "2025-11-25").await;
    assert_eq!(client.session, None);
    let answer = client.call("add", json!({"a": 1, "b": 2})).await;
    assert_eq!(answer.json().await["result"]["structuredContent"]["sum"], 3);
    assert_eq!(client.get(None).await.status, 405);
    assert_eq!(client.send("DELETE", &[], "").await.status, 405);
}

#[tokio::test]
async fn a_batch_is_answered_in_the_one_version_that_has_them() {
    let server = plain().await;
    let batch = json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]);
    let client = Legacy::open(&server, "2025-03-26").await;
    let answers = client.post(&batch).await.json().await;
    assert_eq!(answers.as_array().map(Vec::len), Some(2));
    let client = Legacy::open(&server, "2025-06-18").await;
    assert_eq!(
        client.post(&batch).await.json().await["error"]["code"],
        -32600
    );
}

#[tokio::test]
async fn lists_have_pages() {
    let server = Http::new(Options::paginating()).serve().await.unwrap();
    let client = Legacy::open(&server, "2025-11-25").await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    let page = client.post(&list).await.json().await;
    assert_eq!(page["result"]["tools"].as_array().map(Vec::len), Some(10));
    assert!(page["result"]["nextCursor"].is_string());
}
