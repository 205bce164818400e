//! Lists.

use serde_json::{Value, json};
use switchboard_gateway::{Gateway, GatewayOptions, Scope};
use switchboard_testkit::Options;

use crate::support::{
    Era, Front, Script, With as _, answering, builder, crashing, error, gateway, local, name,
    remote, silent, testkit,
};

fn names(answer: &Value, member: &str, key: &str) -> Vec<String> {
    let items = answer["result"][member].as_array().unwrap();
    items
        .iter()
        .map(|item| item[key].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn every_list_has_what_the_servers_offer() {
    let script = Script::new(Era::Legacy, &["b", "a"], answering("x"));
    let builder = builder()
        .with("one", script.memory())
        .with("two", testkit(Options::default()));
    let gateway = gateway(builder).await;
    let mut front = Front::legacy(&gateway).await;
    let tools = front.ask("tools/list", Value::Null).await;
    let tools = names(&tools, "tools", "name");
    assert!(
        tools.starts_with(&["one__a".to_owned(), "one__b".to_owned()]),
        "{tools:?}"
    );
    assert!(tools.contains(&"two__echo".to_owned()));
    let prompts = front.ask("prompts/list", json!({})).await;
    let expected = ["one__hello", "two__code_review", "two__greeting"];
    assert_eq!(names(&prompts, "prompts", "name")[..3], expected);
    let resources = front.ask("resources/list", Value::Null).await;
    let uris = names(&resources, "resources", "uri");
    assert!(
        uris.contains(&"file:///a".to_owned()) && uris.contains(&"file:///readme.txt".to_owned())
    );
    let templates = front.ask("resources/templates/list", Value::Null).await;
    let uris = names(&templates, "resourceTemplates", "uriTemplate");
    assert_eq!(uris, ["note:///{name}"]);
    // The host asked once, before there was a client.
    assert_eq!(script.count("tools/list"), 1);
}

#[tokio::test]
async fn a_modern_list_says_how_long_it_may_be_kept() {
    let script = Script::new(Era::Legacy, &[], answering("x"));
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::open(&gateway);
    let answer = front.ask_modern("tools/list", Value::Null).await;
    let expected = json!({
        "resultType": "complete", "tools": [], "ttlMs": 10_000, "cacheScope": "private",
    });
    assert_eq!(answer["result"], expected);
}

#[tokio::test]
async fn a_list_is_read_in_pages_and_a_foreign_cursor_refused() {
    let builder = builder().with(
        "demo",
        testkit(Options {
            tool_count: Some(25),
            ..Options::default()
        }),
    );
    let host = builder.build().unwrap();
    host.connect_all().await;
    let mut options = GatewayOptions::default();
    options.limits.page_items = 10;
    let gateway = Gateway::new(host, options).unwrap();
    let mut front = Front::legacy(&gateway).await;
    let (mut all, mut cursor, mut cursors) = (Vec::new(), Value::Null, Vec::new());
    loop {
        let params = if cursor.is_null() {
            json!({})
        } else {
            json!({"cursor": cursor})
        };
        let page = front.ask("tools/list", params).await;
        all.extend(names(&page, "tools", "name"));
        cursor = page["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
        cursors.push(cursor.clone());
    }
    assert_eq!((all.len(), cursors.len()), (25, 2));
    let refused = error(-32602, "the cursor is not valid for this list");
    for (method, cursor) in [
        ("tools/list", json!("")),
        ("tools/list", json!("made up")),
        ("prompts/list", cursors[0].clone()),
    ] {
        let answer = front.ask(method, json!({"cursor": cursor})).await;
        assert_eq!(answer["error"], refused, "{method} {cursor}");
    }
    let answer = front.ask("tools/list", json!({"cursor": 7})).await;
    assert_eq!(
        answer["error"],
        error(-32602, "the parameter cursor must be a string")
    );
}

#[tokio::test]
async fn broken_servers_do_not_hide_the_others() {
    let host = builder()
        .with("crashing", crashing())
        .with("demo", testkit(Options::default()))
        .with("silent", silent())
        .build()
        .unwrap();
    let mut options = GatewayOptions::default();
    options.limits.first_list_stream = std::time::Duration::from_secs(3);
    let gateway = Gateway::new(host, options).unwrap();
    let mut front = Front::open(&gateway);
    let answer = front.ask_modern("tools/list", Value::Null).await;
    assert!(names(&answer, "tools", "name").contains(&"demo__echo".to_owned()));
    let left_out = answer["result"]["_meta"]["switchboard/leftOut"].clone();
    let servers: Vec<_> = left_out
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["server"].clone())
        .collect();
    assert_eq!(servers, ["crashing", "silent"]);
    // A client that the network brought is not told about this machine.
    let mut remote = Front::open_as(&gateway, remote(), Scope::All);
    let answer = remote.ask_modern("tools/list", Value::Null).await;
    assert_eq!(answer["result"].get("_meta"), None);
}

#[tokio::test]
async fn one_server_is_served_under_its_own_names() {
    let builder = builder()
        .with("demo", testkit(Options::default()))
        .with("other", testkit(Options::default()));
    let gateway = gateway(builder).await;
    let mut front = Front::open_as(&gateway, local(), Scope::Server(name("demo")));
    let answer = front.ask_modern("tools/list", Value::Null).await;
    let tools = names(&answer, "tools", "name");
    assert!(tools.contains(&"echo".to_owned()), "{tools:?}");
    let params = json!({"name": "echo", "arguments": {"message": "hello"}});
    let answer = front.ask_modern("tools/call", params).await;
    assert_eq!(answer["result"]["content"][0]["text"], "hello");
}

#[tokio::test]
async fn a_scope_that_does_not_exist_is_an_error() {
    let gateway = gateway(builder()).await;
    let front = Front::open_as(&gateway, local(), Scope::Profile("none".into()));
    let error = front.end().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "profile \"none\": no profile or server has that name"
    );
}
