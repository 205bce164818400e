//! Errors: the servers' own, and those that only a gateway has.

use serde_json::{Value, json};
use switchboard::Deadline;
use switchboard::policy::{AgentPolicy, Caller, Grants, Level};
use switchboard::spec::Settings;
use switchboard_gateway::{ClientIdentity, Gateway, GatewayOptions, Scope};
use switchboard_testkit::Options;

use crate::support::{
    Does, Era, Front, Script, With as _, answering, builder, crashing, error, gateway, name,
    remote, testkit,
};

fn failing(text: &'static str) -> Script {
    Script::new(Era::Legacy, &["fail"], move |_| {
        vec![Does::Error(text.to_owned())]
    })
}

#[tokio::test]
async fn a_servers_own_error_passes_verbatim() {
    let own = r#"{"message":"no \u0041","code":-32050,"data":{"b":1e9,"a":[]},"more":1.0}"#;
    let gateway = gateway(builder().with("one", failing(own).memory())).await;
    let mut front = Front::legacy(&gateway).await;
    for params in [json!({"name": "one__fail"})] {
        let id = front.begin("tools/call", params).await;
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{own}}}"#);
        assert_eq!(front.line().await.unwrap(), expected);
    }
}

#[tokio::test]
async fn a_missing_resource_has_the_code_of_the_clients_version() {
    let own = r#"{"code":-32002,"message":"gone","data":{"uri":"file:///a"}}"#;
    let gateway = gateway(builder().with("one", failing(own).memory())).await;
    let mut front = Front::legacy(&gateway).await;
    let params = json!({"uri": "file:///a"});
    let legacy = front.ask("resources/read", params.clone()).await;
    assert_eq!(legacy["error"], serde_json::from_str::<Value>(own).unwrap());
    let modern = front.ask_modern("resources/read", params).await;
    let data = json!({"uri": "file:///a"});
    assert_eq!(
        modern["error"],
        json!({"code": -32602, "message": "gone", "data": data})
    );
}

#[tokio::test]
async fn a_server_that_dies_in_a_call_may_have_run_it() {
    let script = Script::new(Era::Legacy, &["die"], |_| vec![Does::Dies]);
    let builder = builder()
        .with("one", script.memory())
        .with("demo", testkit(Options::default()));
    let gateway = gateway(builder).await;
    let mut front = Front::legacy(&gateway).await;
    let answer = front.ask("tools/call", json!({"name": "one__die"})).await;
    let error = &answer["error"];
    assert_eq!(error["code"], -32603);
    let message = error["message"].as_str().unwrap();
    let end = "; the request may have run; what helps: switchboard doctor one";
    assert!(
        message.starts_with("one: ") && message.ends_with(end),
        "{message}"
    );
    assert_eq!(error["data"]["server"], "one");
    assert_eq!(
        (&error["data"]["reason"], &error["data"]["mayHaveRun"]),
        (&json!("closed"), &json!(true))
    );
    assert_eq!(error["data"]["command"], "switchboard doctor one");
    // The others go on.
    let params = json!({"name": "demo__echo", "arguments": {"message": "hello"}});
    let answer = front.ask("tools/call", params).await;
    assert_eq!(answer["result"]["content"][0]["text"], "hello");
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_an_error_that_says_so() {
    let script = Script::new(Era::Legacy, &["wait"], |_| Vec::new());
    let mut settings = Settings::default();
    settings.timeouts.execution = Deadline::within(std::time::Duration::from_millis(100));
    let builder = builder().transport(name("one"), script.memory(), settings);
    let gateway = gateway(builder).await;
    let mut front = Front::legacy(&gateway).await;
    let answer = front.ask("tools/call", json!({"name": "one__wait"})).await;
    let data = &answer["error"]["data"];
    assert_eq!(
        (&data["reason"], &data["mayHaveRun"]),
        (&json!("timeout"), &json!(true))
    );
    script.heard("notifications/cancelled", 1).await;
}

/// A host with an agent that may use one of two tools.
async fn restricted() -> Gateway {
    let script = Script::new(Era::Legacy, &["get", "wipe"], answering("done"));
    let policy = AgentPolicy::new(Level::Yolo).grants(Grants::parse(["mcp:one:get"]).unwrap());
    gateway(
        builder()
            .with("one", script.memory())
            .agent("reader", policy),
    )
    .await
}

fn reader() -> Caller {
    Caller::agent("reader").unwrap()
}

#[tokio::test]
async fn a_denied_tool_is_not_listed_and_a_local_agent_learns_the_rule() {
    let gateway = restricted().await;
    let mut front = Front::open_as(&gateway, ClientIdentity::local(reader()), Scope::All);
    let tools = front.ask_modern("tools/list", Value::Null).await;
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 1);
    let get = front
        .ask_modern("tools/call", json!({"name": "one__get"}))
        .await;
    assert_eq!(get["result"]["content"][0]["text"], "done");
    let wipe = front
        .ask_modern("tools/call", json!({"name": "one__wipe"}))
        .await;
    let data = json!({"reason": "denied", "server": "one", "rule": "no grant"});
    let message = "one: agent reader may not call tool wipe: no grant";
    let expected = json!({"code": -32602, "message": message, "data": data});
    assert_eq!(wipe["error"], expected);
}

#[tokio::test]
async fn to_a_client_of_the_network_a_denied_tool_does_not_exist() {
    let gateway = restricted().await;
    let identity = ClientIdentity::remote(reader(), "token:reader");
    let mut front = Front::open_as(&gateway, identity, Scope::All);
    for tool in ["one__wipe", "one__none"] {
        let answer = front.ask_modern("tools/call", json!({"name": tool})).await;
        assert_eq!(
            answer["error"],
            error(-32602, &format!("unknown tool: {tool}"))
        );
    }
}

#[tokio::test]
async fn a_client_of_the_network_does_not_learn_how_a_server_is_reached() {
    let host = builder().with("one", crashing()).build().unwrap();
    let gateway = Gateway::new(host, GatewayOptions::default()).unwrap();
    let mut front = Front::open_as(&gateway, remote(), Scope::All);
    let answer = front
        .ask_modern("prompts/get", json!({"name": "one__x"}))
        .await;
    assert_eq!(answer["error"], error(-32602, "unknown prompt: one__x"));
    let script = Script::new(Era::Legacy, &["die"], |_| vec![Does::Dies]);
    let host = builder().with("one", script.memory()).build().unwrap();
    host.connect_all().await;
    let gateway = Gateway::new(host, GatewayOptions::default()).unwrap();
    let mut front = Front::open_as(&gateway, remote(), Scope::All);
    let answer = front
        .ask_modern("tools/call", json!({"name": "one__die"}))
        .await;
    let data = json!({"reason": "closed", "server": "one", "mayHaveRun": true});
    let message = "one: the connection to the server was lost; the request may have run";
    let expected = json!({"code": -32603, "message": message, "data": data});
    assert_eq!(answer["error"], expected);
}
