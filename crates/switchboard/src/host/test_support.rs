//! Members, a server to connect to, and catalogs, for the tests of each owner alone.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use switchboard_wire::{FromRaw, Raw, Tool};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::Semaphore;

use super::member::{Member, Source};
use crate::session::{Session, SessionOptions};
use crate::spec::{Origin, Protocol, ServerName, Settings};
use crate::transport::Memory;

/// A server of the legacy era with the tool `echo`, which records the requests it receives.
#[derive(Clone)]
pub(super) struct Script {
    asked: Arc<Mutex<Vec<String>>>,
    /// One permit is taken for each answer to `tools/list`.
    lists: Arc<Semaphore>,
    /// One permit is added for each `tools/list` that has come.
    asked_for_tools: Arc<Semaphore>,
}

impl Script {
    /// One that answers as many requests for its tools.
    pub(super) fn answering(lists: usize) -> Self {
        Self {
            asked: Arc::default(),
            lists: Arc::new(Semaphore::new(lists)),
            asked_for_tools: Arc::new(Semaphore::new(0)),
        }
    }

    /// Lets one more request for tools be answered.
    pub(super) fn answer_list(&self) {
        self.lists.add_permits(1);
    }

    /// Waits until it is asked for its tools.
    pub(super) async fn asked_for_tools(&self) {
        self.asked_for_tools.acquire().await.unwrap().forget();
    }

    /// Returns the number of requests for that method.
    pub(super) fn count(&self, method: &str) -> usize {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|known| *known == method).count()
    }

    pub(super) fn transport(&self) -> Memory {
        let script = self.clone();
        Memory::new("script", move |input, mut output| {
            let script = script.clone();
            async move {
                let mut lines = BufReader::new(input).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let asked: Value = serde_json::from_str(&line).unwrap();
                    let Some(answer) = script.answer(&asked).await else {
                        continue;
                    };
                    let answer = format!("{answer}\n");
                    if output.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        })
    }

    async fn answer(&self, asked: &Value) -> Option<Value> {
        let method = asked["method"].as_str()?.to_owned();
        let id = asked.get("id")?;
        self.asked.lock().unwrap().push(method.clone());
        let result = match method.as_str() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "script", "version": "1"},
            }),
            "tools/list" => {
                self.asked_for_tools.add_permits(1);
                self.lists.acquire().await.unwrap().forget();
                let schema = json!({"type": "object", "required": ["message"]});
                json!({"tools": [{"name": "echo", "inputSchema": schema}]})
            }
            "tools/call" => {
                let text = &asked["params"]["arguments"]["message"];
                json!({"content": [{"type": "text", "text": text}]})
            }
            _ => {
                let error = json!({"code": -32601, "message": "method not found"});
                return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
        };
        Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    /// A connection to it.
    pub(super) async fn session(&self) -> Session {
        let options = SessionOptions::default().protocol(Protocol::Legacy);
        Session::connect(&self.transport(), options).await.unwrap()
    }
}

pub(super) fn name(text: &str) -> ServerName {
    ServerName::parse(text).unwrap()
}

/// Settings that save the probe.
pub(super) fn settings() -> Settings {
    Settings {
        protocol: Protocol::Legacy,
        ..Settings::default()
    }
}

/// A member behind a transport.
pub(super) fn member(text: &str, script: &Script) -> Member {
    let source = Source::Own(Arc::new(script.transport()), Box::new(settings()));
    Member::new(name(text), Origin::program(), source, &Arc::default())
}

/// A tool that takes an object.
pub(super) fn tool(name: &str, description: &str) -> Tool {
    let tool = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
    Tool::from_raw(&Raw::of(&tool).unwrap()).unwrap()
}
