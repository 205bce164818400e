//! The limits of one client.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_gateway::{Gateway, GatewayOptions};

use crate::support::{Does, Era, Front, Script, With as _, answering, builder, silent, text};

async fn limited(script: &Script, set: impl FnOnce(&mut GatewayOptions)) -> Gateway {
    let host = builder().with("one", script.memory()).build().unwrap();
    host.connect_all().await;
    let mut options = GatewayOptions::default();
    set(&mut options);
    Gateway::new(host, options).unwrap()
}

fn limit(what: &str, most: usize) -> Value {
    let message = format!("too many {what}: at most {most} at a time");
    json!({"code": -32603, "message": message, "data": {"reason": "limit", "limit": most}})
}

#[tokio::test]
async fn a_request_over_the_limit_is_refused_and_nothing_is_lost() {
    let script = Script::new(Era::Legacy, &["wait", "go"], |request| {
        if request["params"]["name"] == "wait" {
            return Vec::new();
        }
        vec![Does::Result(text("gone").to_string())]
    });
    let gateway = limited(&script, |options| options.limits.in_flight = 3).await;
    let mut front = Front::legacy(&gateway).await;
    let mut other = Front::legacy(&gateway).await;
    let mut waiting = Vec::new();
    for _ in 0..3 {
        waiting.push(
            front
                .begin("tools/call", json!({"name": "one__wait"}))
                .await,
        );
    }
    script.heard("tools/call", 3).await;
    let refused = front.ask("tools/call", json!({"name": "one__go"})).await;
    assert_eq!(refused["error"], limit("requests", 3));
    // The limit is of one client, and what needs no server is answered all the same.
    let answer = other.ask("tools/call", json!({"name": "one__go"})).await;
    assert_eq!(answer["result"], text("gone"));
    assert_eq!(front.ask("ping", Value::Null).await["result"], json!({}));
    front
        .tell("notifications/cancelled", json!({"requestId": waiting[0]}))
        .await;
    let answer = front.ask("tools/call", json!({"name": "one__go"})).await;
    assert_eq!(answer["result"], text("gone"));
}

#[tokio::test]
async fn subscriptions_and_listens_have_limits_of_their_own() {
    let script = Script::new(Era::Legacy, &[], answering("x"));
    let gateway = limited(&script, |options| {
        (options.limits.subscriptions, options.limits.listens) = (1, 1);
    });
    let gateway = gateway.await;
    let mut front = Front::legacy(&gateway).await;
    let uri = json!({"uri": "file:///a"});
    assert_eq!(
        front.ask("resources/subscribe", uri.clone()).await["result"],
        json!({})
    );
    // The same again is no other subscription.
    assert_eq!(
        front.ask("resources/subscribe", uri.clone()).await["result"],
        json!({})
    );
    let other = front
        .ask("resources/subscribe", json!({"uri": "file:///b"}))
        .await;
    assert_eq!(other["error"], limit("subscriptions", 1));
    let uris = json!({"resourceSubscriptions": ["file:///a"], "toolsListChanged": true});
    front
        .begin_modern("subscriptions/listen", json!({"notifications": uris}))
        .await;
    let agreed = front
        .notice("notifications/subscriptions/acknowledged")
        .await;
    assert_eq!(
        agreed["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
    let second = front
        .ask_modern("subscriptions/listen", json!({"notifications": {}}))
        .await;
    assert_eq!(second["error"], limit("listens", 1));
    assert_eq!(
        front.ask("resources/unsubscribe", uri).await["result"],
        json!({})
    );
    script.heard("resources/unsubscribe", 1).await;
}

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_hold_up_another() {
    let script = Script::new(Era::Legacy, &["big"], |_| {
        vec![Does::Result(text(&"x".repeat(100_000)).to_string())]
    });
    let gateway = limited(&script, |_| {}).await;
    let mut slow = Front::legacy(&gateway).await;
    for _ in 0..40 {
        slow.begin("tools/call", json!({"name": "one__big"})).await;
    }
    script.heard("tools/call", 40).await;
    let mut other = Front::legacy(&gateway).await;
    for _ in 0..5 {
        let answer = other.ask("tools/call", json!({"name": "one__big"})).await;
        assert!(answer["result"].is_object());
    }
    // Once it reads, all its answers are there.
    let mut ids = Vec::new();
    while ids.len() < 40 {
        ids.push(slow.read().await["id"].as_i64().unwrap());
    }
    ids.sort_unstable();
    assert_eq!(ids, (2..=41).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_slow_client_misses_progress_and_no_answer() {
    let script = Script::new(Era::Legacy, &["report"], |request| {
        let token = &request["params"]["_meta"]["progressToken"];
        let progress = |step: u32| {
            let message = "x".repeat(2000);
            let params = json!({"progressToken": token, "progress": step, "message": message});
            Does::Says(
                json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}),
            )
        };
        let mut all: Vec<_> = (1..=500).map(progress).collect();
        all.push(Does::Result(text("done").to_string()));
        all
    });
    let gateway = limited(&script, |options| options.limits.outbox = 16).await;
    let mut slow = Front::legacy(&gateway).await;
    let params = json!({"name": "one__report", "_meta": {"progressToken": 1}});
    let call = slow.begin("tools/call", params).await;
    script.heard("tools/call", 1).await;
    let mut other = Front::legacy(&gateway).await;
    while gateway.dropped_notifications() == 0 {
        other.ask("ping", Value::Null).await;
    }
    assert_eq!(slow.answer(call).await["result"], text("done"));
    assert!(slow.seen.len() < 500);
}

#[tokio::test]
async fn lists_hold_no_task_each_for_a_server_that_hangs() {
    let host = builder().with("one", silent()).build().unwrap();
    let mut options = GatewayOptions::default();
    options.limits.first_list_stream = Duration::ZERO;
    options.limits.recheck = Duration::from_secs(3600);
    let gateway = Gateway::new(host, options).unwrap();
    let mut front = Front::legacy(&gateway).await;
    front.ask("tools/list", Value::Null).await;
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    for _ in 0..50 {
        front.ask("tools/list", Value::Null).await;
    }
    let now = metrics.num_alive_tasks();
    assert!(now < before + 10, "{before} tasks became {now}");
}
