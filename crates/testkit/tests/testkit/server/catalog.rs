//! What is listed, read and got, in both eras.

use serde_json::{Value, json};
use switchboard_testkit::Options;

use crate::server::client::Client;

fn column<'a>(items: &'a Value, key: &str) -> Vec<&'a Value> {
    let items = items.as_array().unwrap();
    items.iter().map(|item| &item[key]).collect()
}

#[tokio::test]
async fn tools_are_listed_with_all_their_fields() {
    for mut client in Client::both(Options::default()).await {
        let tools = client.result("tools/list", json!({})).await["tools"].take();
        assert_eq!(
            column(&tools, "name"),
            [
                "echo",
                "get_time",
                "add",
                "slow_operation",
                "ask_name",
                "fail",
                "announce_change",
            ]
        );
        assert_eq!(
            tools[2],
            json!({
                "name": "add",
                "title": "Add",
                "description": "Adds two numbers.",
                "inputSchema": {
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "type": "object",
                    "properties": {
                        "a": {"type": "number", "description": "The first number"},
                        "b": {"type": "number", "description": "The second number"},
                    },
                    "required": ["a", "b"],
                    "additionalProperties": false,
                },
                "outputSchema": {
                    "$schema": "https://json-schema.org/draft/2020-12/schema",
                    "type": "object",
                    "properties": {"sum": {"type": "number", "description": "The sum of both"}},
                    "required": ["sum"],
                },
                "annotations": {"readOnlyHint": true, "openWorldHint": false},
            })
        );
    }
}

#[tokio::test]
async fn older_versions_see_fewer_fields() {
    let mut seen = Vec::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let mut client = Client::legacy(version, json!({})).await;
        let tools = client.result("tools/list", json!({})).await["tools"].take();
        let keys = tools[2].as_object().unwrap().keys();
        seen.push(keys.cloned().collect::<Vec<_>>());
        assert_eq!(tools[2]["inputSchema"].get("$schema"), None);
        let sum = client.call("add", json!({"a": 1, "b": 2})).await;
        assert_eq!(
            sum.get("structuredContent").is_some(),
            version == "2025-06-18"
        );
    }
    assert_eq!(seen[0], ["name", "description", "inputSchema"]);
    assert_eq!(
        seen[1],
        ["name", "description", "inputSchema", "annotations"]
    );
    assert_eq!(
        seen[2],
        [
            "name",
            "title",
            "description",
            "inputSchema",
            "outputSchema",
            "annotations"
        ]
    );
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    for mut client in Client::both(Options::default()).await {
        let list = client.result("resources/list", json!({})).await["resources"].take();
        let uris = [
            "file:///readme.txt",
            "file:///config.json",
            "file:///data/users.csv",
        ];
        let types = ["text/plain", "application/json", "text/csv"];
        assert_eq!(column(&list, "uri"), uris);
        assert_eq!(
            column(&list, "name"),
            ["README", "Configuration", "Users Data"]
        );
        assert_eq!(column(&list, "mimeType"), types);
        for resource in list.as_array().unwrap() {
            let uri = &resource["uri"];
            let result = client.result("resources/read", json!({"uri": uri})).await;
            let contents = result["contents"].as_array().unwrap();
            assert_eq!(contents.len(), 1);
            assert_eq!(&contents[0]["uri"], uri);
            assert_eq!(contents[0]["mimeType"], resource["mimeType"]);
            let text = contents[0]["text"].as_str().unwrap();
            assert_eq!(resource["size"], text.len());
            if uri == "file:///config.json" {
                assert!(serde_json::from_str::<Value>(text).unwrap().is_object());
            }
        }
    }
}

#[tokio::test]
async fn a_template_is_listed_and_what_it_names_is_read() {
    for mut client in Client::both(Options::default()).await {
        let result = client.result("resources/templates/list", json!({})).await;
        assert_eq!(
            column(&result["resourceTemplates"], "uriTemplate"),
            ["note:///{name}"]
        );
        let result = client
            .result("resources/read", json!({"uri": "note:///one"}))
            .await;
        assert_eq!(
            result["contents"],
            json!([{"uri": "note:///one", "mimeType": "text/plain", "text": "This is the note one.\n"}])
        );
    }
}

#[tokio::test]
async fn a_resource_that_is_not_there_has_the_code_of_its_era() {
    for (mut client, code) in Client::both(Options::default())
        .await
        .into_iter()
        .zip([-32002, -32602])
    {
        let error = client
            .error("resources/read", json!({"uri": "file:///nope"}))
            .await;
        assert_eq!(error["code"], code);
        assert_eq!(error["data"], json!({"uri": "file:///nope"}));
        assert_eq!(client.code("resources/read", json!({})).await, -32602);
        assert_eq!(
            client.code("resources/read", json!({"uri": 5})).await,
            -32602
        );
    }
}

#[tokio::test]
async fn prompts_are_listed_with_their_arguments() {
    for mut client in Client::both(Options::default()).await {
        let prompts = client.result("prompts/list", json!({})).await["prompts"].take();
        let arguments: Vec<Vec<(&str, bool)>> = column(&prompts, "arguments")
            .into_iter()
            .map(|arguments| {
                let arguments = arguments.as_array().unwrap().iter();
                arguments
                    .map(|one| {
                        (
                            one["name"].as_str().unwrap(),
                            one["required"].as_bool().unwrap(),
                        )
                    })
                    .collect()
            })
            .collect();
        assert_eq!(
            column(&prompts, "name"),
            ["greeting", "code_review", "summarize"]
        );
        assert_eq!(
            arguments,
            [
                vec![("name", true), ("formal", false)],
                vec![("language", true), ("focus", false)],
                vec![("max_length", false)],
            ]
        );
    }
}

#[tokio::test]
async fn prompts_are_filled_with_their_arguments() {
    let cases = [
        (
            "greeting",
            json!({"name": "Ada"}),
            "Say hello to Ada in a friendly way.",
        ),
        (
            "greeting",
            json!({"name": "Ada", "formal": "true"}),
            "Please write a formal greeting addressed to Ada.",
        ),
        (
            "code_review",
            json!({"language": "Rust", "focus": "errors"}),
            "Please review the following Rust code. Look most closely at errors.",
        ),
        ("summarize", json!({}), "Please summarize our conversation."),
        (
            "summarize",
            json!({"max_length": "50"}),
            "Please summarize our conversation in at most 50 words.",
        ),
    ];
    for mut client in Client::both(Options::default()).await {
        for (name, arguments, text) in &cases {
            let params = json!({"name": name, "arguments": arguments});
            let result = client.result("prompts/get", params).await;
            assert_eq!(
                result["messages"],
                json!([{"role": "user", "content": {"type": "text", "text": text}}])
            );
        }
    }
}

#[tokio::test]
async fn prompts_refuse_what_does_not_fit() {
    let cases = [
        json!({"name": "greeting"}),
        json!({"name": "greeting", "arguments": {"formal": "true"}}),
        json!({"name": "greeting", "arguments": {"name": 5}}),
        json!({"name": "greeting", "arguments": ["Ada"]}),
        json!({"name": "nope", "arguments": {}}),
        json!({"arguments": {}}),
    ];
    for mut client in Client::both(Options::default()).await {
        for params in &cases {
            assert_eq!(
                client.code("prompts/get", params.clone()).await,
                -32602,
                "{params}"
            );
        }
    }
}
