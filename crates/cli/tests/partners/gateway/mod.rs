//! `switchboard serve` between clients and servers that others wrote, over stdio and HTTP, in both eras.

mod command_lines;
mod oauth;
mod python;
mod rmcp;
mod servers;
mod typescript;

use std::process::{Command, Stdio};

use serde_json::{Map, Value, json};
use switchboard_tests::partners::Launch;

use crate::front::{Front, Http, OWN};

/// The eras of a client, with the version of each.
const LEGACY: (&str, &str) = ("legacy", "2025-11-25");
const MODERN: (&str, &str) = ("modern", "2026-07-28");

/// A gateway to the bundled server over HTTP in one era, which is called `demo`.
fn front_of(era: &str) -> (Http, Front) {
    let server = Http::test_server(&["--talking", "--era", era]);
    let front = Front::new(&json!({"demo": {"type": "http", "url": server.url}}));
    (server, front)
}

/// The gateway as the config of a client starts it.
fn launch(front: &Front, args: &[&str]) -> Launch {
    let launch = Launch::program(OWN).arg("serve");
    let launch = args.iter().fold(launch, |launch, arg| launch.arg(*arg));
    let variables = front.env().into_iter();
    variables.fold(launch, |launch, (name, value)| launch.env(name, value))
}

/// The entry of a server in a config.
fn entry(launch: &Launch) -> Value {
    let env = launch.env.iter().cloned();
    let env: Map<String, Value> = env.map(|(name, value)| (name, json!(value))).collect();
    json!({"command": launch.program, "args": launch.args, "env": env})
}

/// Runs a client to its end and returns what it wrote.
fn run(front: &Front, client: &Launch) -> String {
    let output = Command::new(&client.program)
        .args(&client.args)
        .envs(front.env())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{client:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a client to its end and returns what it saw.
fn sees(front: &Front, client: &Launch) -> Value {
    serde_json::from_str(&run(front, client)).unwrap()
}

/// Holds what a client saw against what the bundled server offers.
fn uses(front: &Front, client: &Launch, version: &str, prefix: &str) -> Value {
    let saw = sees(front, client);
    assert_eq!(saw["version"], version);
    let tools = saw["tools"].as_array().unwrap();
    assert!(tools.contains(&json!(format!("{prefix}echo"))), "{saw}");
    assert_eq!(saw["echo"], "hello");
    // The TypeScript SDKs lose a step that arrives together with the result, also without a gateway.
    let progress = saw["progress"].as_array().unwrap();
    let steps: Vec<_> = progress.iter().filter_map(Value::as_f64).collect();
    assert!(
        steps.len() >= 2 && [1.0, 2.0, 3.0].starts_with(&steps),
        "{saw}"
    );
    assert_eq!(saw["read"], 1);
    assert_eq!(saw["prompts"].as_array().unwrap().len(), 4);
    assert_eq!(saw["asked"], "Hello, Ada!");
    assert_eq!(saw["prompt"], "Say hello to Ada in a friendly way.");
    assert_eq!(saw["completed"], json!(["true"]));
    assert_eq!(saw["after"], "still here");
    saw
}

/// Runs a client over stdio and HTTP, before the whole gateway and before one server alone.
fn everywhere((era, version): (&str, &str), client: impl Fn(&str, &str) -> Launch) -> Vec<Value> {
    let (_server, front) = front_of(era);
    let whole = json!([OWN, "serve"]).to_string();
    let one = json!([OWN, "serve", "--server", "demo"]).to_string();
    let gateway = front.http();
    let targets = [
        (whole.as_str(), "demo__"),
        (&one, ""),
        (&gateway.url, "demo__"),
        (&gateway.server("demo"), ""),
    ];
    let runs = targets.into_iter();
    runs.map(|(target, prefix)| uses(&front, &client(target, prefix), version, prefix))
        .collect()
}
