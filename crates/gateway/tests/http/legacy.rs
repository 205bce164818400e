//! Requests of sessions.

use serde_json::json;
use switchboard_gateway::http::RefusalReason;

use crate::support::{Ask, front};

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

#[tokio::test]
async fn every_version_shakes_hands_lists_and_calls() {
    let front = front().await;
    for version in VERSIONS {
        let id = front.session(version).await;
        assert!(
            id.len() >= 22 && id.bytes().all(|byte| byte.is_ascii_graphic()),
            "{id}"
        );
        let list = front
            .ask(&Ask::legacy("tools/list", &json!({})).session(&id))
            .await;
        assert!(list.body.contains("demo__echo"), "{list:?}");
        let answer = front.ask(&Ask::legacy_echo(version).session(&id)).await;
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(answer.text(), version);
    }
    assert_eq!(front.service.stats().sessions, 4);
}

#[tokio::test]
async fn both_eras_are_served_at_one_url_on_one_connection() {
    let front = front().await;
    let id = front.session("2025-11-25").await;
    let mut connection = front.connect().await;
    for number in 0..4 {
        let message = number.to_string();
        let modern = connection.ask(&Ask::modern_echo(&message)).await;
        let legacy = connection
            .ask(&Ask::legacy_echo(&message).session(&id))
            .await;
        assert_eq!((modern.text(), legacy.text()), (message.clone(), message));
    }
}

#[tokio::test]
async fn the_version_header_is_the_version_that_was_agreed_on() {
    let front = front().await;
    for version in VERSIONS {
        let id = front.session(version).await;
        let ask = |said| {
            let ask = Ask::legacy_echo("x").session(&id);
            ask.header("MCP-Protocol-Version", said)
        };
        assert_eq!(front.ask(&ask(version)).await.status, 200, "{version}");
        for wrong in ["", "2020-01-01", "2099-01-01", "banana"] {
            assert_eq!(
                front.ask(&ask(wrong)).await.status,
                400,
                "{version} {wrong}"
            );
        }
        // Versions that have the header say that it is the agreed one.
        let other = if version == "2025-06-18" {
            "2025-11-25"
        } else {
            "2025-06-18"
        };
        let is_strict = version >= "2025-06-18";
        let expected = if is_strict { 400 } else { 200 };
        assert_eq!(front.ask(&ask(other)).await.status, expected, "{version}");
    }
}

#[tokio::test]
async fn a_session_that_is_missing_unknown_or_repeated_is_refused() {
    let front = front().await;
    let id = front.session("2025-11-25").await;
    let echo = Ask::legacy_echo("x");
    assert_eq!(front.ask(&echo).await.status, 400);
    let unknown = "AAAAAAAAAAAAAAAAAAAAAA";
    for wrong in [
        unknown,
        "",
        "x",
        &id[1..],
        &format!("{id}A"),
        &"x".repeat(4000),
    ] {
        let answer = front.ask(&echo.clone().session(wrong)).await;
        assert_eq!(answer.status, 404, "{wrong} {answer:?}");
        assert_eq!(answer.code(), -32600);
    }
    let twice = echo.clone().session(&id).session(&id);
    assert_eq!(front.ask(&twice).await.status, 400);
    assert_eq!(front.ask(&echo.session(&id)).await.status, 200);
    assert_eq!(front.service.stats().refused[&RefusalReason::Session], 8);
}

#[tokio::test]
async fn a_session_belongs_to_the_path_that_it_was_opened_at() {
    let front = front().await;
    let all = front.session("2025-11-25").await;
    let opened = front
        .ask(&Ask::initialize("2025-11-25").at("/mcp/s/demo"))
        .await;
    let one = opened.session().unwrap().to_owned();
    let call = json!({"name": "echo", "arguments": {"message": "x"}});
    let call = Ask::legacy("tools/call", &call).at("/mcp/s/demo");
    assert_eq!(front.ask(&call.clone().session(&one)).await.text(), "x");
    assert_eq!(front.ask(&call.session(&all)).await.status, 404);
    assert_eq!(
        front.ask(&Ask::legacy_echo("x").session(&one)).await.status,
        404
    );
    let absent = front
        .ask(&Ask::initialize("2025-11-25").at("/mcp/s/absent"))
        .await;
    assert_eq!((absent.status, absent.session()), (404, None));
    assert_eq!(front.service.stats().sessions, 2);
}

#[tokio::test]
async fn answers_and_notifications_of_a_client_are_accepted() {
    let front = front().await;
    let id = front.session("2025-11-25").await;
    let messages = [
        json!({"jsonrpc": "2.0", "id": "never asked", "result": {}}),
        json!({"jsonrpc": "2.0", "id": 9, "error": {"code": -1, "message": "no"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
        json!({"jsonrpc": "2.0", "method": "notifications/unknown"}),
    ];
    for message in &messages {
        let answer = front.ask(&Ask::post(message).session(&id)).await;
        assert_eq!(
            (answer.status, answer.body.as_str()),
            (202, ""),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_handshake_that_fails_opens_no_session() {
    let front = front().await;
    let answer = front.ask(&Ask::legacy("initialize", &json!({}))).await;
    assert_eq!(
        (answer.session(), answer.code()),
        (None, -32602),
        "{answer:?}"
    );
    assert_eq!(front.service.stats().sessions, 0);
}

#[tokio::test]
async fn batches_are_answered_at_2025_03_26_alone() {
    let front = front().await;
    let call = |id: i64, method: &str| json!({"jsonrpc": "2.0", "id": id, "method": method});
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/unknown"});
    let batch = Ask::post(&json!([
        call(1, "ping"),
        notice,
        call(2, "tools/list"),
        call(3, "no/such")
    ]));
    let id = front.session("2025-03-26").await;
    let answer = front.ask(&batch.clone().session(&id)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let answers = answer.json();
    let ids: Vec<i64> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a["id"].as_i64().unwrap())
        .collect();
    assert_eq!(ids, [1, 2, 3]);
    assert!(answers[1]["result"]["tools"].is_array(), "{answers}");
    assert_eq!(answers[2]["error"]["code"], -32601);
    let only = front.ask(&Ask::post(&json!([notice])).session(&id)).await;
    assert_eq!((only.status, only.body.as_str()), (202, ""));

    let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
    let many: Vec<_> = (0..65).map(|id| call(id, "ping")).collect();
    for bad in [
        json!([]),
        json!([begin]),
        json!(many),
        json!([1]),
        json!([[call(1, "ping")]]),
    ] {
        let answer = front.ask(&Ask::post(&bad).session(&id)).await;
        assert_eq!((answer.status, answer.code()), (400, -32600), "{bad}");
    }
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let id = front.session(version).await;
        let answer = front.ask(&batch.clone().session(&id)).await;
        assert_eq!((answer.status, answer.code()), (400, -32600), "{version}");
    }
    assert_eq!(front.ask(&batch).await.status, 400, "without a session");
}
