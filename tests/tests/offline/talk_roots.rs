//! Folders: told to a server whose settings name them, and to no other.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use switchboard::Caller;
use switchboard::events::Event;
use switchboard::host::{Host, HostBuilder};
use switchboard::spec::{Protocol, Settings};
use switchboard::transport::Memory;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::host_support::{PATIENCE, name};
use crate::support::wire::{Wire, hello_legacy, hello_modern};

type Heard = mpsc::UnboundedReceiver<Value>;

/// A server with a tool that asks for folders, in the way of its era, and answers with what it got.
fn curious(is_modern: bool) -> (Memory, Heard) {
    let (says, heard) = mpsc::unbounded_channel();
    let memory = Memory::new("curious", move |input, output| {
        let mut wire = Wire::new(input, output, 1, says.clone());
        async move {
            let mut called = Value::Null;
            while let Some(message) = wire.read().await {
                let result = match message["method"].as_str() {
                    Some("initialize") => with_tools(hello_legacy("2025-11-25")),
                    Some("server/discover") => with_tools(hello_modern(&["2026-07-28"])),
                    Some("tools/list") => json!({
                        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                        "tools": [{"name": "ask", "inputSchema": {"type": "object"}}],
                    }),
                    Some("tools/call") if is_modern => {
                        match message["params"].get("inputResponses") {
                            None => json!({
                                "resultType": "input_required",
                                "inputRequests": {"folders": {"method": "roots/list"}},
                            }),
                            Some(answers) => done(&answers["folders"]),
                        }
                    }
                    Some("tools/call") => {
                        called = message.clone();
                        let ask = json!({"jsonrpc": "2.0", "id": "r", "method": "roots/list"});
                        wire.send(&ask).await;
                        continue;
                    }
                    None if message["id"] == "r" => {
                        let said = message.get("result").unwrap_or(&message["error"]["code"]);
                        let result = done(said);
                        wire.answer(&called, &result).await;
                        continue;
                    }
                    _ => continue,
                };
                wire.answer(&message, &result).await;
            }
        }
    });
    (memory, heard)
}

fn with_tools(mut hello: Value) -> Value {
    hello["capabilities"] = json!({"tools": {}});
    hello
}

fn done(said: &Value) -> Value {
    let text = said.to_string();
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}

const ERAS: [(Protocol, bool); 2] = [(Protocol::Legacy, false), (Protocol::Modern, true)];

fn settings(folders: &[&Path]) -> Settings {
    let mut settings = Settings::default();
    settings.roots = folders.iter().map(PathBuf::from).collect();
    settings
}

fn with(era: Protocol, memory: Memory, settings: Settings) -> HostBuilder {
    let host = Host::builder().protocol(era);
    host.transport(name("one"), memory, settings)
}

/// What the server is told when it asks.
async fn told(host: &Host) -> Result<Value, switchboard::Error> {
    let tool = host.view(Caller::owner()).find("one/ask").await?;
    let result = timeout(PATIENCE, tool.call(json!({}))).await.unwrap()?;
    Ok(serde_json::from_str(&result.text()).unwrap())
}

/// What was declared, with every message that says it.
fn declared(heard: &mut Heard) -> Vec<Value> {
    let all = std::iter::from_fn(|| heard.try_recv().ok());
    let declared = all.filter_map(|message| {
        let params = &message["params"];
        let said = match message["method"].as_str()? {
            "initialize" => &params["capabilities"],
            _ => &params["_meta"]["io.modelcontextprotocol/clientCapabilities"],
        };
        said.is_object().then(|| said.clone())
    });
    declared.collect()
}

