//! A server that offers what a test says and writes down all that reaches it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::transport::Memory;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::broadcast;
use tokio::time::Instant;

/// Stands where the text of the tools is put.
const WRITTEN: &str = "the tools as they are written";

/// What a server offers.
#[derive(Clone, Default)]
pub(crate) struct Offer {
    pub(crate) instructions: Option<String>,
    pub(crate) tools: Vec<Value>,
    /// What it says instead each second time it is asked.
    pub(crate) second: Option<Vec<Value>>,
    pub(crate) prompts: Vec<Value>,
    pub(crate) resources: Vec<Value>,
    pub(crate) templates: Vec<Value>,
    /// The text of its tools, where it matters how they are written.
    pub(crate) written: Option<String>,
    /// Tools that it adds one by one once it runs, so far apart.
    pub(crate) grows: Vec<Value>,
    pub(crate) every: Duration,
    /// How long it takes for its prompts.
    pub(crate) slow_prompts: Duration,
    /// Whether it answers calls with an error that has the arguments in it.
    pub(crate) fails: bool,
}

/// A request that reached a server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// The name or the address.
    pub(crate) name: String,
}

/// A server that writes down what reaches it.
#[derive(Clone)]
pub(crate) struct Recorder {
    offer: Arc<Mutex<Offer>>,
    seen: Arc<Mutex<Vec<Seen>>>,
    started: Arc<AtomicUsize>,
    lists: Arc<AtomicUsize>,
    asked: Arc<AtomicUsize>,
    says: broadcast::Sender<Value>,
}

impl Recorder {
    pub(crate) fn new(offer: Offer) -> Self {
        Self {
            offer: Arc::new(Mutex::new(offer)),
            seen: Arc::default(),
            started: Arc::default(),
            lists: Arc::default(),
            asked: Arc::default(),
            says: broadcast::channel(64).0,
        }
    }

    /// The way to it, under a name that tells it apart.
    pub(crate) fn memory(&self, label: &str) -> Memory {
        let own = self.clone();
        Memory::new(label, move |input, mut output| {
            let own = own.clone();
            own.started.fetch_add(1, Ordering::SeqCst);
            let mut said = own.says.subscribe();
            async move {
                let every = own
                    .offer
                    .lock()
                    .unwrap()
                    .every
                    .max(Duration::from_millis(1));
                let mut grow = tokio::time::interval_at(Instant::now() + every, every);
                let mut lines = BufReader::new(input).lines();
                loop {
                    let message = tokio::select! {
                        line = lines.next_line() => {
                            let Ok(Some(line)) = line else { return };
                            let asked: Value = serde_json::from_str(&line).unwrap();
                            if asked["id"].is_null() {
                                continue;
                            }
                            let slow = own.offer.lock().unwrap().slow_prompts;
                            if asked["method"] == "prompts/list" && !slow.is_zero() {
                                tokio::time::sleep(slow).await;
                            }
                            own.answer(&asked)
                        }
                        _ = grow.tick(), if own.is_growing() => {
                            own.change(|offer| {
                                let next = offer.grows.remove(0);
                                offer.tools.push(next);
                            });
                            continue;
                        }
                        said = said.recv() => said.unwrap(),
                    };
                    let mut line = format!("{message}\n");
                    if let Some(written) = &own.offer.lock().unwrap().written {
                        line = line.replace(&format!("{WRITTEN:?}"), written);
                    }
                    if output.write_all(line.as_bytes()).await.is_err() {
                        return;
                    }
                }
            }
        })
    }

    /// Offers something else from now on, and says so.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Offer)) {
        self.change_in_silence(change);
        for list in ["tools", "prompts", "resources"] {
            let method = format!("notifications/{list}/list_changed");
            let message = json!({"jsonrpc": "2.0", "method": method});
            self.says.send(message).ok();
        }
    }

    /// Offers something else from now on.
    pub(crate) fn change_in_silence(&self, change: impl FnOnce(&mut Offer)) {
        change(&mut self.offer.lock().unwrap());
    }

    /// The uses of something that reached it since this was last asked.
    pub(crate) fn uses(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }

    /// How often it was started.
    pub(crate) fn starts(&self) -> usize {
        self.started.load(Ordering::SeqCst)
    }

    /// How many requests reached it, of any kind.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn is_growing(&self) -> bool {
        !self.offer.lock().unwrap().grows.is_empty()
    }

    fn answer(&self, asked: &Value) -> Value {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let method = asked["method"].as_str().unwrap();
        let offer = self.offer.lock().unwrap().clone();
        let params = &asked["params"];
        if ["tools/call", "resources/read", "prompts/get"].contains(&method) {
            let name = params["name"].as_str().or(params["uri"].as_str());
            self.seen.lock().unwrap().push(Seen {
                method: method.to_owned(),
                name: name.unwrap().to_owned(),
            });
            if offer.fails {
                let message = format!("cannot do {params}");
                let error = json!({"code": -32000, "message": message});
                return json!({"jsonrpc": "2.0", "id": asked["id"], "error": error});
            }
        }
        let text = |text: &str| json!({"type": "text", "text": text});
        let result = match method {
            "initialize" => {
                let changing = json!({"listChanged": true});
                let mut result = json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": changing, "prompts": changing, "resources": changing},
                    "serverInfo": {"name": "recorder", "version": "1"},
                });
                if let Some(instructions) = &offer.instructions {
                    result["instructions"] = json!(instructions);
                }
                result
            }
            "tools/list" => {
                let is_second = self.lists.fetch_add(1, Ordering::SeqCst) % 2 == 1;
                if offer.written.is_some() {
                    let result = json!({"tools": WRITTEN});
                    return json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
                }
                match offer.second.filter(|_| is_second) {
                    Some(tools) => json!({"tools": tools}),
                    None => json!({"tools": offer.tools}),
                }
            }
            "prompts/list" => json!({"prompts": offer.prompts}),
            "resources/list" => json!({"resources": offer.resources}),
            "resources/templates/list" => json!({"resourceTemplates": offer.templates}),
            "tools/call" => json!({"content": [text("done")]}),
            "resources/read" => json!({"contents": [{"uri": params["uri"], "text": "read"}]}),
            "prompts/get" => json!({"messages": [{"role": "user", "content": text("got")}]}),
            "ping" => json!({}),
            _ => {
                let error = json!({"code": -32601, "message": "no such method"});
                return json!({"jsonrpc": "2.0", "id": asked["id"], "error": error});
            }
        };
        json!({"jsonrpc": "2.0", "id": asked["id"], "result": result})
    }
}
