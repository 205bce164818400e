//! Progress and log messages.

use serde_json::{Value, json};
use switchboard_gateway::Scope;

use crate::support::{Does, Era, Front, Script, With as _, builder, gateway, remote, text};

fn reporting(era: Era) -> Script {
    Script::new(era, &["report"], |request| {
        let token = &request["params"]["_meta"]["progressToken"];
        let progress = |params: Value| {
            let mut params = params;
            params["progressToken"] = token.clone();
            Does::Says(
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
            )
        };
        vec![
            progress(json!({"progress": 1, "total": 3, "message": "one"})),
            progress(json!({"progress": 2, "total": 3, "vendor": {"x": 1}})),
            progress(json!({"progress": 3, "total": 3})),
            Does::Result(text("done").to_string()),
        ]
    })
}

#[tokio::test]
async fn every_progress_comes_before_the_answer_with_the_clients_token() {
    for era in [Era::Legacy, Era::Modern] {
        let gateway = gateway(builder().with("one", reporting(era).memory())).await;
        let mut front = Front::legacy(&gateway).await;
        for (token, modern) in [
            (json!("mine"), false),
            (json!(7), true),
            (json!("m\"2"), false),
        ] {
            let params = json!({"name": "one__report", "_meta": {"progressToken": token}});
            let answer = if modern {
                front.ask_modern("tools/call", params).await
            } else {
                front.ask("tools/call", params).await
            };
            assert_eq!(answer["result"]["content"], text("done")["content"]);
            let seen: Vec<Value> = front
                .seen
                .drain(..)
                .map(|mut it| it["params"].take())
                .collect();
            let expected = [
                json!({"progressToken": token, "progress": 1, "total": 3, "message": "one"}),
                json!({"progressToken": token, "progress": 2, "total": 3, "vendor": {"x": 1}}),
                json!({"progressToken": token, "progress": 3, "total": 3}),
            ];
            assert_eq!(seen, expected);
        }
    }
}

#[tokio::test]
async fn without_a_token_there_is_no_progress() {
    let gateway = gateway(builder().with("one", reporting(Era::Legacy).memory())).await;
    let mut front = Front::legacy(&gateway).await;
    front
        .ask("tools/call", json!({"name": "one__report"}))
        .await;
    assert!(front.seen.is_empty(), "{:?}", front.seen);
}

/// A message that a server logs.
fn log(level: &str, logger: Value, data: &Value) -> Value {
    let mut params = json!({"level": level, "data": data});
    if !logger.is_null() {
        params["logger"] = logger;
    }
    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
}

fn logging() -> Script {
    Script::new(Era::Legacy, &["log"], |_| {
        vec![
            Does::Says(log("debug", Value::Null, &json!("quiet"))),
            Does::Says(log("warning", json!("db"), &json!({"a": [1.50]}))),
            Does::Result(text("done").to_string()),
        ]
    })
}

#[tokio::test]
async fn a_legacy_client_gets_log_messages_from_its_level_on() {
    let script = logging();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    front.begin("tools/call", json!({"name": "one__log"})).await;
    let message = front.notice("notifications/message").await;
    let expected = json!({"level": "warning", "logger": "one/db", "data": {"a": [1.50]}});
    assert_eq!(message["params"], expected);
    let set = front
        .ask("logging/setLevel", json!({"level": "debug"}))
        .await;
    assert_eq!(set["result"], json!({}));
    front.begin("tools/call", json!({"name": "one__log"})).await;
    let message = front.notice("notifications/message").await;
    let expected = json!({"level": "debug", "logger": "one", "data": "quiet"});
    assert_eq!(message["params"], expected);
    let refused = front
        .ask("logging/setLevel", json!({"level": "loud"}))
        .await;
    assert_eq!(refused["error"]["code"], -32602);
}

#[tokio::test]
async fn a_modern_request_gets_log_messages_only_if_it_asks() {
    let script = logging();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::open(&gateway);
    front
        .ask_modern("tools/call", json!({"name": "one__log"}))
        .await;
    assert!(front.seen.is_empty(), "{:?}", front.seen);
    let meta = json!({"io.modelcontextprotocol/logLevel": "info"});
    front
        .ask_modern("tools/call", json!({"name": "one__log", "_meta": meta}))
        .await;
    let seen: Vec<_> = front
        .seen
        .drain(..)
        .map(|it| it["params"]["data"].clone())
        .collect();
    assert_eq!(seen, [json!({"a": [1.50]})]);
    let meta = json!({"io.modelcontextprotocol/logLevel": "loud"});
    let answer = front
        .ask_modern("tools/call", json!({"name": "one__log", "_meta": meta}))
        .await;
    assert_eq!(answer["error"]["code"], -32602);
}

#[tokio::test]
async fn a_client_of_the_network_hears_no_log_of_anothers_request() {
    let script = logging();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut other = Front::open_as(&gateway, remote(), Scope::All);
    other.greet("2025-11-25", json!({})).await;
    let mut own = Front::legacy(&gateway).await;
    own.begin("tools/call", json!({"name": "one__log"})).await;
    own.notice("notifications/message").await;
    let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
    let answer = other
        .ask_modern("tools/call", json!({"name": "one__log", "_meta": meta}))
        .await;
    assert_eq!(answer["result"]["content"], text("done")["content"]);
    assert!(other.seen.is_empty(), "{:?}", other.seen);
}
