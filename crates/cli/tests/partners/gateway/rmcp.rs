//! rmcp's client.

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequestParams,
    ReadResourceRequestParams,
};
use rmcp::service::{PeerRequestOptions, RunningService};
use serde_json::{Map, Value, json};
use switchboard_tests::rmcp_client::{Opening, Watching, connect, connect_http, rmcp};

use super::{LEGACY, MODERN, front_of, launch};

type Client = RunningService<rmcp::RoleClient, Watching>;

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

fn call(tool: String, arguments: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(object(arguments))
}

async fn echo(client: &Client, prefix: &str, message: &str) {
    let params = call(format!("{prefix}echo"), json!({"message": message}));
    let result = client.call_tool(params).await.unwrap();
    let result = serde_json::to_value(&result).unwrap();
    assert_eq!(result["content"][0]["text"], message);
}

/// Uses everything once. The prefix is what the gateway puts before names.
async fn uses(client: Client, version: &str, prefix: &str) {
    let info = client.peer_info().unwrap();
    assert_eq!(info.protocol_version.to_string(), version);
    let tools = client.list_all_tools().await.unwrap();
    let name = format!("{prefix}echo");
    assert!(tools.iter().any(|tool| tool.name == name), "{tools:?}");
    echo(&client, prefix, "hello").await;

    let mut progress = client.service().progress.subscribe();
    let slow = format!("{prefix}slow_operation");
    let params = call(slow.clone(), json!({"duration": 0, "steps": 3}));
    client.call_tool(params).await.unwrap();
    // rmcp hands notifications on in tasks of their own.
    progress.wait_for(|step| *step >= 3.0).await.unwrap();

    let params = ReadResourceRequestParams::new("file:///readme.txt");
    let read = client.read_resource(params).await.unwrap();
    let read = serde_json::to_value(&read).unwrap();
    assert_eq!(read["contents"][0]["mimeType"], "text/plain");
    assert_eq!(client.list_all_prompts().await.unwrap().len(), 4);
    let greeting = format!("{prefix}greeting");
    let params = GetPromptRequestParams::new(greeting.clone());
    let params = params.with_arguments(object(json!({"name": "Ada"})));
    let prompt = client.get_prompt(params).await.unwrap();
    let prompt = serde_json::to_value(&prompt).unwrap();
    let said = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(said.contains("Ada"), "{said}");
    let completed = client.complete_prompt_simple(greeting, "formal", "t").await;
    assert_eq!(completed.unwrap(), ["true"]);

    // A long call that is cancelled once it has begun; what it reports first is less than before.
    let params = call(slow, json!({"duration": 600, "steps": 6000}));
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let options = PeerRequestOptions::no_options();
    let handle = client.send_cancellable_request(request, options).await;
    progress.wait_for(|step| *step < 3.0).await.unwrap();
    handle
        .unwrap()
        .cancel(Some("enough".to_owned()))
        .await
        .unwrap();
    echo(&client, prefix, "still here").await;
    client.cancel().await.unwrap();
}

async fn over_stdio((era, version): (&str, &str), opening: Opening) {
    let (_server, front) = front_of(era);
    let whole = connect(&launch(&front, &[]), opening).await.unwrap();
    uses(whole, version, "demo__").await;
    let launch = launch(&front, &["--server", "demo"]);
    uses(connect(&launch, opening).await.unwrap(), version, "").await;
}

async fn over_http((era, version): (&str, &str), opening: Opening) {
    let (_server, front) = front_of(era);
    let gateway = front.http();
    let whole = connect_http(&gateway.url, opening).await.unwrap();
    uses(whole, version, "demo__").await;
    let one = connect_http(&gateway.server("demo"), opening).await;
    uses(one.unwrap(), version, "").await;
}

#[tokio::test]
async fn rmcp_3_8_uses_a_server_over_stdio_in_the_legacy_era() {
    over_stdio(LEGACY, Opening::Legacy).await;
}

#[tokio::test]
async fn rmcp_3_8_uses_a_server_over_stdio_in_the_modern_era() {
    over_stdio(MODERN, Opening::Auto).await;
}

#[tokio::test]
async fn rmcp_3_8_uses_a_server_over_http_in_the_legacy_era() {
    over_http(LEGACY, Opening::Legacy).await;
}

#[tokio::test]
async fn rmcp_3_8_uses_a_server_over_http_in_the_modern_era() {
    over_http(MODERN, Opening::Auto).await;
}
