//! Our test server over HTTP with clients that others wrote, in both eras.

use rmcp::model::{CallToolRequestParams, ReadResourceRequestParams};
use serde_json::{Map, Value, json};
use switchboard_testkit::http::{Answers, Http, Server, Transport};
use switchboard_testkit::{Eras, Options};
use switchboard_tests::partners::{self, Launch};
use switchboard_tests::rmcp_client::{Opening, connect_http, rmcp};

fn http(eras: Eras) -> Http {
    Http::new(Options {
        eras,
        ..Options::default()
    })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other}"),
    }
}

async fn rmcp_uses(eras: Eras, opening: Opening, version: &str) {
    for answers in [Answers::Auto, Answers::Sse] {
        let server = http(eras).answers(answers).serve().await.unwrap();
        rmcp_uses_one(&server, opening, version).await;
        server.shutdown().await;
    }
}

async fn rmcp_uses_one(server: &Server, opening: Opening, version: &str) {
    let client = connect_http(&server.url(), opening).await.unwrap();
    let info = client.peer_info().unwrap();
    assert_eq!(info.protocol_version.to_string(), version);
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools[0].name, "echo");
    let params =
        CallToolRequestParams::new("echo").with_arguments(object(json!({"message": "hello"})));
    let result = client.call_tool(params).await.unwrap();
    let result = serde_json::to_value(&result).unwrap();
    assert_eq!(result["content"][0]["text"], "hello");

    let mut progress = client.service().progress.subscribe();
    let params = CallToolRequestParams::new("slow_operation")
        .with_arguments(object(json!({"duration": 0, "steps": 3})));
    client.call_tool(params).await.unwrap();
    // rmcp hands notifications on in tasks of their own.
    progress.wait_for(|step| *step >= 3.0).await.unwrap();

    let params = ReadResourceRequestParams::new("file:///readme.txt");
    let read = client.read_resource(params).await.unwrap();
    let read = serde_json::to_value(&read).unwrap();
    assert_eq!(read["contents"][0]["mimeType"], "text/plain");
    assert_eq!(client.list_all_prompts().await.unwrap().len(), 3);
    client.cancel().await.unwrap();
    server.until(|counts| counts.sessions == 0).await;
}

#[tokio::test]
async fn rmcp_3_8_s_client_in_the_legacy_era() {
    rmcp_uses(Eras::Both, Opening::Legacy, "2025-11-25").await;
    rmcp_uses(Eras::Legacy, Opening::Auto, "2025-11-25").await;
}

#[tokio::test]
async fn rmcp_3_8_s_client_in_the_modern_era() {
    rmcp_uses(Eras::Both, Opening::Auto, "2026-07-28").await;
    rmcp_uses(Eras::Modern, Opening::Modern, "2026-07-28").await;
}

async fn python_uses(http: Http, client: impl Fn(&str) -> Launch, version: &str) {
    let server = http.serve().await.unwrap();
    let launch = client(&server.url());
    let output = tokio::process::Command::new(&launch.program)
        .args(&launch.args)
        .kill_on_drop(true)
        .output()
        .await
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let saw: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(saw["version"], version);
    assert_eq!(saw["tools"][0], "echo");
    assert_eq!(saw["echo"], "hello");
    assert_eq!(saw["progress"], json!([1.0, 2.0, 3.0]));
    assert_eq!(saw["read"], 1);
    assert_eq!(saw["prompts"].as_array().unwrap().len(), 3);
    server.until(|counts| counts.sessions == 0).await;
    server.shutdown().await;
}

#[tokio::test]
async fn the_client_of_python_mcp_1_30() {
    for eras in [Eras::Both, Eras::Legacy] {
        python_uses(http(eras), partners::python_v1_client, "2025-11-25").await;
    }
}

#[tokio::test]
async fn the_client_of_python_mcp_1_30_over_sse() {
    let http = http(Eras::Both).transport(Transport::Sse);
    let client = |url: &str| partners::python_v1_client(url).arg("sse");
    python_uses(http, client, "2025-11-25").await;
}

#[tokio::test]
async fn the_client_of_python_mcp_2_3_in_both_eras() {
    for (eras, mode, version) in [
        (Eras::Both, "auto", "2026-07-28"),
        (Eras::Modern, "2026-07-28", "2026-07-28"),
        (Eras::Both, "legacy", "2025-11-25"),
        (Eras::Legacy, "auto", "2025-11-25"),
    ] {
        let client = |url: &str| partners::python_v2_client(mode, url);
        python_uses(http(eras), client, version).await;
    }
}
