//! Calls that a modern server answers with questions first.

use serde_json::{Value, json};
use switchboard::session::{Delivery, Refusal};
use switchboard::{CallError, CallOptions, Deadline, SessionOptions};
use tokio::time::{Instant, timeout};

use crate::support::person::Person;
use crate::support::{self, call, modern, modern_options, modern_with, secs, spawn_call, text_of};

fn with(person: &Person) -> SessionOptions {
    modern_options().respond(person.clone())
}

fn questions(keys: &[&str], state: &Value) -> Value {
    let params =
        json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
    let question = json!({"method": "elicitation/create", "params": params});
    let asked: serde_json::Map<String, Value> = keys
        .iter()
        .map(|key| ((*key).to_owned(), question.clone()))
        .collect();
    let mut result = json!({"resultType": "input_required"});
    if !keys.is_empty() {
        result["inputRequests"] = asked.into();
    }
    if !state.is_null() {
        result["requestState"] = state.clone();
    }
    result
}

fn done() -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": "done"}]})
}

#[tokio::test(start_paused = true)]
async fn a_call_is_repeated_with_the_answers_of_the_round_and_the_state() {
    let person = Person::willing();
    let (session, mut server) = modern_with(with(&person), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &questions(&["a", "b"], &json!("one")))
            .await;
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &questions(&["c"], &json!("two")))
            .await;
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &done()).await;
        wire.hold().await;
    })
    .await;
    let arguments = Some(support::raw(&json!({"k": 1})));
    let options = CallOptions::default();
    let result = session.call_tool("x", arguments, options).await.unwrap();
    assert_eq!(text_of(&result), "done");
    let heard = server.heard_so_far();
    let yes = json!({"action": "accept", "content": {"name": "Ada"}});
    assert!(heard[0]["params"].get("inputResponses").is_none());
    assert_eq!(
        heard[1]["params"]["inputResponses"],
        json!({"a": yes, "b": yes})
    );
    assert_eq!(heard[1]["params"]["requestState"], "one");
    assert_eq!(heard[2]["params"]["inputResponses"], json!({"c": yes}));
    assert_eq!(heard[2]["params"]["requestState"], "two");
    for request in &heard {
        assert_eq!(request["params"]["arguments"], json!({"k": 1}));
        assert_eq!(request["params"]["name"], "x");
        assert!(request["params"]["_meta"].is_object());
    }
    assert_ne!(heard[0]["id"], heard[1]["id"]);
    assert_ne!(heard[1]["id"], heard[2]["id"]);
}

#[tokio::test(start_paused = true)]
async fn the_state_is_sent_back_byte_for_byte() {
    use tokio::io::AsyncBufReadExt;
    const STATE: &str = r#""\u0041\/ \u00e9\ud83d\ude00 1.0""#;
    let person = Person::willing();
    let (session, _server) = modern_with(with(&person), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        let id = &request["id"];
        let result = format!(r#"{{"resultType":"input_required","requestState":{STATE}}}"#);
        wire.raw(format!("{{\"id\":{id},\"result\":{result}}}\n"))
            .await;
        let mut line = String::new();
        wire.input.read_line(&mut line).await.unwrap();
        assert!(
            line.contains(&format!("\"requestState\":{STATE}")),
            "{line}"
        );
        let request: Value = serde_json::from_str(&line).unwrap();
        wire.answer(&request, &done()).await;
        wire.hold().await;
    })
    .await;
    call(&session, "x").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_round_that_asks_nothing_is_repeated_with_the_state_only() {
    let (session, mut server) = modern(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &questions(&[], &json!("s"))).await;
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &done()).await;
        wire.hold().await;
    })
    .await;
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "done");
    let heard = server.heard_so_far();
    assert_eq!(heard[1]["params"]["requestState"], "s");
    assert!(heard[1]["params"].get("inputResponses").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_state_that_is_not_repeated_by_the_server_is_not_repeated_by_us() {
    let person = Person::willing();
    let (session, mut server) = modern_with(with(&person), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &questions(&["a"], &json!("s"))).await;
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &questions(&["b"], &Value::Null))
            .await;
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &done()).await;
        wire.hold().await;
    })
    .await;
    call(&session, "x").await.unwrap();
    let heard = server.heard_so_far();
    assert!(heard[2]["params"].get("requestState").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_stops_asking_is_cut_off() {
    let person = Person::willing();
    let (session, mut server) = modern_with(with(&person), |mut wire| async move {
        while let Some(request) = wire.read().await {
            wire.answer(&request, &questions(&["a"], &Value::Null))
                .await;
        }
    })
    .await;
    let error = call(&session, "x").await.unwrap_err();
    assert!(
        matches!(error, CallError::TooManyRounds { limit: 10 }),
        "{error}"
    );
    assert_eq!(person.asked(), 10);
    session.close().await;
    assert_eq!(server.heard_so_far().len(), 11);
}

#[tokio::test(start_paused = true)]
async fn the_clock_of_a_call_stands_still_while_a_person_answers() {
    let person = Person::willing().after(secs(3600));
    let (session, _server) = modern_with(with(&person), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        tokio::time::sleep(secs(4)).await;
        wire.answer(&request, &questions(&["a"], &Value::Null))
            .await;
        wire.hold().await;
    })
    .await;
    let begun = Instant::now();
    let options = CallOptions::default().deadline(Deadline::within(secs(10)));
    let error = session.call_tool("x", None, options).await.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(begun.elapsed(), secs(4 + 3600 + 6));
}

