//! Visits and folders, in the way of either era; and what else there is with them.

mod completing;
mod logging;

use serde_json::{Value, json};
use switchboard_testkit::Options;

use crate::server::client::{Client, text};

const ADDRESS: &str = "https://example.com/visit?from=test-server";

fn talking() -> Options {
    Options {
        talking: true,
        ..Options::default()
    }
}

fn able() -> Value {
    json!({"elicitation": {"url": {}}, "roots": {"listChanged": true}})
}

async fn legacy() -> Client {
    Client::legacy_with(talking(), "2025-11-25", able()).await
}

fn modern() -> Client {
    Client::modern(talking(), &able())
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

/// Answers the question that comes next, after which the call is.
async fn answer(client: &mut Client, outcome: Value) -> Value {
    let question = client.next().await;
    let mut answer = json!({"jsonrpc": "2.0", "id": question["id"]});
    answer
        .as_object_mut()
        .unwrap()
        .extend(outcome.as_object().unwrap().clone());
    client.send(&answer).await;
    question
}

#[tokio::test]
async fn it_is_all_listed_and_declared_where_it_is_asked_for() {
    for (on, many) in [(false, (7, 3, 1)), (true, (10, 4, 2))] {
        let options = Options {
            talking: on,
            ..Options::default()
        };
        for mut client in Client::both(options.clone()).await {
            let mut count = async |method: &str, key: &str| {
                let result = client.result(method, json!({})).await;
                result[key].as_array().unwrap().len()
            };
            let counted = (
                count("tools/list", "tools").await,
                count("prompts/list", "prompts").await,
                count("resources/templates/list", "resourceTemplates").await,
            );
            assert_eq!(counted, many);
        }
        let mut client = Client::modern(options.clone(), &json!({}));
        let modern = client.result("server/discover", json!({})).await["capabilities"].take();
        let wanted = on.then(|| json!({}));
        assert_eq!(modern.get("logging"), wanted.as_ref());
        assert_eq!(modern.get("completions"), wanted.as_ref());
        for (version, has) in [
            ("2024-11-05", false),
            ("2025-03-26", on),
            ("2025-11-25", on),
        ] {
            let mut client = Client::start(options.clone());
            let params = crate::server::client::handshake(version, &json!({}));
            let result = client.result("initialize", params).await;
            assert_eq!(result["capabilities"]["logging"], json!({}));
            let completions = result["capabilities"].get("completions");
            assert_eq!(completions.is_some(), has, "{version}");
        }
    }
}

fn answers() -> [(Value, &'static str, Option<bool>); 4] {
    [
        (
            json!({"action": "accept"}),
            "The visit was agreed to.",
            None,
        ),
        (
            json!({"action": "decline"}),
            "The visit was declined.",
            None,
        ),
        (
            json!({"action": "cancel"}),
            "The visit was dismissed.",
            None,
        ),
        (
            json!({}),
            "the answer has no action that is known",
            Some(true),
        ),
    ]
}

#[tokio::test]
async fn a_legacy_client_is_asked_to_send_somebody_to_an_address() {
    let mut client = legacy().await;
    let mut ids = Vec::new();
    for (said, told, is_error) in answers() {
        client
            .request("tools/call", call("visit", &json!({})))
            .await;
        let mut question = answer(&mut client, json!({"result": said})).await;
        assert_eq!(question["method"], "elicitation/create");
        let id = question["params"]["elicitationId"].take();
        assert!(id.is_string() && !ids.contains(&id), "{id}");
        ids.push(id);
        assert_eq!(
            question["params"],
            json!({
                "mode": "url", "url": ADDRESS, "elicitationId": null,
                "message": "Please go to this address, and come back.",
            })
        );
        let result = client.next().await["result"].take();
        assert_eq!(text(&result), told);
        assert_eq!(result.get("isError").and_then(Value::as_bool), is_error);
    }
}

#[tokio::test]
async fn a_modern_client_is_asked_to_by_a_round() {
    let mut client = modern();
    let url = "https://example.org/there";
    // The error is of another version, and asking for it changes nothing.
    let params = call("visit", &json!({"url": url, "by_error": true}));
    for (said, told, is_error) in answers() {
        let asked = client.result("tools/call", params.clone()).await;
        assert_eq!(asked["resultType"], "input_required");
        assert_eq!(
            asked["inputRequests"],
            json!({"visit": {"method": "elicitation/create", "params": {
                "mode": "url", "url": url, "message": "Please go to this address, and come back.",
            }}})
        );
        let mut params = params.clone();
        params["inputResponses"] = json!({"visit": said});
        let result = client.result("tools/call", params).await;
        assert_eq!(
            (text(&result), &result["resultType"]),
            (told, &json!("complete"))
        );
        assert_eq!(result.get("isError").and_then(Value::as_bool), is_error);
    }
}

#[tokio::test]
async fn a_call_is_refused_until_somebody_was_at_the_address() {
    let mut client = legacy().await;
    for url in ["https://example.org/a", "https://example.org/b"] {
        let params = call("visit", &json!({"url": url, "by_error": true}));
        for _ in 0..2 {
            let mut error = client.error("tools/call", params.clone()).await;
            assert_eq!(error["code"], -32042);
            let id = error["data"]["elicitations"][0]["elicitationId"].take();
            assert!(id.is_string());
            assert_eq!(
                error["data"],
                json!({"elicitations": [{
                    "mode": "url", "url": url, "elicitationId": null,
                    "message": "Please go to this address, and come back.",
                }]})
            );
            let result = client.result("tools/call", params.clone()).await;
            assert_eq!(text(&result), "Called again after the visit.");
        }
    }
}

#[tokio::test]
async fn a_client_that_cannot_is_not_asked() {
    let tools = [
        ("visit", json!({"elicitation": {"url": {}}})),
        ("list_roots", json!({"roots": {}})),
    ];
    let cases = [
        ("2025-11-25", json!({"elicitation": {"form": {}}})),
        ("2025-11-25", json!({"elicitation": {}, "roots": null})),
        // Nobody knew of addresses then.
        ("2025-06-18", json!({"elicitation": {"url": {}}})),
    ];
    for (tool, needed) in tools {
        for (version, capabilities) in cases.clone() {
            let mut client = Client::legacy_with(talking(), version, capabilities).await;
            let result = client.call(tool, json!({})).await;
            let said = format!("this tool needs a client that declares {needed}");
            assert_eq!(
                (text(&result), &result["isError"]),
                (said.as_str(), &json!(true))
            );
        }
        let mut client = Client::modern(talking(), &json!({"elicitation": {}}));
        let error = client.error("tools/call", call(tool, &json!({}))).await;
        assert_eq!(error["code"], -32021);
        assert_eq!(error["data"], json!({"requiredCapabilities": needed}));
    }
}

#[tokio::test]
async fn folders_are_asked_for_and_told() {
    let roots = json!({"roots": [{"uri": "file:///a", "name": "one"}, {"uri": "file:///b"}]});
    let cases = [
        (roots, "one: file:///a\nfile:///b"),
        (json!({"roots": []}), "There are no roots."),
        (json!({}), "the answer has no roots"),
        (
            json!({"roots": [{"uri": "/a"}]}),
            "this is no root: {\"uri\":\"/a\"}",
        ),
    ];
    let (mut old, mut new) = (legacy().await, modern());
    for (said, told) in cases {
        old.request("tools/call", call("list_roots", &json!({})))
            .await;
        let question = answer(&mut old, json!({"result": said})).await;
        assert_eq!(
            (&question["method"], &question["params"]),
            (&json!("roots/list"), &json!({}))
        );
        assert_eq!(text(&old.next().await["result"]), told);
        let mut params = call("list_roots", &json!({}));
        let asked = new.result("tools/call", params.clone()).await;
        assert_eq!(asked["resultType"], "input_required");
        assert_eq!(
            asked["inputRequests"],
            json!({"roots": {"method": "roots/list"}})
        );
        params["inputResponses"] = json!({"roots": said});
        assert_eq!(text(&new.result("tools/call", params).await), told);
    }
    old.request("tools/call", call("list_roots", &json!({})))
        .await;
    answer(&mut old, json!({"error": {"code": -1, "message": "no"}})).await;
    let result = old.next().await["result"].take();
    assert_eq!(
        text(&result),
        "the client answered with an error: no (code -1)"
    );
}
