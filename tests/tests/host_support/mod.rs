//! Hosts with servers that run in the same process.

#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::field_reassign_with_default,
    reason = "each test file uses a part of this, and a failure here is a failed test"
)]

pub(crate) mod agents;
pub(crate) mod asker;
#[cfg(unix)]
pub(crate) mod cloned;
pub(crate) mod dice;
#[cfg(unix)]
mod parrot;
pub(crate) mod pinned;
pub(crate) mod recorder;
#[cfg(unix)]
pub(crate) mod secrets;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::catalog::Catalog;
use switchboard::host::{Caller, Host};
use switchboard::transport::Memory;
use switchboard_testkit::Options;
use switchboard_tests::in_process::observed;
pub(crate) use switchboard_tests::in_process::{With, crashing, name, silent, testkit};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::broadcast;

/// The bundled server with faults.
pub(crate) fn faulty(faults: &[&str]) -> Memory {
    let mut options = Options::default();
    options.chaos = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    testkit(options)
}

/// What a server was asked, over all of its connections.
#[derive(Clone, Default)]
pub(crate) struct Tap(Arc<Mutex<Vec<String>>>);

impl Tap {
    /// Notes a message of the client's.
    pub(crate) fn note(&self, message: &Value) {
        if let Some(method) = message["method"].as_str() {
            self.0.lock().unwrap().push(method.to_owned());
        }
    }

    /// How often that was asked.
    pub(crate) fn count(&self, method: &str) -> usize {
        let asked = self.0.lock().unwrap();
        asked.iter().filter(|known| *known == method).count()
    }

    /// How often each list was asked for: tools, prompts, resources.
    pub(crate) fn lists(&self) -> (usize, usize, usize) {
        (
            self.count("tools/list"),
            self.count("prompts/list"),
            self.count("resources/list"),
        )
    }
}

/// The bundled server, and what it was asked.
pub(crate) fn tapped(options: Options) -> (Memory, Tap) {
    let tap = Tap::default();
    let noted = tap.clone();
    let memory = observed(options, move |message| noted.note(&message));
    (memory, tap)
}

/// A server of a test's own making, which answers as it is told and says what it is told to say.
#[derive(Clone)]
pub(crate) struct Script {
    pub(crate) tap: Tap,
    says: broadcast::Sender<Value>,
}

impl Script {
    /// Says something to whoever is connected.
    pub(crate) fn say(&self, method: &str) {
        let message = json!({"jsonrpc": "2.0", "method": method});
        self.says.send(message).ok();
    }

    /// The same with something to it.
    pub(crate) fn say_with(&self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.says.send(message).ok();
    }
}

/// A legacy server with all three lists. `answer` gets a method, and how often it was asked before;
/// it gives a `result` or an `error`, or nothing where nothing is answered. What it does not know of
/// is answered as well as can be: see [`usual`].
pub(crate) fn scripted(
    answer: impl Fn(&str, usize) -> Option<Value> + Send + Sync + 'static,
) -> (Memory, Script) {
    let script = Script {
        tap: Tap::default(),
        says: broadcast::channel(4096).0,
    };
    let (kept, answer) = (script.clone(), Arc::new(answer));
    let memory = Memory::new("scripted", move |input, mut output| {
        let (script, answer) = (kept.clone(), Arc::clone(&answer));
        let mut said = script.says.subscribe();
        async move {
            let mut lines = BufReader::new(input).lines();
            loop {
                let message = tokio::select! {
                    line = lines.next_line() => {
                        let Ok(Some(line)) = line else { return };
                        let asked: Value = serde_json::from_str(&line).unwrap();
                        let method = asked["method"].as_str().unwrap_or_default();
                        let before = script.tap.count(method);
                        script.tap.note(&asked);
                        if asked["id"].is_null() {
                            continue;
                        }
                        let Some(mut message) = answer(method, before) else { continue };
                        message["jsonrpc"] = json!("2.0");
                        message["id"] = asked["id"].clone();
                        message
                    }
                    Ok(said) = said.recv() => said,
                };
                let line = format!("{message}\n");
                if output.write_all(line.as_bytes()).await.is_err() {
                    return;
                }
            }
        }
    });
    (memory, script)
}

/// What a good server with one tool, `only`, answers.
pub(crate) fn usual(method: &str) -> Value {
    let changing = json!({"listChanged": true});
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": changing, "prompts": changing, "resources": changing},
            "serverInfo": {"name": "scripted", "version": "1"},
        }),
        "tools/list" => tools(&["only"]),
        "prompts/list" => json!({"prompts": []}),
        "resources/list" => json!({"resources": []}),
        "resources/templates/list" => json!({"resourceTemplates": []}),
        "tools/call" => json!({"content": [{"type": "text", "text": "done"}]}),
        "ping" => json!({}),
        _ => return json!({"error": {"code": -32601, "message": "no such method"}}),
    };
    json!({ "result": result })
}

/// A list of tools that take anything.
pub(crate) fn tools(names: &[&str]) -> Value {
    let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
    json!({"tools": names.iter().map(tool).collect::<Vec<_>>()})
}

/// What no answer should take, on the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until the catalog is as it should be.
pub(crate) async fn until(host: &Host, what: &str, is_so: impl Fn(&Catalog) -> bool) -> Catalog {
    let mut catalog = host.watch_catalog();
    let waiting = catalog.wait_for(|catalog| is_so(catalog));
    match tokio::time::timeout(PATIENCE, waiting).await {
        Ok(catalog) => catalog.unwrap().clone(),
        Err(_) => panic!("waited in vain until {what}: {:?}", host.servers()),
    }
}

/// Calls a tool, which has to go well, and gives its text.
pub(crate) async fn call(host: &Host, tool: &str, arguments: Value) -> String {
    let tool = host.view(Caller::owner()).find(tool).await.unwrap();
    let called = tokio::time::timeout(PATIENCE, tool.call(arguments)).await;
    let result = called.unwrap().unwrap();
    assert!(!result.is_error(), "{}", result.text());
    result.text()
}
