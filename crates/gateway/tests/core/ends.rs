//! The end of a gateway.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Does, Era, Front, Script, With as _, builder, error, gateway, soon, text};

fn script() -> Script {
    Script::new(Era::Legacy, &["wait"], |_| Vec::new())
}

#[tokio::test]
async fn a_gateway_that_drains_finishes_what_runs_and_takes_nothing_new() {
    let script = script();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    let call = front
        .begin("tools/call", json!({"name": "one__wait"}))
        .await;
    let sent = script.heard("tools/call", 1).await;
    let listen = json!({"notifications": {"toolsListChanged": true}});
    let listen = front.begin_modern("subscriptions/listen", listen).await;
    front
        .notice("notifications/subscriptions/acknowledged")
        .await;
    let draining = tokio::spawn({
        let gateway = gateway.clone();
        async move { gateway.drain(Duration::from_secs(20)).await }
    });
    // A listener learns of it in good order.
    let meta = json!({"io.modelcontextprotocol/subscriptionId": listen});
    let ended = front.answer(listen).await;
    assert_eq!(
        ended["result"],
        json!({"resultType": "complete", "_meta": meta})
    );
    let refused = front.ask("tools/list", Value::Null).await;
    assert_eq!(
        refused["error"],
        error(-32603, "the gateway is shutting down")
    );
    assert_eq!(front.ask("ping", Value::Null).await["result"], json!({}));
    let result = json!({"jsonrpc": "2.0", "id": sent["id"], "result": text("done")});
    script.say(&result);
    assert_eq!(front.answer(call).await["result"], text("done"));
    assert!(soon("the gateway has drained", draining).await.unwrap());
    assert_eq!(front.line().await, None);
    soon("the end", front.serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_does_not_finish_in_time_is_cancelled() {
    let script = script();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    front
        .begin("tools/call", json!({"name": "one__wait"}))
        .await;
    script.heard("tools/call", 1).await;
    assert!(!gateway.drain(Duration::from_millis(10)).await);
    script.heard("notifications/cancelled", 1).await;
    assert_eq!(front.line().await, None);
}

#[tokio::test]
async fn answers_that_are_ready_are_written_after_the_end_of_the_input() {
    let script = Script::new(Era::Legacy, &["go"], |_| {
        vec![Does::Result(text("gone").to_string())]
    });
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::open(&gateway);
    for _ in 0..100 {
        front.begin("ping", Value::Null).await;
    }
    front.hang_up();
    for id in 1..=100 {
        assert_eq!(
            front.read().await,
            json!({"jsonrpc": "2.0", "id": id, "result": {}})
        );
    }
    assert_eq!(front.line().await, None);
}
