//! Clocks, progress and giving up.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard::session::{CancelReason, Clock, Delivery, progress};
use switchboard::{CallError, CallOptions, Deadline};
use tokio::time::{Instant, timeout};

use crate::support::{
    self, Wire, call, legacy, legacy_options, legacy_with, raw, secs, spawn_call, text, text_of,
    within,
};

fn deadline(idle: u64, total: u64) -> CallOptions {
    let (idle, total) = (secs(idle), secs(total));
    CallOptions::default().deadline(Deadline { idle, total })
}

async fn progressed(wire: &mut Wire, request: &Value, reached: f64) {
    let token = &request["params"]["_meta"]["progressToken"];
    let params = json!({"progressToken": token, "progress": reached, "total": 100});
    wire.send(&json!({"method": "notifications/progress", "params": params}))
        .await;
}

#[tokio::test(start_paused = true)]
async fn silence_ends_a_call_after_its_idle_time() {
    let (session, mut server) = legacy(Wire::hold).await;
    let begun = Instant::now();
    let error = session
        .call_tool("x", None, deadline(5, 60))
        .await
        .unwrap_err();
    assert_eq!(begun.elapsed(), secs(5));
    match error {
        CallError::TimedOut {
            method,
            clock,
            after,
            delivery,
            ..
        } => {
            assert_eq!(method, "tools/call");
            assert_eq!((clock, after), (Clock::Idle, secs(5)));
            assert_eq!(delivery, Delivery::MaybeProcessed);
        }
        other => panic!("{other:?}"),
    }
    let request = server.heard().await;
    let notice = server.heard().await;
    assert_eq!(notice["method"], "notifications/cancelled");
    assert_eq!(notice["params"]["requestId"], request["id"]);
    assert!(notice["params"]["reason"].is_string());
}

#[tokio::test(start_paused = true)]
async fn progress_extends_the_idle_time_but_not_the_total() {
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        for n in 0..100 {
            progressed(&mut wire, &request, f64::from(n)).await;
            tokio::time::sleep(secs(4)).await;
        }
        wire.hold().await;
    })
    .await;
    let begun = Instant::now();
    let (shown, seen) = progress();
    let options = deadline(5, 30).progress(shown);
    let error = session.call_tool("x", None, options).await.unwrap_err();
    assert_eq!(begun.elapsed(), secs(30));
    assert!(
        matches!(
            error,
            CallError::TimedOut {
                clock: Clock::Total,
                ..
            }
        ),
        "{error:?}"
    );
    assert_eq!(seen.borrow().as_ref().unwrap().progress, 7.0);
    assert_eq!(seen.borrow().as_ref().unwrap().total, Some(100.0));
}

#[tokio::test(start_paused = true)]
async fn progress_that_does_not_grow_is_no_sign_of_life() {
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        for reached in [3.0, 3.0, 2.0, -1.0] {
            progressed(&mut wire, &request, reached).await;
            tokio::time::sleep(secs(2)).await;
        }
        wire.hold().await;
    })
    .await;
    let begun = Instant::now();
    let (shown, seen) = progress();
    let options = deadline(5, 60).progress(shown);
    session.call_tool("x", None, options).await.unwrap_err();
    assert_eq!(begun.elapsed(), secs(5));
    assert_eq!(seen.borrow().as_ref().unwrap().progress, 3.0);
    assert!(session.counts().odd_progress >= 2);
}

#[tokio::test(start_paused = true)]
async fn progress_of_nobody_s_call_is_counted() {
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        for token in [json!(9999), json!("x"), json!(null), json!({})] {
            let params = json!({"progressToken": token, "progress": 1});
            wire.send(&json!({"method": "notifications/progress", "params": params}))
                .await;
        }
        wire.send(&json!({"method": "notifications/progress"}))
            .await;
        wire.answer(&request, &text("x")).await;
        wire.hold().await;
    })
    .await;
    call(&session, "x").await.unwrap();
    assert_eq!(session.counts().odd_progress, 5);
}

