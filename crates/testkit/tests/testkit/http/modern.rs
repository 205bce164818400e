//! Streamable HTTP in the modern era.

use serde_json::json;
use switchboard_testkit::Eras;
use switchboard_testkit::http::{Answers, Http};

use crate::http::client::{BOTH, JSON, Modern, send};
use crate::http::{only, plain};

#[tokio::test]
async fn a_call_is_answered_with_json() {
    let server = plain().await;
    let answer = Modern::call("echo", json!({"message": "hello"}))
        .send(&server)
        .await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("mcp-session-id"), None);
    let answer = answer.json().await;
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["content"][0]["text"], "hello");
}

#[tokio::test]
async fn progress_makes_the_answer_a_stream_without_ids() {
    let server = plain().await;
    let mut call = Modern::call("slow_operation", json!({"duration": 0.01, "steps": 2}));
    call.body["params"]["_meta"]["progressToken"] = json!("p");
    let answer = call.send(&server).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events = answer.events().await;
    assert_eq!(events.len(), 3);
    assert!(events.iter().all(|event| event.id.is_none()));
    assert_eq!(events[0].json()["params"]["progress"], 1);
    assert_eq!(events[2].json()["id"], 1);
}

#[tokio::test]
async fn the_way_of_answering_can_be_ordered() {
    for (answers, kind) in [
        (Answers::Json, "application/json"),
        (Answers::Sse, "text/event-stream"),
    ] {
        let server = Http::default().answers(answers).serve().await.unwrap();
        let mut call = Modern::call("slow_operation", json!({"duration": 0.01, "steps": 1}));
        call.body["params"]["_meta"]["progressToken"] = json!("p");
        let answer = call.send(&server).await;
        assert_eq!(answer.header("content-type"), Some(kind));
        assert!(answer.text().await.contains("finished 1 steps"));
        // An error with a status of its own is never a stream.
        let answer = Modern::new("no/such", json!({})).send(&server).await;
        assert_eq!(answer.status, 404);
        assert_eq!(answer.json().await["error"]["code"], -32601);
    }
}

#[tokio::test]
async fn headers_must_say_what_the_body_says() {
    let server = plain().await;
    let echo = || Modern::call("echo", json!({"message": "hello"}));
    let cases = [
        echo().without("MCP-Protocol-Version"),
        echo().without("Mcp-Method"),
        echo().without("Mcp-Name"),
        echo()
            .without("Mcp-Method")
            .with("Mcp-Method", "tools/list"),
        echo().without("Mcp-Name").with("Mcp-Name", "add"),
        echo().with("Mcp-Name", "echo"),
        echo()
            .without("Mcp-Name")
            .with("Mcp-Name", "=?base64?ZWNobw?="),
        echo()
            .without("MCP-Protocol-Version")
            .with("MCP-Protocol-Version", "2025-11-25"),
    ];
    for case in cases {
        let headers = case.headers.clone();
        let answer = case.send(&server).await;
        assert_eq!(answer.status, 400, "{headers:?}");
        let answer = answer.json().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(1), &json!(-32020))
        );
    }
    let encoded = echo()
        .without("Mcp-Name")
        .with("Mcp-Name", "=?base64?ZWNobw==?=");
    assert_eq!(encoded.send(&server).await.status, 200);
}

#[tokio::test]
async fn what_the_envelope_lacks_is_said() {
    for server in [plain().await, only(Eras::Modern).await] {
        let mut request = Modern::new("tools/list", json!({}));
        request.body["params"]["_meta"] = json!({});
        let answer = request.send(&server).await;
        assert_eq!(answer.status, 400);
        assert_eq!(answer.json().await["error"]["code"], -32602);

        let mut request = Modern::new("tools/list", json!({}))
            .without("MCP-Protocol-Version")
            .with("MCP-Protocol-Version", "2027-01-01");
        request.body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] =
            json!("2027-01-01");
        let answer = request.send(&server).await;
        assert_eq!(answer.status, 400);
        let error = answer.json().await["error"].take();
        assert_eq!(error["code"], -32022);
        assert_eq!(error["data"]["supported"][0], "2026-07-28");
    }
}

#[tokio::test]
async fn a_modern_server_has_no_streams_and_no_sessions() {
    let server = only(Eras::Modern).await;
    for method in ["GET", "DELETE", "PUT"] {
        let answer = send(&server, method, "/mcp", &[BOTH], "").await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")));
    }
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
    }});
    let answer = send(
        &server,
        "POST",
        "/mcp",
        &[JSON, BOTH],
        &initialize.to_string(),
    )
    .await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.json().await["error"]["code"], -32022);
}

#[tokio::test]
async fn closing_the_connection_cancels_the_call() {
    for answers in [Answers::Json, Answers::Sse] {
        let server = Http::default().answers(answers).serve().await.unwrap();
        let call = Modern::call("slow_operation", json!({"duration": 3600}));
        let sending = call.send(&server);
        tokio::select! {
            _answer = sending => assert_eq!(answers, Answers::Sse),
            _ = server.until(|counts| counts.running == 1) => {}
        }
        let counts = server.until(|counts| counts.running == 0).await;
        assert_eq!(counts.cancelled, 1);
    }
}

#[tokio::test]
async fn those_who_listen_hear_of_changes() {
    let server = plain().await;
    let listen = Modern::new(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let mut stream = listen.send(&server).await;
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    let acknowledged = stream.message().await.unwrap();
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    let announce = Modern::call("announce_change", json!({"list": "tools"}));
    assert_eq!(announce.send(&server).await.status, 200);
    let changed = stream.message().await.unwrap();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(
        changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        1
    );
    drop(stream);
    server.until(|counts| counts.running == 0).await;
}

#[tokio::test]
async fn what_is_asked_back_comes_in_the_answer() {
    let server = plain().await;
    let mut call = Modern::call("ask_name", json!({}));
    call.body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"elicitation": {}});
    let answer = call.send(&server).await.json().await;
    assert_eq!(answer["result"]["resultType"], "input_required");
    let mut call = Modern::call("ask_name", json!({}));
    call.body["params"]["requestState"] = answer["result"]["requestState"].clone();
    call.body["params"]["inputResponses"] =
        json!({"name": {"action": "accept", "content": {"name": "Ada"}}});
    let answer = call.send(&server).await.json().await;
    assert_eq!(answer["result"]["content"][0]["text"], "Hello, Ada!");
    let refused = Modern::call("ask_name", json!({})).send(&server).await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.json().await["error"]["code"], -32021);
}

#[tokio::test]
async fn what_is_no_request_of_ours_is_refused() {
    let server = plain().await;
    let list = Modern::new("tools/list", json!({})).body.to_string();
    let post = async |headers: &[(&str, &str)], body: &str| {
        send(&server, "POST", "/mcp", headers, body).await.status
    };
    assert_eq!(post(&[BOTH], &list).await, 415);
    assert_eq!(
        post(&[JSON, ("accept", "application/json")], &list).await,
        406
    );
    assert_eq!(
        post(&[JSON, BOTH, ("origin", "https://example.com")], &list).await,
        403
    );
    assert_eq!(post(&[JSON, BOTH], "{").await, 400);
    assert_eq!(
        send(&server, "POST", "/", &[JSON, BOTH], &list)
            .await
            .status,
        404
    );
}
