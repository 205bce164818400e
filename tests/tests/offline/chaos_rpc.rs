//! Messages that are not as they should be.

use std::time::Duration;

use serde_json::json;
use switchboard::CallError;
use switchboard::spec::Protocol;

use crate::chaos_support::{ERAS, add, call, echo, fails, is_borne, neighbour, open, struck};

#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_times_out() {
    fails("no-reply=echo", CallError::is_timeout).await;
}

#[tokio::test(start_paused = true)]
async fn a_second_answer_is_counted_and_forgotten() {
    is_borne("reply-twice=echo").await;
    for protocol in ERAS {
        let (session, _) = struck("reply-twice=echo", protocol).await;
        assert_eq!(session.counts().unmatched_answers, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_under_another_id_belongs_to_nobody() {
    for fault in [
        "wrong-id=echo",
        "string-id=echo",
        "float-id=echo",
        "null-id=echo",
    ] {
        fails(fault, CallError::is_timeout).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_under_the_id_of_another_call_reaches_that_one() {
    for protocol in ERAS {
        let session = open("other-inflight-id=echo", protocol).await;
        // Nothing here tells the two apart; each call still ends once, and in time.
        let neighbour = neighbour(&session).await;
        assert!(echo(&session).await.unwrap_err().is_timeout());
        assert_eq!(neighbour.await.unwrap().unwrap(), "hello");
        assert_eq!(add(&session).await.unwrap(), "3");
        assert_eq!(session.counts().unmatched_answers, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_two_or_none_fails_its_call() {
    for fault in ["result-and-error=echo", "neither=echo"] {
        fails(fault, |error| matches!(error, CallError::Malformed { .. })).await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_a_cancelled_call_is_counted_and_forgotten() {
    for protocol in ERAS {
        let session = open("reply-to-cancelled", protocol).await;
        let slow = call(&session, "slow_operation", json!({"duration": 60}));
        let given_up = tokio::time::timeout(Duration::from_secs(1), slow).await;
        assert!(given_up.is_err());
        assert_eq!(add(&session).await.unwrap(), "3");
        assert_eq!(session.counts().unmatched_answers, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn answers_in_another_order_reach_their_calls() {
    is_borne("out-of-order").await;
    for protocol in ERAS {
        let session = open("out-of-order=1000000@echo", protocol).await;
        let (first, second) = tokio::join!(echo(&session), add(&session));
        assert_eq!(
            (first.unwrap().as_str(), second.unwrap().as_str()),
            ("hello", "3")
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_kind_of_result_that_does_not_exist_is_an_error_in_the_era_that_has_kinds() {
    let (_session, outcome) = struck("unknown-result-type=echo", Protocol::Modern).await;
    let error = outcome.unwrap_err();
    assert!(matches!(error, CallError::Unfit { .. }), "{error:?}");
    let (_session, outcome) = struck("unknown-result-type=echo", Protocol::Legacy).await;
    assert_eq!(outcome.unwrap(), "hello");
}

#[tokio::test(start_paused = true)]
async fn floods_of_requests_are_borne() {
    for fault in [
        "request-flood=@echo",
        "request-flood=20000@echo",
        "ping-flood=@echo",
        "ping-flood=20000@echo",
    ] {
        is_borne(fault).await;
    }
}
