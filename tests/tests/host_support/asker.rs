//! A legacy server that asks, holds, reports and logs, and clients that answer it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use switchboard::host::{ClientConnections, ClientOptions, Host, HostBuilder};
use switchboard::protocol::{ClientCapabilities, ElicitationCapability, InputRequest, Raw};
use switchboard::session::{Refusal, Respond, Responding};
use switchboard::spec::Protocol;
use switchboard::transport::Memory;
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

use super::{PATIENCE, With as _};
use crate::support::text;
use crate::support::wire::{Wire, hello_legacy};

/// Facts about all connections to the server.
#[derive(Clone, Default)]
pub(crate) struct Connections {
    started: Arc<AtomicUsize>,
    alive: Arc<AtomicUsize>,
    changed: Arc<Notify>,
}

impl Connections {
    pub(crate) fn started(&self) -> usize {
        self.started.load(Ordering::SeqCst)
    }

    /// Waits until as many connections are left.
    pub(crate) async fn until_alive(&self, count: usize) {
        let until = async {
            loop {
                let changed = self.changed.notified();
                if self.alive.load(Ordering::SeqCst) == count {
                    return;
                }
                changed.await;
            }
        };
        timeout(PATIENCE, until).await.unwrap();
    }
}

/// A server, its connections, and what it was sent.
pub(crate) fn asker() -> (Memory, Connections, mpsc::UnboundedReceiver<Value>) {
    let (says, heard) = mpsc::unbounded_channel();
    let connections = Connections::default();
    let counted = connections.clone();
    let memory = Memory::new("asker", move |input, output| {
        let start = counted.started.fetch_add(1, Ordering::SeqCst) + 1;
        counted.alive.fetch_add(1, Ordering::SeqCst);
        let wire = Wire::new(input, output, start, says.clone());
        let counted = counted.clone();
        async move {
            serve(wire).await;
            counted.alive.fetch_sub(1, Ordering::SeqCst);
            counted.changed.notify_one();
        }
    });
    (memory, connections, heard)
}

async fn serve(mut wire: Wire) {
    let (mut asking, mut held) = (None, Vec::new());
    while let Some(message) = wire.read().await {
        let Some(method) = message["method"].as_str() else {
            // The answer to our question answers the call that asked.
            let told = message.get("result").or(message.get("error")).unwrap();
            let request: Value = asking.take().unwrap();
            wire.answer(&request, &text(&told.to_string())).await;
            continue;
        };
        match method {
            "initialize" => {
                let mut hello = hello_legacy("2025-11-25");
                hello["capabilities"] = json!({
                    "tools": {}, "logging": {}, "resources": {"subscribe": true},
                });
                wire.answer(&message, &hello).await;
            }
            "tools/list" => {
                let names = ["who", "ask", "hold", "release", "report", "touch"];
                let tools =
                    names.map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
                wire.answer(&message, &json!({"tools": tools})).await;
            }
            "tools/call" => match message["params"]["name"].as_str().unwrap() {
                "who" => {
                    let number = wire.start.to_string();
                    wire.answer(&message, &text(&number)).await;
                }
                "ask" => {
                    let schema =
                        json!({"type": "object", "properties": {"name": {"type": "string"}}});
                    let params = json!({"message": "who?", "requestedSchema": schema});
                    asking = Some(message);
                    let question = json!({
                        "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params,
                    });
                    wire.send(&question).await;
                }
                "hold" => held.push(message),
                "release" => {
                    for held in held.drain(..) {
                        wire.answer(&held, &text("held")).await;
                    }
                    wire.answer(&message, &text("released")).await;
                }
                "report" => {
                    let token = message["params"]["_meta"]["progressToken"].clone();
                    for step in ["1.0", "2", "2", "3.50"] {
                        let line = format!(
                            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":\
                             {{\"progress\":{step},\"x\":1,\"progressToken\":{token}}}}}\n"
                        );
                        wire.raw(line).await;
                    }
                    let params = json!({"level": "info", "data": wire.start});
                    let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params});
                    wire.send(&log).await;
                    wire.answer(&message, &text("reported")).await;
                }
                _ => {
                    let params = json!({"uri": "file:///a"});
                    let updated = json!({
                        "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params,
                    });
                    wire.send(&updated).await;
                    wire.answer(&message, &text("touched")).await;
                }
            },
            "resources/list" => wire.answer(&message, &json!({"resources": []})).await,
            "resources/templates/list" => {
                wire.answer(&message, &json!({"resourceTemplates": []}))
                    .await;
            }
            _ if message.get("id").is_some() => wire.answer(&message, &json!({})).await,
            _ => {}
        }
    }
}

pub(crate) fn forms() -> ClientCapabilities {
    ClientCapabilities {
        elicitation: Some(ElicitationCapability {
            form: true,
            url: true,
        }),
        ..ClientCapabilities::default()
    }
}

/// A host whose clients answer questions.
pub(crate) fn builder(memory: Memory) -> HostBuilder {
    let builder = Host::builder().with("one", memory);
    builder
        .protocol(Protocol::Legacy)
        .client_capabilities(forms())
}

/// A client that answers with its name, and counts the questions that it was asked.
#[derive(Clone)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    /// Never answers.
    pub(crate) is_silent: bool,
    /// The questions that were dropped without an answer.
    pub(crate) dropped: Arc<Notify>,
}

impl Named {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            asked: Arc::default(),
            is_silent: false,
            dropped: Arc::default(),
        }
    }

    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn options(&self) -> ClientOptions {
        let mut options = ClientOptions::default();
        options.respond = Arc::new(self.clone());
        options
    }

    pub(crate) fn connect(&self, host: &Host) -> ClientConnections {
        host.client_connections(self.options())
    }
}

/// Notes that a question was dropped.
struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Respond for Named {
    fn capabilities(&self) -> ClientCapabilities {
        forms()
    }

    fn respond<'a>(&'a self, request: &'a InputRequest) -> Responding<'a> {
        Box::pin(async move {
            self.asked.lock().unwrap().push(request.method().to_owned());
            if self.is_silent {
                let _dropped = Dropped(Arc::clone(&self.dropped));
                std::future::pending::<()>().await;
            }
            let answer = json!({"action": "accept", "content": {"name": self.name}});
            Raw::of(&answer).map_err(|error| Refusal::Failed(error.to_string()))
        })
    }
}