#[tokio::test(start_paused = true)]
async fn further_rounds_do_not_extend_the_total_time() {
    let person = Person::willing();
    let (session, _server) = modern_with(with(&person), |mut wire| async move {
        while let Some(request) = wire.read().await {
            tokio::time::sleep(secs(4)).await;
            wire.answer(&request, &questions(&["a"], &Value::Null))
                .await;
        }
    })
    .await;
    let begun = Instant::now();
    let deadline = Deadline {
        idle: secs(5),
        total: secs(10),
    };
    let options = CallOptions::default().deadline(deadline);
    let error = session.call_tool("x", None, options).await.unwrap_err();
    assert!(error.is_timeout(), "{error}");
    assert_eq!(begun.elapsed(), secs(10));
}

#[tokio::test(start_paused = true)]
async fn a_person_s_no_is_an_answer() {
    let person = Person::saying(Err(Refusal::ByThePerson));
    let (session, mut server) = modern_with(with(&person), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &questions(&["a"], &Value::Null))
            .await;
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &done()).await;
        wire.hold().await;
    })
    .await;
    call(&session, "x").await.unwrap();
    let answers = &server.heard_so_far()[1]["params"]["inputResponses"];
    assert_eq!(*answers, json!({"a": {"action": "decline"}}));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_fails_the_call_and_no_other() {
    let (session, _server) = modern(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &questions(&["a"], &Value::Null))
            .await;
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &done()).await;
        wire.hold().await;
    })
    .await;
    match call(&session, "x").await.unwrap_err() {
        CallError::InputRefused { method, why } => {
            assert_eq!(method, "elicitation/create");
            assert_eq!(why, Refusal::NotAvailable);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(text_of(&call(&session, "y").await.unwrap()), "done");
}

#[tokio::test(start_paused = true)]
async fn a_question_is_withdrawn_when_the_connection_closes() {
    let person = Person::willing().after(secs(3600));
    let (session, _server) = modern_with(with(&person), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &questions(&["a"], &Value::Null))
            .await;
        tokio::time::sleep(secs(5)).await;
    })
    .await;
    let begun = Instant::now();
    let error = call(&session, "x").await.unwrap_err();
    assert_eq!(begun.elapsed(), secs(5));
    assert!(error.close_reason().is_some(), "{error:?}");
    assert_eq!(person.withdrawn(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_had_a_round_was_sent_whatever_becomes_of_the_next() {
    let person = Person::willing();
    let (session, _server) = modern_with(with(&person), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &questions(&[], &json!("s"))).await;
        // The connection closes before the call is repeated.
    })
    .await;
    let error = call(&session, "x").await.unwrap_err();
    assert!(error.close_reason().is_some(), "{error:?}");
    assert_eq!(error.delivery(), Delivery::MaybeProcessed);
}

#[tokio::test(start_paused = true)]
async fn a_question_is_withdrawn_when_its_call_is_dropped() {
    let person = Person::willing().after(secs(3600));
    let (session, mut server) = modern_with(with(&person), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &questions(&["a"], &Value::Null))
            .await;
        wire.hold().await;
    })
    .await;
    let options = CallOptions::default();
    timeout(secs(5), session.call_tool("x", None, options))
        .await
        .unwrap_err();
    assert_eq!(person.withdrawn(), 1);
    session.close().await;
    assert_eq!(server.methods_so_far(), ["tools/call"]);
}

#[tokio::test(start_paused = true)]
async fn other_calls_go_on_while_a_person_answers() {
    let person = Person::willing().after(secs(60));
    let (session, mut server) = modern_with(with(&person), |mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &questions(&["a"], &Value::Null))
            .await;
        while let Some(request) = wire.read().await {
            wire.answer(&request, &done()).await;
        }
    })
    .await;
    let begun = Instant::now();
    let asking = spawn_call(&session, "x");
    server.heard().await;
    call(&session, "y").await.unwrap();
    assert_eq!(begun.elapsed(), secs(0));
    asking.await.unwrap().unwrap();
    assert_eq!(begun.elapsed(), secs(60));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_was_not_agreed_on_is_refused() {
    let (session, _server) = modern(|mut wire| async move {
        while let Some(request) = wire.read().await {
            let task = json!({"resultType": "task", "taskId": "t", "status": "working"});
            wire.answer(&request, &task).await;
        }
    })
    .await;
    let error = call(&session, "x").await.unwrap_err();
    assert!(matches!(error, CallError::UnexpectedTask { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_kind_of_result_that_nobody_knows_is_unfit() {
    let (session, _server) = modern(|mut wire| async move {
        while let Some(request) = wire.read().await {
            wire.answer(&request, &json!({"resultType": "poem", "content": []}))
                .await;
        }
    })
    .await;
    let error = call(&session, "x").await.unwrap_err();
    assert!(matches!(error, CallError::Unfit { .. }), "{error}");
}
