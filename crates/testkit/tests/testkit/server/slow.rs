//! The operation that takes its time. Time is paused: it passes when everybody waits.

use serde_json::{Value, json};
use switchboard_testkit::Options;

use crate::server::client::{Client, text};

fn slow(seconds: f64, steps: u32, token: &Value) -> Value {
    json!({
        "name": "slow_operation",
        "arguments": {"duration": seconds, "steps": steps},
        "_meta": {"progressToken": token},
    })
}

#[tokio::test(start_paused = true)]
async fn each_step_is_reported_to_those_who_ask() {
    for mut client in Client::both(Options::default()).await {
        for token in [json!("p-1"), json!(1)] {
            let start = tokio::time::Instant::now();
            let id = client.request("tools/call", slow(30.0, 3, &token)).await;
            for step in 1..=3 {
                let params = json!({
                    "progressToken": token, "progress": step, "total": 3,
                    "message": format!("step {step} of 3"),
                });
                assert_eq!(
                    client.next().await,
                    json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
                );
                assert_eq!(start.elapsed().as_secs(), step * 10);
            }
            let answer = client.next().await;
            assert_eq!(answer["id"], id);
            assert_eq!(text(&answer["result"]), "finished 3 steps in 30 seconds");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn progress_had_no_words_in_the_first_version() {
    let mut client = Client::legacy("2024-11-05", json!({})).await;
    client
        .request("tools/call", slow(1.0, 1, &json!("p")))
        .await;
    let params = json!({"progressToken": "p", "progress": 1, "total": 1});
    assert_eq!(client.next().await["params"], params);
}

#[tokio::test(start_paused = true)]
async fn without_a_token_only_the_answer_comes() {
    for mut client in Client::both(Options::default()).await {
        let result = client.call("slow_operation", json!({})).await;
        assert_eq!(text(&result), "finished 5 steps in 1 seconds");
        let result = client
            .call("slow_operation", json!({"duration": 0, "steps": 2.0}))
            .await;
        assert_eq!(text(&result), "finished 2 steps in 0 seconds");
    }
}

#[tokio::test(start_paused = true)]
async fn others_are_answered_meanwhile() {
    for mut client in Client::both(Options::default()).await {
        let slower = client
            .request("tools/call", slow(20.0, 1, &Value::Null))
            .await;
        let slow = client
            .request("tools/call", slow(10.0, 1, &Value::Null))
            .await;
        let result = client.call("echo", json!({"message": "quick"})).await;
        assert_eq!(text(&result), "quick");
        assert_eq!(client.next().await["id"], slow);
        assert_eq!(client.next().await["id"], slower);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_operation_stops_and_is_not_answered() {
    for mut client in Client::both(Options::default()).await {
        let first = client
            .request("tools/call", slow(100.0, 10, &json!("a")))
            .await;
        let second = client
            .request("tools/call", slow(95.0, 1, &json!("b")))
            .await;
        assert_eq!(client.next().await["params"]["progressToken"], "a");
        client.cancel(first).await;
        // A client that cancels twice, or too late, does no harm.
        client.cancel(first).await;
        client.cancel(777).await;
        assert_eq!(client.next().await["params"]["progressToken"], "b");
        assert_eq!(client.next().await["id"], second);
        assert_eq!(client.close().await, [Value::Null; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_id_is_not_taken_twice_while_it_is_in_use() {
    let mut client = Client::legacy("2025-11-25", json!({})).await;
    let call = json!({
        "jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": slow(1.0, 1, &Value::Null),
    });
    client.send(&call).await;
    client.send(&call).await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    assert!(client.next().await["result"].is_object());
    client.send(&call).await;
    assert!(client.next().await["result"].is_object());
}

#[tokio::test(start_paused = true)]
async fn the_end_of_input_cancels_what_runs() {
    for mut client in Client::both(Options::default()).await {
        let start = tokio::time::Instant::now();
        client
            .request("tools/call", slow(3600.0, 1, &json!("p")))
            .await;
        assert_eq!(client.close().await, [Value::Null; 0]);
        assert!(start.elapsed().as_secs() < 3600);
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_waits_for_its_slowest_request_but_nobody_else_does() {
    let mut client = Client::legacy("2025-03-26", json!({})).await;
    let slow = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": slow(9.0, 1, &json!(id))});
    let ping = json!({"jsonrpc": "2.0", "id": "ping", "method": "ping"});
    client.send(&json!([slow("a"), ping, slow("b")])).await;
    assert_eq!(client.result("ping", json!({})).await, json!({}));
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "b"}}))
        .await;
    assert_eq!(client.next().await["params"]["progressToken"], "a");
    let answers = client.next().await;
    let ids: Vec<&Value> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["id"])
        .collect();
    assert_eq!(ids, ["ping", "a"]);
}
