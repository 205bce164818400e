//! The command lines of the Inspector and of mcporter.

use serde_json::Value;
use switchboard_tests::partners::{self, Launch};

use super::{LEGACY, MODERN, front_of, run, sees};
use crate::front::{Front, Http, OWN};

/// Ways to reach the gateway: the options of a client for each, and what stands before names.
type Ways = Vec<(Vec<String>, &'static str)>;

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// Runs a client once with each of its ways.
fn in_both_eras(ways: impl Fn(&Http) -> Ways, uses: impl Fn(&Front, &[String], &str)) {
    for (era, _) in [LEGACY, MODERN] {
        let (_server, front) = front_of(era);
        let gateway = front.http();
        for (way, prefix) in ways(&gateway) {
            uses(&front, &way, prefix);
        }
    }
}

#[test]
fn the_inspector_lists_calls_reads_and_gets_a_prompt() {
    let ways = |gateway: &Http| {
        vec![
            (words(["--", OWN, "serve"]), "demo__"),
            (
                words(["--transport", "http", "--server-url", &gateway.url]),
                "demo__",
            ),
            (
                words([
                    "--transport",
                    "http",
                    "--server-url",
                    &gateway.server("demo"),
                ]),
                "",
            ),
        ]
    };
    in_both_eras(ways, |front, way, prefix| {
        let ask = |args: &[&str]| {
            let client = partners::inspector();
            let client = args.iter().fold(client, |client, arg| client.arg(*arg));
            sees(
                front,
                &way.iter().fold(client, |client, arg| client.arg(arg)),
            )
        };
        let echo = format!("{prefix}echo");
        let listed = ask(&["--method", "tools/list"]);
        let has_echo = |tools: &Vec<Value>| tools.iter().any(|tool| tool["name"] == echo.as_str());
        assert!(listed["tools"].as_array().is_some_and(has_echo), "{listed}");
        let call = [
            "--method",
            "tools/call",
            "--tool-name",
            &echo,
            "--tool-arg",
            "message=hello",
        ];
        assert_eq!(ask(&call)["content"][0]["text"], "hello");
        let read = ask(&["--method", "resources/read", "--uri", "file:///readme.txt"]);
        assert_eq!(read["contents"][0]["mimeType"], "text/plain");
        let greeting = format!("{prefix}greeting");
        let get = [
            "--method",
            "prompts/get",
            "--prompt-name",
            &greeting,
            "--prompt-args",
            "name=Ada",
        ];
        let said = &ask(&get)["messages"][0]["content"]["text"];
        assert_eq!(said, "Say hello to Ada in a friendly way.");
    });
}

#[test]
fn mcporter_lists_and_calls() {
    let ways = |gateway: &Http| {
        let url = ["--allow-http", "--http-url"];
        vec![
            (words(["--stdio", OWN, "--stdio-arg", "serve"]), "demo__"),
            (words([url[0], url[1], &gateway.url]), "demo__"),
            (words([url[0], url[1], &gateway.server("demo")]), ""),
        ]
    };
    in_both_eras(ways, |front, way, prefix| {
        let client = |verb: &str| {
            let client = partners::mcporter().arg(verb);
            way.iter().fold(client, Launch::arg)
        };
        let listed = sees(front, &client("list").arg("--json"));
        let echo = format!("{prefix}echo");
        let has_echo = |tools: &Vec<Value>| tools.iter().any(|tool| tool["name"] == echo.as_str());
        assert!(listed["tools"].as_array().is_some_and(has_echo), "{listed}");
        let called = run(front, &client("call").arg(echo).arg("message=hello"));
        assert_eq!(called.trim(), "hello");
    });
}
