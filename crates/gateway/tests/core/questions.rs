//! Questions of servers, where both sides are of one era.

use serde_json::{Value, json};

use switchboard::host::Sharing;
use switchboard_gateway::Gateway;

use crate::support::{Does, Era, Front, Script, With as _, builder, can_all, error, gateway, text};

const CAN: &str = "io.modelcontextprotocol/clientCapabilities";

/// A modern server that asks for a name, with a state that it wants back.
fn asking() -> Script {
    Script::new(Era::Modern, &["greet"], |request| {
        let params = &request["params"];
        if params["requestState"] == "st\u{e4}te" {
            let name = params["inputResponses"]["who"]["content"]["name"]
                .as_str()
                .unwrap();
            let mut result = text(&format!("hello {name}"));
            result["resultType"] = "complete".into();
            return vec![Does::Result(result.to_string())];
        }
        let schema = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#;
        let asked = format!(
            r#"{{"method":"elicitation/create","params":{{"mode":"form","message":"who?","requestedSchema":{schema},"x":1.0}}}}"#
        );
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
    assert_eq!(
        (&params["message"], &params["x"]),
        (&json!("who?"), &json!(1.0))
    );
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
async fn a_legacy_client_never_gets_questions_as_a_result() {
    let script = Script::new(Era::Modern, &["later"], |_| {
        let again = r#"{"resultType":"input_required","requestState":"later"}"#;
        vec![Does::Result(again.to_owned())]
    });
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    let params = json!({"name": "one__later"});
    let answer = front.ask("tools/call", params.clone()).await;
    assert_eq!(answer["error"]["data"]["reason"], "input", "{answer}");
    let asked = front.ask_modern("tools/call", params).await;
    assert_eq!(asked["result"]["resultType"], "input_required");
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

/// A legacy server whose calls are answered by the test.
fn patient() -> Script {
    Script::new(Era::Legacy, &["ask"], |_| Vec::new())
}

async fn legacy(script: &Script, sharing: Sharing) -> Gateway {
    let gateway = gateway(builder().with("one", script.memory())).await;
    gateway.host().set_sharing("one", sharing).unwrap();
    gateway
}

fn question(id: &str, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A question that passed to the client: its id is not the server's.
fn passed(asked: &Value) -> String {
    let id = asked["id"].as_str().unwrap().to_owned();
    assert_eq!(id.len(), 32, "{id}");
    id
}

#[tokio::test]
async fn a_legacy_servers_questions_pass_to_the_client_whose_call_it_is() {
    for sharing in [Sharing::Shared, Sharing::PerClient] {
        let script = patient();
        let gateway = legacy(&script, sharing).await;
        let mut front = Front::legacy_with(&gateway, "2025-11-25", can_all()).await;
        let mut other = Front::legacy_with(&gateway, "2025-11-25", can_all()).await;
        let call = front.begin("tools/call", json!({"name": "one__ask"})).await;
        let sent = script.heard("tools/call", 1).await;
        let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        let form = json!({"message": "who?", "requestedSchema": schema, "x": [1.50]});
        let said = json!({"role": "user", "content": {"type": "text", "text": "hi"}});
        let sampling = json!({"messages": [said], "maxTokens": 5, "y": null});
        for (id, method, params, result) in [
            (
                "q1",
                "elicitation/create",
                form,
                json!({"action": "accept", "content": {"name": "Ada"}, "z": 1}),
            ),
            (
                "q2",
                "sampling/createMessage",
                sampling,
                json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "yes"}}),
            ),
            (
                "q3",
                "roots/list",
                Value::Null,
                json!({"roots": [{"uri": "file:///a"}]}),
            ),
        ] {
            script.say(&question(id, method, &params));
            let asked = front.notice(method).await;
            if !params.is_null() {
                assert_eq!(asked["params"], params);
            }
            let answer = json!({"jsonrpc": "2.0", "id": passed(&asked), "result": result});
            front.send(&answer).await;
            assert_eq!(script.answered(id).await["result"], result);
        }
        script.say(&json!({"jsonrpc": "2.0", "id": sent["id"], "result": text("done")}));
        assert_eq!(front.answer(call).await["result"], text("done"));
        other.ask("ping", Value::Null).await;
        assert!(other.seen.is_empty(), "{:?}", other.seen);
    }
}

#[tokio::test]
async fn what_a_client_refuses_is_refused_to_the_server() {
    let script = patient();
    let gateway = legacy(&script, Sharing::PerClient).await;
    let mut front = Front::legacy_with(&gateway, "2025-11-25", can_all()).await;
    front.begin("tools/call", json!({"name": "one__ask"})).await;
    script.heard("tools/call", 1).await;
    for (id, code) in [("q1", -1), ("q2", -32601), ("q3", -32602), ("q4", -32603)] {
        script.say(&question(id, "roots/list", &json!({})));
        let asked = front.notice("roots/list").await;
        let refused = error(code, "no");
        front
            .send(&json!({"jsonrpc": "2.0", "id": passed(&asked), "error": refused}))
            .await;
        assert_eq!(script.answered(id).await["error"]["code"], code);
    }
}

#[tokio::test]
async fn a_question_that_a_server_takes_back_is_taken_back_from_the_client() {
    let script = patient();
    let gateway = legacy(&script, Sharing::PerClient).await;
    let mut front = Front::legacy_with(&gateway, "2025-11-25", can_all()).await;
    front.begin("tools/call", json!({"name": "one__ask"})).await;
    script.heard("tools/call", 1).await;
    script.say(&question("q1", "roots/list", &json!({})));
    let asked = front.notice("roots/list").await;
    let params = json!({"requestId": "q1"});
    script.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    let cancelled = front.notice("notifications/cancelled").await;
    assert_eq!(cancelled["params"], json!({"requestId": passed(&asked)}));
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_not_asked() {
    let script = patient();
    let gateway = legacy(&script, Sharing::PerClient).await;
    let mut front = Front::legacy(&gateway).await;
    let call = front.begin("tools/call", json!({"name": "one__ask"})).await;
    let sent = script.heard("tools/call", 1).await;
    let hello = script.heard("initialize", 2).await;
    assert_eq!(hello["params"]["capabilities"], json!({}));
    let params =
        json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {}}});
    script.say(&question("q1", "elicitation/create", &params));
    assert!(script.answered("q1").await["error"]["code"].is_i64());
    script.say(&json!({"jsonrpc": "2.0", "id": sent["id"], "result": text("done")}));
    assert_eq!(front.answer(call).await["result"], text("done"));
    assert!(front.seen.is_empty(), "{:?}", front.seen);
}

