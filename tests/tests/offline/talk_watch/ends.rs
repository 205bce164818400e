//! Connections that are lost, and servers that do not agree.

use super::*;

fn mortal(
    hello: fn() -> Value,
    answer: impl Fn(&Value) -> Option<Value> + Send + Sync + Clone + 'static,
) -> Memory {
    Memory::new("mortal", move |input, output| {
        let answer = answer.clone();
        let (says, _) = tokio::sync::mpsc::unbounded_channel();
        let mut wire = Wire::new(input, output, 1, says);
        async move {
            while let Some(request) = wire.read().await {
                let method = request["method"].as_str().unwrap();
                let kept = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private"});
                let list = |key: &str, value: Value| {
                    let mut list = kept.clone();
                    list[key] = value;
                    json!({"result": list})
                };
                let tool = json!([{"name": "die", "inputSchema": {"type": "object"}}]);
                let mut message = match method {
                    "initialize" | "server/discover" => json!({"result": hello()}),
                    "tools/list" => list("tools", tool),
                    "resources/list" => list("resources", json!([])),
                    "resources/templates/list" => list("resourceTemplates", json!([])),
                    "tools/call" => return,
                    _ => match answer(&request) {
                        Some(message) => message,
                        None => continue,
                    },
                };
                message["jsonrpc"] = json!("2.0");
                if message.get("method").is_none() {
                    message["id"] = request["id"].clone();
                }
                wire.send(&message).await;
            }
        }
    })
}

fn legacy() -> Value {
    let mut hello = hello_legacy("2025-11-25");
    hello["capabilities"] = json!({"tools": {}, "resources": {"subscribe": true}});
    hello
}

fn modern() -> Value {
    let mut hello = hello_modern(&["2026-07-28"]);
    hello["capabilities"] = json!({"tools": {}, "resources": {"subscribe": true}});
    hello
}

/// Says that all that is wished for is granted, or only these.
fn agrees(request: &Value, only: Option<Value>) -> Option<Value> {
    if request["method"] != "subscriptions/listen" {
        return None;
    }
    let wish = request["params"]["notifications"]["resourceSubscriptions"].clone();
    Some(json!({
        "method": "notifications/subscriptions/acknowledged",
        "params": {
            "_meta": {"io.modelcontextprotocol/subscriptionId": request["id"]},
            "notifications": {"resourceSubscriptions": only.unwrap_or(wish)},
        },
    }))
}

#[tokio::test]
async fn a_connection_that_is_lost_is_made_again_for_whoever_watches() {
    let both = [
        (
            Protocol::Legacy,
            mortal(legacy, |_| Some(json!({"result": {}}))),
        ),
        (
            Protocol::Modern,
            mortal(modern, |request| agrees(request, None)),
        ),
    ];
    for (era, server) in both {
        let host = builder(era).with("one", server).build().unwrap();
        let mut watching = watch(&host, "file:///a").await;
        for _ in 0..3 {
            let tool = owner(&host).find("one/die").await.unwrap();
            tool.call(json!({})).await.unwrap_err();
            assert_eq!(next(&mut watching).await.unwrap(), Update::Again);
        }
    }
}

#[tokio::test]
async fn a_server_that_says_no_is_not_asked_again_and_again() {
    let refuse =
        |_: &Value| Some(json!({"error": {"code": -32002, "message": "no such resource"}}));
    let none: fn() -> Value = || hello_legacy("2025-11-25");
    let cases: [(Protocol, Memory, ErrorKind); 5] = [
        (Protocol::Legacy, mortal(legacy, refuse), ErrorKind::Rpc),
        (Protocol::Modern, mortal(modern, refuse), ErrorKind::Rpc),
        (
            Protocol::Legacy,
            mortal(none, refuse),
            ErrorKind::NotOffered,
        ),
        (
            Protocol::Modern,
            mortal(|| hello_modern(&["2026-07-28"]), refuse),
            ErrorKind::NotOffered,
        ),
        (
            Protocol::Modern,
            mortal(modern, |request| {
                agrees(request, Some(json!(["file:///b"])))
            }),
            ErrorKind::NotOffered,
        ),
    ];
    for (era, server, kind) in cases {
        let host = builder(era).with("one", server).build().unwrap();
        let view = owner(&host);
        for _ in 0..2 {
            let watching = timeout(PATIENCE, view.watch("one", "file:///a")).await;
            let error = watching.unwrap().unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!(error.server().unwrap().as_str(), "one");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_agrees_is_not_waited_for_for_ever() {
    let server = mortal(modern, |_| None);
    let host = builder(Protocol::Modern)
        .with("one", server)
        .build()
        .unwrap();
    let error = owner(&host).watch("one", "file:///a").await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
}
