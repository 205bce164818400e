//! The tool that asks back, in both eras.

use serde_json::{Value, json};
use switchboard_testkit::Options;

use crate::server::client::{Client, text};

fn form(mode: Option<&str>) -> Value {
    let mut form = json!({
        "message": "What is your name?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Name", "description": "The name to greet you by"},
            },
            "required": ["name"],
        },
    });
    if let Some(mode) = mode {
        form["mode"] = json!(mode);
    }
    form
}

fn ask_name() -> Value {
    json!({"name": "ask_name", "arguments": {}})
}

/// The four ways a person may answer, and what the tool makes of them.
fn answers() -> [(Value, &'static str, Option<bool>); 5] {
    let accept = json!({"action": "accept", "content": {"name": "Ada"}});
    [
        (accept, "Hello, Ada!", None),
        (
            json!({"action": "decline"}),
            "The question was declined.",
            None,
        ),
        (
            json!({"action": "cancel"}),
            "The question was dismissed.",
            None,
        ),
        (
            json!({"action": "accept"}),
            "the form came back without a name",
            Some(true),
        ),
        (
            json!({"action": "shrug"}),
            "the answer has no action that is known",
            Some(true),
        ),
    ]
}

fn check(result: &Value, said: &str, is_error: Option<bool>) {
    assert_eq!(text(result), said);
    assert_eq!(result.get("isError").and_then(Value::as_bool), is_error);
}

#[tokio::test]
async fn a_legacy_client_is_asked_over_the_connection() {
    for (version, mode) in [("2025-06-18", None), ("2025-11-25", Some("form"))] {
        let mut client = Client::legacy(version, json!({"elicitation": {}})).await;
        for (answer, said, is_error) in answers() {
            let id = client.request("tools/call", ask_name()).await;
            let question = client.next().await;
            assert_eq!(question["method"], "elicitation/create");
            assert_eq!(question["params"], form(mode));
            client
                .send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}))
                .await;
            let answer = client.next().await;
            assert_eq!(answer["id"], id);
            check(&answer["result"], said, is_error);
        }
    }
}

#[tokio::test]
async fn questions_are_told_apart_by_their_ids() {
    let mut client = Client::legacy("2025-11-25", json!({"elicitation": {"form": {}}})).await;
    let first = client.request("tools/call", ask_name()).await;
    let second = client.request("tools/call", ask_name()).await;
    let mut questions = [client.next().await, client.next().await];
    questions.reverse();
    for (question, name) in questions.iter().zip(["second", "first"]) {
        let answer = json!({"action": "accept", "content": {"name": name}});
        client
            .send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer}))
            .await;
    }
    for (id, said) in [(second, "Hello, second!"), (first, "Hello, first!")] {
        let answer = client.next().await;
        assert_eq!(answer["id"], id);
        check(&answer["result"], said, None);
    }
}

#[tokio::test]
async fn an_error_of_a_legacy_client_fails_the_tool() {
    let mut client = Client::legacy("2025-11-25", json!({"elicitation": {}})).await;
    client.request("tools/call", ask_name()).await;
    let question = client.next().await;
    let error = json!({"code": -32601, "message": "not here"});
    client
        .send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": error}))
        .await;
    let said = "the client answered with an error: not here (code -32601)";
    check(&client.next().await["result"], said, Some(true));
}

#[tokio::test]
async fn a_legacy_client_that_shows_no_forms_is_not_asked() {
    let cases = [
        ("2025-11-25", json!({})),
        ("2025-11-25", json!({"elicitation": {"url": {}}})),
        ("2025-03-26", json!({"elicitation": {}})),
    ];
    for (version, capabilities) in cases {
        let mut client = Client::legacy(version, capabilities).await;
        let result = client.call("ask_name", json!({})).await;
        let said = "this tool needs a client that declares elicitation";
        check(&result, said, Some(true));
    }
}

#[tokio::test]
async fn a_cancelled_call_takes_its_question_back() {
    let mut client = Client::legacy("2025-11-25", json!({"elicitation": {}})).await;
    let id = client.request("tools/call", ask_name()).await;
    let question = client.next().await;
    client.cancel(id).await;
    let cancelled = client.next().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    client
        .send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "cancel"}}))
        .await;
    client.expect_silence().await;
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answers_is_given_up() {
    let mut client = Client::legacy("2025-11-25", json!({"elicitation": {}})).await;
    client.request("tools/call", ask_name()).await;
    let question = client.next().await;
    assert_eq!(client.next().await["params"]["requestId"], question["id"]);
    let said = "the client did not answer in time";
    check(&client.next().await["result"], said, Some(true));
}

#[tokio::test]
async fn a_modern_client_is_asked_by_the_result() {
    let mut client = Client::modern(Options::default(), &json!({"elicitation": {}}));
    for (answer, said, is_error) in answers() {
        let asked = client.result("tools/call", ask_name()).await;
        assert_eq!(asked["resultType"], "input_required");
        assert_eq!(
            asked["inputRequests"],
            json!({"name": {"method": "elicitation/create", "params": form(Some("form"))}})
        );
        let mut params = ask_name();
        params["inputResponses"] = json!({"name": answer});
        params["requestState"] = asked["requestState"].clone();
        let result = client.result("tools/call", params).await;
        assert_eq!(result["resultType"], "complete");
        check(&result, said, is_error);
    }
}

#[tokio::test]
async fn a_round_without_the_answer_asks_again() {
    let mut client = Client::modern(Options::default(), &json!({"elicitation": {"form": {}}}));
    let mut params = ask_name();
    params["requestState"] = client.call("ask_name", json!({})).await["requestState"].take();
    params["inputResponses"] = json!({"colour": {"action": "accept"}});
    let asked = client.result("tools/call", params).await;
    assert_eq!(asked["resultType"], "input_required");
}

#[tokio::test]
async fn a_state_that_does_not_come_back_exactly_is_refused() {
    let mut client = Client::modern(Options::default(), &json!({"elicitation": {}}));
    let asked = client.call("ask_name", json!({})).await;
    let state = asked["requestState"].as_str().unwrap();
    let wrong = [json!(null), json!(format!("{state} ")), json!(""), json!(5)];
    for state in wrong {
        let mut params = ask_name();
        params["inputResponses"] = json!({"name": {"action": "decline"}});
        params["requestState"] = state;
        assert_eq!(client.code("tools/call", params).await, -32602);
    }
    let mut params = ask_name();
    params["inputResponses"] = json!({"name": {"action": "decline"}});
    assert_eq!(client.code("tools/call", params).await, -32602);
}

#[tokio::test]
async fn a_modern_client_that_shows_no_forms_is_told_what_it_lacks() {
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let mut client = Client::modern(Options::default(), &capabilities);
        let error = client.error("tools/call", ask_name()).await;
        assert_eq!(error["code"], -32021);
        assert_eq!(
            error["data"],
            json!({"requiredCapabilities": {"elicitation": {"form": {}}}})
        );
    }
}
