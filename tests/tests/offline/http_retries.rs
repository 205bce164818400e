//! What is sent again over HTTP, and what never is; servers that stop, and servers that come back.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use switchboard::CallOptions;
use switchboard::protocol::Era;
use switchboard::session::{Delivery, Session};
use switchboard::transport::{FaultKind, Http, Sent};
use switchboard_testkit::http::{Http as TestServer, Server};
use switchboard_testkit::{Eras, Journal, Options};

use crate::support::http::{
    self, add, call, call_with, calls_of, connect, echo, fault, limits, options, options_with,
};
use crate::support::http::{requests_of, server_of, slow};
use crate::support::http_script::{Reply, Scripted};

/// A server that writes down what it runs.
async fn journalled(path: &std::path::Path, era: Era, faults: &[&str]) -> Server {
    let options = Options {
        journal: Some(Journal::open(path).unwrap()),
        eras: match era {
            Era::Legacy => Eras::Legacy,
            Era::Modern => Eras::Modern,
        },
        ..options_with(faults)
    };
    TestServer::new(options).serve().await.unwrap()
}

fn lines(path: &std::path::Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn no_call_runs_twice_whatever_becomes_of_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    for era in http::ERAS {
        for (number, flag) in [
            "status=500@echo",
            "status=502@echo",
            "status=503@echo",
            "status=504@echo",
            "503-flap=1@echo",
            "429-retry-after=0@echo",
            "404-session=1",
            "session-400=1",
            "redirect=307@echo",
            "truncate=echo",
            "reset-midway=echo",
            "sse-drop=echo",
            "sse-no-final=echo",
            "empty-200=echo",
            "wrong-content-type=echo",
            "huge-body=2@echo",
        ]
        .into_iter()
        .enumerate()
        {
            let path = folder.path().join(format!("{era:?}-{number}"));
            let server = journalled(&path, era, &[flag]).await;
            let session = connect(&server, era).await;
            let mut calls = Vec::new();
            for turn in 0..4 {
                let session = session.clone();
                calls.push(tokio::spawn(async move {
                    drop(call(&session, "echo", json!({"message": turn.to_string()})).await);
                }));
            }
            for call in calls {
                call.await.unwrap();
            }
            let ran = lines(&path);
            let once: BTreeSet<_> = ran.iter().collect();
            assert_eq!(ran.len(), once.len(), "{flag} in {era:?}: {ran:?}");
        }
    }
}

#[tokio::test]
async fn a_call_that_may_run_twice_is_sent_again() {
    for era in http::ERAS {
        let server = server_of(era, &["503-flap=2@echo"]).await;
        let session = connect(&server, era).await;
        let words = json!({"message": "hello"});
        let twice = CallOptions::default().idempotent();
        let called = call_with(&session, "echo", words, twice).await;
        assert_eq!(called.unwrap(), "hello");
        assert_eq!(calls_of(&server, "echo"), 3);
    }
    let server = server_of(Era::Modern, &["truncate=echo"]).await;
    let session = connect(&server, Era::Modern).await;
    let twice = CallOptions::default().idempotent();
    let called = call_with(&session, "echo", json!({"message": "hello"}), twice).await;
    assert_eq!(called.unwrap_err().delivery(), Delivery::MaybeProcessed);
    assert_eq!(calls_of(&server, "echo"), 4);
}

#[tokio::test]
async fn a_call_that_was_refused_for_now_is_made_when_the_server_says() {
    for era in http::ERAS {
        let server = server_of(era, &["429-retry-after=1@echo"]).await;
        let session = connect(&server, era).await;
        assert_eq!(echo(&session).await.unwrap(), "hello");
        let calls = requests_of(&server, "tools/call");
        assert_eq!(calls.len(), 2);
        assert!(calls[1].at - calls[0].at >= Duration::from_secs(1));
        // Sent again, it is what it was.
        assert_eq!(
            calls[0].json()["params"]["name"],
            calls[1].json()["params"]["name"]
        );
    }
}

