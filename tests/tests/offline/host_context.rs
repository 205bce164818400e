//! Resources that are read for a model within a budget of bytes.

use serde_json::{Value, json};
use switchboard::host::{Caller, Host, Passage, Reading, View};
use switchboard::policy::Level;
use switchboard::spec::Protocol;
use switchboard_testkit::Options;

use crate::host_support::agents::{agent, allowing};
use crate::host_support::{Tap, With as _, scripted, tapped, usual};

/// A host with a server, `demo`, that has these resources beside its own: address, text and more members
/// of the definition.
async fn with_resources(resources: &[(&str, String, Value)]) -> (Host, Tap) {
    let mut options = Options::default();
    options.growing = true;
    let (memory, tap) = tapped(options);
    let policy = allowing("planner", Level::Yolo, &["mcp:demo:resource/note:*"]);
    let host = Host::builder().policy(policy).with("demo", memory);
    let host = host.build().unwrap();
    for (uri, text, more) in resources {
        let new = json!({"uri": uri, "text": text, "definition": more});
        host.call("demo/add_resource", new).await.unwrap();
    }
    host.refresh("demo").await.unwrap();
    (host, tap)
}

/// The notes alone, without the resources that the server has of its own.
async fn notes(view: &View, budget: u64) -> Reading {
    let mut notes = view.resources();
    notes.retain(|entry| entry.uri().starts_with("note:"));
    view.context_of(&notes, budget).await
}

fn uris(reading: &Reading) -> Vec<&str> {
    reading.texts.iter().map(|text| text.uri.as_str()).collect()
}

fn reasons(reading: &Reading) -> Vec<(&str, &str)> {
    let left_out = reading.left_out.iter();
    left_out
        .map(|(_, uri, why)| (uri.as_str(), why.as_str()))
        .collect()
}

/// Without a size, and of this importance.
fn unsized_at(priority: f64) -> Value {
    json!({"size": null, "annotations": {"priority": priority}})
}

#[tokio::test]
async fn resources_without_a_size_are_read_and_counted_by_their_text() {
    let (host, tap) = with_resources(&[
        ("note:a", "a".repeat(10), unsized_at(0.9)),
        ("note:b", "b".repeat(30_000), unsized_at(0.8)),
        ("note:c", "c".repeat(20_000), unsized_at(0.7)),
        ("note:d", "d".repeat(2_758), unsized_at(0.6)),
        ("note:e", "e".to_owned(), unsized_at(0.5)),
    ])
    .await;
    let view = host.view(Caller::owner());
    // 32 KiB: the first two and the fourth fill it to the last byte.
    let reading = notes(&view, 32 * 1024).await;
    assert_eq!(uris(&reading), ["note:a", "note:b", "note:d"]);
    assert_eq!(reading.bytes, 32 * 1024);
    assert_eq!(
        reasons(&reading),
        [
            ("note:c", "it has 20000 bytes, and 2758 are left"),
            (
                "note:e",
                "its size is not known, and there is no room to read it"
            ),
        ]
    );
    assert_eq!(tap.count("resources/read"), 4, "no room, no reading");
    host.shutdown().await;
}

#[tokio::test]
async fn only_so_much_is_read_in_vain() {
    let names: Vec<String> = (0..20)
        .map(|number| format!("note:large{number}"))
        .collect();
    let mut resources = Vec::new();
    for name in &names {
        resources.push((name.as_str(), "x".repeat(100_000), unsized_at(0.9)));
    }
    resources.push(("note:unsized", "u".to_owned(), unsized_at(0.1)));
    let last = json!({"annotations": {"priority": 0.0}});
    resources.push(("note:sized", "s".repeat(500), last));
    let (host, tap) = with_resources(&resources).await;
    let view = host.view(Caller::owner());
    let reading = notes(&view, 500).await;
    // Eleven are more than 1 MiB; what has a size is still read.
    assert_eq!(uris(&reading), ["note:sized"]);
    assert_eq!(tap.count("resources/read"), 12);
    assert_eq!(reading.left_out.len(), 21);
    let unknown = "its size is not known, and there is no room to read it";
    assert_eq!(reasons(&reading)[11].1, unknown);
    assert_eq!(reasons(&reading)[20], ("note:unsized", unknown));
    host.shutdown().await;
}

#[tokio::test]
async fn a_wrong_size_does_not_break_the_budget() {
    let small = json!({"size": 1, "annotations": {"priority": 0.9}});
    let huge = json!({"size": 5_000_000});
    let people = json!({"annotations": {"audience": ["user"]}});
    let (host, tap) = with_resources(&[
        ("note:lie", "x".repeat(400), small),
        ("note:huge", "x".to_owned(), huge),
        ("note:people", "x".to_owned(), people),
        ("note:fits", "x".repeat(300), json!({})),
    ])
    .await;
    let view = host.view(agent("planner"));
    let reading = notes(&view, 300).await;
    assert_eq!((uris(&reading), reading.bytes), (vec!["note:fits"], 300));
    assert_eq!(
        reasons(&reading),
        [
            ("note:lie", "it has 400 bytes, and 300 are left"),
            ("note:huge", "it has 5000000 bytes, and 0 are left"),
            ("note:people", "it is for people"),
        ]
    );
    assert_eq!(tap.count("resources/read"), 2);
    // What the agent was not granted is no part of it.
    let all = view.context(1 << 20).await;
    let is_note = |text: &Passage| text.uri.starts_with("note:");
    assert!(all.texts.iter().all(is_note), "{all:?}");
    host.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_delays_the_context_once() {
    let (memory, script) = scripted(|method, _| match method {
        "resources/read" => None,
        "resources/list" => {
            let notes = (0..50).map(|at| json!({"uri": format!("note:{at}"), "name": "n"}));
            Some(json!({"result": {"resources": notes.collect::<Vec<_>>()}}))
        }
        _ => Some(usual(method)),
    });
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.with("demo", memory).build().unwrap();
    host.connect("demo").await.unwrap();
    let view = host.view(Caller::owner());
    let reading = view.context(1000).await;
    assert_eq!(script.tap.count("resources/read"), 1);
    assert_eq!(reading.left_out.len(), 50);
    assert!(reading.left_out[0].2.contains("no answer"), "{reading:?}");
    assert_eq!(reading.left_out[49].2, "its server does not answer");
}
