//! Questions of servers, where both sides are of one era.

use serde_json::{Value, json};

use crate::support::{
    Does, Era, Front, Script, With as _, builder, error, gateway, text,
};

const CAN: &str = "io.modelcontextprotocol/clientCapabilities";

/// A modern server that asks for a name, with a state that it wants back.
fn asking() -> Script {
    Script::new(Era::Modern, &["greet"], |request| {
        let params = &request["params"];
        if params["requestState"] == "st\u{e4}te" {
            let name = params["inputResponses"]["who"]["content"]["name"].as_str().unwrap();
            let mut result = text(&format!("hello {name}"));
            result["resultType"] = "complete".into();
            return vec![Does::Result(result.to_string())];
        }
        let schema = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#;
        let asked = format!(r#"{{"method":"elicitation/create","params":{{"mode":"form","message":"who?","requestedSchema":{schema},"x":1.0}}}}"#);
        vec![Does::Result(format!(
            r#"{{"resultType":"input_required","inputRequests":{{"who":{asked}}},"requestState":"st\u00e4te"}}"#
        ))]
    })
}

fn able() -> Value {
    json!({CAN: {"elicitation": {"form": {}}}})
}

#[tokio::test]
async fn a_modern_servers_questions_pass_to_a_modern_client_and_back() {
    let script = asking();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::open(&gateway);
    let params = json!({"name": "one__greet", "arguments": {"a": 1}, "_meta": able()});
    let asked = front.ask_modern("tools/call", params).await;
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required");
    let params = &result["inputRequests"]["who"]["params"];
    assert_eq!((&params["message"], &params["x"]), (&json!("who?"), &json!(1.0)));
    let call = script.heard("tools/call", 1).await;
    assert_eq!(call["params"]["_meta"][CAN], able()[CAN]);
    let state = result["requestState"].clone();
    assert_ne!(state, "st\u{e4}te");
    let answers = json!({"who": {"action": "accept", "content": {"name": "Ada"}}});
    let again = json!({
        "name": "one__greet", "arguments": {"a": 1}, "_meta": able(),
        "inputResponses": answers, "requestState": state,
    });
    let answer = front.ask_modern("tools/call", again.clone()).await;
    assert_eq!(answer["result"]["content"], text("hello Ada")["content"]);
    let call = script.heard("tools/call", 2).await;
    assert_eq!(call["params"]["inputResponses"], answers);
    // The state belongs to those arguments.
    let mut other = again;
    other["arguments"] = json!({"a": 2});
    let refused = front.ask_modern("tools/call", other).await;
    let why = "requestState is not one that was given for this request, or is too old";
    assert_eq!(refused["error"], error(-32602, why));
    assert_eq!(script.count("tools/call"), 2);
}

#[tokio::test]
async fn a_state_of_another_client_or_a_changed_one_is_refused() {
    let script = asking();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::open(&gateway);
    let params = json!({"name": "one__greet", "_meta": able()});
    let asked = front.ask_modern("tools/call", params).await;
    let state = asked["result"]["requestState"].as_str().unwrap().to_owned();
    let again = |state: &str| json!({"name": "one__greet", "_meta": able(), "requestState": state});
    let mut changed = state.clone().into_bytes();
    changed[10] = if changed[10] == b'A' { b'B' } else { b'A' };
    let changed = String::from_utf8(changed).unwrap();
    for bad in [changed.as_str(), "", "st\u{e4}te"] {
        let refused = front.ask_modern("tools/call", again(bad)).await;
        assert_eq!(refused["error"]["code"], -32602, "{bad}");
    }
    let identity = crate::support::remote();
    let mut other = Front::open_as(&gateway, identity, switchboard_gateway::Scope::All);
    let refused = other.ask_modern("tools/call", again(&state)).await;
    assert_eq!(refused["error"]["code"], -32602);
    assert_eq!(script.count("tools/call"), 1);
}

#[tokio::test]
async fn a_modern_server_is_told_the_capabilities_of_each_client() {
    let script = Script::new(Era::Modern, &["go"], |_| {
        let mut result = text("gone");
        result["resultType"] = "complete".into();
        vec![Does::Result(result.to_string())]
    });
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy_with(&gateway, "2025-11-25", json!({"elicitation": {}})).await;
    front.ask("tools/call", json!({"name": "one__go"})).await;
    let call = script.heard("tools/call", 1).await;
    assert_eq!(call["params"]["_meta"][CAN], json!({}));
    let tasks = json!({"io.modelcontextprotocol/tasks": {}, "a/b": {"c": 1}});
    let can = json!({"sampling": {"tools": {}}, "extensions": tasks, "x": 1});
    let params = json!({"name": "one__go", "_meta": {CAN: can}});
    front.ask_modern("tools/call", params).await;
    let call = script.heard("tools/call", 2).await;
    let expected = json!({"sampling": {"tools": {}}, "extensions": {"a/b": {"c": 1}}, "x": 1});
    assert_eq!(call["params"]["_meta"][CAN], expected);
}
