//! A server that is pinned, and an agent that may use all of it.

use serde_json::{Value, json};
use switchboard::ErrorKind;
use switchboard::host::{Caller, Host, HostBuilder};
use switchboard::pins::{Drift, Mode, Pins};
use switchboard::policy::{AgentPolicy, CallerId, Grants, Level, Policy};
use switchboard::spec::Settings;

use super::name;
use super::recorder::{Offer, Recorder};

pub(crate) fn reader(description: &str) -> Value {
    json!({
        "name": "read",
        "title": "Read",
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": {"folder": {"type": "string", "default": "notes"}, "deep": {"type": "boolean"}},
        },
        "outputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
        "annotations": {"readOnlyHint": true, "title": "Reads"},
        "_meta": {"example.org/kind": "file"},
    })
}

pub(crate) fn plain(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

pub(crate) fn offer() -> Offer {
    Offer {
        instructions: Some("Read before you write.".to_owned()),
        tools: vec![reader("Reads a note."), plain("list")],
        prompts: vec![json!({"name": "hello", "description": "Says hello."})],
        templates: vec![json!({"uriTemplate": "note:{id}", "name": "notes"})],
        ..Offer::default()
    }
}

pub(crate) fn policy() -> Policy {
    let all = ["mcp:*:*", "mcp:*:resource/*", "mcp:*:prompt/*"];
    let planner = AgentPolicy::new(Level::Yolo).grants(Grants::parse(all).unwrap());
    Policy::none().agent(CallerId::parse("planner").unwrap(), planner)
}

pub(crate) fn planner() -> Caller {
    Caller::agent("planner").unwrap()
}

/// A host with one server, `notes`.
pub(crate) fn host(recorder: &Recorder, make: impl FnOnce(HostBuilder) -> HostBuilder) -> Host {
    let builder = Host::builder()
        .transport(name("notes"), recorder.memory("notes"), Settings::default())
        .policy(policy());
    make(builder).build().unwrap()
}

pub(crate) fn within(mode: Mode) -> impl FnOnce(HostBuilder) -> HostBuilder {
    move |builder| builder.pins(Pins::in_memory(), mode)
}

/// Calls a tool of `notes`, and says whether there was a result.
pub(crate) async fn call(host: &Host, caller: Caller, tool: &str) -> bool {
    let found = host.view(caller).find(&format!("notes/{tool}")).await;
    let called = match found {
        Ok(tool) => tool.call(json!({})).await.map(drop),
        Err(error) => Err(error),
    };
    match called {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
            false
        }
    }
}

/// Waits until the host knows that something is not as it was approved.
pub(crate) async fn until_drifted(host: &Host) -> Vec<Drift> {
    let mut catalog = host.watch_catalog();
    let drifted = async {
        loop {
            let drifts = host.drifts("notes").unwrap();
            if !drifts.is_empty() {
                return drifts;
            }
            catalog.changed().await.unwrap();
        }
    };
    tokio::time::timeout(super::PATIENCE, drifted)
        .await
        .unwrap()
}
