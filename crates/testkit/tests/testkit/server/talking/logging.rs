//! What is logged, and who hears of it.

use serde_json::{Value, json};

use super::{call, legacy, modern};
use crate::server::client::{Client, text};

/// What is logged by a call, and what that answers.
async fn logged(client: &mut Client, arguments: Value, meta: Value) -> (Vec<Value>, String) {
    let mut params = call("log", &arguments);
    params["_meta"] = meta;
    let id = client.request("tools/call", params).await;
    let mut messages = Vec::new();
    loop {
        let mut message = client.next().await;
        if message["id"] == id {
            return (messages, text(&message["result"]).to_owned());
        }
        assert_eq!(message["method"], "notifications/message");
        messages.push(message["params"].take());
    }
}

fn message(level: &str, data: &str) -> Value {
    json!({"level": level, "logger": "test-server", "data": data})
}

#[tokio::test]
async fn a_legacy_client_hears_of_the_level_that_it_set() {
    let mut client = legacy().await;
    let quiet = json!({"level": "debug", "text": "x"});
    let said = logged(&mut client, quiet.clone(), json!({})).await;
    assert_eq!(said, (vec![], "logged 0 of 1".to_owned()));
    let said = logged(&mut client, json!({}), json!({})).await;
    assert_eq!(said.0, [message("info", "a message")]);
    for (level, heard) in [("debug", 1), ("notice", 0)] {
        client
            .result("logging/setLevel", json!({"level": level}))
            .await;
        // What a request says about itself is of the other era.
        let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
        let said = logged(&mut client, quiet.clone(), meta).await;
        assert_eq!(said.0, vec![message("debug", "x"); heard]);
    }
    let twice = json!({"level": "error", "text": "y", "count": 2});
    let said = logged(&mut client, twice, json!({})).await;
    let both = vec![message("error", "y (1)"), message("error", "y (2)")];
    assert_eq!(said, (both, "logged 2 of 2".to_owned()));
}

#[tokio::test]
async fn a_modern_client_hears_of_the_level_of_each_request() {
    let mut client = modern();
    let loud = json!({"level": "emergency", "text": "x"});
    let meta = |level: &str| json!({"io.modelcontextprotocol/logLevel": level});
    let said = logged(&mut client, loud.clone(), json!({})).await;
    assert_eq!(said, (vec![], "logged 0 of 1".to_owned()));
    let said = logged(&mut client, loud.clone(), meta("warning")).await;
    assert_eq!(said.0, [message("emergency", "x")]);
    let said = logged(&mut client, json!({"level": "notice"}), meta("warning")).await;
    assert_eq!(said.0, [json!(null); 0]);
    let mut params = call("log", &loud);
    params["_meta"] = meta("loud");
    assert_eq!(client.code("tools/call", params).await, -32602);
    assert_eq!(
        client
            .code("logging/setLevel", json!({"level": "info"}))
            .await,
        -32601
    );
}

#[tokio::test]
async fn lists_are_logged_for_those_who_look_for_a_fault() {
    let mut old = legacy().await;
    old.result("logging/setLevel", json!({"level": "debug"}))
        .await;
    let mut new = modern();
    let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
    for client in [&mut old, &mut new] {
        let id = client.request("tools/list", json!({"_meta": meta})).await;
        let first = client.next().await;
        assert_eq!(
            first["params"],
            message("debug", "tools/list was asked for")
        );
        assert_eq!(client.next().await["id"], id);
    }
}