#[tokio::test(start_paused = true)]
async fn a_call_without_any_limit_may_progress() {
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        progressed(&mut wire, &request, 1.0).await;
        tokio::time::sleep(secs(3600)).await;
        wire.answer(&request, &text("at last")).await;
        wire.hold().await;
    })
    .await;
    let options = CallOptions::default().deadline(Deadline::within(Duration::MAX));
    let result = session.call_tool("x", None, options).await.unwrap();
    assert_eq!(text_of(&result), "at last");
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_is_cancelled_on_the_wire_with_its_reason() {
    let (session, mut server) = legacy(Wire::hold).await;
    let reason = CancelReason::new("first thoughts");
    let options = CallOptions::default().reason(&reason);
    let mut running = Box::pin(session.call_tool("x", None, options));
    timeout(secs(1), &mut running).await.unwrap_err();
    reason.set("second thoughts");
    drop(running);
    let request = server.heard().await;
    assert_eq!(
        server.heard().await,
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": {"requestId": request["id"], "reason": "second thoughts"}})
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_call_was_given_up_is_ignored() {
    let (session, mut server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.expect("notifications/cancelled").await;
        wire.answer(&request, &text("late")).await;
        wire.echo_names().await;
    })
    .await;
    let running = spawn_call(&session, "x");
    server.heard().await;
    running.abort();
    server.heard().await;
    assert_eq!(text_of(&call(&session, "y").await.unwrap()), "y");
    assert_eq!(session.counts().unmatched_answers, 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_answered_is_not_cancelled_when_it_is_dropped() {
    let (session, mut server) = legacy(Wire::echo_names).await;
    for _ in 0..3 {
        call(&session, "x").await.unwrap();
    }
    session.close().await;
    assert_eq!(server.methods_so_far(), ["tools/call"; 3]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_left_is_taken_back_when_it_is_dropped() {
    let (session, mut server) = legacy(|wire| async move {
        // Nothing is read until the pipe is full and the second call was dropped.
        tokio::time::sleep(secs(60)).await;
        wire.echo_names().await;
    })
    .await;
    let big = raw(&json!({"x": "y".repeat(200_000)}));
    let sender = session.clone();
    let filling = tokio::spawn(async move {
        let options = deadline(100, 100);
        sender.call_tool("big", Some(big), options).await
    });
    tokio::time::sleep(secs(1)).await;
    let stuck = session.call_tool("stuck", None, CallOptions::default());
    timeout(secs(1), stuck).await.unwrap_err();
    assert_eq!(text_of(&filling.await.unwrap().unwrap()), "big");
    assert_eq!(text_of(&call(&session, "next").await.unwrap()), "next");
    let tools: Vec<Value> = server.heard_so_far();
    let tools: Vec<_> = tools.iter().map(|m| m["params"]["name"].clone()).collect();
    assert_eq!(tools, ["big", "next"]);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_left_says_so_when_its_time_runs_out() {
    let (session, _server) = legacy(|wire| async move {
        std::future::pending::<()>().await;
        drop(wire);
    })
    .await;
    let big = raw(&json!({"x": "y".repeat(200_000)}));
    let (filling, stuck) = tokio::join!(
        session.call_tool("big", Some(big), deadline(5, 5)),
        session.call_tool("stuck", None, deadline(5, 5)),
    );
    assert_eq!(filling.unwrap_err().delivery(), Delivery::MaybeProcessed);
    assert_eq!(stuck.unwrap_err().delivery(), Delivery::NeverSent);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_never_left_says_so_when_the_connection_closes() {
    let (session, _server) = legacy(|wire| async move {
        tokio::time::sleep(secs(5)).await;
        drop(wire);
    })
    .await;
    let big = raw(&json!({"x": "y".repeat(200_000)}));
    let (filling, stuck) = tokio::join!(
        session.call_tool("big", Some(big), CallOptions::default()),
        session.call_tool("stuck", None, CallOptions::default()),
    );
    assert_eq!(filling.unwrap_err().delivery(), Delivery::MaybeProcessed);
    assert_eq!(stuck.unwrap_err().delivery(), Delivery::NeverSent);
    let later = call(&session, "later").await.unwrap_err();
    assert_eq!(later.delivery(), Delivery::NeverSent);
}

#[tokio::test(start_paused = true)]
async fn the_sixty_fifth_call_waits_for_its_turn() {
    let (session, mut server) = legacy(|mut wire| async move {
        let mut first = Vec::new();
        for _ in 0..64 {
            first.push(wire.expect("tools/call").await);
        }
        let next = timeout(secs(5), wire.read()).await;
        assert!(next.is_err(), "{next:?}");
        wire.answer(&first[0], &text("x")).await;
        wire.expect("tools/call").await;
        wire.hold().await;
    })
    .await;
    let begun = Instant::now();
    let calls: Vec<_> = (0..65).map(|_| spawn_call(&session, "x")).collect();
    for _ in 0..65 {
        server.heard().await;
    }
    assert_eq!(begun.elapsed(), secs(5));
    drop(calls);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_its_turn_in_vain_was_never_sent() {
    let options = legacy_options()
        .timeouts(within(10))
        .limits(support::limited(|limits| limits.in_flight = 1));
    let (session, mut server) = legacy_with(options, Wire::hold).await;
    let first = session.call_tool("first", None, deadline(60, 60));
    let second = async {
        let begun = Instant::now();
        let error = call(&session, "second").await.unwrap_err();
        assert_eq!(begun.elapsed(), secs(10));
        error
    };
    let (_, second) = tokio::join!(first, second);
    assert!(second.is_timeout());
    assert_eq!(second.delivery(), Delivery::NeverSent);
    assert_eq!(
        server.methods_so_far(),
        ["tools/call", "notifications/cancelled"]
    );
}

#[tokio::test(start_paused = true)]
async fn many_calls_with_many_clocks_end_each_in_its_own_time() {
    let (session, _server) = legacy(Wire::hold).await;
    let calls = (1..=64_u64).rev().map(|n| {
        let session = session.clone();
        tokio::spawn(async move {
            let begun = Instant::now();
            session
                .call_tool("x", None, deadline(n, 100))
                .await
                .unwrap_err();
            assert_eq!(begun.elapsed(), secs(n));
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_has_come_counts_before_a_clock_fires() {
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        tokio::time::sleep(secs(5)).await;
        // The clock has woken its task by now, and the runtime sees this answer one turn later: as it does in a
        // host that was stopped.
        tokio::task::yield_now().await;
        wire.answer(&request, &text("in time")).await;
        wire.hold().await;
    })
    .await;
    let result = session.call_tool("x", None, deadline(5, 60)).await;
    assert_eq!(text_of(&result.unwrap()), "in time");
}
