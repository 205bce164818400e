//! Requests that a server answers, whole.

use serde_json::{Value, json};
use switchboard_testkit::Options;

use crate::support::{
    Does, Era, Front, Script, With as _, answering, builder, error, gateway, testkit,
};

/// A result that few programs would write: everything in it has to survive.
const ODD: &str = r#"{ "z" : 1e400,"content":[{"type":"hologram","x":1.10,"x":-0},{"type":"text","text":"\ud800 \u0041"}],"isError":null,"structuredContent":[1,{"a":null}], "_meta":{"b":12345678901234567890123} }"#;

fn odd(era: Era) -> Script {
    Script::new(era, &["odd"], |_| vec![Does::Result(ODD.to_owned())])
}

async fn line_of_answer(front: &mut Front) -> String {
    loop {
        let line = front.line().await.unwrap();
        if line.contains(r#""result":"#) {
            return line;
        }
    }
}

#[tokio::test]
async fn a_result_for_a_legacy_client_is_the_servers_byte_for_byte() {
    for era in [Era::Legacy, Era::Modern] {
        let gateway = gateway(builder().with("one", odd(era).memory())).await;
        let mut front = Front::legacy(&gateway).await;
        let id = front
            .begin("tools/call", json!({"name": "one__odd", "arguments": {}}))
            .await;
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{ODD}}}"#);
        assert_eq!(line_of_answer(&mut front).await, expected);
    }
}

#[tokio::test]
async fn a_legacy_result_for_a_modern_client_has_its_type_added() {
    let gateway = gateway(builder().with("one", odd(Era::Legacy).memory())).await;
    let mut front = Front::open(&gateway);
    let id = front
        .begin_modern("tools/call", json!({"name": "one__odd"}))
        .await;
    let rest = ODD.strip_prefix('{').unwrap();
    let expected =
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete",{rest}}}"#);
    assert_eq!(line_of_answer(&mut front).await, expected);
}

#[tokio::test]
async fn a_server_gets_the_arguments_verbatim_and_foreign_members_of_meta() {
    let script = Script::new(Era::Legacy, &["do"], answering("done"));
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let arguments = json!({"b": [null, 1.5], "a": "x"});
    let meta = json!({"traceparent": trace, "vendor/x": {"y": 1}, "progressToken": "mine"});
    let params = json!({"name": "one__do", "arguments": arguments, "_meta": meta});
    front.ask("tools/call", params).await;
    let call = script.heard("tools/call", 1).await;
    assert_eq!(
        (&call["params"]["name"], &call["params"]["arguments"]),
        (&json!("do"), &arguments)
    );
    let meta = &call["params"]["_meta"];
    assert_eq!(
        (&meta["traceparent"], &meta["vendor/x"]),
        (&json!(trace), &json!({"y": 1}))
    );
    // The token is ours: two clients may use the same.
    assert_ne!(meta["progressToken"], "mine");
    assert_eq!(meta.get("io.modelcontextprotocol/protocolVersion"), None);
}

#[tokio::test]
async fn prompts_resources_and_completions_are_answered_in_both_eras() {
    let options = Options {
        talking: true,
        ..Options::default()
    };
    let gateway = gateway(builder().with("demo", testkit(options))).await;
    let mut front = Front::legacy(&gateway).await;
    let prompt = json!({"name": "demo__greeting", "arguments": {"name": "Ada"}});
    let uri = json!({"uri": "file:///readme.txt"});
    let note = json!({"uri": "note:///today"});
    for (method, params) in [
        ("prompts/get", prompt),
        ("resources/read", uri),
        ("resources/read", note),
    ] {
        let legacy = front.ask(method, params.clone()).await;
        let modern = front.ask_modern(method, params).await;
        let member = if method == "prompts/get" {
            "messages"
        } else {
            "contents"
        };
        assert!(legacy["result"][member][0].is_object(), "{legacy}");
        assert_eq!(legacy["result"][member], modern["result"][member]);
        assert_eq!(modern["result"]["resultType"], "complete");
        if method == "resources/read" {
            assert!(modern["result"]["cacheScope"].is_string());
            assert!(modern["result"]["ttlMs"].is_u64());
        }
    }
    let argument = json!({"name": "language", "value": ""});
    let target = json!({"type": "ref/prompt", "name": "demo__code_review"});
    let params = json!({"ref": target, "argument": argument});
    let legacy = front.ask("completion/complete", params.clone()).await;
    let modern = front.ask_modern("completion/complete", params).await;
    assert!(
        legacy["result"]["completion"]["values"].is_array(),
        "{legacy}"
    );
    assert_eq!(
        legacy["result"]["completion"],
        modern["result"]["completion"]
    );
}

