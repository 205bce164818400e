//! Settings of one server of a host: sizes, headers, redirects; and what is known of it while it runs.

use std::time::Duration;

use serde_json::json;
use switchboard::protocol::Era;
use switchboard::spec::{Protocol, ServerSpec, Settings, TransportKind};
use switchboard::transport::FaultKind;
use switchboard::{Error, ErrorKind, Host};
use switchboard_testkit::Options;

use crate::host_support::{PATIENCE, name, testkit};
use crate::support::http::{requests_of, server_of};
use crate::support::http_script::Scripted;

/// The bundled server as a process.
const SERVER: &str = env!("CARGO_BIN_EXE_endure-server");

async fn echo(host: &Host, server: &str, message: &str) -> Result<String, Error> {
    let tool = format!("{server}/echo");
    let called = host.call(&tool, json!({"message": message}));
    called.await.map(|result| result.text())
}

#[tokio::test]
async fn a_server_has_a_message_limit_of_its_own() {
    let small = Settings {
        message_bytes: Some(64 << 10),
        ..Settings::default()
    };
    let host = Host::builder()
        .transport(name("small"), testkit(Options::default()), small)
        .transport(
            name("usual"),
            testkit(Options::default()),
            Settings::default(),
        )
        .build()
        .unwrap();
    let long = "x".repeat(100 << 10);
    assert_eq!(echo(&host, "usual", &long).await.unwrap(), long);
    let error = echo(&host, "small", &long).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    // The one call fails, and the connection lives on.
    assert_eq!(echo(&host, "small", "hi").await.unwrap(), "hi");
}

#[cfg(unix)]
#[tokio::test]
async fn the_stderr_of_a_running_server_can_be_read() {
    let line = format!("echo warming up >&2; exec {SERVER}");
    let spec = ServerSpec::stdio("demo", "sh").unwrap().args(["-c", &line]);
    let host = Host::builder().server(spec).build().unwrap();
    assert_eq!(host.stderr("demo").unwrap(), [] as [&str; 0]);
    host.connect("demo").await.unwrap();
    let written = async {
        while host.stderr("demo").unwrap() != ["warming up"] {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, written).await.unwrap();
    assert_eq!(host.servers()[0].stderr, ["warming up"]);
    assert!(host.stderr("other").is_err());
    host.shutdown().await;
}

#[tokio::test]
async fn the_session_id_of_a_server_can_be_read_and_is_not_shown() {
    let server = Scripted::new(|asked| {
        Some(match asked.what().as_str() {
            "initialize" => asked.legacy().header("mcp-session-id", "canary-session"),
            _ => asked.legacy(),
        })
    });
    let server = server.await;
    let spec = ServerSpec::http("one", server.url()).unwrap();
    let host = Host::builder()
        .server(spec.protocol(Protocol::Legacy))
        .build()
        .unwrap();
    assert!(host.servers()[0].session_id.is_none());
    let status = host.connect("one").await.unwrap();
    let id = status.session_id.clone().unwrap();
    assert_eq!(id.expose(), "canary-session");
    assert!(!format!("{status:?}").contains("canary"), "{status:?}");
    host.shutdown().await;
}

#[tokio::test]
async fn a_description_has_the_identifier_of_its_server() {
    let server = server_of(Era::Modern, &[]).await;
    let remote = ServerSpec::http("remote", &server.url()).unwrap();
    let process = ServerSpec::stdio("process", SERVER).unwrap();
    let process = process.args(["--instance", "x"]);
    let before = [process.identifier(), remote.identifier()];
    assert_eq!(before[0], format!("stdio:{SERVER}:--instance x"));
    let host = Host::builder().server(remote).server(process);
    let host = host.build().unwrap();
    host.connect_all().await;
    let after: Vec<_> = host.servers().into_iter().map(|it| it.identity).collect();
    assert_eq!(after, before.map(Some));
    host.shutdown().await;
}

#[tokio::test]
async fn a_server_by_the_name_of_its_transport_is_reached_and_shown_by_it() {
    let server = server_of(Era::Modern, &[]).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    let entry = |kind: &str| json!({"type": kind, "url": server.url()});
    let config = json!({"mcpServers": {
        "a": entry("http"), "b": entry("streamable-http"), "c": entry("streamableHttp"),
    }});
    std::fs::write(&file, config.to_string()).unwrap();
    let host = Host::open(&file).await.unwrap();
    let kinds: Vec<_> = host.servers().iter().map(|it| it.transport).collect();
    let streamable = Some(TransportKind::StreamableHttp);
    assert_eq!(kinds, [Some(TransportKind::Http), streamable, streamable]);
    for server in ["a", "b", "c"] {
        assert_eq!(echo(&host, server, "hi").await.unwrap(), "hi");
    }
    host.shutdown().await;
}

#[tokio::test]
async fn redirects_can_be_refused_altogether() {
    for follows in [true, false] {
        let server = server_of(Era::Legacy, &["redirect=307@echo"]).await;
        let spec = ServerSpec::http("one", &server.url()).unwrap();
        let spec = spec.follow_redirects(follows).protocol(Protocol::Legacy);
        let host = Host::builder().server(spec).build().unwrap();
        match echo(&host, "one", "hi").await {
            Ok(text) => assert_eq!((text.as_str(), follows), ("hi", true)),
            Err(error) => {
                let kind = &error.fault().unwrap().kind;
                assert!(matches!(kind, FaultKind::Redirect { .. }), "{error}");
                assert!(!follows, "{error}");
            }
        }
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_header_of_the_protocol_is_replaced_on_explicit_request_alone() {
    let server = server_of(Era::Legacy, &[]).await;
    let spec = ServerSpec::http("one", &server.url()).unwrap();
    let spec = spec
        .header("Accept", "application/json, text/event-stream, */*;q=0.1")
        .header("X-Own", "1")
        .protocol(Protocol::Legacy);
    let host = Host::builder().server(spec.clone()).build().unwrap();
    let error = echo(&host, "one", "hi").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
    let host = Host::builder().server(spec.clone().override_headers(true));
    let host = host.build().unwrap();
    assert_eq!(echo(&host, "one", "hi").await.unwrap(), "hi");
    let calls = requests_of(&server, "tools/call");
    let accept = calls[0].header("accept");
    assert_eq!(
        accept,
        Some("application/json, text/event-stream, */*;q=0.1")
    );
    assert_eq!(calls[0].header("x-own"), Some("1"));
    // What controls the transfer stays ours.
    let spec = spec.header("Host", "elsewhere").override_headers(true);
    let host = Host::builder().server(spec).build().unwrap();
    let error = echo(&host, "one", "hi").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
}

#[tokio::test]
async fn the_text_of_a_result_can_be_had_safe_for_a_terminal() {
    let demo = testkit(Options::default());
    let host = Host::builder().transport(name("demo"), demo, Settings::default());
    let host = host.build().unwrap();
    let message = "a\u{1b}[31mred\u{202e}\nsecond line";
    let result = host.call("demo/echo", json!({ "message": message }));
    let result = result.await.unwrap();
    assert_eq!(result.text(), message);
    let safe = result.safe_text();
    assert!(!safe.contains(['\u{1b}', '\u{202e}']), "{safe:?}");
    assert!(safe.starts_with('a') && safe.contains("\nsecond line"));
}
