//! The fixture of the official suite, over pipes: its surface, and its questions in either era.

use serde_json::{Value, json};
use switchboard_testkit::Options;

use crate::server::client::{Client, text};

const TOOLS: [&str; 28] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_tool_with_progress",
    "test_reconnection",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_streaming_elicitation",
    "test_missing_capability",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "json_schema_2020_12_tool",
    "test_custom_header",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_tampered_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_capabilities",
];

const PROMPTS: [&str; 5] = [
    "test_simple_prompt",
    "test_prompt_with_arguments",
    "test_prompt_with_embedded_resource",
    "test_prompt_with_image",
    "test_input_required_result_prompt",
];

const RESOURCES: [&str; 3] = [
    "test://static-text",
    "test://static-binary",
    "test://watched-resource",
];

fn fixture() -> Options {
    Options {
        conformance: true,
        ..Options::default()
    }
}

fn able() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

async fn legacy() -> Client {
    Client::legacy_with(fixture(), "2025-11-25", able()).await
}

fn modern() -> Client {
    Client::modern(fixture(), &able())
}

async fn names(client: &mut Client, list: &str, name: &str) -> Vec<String> {
    let result = client.result(&format!("{list}/list"), json!({})).await;
    let items = result[list].as_array().unwrap();
    let name = |item: &Value| item[name].as_str().unwrap().to_owned();
    items.iter().map(name).collect()
}

fn accept(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

/// Calls a tool with answers and a state.
fn again(tool: &str, responses: Value, state: &Value) -> Value {
    let mut params = json!({"name": tool, "inputResponses": responses});
    if !state.is_null() {
        params["requestState"] = state.clone();
    }
    params
}

#[tokio::test]
async fn the_fixture_offers_what_the_suite_asks_for_by_name() {
    for mut client in Client::both(fixture()).await {
        assert_eq!(names(&mut client, "tools", "name").await, TOOLS);
        assert_eq!(names(&mut client, "prompts", "name").await, PROMPTS);
        assert_eq!(names(&mut client, "resources", "uri").await, RESOURCES);
        let templates = client.result("resources/templates/list", json!({})).await;
        let template = &templates["resourceTemplates"][0]["uriTemplate"];
        assert_eq!(template, "test://template/{id}/data");
    }
}

#[tokio::test]
async fn the_fixture_declares_what_it_has() {
    let mut client = modern();
    let mut found = client.result("server/discover", json!({})).await;
    assert_eq!(
        found["capabilities"].take(),
        json!({
            "tools": {"listChanged": true},
            "resources": {"subscribe": true, "listChanged": true},
            "prompts": {"listChanged": true},
            "logging": {},
            "completions": {},
        })
    );
    let mut client = legacy().await;
    let watched = json!({"uri": "test://watched-resource"});
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        assert_eq!(client.result(method, watched.clone()).await, json!({}));
    }
}

#[tokio::test]
async fn every_kind_of_content_arrives_in_both_eras() {
    for mut client in Client::both(fixture()).await {
        let mut types = Vec::new();
        for tool in TOOLS.iter().take(6) {
            let result = client.call(tool, json!({})).await;
            for block in result["content"].as_array().unwrap() {
                types.push(block["type"].as_str().unwrap().to_owned());
            }
            let is_error = result.get("isError").is_some();
            assert_eq!(is_error, *tool == "test_error_handling");
        }
        let expected = [
            "text", "image", "audio", "resource", "text", "image", "resource", "text",
        ];
        assert_eq!(types, expected);
    }
}

#[tokio::test]
async fn resources_are_read_as_text_bytes_and_from_the_template() {
    for mut client in Client::both(fixture()).await {
        let mut read = async |uri: &str| {
            let result = client.result("resources/read", json!({"uri": uri})).await;
            result["contents"][0].clone()
        };
        let text = &read("test://static-text").await["text"];
        assert_eq!(text, "This is the content of the static text resource.");
        let picture = read("test://static-binary").await;
        assert_eq!(picture["mimeType"], "image/png");
        assert!(picture["blob"].as_str().unwrap().starts_with("iVBORw0KGgo"));
        let data = read("test://template/123/data").await;
        let data: Value = serde_json::from_str(data["text"].as_str().unwrap()).unwrap();
        assert_eq!(
            data,
            json!({"id": "123", "templateTest": true, "data": "Data for ID: 123"})
        );
        for uri in [
            "test://template//data",
            "test://template/1/2/data",
            "note:///x",
        ] {
            let error = client.error("resources/read", json!({"uri": uri})).await;
            assert_eq!(error["data"]["uri"], uri);
        }
    }
}

