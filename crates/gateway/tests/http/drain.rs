//! The end of a gateway.

use std::time::Duration;

use serde_json::json;

use crate::support::{Ask, front, front_with, until};

fn slow(seconds: f64) -> Ask {
    let arguments = json!({"duration": seconds, "steps": 1});
    Ask::modern(
        "tools/call",
        json!({"name": "demo__slow_operation", "arguments": arguments}),
    )
}

#[tokio::test]
async fn calls_finish_streams_end_and_nothing_new_is_taken() {
    let mut front = front().await;
    let session = front.session("2025-11-25").await;
    let mut stream = front.connect().await;
    let open = Ask::new("GET", "/mcp")
        .header("Accept", "text/event-stream")
        .session(&session);
    stream.send(&open.bytes()).await;
    assert_eq!(stream.head().await.unwrap().status, 200);
    let mut idle = front.connect().await;
    assert_eq!(idle.ask(&Ask::new("GET", "/readyz")).await.status, 200);
    let mut call = front.connect().await;
    call.send(&slow(0.3).bytes()).await;
    until("the call to reach its server", || {
        front.record.count("tools/call") == 1
    })
    .await;

    front.stop();
    assert_eq!(stream.event().await, None);
    assert_eq!(idle.until_closed().await, b"");
    let answer = call.answer().await.unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    front.stopped().await;
    assert!(tokio::net::TcpStream::connect(front.address).await.is_err());
    assert_eq!(front.service.stats().sessions, 0);
}

#[tokio::test]
async fn a_call_over_the_time_of_draining_is_cancelled() {
    let mut front =
        front_with(|_, gateway| gateway.limits.drain = Duration::from_millis(100)).await;
    let mut call = front.connect().await;
    call.send(&slow(600.0).bytes()).await;
    until("the call to reach its server", || {
        front.record.count("tools/call") == 1
    })
    .await;
    front.stop();
    front.stopped().await;
    assert!(call.answer().await.is_none());
    until("the call to be cancelled", || {
        front.record.count("notifications/cancelled") == 1
    })
    .await;
}

#[tokio::test]
async fn a_gateway_that_drains_takes_its_listeners_along() {
    let mut front = front().await;
    let mut idle = front.connect().await;
    assert_eq!(idle.ask(&Ask::modern_echo("x")).await.text(), "x");
    assert!(front.gateway.drain(Duration::from_secs(5)).await);
    front.stopped().await;
    assert_eq!(idle.until_closed().await, b"");
}
