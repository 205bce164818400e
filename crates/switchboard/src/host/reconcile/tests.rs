use std::path::Path;

use super::*;
use crate::host::State;
use crate::host::test_support::{Script, name, settings};
use crate::policy::Level;
use crate::spec::Layer;

fn config(text: &str) -> Config {
    Config::read(text, Path::new("/home/me/mcp.json"), Layer::User)
}

/// A file with these servers, each on a line, whose commands are given.
fn servers(all: &[(&str, &str)]) -> Config {
    let lines = all.iter().map(|(name, command)| {
        let entry = serde_json::json!({ "command": command });
        format!("  \"{name}\": {entry}")
    });
    let lines: Vec<_> = lines.collect();
    config(&format!(
        "{{\"mcpServers\": {{\n{}\n}}}}",
        lines.join(",\n")
    ))
}

fn host(config: &Config) -> Host {
    Host::builder().config(config).build().unwrap()
}

fn texts(names: &[ServerName]) -> Vec<&str> {
    names.iter().map(ServerName::as_str).collect()
}

#[tokio::test]
async fn servers_become_those_of_the_new_file_and_the_others_are_left_alone() {
    let host = host(&servers(&[("a", "one"), ("b", "one"), ("c", "one")]));
    let before = host.0.registry.find("a").unwrap();
    let done = host
        .reconcile(&servers(&[("d", "one"), ("a", "one"), ("b", "two")]))
        .await;
    assert_eq!(texts(&done.added), ["d"]);
    assert_eq!(texts(&done.removed), ["c"]);
    assert_eq!(texts(&done.changed), ["b"]);
    assert_eq!(texts(&done.kept), ["a"]);
    assert!(done.errors.is_empty() && !done.is_unchanged());
    let names: Vec<_> = host.servers().into_iter().map(|it| it.name).collect();
    assert_eq!(texts(&names), ["a", "b", "d"]);
    // The entry has moved by a line, which its errors name.
    let now = host.server("a").unwrap();
    assert_eq!(now.origin.line, Some(3));
    assert!(before.has_left());
}

#[tokio::test]
async fn the_same_file_changes_nothing() {
    let same = servers(&[("a", "one"), ("b", "two")]);
    let host = host(&same);
    let before = host.0.registry.find("a").unwrap();
    let done = host.reconcile(&same).await;
    assert!(done.is_unchanged());
    assert_eq!(texts(&done.kept), ["a", "b"]);
    assert!(Arc::ptr_eq(&before, &host.0.registry.find("a").unwrap()));
}

#[tokio::test]
async fn servers_of_the_program_stay_and_an_entry_of_their_name_is_an_error() {
    let script = Script::answering(1);
    let host = Host::builder()
        .transport(name("own"), script.transport(), settings())
        .config(&servers(&[("a", "one")]));
    let host = host.build().unwrap();
    host.connect("own").await.unwrap();
    let done = host.reconcile(&servers(&[("own", "one")])).await;
    assert_eq!(texts(&done.removed), ["a"]);
    assert_eq!(done.errors.len(), 1);
    let result = host.call("own/echo", serde_json::json!({"message": "hello"}));
    assert_eq!(result.await.unwrap().text(), "hello");
}

#[tokio::test]
async fn a_broken_entry_becomes_a_server_again_once_it_is_right() {
    let host = host(&config(r#"{"mcpServers": {"a": {"command": 5}}}"#));
    assert!(
        matches!(host.server("a").unwrap().state, State::Failed(_)) || !host.problems().is_empty()
    );
    assert!(!host.config_problems().is_empty());
    let done = host.reconcile(&servers(&[("a", "one")])).await;
    assert_eq!(texts(&done.changed), ["a"]);
    assert!(host.config_problems().is_empty() && host.problems().is_empty());
}

#[tokio::test]
async fn what_files_say_of_agents_counts_at_once() {
    let host = host(&config(r#"{"agents": {"planner": {"level": "yolo"}}}"#));
    assert!(host.agent("planner").is_ok());
    host.reconcile(&config(r#"{"agents": {"reader": {"level": "yolo"}}}"#))
        .await;
    assert!(host.agent("planner").is_err());
    assert!(host.agent("reader").is_ok());
}

#[tokio::test]
async fn the_policy_of_the_program_is_not_replaced() {
    let everything = AgentPolicy::everything(Level::Yolo);
    let host = Host::builder().agent("planner", everything);
    let host = host.config(&config("{}")).build().unwrap();
    host.reconcile(&config(r#"{"agents": {"reader": {"level": "yolo"}}}"#))
        .await;
    assert!(host.agent("planner").is_ok() && host.agent("reader").is_err());
}

#[tokio::test]
async fn what_files_say_of_all_servers_starts_those_anew_that_it_is_about() {
    let servers =
        r#""mcpServers": {"a": {"command": "sh"}, "b": {"url": "https://example.com/mcp"}}"#;
    let with = |section: &str| config(&format!("{{{servers}{section}}}"));
    let host = host(&with(""));
    for (section, expected) in [
        ("", &[][..]),
        (r#", "limits": {"in_flight": 3}"#, &["a", "b"]),
        (
            r#", "limits": {"in_flight": 3}, "network": {"proxy": "none"}"#,
            &["b"],
        ),
        (
            r#", "limits": {"in_flight": 3}, "network": {"proxy": "none"}, "pins": "off""#,
            &[],
        ),
        ("", &["a", "b"]),
    ] {
        for member in host.0.registry.members() {
            host.0.registry.admit(&member).await.unwrap();
        }
        let done = host.reconcile(&with(section)).await;
        assert_eq!(texts(&done.changed), expected, "{section}");
    }
    assert_eq!(host.0.registry.options().limits, crate::Limits::default());
}