#[tokio::test]
async fn changed_roots_are_announced_on_the_clients_own_connections() {
    let script = patient();
    let gateway = legacy(&script, Sharing::PerClient).await;
    let mut front = Front::legacy_with(&gateway, "2025-11-25", can_all()).await;
    front.begin("tools/call", json!({"name": "one__ask"})).await;
    script.heard("tools/call", 1).await;
    front
        .tell("notifications/roots/list_changed", Value::Null)
        .await;
    script.heard("notifications/roots/list_changed", 1).await;
}

#[tokio::test]
async fn a_clients_level_is_set_at_its_servers() {
    let script = patient();
    let gateway = legacy(&script, Sharing::Shared).await;
    let mut front = Front::legacy(&gateway).await;
    front
        .ask("logging/setLevel", json!({"level": "debug"}))
        .await;
    let set = script.heard("logging/setLevel", 1).await;
    assert_eq!(set["params"]["level"], "debug");
}

#[tokio::test]
async fn a_modern_servers_questions_are_refused_for_a_legacy_client() {
    let script = asking();
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy_with(&gateway, "2025-11-25", can_all()).await;
    let answer = front.ask("tools/call", json!({"name": "one__greet"})).await;
    let error = &answer["error"];
    let data = json!({"reason": "input", "server": "one", "mayHaveRun": true});
    assert_eq!((&error["code"], &error["data"]), (&json!(-32603), &data));
    assert!(front.seen.is_empty(), "{:?}", front.seen);
}

#[tokio::test]
async fn a_legacy_servers_questions_are_refused_for_a_modern_client() {
    let script = patient();
    let gateway = legacy(&script, Sharing::Shared).await;
    let mut front = Front::open(&gateway);
    let params = json!({"name": "one__ask", "_meta": able()});
    let call = front.begin_modern("tools/call", params).await;
    let sent = script.heard("tools/call", 1).await;
    script.say(&question("q1", "roots/list", &json!({})));
    assert!(script.answered("q1").await["error"]["code"].is_i64());
    script.say(&json!({"jsonrpc": "2.0", "id": sent["id"], "result": text("done")}));
    let answer = front.answer(call).await;
    assert_eq!(answer["result"]["content"], text("done")["content"]);
    assert!(front.seen.is_empty(), "{:?}", front.seen);
}
