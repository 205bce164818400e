//! Our test server with a client that others wrote, in both eras.

use rmcp::model::{CallToolRequestParams, GetPromptRequestParams, ReadResourceRequestParams};
use serde_json::{Map, Value, json};
use switchboard_tests::partners::Launch;
use switchboard_tests::rmcp_client::{Opening, connect, rmcp};

fn server(mode: Option<&str>) -> Launch {
    let launch = Launch::program(env!("CARGO_BIN_EXE_test-server"));
    mode.into_iter().fold(launch, Launch::arg)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("{other}"),
    }
}

async fn everything_works(server: &Launch, opening: Opening, version: &str) {
    let client = connect(server, opening).await.unwrap();
    let info = client.peer_info().unwrap();
    assert_eq!(info.protocol_version.to_string(), version);

    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools[0].name, "echo");
    let params =
        CallToolRequestParams::new("echo").with_arguments(object(json!({"message": "hello"})));
    let result = client.call_tool(params).await.unwrap();
    let result = serde_json::to_value(&result).unwrap();
    assert_eq!(result["content"][0]["text"], "hello");

    let resources = client.list_all_resources().await.unwrap();
    assert_eq!(resources.len(), 3);
    let params = ReadResourceRequestParams::new("file:///readme.txt");
    let read = client.read_resource(params).await.unwrap();
    let read = serde_json::to_value(&read).unwrap();
    assert_eq!(read["contents"][0]["mimeType"], "text/plain");

    let prompts = client.list_all_prompts().await.unwrap();
    assert_eq!(prompts.len(), 3);
    let params =
        GetPromptRequestParams::new("greeting").with_arguments(object(json!({"name": "Ada"})));
    let prompt = client.get_prompt(params).await.unwrap();
    let prompt = serde_json::to_value(&prompt).unwrap();
    let said = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(said.contains("Ada"), "{said}");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn rmcp_3_8_s_client_in_the_legacy_era() {
    everything_works(&server(None), Opening::Legacy, "2025-11-25").await;
    everything_works(&server(Some("--legacy")), Opening::Auto, "2025-11-25").await;
}

#[tokio::test]
async fn rmcp_3_8_s_client_in_the_modern_era() {
    everything_works(&server(None), Opening::Auto, "2026-07-28").await;
    everything_works(&server(Some("--modern")), Opening::Modern, "2026-07-28").await;
}
