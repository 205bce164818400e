//! What is on the wire around the messages, and messages that are too long.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard::session::{Delivery, Session};
use switchboard::{CallError, SessionOptions};
use tokio::time::Instant;

use crate::support::{
    self, Server, call, legacy, legacy_options, legacy_with, limited, spawn_call, text, text_of,
};

const LIMIT: usize = 10_000;

fn small() -> SessionOptions {
    legacy_options().limits(limited(|limits| limits.message_bytes = LIMIT))
}

/// A message of exactly this many bytes, the id first.
fn id_first(id: &Value, bytes: usize) -> String {
    let (head, tail) = (
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\""
        ),
        "\"}]}}",
    );
    let padding = "x".repeat(bytes - head.len() - tail.len());
    format!("{head}{padding}{tail}\n")
}

/// The same with the id last.
fn id_last(id: &Value, bytes: usize) -> String {
    let (head, tail) = (
        "{\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"",
        format!("\"}}]}},\"jsonrpc\":\"2.0\",\"id\":{id}}}"),
    );
    let padding = "x".repeat(bytes - head.len() - tail.len());
    format!("{head}{padding}{tail}\n")
}

fn is_too_large(result: &Result<impl std::fmt::Debug, CallError>) -> bool {
    matches!(result, Err(CallError::TooLarge { limit_bytes: LIMIT }))
}

#[tokio::test(start_paused = true)]
async fn noise_before_and_between_messages_is_counted_and_passed_over() {
    let mut server = Server::new(|mut wire| async move {
        wire.raw(b"\xef\xbb\xbf Starting...\r\n\r\n\n  \nnode:internal warning\n\0\0\n\xff\xfe\n")
            .await;
        let request = wire.expect("initialize").await;
        let id = &request["id"];
        let hello = support::wire::hello_legacy("2025-11-25");
        wire.raw(format!("\u{feff}{{\"id\":{id},\"result\":{hello}}}\r\n"))
            .await;
        while let Some(request) = wire.read().await {
            if request["method"] != "tools/call" {
                continue;
            }
            let id = &request["id"];
            wire.raw(b"[INFO] calling\n\"text\"\n{\"half\":\n\r\n")
                .await;
            // A log in JSON may have an id of its own, and it may be that of a call.
            wire.raw(format!("{{\"level\":30,\"id\":{id}}}\n")).await;
            wire.raw(format!(
                "  {{\"id\": {id} ,\"result\":{} }}  \r\n",
                text("ok")
            ))
            .await;
            wire.raw(b"{\"id\":7,\"result\":\"\xff\"}\n").await;
        }
    });
    let session = Session::connect(&server, legacy_options()).await.unwrap();
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "ok");
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "ok");
    session.close().await;
    let counts = session.counts();
    assert_eq!(counts.blank_lines, 3 + 2);
    assert_eq!(counts.noise_lines, 4 + 2 * 3);
    assert_eq!(counts.malformed, 2 + counts.invalid_utf8 - 1);
    assert!(counts.invalid_utf8 >= 2, "{counts:?}");
    let reason = session.close_reason().unwrap();
    assert_eq!(reason.noise[0], "Starting...");
    assert_eq!(reason.noise.len(), 5);
    assert_eq!(server.starts(), 1);
    server.heard_so_far();
}

#[tokio::test(start_paused = true)]
async fn a_message_may_come_one_byte_at_a_time() {
    let (session, _server) = legacy(|mut wire| async move {
        while let Some(request) = wire.read().await {
            let id = &request["id"];
            let line = format!("{{\"id\":{id},\"result\":{}}}\r\n", text("héllo"));
            for byte in line.bytes() {
                wire.raw([byte]).await;
                tokio::task::yield_now().await;
            }
        }
    })
    .await;
    for _ in 0..3 {
        assert_eq!(text_of(&call(&session, "x").await.unwrap()), "héllo");
    }
}

