//! Input that is not a message, or not one that is taken.

use serde_json::{Value, json};
use switchboard_gateway::{Gateway, GatewayOptions};

use crate::support::{Era, Front, Script, With as _, answering, builder, error, gateway, text};

#[tokio::test]
async fn bad_lines_are_answered_and_the_stream_goes_on() {
    let gateway = gateway(builder()).await;
    let mut front = Front::legacy(&gateway).await;
    for (line, code) in [
        ("nonsense", -32700),
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, -32700),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"{"jsonrpc":"1.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
    ] {
        front.raw(&format!("{line}\n")).await;
        let answer = front.read().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&Value::Null, &json!(code)),
            "{line}"
        );
    }
    front.raw("\n  \n\r\n").await;
    assert_eq!(front.ask("ping", Value::Null).await["result"], json!({}));
    assert!(front.seen.is_empty());
}

#[tokio::test]
async fn ambiguous_envelopes_and_parameters_reach_no_server() {
    let script = Script::new(Era::Legacy, &["a", "b"], answering("done"));
    let gateway = gateway(builder().with("one", script.memory())).await;
    let mut front = Front::legacy(&gateway).await;
    let call = r#""jsonrpc":"2.0","id":5,"method":"tools/call""#;
    for (rest, code) in [
        (
            r#""params":{"name":"one__a"},"params":{"name":"one__b"}"#,
            -32600,
        ),
        (
            r#""params":{"name":"one__a"},"Params":{"name":"one__b"}"#,
            -32600,
        ),
        (r#""params":{"name":"one__a"},"METHOD":"ping""#, -32600),
        (r#""params":{"name":"one__a","name":"one__b"}"#, -32602),
        (
            r#""params":{"name":"one__a","arguments":{},"arguments":{}}"#,
            -32602,
        ),
        (r#""params":["one__a"]"#, -32602),
        (r#""params":{"name":["one__a"]}"#, -32602),
        (r#""params":{"name":"one__a","_meta":7}"#, -32602),
    ] {
        front.raw(&format!("{{{call},{rest}}}\n")).await;
        let answer = front.read().await;
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(5), &json!(code)),
            "{rest}"
        );
    }
    assert_eq!(script.count("tools/call"), 0);
}

#[tokio::test]
async fn a_message_at_the_limit_is_taken_and_one_over_it_refused() {
    let script = Script::new(Era::Legacy, &["a"], answering("done"));
    let host = builder().with("one", script.memory()).build().unwrap();
    host.connect_all().await;
    let mut options = GatewayOptions::default();
    (options.limits.message_bytes, options.limits.json_depth) = (2000, 8);
    let gateway = Gateway::new(host, options).unwrap();
    let mut front = Front::legacy(&gateway).await;
    let of_size = |bytes: usize| {
        let call = |filling: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"one__a","arguments":{{"x":"{filling}"}}}}}}"#
            )
        };
        call(&"x".repeat(bytes - call("").len()))
    };
    front.raw(&format!("{}\n", of_size(2000))).await;
    assert_eq!(front.read().await["result"], text("done"));
    front.raw(&format!("{}\n", of_size(2001))).await;
    let answer = front.read().await;
    let refused = error(-32600, "the message is longer than the limit of 2000 bytes");
    assert_eq!(
        answer,
        json!({"jsonrpc": "2.0", "id": null, "error": refused})
    );
    // The envelope, the parameters and the arguments are three levels.
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"one__a","arguments":{{"x":{open}{close}}}}}}}"#
        )
    };
    front.raw(&format!("{}\n", nested(5))).await;
    assert_eq!(front.read().await["result"], text("done"));
    front.raw(&format!("{}\n", nested(6))).await;
    let refused = error(
        -32600,
        "the message is nested deeper than the limit of 8 levels",
    );
    assert_eq!(front.read().await["error"], refused);
    assert_eq!(script.count("tools/call"), 2);
}

#[tokio::test]
async fn answers_to_nothing_and_unknown_notifications_are_ignored() {
    let gateway = gateway(builder()).await;
    let mut front = Front::legacy(&gateway).await;
    for message in [
        json!({"jsonrpc": "2.0", "id": "x", "result": {}}),
        json!({"jsonrpc": "2.0", "id": 3, "error": {"code": 1, "message": "no"}}),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "no"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/none", "params": {"a": 1}}),
        json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1}}),
    ] {
        front.send(&message).await;
    }
    assert_eq!(front.ask("ping", Value::Null).await["result"], json!({}));
    assert!(front.seen.is_empty(), "{:?}", front.seen);
}

#[tokio::test]
async fn a_batch_of_2025_03_26_is_answered_by_one_line() {
    let script = Script::new(Era::Legacy, &["a"], answering("x"));
    let gateway = gateway(builder().with("one", script.memory())).await;
    let batch = json!([
        {"jsonrpc": "2.0", "id": "p", "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
        {"jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": {"name": "one__a"}},
    ]);
    let mut front = Front::legacy_with(&gateway, "2025-03-26", json!({})).await;
    front.send(&batch).await;
    let answers = front.read().await;
    let pong = json!({"jsonrpc": "2.0", "id": "p", "result": {}});
    assert_eq!(answers[0], pong);
    assert_eq!(answers[1]["id"], "c");
    assert_eq!(answers[1]["result"]["content"], text("x")["content"]);
    assert_eq!(answers.as_array().unwrap().len(), 2);
    // One without requests has no answer, and later versions have no batches.
    let notice = json!([{"jsonrpc": "2.0", "method": "notifications/x"}]);
    front.send(&notice).await;
    assert_eq!(front.ask("ping", Value::Null).await["result"], json!({}));
    assert_eq!(front.seen, Vec::<Value>::new());
    let mut newer = Front::legacy(&gateway).await;
    newer.send(&batch).await;
    assert_eq!(newer.read().await["error"]["code"], -32600);
    assert_eq!(script.count("tools/call"), 1);
}
