//! Requests that a client gives up.

use serde_json::{Value, json};

use crate::support::{Does, Era, Front, Script, With as _, builder, gateway, soon, text};

fn waiting() -> Script {
    Script::new(Era::Legacy, &["wait", "go"], |request| {
        if request["params"]["name"] == "go" {
            vec![Does::Result(text("gone").to_string())]
        } else {
            Vec::new()
        }
    })
}

#[tokio::test]
async fn a_cancelled_request_is_cancelled_at_its_server_and_not_answered() {
    let script = waiting();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    for (count, modern) in [(1, false), (2, true)] {
        let params = json!({"name": "one__wait"});
        let id = if modern {
            front.begin_modern("tools/call", params).await
        } else {
            front.begin("tools/call", params).await
        };
        let call = script.heard("tools/call", count).await;
        let params = json!({"requestId": id, "reason": "changed my mind"});
        front.tell("notifications/cancelled", params).await;
        let cancelled = script.heard("notifications/cancelled", count).await;
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        assert_eq!(cancelled["params"]["reason"], "changed my mind");
    }
    // Nothing but this is answered.
    let answer = front.ask("ping", Value::Null).await;
    assert_eq!(answer["result"], json!({}));
    assert!(front.seen.is_empty(), "{:?}", front.seen);
}

#[tokio::test]
async fn cancellations_that_mean_nothing_are_ignored() {
    let script = waiting();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    for params in [
        Value::Null,
        json!({}),
        json!({"requestId": 99}),
        json!({"requestId": [1]}),
    ] {
        front.tell("notifications/cancelled", params).await;
    }
    let answer = front.ask("tools/call", json!({"name": "one__go"})).await;
    assert_eq!(answer["result"]["content"][0]["text"], "gone");
    assert_eq!(script.count("notifications/cancelled"), 0);
}

#[tokio::test]
async fn a_client_cannot_cancel_the_request_of_another_with_its_id() {
    let script = waiting();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let (mut ann, mut bob) = (Front::legacy(&gateway).await, Front::legacy(&gateway).await);
    let params = json!({"name": "one__wait"});
    let id = ann.begin("tools/call", params.clone()).await;
    let first = script.heard("tools/call", 1).await;
    // Bob has no request of that id yet.
    let cancelled = json!({"requestId": id});
    bob.tell("notifications/cancelled", cancelled.clone()).await;
    assert_eq!(bob.begin("tools/call", params).await, id);
    let second = script.heard("tools/call", 2).await;
    assert_eq!(script.count("notifications/cancelled"), 0);
    // Now each of them has one, and cancels its own.
    bob.tell("notifications/cancelled", cancelled.clone()).await;
    let heard = script.heard("notifications/cancelled", 1).await;
    assert_eq!(heard["params"]["requestId"], second["id"]);
    ann.tell("notifications/cancelled", cancelled).await;
    let heard = script.heard("notifications/cancelled", 2).await;
    assert_eq!(heard["params"]["requestId"], first["id"]);
    assert_ne!(first["id"], second["id"]);
}

#[tokio::test]
async fn an_id_is_free_again_after_it_was_cancelled() {
    let script = waiting();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    let call = |name: &str| json!({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": name}});
    front.send(&call("one__wait")).await;
    script.heard("tools/call", 1).await;
    front.send(&call("one__go")).await;
    let twice = front.read().await;
    assert_eq!(
        twice["error"]["message"],
        "a request with this id is in flight already"
    );
    front
        .tell("notifications/cancelled", json!({"requestId": "x"}))
        .await;
    front.send(&call("one__go")).await;
    let answer = front.read().await;
    assert_eq!(answer["result"], text("gone"));
}

#[tokio::test]
async fn the_end_of_the_input_cancels_what_runs() {
    let script = waiting();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    front
        .begin("tools/call", json!({"name": "one__wait"}))
        .await;
    script.heard("tools/call", 1).await;
    front.hang_up();
    script.heard("notifications/cancelled", 1).await;
    assert_eq!(front.line().await, None);
    soon("the end", front.serving).await.unwrap().unwrap();
}
