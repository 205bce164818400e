//! The clients of the Python SDKs.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use switchboard_tests::partners::{self, Launch};

use super::{LEGACY, MODERN, front_of};
use crate::front::{Front, OWN};

/// Runs a client to its end, and holds what it saw against what the server offers.
fn uses(front: &Front, client: &Launch, version: &str, prefix: &str) {
    let output = Command::new(&client.program)
        .args(&client.args)
        .arg(prefix)
        .envs(front.env())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let saw: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(saw["version"], version);
    let tools = saw["tools"].as_array().unwrap();
    assert!(tools.contains(&json!(format!("{prefix}echo"))), "{saw}");
    assert_eq!(saw["echo"], "hello");
    assert_eq!(saw["progress"], json!([1.0, 2.0, 3.0]));
    assert_eq!(saw["read"], 1);
    assert_eq!(saw["prompts"].as_array().unwrap().len(), 4);
    assert_eq!(saw["asked"], "Hello, Ada!");
    assert_eq!(saw["prompt"], "Say hello to Ada in a friendly way.");
    assert_eq!(saw["completed"], json!(["true"]));
    assert_eq!(saw["after"], "still here");
}

/// Runs a client over stdio and HTTP, before the whole gateway and before one server alone.
fn everywhere((era, version): (&str, &str), client: impl Fn(&str) -> Launch) {
    let (_server, front) = front_of(era);
    let whole = json!([OWN, "serve"]).to_string();
    uses(&front, &client(&whole), version, "demo__");
    let one = json!([OWN, "serve", "--server", "demo"]).to_string();
    uses(&front, &client(&one), version, "");
    let gateway = front.http();
    uses(&front, &client(&gateway.url), version, "demo__");
    uses(&front, &client(&gateway.server("demo")), version, "");
}

#[test]
fn python_mcp_2_3_uses_a_server_in_the_legacy_era() {
    let client = |target: &str| partners::python_v2_gateway_client("legacy", target);
    everywhere(LEGACY, client);
}

#[test]
fn python_mcp_2_3_uses_a_server_in_the_modern_era() {
    let client = |target: &str| partners::python_v2_gateway_client("auto", target);
    everywhere(MODERN, client);
}

#[test]
fn python_mcp_1_30_uses_a_server_in_the_legacy_era() {
    everywhere(LEGACY, partners::python_v1_gateway_client);
}
