//! Lists per call: fresh or cached, of a server alone and of a host; the last ones stay readable.

use std::time::Duration;

use serde_json::json;
use switchboard::ErrorKind;
use switchboard::host::{Caller, Host};
use switchboard::policy::Level;
use switchboard::protocol::Raw;
use switchboard::server::Server;
use switchboard::session::{CallOptions, SessionOptions};
use switchboard::spec::{Protocol, Settings};
use switchboard_testkit::Options;
use tokio::time::advance;

use crate::host_support::agents::{agent, allowing};
use crate::host_support::{Tap, name, tapped};

/// A server of the legacy era alone, and a count of what it is asked.
fn alone() -> (Server, Tap) {
    let (memory, tap) = tapped(Options::default());
    let options = SessionOptions::default().protocol(Protocol::Legacy);
    (Server::new(name("demo"), memory, options), tap)
}

#[tokio::test]
async fn a_list_of_a_server_is_fresh_or_cached_and_stays_when_the_connection_is_gone() {
    let (server, tap) = alone();
    assert!(server.known_tools().is_none());
    // Nothing is known yet: the server is asked.
    let first = server.tools().cached().await.unwrap();
    assert_eq!(first.items.len(), 7);
    assert_eq!(server.tools().cached().await.unwrap(), first);
    assert_eq!(tap.count("tools/list"), 1);
    assert_eq!(server.tools().await.unwrap(), first);
    assert_eq!(server.tools().cached().fresh().await.unwrap(), first);
    assert_eq!(tap.count("tools/list"), 3);
    let prompts = server.prompts().await.unwrap();
    let resources = server.resources().await.unwrap();
    let templates = server.templates().await.unwrap();

    server.close().await;
    assert_eq!(server.known_tools(), Some(first.clone()));
    assert_eq!(server.known_prompts(), Some(prompts.clone()));
    assert_eq!(server.known_resources(), Some(resources));
    assert_eq!(server.known_templates(), Some(templates));
    assert_eq!(server.tools().cached().await.unwrap(), first);
    assert_eq!(server.prompts().cached().await.unwrap(), prompts);
    assert!(server.live().is_none(), "nothing was connected for these");
    assert_eq!(tap.count("initialize"), 1);
    server.tools().fresh().await.unwrap();
    assert_eq!(tap.count("initialize"), 2);
}

#[tokio::test]
async fn a_change_that_the_server_announces_ends_a_cached_list() {
    let (server, tap) = alone();
    server.tools().await.unwrap();
    let arguments = Raw::of(&json!({"list": "tools"})).ok();
    let mut changes = server.live().unwrap().changes();
    let called = server.call_tool("announce_change", arguments, CallOptions::default());
    called.await.unwrap();
    changes.wait_for(|changes| changes.tools > 0).await.unwrap();
    server.tools().cached().await.unwrap();
    assert_eq!(tap.count("tools/list"), 2);
    server.tools().cached().await.unwrap();
    assert_eq!(tap.count("tools/list"), 2);
}

#[tokio::test(start_paused = true)]
async fn a_cached_list_is_taken_up_to_the_age_that_the_caller_allows() {
    let (server, tap) = alone();
    server.tools().await.unwrap();
    let minute = Duration::from_secs(60);
    advance(minute).await;
    server.tools().max_age(2 * minute).await.unwrap();
    assert_eq!(tap.count("tools/list"), 1);
    server.tools().max_age(minute / 2).await.unwrap();
    assert_eq!(tap.count("tools/list"), 2);
}

#[tokio::test]
async fn a_caller_of_a_host_chooses_for_one_server_too() {
    let (memory, tap) = tapped(Options::default());
    let policy = allowing("planner", Level::Yolo, &["mcp:demo:e*"]);
    let host = Host::builder()
        .transport(name("demo"), memory, Settings::default())
        .policy(policy)
        .build()
        .unwrap();
    let owner = host.view(Caller::owner());
    // Never listed: the server is asked.
    assert_eq!(owner.tools_of("demo").await.unwrap().len(), 7);
    assert_eq!(owner.tools_of("demo").cached().await.unwrap().len(), 7);
    assert_eq!(tap.count("tools/list"), 1);
    assert_eq!(owner.tools_of("demo").fresh().await.unwrap().len(), 7);
    assert_eq!(tap.count("tools/list"), 2);
    let planner = host.view(agent("planner"));
    let seen = planner.tools_of("demo").fresh().await.unwrap();
    let seen: Vec<_> = seen.iter().map(|tool| tool.raw_name()).collect();
    assert_eq!(seen, ["echo"]);
    assert_eq!(tap.count("tools/list"), 3);
    // The last list stays, without a connection.
    host.disconnect("demo").await.unwrap();
    assert_eq!(owner.tools_of("demo").await.unwrap().len(), 7);
    assert_eq!(tap.count("tools/list"), 3);
    // A server that a caller may not know of is like one that is not there.
    let absent = host.view(agent("guest")).tools_of("demo").await;
    assert_eq!(absent.unwrap_err().kind(), ErrorKind::Configuration);
    host.shutdown().await;
}
