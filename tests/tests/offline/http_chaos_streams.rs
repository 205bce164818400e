//! The faults of the HTTP group that are about streams.

use std::time::Duration;

use switchboard::protocol::Era;
use switchboard::session::Clock;
use switchboard::transport::{FaultKind, Sent};
use switchboard::{CallError, CallOptions, Deadline};

use crate::support::http::{
    self, SOON, add, connect, echo, fails_in, fault, is, is_borne, is_borne_in,
};
use crate::support::http::{calls_of, server_of, struck, timed_out, verb_of};

#[tokio::test]
async fn a_stream_that_ends_without_the_answer_is_told_at_once() {
    let expected = is!(FaultKind::NoAnswer { .. }, Maybe);
    let struck = fails_in(Era::Modern, "sse-no-final=echo", expected).await;
    assert!(struck.took < SOON, "{:?}", struck.took);
}

#[tokio::test]
async fn a_legacy_stream_that_ends_for_good_ends_at_the_deadline() {
    let struck = struck(Era::Legacy, "sse-no-final=echo").await;
    let error = struck.outcome.unwrap_err();
    assert!(
        matches!(
            fault(&error),
            Some((FaultKind::NoAnswer { .. }, Sent::Maybe))
        ) || timed_out(&error),
        "{error:?}"
    );
    assert_eq!(calls_of(&struck.server, "echo"), 1);
}

#[tokio::test]
async fn a_dropped_stream_is_resumed_where_that_is_known() {
    let struck = is_borne_in(Era::Legacy, "sse-drop=echo").await;
    assert_eq!(calls_of(&struck.server, "echo"), 1);
    let resumed = verb_of(&struck.server, "GET").into_iter();
    let resumed: Vec<_> = resumed
        .filter_map(|get| get.header("last-event-id").map(str::to_owned))
        .collect();
    assert_eq!(resumed.len(), 1, "{resumed:?}");
    fails_in(Era::Modern, "sse-drop=echo", |error| {
        matches!(
            fault(error),
            Some((
                FaultKind::Interrupted { .. } | FaultKind::NoAnswer { .. },
                Sent::Maybe
            ))
        )
    })
    .await;
}

#[tokio::test]
async fn streams_that_flap_are_resumed_until_they_hold() {
    let server = server_of(Era::Legacy, &["sse-flap=4"]).await;
    let session = connect(&server, Era::Legacy).await;
    assert_eq!(echo(&session).await.unwrap(), "hello");
    assert_eq!(calls_of(&server, "echo"), 1);
    is_borne_in(Era::Modern, "sse-flap").await;
}

#[tokio::test]
async fn streams_that_flap_for_ever_cost_their_calls_and_no_more() {
    let server = server_of(Era::Legacy, &["sse-flap"]).await;
    let session = connect(&server, Era::Legacy).await;
    let error = echo(&session).await.unwrap_err();
    assert!(timed_out(&error), "{error:?}");
    session.list_tools().await.unwrap();
    assert_eq!(calls_of(&server, "echo"), 1);
}

#[tokio::test]
async fn the_wait_that_a_stream_asks_for_is_kept_within_bounds() {
    // Nobody comes back at once.
    let struck = is_borne_in(Era::Legacy, "sse-retry=0@echo").await;
    assert!(
        struck.took >= Duration::from_millis(100),
        "{:?}",
        struck.took
    );
    let struck = is_borne_in(Era::Legacy, "sse-retry=700@echo").await;
    assert!(
        struck.took >= Duration::from_millis(700),
        "{:?}",
        struck.took
    );
    assert_eq!(calls_of(&struck.server, "echo"), 1);
    // And a wait that is longer than the call's is over with it.
    fails_in(Era::Legacy, "sse-retry=1000000000@echo", timed_out).await;
    fails_in(
        Era::Modern,
        "sse-retry=0@echo",
        is!(FaultKind::NoAnswer { .. }, Maybe),
    )
    .await;
}

#[tokio::test]
async fn comments_are_no_progress() {
    let server = server_of(Era::Modern, &["sse-comment-flood=1000000000@echo"]).await;
    let session = connect(&server, Era::Modern).await;
    add(&session).await.unwrap();
    let begun = tokio::time::Instant::now();
    let deadline = Deadline {
        idle: Duration::from_secs(1),
        total: Duration::from_secs(60),
    };
    let options = CallOptions::default().deadline(deadline);
    let error = http::call_with(
        &session,
        "echo",
        serde_json::json!({"message": "hello"}),
        options,
    )
    .await;
    let error = error.unwrap_err();
    assert!(
        matches!(
            error,
            CallError::TimedOut {
                clock: Clock::Idle,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(
        begun.elapsed() < deadline.total / 2,
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(add(&session).await.unwrap(), "3");
}

#[tokio::test]
async fn a_few_comments_are_borne() {
    is_borne("sse-comment-flood=1000@echo").await;
}
