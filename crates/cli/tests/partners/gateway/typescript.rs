//! The clients of the TypeScript SDKs.

use serde_json::{Value, json};
use switchboard_tests::partners;

use super::{LEGACY, MODERN, entry, everywhere, sees};
use crate::front::{Front, OWN};

/// Holds that each client got the line that the server logged.
fn got_logs(saw: &[Value]) {
    for one in saw {
        assert_eq!(one["logs"], json!(["a line for the log"]));
    }
}

#[test]
fn typescript_1_32_uses_a_server_in_the_legacy_era() {
    got_logs(&everywhere(LEGACY, |target, prefix| {
        partners::typescript_client("client_gateway_v1.mjs", target, "legacy", prefix)
    }));
}

#[test]
fn typescript_2_4_uses_a_server_in_the_legacy_era() {
    got_logs(&everywhere(LEGACY, |target, prefix| {
        partners::typescript_client("client_gateway_v2.mjs", target, "legacy", prefix)
    }));
}

#[test]
fn typescript_2_4_uses_a_server_in_the_modern_era() {
    got_logs(&everywhere(MODERN, |target, prefix| {
        partners::typescript_client("client_gateway_v2.mjs", target, "auto", prefix)
    }));
}

#[test]
fn server_everything_samples_tells_of_a_resource_and_logs_through_the_gateway() {
    let front = Front::new(&json!({"everything": entry(&partners::everything())}));
    let stdio = json!([OWN, "serve"]).to_string();
    let gateway = front.http();
    for target in [&stdio, &gateway.url] {
        let client = partners::typescript_client("talk_v1.mjs", target, "legacy", "everything__");
        let saw = sees(&front, &client);
        let sampled = saw["sampled"].as_str().unwrap();
        assert!(sampled.contains("\"text\": \"sampled\""), "{saw}");
        assert_eq!(saw["uri"], "demo://resource/dynamic/text/1");
        assert!(saw["level"].is_string(), "{saw}");
    }
}

#[test]
fn a_modern_server_samples_and_tells_of_a_resource_and_of_a_new_tool_through_the_gateway() {
    // With pins a new tool would be withheld until the person approves it.
    let front = Front::with(&json!({
        "mcpServers": {"talk": entry(&partners::python_v2_talking())},
        "pins": "off",
    }));
    let stdio = json!([OWN, "serve"]).to_string();
    let gateway = front.http();
    for target in [&stdio, &gateway.url] {
        let client = partners::typescript_client("talk_v2.mjs", target, "modern", "talk__");
        let expected = json!({"sampled": "sampled", "uri": "partner://number", "grown": true});
        assert_eq!(sees(&front, &client), expected);
    }
}
