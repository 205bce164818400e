//! Lines that are no messages, and many that are.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use serde_json::{Value, json};
use switchboard_testkit::{Options, serve};
use tokio::io::AsyncWrite;

use crate::server::client::Client;

async fn refused(line: &[u8]) -> (Value, i64) {
    let mut client = Client::legacy("2025-11-25", json!({})).await;
    client.bytes(line).await;
    client.bytes(b"\n").await;
    let mut answer = client.next().await;
    client.expect_silence().await;
    (
        answer["id"].take(),
        answer["error"]["code"].as_i64().unwrap(),
    )
}

#[tokio::test]
async fn a_line_that_is_not_json_is_a_parse_error() {
    let lines: [&[u8]; 6] = [
        b"hello",
        b"{",
        b"[1,",
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\"}",
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}",
    ];
    for line in lines {
        assert_eq!(refused(line).await, (json!(null), -32700));
    }
}

#[tokio::test]
async fn json_that_is_no_message_is_an_invalid_request() {
    let lines = [
        (json!(5), json!(null)),
        (json!([]), json!(null)),
        (json!({}), json!(null)),
        (json!({"jsonrpc": "2.0", "id": 7}), json!(7)),
        (
            json!({"jsonrpc": "2.0", "id": null, "method": "ping"}),
            json!(null),
        ),
        (
            json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}),
            json!(null),
        ),
        (
            json!({"jsonrpc": "1.0", "id": "x", "method": "ping"}),
            json!("x"),
        ),
        (json!({"id": "x", "method": "ping"}), json!("x")),
    ];
    for (line, id) in lines {
        assert_eq!(
            refused(line.to_string().as_bytes()).await,
            (id, -32600),
            "{line}"
        );
    }
}

#[tokio::test]
async fn params_that_are_no_object_are_invalid() {
    let line = br#"{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}"#;
    assert_eq!(refused(line).await, (json!(7), -32602));
}

#[tokio::test]
async fn blank_lines_and_unknown_notifications_are_passed_over() {
    let mut client = Client::legacy("2025-11-25", json!({})).await;
    client.bytes(b"\n\r\n   \n").await;
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/unheard_of"}))
        .await;
    client
        .send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled"}))
        .await;
    client
        .send(&json!({"jsonrpc": "2.0", "id": "server-9", "result": {}}))
        .await;
    client.expect_silence().await;
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let mut client = Client::start(Options::default());
    for id in [
        json!(7),
        json!("7"),
        json!(-1),
        json!(i64::MAX),
        json!(""),
        json!("é"),
    ] {
        client
            .send(&json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
            .await;
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": {}});
        assert_eq!(client.next().await, answer);
    }
}

#[tokio::test]
async fn the_last_line_needs_no_end() {
    let mut client = Client::start(Options::default());
    client
        .bytes(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
        .await;
    let rest = client.close().await;
    assert_eq!(rest, [json!({"jsonrpc": "2.0", "id": 1, "result": {}})]);
}

#[tokio::test]
async fn what_was_asked_before_the_end_is_answered() {
    let mut client = Client::start(Options::default());
    let mut ids = Vec::new();
    for _ in 0..500 {
        ids.push(json!(client.request("ping", json!({})).await));
    }
    let answers = client.close().await;
    let answered: Vec<Value> = answers
        .into_iter()
        .map(|mut one| one["id"].take())
        .collect();
    assert_eq!(answered, ids);
}

#[tokio::test]
async fn a_client_that_vanishes_is_no_error() {
    let mut client = Client::start(Options::default());
    client.request("ping", json!({})).await;
    client.vanish().await.unwrap();
}

/// Remembers each write, and how much of it all was flushed.
#[derive(Default)]
struct Writes {
    lines: Vec<usize>,
    unflushed: bool,
}

impl AsyncWrite for Writes {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count();
        self.lines.push(lines);
        self.unflushed = true;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.unflushed = false;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test]
async fn answers_that_are_ready_together_are_written_together() {
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let requests = format!("{ping}\n").repeat(100);
    let mut writes = Writes::default();
    serve(requests.as_bytes(), &mut writes, Options::default())
        .await
        .unwrap();
    assert_eq!(writes.lines, [100]);
    assert!(!writes.unflushed);
}
