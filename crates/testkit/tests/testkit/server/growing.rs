//! Servers whose lists change, and those that can be told apart.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::Options;

use crate::server::client::{Client, text};

fn growing() -> Options {
    Options {
        growing: true,
        ..Options::default()
    }
}

async fn names(client: &mut Client, list: &str, key: &str) -> Vec<String> {
    let mut result = client.result(&format!("{list}/list"), json!({})).await;
    let items = result[list].take();
    let name = |item: &Value| item[key].as_str().unwrap().to_owned();
    items.as_array().unwrap().iter().map(name).collect()
}

#[tokio::test]
async fn nothing_of_it_is_there_unless_it_is_asked_for() {
    for mut client in Client::both(Options::default()).await {
        let tools = names(&mut client, "tools", "name").await;
        assert_eq!(tools.len(), 7);
        let params = json!({"name": "add_tool", "arguments": {"name": "new"}});
        assert_eq!(client.code("tools/call", params).await, -32602);
        let params = json!({"uri": "file:///readme.txt"});
        assert_eq!(client.code("resources/subscribe", params).await, -32601);
    }
}

#[tokio::test]
async fn the_change_is_told_before_the_call_is_answered() {
    let options = growing();
    let mut client = Client::legacy_with(options, "2025-11-25", json!({})).await;
    let params = json!({"name": "add_tool", "arguments": {"name": "new"}});
    let id = client.request("tools/call", params).await;
    let told = client.next().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    let answer = client.next().await;
    assert_eq!(answer["id"], id);
    assert_eq!(text(&answer["result"]), "done");
    let tools = names(&mut client, "tools", "name").await;
    assert_eq!(tools.last().unwrap(), "new");
}

#[tokio::test]
async fn what_is_there_is_not_added_and_what_is_not_there_not_removed() {
    let mut client = Client::modern(growing(), &json!({}));
    let cases = [
        (
            "add_tool",
            json!({"name": "echo"}),
            "there is a tool echo already",
        ),
        ("remove_tool", json!({"name": "no"}), "there is no tool no"),
        (
            "change_prompt",
            json!({"name": "no"}),
            "there is no prompt no",
        ),
        (
            "remove_resource",
            json!({"uri": "no"}),
            "there is no resource no",
        ),
    ];
    for (tool, arguments, what) in cases {
        let result = client.call(tool, arguments).await;
        assert_eq!(text(&result), what);
        assert_eq!(result["isError"], true);
    }
}

#[tokio::test]
async fn prompts_and_resources_that_are_added_can_be_used() {
    let mut client = Client::modern(growing(), &json!({}));
    let prompt = json!({"name": "new", "description": "New", "text": "Say it."});
    client.call("add_prompt", prompt).await;
    let got = client.result("prompts/get", json!({"name": "new"})).await;
    assert_eq!(got["messages"][0]["content"]["text"], "Say it.");
    let uri = "file:///new";
    let resource = json!({"uri": uri, "text": "one"});
    client.call("add_resource", resource).await;
    let resource = json!({"uri": uri, "text": "two"});
    client.call("touch_resource", resource).await;
    let read = client.result("resources/read", json!({"uri": uri})).await;
    assert_eq!(read["contents"][0]["text"], "two");
    client.call("remove_resource", json!({"uri": uri})).await;
    let uris = names(&mut client, "resources", "uri").await;
    assert_eq!(uris.len(), 3);
}

#[tokio::test]
async fn a_server_with_a_name_tells_it() {
    let options = Options {
        instance: Some("the second".to_owned()),
        ..Options::default()
    };
    for mut client in Client::both(options).await {
        let result = client.call("whoami", json!({})).await;
        let pid = std::process::id();
        assert_eq!(text(&result), format!("the second {pid}"));
        let expected = json!({"instance": "the second", "pid": pid});
        assert_eq!(result["structuredContent"], expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_slow_to_start_answers_once_it_has() {
    let delay = Duration::from_millis(1500);
    let options = Options {
        start_delay: Some(delay),
        ..Options::default()
    };
    let begun = tokio::time::Instant::now();
    let mut client = Client::modern(options, &json!({}));
    names(&mut client, "tools", "name").await;
    assert!(begun.elapsed() >= delay);
}
