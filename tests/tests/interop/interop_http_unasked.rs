//! What server-everything says of its own accord over HTTP: questions within a call, and announcements
//! on a stream that belongs to no call.

use std::time::Duration;

use serde_json::json;
use switchboard::session::{Session, SessionOptions};
use switchboard::transport::{Connect, Http, LegacySse};
use switchboard_tests::partners::{self, Launch};
use switchboard_tests::running::Running;

use crate::http_support::{call, text};
use crate::support::person::Person;

/// Log messages come every five seconds, in case that the first was too early for us.
const SOON: Duration = Duration::from_secs(60);

async fn a_question_is_answered(to: &impl Connect) {
    let person = Person::willing();
    let options = SessionOptions::default().respond(person.clone());
    let session = Session::connect(to, options).await.unwrap();
    // The server offers this once it knows that we can be asked.
    let mut changes = session.changes();
    let offered = async {
        loop {
            let tools = session.list_tools().await.unwrap().items;
            let mut names = tools.iter().map(|tool| tool.name());
            if names.any(|name| name == "trigger-elicitation-request") {
                return;
            }
            changes.changed().await.unwrap();
        }
    };
    tokio::time::timeout(SOON, offered).await.unwrap();
    let result = call(&session, "trigger-elicitation-request", json!({})).await;
    assert_eq!(person.asked(), 1);
    let all: Vec<_> = result.content().iter().map(|part| part.as_text()).collect();
    assert!(format!("{all:?}").contains("Ada"), "{result:?}");
    session.close().await;
}

#[tokio::test]
async fn a_question_within_a_call_is_answered() {
    let server = Running::start(|port| partners::everything_http("streamableHttp", port)).await;
    a_question_is_answered(&Http::new(&server.at("/mcp")).unwrap()).await;
    let server = Running::start(|port| partners::everything_http("sse", port)).await;
    a_question_is_answered(&LegacySse::new(&server.at("/sse")).unwrap()).await;
}

async fn is_heard(session: &Session) {
    let started = call(session, "toggle-simulated-logging", json!({})).await;
    assert!(text(&started).contains("Started"), "{started:?}");
    let heard = async {
        loop {
            let announced = session.announcement().await.unwrap();
            if announced.method == "notifications/message" {
                return;
            }
        }
    };
    tokio::time::timeout(SOON, heard).await.unwrap();
}

#[tokio::test]
async fn announcements_are_heard_and_so_they_are_after_a_restart() {
    let launch = |port| -> Launch { partners::everything_http("streamableHttp", port) };
    let mut server = Running::start(launch).await;
    let http = Http::new(&server.at("/mcp")).unwrap();
    let session = Session::connect(&http, SessionOptions::default()).await;
    let session = session.unwrap();
    for _ in 0..2 {
        // The first request finds out that the session is gone, where it is.
        session.ping().await.unwrap();
        server.says("Establishing new SSE stream").await;
        is_heard(&session).await;
        server.restart(launch).await;
    }
    session.close().await;
}
