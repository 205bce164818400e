//! Requests that describe themselves.

use serde_json::{Value, json};
use switchboard_testkit::{Eras, Options};

use crate::server::client::{Client, envelope, handshake};

fn only(eras: Eras) -> Options {
    Options {
        eras,
        ..Options::default()
    }
}

#[tokio::test]
async fn discovery_names_the_versions_of_the_eras_spoken() {
    let all = [
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2025-03-26",
        "2024-11-05",
    ];
    for (eras, versions) in [(Eras::Both, &all[..]), (Eras::Modern, &all[..1])] {
        let mut client = Client::modern(only(eras), &json!({}));
        let mut result = client.result("server/discover", json!({})).await;
        assert!(result["instructions"].take().is_string());
        assert_eq!(
            result,
            json!({
                "resultType": "complete",
                "supportedVersions": versions,
                "capabilities": {
                    "tools": {"listChanged": true},
                    "resources": {"listChanged": true},
                    "prompts": {"listChanged": true},
                },
                "instructions": null,
                "ttlMs": 60000,
                "cacheScope": "public",
                "_meta": {
                    "io.modelcontextprotocol/serverInfo": {
                        "name": "switchboard-testkit",
                        "title": "Switchboard test server",
                        "version": env!("CARGO_PKG_VERSION"),
                    },
                },
            })
        );
    }
}

#[tokio::test]
async fn a_request_without_its_envelope_is_refused() {
    let mut client = Client::start(only(Eras::Modern));
    for method in ["tools/list", "server/discover", "prompts/get"] {
        let mut half = envelope("2026-07-28", &json!({}));
        half.as_object_mut()
            .unwrap()
            .remove("io.modelcontextprotocol/clientCapabilities");
        for params in [json!({}), json!({"_meta": {}}), json!({"_meta": half})] {
            assert_eq!(client.code(method, params).await, -32602, "{method}");
        }
    }
}

#[tokio::test]
async fn half_an_envelope_is_a_mistake_of_a_modern_client() {
    let mut client = Client::start(Options::default());
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    assert_eq!(
        client.code("tools/list", json!({"_meta": meta})).await,
        -32602
    );
}

#[tokio::test]
async fn an_unknown_version_is_answered_with_the_known_ones() {
    let mut client = Client::start(Options::default());
    for method in ["server/discover", "tools/list"] {
        let params = json!({"_meta": envelope("2099-01-01", &json!({}))});
        let error = client.error(method, params).await;
        assert_eq!(error["code"], -32022);
        assert_eq!(
            error["data"],
            json!({
                "supported": ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
                "requested": "2099-01-01",
            })
        );
    }
    // A version that needs a handshake is not spoken without one.
    let params = json!({"_meta": envelope("2025-11-25", &json!({}))});
    let error = client.error("tools/list", params).await;
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"]["supported"], json!(["2026-07-28"]));
}

#[tokio::test]
async fn the_probe_decides_nothing() {
    let mut client = Client::modern(Options::default(), &json!({}));
    client.result("server/discover", json!({})).await;
    let params = handshake("2025-11-25", &json!({}));
    let result = client.result("initialize", params).await;
    assert_eq!(result["protocolVersion"], "2025-11-25");
    let result = client.result("tools/list", json!({})).await;
    assert_eq!(result.get("resultType"), None);
}

#[tokio::test]
async fn the_first_modern_request_decides() {
    let mut client = Client::modern(Options::default(), &json!({}));
    client.result("tools/list", json!({})).await;
    let error = client
        .error("initialize", handshake("2025-11-25", &json!({})))
        .await;
    assert_eq!(error["code"], -32022);
    assert_eq!(
        error["data"],
        json!({"supported": ["2026-07-28"], "requested": "2025-11-25"})
    );
}

#[tokio::test]
async fn a_modern_server_refuses_the_handshake_with_what_would_work() {
    let mut client = Client::start(only(Eras::Modern));
    let params = handshake("2025-11-25", &json!({}));
    let error = client.error("initialize", params).await;
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"]["supported"], json!(["2026-07-28"]));
}

#[tokio::test]
async fn methods_of_the_legacy_era_are_unknown() {
    let mut client = Client::modern(Options::default(), &json!({}));
    for method in [
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "tools/lost",
    ] {
        assert_eq!(client.code(method, json!({})).await, -32601, "{method}");
    }
}

#[tokio::test]
async fn every_result_says_that_it_is_complete_and_whose_it_is() {
    let mut client = Client::modern(Options::default(), &json!({}));
    let cached = [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({"uri": "file:///readme.txt"})),
        ("prompts/list", json!({})),
    ];
    let uncached = [
        ("prompts/get", json!({"name": "summarize"})),
        ("tools/call", json!({"name": "get_time"})),
    ];
    let said = |result: &Value| {
        assert_eq!(result["resultType"], "complete");
        let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!(server["name"], "switchboard-testkit");
        (
            result.get("ttlMs").cloned(),
            result.get("cacheScope").cloned(),
        )
    };
    for (method, params) in cached {
        let result = client.result(method, params).await;
        assert_eq!(
            said(&result),
            (Some(json!(60000)), Some(json!("public"))),
            "{method}"
        );
    }
    for (method, params) in uncached {
        let result = client.result(method, params).await;
        assert_eq!(said(&result), (None, None), "{method}");
    }
}
