//! The end of a connection, without a process.

use std::sync::Arc;

use serde_json::json;
use switchboard::session::{CloseCause, Delivery, Session};
use tokio::time::{Instant, timeout};

use crate::support::{
    self, Server, Wire, call, legacy, legacy_options, modern, secs, spawn_call, text_of,
};

#[tokio::test(start_paused = true)]
async fn everybody_who_waits_learns_the_same_reason() {
    let (session, _server) = legacy(|mut wire| async move {
        for _ in 0..64 {
            wire.expect("tools/call").await;
        }
    })
    .await;
    let calls: Vec<_> = (0..100).map(|_| spawn_call(&session, "x")).collect();
    let reason = session.closed().await;
    assert_eq!(reason.cause, CloseCause::OutputClosed);
    let mut never_sent = 0;
    for call in calls {
        match call.await.unwrap().unwrap_err() {
            switchboard::CallError::Closed {
                reason: theirs,
                delivery,
            } => {
                assert!(Arc::ptr_eq(&theirs, &reason));
                never_sent += usize::from(delivery == Delivery::NeverSent);
            }
            other => panic!("{other:?}"),
        }
    }
    // Those that waited for their turn.
    assert_eq!(never_sent, 36);
    let later = call(&session, "x").await.unwrap_err();
    assert_eq!(later.close_reason(), Some(&*reason));
    assert_eq!(later.delivery(), Delivery::NeverSent);
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_front_of_the_end_is_delivered() {
    let (session, _server) = legacy(|mut wire| async move {
        let request = wire.expect("tools/call").await;
        wire.answer(&request, &support::text("last words")).await;
    })
    .await;
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "last words");
    session.closed().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_closes_its_input_ends_the_connection_and_got_nothing() {
    let (session, _server) = legacy(|wire| async move {
        let Wire { input, output, .. } = wire;
        drop(input);
        tokio::time::sleep(secs(3600)).await;
        drop(output);
    })
    .await;
    tokio::task::yield_now().await;
    let begun = Instant::now();
    let error = call(&session, "x").await.unwrap_err();
    assert!(begun.elapsed() < secs(1));
    let reason = error.close_reason().unwrap();
    assert!(
        matches!(reason.cause, CloseCause::WriteFailed(_)),
        "{reason:?}"
    );
    assert_eq!(error.delivery(), Delivery::NeverSent);
}

#[tokio::test(start_paused = true)]
async fn closing_is_idempotent_and_may_be_done_by_many() {
    let (session, _server) = legacy(Wire::hold).await;
    let waiting = spawn_call(&session, "x");
    tokio::task::yield_now().await;
    let (one, two, three) = tokio::join!(session.close(), session.close(), session.closed());
    assert!(Arc::ptr_eq(&one, &two) && Arc::ptr_eq(&one, &three));
    assert!(Arc::ptr_eq(&one, &session.close().await));
    assert_eq!(one.cause, CloseCause::ByUs);
    let error = waiting.await.unwrap().unwrap_err();
    assert_eq!(error.close_reason(), Some(&*one));
}

#[tokio::test(start_paused = true)]
async fn closing_lets_a_cancellation_leave_first() {
    let (session, mut server) = legacy(Wire::hold).await;
    let options = switchboard::CallOptions::default();
    timeout(secs(1), session.call_tool("x", None, options))
        .await
        .unwrap_err();
    session.close().await;
    assert_eq!(server.heard().await["method"], "tools/call");
    assert_eq!(server.heard().await["method"], "notifications/cancelled");
}

#[tokio::test(start_paused = true)]
async fn closing_does_not_wait_for_a_server_that_does_not_read() {
    let (session, _server) = legacy(|wire| async move {
        std::future::pending::<()>().await;
        drop(wire);
    })
    .await;
    let big = support::raw(&json!({"x": "y".repeat(500_000)}));
    let options = switchboard::CallOptions::default();
    timeout(secs(1), session.call_tool("x", Some(big), options))
        .await
        .unwrap_err();
    let begun = Instant::now();
    session.close().await;
    assert!(begun.elapsed() < secs(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_does_not_wait_for_a_server_that_never_stops_talking() {
    let (session, _server) = legacy(|mut wire| async move {
        let flood = "{\"method\":\"notifications/message\"}\n".repeat(1000);
        loop {
            use tokio::io::AsyncWriteExt;
            if wire.output.write_all(flood.as_bytes()).await.is_err() {
                return;
            }
        }
    })
    .await;
    timeout(secs(10), session.close()).await.unwrap();
    timeout(secs(10), session.closed()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_last_clone_that_is_dropped_closes_the_server_s_input() {
    let (ended, mut has_ended) = tokio::sync::mpsc::unbounded_channel();
    let (session, _server) = modern(move |wire| {
        let ended = ended.clone();
        async move {
            wire.hold().await;
            ended.send(()).unwrap();
        }
    })
    .await;
    let clone = session.clone();
    drop(session);
    tokio::time::sleep(secs(1)).await;
    assert!(has_ended.try_recv().is_err());
    drop(clone);
    has_ended.recv().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_connect_that_is_dropped_midway_closes_the_server_s_input() {
    let (ended, mut has_ended) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::new(move |wire: Wire| {
        let ended = ended.clone();
        async move {
            wire.hold().await;
            ended.send(()).unwrap();
        }
    });
    for wait in [1, 5] {
        timeout(
            secs(wait),
            Session::connect(&server, switchboard::SessionOptions::default()),
        )
        .await
        .unwrap_err();
        has_ended.recv().await.unwrap();
    }
    timeout(secs(1), Session::connect(&server, legacy_options()))
        .await
        .unwrap_err();
    has_ended.recv().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn announcements_are_read_to_their_end_and_then_end() {
    let (session, _server) = legacy(|mut wire| async move {
        for n in 0..3 {
            wire.send(&json!({"method": "notifications/x", "params": {"n": n}}))
                .await;
        }
    })
    .await;
    session.closed().await;
    for n in 0..3 {
        let params = session.announcement().await.unwrap().params.unwrap();
        assert_eq!(params.as_str(), format!("{{\"n\":{n}}}"));
    }
    let (one, two) = tokio::join!(session.announcement(), session.announcement());
    assert_eq!((one, two), (None, None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_readers_of_announcements_miss_none() {
    const MANY: u64 = 20_000;
    let (session, _server) = legacy(|mut wire| async move {
        for n in 0..MANY {
            wire.send(&json!({"method": "notifications/x", "params": {"n": n}}))
                .await;
            if n % 7 == 0 {
                tokio::task::yield_now().await;
            }
        }
    })
    .await;
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let session = session.clone();
            tokio::spawn(async move {
                let mut seen = 0;
                while session.announcement().await.is_some() {
                    seen += 1;
                }
                seen
            })
        })
        .collect();
    let mut seen = 0;
    for reader in readers {
        seen += timeout(secs(20), reader).await.unwrap().unwrap();
    }
    assert_eq!(seen + session.counts().dropped_notices, MANY);
}
