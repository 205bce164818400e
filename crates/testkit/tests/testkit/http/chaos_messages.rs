//! Faults of messages and of the server, over HTTP.

use serde_json::{Value, json};
use switchboard_testkit::http::{Answers, Http};
use switchboard_testkit::{Eras, Options};
use tokio::net::TcpStream;

use crate::http::chaos::{echo, faulty, faulty_with, still_works};
use crate::http::client::{BOTH, Legacy, Modern};

#[tokio::test]
async fn faults_of_messages_are_the_same_over_http() {
    let answer = async |fault: &str| -> Value {
        let server = faulty_with(&[fault], |http| http.answers(Answers::Json)).await;
        echo().send(&server).await.json().await
    };
    assert_eq!(answer("wrong-id").await["id"], "an id that was never used");
    assert_eq!(answer("null-id").await["id"], Value::Null);
    assert!(answer("result-and-error").await["error"].is_object());
    assert_eq!(
        answer("unknown-result-type").await["result"]["resultType"],
        "surprise"
    );
    assert_eq!(
        answer("input-required-forever").await["result"]["resultType"],
        "input_required"
    );
    assert_eq!(
        answer("structured-mismatch").await["result"]["structuredContent"]["time"],
        7
    );
    assert_eq!(
        answer("delay=1").await["result"]["content"][0]["text"],
        "hello"
    );
    let big = answer("big-result=1").await;
    assert_eq!(
        big["result"]["content"][0]["text"].as_str().map(str::len),
        Some(1024 * 1024)
    );
    assert!(answer("batch").await.is_array());
    let server = faulty(&["10k-tools=30"]).await;
    let list = Modern::new("tools/list", json!({}))
        .send(&server)
        .await
        .json()
        .await;
    assert_eq!(list["result"]["tools"].as_array().map(Vec::len), Some(30));
    let server = faulty(&["repeat-cursor"]).await;
    let list = Modern::new("tools/list", json!({"cursor": "x"}))
        .send(&server)
        .await
        .json()
        .await;
    assert_eq!(list["result"]["nextCursor"], "again");
}

#[tokio::test]
async fn what_comes_beside_the_answer_makes_it_a_stream() {
    let server = faulty(&["reply-twice"]).await;
    let events = echo().send(&server).await.events().await;
    assert_eq!(events.len(), 2);
    let server = faulty(&["log-flood=500"]).await;
    let events = echo().send(&server).await.events().await;
    assert_eq!(events.len(), 501);
    let server = faulty(&["progress-forever=1"]).await;
    let mut call = echo();
    call.body["params"]["_meta"]["progressToken"] = json!(1);
    let mut stream = call.send(&server).await;
    for step in 1..=5 {
        assert_eq!(stream.message().await.unwrap()["params"]["progress"], step);
    }
    drop(stream);
    server.until(|counts| counts.cancelled == 1).await;
}

#[tokio::test]
async fn a_storm_of_changes_comes_where_changes_are_told() {
    let server = faulty(&["list-changed-storm=300"]).await;
    let client = Legacy::open(&server, "2025-06-18").await;
    let mut stream = client.get(None).await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert!(client.post(&list).await.json().await["result"].is_object());
    for _ in 0..300 {
        let message = stream.message().await.unwrap();
        assert_eq!(message["method"], "notifications/tools/list_changed");
    }
}

#[tokio::test]
async fn silence_lasts_as_long_as_the_client_likes() {
    for (fault, request) in [
        ("no-reply", echo()),
        ("silent-on-probe", Modern::new("server/discover", json!({}))),
    ] {
        let server = faulty(&[fault]).await;
        let sending = request.send(&server);
        tokio::select! {
            _answer = sending => panic!("{fault} answered"),
            _ = server.until(|counts| counts.running == 1) => {}
        }
        server.until(|counts| counts.cancelled == 1).await;
    }
}

#[tokio::test]
async fn a_server_can_die_and_be_started_anew() {
    let mut server = faulty(&["die-on-call"]).await;
    let address = server.addr();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = echo();
    let mut text = format!(
        "POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\naccept: {}\r\ncontent-length: {}\r\n",
        BOTH.1,
        request.body.to_string().len()
    );
    for (name, value) in &request.headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("\r\n{}", request.body));
    tokio::io::AsyncWriteExt::write_all(&mut stream, text.as_bytes())
        .await
        .unwrap();
    assert_eq!(server.ended().await, 1);
    let mut rest = Vec::new();
    // Closed or reset, but without a word.
    let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut rest).await;
    assert!(rest.is_empty());
    server.restart().await.unwrap();
    assert_eq!(server.addr(), address);
    still_works(&server).await;
    let server = faulty(&["die-after-1"]).await;
    assert_eq!(echo().send(&server).await.json().await["id"], 1);
    assert_eq!(server.ended().await, 1);
}

#[tokio::test]
async fn streams_may_look_odd_and_be_right() {
    for fault in [
        "crlf",
        "bom",
        "split-every-byte",
        "blank-lines",
        "noise-between",
    ] {
        let server = faulty_with(&[fault], |http| http.answers(Answers::Sse)).await;
        let mut stream = echo().send(&server).await;
        assert_eq!(stream.message().await.unwrap()["id"], 1, "{fault}");
    }
    let server = faulty_with(&["crlf", "bom"], |http| http.answers(Answers::Sse)).await;
    let text = echo().send(&server).await.text().await;
    assert!(
        text.starts_with("\u{feff}event: message\r\ndata: {"),
        "{text}"
    );
}

#[tokio::test]
async fn a_fault_of_another_transport_is_refused() {
    let options = |fault: &str| Options {
        chaos: vec![fault.parse().unwrap()],
        eras: Eras::Both,
        ..Options::default()
    };
    let error = Http::new(options("close-stdin")).serve().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "close-stdin is no fault of a server over HTTP"
    );
    let (pipe, _other) = tokio::io::duplex(64);
    let (reader, writer) = tokio::io::split(pipe);
    let error = switchboard_testkit::serve(reader, writer, options("redirect=302"))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "redirect=302 is no fault of a server over stdio"
    );
}
