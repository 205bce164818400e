//! Lines that are not as they should be.

use switchboard::CallError;
use switchboard::spec::Protocol;

use crate::chaos_support::{ERAS, add, echo, fails, is_borne, open, struck};

#[tokio::test(start_paused = true)]
async fn what_is_odd_but_harmless_is_borne() {
    for fault in [
        "noise-before",
        "noise-before=100",
        "noise-between",
        "bom",
        "crlf",
        "blank-lines",
        "split-every-byte",
        "nul-bytes",
        "batch=echo",
    ] {
        is_borne(fault).await;
    }
}

#[tokio::test(start_paused = true)]
async fn noise_is_counted() {
    for protocol in ERAS {
        let (session, _) = struck("noise-before=7", protocol).await;
        assert_eq!(session.counts().noise_lines, 7);
        let (session, _) = struck("blank-lines=3", protocol).await;
        // The handshake, three answers, and the progress of the slow one.
        assert_eq!(session.counts().blank_lines, 15);
        let (session, _) = struck("nul-bytes", protocol).await;
        assert_eq!(session.counts().noise_lines, 5);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_utf_8_fails_its_call() {
    fails("invalid-utf8=echo", |error| {
        matches!(error, CallError::Malformed { .. })
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_with_more_on_its_line_fails_its_call() {
    fails("two-per-line=echo", |error| {
        matches!(error, CallError::Malformed { .. })
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_huge_answer_fails_its_call() {
    fails("huge-line=8@echo", |error| {
        matches!(
            error,
            CallError::TooLarge {
                limit_bytes: 1_048_576
            }
        )
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_huge_answer_comes_once() {
    let session = open("huge-line=2", Protocol::Modern).await;
    assert!(echo(&session).await.is_err());
    assert_eq!(echo(&session).await.unwrap(), "hello");
}

#[tokio::test(start_paused = true)]
async fn an_answer_nested_too_deep_fails_its_call() {
    for fault in ["deep=@echo", "deep=200@echo"] {
        fails(fault, |error| {
            matches!(error, CallError::TooDeep { limit: 128 })
        })
        .await;
    }
    for protocol in ERAS {
        let session = open("deep=200", protocol).await;
        assert!(echo(&session).await.is_err());
        assert_eq!(echo(&session).await.unwrap(), "hello");
    }
}

#[tokio::test(start_paused = true)]
async fn a_line_that_never_ends_costs_the_calls_their_deadline() {
    for protocol in ERAS {
        let session = open("never-newline=echo", protocol).await;
        assert_eq!(add(&session).await.unwrap(), "3");
        assert!(echo(&session).await.unwrap_err().is_timeout());
        assert!(add(&session).await.unwrap_err().is_timeout());
    }
}

#[tokio::test(start_paused = true)]
async fn keys_that_are_there_twice_fail_the_call() {
    fails("dup-keys=echo", |error| {
        matches!(error, CallError::Malformed { .. })
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn keys_in_another_case_are_no_answer() {
    fails("case-keys=echo", CallError::is_timeout).await;
}
