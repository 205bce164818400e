//! Answers as servers give them: late, twice, strange, and in any order.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard::CallError;
use switchboard::protocol::Content;
use switchboard::session::Delivery;

use crate::support::{self, call, legacy, legacy_with, spawn_call, text, text_of, within};

/// Calls a tool and has its answer written as `answer` says, given the id.
async fn answered(answer: fn(&Value) -> String) -> (Result<String, CallError>, u64) {
    let (session, _server) = legacy(move |mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.raw(answer(&request["id"])).await;
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &text("next")).await;
        wire.hold().await;
    })
    .await;
    let result = call(&session, "x").await;
    let next = call(&session, "y").await.unwrap();
    assert_eq!(text_of(&next), "next");
    let result = result.map(|result| result.raw().as_str().to_owned());
    (result, session.counts().malformed)
}

#[tokio::test(start_paused = true)]
async fn an_unknown_content_type_stands_beside_a_known_one() {
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        let hologram = json!({"type": "hologram", "beams": [1.0, 1e2]});
        let known = json!({"type": "text", "text": "seen"});
        wire.answer(&request, &json!({"content": [hologram, known]}))
            .await;
        wire.hold().await;
    })
    .await;
    let result = call(&session, "x").await.unwrap();
    let Content::Unknown(_) = &result.content()[0] else {
        panic!("{result:?}");
    };
    let raw = result.content()[0].raw().as_str();
    assert_eq!(raw, r#"{"type":"hologram","beams":[1.0,100.0]}"#);
    assert_eq!(result.content()[1].as_text(), Some("seen"));
}

#[tokio::test(start_paused = true)]
async fn unknown_members_survive_as_they_were_written() {
    const RESULT: &str =
        r#"{"zeta":1.0,"content":[],"alpha":{"b":1E+2,"a":"\u0041"},"isError":false}"#;
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        let id = &request["id"];
        wire.raw(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{RESULT}}}\n"
        ))
        .await;
        wire.hold().await;
    })
    .await;
    let result = call(&session, "x").await.unwrap();
    assert_eq!(result.raw().as_str(), RESULT);
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_a_foreign_id_is_counted_and_the_call_times_out() {
    for foreign in ["99", "\"1\"", "\"2\"", "\"3\""] {
        let options = support::legacy_options().timeouts(within(5));
        let (session, _server) = legacy_with(options, move |mut wire| async move {
            wire.expect("tools/call").await;
            let result = text("x");
            wire.raw(format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{foreign},\"result\":{result}}}\n"
            ))
            .await;
            wire.hold().await;
        })
        .await;
        let error = call(&session, "x").await.unwrap_err();
        assert!(error.is_timeout(), "{error}");
        assert_eq!(error.delivery(), Delivery::MaybeProcessed);
        assert_eq!(session.counts().unmatched_answers, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_given_twice_counts_once() {
    let (session, _server) = legacy(|mut wire| async move {
        while let Some(request) = wire.read().await {
            wire.answer(&request, &text("one")).await;
            wire.answer(&request, &text("two")).await;
        }
    })
    .await;
    for _ in 0..3 {
        assert_eq!(text_of(&call(&session, "x").await.unwrap()), "one");
    }
    session.close().await;
    assert_eq!(session.counts().unmatched_answers, 3);
}

#[tokio::test(start_paused = true)]
async fn replies_may_come_in_any_order() {
    let (session, _server) = legacy(|mut wire| async move {
        let mut requests = Vec::new();
        for _ in 0..50 {
            requests.push(wire.expect("tools/call").await);
        }
        for request in requests.iter().rev() {
            let name = request["params"]["name"].as_str().unwrap();
            wire.answer(request, &text(name)).await;
        }
        wire.hold().await;
    })
    .await;
    let calls: Vec<_> = (0..50)
        .map(|n| spawn_call(&session, &format!("t{n}")))
        .collect();
    for (n, call) in calls.into_iter().enumerate() {
        let result = call.await.unwrap().unwrap();
        assert_eq!(text_of(&result), format!("t{n}"));
    }
    assert_eq!(session.counts().unmatched_answers, 0);
}

#[tokio::test(start_paused = true)]
async fn both_a_result_and_an_error_are_malformed() {
    let both = |id: &Value| {
        let error = json!({"code": 1, "message": ""});
        format!("{}\n", json!({"id": id, "result": {}, "error": error}))
    };
    let (result, malformed) = answered(both).await;
    assert!(
        matches!(result, Err(CallError::Malformed { .. })),
        "{result:?}"
    );
    assert_eq!(malformed, 1);
}

#[tokio::test(start_paused = true)]
async fn neither_a_result_nor_an_error_is_malformed() {
    let (result, malformed) = answered(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}}}\n")).await;
    assert!(
        matches!(result, Err(CallError::Malformed { .. })),
        "{result:?}"
    );
    assert_eq!(malformed, 1);
}

