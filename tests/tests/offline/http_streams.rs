//! Streams: what a server says unasked, what it asks, where a stream is taken up again, and what
//! becomes of one that is not wanted or does not end.

use serde_json::json;
use switchboard::protocol::Era;
use switchboard::session::{OpenError, Session};
use switchboard::spec::Protocol;
use switchboard::transport::{FaultKind, Http, Streams};
use switchboard::{Budget, CallError};
use switchboard_testkit::http::{Answers, Transport};

use crate::support::http::{
    self, add, call, connect, echo, fault, limits, options, server_of, server_with, verb_of,
};
use crate::support::http_script::{Reply, Scripted};
use crate::support::person::Person;

#[tokio::test]
async fn questions_reach_the_person_and_answers_the_server_in_either_era() {
    for era in http::ERAS {
        // With JSON answers a legacy server asks on the stream that a GET has opened.
        for answers in [Answers::Auto, Answers::Sse, Answers::Json] {
            let server = server_with(era, &[], answers).await;
            let person = Person::willing();
            let http = http::http(&server);
            let session = Session::connect(&http, options(era).respond(person.clone()));
            let session = session.await.unwrap();
            let told = call(&session, "ask_name", json!({})).await.unwrap();
            assert!(told.contains("Ada"), "{era:?} {answers:?}: {told}");
            assert_eq!(person.asked(), 1);
        }
    }
}

#[tokio::test]
async fn pings_of_the_server_are_answered() {
    for answers in [Answers::Auto, Answers::Json] {
        let server = server_with(Era::Legacy, &["ping-flood=3@echo"], answers).await;
        let session = connect(&server, Era::Legacy).await;
        assert_eq!(echo(&session).await.unwrap(), "hello");
        if answers == Answers::Auto {
            let answered = || {
                let requests = server.requests().into_iter();
                requests
                    .filter(|request| request.json().get("result").is_some())
                    .count()
            };
            while answered() < 3 {
                tokio::task::yield_now().await;
            }
        }
    }
}

