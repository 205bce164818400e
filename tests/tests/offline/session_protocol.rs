//! Which era a session speaks when somebody decides or remembers it, and how it introduces itself.

use serde_json::json;
use switchboard::protocol::Era;
use switchboard::session::{EraHint, Session, SessionOptions};
use switchboard::spec::Protocol;
use switchboard::{CallError, OpenError};
use tokio::time::Instant;

use crate::support::wire::hello_modern;
use crate::support::{self, Server, Wire, call, secs};

/// A legacy server that knows no other method.
fn legacy_only() -> Server {
    Server::new(|mut wire: Wire| async move {
        let probe = wire.expect("server/discover").await;
        wire.refuse(&probe, -32601).await;
        wire.greet_legacy().await;
        wire.hold().await;
    })
}

#[tokio::test(start_paused = true)]
async fn the_order_of_the_modern_era_is_not_given_up() {
    let mut server = Server::new(|mut wire: Wire| async move {
        let probe = wire.expect("server/discover").await;
        wire.refuse(&probe, -32601).await;
        wire.hold().await;
    });
    let options = SessionOptions::default().protocol(Protocol::Modern);
    match Session::connect(&server, options).await.unwrap_err() {
        OpenError::NoCommonVersion { ours, .. } => assert_eq!(ours, ["2026-07-28"]),
        other => panic!("{other:?}"),
    }
    assert_eq!(server.methods_so_far(), ["server/discover"]);
}

#[tokio::test(start_paused = true)]
async fn silence_under_the_order_of_the_modern_era_is_a_time_out() {
    let server = Server::new(|wire: Wire| wire.hold());
    let error = Session::connect(&server, support::modern_options()).await;
    match error.unwrap_err() {
        OpenError::Handshake { stage, error, .. } => {
            assert_eq!(stage, "server/discover");
            assert!(matches!(*error, CallError::TimedOut { .. }), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn the_order_of_the_legacy_era_asks_no_modern_question() {
    let mut server = Server::new(|mut wire: Wire| async move {
        wire.greet_legacy().await;
        wire.hold().await;
    });
    let session = Session::connect(&server, support::legacy_options()).await;
    session.unwrap().close().await;
    let methods = server.methods_so_far();
    assert_eq!(methods, ["initialize", "notifications/initialized"]);
}

fn remembered(era: Era) -> SessionOptions {
    SessionOptions::default().era_hint(Some(EraHint::of(era)))
}

#[tokio::test(start_paused = true)]
async fn a_remembered_legacy_verdict_saves_the_probe() {
    let mut server = Server::new(|mut wire: Wire| async move {
        wire.greet_legacy().await;
        wire.hold().await;
    });
    let begun = Instant::now();
    let session = Session::connect(&server, remembered(Era::Legacy))
        .await
        .unwrap();
    assert_eq!(begun.elapsed(), secs(0));
    assert_eq!(session.negotiated().era_hint(), EraHint::of(Era::Legacy));
    session.close().await;
    let methods = server.methods_so_far();
    assert_eq!(methods, ["initialize", "notifications/initialized"]);
}

#[tokio::test(start_paused = true)]
async fn a_wrong_legacy_verdict_is_corrected_when_the_handshake_is_refused() {
    for code in [-32022, -32601] {
        let server = Server::new(move |mut wire: Wire| async move {
            let request = wire.expect("initialize").await;
            let data = json!({"supported": ["2026-07-28"]});
            wire.refuse_with(&request, code, &data).await;
            wire.greet_modern().await;
            wire.hold().await;
        });
        let session = Session::connect(&server, remembered(Era::Legacy))
            .await
            .unwrap();
        assert_eq!(session.negotiated().era_hint(), EraHint::of(Era::Modern));
        assert_eq!(server.starts(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wrong_legacy_verdict_is_corrected_when_the_server_ends_on_the_handshake() {
    let server = Server::new(|mut wire: Wire| async move {
        if wire.start == 1 {
            wire.expect("initialize").await;
            return;
        }
        wire.greet_modern().await;
        wire.hold().await;
    });
    let session = Session::connect(&server, remembered(Era::Legacy))
        .await
        .unwrap();
    assert_eq!(session.negotiated().era_hint(), EraHint::of(Era::Modern));
    assert_eq!(server.starts(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_wrong_legacy_verdict_is_corrected_when_the_handshake_is_not_answered() {
    let server = Server::new(|mut wire: Wire| async move {
        wire.expect("initialize").await;
        wire.greet_modern().await;
        wire.hold().await;
    });
    let session = Session::connect(&server, remembered(Era::Legacy))
        .await
        .unwrap();
    assert_eq!(session.negotiated().era_hint(), EraHint::of(Era::Modern));
    assert_eq!(server.starts(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_remembered_as_modern_has_longer_for_the_probe() {
    let mut server = Server::new(|mut wire: Wire| async move {
        let probe = wire.expect("server/discover").await;
        tokio::time::sleep(secs(14)).await;
        wire.answer(&probe, &hello_modern(&["2026-07-28"])).await;
        wire.hold().await;
    });
    let session = Session::connect(&server, remembered(Era::Modern))
        .await
        .unwrap();
    assert_eq!(session.negotiated().era_hint(), EraHint::of(Era::Modern));
    assert_eq!(server.methods_so_far(), ["server/discover"]);
}

#[tokio::test(start_paused = true)]
async fn a_wrong_modern_verdict_is_corrected() {
    let server = legacy_only();
    let session = Session::connect(&server, remembered(Era::Modern))
        .await
        .unwrap();
    assert_eq!(session.negotiated().era_hint(), EraHint::of(Era::Legacy));
}

#[tokio::test(start_paused = true)]
async fn the_first_messages_are_as_the_specification_wants_them() {
    let mut server = legacy_only();
    let session = Session::connect(&server, SessionOptions::default())
        .await
        .unwrap();
    session.close().await;
    let heard = server.heard_so_far();
    assert!(heard[0]["id"].is_string());
    assert_eq!(heard[1]["params"]["protocolVersion"], "2025-11-25");
    assert!(heard[1]["params"]["capabilities"].is_object());
    assert!(heard[1]["params"]["clientInfo"]["name"].is_string());
    assert_eq!(
        heard[2],
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
    );
}

#[tokio::test(start_paused = true)]
async fn every_modern_request_says_who_we_are_and_what_we_speak() {
    let (session, mut server) = support::modern(|mut wire| async move {
        while let Some(request) = wire.read().await {
            let result = match request["method"].as_str().unwrap() {
                "tools/list" => json!({"resultType": "complete", "tools": []}),
                "server/discover" => hello_modern(&["2026-07-28"]),
                "resources/read" => json!({"resultType": "complete", "contents": []}),
                _ => json!({"resultType": "complete", "content": []}),
            };
            wire.answer(&request, &result).await;
        }
    })
    .await;
    session.list_tools().await.unwrap();
    call(&session, "x").await.unwrap();
    session.ping().await.unwrap();
    let options = switchboard::CallOptions::default();
    session.read_resource("a:b", options).await.unwrap();
    session.close().await;
    for request in server.heard_so_far() {
        let meta = &request["params"]["_meta"];
        let key = |name: &str| &meta[format!("io.modelcontextprotocol/{name}")];
        assert_eq!(key("protocolVersion"), "2026-07-28", "{request}");
        assert!(key("clientCapabilities").is_object(), "{request}");
        assert_eq!(key("clientInfo")["name"], "switchboard", "{request}");
        assert!(key("clientInfo")["version"].is_string(), "{request}");
    }
}
