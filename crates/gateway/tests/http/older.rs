//! The transport of 2024-11-05.

use serde_json::json;

use crate::support::{Ask, Connection, Front, front, front_with, until};

async fn open(front: &Front) -> (Connection, String) {
    let mut stream = front.connect().await;
    let ask = Ask::new("GET", "/sse").header("Accept", "text/event-stream");
    stream.send(&ask.bytes()).await;
    let head = stream.head().await.unwrap();
    assert_eq!(
        head.header("content-type"),
        Some("text/event-stream"),
        "{head:?}"
    );
    let first = stream.event().await.unwrap();
    assert_eq!(first.name.as_deref(), Some("endpoint"));
    assert!(first.data.starts_with("/messages?sessionId="), "{first:?}");
    (stream, first.data)
}

#[tokio::test]
async fn answers_come_on_the_stream() {
    let front = front_with(|http, _| http.legacy_sse = true).await;
    let (mut stream, messages) = open(&front).await;
    let post = |ask: Ask| ask.at(&messages).replace("Accept", "*/*");
    let answer = front.ask(&post(Ask::initialize("2024-11-05"))).await;
    assert_eq!((answer.status, answer.body.as_str()), (202, ""));
    let begun = stream.event().await.unwrap().json();
    assert_eq!(begun["result"]["protocolVersion"], "2024-11-05", "{begun}");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(front.ask(&post(Ask::post(&ready))).await.status, 202);
    assert_eq!(front.ask(&post(Ask::legacy_echo("old"))).await.status, 202);
    let called = stream.event().await.unwrap().json();
    assert_eq!(called["result"]["content"][0]["text"], "old", "{called}");
    drop(stream);
    until("the session to end", || front.service.stats().sessions == 0).await;
    assert_eq!(front.ask(&post(Ask::legacy_echo("late"))).await.status, 404);
}

#[tokio::test]
async fn it_is_not_served_unless_it_is_asked_for() {
    let front = front().await;
    let stream = Ask::new("GET", "/sse").header("Accept", "text/event-stream");
    assert_eq!(front.ask(&stream).await.status, 404);
    assert_eq!(
        front
            .ask(&Ask::legacy_echo("x").at("/messages?sessionId=x"))
            .await
            .status,
        404
    );
}

#[tokio::test]
async fn it_needs_the_token_and_a_session_of_the_caller() {
    let front = front_with(|http, _| http.legacy_sse = true).await;
    let (_stream, messages) = open(&front).await;
    let echo = Ask::legacy_echo("x");
    let bare = Ask::new("GET", "/sse").header("Accept", "text/event-stream");
    assert_eq!(front.ask(&bare.without("Authorization")).await.status, 401);
    let bare = echo.clone().at(&messages).without("Authorization");
    assert_eq!(front.ask(&bare).await.status, 401);
    for path in [
        "/messages",
        "/messages?sessionId=",
        "/messages?sessionId=AAAAAAAAAAAAAAAAAAAAAA",
    ] {
        assert_eq!(
            front.ask(&echo.clone().at(path)).await.status,
            404,
            "{path}"
        );
    }
    assert_eq!(front.ask(&Ask::new("GET", &messages)).await.status, 405);
    assert_eq!(front.ask(&echo.at("/sse")).await.status, 405);
}
