//! How a session finds out which era a server speaks.

// long because: each way in which a server can meet the two questions is a test, and they share the servers.

use serde_json::{Value, json};
use switchboard::OpenError;
use switchboard::protocol::{Era, Version};
use switchboard::session::{Counts, EraHint, Session, SessionOptions};
use tokio::time::Instant;

use crate::support::wire::{hello_legacy, hello_modern};
use crate::support::{self, Server, Wire, call, secs, text_of};

async fn open(server: &Server) -> Result<Session, OpenError> {
    Session::connect(server, SessionOptions::default()).await
}

/// Answers the probe with `answer`, given its id, then speaks the legacy protocol.
fn legacy_after(answer: impl Fn(&Value) -> String + Send + Sync + 'static) -> Server {
    let answer = std::sync::Arc::new(answer);
    Server::new(move |mut wire: Wire| {
        let answer = std::sync::Arc::clone(&answer);
        async move {
            let probe = wire.expect("server/discover").await;
            wire.raw(answer(&probe["id"])).await;
            wire.greet_legacy().await;
            wire.echo_names().await;
        }
    })
}

async fn falls_back(mut server: Server) {
    let session = open(&server).await.unwrap();
    assert_eq!(session.negotiated().version, Version::V2025_11_25);
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "x");
    assert_eq!(server.starts(), 1);
    assert_eq!(
        server.methods_so_far(),
        [
            "server/discover",
            "initialize",
            "notifications/initialized",
            "tools/call"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_spoken_to_in_the_legacy_era_after_three_seconds() {
    let begun = Instant::now();
    let server = legacy_after(|_| String::new());
    falls_back(server).await;
    assert_eq!(begun.elapsed().as_secs(), 3);
}

/// A server that reads both questions and answers them in the order that `answers` has.
fn both(answers: impl Fn(&Value, &Value) -> String + Send + Sync + 'static) -> Server {
    let answers = std::sync::Arc::new(answers);
    Server::new(move |mut wire: Wire| {
        let answers = std::sync::Arc::clone(&answers);
        async move {
            let probe = wire.expect("server/discover").await;
            let request = wire.expect("initialize").await;
            wire.raw(answers(&probe["id"], &request["id"])).await;
            wire.echo_names().await;
        }
    })
}

fn result(id: &Value, result: &Value) -> String {
    format!(
        "{}\n",
        json!({"jsonrpc": "2.0", "id": id, "result": result})
    )
}

fn refusal(id: &Value, code: i32) -> String {
    let error = json!({"code": code, "message": "no"});
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

#[tokio::test(start_paused = true)]
async fn a_modern_answer_before_the_handshake_is_answered_wins() {
    let modern = hello_modern(&["2026-07-28"]);
    let refused = {
        let modern = modern.clone();
        both(move |probe, request| result(probe, &modern) + &refusal(request, -32022))
    };
    let silent = both(move |probe, _| result(probe, &modern));
    for server in [refused, silent] {
        let session = open(&server).await.unwrap();
        assert_eq!(session.negotiated().version, Version::V2026_07_28);
        assert_eq!(text_of(&call(&session, "x").await.unwrap()), "x");
        assert_eq!(session.counts(), Counts::default());
        assert_eq!(server.starts(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_accepts_both_questions_is_started_again_as_modern() {
    // As servers of the TypeScript SDK 2 do, which know no `server/discover` after that.
    let modern = hello_modern(&["2026-07-28"]);
    let legacy = hello_legacy("2025-11-25");
    let starts = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let server = Server::new(move |mut wire: Wire| {
        let (modern, legacy) = (modern.clone(), legacy.clone());
        let is_slow = starts.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
        async move {
            let probe = wire.expect("server/discover").await;
            let mut answers = result(&probe["id"], &modern);
            if is_slow {
                let request = wire.expect("initialize").await;
                answers += &result(&request["id"], &legacy);
            } else {
                // Longer than the probe is alone with a server that is not known.
                tokio::time::sleep(std::time::Duration::from_secs(12)).await;
            }
            wire.raw(answers).await;
            wire.echo_names().await;
        }
    });
    let session = open(&server).await.unwrap();
    assert_eq!(session.negotiated().version, Version::V2026_07_28);
    assert_eq!(session.negotiated().era_hint(), EraHint::of(Era::Modern));
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "x");
    assert_eq!(session.counts(), Counts::default());
    assert_eq!(server.starts(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_accepts_both_questions_twice_is_bound_to_the_handshake() {
    let modern = hello_modern(&["2026-07-28"]);
    let legacy = hello_legacy("2025-11-25");
    let server = both(move |probe, request| result(probe, &modern) + &result(request, &legacy));
    let session = open(&server).await.unwrap();
    assert_eq!(session.negotiated().era(), Era::Legacy);
    // The next connection waits for the probe.
    assert_eq!(session.negotiated().era_hint(), EraHint::of(Era::Modern));
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "x");
    assert_eq!(session.counts(), Counts::default());
    assert_eq!(server.starts(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_to_the_probe_is_dropped_and_not_held_against_the_server() {
    let answers: [fn(&Value) -> String; 5] = [
        |id| result(id, &hello_modern(&["2026-07-28"])),
        |id| refusal(id, -32601),
        |id| refusal(id, -32602),
        |_| refusal(&Value::Null, -32600),
        |_| refusal(&json!("server-error"), -32600),
    ];
    for (at, answer) in answers.into_iter().enumerate() {
        let server = Server::new(move |mut wire: Wire| async move {
            let probe = wire.expect("server/discover").await;
            wire.greet_legacy().await;
            wire.raw(answer(&probe["id"])).await;
            wire.echo_names().await;
        });
        let session = open(&server).await.unwrap();
        // Nobody waits for anything while it comes.
        tokio::time::sleep(secs(1)).await;
        assert_eq!(session.negotiated().era(), Era::Legacy, "{at}");
        assert_eq!(text_of(&call(&session, "x").await.unwrap()), "x", "{at}");
        assert_eq!(session.counts(), Counts::default(), "{at}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_legacy_server_says_to_the_probe_before_the_handshake_is_no_fault() {
    let log = json!({"jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": "warning", "data": "unknown method server/discover"}});
    let answers: [fn(&Value) -> String; 5] = [
        |id| refusal(id, -32601),
        |id| refusal(id, -32602),
        |_| refusal(&Value::Null, -32600),
        |_| refusal(&json!("server-error"), -32600),
        |_| refusal(&json!(0), -32700),
    ];
    for (at, answer) in answers.into_iter().enumerate() {
        let said = format!("{log}\n");
        // At once, and only when the handshake is there as well.
        let early = {
            let said = said.clone();
            legacy_after(move |id| said.clone() + &answer(id))
        };
        let late = both(move |probe, request| {
            said.clone() + &answer(probe) + &result(request, &hello_legacy("2025-11-25"))
        });
        for server in [early, late] {
            let session = open(&server).await.unwrap();
            assert_eq!(session.negotiated().era(), Era::Legacy, "{at}");
            assert_eq!(text_of(&call(&session, "x").await.unwrap()), "x", "{at}");
            assert_eq!(session.counts(), Counts::default(), "{at}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_answer_to_the_probe_is_counted() {
    let server = Server::new(|mut wire: Wire| async move {
        let probe = wire.expect("server/discover").await;
        wire.greet_legacy().await;
        wire.raw(refusal(&probe["id"], -32601).repeat(2)).await;
        wire.echo_names().await;
    });
    let session = open(&server).await.unwrap();
    tokio::time::sleep(secs(1)).await;
    call(&session, "x").await.unwrap();
    assert_eq!(session.counts().unmatched_answers, 1);
}

#[tokio::test(start_paused = true)]
async fn a_slow_modern_server_that_refuses_the_handshake_is_asked_again() {
    let mut server = Server::new(|mut wire: Wire| async move {
        wire.expect("server/discover").await;
        let request = wire.expect("initialize").await;
        wire.refuse(&request, -32601).await;
        wire.greet_modern().await;
        wire.hold().await;
    });
    let session = open(&server).await.unwrap();
    assert_eq!(session.negotiated().version, Version::V2026_07_28);
    let methods = server.methods_so_far();
    assert_eq!(
        methods,
        ["server/discover", "initialize", "server/discover"]
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_server_that_ends_on_the_probe_is_started_again() {
    let server = Server::new(|mut wire: Wire| async move {
        if wire.start == 1 {
            // Slower to start than the probe is patient: both requests wait in its pipe.
            tokio::time::sleep(secs(5)).await;
            wire.expect("server/discover").await;
            return;
        }
        wire.greet_legacy().await;
        wire.echo_names().await;
    });
    let session = open(&server).await.unwrap();
    assert_eq!(session.negotiated().era(), Era::Legacy);
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "x");
    assert_eq!(server.starts(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_discovery_that_lists_only_legacy_versions_leads_to_the_handshake() {
    falls_back(legacy_after(|id| {
        let hello = hello_modern(&["2025-11-25", "2025-06-18"]);
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": hello}))
    }))
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_discovery_without_any_version_of_ours_names_both_lists() {
    let server = Server::new(|mut wire: Wire| async move {
        let probe = wire.expect("server/discover").await;
        wire.answer(&probe, &hello_modern(&["2031-01-01"])).await;
        wire.hold().await;
    });
    match open(&server).await.unwrap_err() {
        OpenError::NoCommonVersion { theirs, ours } => {
            assert_eq!(theirs, ["2031-01-01"]);
            assert!(ours.contains(&"2026-07-28".to_owned()));
            assert!(ours.contains(&"2025-11-25".to_owned()));
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_unsupported_version_is_asked_for_once_more_even_when_it_is_the_same() {
    let mut server = Server::new(|mut wire: Wire| async move {
        let probe = wire.expect("server/discover").await;
        let data = json!({"supported": ["2026-07-28"], "requested": "2026-07-28"});
        wire.refuse_with(&probe, -32022, &data).await;
        wire.greet_modern().await;
        wire.hold().await;
    });
    let session = open(&server).await.unwrap();
    assert_eq!(session.negotiated().version, Version::V2026_07_28);
    let methods = server.methods_so_far();
    assert_eq!(methods, ["server/discover", "server/discover"]);
}

#[tokio::test(start_paused = true)]
async fn an_unsupported_version_over_and_over_ends_with_both_lists() {
    let mut server = Server::new(|mut wire: Wire| async move {
        while let Some(request) = wire.read().await {
            let data = json!({"supported": ["2026-07-28"], "requested": "2026-07-28"});
            wire.refuse_with(&request, -32022, &data).await;
        }
    });
    match open(&server).await.unwrap_err() {
        OpenError::NoCommonVersion { theirs, ours } => {
            assert_eq!(theirs, ["2026-07-28"]);
            assert_eq!(ours[0], "2026-07-28");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(server.starts(), 1);
    let methods = server.methods_so_far();
    assert_eq!(methods, ["server/discover", "server/discover"]);
}

#[tokio::test(start_paused = true)]
async fn an_unsupported_version_with_only_legacy_ones_leads_to_the_handshake() {
    falls_back(legacy_after(|id| {
        let data = json!({"supported": ["2025-11-25"], "requested": "2026-07-28"});
        let error = json!({"code": -32022, "message": "no", "data": data});
        format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error}))
    }))
    .await;
}

#[tokio::test(start_paused = true)]
async fn any_other_error_leads_to_the_handshake() {
    for code in [-32601, -32602, -32600, -32603, 0, 500] {
        falls_back(legacy_after(move |id| {
            let error = json!({"code": code, "message": "no"});
            format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": error}))
        }))
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_without_an_id_leads_to_the_handshake() {
    falls_back(legacy_after(|_| {
        let error = json!({"code": -32600, "message": "no"});
        format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "id": null, "error": error})
        )
    }))
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_malformed_answer_to_the_probe_leads_to_the_handshake() {
    let answers: [fn(&Value) -> String; 5] = [
        |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"a\":}}}}\n"),
        |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}}}\n"),
        |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":7}}\n"),
        |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n"),
        |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":\"no\"}}\n"),
    ];
    for answer in answers {
        falls_back(legacy_after(answer)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn errors_that_only_a_modern_server_gives_are_surfaced() {
    for code in [-32021, -32020] {
        let mut server = Server::new(move |mut wire: Wire| async move {
            let probe = wire.expect("server/discover").await;
            wire.refuse(&probe, code).await;
            wire.hold().await;
        });
        match open(&server).await.unwrap_err() {
            OpenError::Handshake { stage, error, .. } => {
                assert_eq!(stage, "server/discover");
                assert_eq!(error.rpc().unwrap().code(), code);
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(server.methods_so_far(), ["server/discover"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handshake_answered_with_an_unknown_version_names_both_lists() {
    let server = Server::new(|mut wire: Wire| async move {
        let request = wire.expect("initialize").await;
        wire.answer(&request, &hello_legacy("1999-12-31")).await;
        wire.hold().await;
    });
    let error = Session::connect(&server, support::legacy_options()).await;
    match error.unwrap_err() {
        OpenError::NoCommonVersion { theirs, ours } => {
            assert_eq!(theirs, ["1999-12-31"]);
            assert_eq!(ours[0], "2025-11-25");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_handshake_may_settle_on_any_legacy_version() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let server = Server::new(move |mut wire: Wire| async move {
            let request = wire.expect("initialize").await;
            wire.answer(&request, &hello_legacy(version)).await;
            wire.hold().await;
        });
        let session = Session::connect(&server, support::legacy_options()).await;
        assert_eq!(session.unwrap().negotiated().version.as_str(), version);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_is_never_answered_times_out_and_is_not_cancelled() {
    let mut server = Server::new(|wire: Wire| wire.hold());
    let begun = Instant::now();
    match open(&server).await.unwrap_err() {
        OpenError::Handshake { stage, error, .. } => {
            assert_eq!(stage, "initialize");
            assert!(error.is_timeout(), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(begun.elapsed(), secs(30));
    let methods = server.methods_so_far();
    assert_eq!(methods, ["server/discover", "initialize"]);
}
