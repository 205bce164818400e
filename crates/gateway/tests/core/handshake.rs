//! The beginning of a conversation, in both eras.

use serde_json::{Value, json};
use switchboard_testkit::Options;

use crate::support::{Front, With as _, builder, error, gateway, hello, testkit, with_meta};

#[tokio::test]
async fn each_legacy_version_is_agreed_on_as_it_is_asked_for() {
    let gateway = gateway(builder().with("demo", testkit(Options::default()))).await;
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut front = Front::open(&gateway);
        let answer = front.ask("initialize", hello(version, &json!({}))).await;
        assert_eq!(answer["result"]["protocolVersion"], version);
        let info = json!({"name": "switchboard", "version": env!("CARGO_PKG_VERSION")});
        assert_eq!(answer["result"]["serverInfo"], info);
        let listed = json!({"listChanged": true});
        assert_eq!(answer["result"]["capabilities"]["tools"], listed);
        front.end().await.unwrap();
    }
}

#[tokio::test]
async fn an_unknown_version_is_answered_with_the_newest_legacy_one() {
    let gateway = gateway(builder()).await;
    for version in ["2026-07-28", "2099-01-01", "1"] {
        let mut front = Front::open(&gateway);
        let answer = front.ask("initialize", hello(version, &json!({}))).await;
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    }
}

#[tokio::test]
async fn nothing_but_a_ping_is_answered_before_the_handshake() {
    let gateway = gateway(builder().with("demo", testkit(Options::default()))).await;
    let mut front = Front::open(&gateway);
    let pong = front.ask("ping", Value::Null).await;
    assert_eq!(pong, json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    for method in [
        "tools/list",
        "tools/call",
        "logging/setLevel",
        "server/discover",
        "x",
    ] {
        let answer = front.ask(method, Value::Null).await;
        assert_eq!(answer["error"]["code"], -32602, "{method}");
    }
}

#[tokio::test]
async fn a_second_handshake_is_refused() {
    let gateway = gateway(builder()).await;
    let mut front = Front::legacy(&gateway).await;
    let again = front
        .ask("initialize", hello("2025-11-25", &json!({})))
        .await;
    assert_eq!(
        again["error"],
        error(-32600, "the session is initialized already")
    );
}

#[tokio::test]
async fn a_handshake_that_lacks_a_member_is_refused() {
    let gateway = gateway(builder()).await;
    let mut front = Front::open(&gateway);
    for lacking in ["protocolVersion", "capabilities", "clientInfo"] {
        let mut params = hello("2025-11-25", &json!({}));
        params.as_object_mut().unwrap().remove(lacking);
        let answer = front.ask("initialize", params).await;
        assert_eq!(answer["error"]["code"], -32602, "{lacking}");
    }
    front.greet("2025-11-25", json!({})).await;
}

#[tokio::test]
async fn a_modern_client_discovers_the_gateway() {
    let gateway = gateway(builder().with("demo", testkit(Options::default()))).await;
    let mut front = Front::open(&gateway);
    let answer = front.ask_modern("server/discover", Value::Null).await;
    let result = &answer["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(result["resultType"], "complete");
    assert_eq!(result["cacheScope"], "private");
    assert!(result["ttlMs"].is_u64());
    let info = json!({"name": "switchboard", "version": env!("CARGO_PKG_VERSION")});
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"], info);
    assert_eq!(
        result["capabilities"]["tools"],
        json!({"listChanged": true})
    );
}

#[tokio::test]
async fn a_modern_request_without_its_version_or_capabilities_is_refused() {
    let gateway = gateway(builder()).await;
    let mut front = Front::open(&gateway);
    for lacking in ["protocolVersion", "clientCapabilities"] {
        let mut params = with_meta(Value::Null);
        let meta = params["_meta"].as_object_mut().unwrap();
        meta.remove(&format!("io.modelcontextprotocol/{lacking}"));
        let answer = front.ask("server/discover", params).await;
        assert_eq!(answer["error"]["code"], -32602, "{lacking}");
    }
}

#[tokio::test]
async fn an_unsupported_version_is_refused_with_those_that_are() {
    let gateway = gateway(builder()).await;
    let mut front = Front::open(&gateway);
    for version in ["2025-11-25", "2099-01-01"] {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": version});
        let answer = front
            .ask("tools/list", with_meta(json!({"_meta": meta})))
            .await;
        let data = json!({"supported": ["2026-07-28"], "requested": version});
        let expected =
            json!({"code": -32022, "message": "unsupported protocol version", "data": data});
        assert_eq!(answer["error"], expected);
    }
}

#[tokio::test]
async fn methods_of_the_other_era_do_not_exist() {
    let gateway = gateway(builder()).await;
    let mut front = Front::legacy(&gateway).await;
    for method in [
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/get",
    ] {
        let answer = front
            .ask_modern(method, json!({"uri": "x", "level": "info"}))
            .await;
        assert_eq!(
            answer["error"],
            error(-32601, "method not found"),
            "{method}"
        );
    }
    for method in [
        "server/discover",
        "subscriptions/listen",
        "tasks/list",
        "tools/none",
        "",
    ] {
        let answer = front.ask(method, Value::Null).await;
        assert_eq!(
            answer["error"],
            error(-32601, "method not found"),
            "{method}"
        );
    }
}

#[tokio::test]
async fn one_stream_may_use_both_eras() {
    let gateway = gateway(builder().with("demo", testkit(Options::default()))).await;
    let mut front = Front::open(&gateway);
    let modern = front.ask_modern("tools/list", Value::Null).await;
    front.greet("2025-06-18", json!({})).await;
    let legacy = front.ask("tools/list", Value::Null).await;
    let again = front.ask_modern("tools/list", Value::Null).await;
    assert_eq!(modern["result"]["resultType"], "complete");
    assert_eq!(legacy["result"].get("resultType"), None);
    assert_eq!(legacy["result"]["tools"], modern["result"]["tools"]);
    assert_eq!(again["result"], modern["result"]);
}
