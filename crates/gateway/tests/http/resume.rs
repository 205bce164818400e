//! Streams of sessions that are resumed.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Ask, Connection, Front, front_with, until};

async fn hasty() -> Front {
    front_with(|_, gateway| {
        gateway.limits.stream_after = Duration::from_millis(20);
        gateway.limits.retry = Duration::from_millis(700);
    })
    .await
}

fn slow(id: i64, seconds: f64) -> Ask {
    let arguments = json!({"duration": seconds, "steps": 1});
    let params = json!({"name": "demo__slow_operation", "arguments": arguments});
    Ask::post(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
}

async fn open(front: &Front, session: &str, after: Option<&str>) -> (u16, Connection) {
    let ask = Ask::new("GET", "/mcp")
        .header("Accept", "text/event-stream")
        .session(session);
    let ask = match after {
        Some(id) => ask.header("Last-Event-ID", id),
        None => ask,
    };
    let mut connection = front.connect().await;
    connection.send(&ask.bytes()).await;
    let head = connection.head().await.unwrap();
    (head.status, connection)
}

#[tokio::test]
async fn a_post_stream_is_primed_and_resumed_after_its_connection_broke() {
    let front = hasty().await;
    let session = front.session("2025-11-25").await;
    let mut connection = front.connect().await;
    connection
        .send(&slow(7, 0.6).session(&session).bytes())
        .await;
    let head = connection.head().await.unwrap();
    assert_eq!(
        head.header("content-type"),
        Some("text/event-stream"),
        "{head:?}"
    );
    let first = connection.block().await.unwrap();
    assert_eq!(first, "id: 1-0\nretry: 700\ndata: \n\n");
    drop(connection);

    let (status, mut resumed) = open(&front, &session, Some("1-0")).await;
    assert_eq!(status, 200);
    let event = resumed.event().await.unwrap();
    assert_eq!(event.id.as_deref(), Some("1-1"));
    let answer: Value = serde_json::from_str(&event.data).unwrap();
    assert_eq!(answer["id"], 7, "{answer}");
    assert!(answer["result"]["content"].is_array(), "{answer}");
    assert_eq!(
        resumed.event().await,
        None,
        "the stream ends with its answer"
    );
    // A connection that broke does not cancel a legacy call, and resuming does not repeat it.
    assert_eq!(front.record.count("notifications/cancelled"), 0);
    assert_eq!(front.record.count("tools/call"), 1);

    let (status, mut again) = open(&front, &session, Some("1-0")).await;
    assert_eq!(
        (status, again.event().await.unwrap().id.as_deref()),
        (200, Some("1-1"))
    );
    let (status, mut behind) = open(&front, &session, Some("1-1")).await;
    assert_eq!((status, behind.event().await), (200, None));
}

#[tokio::test]
async fn clients_of_older_versions_get_no_event_without_data() {
    let front = hasty().await;
    for version in ["2025-03-26", "2025-06-18"] {
        let session = front.session(version).await;
        let mut connection = front.connect().await;
        connection
            .send(&slow(7, 0.6).session(&session).bytes())
            .await;
        connection.head().await.unwrap();
        let event = connection.event().await.unwrap();
        assert_eq!(event.id.as_deref(), Some("1-1"), "{version}");
        assert!(event.data.contains(r#""id":7"#), "{event:?}");
    }
}

#[tokio::test]
async fn event_ids_that_are_foreign_or_malformed_are_refused() {
    let front = hasty().await;
    let session = front.session("2025-11-25").await;
    let other = front.session("2025-11-25").await;
    let mut connection = front.connect().await;
    connection
        .send(&slow(7, 0.6).session(&session).bytes())
        .await;
    connection.head().await.unwrap();
    connection.event().await.unwrap();
    for bad in [
        "1-9",
        "2-0",
        "0-5",
        "1",
        "-",
        "x-y",
        "1-0-0",
        "99999999999999999999-1",
        "",
    ] {
        let (status, _) = open(&front, &session, Some(bad)).await;
        assert_eq!(status, 400, "{bad}");
    }
    let (status, _) = open(&front, &other, Some("1-0")).await;
    assert_eq!(status, 400, "an id of another session");
}

#[tokio::test]
async fn of_two_streams_of_a_session_the_newest_stays() {
    let front = hasty().await;
    let session = front.session("2025-11-25").await;
    let (status, mut old) = open(&front, &session, None).await;
    assert_eq!(status, 200);
    let (status, _new) = open(&front, &session, None).await;
    assert_eq!(status, 200);
    assert_eq!(old.event().await, None);
    let without = Ask::new("GET", "/mcp").session(&session);
    assert_eq!(front.ask(&without).await.status, 406);
    let json = without.header("Accept", "application/json");
    assert_eq!(front.ask(&json).await.status, 406);
}

#[tokio::test]
async fn a_call_whose_post_broke_before_any_answer_goes_on() {
    let front =
        front_with(|_, gateway| gateway.limits.stream_after = Duration::from_secs(60)).await;
    let session = front.session("2025-11-25").await;
    let mut connection = front.connect().await;
    connection
        .send(&slow(7, 600.0).session(&session).bytes())
        .await;
    until("the call to reach its server", || {
        front.record.count("tools/call") == 1
    })
    .await;
    drop(connection);
    // Another request shows that the gateway has moved on; the call is not cancelled.
    let notice =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}});
    assert_eq!(
        front
            .ask(&Ask::legacy_echo("x").session(&session))
            .await
            .text(),
        "x"
    );
    assert_eq!(front.record.count("notifications/cancelled"), 0);
    assert_eq!(
        front
            .ask(&Ask::post(&notice).session(&session))
            .await
            .status,
        202
    );
    until("the call to be cancelled", || {
        front.record.count("notifications/cancelled") == 1
    })
    .await;
}
