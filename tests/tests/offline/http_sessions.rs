//! Legacy sessions: where their ids come from and go to, how they are replaced, and how they end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use switchboard::protocol::Era;
use switchboard::session::{OpenError, Session};
use switchboard::spec::Protocol;
use switchboard::transport::{FaultKind, Http, IdRule};
use switchboard::{CallOptions, Deadline};

use crate::support::http::{
    self, add, connect, echo, fault, limits, options, requests_of, server_of, verb_of,
};
use crate::support::http_script::{Asked, Reply, Scripted};

async fn connect_scripted(server: &Scripted, era: Era) -> Result<Session, OpenError> {
    let http = Http::new(server.url()).unwrap().limits(&limits());
    Session::connect(&http, options(era)).await
}

/// A legacy server that gives out these ids, one after the other, and knows only the last.
fn forgetful(ids: &'static [&'static str]) -> impl Fn(&Asked) -> Option<Reply> + Send + Sync {
    let given = AtomicUsize::new(0);
    move |asked| {
        let current = given.load(Ordering::SeqCst);
        Some(match asked.what().as_str() {
            "initialize" => {
                given.store(current + 1, Ordering::SeqCst);
                asked.legacy().header("mcp-session-id", ids[current])
            }
            "server/discover" => asked.legacy().header("mcp-session-id", "of-the-probe"),
            _ if asked.header("mcp-session-id") != Some(ids[current - 1]) => {
                Reply::json(404, &json!({"error": "no such thing"}))
            }
            _ => asked.legacy(),
        })
    }
}

#[tokio::test]
async fn the_id_is_of_the_handshake_and_goes_with_everything_after_it() {
    let server = Scripted::new(forgetful(&["first"])).await;
    let http = Http::new(server.url()).unwrap().limits(&limits());
    let found = options(Era::Legacy).protocol(Protocol::Auto);
    let session = Session::connect(&http, found).await.unwrap();
    echo(&session).await.unwrap();
    session.ping().await.unwrap();
    session.close().await;
    let asked = server.asked();
    let mut kinds = server.whats();
    assert_eq!(
        kinds[..3],
        ["server/discover", "initialize", "notifications/initialized"]
    );
    kinds.sort();
    for wanted in ["tools/call", "ping", "GET", "DELETE"] {
        assert!(
            kinds.iter().any(|kind| kind == wanted),
            "{wanted}: {kinds:?}"
        );
    }
    for asked in asked {
        let what = asked.what();
        let (id, version) = (
            asked.header("mcp-session-id"),
            asked.header("mcp-protocol-version"),
        );
        match what.as_str() {
            "server/discover" => assert_eq!((id, version), (None, Some("2026-07-28"))),
            // Nothing is agreed on yet, and an older server may mind what it does not know.
            "initialize" => {
                let strange = asked
                    .headers
                    .iter()
                    .find(|(name, _)| name.starts_with("mcp-"));
                assert_eq!(strange, None);
            }
            _ => assert_eq!((id, version), (Some("first"), Some("2025-11-25")), "{what}"),
        }
        assert_eq!(
            asked.header("mcp-method").is_some(),
            what == "server/discover"
        );
    }
}

#[tokio::test]
async fn calls_that_find_the_session_gone_share_a_new_one() {
    for flag in [None, Some("session-400=1000")] {
        let server = server_of(Era::Legacy, flag.as_slice()).await;
        let session = connect(&server, Era::Legacy).await;
        echo(&session).await.unwrap();
        server.forget_sessions();
        let calls: Vec<_> = (0..20)
            .map(|_| {
                let session = session.clone();
                tokio::spawn(async move { echo(&session).await })
            })
            .collect();
        for call in calls {
            assert_eq!(call.await.unwrap().unwrap(), "hello");
        }
        assert_eq!(requests_of(&server, "initialize").len(), 2, "{flag:?}");
        assert_eq!(requests_of(&server, "notifications/initialized").len(), 2);
        // The stream of what is said unasked is the new session's.
        server.until(|counts| counts.running > 0).await;
        session.close().await;
        server.until(|counts| counts.sessions == 0).await;
    }
}

