//! Requests of the modern era.

use std::time::Duration;

use serde_json::json;
use switchboard_gateway::http::RefusalReason;

use crate::support::{Ask, MODERN, front, front_with, modern_meta, until};

#[tokio::test]
async fn a_call_is_answered_with_one_json_text() {
    let front = front().await;
    let answer = front.ask(&Ask::modern_echo("hello")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(
        answer.header("content-length"),
        Some(answer.body.len().to_string().as_str())
    );
    assert_eq!(answer.session(), None);
    assert_eq!(answer.text(), "hello");
    assert_eq!(answer.json()["id"], 1);
    let answer = front.ask(&Ask::modern("server/discover", json!({}))).await;
    assert_eq!(
        answer.json()["result"]["supportedVersions"],
        json!([MODERN])
    );
    let answer = front.ask(&Ask::modern("tools/list", json!({}))).await;
    assert!(answer.body.contains("demo__echo"), "{answer:?}");
}

#[tokio::test]
async fn one_connection_carries_many_requests_also_pipelined() {
    let front = front().await;
    let mut connection = front.connect().await;
    for number in 0..20 {
        let message = format!("call {number}");
        let answer = connection.ask(&Ask::modern_echo(&message)).await;
        assert_eq!(answer.text(), message);
    }
    let both = [Ask::modern_echo("a").bytes(), Ask::modern_echo("b").bytes()].concat();
    connection.send(&both).await;
    assert_eq!(connection.answer().await.unwrap().text(), "a");
    assert_eq!(connection.answer().await.unwrap().text(), "b");
    assert_eq!(front.service.stats().connections, 1);
    assert_eq!(front.service.stats().requests, 22);
}

#[tokio::test]
async fn one_server_has_its_own_names_at_its_own_path() {
    let front = front().await;
    let call = json!({"name": "echo", "arguments": {"message": "x"}});
    let ask = Ask::modern("tools/call", call).at("/mcp/s/demo");
    assert_eq!(front.ask(&ask).await.text(), "x");
    let absent = front.ask(&ask.clone().at("/mcp/s/absent")).await;
    assert_eq!(absent.status, 404, "{absent:?}");
    let absent = front.ask(&ask.at("/mcp/p/absent")).await;
    assert_eq!(absent.status, 404, "{absent:?}");
}

#[tokio::test]
async fn the_status_tells_errors_of_the_protocol_apart() {
    let front = front().await;
    let answer = front.ask(&Ask::modern("no/such", json!({}))).await;
    assert_eq!((answer.status, answer.code()), (404, -32601), "{answer:?}");

    // Both eras are at one URL. A client that says it is modern has no handshake.
    let answer = front.ask(&Ask::modern("initialize", json!({}))).await;
    assert_eq!((answer.status, answer.code()), (404, -32601), "{answer:?}");
    assert_eq!(answer.session(), None);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let answer = front.ask(&Ask::modern("initialize", hello)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.session().is_some());

    let version = |version: &str| {
        let mut meta = modern_meta();
        meta["io.modelcontextprotocol/protocolVersion"] = version.into();
        let message =
            json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list", "params": {"_meta": meta}});
        let ask = Ask::post(&message).header("Mcp-Method", "tools/list");
        ask.header("MCP-Protocol-Version", version)
    };
    let answer = front.ask(&version("2099-01-01")).await;
    assert_eq!((answer.status, answer.code()), (400, -32022), "{answer:?}");
    assert_eq!(answer.json()["id"], 7);
    let data = json!({"supported": [MODERN], "requested": "2099-01-01"});
    assert_eq!(answer.json()["error"]["data"], data);
    let answer = front.ask(&version(MODERN)).await;
    assert_eq!(answer.status, 200, "{answer:?}");

    // Without `_meta`, the header alone says what was meant.
    let bare = Ask::legacy("tools/list", &json!({})).header("Mcp-Method", "tools/list");
    let answer = front
        .ask(&bare.clone().header("MCP-Protocol-Version", MODERN))
        .await;
    assert_eq!((answer.status, answer.code()), (400, -32602), "{answer:?}");
    let answer = front
        .ask(&bare.header("MCP-Protocol-Version", "banana"))
        .await;
    assert_eq!((answer.status, answer.code()), (400, -32022), "{answer:?}");

    let mut meta = modern_meta();
    let members = meta.as_object_mut().unwrap();
    members.remove("io.modelcontextprotocol/clientCapabilities");
    let ask = Ask::legacy("tools/list", &json!({"_meta": meta}))
        .header("MCP-Protocol-Version", MODERN)
        .header("Mcp-Method", "tools/list");
    let answer = front.ask(&ask).await;
    assert_eq!((answer.status, answer.code()), (400, -32602), "{answer:?}");
}

#[tokio::test]
async fn headers_that_disagree_with_the_body_are_counted_by_client() {
    let front = front().await;
    let reached = front.record.len();
    let echo = Ask::modern_echo("x");
    let wrong = [
        echo.clone().without("MCP-Protocol-Version"),
        echo.clone().replace("MCP-Protocol-Version", "2025-11-25"),
        echo.clone().without("Mcp-Method"),
        echo.clone().replace("Mcp-Method", "tools/list"),
        echo.clone().without("Mcp-Name"),
        echo.clone().replace("Mcp-Name", "demo__add"),
        echo.clone().header("Mcp-Name", "demo__echo"),
    ];
    for ask in &wrong {
        let answer = front.ask(ask).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, -32020),
            "{ask:?} {answer:?}"
        );
        assert_eq!(answer.json()["id"], 1);
    }
    let stats = front.service.stats();
    assert_eq!(stats.mismatches["raw"], 7);
    assert_eq!(stats.refused[&RefusalReason::Mismatch], 7);
    assert_eq!(front.record.len(), reached, "no server was asked");
    assert_eq!(front.ask(&echo).await.text(), "x");
}

