//! Servers that are their own issuers: fastmcp, and the demo of the TypeScript SDK.

use std::net::TcpListener;

use serde_json::json;
use switchboard_tests::partners;

use super::{Partner, Stage};

#[test]
fn a_login_at_fastmcp_with_a_browser_is_good_for_calls() {
    let server = Partner::start(partners::fastmcp_issuer);
    let stage = Stage::new(server.url(), &json!({}));
    stage.log_in_with_browser();
    stage.call();
    let out = stage.run(&["logout", "tickets"]);
    assert_eq!(
        out.stdout, "tickets: logged out, and revoked at the issuer\n",
        "{}",
        out.stderr
    );
    stage.log_in_by_paste();
    stage.call();
}

#[test]
fn a_login_at_the_typescript_demo_with_a_browser_is_good_for_calls() {
    for is_strict in [false, true] {
        let [port, issuer_port] = free_ports();
        let server = Partner::start(|_| partners::typescript_oauth(port, issuer_port, is_strict));
        for port in [port, issuer_port] {
            server.wait_for(&format!("listening on http://127.0.0.1:{port}"));
        }
        let stage = Stage::new(&format!("http://localhost:{port}/mcp"), &json!({}));
        stage.log_in_with_browser();
        let called = stage.run(&["call", "tickets/greet", "name=Ada"]);
        assert_eq!(
            (called.code, called.stdout.as_str()),
            (Some(0), "Hello, Ada!\n"),
            "{}",
            called.stderr
        );
        let status = stage.status();
        let issuer = format!("http://localhost:{issuer_port}/");
        assert_eq!(status["issuer"], issuer, "{status}");
    }
}

/// Two ports that were free a moment ago: the demo has to know both before it starts.
fn free_ports() -> [u16; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind(("127.0.0.1", 0)).unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}
