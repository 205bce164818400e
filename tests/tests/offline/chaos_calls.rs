//! Calls that do not go as they should.

use std::time::Duration;

use serde_json::json;
use switchboard::protocol::Raw;
use switchboard::session::{CloseCause, Session};
use switchboard::spec::Protocol;
use switchboard::{CallError, CallOptions, Deadline};
use tokio::time::Instant;

use crate::chaos_support::{
    ERAS, add, echo, fails, is_borne, neighbour, open, options, server, struck,
};

fn closed_by(error: &CallError) -> Option<&CloseCause> {
    error.close_reason().map(|reason| &reason.cause)
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_waited_for_until_the_deadline() {
    is_borne("delay=2@echo").await;
    fails("delay=60@echo", CallError::is_timeout).await;
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_does_not_hold_up_the_neighbours() {
    let session = open("delay=3@echo", Protocol::Modern).await;
    let begin = Instant::now();
    let (late, ()) = tokio::join!(echo(&session), async {
        add(&session).await.unwrap();
        assert_eq!(begin.elapsed(), Duration::ZERO);
    });
    assert_eq!(late.unwrap(), "hello");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_fails_every_call_in_flight() {
    for protocol in ERAS {
        for fault in ["die-on-call=echo", "close-stdout=echo"] {
            let session = open(fault, protocol).await;
            assert_eq!(add(&session).await.unwrap(), "3");
            let neighbour = neighbour(&session).await;
            let begin = Instant::now();
            let error = echo(&session).await.unwrap_err();
            assert_eq!(
                closed_by(&error),
                Some(&CloseCause::OutputClosed),
                "{fault}"
            );
            let error = neighbour.await.unwrap().unwrap_err();
            assert_eq!(
                closed_by(&error),
                Some(&CloseCause::OutputClosed),
                "{fault}"
            );
            assert!(begin.elapsed() < Duration::from_secs(1), "{fault}");
            assert!(closed_by(&add(&session).await.unwrap_err()).is_some());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_between_calls_has_answered_them() {
    for protocol in ERAS {
        let session = open("die-after-2", protocol).await;
        assert_eq!(echo(&session).await.unwrap(), "hello");
        assert_eq!(echo(&session).await.unwrap(), "hello");
        assert!(closed_by(&echo(&session).await.unwrap_err()).is_some());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_its_input_fails_the_next_call() {
    for protocol in ERAS {
        let session = open("close-stdin=echo", protocol).await;
        assert_eq!(echo(&session).await.unwrap(), "hello");
        let error = add(&session).await.unwrap_err();
        let cause = closed_by(&error);
        assert!(
            matches!(cause, Some(CloseCause::WriteFailed(_))),
            "{error:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_stops_reading_costs_the_calls_their_deadline() {
    for protocol in ERAS {
        let session = open("stop-reading=echo", protocol).await;
        let neighbour = neighbour(&session).await;
        assert_eq!(echo(&session).await.unwrap(), "hello");
        assert!(neighbour.await.unwrap().is_ok());
        assert!(add(&session).await.unwrap_err().is_timeout());
        // More than the pipe holds: not even sent, and still in time.
        let long = json!({"message": "x".repeat(500_000)});
        let long = Some(Raw::of(&long).unwrap());
        let calling = session.call_tool("echo", long, CallOptions::default());
        assert!(calling.await.unwrap_err().is_timeout());
    }
}

#[tokio::test(start_paused = true)]
async fn progress_for_ever_ends_at_the_total_deadline() {
    for protocol in ERAS {
        let session = open("progress-forever=@echo", protocol).await;
        let neighbour = neighbour(&session).await;
        let deadline = Deadline {
            idle: Duration::from_secs(1),
            total: Duration::from_secs(20),
        };
        let begin = Instant::now();
        let arguments = Some(Raw::of(&json!({"message": "hello"})).unwrap());
        let call = CallOptions::default().deadline(deadline);
        let error = session
            .call_tool("echo", arguments, call)
            .await
            .unwrap_err();
        assert!(error.is_timeout());
        assert_eq!(begin.elapsed(), Duration::from_secs(20));
        assert!(neighbour.await.unwrap().is_ok());
        assert_eq!(add(&session).await.unwrap(), "3");
    }
}

#[tokio::test(start_paused = true)]
async fn progress_that_goes_backwards_is_counted() {
    is_borne("progress-backwards=echo").await;
    for protocol in ERAS {
        let (session, _) = struck("progress-backwards=echo", protocol).await;
        assert_eq!(session.counts().odd_progress, 2);
    }
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_logs_is_borne() {
    is_borne("log-flood=20000@echo").await;
}

#[tokio::test(start_paused = true)]
async fn a_big_result_is_taken_up_to_the_limit() {
    for protocol in ERAS {
        let mut limits = switchboard::Limits::default();
        limits.message_bytes = 4 * 1024 * 1024;
        let options = options(protocol).limits(limits);
        let session = Session::connect(&server(&["big-result=3@echo"]), options)
            .await
            .unwrap();
        assert_eq!(echo(&session).await.unwrap().len(), 3 * 1024 * 1024);
        assert_eq!(add(&session).await.unwrap(), "3");
    }
    fails("big-result=3@echo", |error| {
        matches!(error, CallError::TooLarge { .. })
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn structured_content_that_does_not_fit_is_left_to_whoever_knows_the_schema() {
    for protocol in ERAS {
        let session = open("structured-mismatch=add", protocol).await;
        assert_eq!(add(&session).await.unwrap(), "3");
        assert_eq!(echo(&session).await.unwrap(), "hello");
    }
}

#[tokio::test(start_paused = true)]
async fn questions_without_an_end_fail_the_call() {
    let (_session, outcome) = struck("input-required-forever=echo", Protocol::Modern).await;
    let error = outcome.unwrap_err();
    assert!(
        matches!(error, CallError::TooManyRounds { limit: 10 }),
        "{error:?}"
    );
    let (_session, outcome) = struck("input-required-forever=echo", Protocol::Legacy).await;
    assert!(outcome.unwrap_err().is_timeout());
}
