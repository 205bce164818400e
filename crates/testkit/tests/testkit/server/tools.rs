//! Tools that answer at once.

use serde_json::json;
use switchboard_testkit::{Options, shapes};

use crate::server::client::{Client, text};

#[tokio::test]
async fn echo_answers_exactly_the_message() {
    for mut client in Client::both(Options::default()).await {
        for message in [
            "hello",
            "",
            " \n\t\u{0}\"\\",
            "é\u{2028}\u{1f511}",
            &"x".repeat(1 << 20),
        ] {
            let result = client.call("echo", json!({"message": message})).await;
            assert_eq!(text(&result), message);
            assert_eq!(result.get("isError"), None);
        }
    }
}

#[tokio::test]
async fn add_answers_in_text_and_as_data() {
    for mut client in Client::both(Options::default()).await {
        let result = client.call("add", json!({"a": 2, "b": 40})).await;
        assert_eq!(text(&result), "42");
        assert_eq!(result["structuredContent"], json!({"sum": 42}));
        let result = client.call("add", json!({"a": 0.5, "b": -2})).await;
        assert_eq!(text(&result), "-1.5");
        assert_eq!(result["structuredContent"], json!({"sum": -1.5}));
    }
}

#[tokio::test]
async fn the_time_is_the_same_in_text_and_as_data() {
    for mut client in Client::both(Options::default()).await {
        let result = client.call("get_time", json!({})).await;
        let time = text(&result);
        assert_eq!(result["structuredContent"], json!({"time": time}));
        assert_eq!((time.len(), &time[10..11], &time[19..]), (20, "T", "Z"));
    }
}

#[tokio::test]
async fn fail_fails_with_the_message() {
    for mut client in Client::both(Options::default()).await {
        let result = client.call("fail", json!({"message": "no luck"})).await;
        assert_eq!(
            (text(&result), &result["isError"]),
            ("no luck", &json!(true))
        );
    }
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_an_error_of_the_protocol() {
    for mut client in Client::both(Options::default()).await {
        let error = client.error("tools/call", json!({"name": "nope"})).await;
        assert_eq!(
            error,
            json!({"code": -32602, "message": "unknown tool nope"})
        );
        assert_eq!(client.code("tools/call", json!({})).await, -32602);
        let params = json!({"name": "echo", "arguments": ["hello"]});
        assert_eq!(client.code("tools/call", params).await, -32602);
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_an_error_that_a_model_sees() {
    let cases = [
        ("echo", json!({}), "missing required argument message"),
        (
            "echo",
            json!({"message": 5}),
            "argument message must be a string",
        ),
        (
            "echo",
            json!({"message": "", "mesage": ""}),
            "unknown argument mesage",
        ),
        (
            "add",
            json!({"a": 1, "b": "2"}),
            "argument b must be a number",
        ),
        (
            "slow_operation",
            json!({"steps": 0}),
            "argument steps must be at least 1",
        ),
    ];
    for mut client in Client::both(Options::default()).await {
        for (tool, arguments, what) in &cases {
            let result = client.call(tool, arguments.clone()).await;
            assert_eq!((text(&result), &result["isError"]), (*what, &json!(true)));
        }
    }
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_before_2025_11_25() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let mut client = Client::legacy(version, json!({})).await;
        let params = json!({"name": "echo", "arguments": {}});
        assert_eq!(client.code("tools/call", params).await, -32602);
    }
}

#[tokio::test]
async fn odd_results_arrive_byte_for_byte() {
    let options = Options {
        shapes: true,
        ..Options::default()
    };
    let eras = [shapes::legacy(), shapes::modern()];
    for (mut client, shapes) in Client::both(options).await.into_iter().zip(eras) {
        for (index, shape) in shapes.iter().enumerate() {
            let arguments = json!({"number": index + 1});
            let params = json!({"name": "shape", "arguments": arguments});
            let id = client.request("tools/call", params).await;
            let line = client.next_line().await;
            let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{shape}}}"#);
            assert!(line.trim_end() == expected, "{}: {line}", index + 1);
        }
        let arguments = json!({"number": shapes.len() + 1});
        assert_eq!(client.call("shape", arguments).await["isError"], true);
    }
}