#[tokio::test]
async fn a_caller_who_gives_up_in_the_middle_of_a_new_session_leaves_it_to_the_next() {
    let stuck = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&stuck);
    let inner = forgetful(&["first", "second"]);
    let server = Scripted::new(move |asked| {
        let what = asked.what();
        if what == "initialize" && seen.fetch_add(1, Ordering::SeqCst) == 1 {
            return None;
        }
        // The first session is forgotten once it was used.
        if asked.header("mcp-session-id") == Some("first") && what == "tools/call" {
            return Some(Reply::new(404));
        }
        inner(asked)
    })
    .await;
    let session = connect_scripted(&server, Era::Legacy).await.unwrap();
    let brief = CallOptions::default().deadline(Deadline::within(Duration::from_millis(300)));
    let error = http::call_with(&session, "echo", json!({}), brief)
        .await
        .unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
    assert_eq!(
        http::call(&session, "echo", json!({})).await.unwrap(),
        "done"
    );
    assert_eq!(stuck.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn nothing_is_said_in_a_new_session_before_it_is_opened() {
    let server = server_of(Era::Legacy, &["slow-headers=1@notifications/initialized"]).await;
    let session = connect(&server, Era::Legacy).await;
    server.forget_sessions();
    server.forget_requests();
    let (one, other) = tokio::join!(echo(&session), async {
        while requests_of(&server, "notifications/initialized").is_empty() {
            tokio::task::yield_now().await;
        }
        echo(&session).await
    });
    assert_eq!(
        (one.unwrap(), other.unwrap()),
        ("hello".to_owned(), "hello".to_owned())
    );
    let kinds: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.rpc_method())
        .collect();
    let opened = kinds
        .iter()
        .position(|kind| kind == "notifications/initialized")
        .unwrap();
    let opened = &server.requests()[opened];
    let id = opened.header("mcp-session-id").unwrap();
    for call in requests_of(&server, "tools/call") {
        if call.header("mcp-session-id") == Some(id) {
            assert!(call.at - opened.at >= Duration::from_secs(1), "{kinds:?}");
        }
    }
    assert_eq!(requests_of(&server, "initialize").len(), 1);
}

#[tokio::test]
async fn a_call_that_is_refused_in_the_new_session_too_costs_nobody_else_theirs() {
    for reply in [
        Reply::new(404),
        Reply::json(400, &json!({"error": "not in this session"})),
    ] {
        let server = Scripted::new(move |asked| {
            Some(match asked.what().as_str() {
                "initialize" => asked.legacy().header("mcp-session-id", "again"),
                "tools/call" if asked.json()["params"]["name"] == "echo" => reply.clone(),
                _ => asked.legacy(),
            })
        })
        .await;
        let session = connect_scripted(&server, Era::Legacy).await.unwrap();
        let error = echo(&session).await.unwrap_err();
        let status = fault(&error).and_then(|(kind, _)| kind.status());
        assert!(matches!(status, Some(400 | 404)), "{error:?}");
        assert_eq!(
            (server.count("initialize"), server.count("tools/call")),
            (2, 2)
        );
        assert_eq!(add(&session).await.unwrap(), "done");
        assert_eq!(session.close_reason(), None);
    }
}

#[tokio::test]
async fn a_server_that_speaks_another_version_than_before_ends_the_connection() {
    let handshakes = AtomicUsize::new(0);
    let server = Scripted::new(move |asked| {
        let versions = ["2025-11-25", "2025-03-26"];
        Some(match asked.what().as_str() {
            "initialize" => {
                let version = versions[handshakes.fetch_add(1, Ordering::SeqCst).min(1)];
                let result = json!({"protocolVersion": version, "capabilities": {"tools": {}},
                    "serverInfo": {"name": "scripted", "version": "1"}});
                asked.result(&result).header("mcp-session-id", version)
            }
            "tools/call" => Reply::new(404),
            _ => asked.legacy(),
        })
    })
    .await;
    let session = connect_scripted(&server, Era::Legacy).await.unwrap();
    let error = echo(&session).await.unwrap_err();
    assert!(
        matches!(fault(&error), Some((FaultKind::SessionLost { .. }, _))),
        "{error:?}"
    );
    assert!(session.close_reason().is_some());
}