#[tokio::test]
async fn prompts_have_several_messages_and_arguments() {
    for mut client in Client::both(fixture()).await {
        let mut get = async |name: &str, arguments: Value| {
            let params = json!({"name": name, "arguments": arguments});
            client.result("prompts/get", params).await["messages"].take()
        };
        let arguments = json!({"arg1": "hello", "arg2": "world"});
        let messages = get("test_prompt_with_arguments", arguments).await;
        let text = &messages[0]["content"]["text"];
        assert_eq!(text, "Prompt with arguments: arg1='hello', arg2='world'");
        let arguments = json!({"resourceUri": "test://example"});
        let messages = get("test_prompt_with_embedded_resource", arguments).await;
        assert_eq!(messages[0]["content"]["resource"]["uri"], "test://example");
        assert_eq!(messages[1]["content"]["type"], "text");
        let params = json!({"name": "test_prompt_with_arguments", "arguments": {"arg1": "x"}});
        let error = client.error("prompts/get", params).await;
        assert_eq!(error["message"], "missing required argument arg2");
    }
}

#[tokio::test]
async fn arguments_of_the_fixture_can_be_completed() {
    for mut client in Client::both(fixture()).await {
        let reference = json!({"type": "ref/prompt", "name": "test_prompt_with_arguments"});
        let params = json!({"ref": reference, "argument": {"name": "arg1", "value": "par"}});
        let result = client.result("completion/complete", params).await;
        let values = json!(["paris", "park", "party"]);
        assert_eq!(result["completion"]["values"], values);
    }
}

#[tokio::test(start_paused = true)]
async fn progress_and_logs_come_before_the_answer() {
    for mut client in [legacy().await, modern()] {
        let params = json!({"name": "test_tool_with_progress", "_meta": {"progressToken": "t"}});
        let id = client.request("tools/call", params).await;
        for progress in [0, 50, 100] {
            let params = json!({"progressToken": "t", "progress": progress, "total": 100});
            assert_eq!(client.next().await["params"], params);
        }
        assert_eq!(client.next().await["id"], id);
        let meta = json!({"io.modelcontextprotocol/logLevel": "info"});
        let params = json!({"name": "test_tool_with_logging", "_meta": meta});
        let id = client.request("tools/call", params).await;
        for data in [
            "Tool execution started",
            "Tool processing data",
            "Tool execution completed",
        ] {
            assert_eq!(client.next().await["params"]["data"], data);
        }
        assert_eq!(client.next().await["id"], id);
    }
    // In the modern era a request that asks for no logs gets none.
    modern().call("test_logging_tool", json!({})).await;
}

#[tokio::test]
async fn a_legacy_client_is_asked_one_question_after_the_other() {
    let mut client = legacy().await;
    let params = json!({"name": "test_input_required_result_multiple_inputs"});
    let call = client.request("tools/call", params).await;
    let answers = [
        ("elicitation/create", accept(json!({"name": "Ada"}))),
        (
            "sampling/createMessage",
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Hi"}}),
        ),
        ("roots/list", json!({"roots": [{"uri": "file:///a"}]})),
    ];
    for (method, result) in answers {
        let question = client.next().await;
        assert_eq!(question["method"], method);
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        client.send(&answer).await;
    }
    let answer = client.next().await;
    assert_eq!(answer["id"], call);
    assert_eq!(
        text(&answer["result"]),
        "Name: Ada; greeting: Hi; roots: file:///a"
    );
}

#[tokio::test]
async fn a_modern_call_goes_through_its_rounds() {
    let tool = "test_input_required_result_multi_round";
    let mut client = modern();
    let first = client.call(tool, json!({})).await;
    assert_eq!(first["resultType"], "input_required");
    assert!(first["inputRequests"]["step1"].is_object());
    let responses = json!({"step1": accept(json!({"name": "Ada"}))});
    let params = again(tool, responses, &first["requestState"]);
    let second = client.result("tools/call", params).await;
    assert!(second["inputRequests"]["step2"].is_object());
    assert_ne!(first["requestState"], second["requestState"]);
    let responses = json!({"step2": accept(json!({"color": "blue"}))});
    let params = again(tool, responses, &second["requestState"]);
    let last = client.result("tools/call", params).await;
    assert_eq!(text(&last), "Ada likes blue.");
}

