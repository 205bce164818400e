//! Changes of lists and of resources, in both eras.

use serde_json::{Value, json};

use crate::support::{Era, Front, Script, With as _, answering, builder, error, gateway, soon};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn changing() -> Script {
    Script::new(Era::Legacy, &["first"], answering("x"))
}

/// The server has another tool from now on, and says so.
fn add_tool(script: &Script, name: &str) {
    let tool = json!({"name": name, "inputSchema": {"type": "object"}});
    script.tools.lock().unwrap().push(tool);
    script.say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
}

fn updated(uri: &str) -> Value {
    let params = json!({"uri": uri});
    json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params})
}

#[tokio::test]
async fn a_legacy_client_is_told_of_changed_lists() {
    let script = changing();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    front.ask("tools/list", Value::Null).await;
    add_tool(&script, "second");
    let told = front.notice("notifications/tools/list_changed").await;
    let expected = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    assert_eq!(told, expected);
    let answer = front.ask("tools/list", Value::Null).await;
    assert_eq!(answer["result"]["tools"].as_array().unwrap().len(), 2);
    assert!(front.seen.is_empty(), "{:?}", front.seen);
}

#[tokio::test]
async fn a_client_that_is_not_ready_is_told_nothing() {
    let script = changing();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut early = Front::open(&gateway);
    let hello = crate::support::hello("2025-11-25", &json!({}));
    early.ask("initialize", hello).await;
    let mut ready = Front::legacy(&gateway).await;
    add_tool(&script, "second");
    ready.notice("notifications/tools/list_changed").await;
    early.ask("ping", Value::Null).await;
    assert!(early.seen.is_empty(), "{:?}", early.seen);
}

#[tokio::test]
async fn a_listener_is_acknowledged_first_and_told_what_it_wants() {
    let script = changing();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::open(&gateway);
    let wanted = json!({
        "toolsListChanged": true,
        "resourceSubscriptions": ["file:///a", "nowhere:///b"],
        "taskIds": ["t"],
    });
    let id = front
        .begin_modern("subscriptions/listen", json!({"notifications": wanted}))
        .await;
    let first = front.read().await;
    let agreed = json!({"toolsListChanged": true, "resourceSubscriptions": ["file:///a"]});
    let meta = json!({SUBSCRIPTION: id});
    let expected = json!({
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": {"notifications": agreed, "_meta": meta},
    });
    assert_eq!(first, expected);
    add_tool(&script, "second");
    let expected = json!({
        "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": meta},
    });
    assert_eq!(front.read().await, expected);
    script.say(&updated("file:///a"));
    let mut expected = updated("file:///a");
    expected["params"]["_meta"] = meta;
    assert_eq!(front.read().await, expected);
    front
        .tell("notifications/cancelled", json!({"requestId": id}))
        .await;
    script.heard("resources/unsubscribe", 1).await;
    let answer = front.ask_modern("prompts/list", Value::Null).await;
    assert!(answer["result"].is_object());
    assert!(front.seen.is_empty(), "{:?}", front.seen);
}

#[tokio::test]
async fn a_listener_is_not_told_what_it_did_not_ask_for() {
    let script = changing();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut quiet = Front::open(&gateway);
    let wanted = json!({"notifications": {"promptsListChanged": true}});
    quiet.begin_modern("subscriptions/listen", wanted).await;
    quiet
        .notice("notifications/subscriptions/acknowledged")
        .await;
    let mut other = Front::open(&gateway);
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    other.begin_modern("subscriptions/listen", wanted).await;
    other
        .notice("notifications/subscriptions/acknowledged")
        .await;
    add_tool(&script, "second");
    other.notice("notifications/tools/list_changed").await;
    quiet.ask_modern("tools/list", Value::Null).await;
    assert!(quiet.seen.is_empty(), "{:?}", quiet.seen);
}

#[tokio::test]
async fn a_subscriber_gets_updates_until_it_unsubscribes() {
    let script = changing();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    let uri = json!({"uri": "file:///a"});
    assert_eq!(
        front.ask("resources/subscribe", uri.clone()).await["result"],
        json!({})
    );
    for part in ["file:///a", "file:///a/part"] {
        script.say(&updated(part));
        assert_eq!(
            front.notice("notifications/resources/updated").await,
            updated(part)
        );
    }
    assert_eq!(
        front.ask("resources/unsubscribe", uri).await["result"],
        json!({})
    );
    script.heard("resources/unsubscribe", 1).await;
    script.say(&updated("file:///a"));
    front.ask("ping", Value::Null).await;
    assert!(front.seen.is_empty(), "{:?}", front.seen);
}

#[tokio::test]
async fn updates_of_an_address_that_two_servers_have_name_the_server() {
    let (one, two) = (changing(), changing());
    let servers = builder().with("one", one.memory());
    let gateway = gateway(servers.with("two", two.memory())).await;
    let of = |server: &str| format!("switchboard://{server}/file%3A%2F%2F%2Fa");
    let mut front = Front::legacy(&gateway).await;
    front
        .ask("resources/subscribe", json!({"uri": of("two")}))
        .await;
    assert_eq!(
        two.heard("resources/subscribe", 1).await["params"]["uri"],
        "file:///a"
    );
    let mut listener = Front::open(&gateway);
    let wanted = json!({"notifications": {"resourceSubscriptions": [of("one"), of("two")]}});
    listener.begin_modern("subscriptions/listen", wanted).await;
    let agreed = listener
        .notice("notifications/subscriptions/acknowledged")
        .await;
    let agreed = &agreed["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(*agreed, json!([of("one"), of("two")]));
    for (script, server) in [(&one, "one"), (&two, "two")] {
        script.say(&updated("file:///a"));
        let told = listener.notice("notifications/resources/updated").await;
        assert_eq!(told["params"]["uri"], of(server));
    }
    // The one of the other server came first, and was not for this client.
    let told = front.notice("notifications/resources/updated").await;
    assert_eq!(told, updated(&of("two")));
    front.ask("ping", Value::Null).await;
    assert!(front.seen.is_empty(), "{:?}", front.seen);
}

#[tokio::test]
async fn a_resource_that_does_not_exist_cannot_be_subscribed_to() {
    let gateway = gateway(builder().with("one", changing().memory())).await;
    let mut front = Front::legacy(&gateway).await;
    let answer = front
        .ask("resources/subscribe", json!({"uri": "nowhere:///b"}))
        .await;
    assert_eq!(answer["error"], error(-32002, "not here"));
}

#[tokio::test]
async fn the_end_of_a_client_ends_its_subscriptions() {
    let script = changing();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    front
        .ask("resources/subscribe", json!({"uri": "file:///a"}))
        .await;
    soon("the end", front.end()).await.unwrap();
    script.heard("resources/unsubscribe", 1).await;
}