#[tokio::test]
async fn changes_are_heard_on_the_stream_that_a_get_has_opened() {
    let server = server_of(Era::Legacy, &[]).await;
    let session = connect(&server, Era::Legacy).await;
    // The stream is open.
    server.until(|counts| counts.running == 1).await;
    let mut changes = session.changes();
    let before = *changes.borrow_and_update();
    call(&session, "announce_change", json!({"list": "tools"}))
        .await
        .unwrap();
    changes.wait_for(|now| *now != before).await.unwrap();
    let opened = verb_of(&server, "GET");
    assert_eq!(opened.len(), 1);
    assert_eq!(opened[0].header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(opened[0].header("accept"), Some("text/event-stream"));
    assert!(opened[0].header("mcp-session-id").is_some());
}

#[tokio::test]
async fn what_comes_after_a_break_is_heard_too() {
    let server = server_of(Era::Legacy, &["sse-flap=2"]).await;
    let session = connect(&server, Era::Legacy).await;
    let mut changes = session.changes();
    let before = *changes.borrow_and_update();
    while verb_of(&server, "GET").len() < 3 {
        tokio::task::yield_now().await;
    }
    call(&session, "announce_change", json!({"list": "tools"}))
        .await
        .unwrap();
    changes.wait_for(|now| *now != before).await.unwrap();
    let again = verb_of(&server, "GET").into_iter().skip(1);
    assert!(
        again
            .take(2)
            .all(|get| get.header("last-event-id").is_some())
    );
}

#[tokio::test]
async fn a_server_that_offers_no_stream_is_asked_for_one_once() {
    for status in [400, 403, 404, 405] {
        let server = Scripted::new(move |asked| {
            Some(match asked.what().as_str() {
                "GET" => Reply::new(status),
                _ => asked.legacy(),
            })
        })
        .await;
        let http = Http::new(server.url()).unwrap().limits(&limits());
        let session = Session::connect(&http, options(Era::Legacy)).await.unwrap();
        for _ in 0..20 {
            assert_eq!(echo(&session).await.unwrap(), "done");
        }
        assert_eq!(server.count("GET"), 1, "{status}");
    }
}

#[tokio::test]
async fn an_event_without_end_costs_its_call_at_the_limit_wherever_its_id_is() {
    for start in [
        r#"data: {"result":{"content":[{"type":"text","text":""#,
        r#"data: {"jsonrpc":"2.0","result":{"content":[{"type":"text","text":""#,
        "data: ",
    ] {
        let server = Scripted::new(move |asked| {
            let endless = format!("{start}{}", "x".repeat(2 * 1024 * 1024));
            Some(match asked.json()["params"]["name"].as_str() {
                Some("echo") => Reply::stream(&endless).unfinished(),
                _ => asked.modern(),
            })
        })
        .await;
        let http = Http::new(server.url()).unwrap().limits(&limits());
        let session = Session::connect(&http, options(Era::Modern)).await.unwrap();
        let begun = tokio::time::Instant::now();
        let error = echo(&session).await.unwrap_err();
        assert!(
            matches!(error, CallError::TooLarge { .. }),
            "{start}: {error:?}"
        );
        assert!(begun.elapsed() < http::SOON, "{:?}", begun.elapsed());
        assert_eq!(add(&session).await.unwrap(), "done");
    }
}

#[tokio::test]
async fn a_notice_over_the_limit_does_not_cost_the_call_that_it_comes_with() {
    let server = Scripted::new(|asked| {
        let id = asked.json()["id"].clone();
        let large = "x".repeat(2 * 1024 * 1024);
        let answer = json!({"jsonrpc": "2.0", "id": id, "result":
            {"resultType": "complete", "content": [{"type": "text", "text": "behind"}]}});
        Some(match asked.json()["params"]["name"].as_str() {
            Some("echo") => Reply::stream(&format!(
                "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{\"data\":\"{large}\"}}}}\n\ndata: {answer}\n\n"
            )),
            _ => asked.modern(),
        })
    })
    .await;
    let http = Http::new(server.url()).unwrap().limits(&limits());
    let session = Session::connect(&http, options(Era::Modern)).await.unwrap();
    assert_eq!(echo(&session).await.unwrap(), "behind");
    assert_eq!(session.counts().over_limit, 1);
}

#[tokio::test]
async fn where_streams_are_refused_one_is_an_error_and_none_is_asked_for() {
    for era in http::ERAS {
        let server = server_with(era, &["sse-comment-flood=1@echo"], Answers::Auto).await;
        let http = http::http(&server).streams(Streams::Refused);
        let session = Session::connect(&http, options(era)).await.unwrap();
        assert_eq!(add(&session).await.unwrap(), "3");
        let error = echo(&session).await.unwrap_err();
        assert!(
            matches!(fault(&error), Some((FaultKind::StreamRefused, _))),
            "{error:?}"
        );
        assert_eq!(add(&session).await.unwrap(), "3");
        session.close().await;
        assert_eq!(verb_of(&server, "GET").len(), 0);
    }
}

#[tokio::test]
async fn where_streams_are_refused_the_older_transport_is_not_tried() {
    let server = http::faulty(&[]).transport(Transport::Sse);
    let server = server.serve().await.unwrap();
    let http = http::http(&server).streams(Streams::Refused);
    let auto = options(Era::Legacy).protocol(Protocol::Auto);
    let error = Session::connect(&http, auto).await.unwrap_err();
    assert!(matches!(error, OpenError::Handshake { .. }), "{error:?}");
    assert_eq!(verb_of(&server, "GET").len(), 0);
}

#[tokio::test]
async fn a_handshake_that_is_a_stream_is_refused_where_streams_are() {
    let server = server_with(Era::Legacy, &[], Answers::Sse).await;
    let http = http::http(&server).streams(Streams::Refused);
    let error = Session::connect(&http, options(Era::Legacy))
        .await
        .unwrap_err();
    let OpenError::Handshake { error, .. } = error else {
        panic!("{error:?}");
    };
    assert!(
        matches!(fault(&error), Some((FaultKind::StreamRefused, _))),
        "{error:?}"
    );
}

#[tokio::test]
async fn answers_that_do_not_end_share_the_room_that_there_is() {
    let text = "x".repeat(900 * 1024);
    let start = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"text":"{text}"#);
    for stream in [true, false] {
        let start = start.clone();
        let server = Scripted::new(move |asked| {
            let json = Reply::new(200).header("content-type", "application/json");
            Some(match (asked.json()["params"]["name"].as_str(), stream) {
                (Some("echo"), true) => Reply::stream(&format!("data: {start}")).unfinished(),
                (Some("echo"), false) => json.body(start.clone()).unfinished(),
                _ => asked.modern(),
            })
        })
        .await;
        let budget = Budget::of(4 * 1024 * 1024);
        let http = Http::new(server.url()).unwrap().limits(&limits());
        let session = Session::connect(&http, options(Era::Modern).budget(&budget));
        let session = session.await.unwrap();
        add(&session).await.unwrap();
        let calls = (0..12).map(|_| {
            let session = session.clone();
            tokio::spawn(async move { echo(&session).await.unwrap_err() })
        });
        let mut no_room = 0;
        for call in calls.collect::<Vec<_>>() {
            let error = call.await.unwrap();
            let is_full = matches!(fault(&error), Some((FaultKind::TooLarge { .. }, _)));
            assert!(is_full || error.is_timeout(), "{error:?}");
            no_room += usize::from(is_full);
            assert!(budget.held_bytes() <= budget.limit_bytes());
        }
        // Four of them fit.
        assert_eq!(no_room, 8, "{stream}");
        assert_eq!(budget.held_bytes(), 0);
        assert_eq!(add(&session).await.unwrap(), "done");
    }
}