#[tokio::test(start_paused = true)]
async fn a_last_message_without_its_line_end_is_read() {
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        let id = &request["id"];
        wire.raw(format!("{{\"id\":{id},\"result\":{}}}", text("last")))
            .await;
    })
    .await;
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "last");
}

#[tokio::test(start_paused = true)]
async fn a_message_at_the_limit_passes_and_one_over_it_fails_its_call() {
    for (bytes, line_end, passes) in [
        (LIMIT - 1, "\n", true),
        (LIMIT, "\n", true),
        (LIMIT, "\r\n", true),
        (LIMIT + 1, "\n", false),
    ] {
        let (session, _server) = legacy_with(small(), move |mut wire| async move {
            let request = wire.expect("tools/call").await;
            let line = id_first(&request["id"], bytes);
            wire.raw(format!("{}{line_end}", line.trim_end())).await;
            wire.echo_names().await;
        })
        .await;
        let result = call(&session, "x").await;
        assert_eq!(result.is_ok(), passes, "{bytes} {line_end:?}");
        assert_eq!(is_too_large(&result), !passes);
        assert_eq!(text_of(&call(&session, "y").await.unwrap()), "y");
        assert_eq!(session.counts().over_limit, u64::from(!passes));
    }
}

/// Three calls in flight; the server writes `line`, given the id of the second, and answers the
/// others after `pause`.
async fn three_calls(
    line: fn(&Value) -> String,
    pause: Duration,
) -> Vec<Result<String, CallError>> {
    let (session, mut server) = legacy_with(small(), move |mut wire| async move {
        let mut requests = Vec::new();
        for _ in 0..3 {
            requests.push(wire.expect("tools/call").await);
        }
        wire.raw(line(&requests[1]["id"])).await;
        tokio::time::sleep(pause).await;
        wire.answer(&requests[0], &text("a")).await;
        wire.answer(&requests[2], &text("c")).await;
        wire.echo_names().await;
    })
    .await;
    let mut calls = Vec::new();
    for name in ["a", "b", "c"] {
        calls.push(spawn_call(&session, name));
        server.heard().await;
    }
    let mut results = Vec::new();
    for call in calls {
        results.push(
            call.await
                .unwrap()
                .map(|result| text_of(&result).to_owned()),
        );
    }
    assert_eq!(text_of(&call(&session, "next").await.unwrap()), "next");
    results
}

#[tokio::test(start_paused = true)]
async fn a_long_message_fails_the_call_that_its_start_names() {
    let results = three_calls(|id| id_first(id, 50_000), Duration::ZERO).await;
    assert_eq!(results[0].as_deref().unwrap(), "a");
    assert!(is_too_large(&results[1]), "{results:?}");
    assert_eq!(results[2].as_deref().unwrap(), "c");
    assert_eq!(
        results[1].as_ref().unwrap_err().delivery(),
        Delivery::MaybeProcessed
    );
}

#[tokio::test(start_paused = true)]
async fn a_long_message_fails_the_call_that_its_end_names() {
    let results = three_calls(|id| id_last(id, 50_000), Duration::ZERO).await;
    assert_eq!(results[0].as_deref().unwrap(), "a");
    assert!(is_too_large(&results[1]), "{results:?}");
    assert_eq!(results[2].as_deref().unwrap(), "c");
}

#[tokio::test(start_paused = true)]
async fn a_long_message_that_names_nobody_fails_all_in_flight() {
    let line = |_: &Value| format!("{{\"result\":[\"{}\"]}}\n", "x".repeat(50_000));
    let results = three_calls(line, Duration::ZERO).await;
    assert!(results.iter().all(is_too_large), "{results:?}");
}