fn uris(told: &Value) -> Vec<&str> {
    let roots = told["roots"].as_array().unwrap().iter();
    roots.map(|root| root["uri"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_server_is_told_of_the_folders_of_its_settings() {
    for (era, is_modern) in ERAS {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("a b")).unwrap();
        let (memory, mut heard) = curious(is_modern);
        let settings = settings(&[&folder.path().join("a b"), &folder.path().join("none")]);
        let host = with(era, memory, settings).build().unwrap();
        let mut events = host.events();
        let said = told(&host).await.unwrap();
        let uri = format!("file://{}/a%20b", real.display());
        assert_eq!(said, json!({"roots": [{"uri": uri, "name": "a b"}]}));
        let wanted = match is_modern {
            true => json!({"roots": {}}),
            false => json!({"roots": {"listChanged": true}}),
        };
        let declared = declared(&mut heard);
        assert!(!declared.is_empty() && declared.iter().all(|one| *one == wanted));
        let notices = std::iter::from_fn(|| events.try_recv().ok());
        let mut notices = notices.filter(|event| matches!(event, Event::Notice { .. }));
        let Some(Event::Notice { text, .. }) = notices.next() else {
            panic!("nobody was told of the folder that is not there");
        };
        assert!(text.contains("there is no such folder"), "{text}");
    }
}

#[tokio::test]
async fn without_folders_nothing_is_declared_and_nothing_answered() {
    for (era, is_modern) in ERAS {
        let (memory, mut heard) = curious(is_modern);
        let host = with(era, memory, Settings::default()).build().unwrap();
        match told(&host).await {
            // A modern server has to be satisfied with a call that goes nowhere.
            Err(_) => assert!(is_modern),
            Ok(code) => assert_eq!((is_modern, code), (false, json!(-32601))),
        }
        assert!(declared(&mut heard).iter().all(|one| *one == json!({})));
    }
}

#[tokio::test]
async fn a_legacy_server_learns_that_its_folders_are_others() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (memory, mut heard) = curious(false);
    let host = with(Protocol::Legacy, memory, settings(&[one.path()])).build();
    let host = host.unwrap();
    assert!(uris(&told(&host).await.unwrap())[0].ends_with(one.path().to_str().unwrap()));
    host.set_roots("one", [two.path()]).unwrap();
    host.set_roots("one", [two.path()]).unwrap();
    assert!(uris(&told(&host).await.unwrap())[0].ends_with(two.path().to_str().unwrap()));
    host.set_roots("one", [""; 0]).unwrap();
    assert_eq!(told(&host).await.unwrap(), json!({"roots": []}));
    let all = std::iter::from_fn(|| heard.try_recv().ok());
    let changed: Vec<Value> = all
        .filter(|message| message["method"] == "notifications/roots/list_changed")
        .collect();
    let plain = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    assert_eq!(
        changed,
        [plain.clone(), plain],
        "the same folders are no news"
    );
    assert!(host.set_roots("none", [two.path()]).is_err());
}

#[tokio::test]
async fn a_server_that_may_not_ask_is_not_told_until_it_is_connected_to_again() {
    for (era, is_modern) in ERAS {
        let folder = tempfile::tempdir().unwrap();
        let (memory, mut heard) = curious(is_modern);
        let host = with(era, memory, Settings::default()).build().unwrap();
        host.connect("one").await.unwrap();
        host.set_roots("one", [folder.path()]).unwrap();
        assert!(told(&host).await.is_err() || !is_modern);
        let changed = "notifications/roots/list_changed";
        while let Ok(message) = heard.try_recv() {
            assert_ne!(message["method"], changed);
        }
        host.restart("one").await.unwrap();
        assert_eq!(uris(&told(&host).await.unwrap()).len(), 1);
    }
}

#[tokio::test]
async fn folders_for_all_are_told_where_a_server_has_none_of_its_own() {
    let (own, all) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (settings, wanted) in [
        (Settings::default(), all.path()),
        (settings(&[own.path()]), own.path()),
    ] {
        let (memory, _heard) = curious(false);
        let host = with(Protocol::Legacy, memory, settings).roots([all.path()]);
        let host = host.build().unwrap();
        let said = told(&host).await.unwrap();
        assert_eq!(uris(&said).len(), 1);
        assert!(uris(&said)[0].ends_with(wanted.to_str().unwrap()));
    }
}
