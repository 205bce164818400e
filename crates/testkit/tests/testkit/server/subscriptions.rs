//! Announcements, with and without subscriptions.

use serde_json::{Value, json};
use switchboard_testkit::Options;

use crate::server::client::{Client, text};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn modern() -> Client {
    Client::modern(Options::default(), &json!({}))
}

/// Listens, and returns the id and the filter that was granted.
async fn listen(client: &mut Client, wishes: Value) -> (i64, Value) {
    let params = json!({"notifications": wishes});
    let id = client.request("subscriptions/listen", params).await;
    let mut acknowledged = client.next().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(acknowledged["params"]["_meta"], json!({ID: id}));
    (id, acknowledged["params"]["notifications"].take())
}

#[tokio::test]
async fn what_can_be_granted_is_acknowledged() {
    let mut client = modern();
    let wishes = json!({
        "toolsListChanged": true, "promptsListChanged": false,
        "resourcesListChanged": true, "resourceSubscriptions": ["file:///readme.txt"],
    });
    let (_, granted) = listen(&mut client, wishes).await;
    assert_eq!(
        granted,
        json!({"toolsListChanged": true, "resourcesListChanged": true})
    );
    let (_, granted) = listen(&mut client, json!({})).await;
    assert_eq!(granted, json!({}));
    assert_eq!(client.code("subscriptions/listen", json!({})).await, -32602);
}

#[tokio::test]
async fn changes_come_to_the_subscriptions_that_want_them() {
    let mut client = modern();
    let (tools, _) = listen(&mut client, json!({"toolsListChanged": true})).await;
    let (both, _) = listen(
        &mut client,
        json!({"toolsListChanged": true, "promptsListChanged": true}),
    )
    .await;
    let call = json!({"name": "announce_change", "arguments": {"list": "tools"}});
    let id = client.request("tools/call", call).await;
    for subscription in [tools, both] {
        let params = json!({"_meta": {ID: subscription}});
        assert_eq!(
            client.next().await,
            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params})
        );
    }
    assert_eq!(client.next().await["id"], id);
    client.cancel(tools).await;
    client.cancel(both).await;
    let result = client
        .call("announce_change", json!({"list": "tools"}))
        .await;
    assert_eq!(text(&result), "announced a change of tools");
    assert_eq!(client.close().await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_modern_client_hears_nothing_that_it_did_not_ask_for() {
    let mut client = modern();
    listen(&mut client, json!({"toolsListChanged": true})).await;
    client
        .call("announce_change", json!({"list": "prompts"}))
        .await;
}

#[tokio::test]
async fn subscriptions_are_answered_when_the_server_ends_them() {
    let mut client = modern();
    let (id, _) = listen(&mut client, json!({"toolsListChanged": true})).await;
    let rest = client.close().await;
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["id"], id);
    assert_eq!(rest[0]["result"]["resultType"], "complete");
    assert_eq!(rest[0]["result"]["_meta"][ID], id);
}

#[tokio::test]
async fn a_legacy_client_hears_of_changes_without_asking() {
    let mut client = Client::legacy("2025-11-25", json!({})).await;
    for list in ["tools", "resources", "prompts"] {
        let call = json!({"name": "announce_change", "arguments": {"list": list}});
        let id = client.request("tools/call", call).await;
        let method = format!("notifications/{list}/list_changed");
        assert_eq!(
            client.next().await,
            json!({"jsonrpc": "2.0", "method": method})
        );
        assert_eq!(client.next().await["id"], id);
    }
}