#[tokio::test(start_paused = true)]
async fn a_long_message_without_an_end_fails_all_in_flight_after_a_while() {
    let begun = Instant::now();
    let line = |_: &Value| format!("{{\"result\":[\"{}\n", "x".repeat(50_000)).replace('\n', "");
    let (session, mut server) = legacy_with(small(), move |mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.expect("tools/call").await;
        wire.raw(line(&request["id"])).await;
        wire.hold().await;
    })
    .await;
    let one = spawn_call(&session, "a");
    server.heard().await;
    let two = call(&session, "b").await;
    assert!(is_too_large(&two), "{two:?}");
    assert!(is_too_large(&one.await.unwrap()));
    assert_eq!(begun.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_long_notice_fails_no_call() {
    let notice = |_: &Value| {
        let data = "x".repeat(50_000);
        format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "method": "notifications/message", "params": data})
        )
    };
    let results = three_calls(notice, Duration::from_secs(10)).await;
    assert_eq!(results[0].as_deref().unwrap(), "a");
    assert!(results[1].as_ref().unwrap_err().is_timeout(), "{results:?}");
    assert_eq!(results[2].as_deref().unwrap(), "c");
}

#[tokio::test(start_paused = true)]
async fn a_long_notice_does_not_fail_the_only_call() {
    let (session, _server) = legacy_with(small(), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        let data = "x".repeat(50_000);
        wire.send(&json!({"method": "notifications/message", "params": data}))
            .await;
        wire.answer(&request, &text("after")).await;
        wire.hold().await;
    })
    .await;
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "after");
    assert_eq!(session.counts().over_limit, 1);
}

#[tokio::test(start_paused = true)]
async fn a_long_request_of_the_server_is_not_taken_for_an_answer_of_that_id() {
    let request = |id: &Value| {
        let data = "x".repeat(50_000);
        format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": id, "method": "a/b", "params": data})
        )
    };
    let results = three_calls(request, Duration::from_secs(10)).await;
    assert_eq!(results[0].as_deref().unwrap(), "a");
    assert!(results[1].as_ref().unwrap_err().is_timeout(), "{results:?}");
    assert_eq!(results[2].as_deref().unwrap(), "c");
}

#[tokio::test(start_paused = true)]
async fn a_broken_request_of_the_server_is_not_taken_for_an_answer_of_that_id() {
    let broken = |id: &Value| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"a/b\",\"params\":{{\"x\":}}}}\n")
    };
    let results = three_calls(broken, Duration::from_secs(10)).await;
    assert!(results[1].as_ref().unwrap_err().is_timeout(), "{results:?}");
}

#[tokio::test(start_paused = true)]
async fn a_long_late_answer_to_a_call_given_up_fails_no_other() {
    for answer in [id_first, id_last] {
        let (session, mut server) = legacy_with(small(), move |mut wire| async move {
            let given_up = wire.expect("tools/call").await;
            wire.expect("notifications/cancelled").await;
            let one = wire.expect("tools/call").await;
            let two = wire.expect("tools/call").await;
            wire.raw(answer(&given_up["id"], 50_000)).await;
            tokio::time::sleep(Duration::from_secs(10)).await;
            wire.answer(&one, &text("one")).await;
            wire.answer(&two, &text("two")).await;
            wire.hold().await;
        })
        .await;
        let given_up = spawn_call(&session, "x");
        server.heard().await;
        given_up.abort();
        server.heard().await;
        let one = spawn_call(&session, "a");
        server.heard().await;
        let two = spawn_call(&session, "b");
        assert_eq!(text_of(&one.await.unwrap().unwrap()), "one");
        assert_eq!(text_of(&two.await.unwrap().unwrap()), "two");
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_late_answer_does_not_fail_the_only_call() {
    for answer in [id_first, id_last] {
        let (session, mut server) = legacy_with(small(), move |mut wire| async move {
            let given_up = wire.expect("tools/call").await;
            wire.expect("notifications/cancelled").await;
            let one = wire.expect("tools/call").await;
            wire.raw(answer(&given_up["id"], 50_000)).await;
            wire.answer(&one, &text("one")).await;
            wire.hold().await;
        })
        .await;
        let given_up = spawn_call(&session, "x");
        server.heard().await;
        given_up.abort();
        server.heard().await;
        assert_eq!(text_of(&call(&session, "a").await.unwrap()), "one");
    }
}
