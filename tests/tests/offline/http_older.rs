//! The older transport, HTTP+SSE of 2024-11-05, when things go wrong.

use serde_json::json;
use switchboard::protocol::Era;
use switchboard::session::{Delivery, Session};
use switchboard::transport::{FaultKind, LegacySse, Sent};
use switchboard_testkit::http::{Server, Transport};

use crate::support::http::{self, add, calls_of, echo, fault, limits, options, slow, verb_of};

async fn server(faults: &[&str]) -> Server {
    let server = http::faulty(faults).transport(Transport::Sse);
    server.serve().await.unwrap()
}

async fn connect(server: &Server) -> Session {
    let sse = LegacySse::new(&server.url()).unwrap().limits(&limits());
    Session::connect(&sse, options(Era::Legacy)).await.unwrap()
}

#[tokio::test]
async fn messages_go_where_the_stream_said_and_answers_come_by_it() {
    let server = server(&[]).await;
    let session = connect(&server).await;
    assert_eq!(session.negotiated().era(), Era::Legacy);
    assert_eq!(echo(&session).await.unwrap(), "hello");
    assert_eq!(verb_of(&server, "GET").len(), 1);
    let posts = verb_of(&server, "POST");
    assert!(posts.iter().all(|post| post.path.starts_with("/messages?")));
    session.close().await;
    // The end of the stream is the end of the session.
    server.until(|counts| counts.sessions == 0).await;
    assert_eq!(verb_of(&server, "DELETE").len(), 0);
}

#[tokio::test]
async fn a_message_that_is_refused_costs_its_call() {
    let server = server(&["status=500@echo"]).await;
    let session = connect(&server).await;
    let neighbour = slow(&session, 1);
    let error = echo(&session).await.unwrap_err();
    assert!(
        matches!(
            fault(&error),
            Some((FaultKind::Status { status: 500, .. }, Sent::Answered))
        ),
        "{error:?}"
    );
    assert_eq!(add(&session).await.unwrap(), "3");
    neighbour.await.unwrap().unwrap();
    assert_eq!(calls_of(&server, "echo"), 1);
}

#[tokio::test]
async fn an_answer_need_not_wait_for_its_message_to_be_acknowledged() {
    let server = server(&["slow-body=60@echo"]).await;
    let session = connect(&server).await;
    assert_eq!(echo(&session).await.unwrap(), "hello");
    assert_eq!(add(&session).await.unwrap(), "3");
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled() {
    let server = server(&[]).await;
    let session = connect(&server).await;
    let call = slow(&session, 60);
    while calls_of(&server, "slow_operation") == 0 {
        tokio::task::yield_now().await;
    }
    call.abort();
    while http::requests_of(&server, "notifications/cancelled").is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(add(&session).await.unwrap(), "3");
}

#[tokio::test]
async fn the_end_of_the_stream_ends_all_calls_at_once_and_they_may_have_run() {
    let server = server(&[]).await;
    let session = connect(&server).await;
    let calls: Vec<_> = (0..3).map(|_| slow(&session, 60)).collect();
    while calls_of(&server, "slow_operation") < 3 {
        tokio::task::yield_now().await;
    }
    let begun = tokio::time::Instant::now();
    server.stop().await;
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        assert_eq!(error.delivery(), Delivery::MaybeProcessed, "{error:?}");
    }
    assert!(begun.elapsed() < http::SOON, "{:?}", begun.elapsed());
    // And the session says so.
    session.closed().await;
    let error = http::call(&session, "echo", json!({})).await.unwrap_err();
    assert_eq!(error.delivery(), Delivery::NeverSent);
}
