//! Lists in pages.

use serde_json::{Value, json};
use switchboard_testkit::Options;

use crate::server::client::{Client, text};

/// All pages of a list, by the names on them.
async fn pages(client: &mut Client, method: &str, key: &str) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut params = json!({});
    loop {
        let result = client.result(method, params).await;
        let items = result[key].as_array().unwrap().iter();
        pages.push(
            items
                .map(|item| item["name"].as_str().unwrap().to_owned())
                .collect(),
        );
        match result.get("nextCursor") {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => return pages,
        }
    }
}

#[tokio::test]
async fn the_paginating_server_has_three_pages_of_tools() {
    for mut client in Client::both(Options::paginating()).await {
        let pages = pages(&mut client, "tools/list", "tools").await;
        let sizes: Vec<usize> = pages.iter().map(Vec::len).collect();
        assert_eq!(sizes, [10, 10, 5]);
        assert_eq!(
            pages[0][..6],
            [
                "echo",
                "get_time",
                "add",
                "slow_operation",
                "tool_005",
                "tool_006"
            ]
        );
        assert_eq!(pages[2][4], "tool_025");
    }
}

#[tokio::test]
async fn a_thousand_tools_are_listed_once_each_and_in_order() {
    for page_size in [None, Some(1), Some(7), Some(1000)] {
        let options = Options {
            tool_count: Some(1000),
            page_size,
            ..Options::default()
        };
        for mut client in Client::both(options).await {
            let names = pages(&mut client, "tools/list", "tools").await.concat();
            assert_eq!(names.len(), 1000);
            let generated = (5..=1000).map(|number| format!("tool_{number:03}"));
            assert!(names[4..].iter().cloned().eq(generated));
        }
    }
}

#[tokio::test]
async fn a_generated_tool_can_be_called_and_one_beyond_the_count_cannot() {
    for mut client in Client::both(Options::paginating()).await {
        assert_eq!(text(&client.call("tool_025", json!({})).await), "tool_025");
        let result = client.call("tool_005", json!({"value": "x"})).await;
        assert_eq!(text(&result), "tool_005: x");
        for name in ["tool_026", "ask_name"] {
            assert_eq!(
                client.code("tools/call", json!({"name": name})).await,
                -32602
            );
        }
    }
}

#[tokio::test]
async fn the_other_lists_have_pages_too() {
    let options = Options {
        page_size: Some(2),
        ..Options::default()
    };
    for mut client in Client::both(options).await {
        let resources = pages(&mut client, "resources/list", "resources").await;
        assert_eq!(
            resources,
            [vec!["README", "Configuration"], vec!["Users Data"]]
        );
        let prompts = pages(&mut client, "prompts/list", "prompts").await;
        assert_eq!(
            prompts,
            [vec!["greeting", "code_review"], vec!["summarize"]]
        );
        let templates = pages(&mut client, "resources/templates/list", "resourceTemplates").await;
        assert_eq!(templates, [["note"]]);
    }
}

#[tokio::test]
async fn a_cursor_that_was_not_given_out_is_refused() {
    for mut client in Client::both(Options::paginating()).await {
        let tools = client.result("tools/list", json!({})).await;
        let of_tools = &tools["nextCursor"];
        for cursor in [&json!(""), &json!("nope"), &json!(10), &Value::Null] {
            let code = client.code("tools/list", json!({"cursor": cursor})).await;
            assert_eq!(code, -32602, "{cursor}");
        }
        let params = json!({"cursor": of_tools});
        assert_eq!(client.code("prompts/list", params).await, -32602);
    }
}