#[tokio::test]
async fn a_version_without_the_header_gets_none() {
    let server = Scripted::new(|asked| {
        Some(match asked.what().as_str() {
            "initialize" => {
                let result = json!({"protocolVersion": "2025-03-26", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "scripted", "version": "1"}});
                asked.result(&result).header("mcp-session-id", "one")
            }
            _ => asked.legacy(),
        })
    })
    .await;
    let session = connect_scripted(&server, Era::Legacy).await.unwrap();
    echo(&session).await.unwrap();
    session.close().await;
    assert_eq!(server.count("DELETE"), 1);
    for asked in server.asked() {
        assert_eq!(
            asked.header("mcp-protocol-version"),
            None,
            "{}",
            asked.what()
        );
    }
}

#[tokio::test]
async fn a_new_session_that_cannot_be_had_now_can_be_had_later() {
    let inner = forgetful(&["first", "second"]);
    let asked_for = AtomicUsize::new(0);
    let server = Scripted::new(move |asked| {
        let what = asked.what();
        if what == "initialize" && asked_for.fetch_add(1, Ordering::SeqCst) == 1 {
            return Some(Reply::new(503));
        }
        if asked.header("mcp-session-id") == Some("first") && what == "tools/call" {
            return Some(Reply::new(404));
        }
        inner(asked)
    })
    .await;
    let session = connect_scripted(&server, Era::Legacy).await.unwrap();
    let error = echo(&session).await.unwrap_err();
    assert!(
        matches!(
            fault(&error),
            Some((FaultKind::Status { status: 503, .. }, _))
        ),
        "{error:?}"
    );
    assert_eq!(echo(&session).await.unwrap(), "done");
}

#[tokio::test]
async fn an_id_that_cannot_be_sent_is_an_error() {
    let too_long = "x".repeat(9 * 1024);
    for (id, rule) in [
        (too_long.as_str(), IdRule::default()),
        ("caf\u{e9}", IdRule::default()),
        ("two words", IdRule::Strict),
        ("", IdRule::Strict),
    ] {
        let given = id.to_owned();
        let server = Scripted::new(move |asked| {
            Some(match asked.what().as_str() {
                "initialize" => asked.legacy().header("mcp-session-id", &given),
                _ => asked.legacy(),
            })
        })
        .await;
        let http = Http::new(server.url())
            .unwrap()
            .limits(&limits())
            .session_ids(rule);
        let opened = Session::connect(&http, options(Era::Legacy)).await;
        let Err(OpenError::Handshake { error, .. }) = opened else {
            panic!("{id:.20}");
        };
        assert!(
            matches!(fault(&error), Some((FaultKind::SessionId { .. }, _))),
            "{id:.20}: {error:?}"
        );
        assert_eq!(server.count("notifications/initialized"), 0);
    }
}

#[tokio::test]
async fn a_server_without_sessions_gets_no_id() {
    let server = http::faulty(&[]).stateless().serve().await.unwrap();
    let session = connect(&server, Era::Legacy).await;
    assert_eq!(echo(&session).await.unwrap(), "hello");
    session.close().await;
    let ids = server.requests().into_iter();
    assert_eq!(
        ids.filter(|request| request.header("mcp-session-id").is_some())
            .count(),
        0
    );
    assert_eq!(verb_of(&server, "DELETE").len(), 0);
}

#[tokio::test]
async fn a_session_ends_with_its_delete_and_a_server_that_hangs_then_is_not_waited_for() {
    let server = server_of(Era::Legacy, &[]).await;
    let session = connect(&server, Era::Legacy).await;
    assert_eq!(server.counts().sessions, 1);
    session.close().await;
    assert_eq!(server.counts().sessions, 0);
    let said = verb_of(&server, "DELETE");
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].header("mcp-protocol-version"), Some("2025-11-25"));

    let server = server_of(Era::Legacy, &["slow-headers=60@DELETE"]).await;
    let session = connect(&server, Era::Legacy).await;
    let begun = tokio::time::Instant::now();
    session.close().await;
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
}
