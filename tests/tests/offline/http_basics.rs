//! Calls and lists over HTTP, in both eras and over the older transport.

use switchboard::protocol::{Era, Raw};
use switchboard::session::{CallOptions, Session, SessionOptions};
use switchboard::transport::{Http, LegacySse};
use switchboard_testkit::http::{Answers, Http as TestServer, Server, Transport};
use switchboard_testkit::{Eras, Options};
use tokio::task::JoinSet;

use crate::support::http_script::Scripted;
use crate::support::text_of;

async fn server(eras: Eras, answers: Answers) -> Server {
    let options = Options {
        eras,
        ..Options::default()
    };
    TestServer::new(options)
        .answers(answers)
        .serve()
        .await
        .unwrap()
}

async fn connect(server: &Server) -> Session {
    let http = Http::new(&server.url()).unwrap();
    Session::connect(&http, SessionOptions::default())
        .await
        .unwrap()
}

async fn echo(session: &Session, words: &str) -> String {
    let arguments = Raw::of(&serde_json::json!({"message": words})).unwrap();
    let called = session.call_tool("echo", Some(arguments), CallOptions::default());
    text_of(&called.await.unwrap()).to_owned()
}

#[tokio::test]
async fn tools_are_listed_and_called_in_either_era_by_either_kind_of_answer() {
    for (eras, era) in [
        (Eras::Modern, Era::Modern),
        (Eras::Legacy, Era::Legacy),
        (Eras::Both, Era::Modern),
    ] {
        for answers in [Answers::Json, Answers::Sse] {
            let server = server(eras, answers).await;
            let session = connect(&server).await;
            assert_eq!(session.negotiated().era(), era);
            let tools = session.list_tools().await.unwrap();
            assert!(
                tools.items.iter().any(|tool| tool.name() == "echo"),
                "{tools:?}"
            );
            assert_eq!(echo(&session, "hello \u{e9}").await, "hello \u{e9}");
            session.close().await;
            server.shutdown().await;
        }
    }
}

#[tokio::test]
async fn the_older_transport_is_found_or_chosen() {
    let options = Options::default();
    let server = TestServer::new(options)
        .transport(Transport::Sse)
        .serve()
        .await
        .unwrap();
    let session = connect(&server).await;
    assert_eq!(echo(&session, "found").await, "found");
    session.close().await;
    let sse = LegacySse::new(&server.url()).unwrap();
    let session = Session::connect(&sse, SessionOptions::default())
        .await
        .unwrap();
    assert_eq!(echo(&session, "chosen").await, "chosen");
    session.close().await;
    server.shutdown().await;
}

#[tokio::test]
async fn many_calls_use_few_connections() {
    for answers in [Answers::Json, Answers::Sse] {
        let server = server(Eras::Both, answers).await;
        let session = connect(&server).await;
        for turn in 0..1_000 {
            let words = turn.to_string();
            assert_eq!(echo(&session, &words).await, words);
        }
        assert!(server.connections() <= 4, "{}", server.connections());
        session.close().await;
        server.shutdown().await;
    }
}

#[tokio::test]
async fn a_burst_of_calls_finds_the_connections_of_the_one_before() {
    const CALLS: usize = 50;
    let server = Scripted::new(|asked| Some(asked.modern())).await;
    let http = Http::new(server.url()).unwrap();
    let session = Session::connect(&http, SessionOptions::default());
    let session = session.await.unwrap();
    for _ in 0..5 {
        let mut calls = JoinSet::new();
        for _ in 0..CALLS {
            let session = session.clone();
            calls.spawn(async move {
                let called = session.call_tool("any", None, CallOptions::default());
                text_of(&called.await.unwrap()).to_owned()
            });
        }
        let answers = calls.join_all().await;
        assert!(answers.iter().all(|answer| answer == "done"), "{answers:?}");
    }
    // One for each call of a burst, and no new ones for the bursts that follow.
    let opened = server.connections();
    assert!(
        opened <= CALLS + 1,
        "{opened} connections for {CALLS} calls at a time"
    );
}