#[tokio::test]
async fn a_state_that_was_changed_or_is_of_another_tool_is_refused() {
    let tool = "test_input_required_result_tampered_state";
    let mut client = modern();
    let first = client.call(tool, json!({})).await;
    let state = first["requestState"].as_str().unwrap().to_owned();
    let responses = json!({"confirm": accept(json!({"ok": true}))});
    let changed = [
        format!("{state}-TAMPERED"),
        state.replace("\"round\":0", "\"round\":1"),
        String::new(),
    ];
    for state in changed {
        let params = again(tool, responses.clone(), &json!(state));
        assert_eq!(client.code("tools/call", params).await, -32602, "{state}");
    }
    let other = "test_input_required_result_request_state";
    let params = again(other, responses.clone(), &json!(state));
    assert_eq!(client.code("tools/call", params).await, -32602);
    let params = again(tool, responses, &json!(state));
    let result = client.result("tools/call", params).await;
    assert_eq!(text(&result), "state-ok, confirmed: true");
}

#[tokio::test]
async fn what_is_missing_or_no_answer_is_asked_for_again() {
    let tool = "test_input_required_result_elicitation";
    let mut client = modern();
    for responses in [
        json!({}),
        json!({"wrong_key": accept(json!({"name": "Ada"}))}),
        json!({"user_name": 12345}),
        json!({"user_name": {"action": "shrug"}}),
    ] {
        let params = again(tool, responses, &Value::Null);
        let result = client.result("tools/call", params).await;
        assert_eq!(result["resultType"], "input_required");
    }
    let params = again(tool, Value::Null, &Value::Null);
    assert_eq!(client.code("tools/call", params).await, -32602);
    let responses = json!({"user_name": accept(json!({"name": "Ada"})), "other": 1});
    let params = again(tool, responses, &Value::Null);
    let result = client.result("tools/call", params).await;
    assert_eq!(text(&result), "Hello, Ada!");
}

#[tokio::test]
async fn only_what_the_client_declared_is_asked() {
    let mut client = Client::modern(fixture(), &json!({"sampling": {}}));
    let tool = "test_input_required_result_capabilities";
    let result = client.call(tool, json!({})).await;
    let asked: Vec<&String> = result["inputRequests"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(asked, ["greeting"]);
    let mut client = Client::modern(fixture(), &json!({}));
    for (tool, needed) in [
        ("test_missing_capability", json!({"sampling": {}})),
        (
            tool,
            json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}}),
        ),
    ] {
        let error = client.error("tools/call", json!({"name": tool})).await;
        assert_eq!(error["code"], -32021);
        assert_eq!(error["data"]["requiredCapabilities"], needed);
    }
    let mut client = Client::legacy_with(fixture(), "2025-11-25", json!({})).await;
    let result = client.call("test_missing_capability", json!({})).await;
    assert_eq!(result["isError"], true);
}

#[tokio::test]
async fn a_prompt_asks_in_the_way_of_either_era() {
    let name = "test_input_required_result_prompt";
    let said = accept(json!({"context": "a test"}));
    let messages = json!([{
        "role": "user", "content": {"type": "text", "text": "Use this context: a test"},
    }]);
    let mut client = modern();
    let first = client.result("prompts/get", json!({"name": name})).await;
    assert_eq!(first["resultType"], "input_required");
    let params = again(name, json!({"user_context": said}), &Value::Null);
    let result = client.result("prompts/get", params).await;
    assert_eq!(result["messages"], messages);
    let mut client = legacy().await;
    client.request("prompts/get", json!({"name": name})).await;
    let question = client.next().await;
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": said});
    client.send(&answer).await;
    assert_eq!(client.next().await["result"]["messages"], messages);
}

#[tokio::test]
async fn the_lists_change_and_change_back() {
    for (tool, list) in [
        ("test_trigger_tool_change", "tools"),
        ("test_trigger_prompt_change", "prompts"),
    ] {
        let mut client = legacy().await;
        let before = names(&mut client, list, "name").await;
        for is_there in [true, false] {
            client.request("tools/call", json!({"name": tool})).await;
            let method = format!("notifications/{list}/list_changed");
            assert_eq!(client.next().await["method"], method.as_str());
            client.next().await;
            let mut now = names(&mut client, list, "name").await;
            if is_there {
                assert_eq!(now.pop().as_deref(), Some("test_toggled_item"));
            }
            assert_eq!(now, before);
        }
    }
}

#[tokio::test]
async fn keywords_of_schemas_are_listed_unchanged() {
    for mut client in Client::both(fixture()).await {
        let result = client.result("tools/list", json!({})).await;
        let mut tools = result["tools"].as_array().unwrap().iter();
        let tool = tools.find(|tool| tool["name"] == "json_schema_2020_12_tool");
        let schema = &tool.unwrap()["inputSchema"];
        assert_eq!(schema["$defs"]["address"]["$anchor"], "addressDef");
        for keyword in ["$schema", "allOf", "if", "then", "else"] {
            assert!(schema.get(keyword).is_some(), "{keyword}");
        }
    }
}