#[tokio::test]
async fn safe_requests_are_sent_again_and_others_are_not() {
    for status in [429, 500, 502, 503, 504] {
        let server = Scripted::new(move |asked| {
            let fine = ["initialize", "notifications/initialized", "GET", "DELETE"];
            Some(match fine.contains(&asked.what().as_str()) {
                true => asked.legacy(),
                false => Reply::new(status),
            })
        })
        .await;
        let http = Http::new(server.url()).unwrap().limits(&limits());
        let session = Session::connect(&http, options(Era::Legacy)).await.unwrap();
        let error = session.list_tools().await.unwrap_err();
        assert_eq!(fault(&error).unwrap().0.status(), Some(status));
        session.ping().await.unwrap_err();
        let uri = "file:///a";
        let read = session.read_resource(uri, CallOptions::default()).await;
        assert!(read.is_err());
        echo(&session).await.unwrap_err();
        assert_eq!(server.count("tools/list"), 4, "{status}");
        assert_eq!(server.count("ping"), 4, "{status}");
        assert!(matches!(server.count("resources/read"), 0 | 4), "{status}");
        assert_eq!(server.count("tools/call"), 1, "{status}");
    }
    for status in [400, 401, 403, 405, 409, 501] {
        let server = Scripted::new(move |asked| {
            Some(match asked.what().as_str() {
                "tools/list" => Reply::new(status),
                _ => asked.legacy(),
            })
        })
        .await;
        let http = Http::new(server.url()).unwrap().limits(&limits());
        let session = Session::connect(&http, options(Era::Legacy)).await.unwrap();
        session.list_tools().await.unwrap_err();
        assert_eq!(server.count("tools/list"), 1, "{status}");
    }
}

#[tokio::test]
async fn a_server_that_was_started_anew_goes_on_as_before() {
    for era in http::ERAS {
        let mut server = server_of(era, &[]).await;
        let session = connect(&server, era).await;
        assert_eq!(echo(&session).await.unwrap(), "hello");
        for turn in 0..5 {
            server.restart().await.unwrap();
            // Whatever comes first finds a connection that is gone, and a session that is.
            match turn % 3 {
                0 => assert_eq!(echo(&session).await.unwrap(), "hello"),
                1 => drop(session.list_tools().await.unwrap()),
                _ => {
                    let resources = session.list_resources().await.unwrap();
                    let uri = resources.items[0].uri().to_owned();
                    let read = session.read_resource(&uri, CallOptions::default());
                    read.await.unwrap();
                }
            }
            assert_eq!(add(&session).await.unwrap(), "3");
        }
        let handshakes = requests_of(&server, "initialize").len();
        assert_eq!(handshakes, if era == Era::Legacy { 6 } else { 0 });
    }
}

#[tokio::test]
async fn a_call_in_flight_when_the_server_stops_may_have_run_and_is_not_sent_again() {
    let folder = tempfile::tempdir().unwrap();
    for era in http::ERAS {
        let path = folder.path().join(format!("{era:?}"));
        let mut server = journalled(&path, era, &[]).await;
        let session = connect(&server, era).await;
        add(&session).await.unwrap();
        let in_flight: Vec<_> = (0..3).map(|_| slow(&session, 60)).collect();
        while lines(&path).len() < 4 {
            tokio::task::yield_now().await;
        }
        server.stop().await;
        for call in in_flight {
            let error = call.await.unwrap().unwrap_err();
            assert_eq!(
                error.delivery(),
                Delivery::MaybeProcessed,
                "{era:?}: {error:?}"
            );
            let what = fault(&error).unwrap();
            assert!(
                matches!(what, (FaultKind::Interrupted { .. }, Sent::Maybe)),
                "{error:?}"
            );
        }
        server.restart().await.unwrap();
        assert_eq!(add(&session).await.unwrap(), "3");
        assert_eq!(lines(&path).len(), 5, "{era:?}");
        assert_eq!(calls_of(&server, "slow_operation"), 3);
    }
}

#[tokio::test]
async fn a_call_that_reaches_nobody_was_never_sent() {
    for era in http::ERAS {
        let mut server = server_of(era, &[]).await;
        let session = connect(&server, era).await;
        add(&session).await.unwrap();
        server.stop().await;
        let error = echo(&session).await.unwrap_err();
        let what = fault(&error).unwrap();
        assert!(
            matches!(what, (FaultKind::Connect { .. }, Sent::Never)),
            "{error:?}"
        );
        assert_eq!(error.delivery(), Delivery::NeverSent);
        server.restart().await.unwrap();
        assert_eq!(echo(&session).await.unwrap(), "hello");
        // A legacy server refuses it once, for its session is not known any more.
        let refused = usize::from(era == Era::Legacy);
        assert_eq!(calls_of(&server, "echo"), 1 + refused);
    }
}

#[tokio::test]
async fn a_server_that_comes_back_in_time_is_found_again_by_the_same_call() {
    let mut server = server_of(Era::Modern, &[]).await;
    let mut patient = limits();
    patient.retries = 100;
    patient.retry_most = Duration::from_millis(50);
    let http = Http::new(&server.url()).unwrap().limits(&patient);
    let session = Session::connect(&http, options(Era::Modern)).await.unwrap();
    add(&session).await.unwrap();
    server.stop().await;
    let other = session.clone();
    let call = tokio::spawn(async move { echo(&other).await });
    tokio::task::yield_now().await;
    server.restart().await.unwrap();
    assert_eq!(call.await.unwrap().unwrap(), "hello");
    assert_eq!(calls_of(&server, "echo"), 1);
}
