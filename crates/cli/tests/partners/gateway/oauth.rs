//! A client with a token of oidc-provider before a gateway that takes the tokens of this issuer.

use std::net::TcpListener;

use serde_json::json;
use switchboard_tests::partners;

use super::sees;
use crate::front::Front;
use crate::logins::Partner;

#[test]
fn a_python_client_gets_a_token_of_oidc_provider_and_uses_the_gateway() {
    let issuer = Partner::start(partners::oidc_issuer);
    let front = Front::to_test_server(&["--talking"]);
    let rule = json!({
        "when": {"sub": "machine"}, "agent": "machine", "grants": ["mcp:demo:echo"],
    });
    let file = json!({"issuer": issuer.url(), "scopes": ["tools"], "rules": [rule]});
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("issuer.json");
    std::fs::write(&path, file.to_string()).unwrap();
    let path = path.to_str().unwrap();
    // Tokens are issued for the address, so it has to be known before.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let gateway = front.http_with(&["--http", &address, "--oauth", path]);
    let saw = sees(&front, &partners::python_v1_oauth_client(&gateway.url));
    assert_eq!(saw["version"], "2025-11-25", "{saw}");
    assert_eq!(saw["tools"], json!(["demo__echo"]), "{saw}");
    assert_eq!(saw["echo"], "hello", "{saw}");
    // Without a token, with one for another resource, and with one that lacks the scope.
    assert_eq!(saw["refused"], json!([401, 401, 403]), "{saw}");
}