#[tokio::test(start_paused = true)]
async fn a_result_of_the_wrong_shape_is_unfit() {
    for result in ["7", "null", "[]", "{\"content\":7}"] {
        let (session, _server) = legacy(move |mut wire| async move {
            while let Some(request) = wire.read().await {
                let id = &request["id"];
                wire.raw(format!("{{\"id\":{id},\"result\":{result}}}\n"))
                    .await;
            }
        })
        .await;
        let error = call(&session, "x").await.unwrap_err();
        assert!(
            matches!(error, CallError::Unfit { .. }),
            "{result}: {error:?}"
        );
        assert_eq!(error.delivery(), Delivery::Answered);
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_without_an_id_answers_the_only_call() {
    let (result, _) = answered(|_| {
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"what?\"}}\n".to_owned()
    })
    .await;
    assert_eq!(result.unwrap_err().rpc().unwrap().code(), -32700);
}

#[tokio::test(start_paused = true)]
async fn an_error_without_an_id_answers_nobody_among_several() {
    let (session, mut server) = legacy(|mut wire| async move {
        let one = wire.expect("tools/call").await;
        let two = wire.expect("tools/call").await;
        wire.send(&json!({"id": null, "error": {"code": 1, "message": ""}}))
            .await;
        wire.answer(&one, &text("one")).await;
        wire.answer(&two, &text("two")).await;
        wire.hold().await;
    })
    .await;
    let one = spawn_call(&session, "a");
    server.heard().await;
    let two = spawn_call(&session, "b");
    assert_eq!(text_of(&one.await.unwrap().unwrap()), "one");
    assert_eq!(text_of(&two.await.unwrap().unwrap()), "two");
    assert_eq!(session.counts().unmatched_answers, 1);
}

#[tokio::test(start_paused = true)]
async fn a_lone_surrogate_that_nobody_reads_survives() {
    let (result, _) =
        answered(|id| format!("{{\"id\":{id},\"result\":{{\"content\":[],\"x\":\"\\ud800\"}}}}\n"))
            .await;
    assert_eq!(result.unwrap(), r#"{"content":[],"x":"\ud800"}"#);
}

#[tokio::test(start_paused = true)]
async fn a_lone_surrogate_in_the_text_costs_at_most_its_own_call() {
    let (result, _) = answered(|id| {
        let content = r#"[{"type":"text","text":"\ud800"}]"#;
        format!("{{\"id\":{id},\"result\":{{\"content\":{content}}}}}\n")
    })
    .await;
    // Rust has no text for it; the block may survive raw.
    assert!(
        !matches!(result, Err(CallError::Malformed { .. })),
        "{result:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_number_beyond_every_float_survives() {
    let (session, _server) = legacy(|mut wire| async move {
        while let Some(request) = wire.read().await {
            let id = &request["id"];
            wire.raw(format!(
                "{{\"id\":{id},\"result\":{{\"content\":[],\"x\":1e400}}}}\n"
            ))
            .await;
        }
    })
    .await;
    let result = call(&session, "x").await.unwrap();
    assert_eq!(result.raw().member("x").unwrap().as_str(), "1e400");
}

#[tokio::test(start_paused = true)]
async fn a_result_too_deep_fails_its_call_and_no_other() {
    for depth in [200, 100_000] {
        let (session, _server) = legacy(move |mut wire| async move {
            let request = wire.expect("tools/call").await;
            let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let id = &request["id"];
            wire.raw(format!(
                "{{\"id\":{id},\"result\":{{\"content\":[],\"x\":{deep}}}}}\n"
            ))
            .await;
            wire.echo_names().await;
        })
        .await;
        let error = call(&session, "x").await.unwrap_err();
        assert!(
            matches!(error, CallError::TooDeep { limit: 128 }),
            "{error:?}"
        );
        assert_eq!(text_of(&call(&session, "y").await.unwrap()), "y");
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_that_is_nested_deep_stops_the_reading() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let lines = [
        deep.clone(),
        format!("{{\"method\":\"notifications/message\",\"params\":{deep}}}"),
        format!("{{\"method\":\"notifications/progress\",\"params\":{deep}}}"),
        format!("{{\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{deep}}}}}"),
        format!("{{\"id\":7,\"method\":\"elicitation/create\",\"params\":{{\"x\":{deep}}}}}"),
        format!("{{\"id\":{deep},\"result\":{{}}}}"),
        format!("{{\"id\":null,\"error\":{deep}}}"),
        format!("{{\"id\":null,\"error\":{{\"code\":1,\"message\":\"\",\"data\":{deep}}}}}"),
    ];
    let (session, _server) = legacy(move |mut wire| {
        let lines = lines.clone();
        async move {
            for line in lines {
                wire.raw(format!("{line}\n")).await;
            }
            wire.echo_names().await;
        }
    })
    .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(text_of(&call(&session, "y").await.unwrap()), "y");
}

#[tokio::test(start_paused = true)]
async fn a_batch_of_answers_is_taken_apart() {
    let (session, mut server) = legacy(|mut wire| async move {
        let one = wire.expect("tools/call").await;
        let two = wire.expect("tools/call").await;
        let answer = |request: &Value, name| json!({"id": request["id"], "result": text(name)});
        let notice = json!({"method": "notifications/tools/list_changed"});
        wire.send(&json!([
            notice,
            7,
            answer(&two, "two"),
            [],
            answer(&one, "one")
        ]))
        .await;
        wire.hold().await;
    })
    .await;
    let one = spawn_call(&session, "a");
    server.heard().await;
    let two = spawn_call(&session, "b");
    assert_eq!(text_of(&one.await.unwrap().unwrap()), "one");
    assert_eq!(text_of(&two.await.unwrap().unwrap()), "two");
    assert_eq!(session.changes().borrow().tools, 1);
    assert_eq!(session.counts().malformed, 2);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_notices_before_an_answer_costs_only_the_oldest() {
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        for n in 0..100_000 {
            let notice = json!({"method": "notifications/message", "params": {"data": n}});
            wire.send(&notice).await;
        }
        wire.answer(&request, &text("after")).await;
        wire.hold().await;
    })
    .await;
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "after");
    assert_eq!(session.counts().dropped_notices, 100_000 - 1024);
    let first = session.announcement().await.unwrap().params.unwrap();
    let wanted = format!("{{\"data\":{}}}", 100_000 - 1024);
    assert_eq!(first.as_str(), wanted);
}