#[tokio::test]
async fn a_template_that_two_servers_have_is_completed_by_its_own() {
    let completing = |value: &'static str| {
        let script = Script::new(Era::Legacy, &[], move |_| {
            let values = json!({"completion": {"values": [value]}});
            vec![Does::Result(values.to_string())]
        });
        script.template("log://{day}")
    };
    let (one, two) = (completing("of one"), completing("of two"));
    let servers = builder().with("one", one.memory());
    let gateway = gateway(servers.with("two", two.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    for (server, script) in [("one", one), ("two", two)] {
        let uri = format!("switchboard://{server}/=log://{{day}}");
        let target = json!({"type": "ref/resource", "uri": uri});
        let params = json!({"ref": target, "argument": {"name": "day", "value": ""}});
        for answer in [
            front.ask("completion/complete", params.clone()).await,
            front.ask_modern("completion/complete", params).await,
        ] {
            let values = &answer["result"]["completion"]["values"];
            assert_eq!(*values, json!([format!("of {server}")]), "{answer}");
        }
        let heard = script.heard("completion/complete", 2).await;
        assert_eq!(heard["params"]["ref"]["uri"], "log://{day}");
    }
}

#[tokio::test]
async fn a_server_that_completes_nothing_has_no_values() {
    let script = Script::new(Era::Legacy, &[], answering("x"));
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    let target = json!({"type": "ref/prompt", "name": "one__hello"});
    let params = json!({"ref": target, "argument": {"name": "a", "value": ""}});
    let answer = front.ask("completion/complete", params).await;
    assert_eq!(answer["result"], json!({"completion": {"values": []}}));
    assert_eq!(script.count("completion/complete"), 0);
}

#[tokio::test]
async fn what_does_not_exist_has_the_error_of_the_version() {
    let gateway = gateway(builder().with("demo", testkit(Options::default()))).await;
    let mut front = Front::legacy(&gateway).await;
    for (method, params, why) in [
        (
            "tools/call",
            json!({"name": "demo__none"}),
            "unknown tool: demo__none",
        ),
        (
            "prompts/get",
            json!({"name": "none"}),
            "unknown prompt: none",
        ),
    ] {
        let expected = error(-32602, why);
        assert_eq!(front.ask(method, params.clone()).await["error"], expected);
        assert_eq!(front.ask_modern(method, params).await["error"], expected);
    }
    let params = json!({"uri": "nowhere:///x"});
    let legacy = front.ask("resources/read", params.clone()).await;
    let modern = front.ask_modern("resources/read", params).await;
    let codes = (
        legacy["error"]["code"].clone(),
        modern["error"]["code"].clone(),
    );
    assert_eq!(codes, (json!(-32002), json!(-32602)));
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_told_as_the_version_tells_them() {
    let gateway = gateway(builder().with("demo", testkit(Options::default()))).await;
    let params = json!({"name": "demo__add", "arguments": {"a": "one"}});
    let mut newest = Front::legacy(&gateway).await;
    let answer = newest.ask("tools/call", params.clone()).await;
    assert_eq!(answer["result"]["isError"], true);
    let why = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        why.starts_with("the arguments of add do not fit: "),
        "{why}"
    );
    let modern = newest.ask_modern("tools/call", params.clone()).await;
    assert_eq!(modern["result"]["resultType"], "complete");
    assert_eq!(modern["result"]["content"], answer["result"]["content"]);
    let mut older = Front::legacy_with(&gateway, "2025-06-18", json!({})).await;
    assert_eq!(
        older.ask("tools/call", params).await["error"]["code"],
        -32602
    );
    for arguments in [json!([1]), json!("x"), Value::Null] {
        let params = json!({"name": "demo__add", "arguments": arguments});
        let expected = error(-32602, "the parameter arguments must be an object");
        assert_eq!(newest.ask("tools/call", params).await["error"], expected);
    }
}

#[tokio::test]
async fn ids_come_back_as_they_were_sent() {
    let gateway = gateway(builder().with("demo", testkit(Options::default()))).await;
    let mut front = Front::legacy(&gateway).await;
    for id in [r#""7""#, "7", "-1", "9223372036854775807", r#""a\"b""#] {
        let params = r#"{"name":"demo__echo","arguments":{"message":"hello"}}"#;
        front
            .raw(&format!(
                r#"{{"id":{id},"jsonrpc":"2.0","params":{params},"method":"tools/call"}}"#
            ))
            .await;
        front.raw("\n").await;
        let line = line_of_answer(&mut front).await;
        assert!(
            line.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#)),
            "{line}"
        );
    }
}