#[tokio::test]
async fn arguments_that_headers_repeat_are_compared() {
    let front = front().await;
    let arguments = json!({"region": "eu", "priority": 3, "query": "q"});
    let call = json!({"name": "demo__route_request", "arguments": arguments});
    let bare = Ask::modern("tools/call", call);
    let right = bare
        .clone()
        .header("Mcp-Param-Region", "eu")
        .header("Mcp-Param-Priority", "3");
    let answer = front.ask(&right).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.json()["result"]["isError"] != true, "{answer:?}");
    let calls = front.record.count("tools/call");
    let wrong = [
        bare.clone(),
        bare.header("Mcp-Param-Region", "eu"),
        right.clone().replace("Mcp-Param-Region", "us"),
        right.clone().header("Mcp-Param-Dry-Run", "true"),
    ];
    for ask in &wrong {
        let answer = front.ask(ask).await;
        assert_eq!(
            (answer.status, answer.code()),
            (400, -32020),
            "{ask:?} {answer:?}"
        );
    }
    assert_eq!(front.record.count("tools/call"), calls);
}

#[tokio::test]
async fn notifications_are_taken_and_answers_are_not() {
    let front = front().await;
    let reached = front.record.len();
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 1, "_meta": modern_meta()}});
    let answer = front
        .ask(&Ask::post(&notice).header("MCP-Protocol-Version", MODERN))
        .await;
    assert_eq!((answer.status, answer.body.as_str()), (202, ""));
    let reply = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    let answer = front
        .ask(&Ask::post(&reply).header("MCP-Protocol-Version", MODERN))
        .await;
    assert_eq!((answer.status, answer.code()), (400, -32600), "{answer:?}");
    assert_eq!(front.record.len(), reached);
}

#[tokio::test]
async fn only_post_belongs_to_the_modern_era() {
    let front = front().await;
    for method in ["GET", "DELETE"] {
        let ask = Ask::new(method, "/mcp")
            .header("Accept", "text/event-stream")
            .header("MCP-Protocol-Version", MODERN);
        let answer = front.ask(&ask).await;
        assert_eq!(answer.status, 405, "{answer:?}");
        assert_eq!(answer.header("allow"), Some("POST, OPTIONS"));
    }
}

#[tokio::test]
async fn a_call_that_takes_long_becomes_a_stream_with_comments() {
    let front = front_with(|_, gateway| {
        gateway.limits.stream_after = Duration::from_millis(30);
        gateway.limits.keep_alive = Duration::from_millis(30);
    })
    .await;
    let call = json!({"name": "demo__slow_operation", "arguments": {"duration": 0.6, "steps": 1}});
    let mut connection = front.connect().await;
    connection
        .send(&Ask::modern("tools/call", call).bytes())
        .await;
    let head = connection.head().await.unwrap();
    assert_eq!(head.status, 200, "{head:?}");
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    assert_eq!(connection.block().await.unwrap(), ":\n\n");
    let event = connection.event().await.unwrap();
    assert_eq!((event.id, event.name.as_deref()), (None, Some("message")));
    let message: serde_json::Value = serde_json::from_str(&event.data).unwrap();
    assert_eq!(message["id"], 1);
    assert!(message["result"]["content"].is_array(), "{message}");
    assert_eq!(connection.event().await, None);
    // The connection is as good as new.
    assert_eq!(
        connection.ask(&Ask::modern_echo("next")).await.text(),
        "next"
    );
}

#[tokio::test]
async fn closing_a_post_cancels_the_call_at_its_server() {
    for stream_after in [Duration::from_millis(1), Duration::from_secs(60)] {
        let front = front_with(|_, gateway| gateway.limits.stream_after = stream_after).await;
        let call =
            json!({"name": "demo__slow_operation", "arguments": {"duration": 600, "steps": 1}});
        let mut connection = front.connect().await;
        connection
            .send(&Ask::modern("tools/call", call).bytes())
            .await;
        if stream_after < Duration::from_secs(1) {
            connection.head().await.unwrap();
        }
        until("the call to reach its server", || {
            front.record.count("tools/call") == 1
        })
        .await;
        assert_eq!(front.record.count("notifications/cancelled"), 0);
        drop(connection);
        until("the call to be cancelled", || {
            front.record.count("notifications/cancelled") == 1
        })
        .await;
    }
}

#[tokio::test]
async fn a_listen_is_acknowledged_and_ends_with_a_result_when_draining() {
    let mut front = front().await;
    let filter = json!({"notifications": {"toolsListChanged": true}});
    let mut connection = front.connect().await;
    connection
        .send(&Ask::modern("subscriptions/listen", filter).bytes())
        .await;
    let head = connection.head().await.unwrap();
    assert_eq!(
        head.header("content-type"),
        Some("text/event-stream"),
        "{head:?}"
    );
    let first = connection.event().await.unwrap().json();
    assert_eq!(
        first["method"], "notifications/subscriptions/acknowledged",
        "{first}"
    );
    front.stop();
    let last = connection.event().await.unwrap().json();
    assert_eq!(last["id"], 1, "{last}");
    assert_eq!(
        last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1,
        "{last}"
    );
    assert_eq!(connection.event().await, None);
    front.stopped().await;
}
