//! The handshake, and what it decides.

use serde_json::json;
use switchboard_testkit::{Eras, Options};

use crate::server::client::{Client, handshake};

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

#[tokio::test]
async fn every_legacy_version_is_agreed_to() {
    for version in VERSIONS {
        let client = Client::legacy(version, json!({})).await;
        assert_eq!(client.close().await, [json!(null); 0]);
    }
}

#[tokio::test]
async fn a_version_that_is_not_known_is_answered_with_the_newest_legacy_one() {
    for version in ["2024-10-07", "2026-07-28", "1999-01-01", ""] {
        let mut client = Client::start(Options::default());
        let params = handshake(version, &json!({}));
        let result = client.result("initialize", params).await;
        assert_eq!(result["protocolVersion"], "2025-11-25", "{version}");
    }
}

#[tokio::test]
async fn the_handshake_says_who_the_server_is_and_what_it_can_do() {
    let mut client = Client::start(Options::default());
    let params = handshake("2025-11-25", &json!({}));
    let mut result = client.result("initialize", params).await;
    assert!(result["instructions"].take().is_string());
    assert_eq!(
        result,
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "tools": {"listChanged": true},
                "resources": {"listChanged": true},
                "prompts": {"listChanged": true},
                "logging": {},
            },
            "serverInfo": {
                "name": "switchboard-testkit",
                "title": "Switchboard test server",
                "version": env!("CARGO_PKG_VERSION"),
            },
            "instructions": null,
        })
    );
}

#[tokio::test]
async fn an_incomplete_handshake_is_refused_and_may_be_repeated() {
    let mut client = Client::start(Options::default());
    for missing in ["protocolVersion", "capabilities", "clientInfo"] {
        let mut params = handshake("2025-11-25", &json!({}));
        params.as_object_mut().unwrap().remove(missing);
        assert_eq!(client.code("initialize", params).await, -32602, "{missing}");
    }
    let params = handshake("2025-11-25", &json!({}));
    client.result("initialize", params).await;
}

#[tokio::test]
async fn only_ping_is_answered_before_the_handshake() {
    for eras in [Eras::Both, Eras::Legacy] {
        let mut client = Client::start(Options {
            eras,
            ..Options::default()
        });
        assert_eq!(client.result("ping", json!({})).await, json!({}));
        for method in [
            "tools/list",
            "tools/call",
            "resources/list",
            "logging/setLevel",
        ] {
            assert_eq!(client.code(method, json!({})).await, -32600, "{method}");
        }
        let params = handshake("2025-06-18", &json!({}));
        client.result("initialize", params).await;
        client.result("tools/list", json!({})).await;
    }
}

#[tokio::test]
async fn a_second_handshake_is_refused() {
    let mut client = Client::legacy("2025-06-18", json!({})).await;
    let params = handshake("2025-06-18", &json!({}));
    assert_eq!(client.code("initialize", params).await, -32600);
    client.result("tools/list", json!({})).await;
}

#[tokio::test]
async fn levels_that_exist_are_accepted() {
    let mut client = Client::legacy("2025-11-25", json!({})).await;
    let level = |level: &str| json!({"level": level});
    assert_eq!(
        client.result("logging/setLevel", level("debug")).await,
        json!({})
    );
    assert_eq!(client.code("logging/setLevel", level("loud")).await, -32602);
    assert_eq!(client.code("logging/setLevel", json!({})).await, -32602);
}

#[tokio::test]
async fn methods_of_the_modern_era_are_unknown() {
    for version in VERSIONS {
        let mut client = Client::legacy(version, json!({})).await;
        for method in ["server/discover", "subscriptions/listen", "tools/lost", ""] {
            assert_eq!(client.code(method, json!({})).await, -32601, "{method}");
        }
    }
}

#[tokio::test]
async fn a_legacy_server_does_not_know_the_probe() {
    let options = Options {
        eras: Eras::Legacy,
        ..Options::default()
    };
    let mut client = Client::modern(options, &json!({}));
    assert_eq!(client.code("server/discover", json!({})).await, -32601);
    let params = handshake("2025-11-25", &json!({}));
    client.result("initialize", params).await;
}

#[tokio::test]
async fn a_batch_is_answered_in_one_line_where_the_version_has_batches() {
    let mut client = Client::legacy("2025-03-26", json!({})).await;
    client
        .send(&json!([
            {"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/whatever"},
            {"jsonrpc": "2.0", "id": "b", "method": "nope"},
            7,
        ]))
        .await;
    let answers = client.next().await;
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), 3);
    assert_eq!(
        answers[0],
        json!({"jsonrpc": "2.0", "id": "a", "result": {}})
    );
    assert_eq!(answers[1]["error"]["code"], -32601);
    assert_eq!(
        (&answers[2]["id"], &answers[2]["error"]["code"]),
        (&json!(null), &json!(-32600))
    );
}

#[tokio::test]
async fn a_batch_without_requests_is_not_answered() {
    let mut client = Client::legacy("2025-03-26", json!({})).await;
    client
        .send(&json!([{"jsonrpc": "2.0", "method": "notifications/whatever"}]))
        .await;
    client.expect_silence().await;
}

#[tokio::test]
async fn a_batch_is_refused_where_the_version_has_none() {
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut client = Client::legacy(version, json!({})).await;
        client
            .send(&json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]))
            .await;
        let answer = client.next().await;
        assert_eq!(answer["id"], json!(null));
        assert_eq!(answer["error"]["code"], -32600);
    }
}
