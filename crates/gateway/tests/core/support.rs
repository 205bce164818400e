//! A client on an in-memory stream, servers that do as they are told, and hosts in front of them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::catalog::ExposedNames;
use switchboard::host::{Host, HostBuilder};
use switchboard::pins::{Mode, Pins};
use switchboard::policy::{AgentPolicy, Caller, Level};
use switchboard::transport::Memory;
use switchboard_gateway::{
    ClientIdentity, Gateway, GatewayError, GatewayOptions, Scope, client_capabilities,
};
pub(crate) use switchboard_tests::in_process::{With, crashing, name, silent, testkit};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// Time after which something that should happen has not.
const PATIENCE: Duration = Duration::from_secs(20);

const PIPE_BYTES: usize = 256 * 1024;

/// Waits for something, and fails the test if it does not happen.
pub(crate) async fn soon<T>(what: &str, wait: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, wait).await {
        Ok(done) => done,
        Err(_) => panic!("it did not happen: {what}"),
    }
}

/// All that a client of the legacy era can be asked.
pub(crate) fn can_all() -> Value {
    let elicitation = json!({"form": {}, "url": {}});
    json!({"elicitation": elicitation, "sampling": {}, "roots": {"listChanged": true}})
}

/// A host whose agent `gateway` may use everything.
pub(crate) fn builder() -> HostBuilder {
    Host::builder()
        .exposed_names(ExposedNames::unprefixed())
        .default_agent("gateway", AgentPolicy::everything(Level::Yolo))
        // Tools that are added later would be withheld from agents.
        .pins(Pins::in_memory(), Mode::Off)
        .client_capabilities(client_capabilities())
}

/// A gateway in front of servers that are all connected to.
pub(crate) async fn gateway(builder: HostBuilder) -> Gateway {
    let host = builder.build().unwrap();
    host.connect_all().await;
    Gateway::new(host, GatewayOptions::default()).unwrap()
}

/// The agent `gateway` on this machine.
pub(crate) fn local() -> ClientIdentity {
    ClientIdentity::local(Caller::agent("gateway").unwrap())
}

/// The same agent, over the network.
pub(crate) fn remote() -> ClientIdentity {
    ClientIdentity::remote(Caller::agent("gateway").unwrap(), "token:test")
}

/// A client on an in-memory stream.
pub(crate) struct Front {
    lines: Lines<BufReader<DuplexStream>>,
    to_gateway: Option<DuplexStream>,
    pub(crate) serving: JoinHandle<Result<(), GatewayError>>,
    last: i64,
    /// Messages that came before the one that was waited for.
    pub(crate) seen: Vec<Value>,
}

/// What a modern client sends with every request.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

/// What a legacy client sends first.
pub(crate) fn hello(version: &str, capabilities: &Value) -> Value {
    let info = json!({"name": "test", "version": "1"});
    json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": info})
}

impl Front {
    /// Opens a stream to everything.
    pub(crate) fn open(gateway: &Gateway) -> Self {
        Self::open_as(gateway, local(), Scope::All)
    }

    pub(crate) fn open_as(gateway: &Gateway, identity: ClientIdentity, scope: Scope) -> Self {
        let (to_gateway, input) = tokio::io::duplex(PIPE_BYTES);
        let (output, from_gateway) = tokio::io::duplex(PIPE_BYTES);
        let gateway = gateway.clone();
        let serve = async move { gateway.serve(input, output, identity, scope).await };
        Self {
            lines: BufReader::new(from_gateway).lines(),
            to_gateway: Some(to_gateway),
            serving: tokio::spawn(serve),
            last: 0,
            seen: Vec::new(),
        }
    }

    /// Opens a stream and shakes hands in the legacy era.
    pub(crate) async fn legacy(gateway: &Gateway) -> Self {
        Self::legacy_with(gateway, "2025-11-25", json!({})).await
    }

    pub(crate) async fn legacy_with(gateway: &Gateway, version: &str, can: Value) -> Self {
        let mut front = Self::open(gateway);
        front.greet(version, can).await;
        front
    }

    pub(crate) async fn greet(&mut self, version: &str, can: Value) {
        let answer = self.ask("initialize", hello(version, &can)).await;
        assert_eq!(answer["result"]["protocolVersion"], version);
        self.tell("notifications/initialized", Value::Null).await;
    }

    /// Writes text as it is.
    pub(crate) async fn raw(&mut self, text: &str) {
        let write = self.to_gateway.as_mut().unwrap();
        soon("the gateway reads", write.write_all(text.as_bytes()))
            .await
            .unwrap();
    }

    /// Writes a message.
    pub(crate) async fn send(&mut self, message: &Value) {
        self.raw(&format!("{message}\n")).await;
    }

    /// Sends a notification.
    pub(crate) async fn tell(&mut self, method: &str, params: Value) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message).await;
    }

    /// Sends a request; returns its id.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> i64 {
        self.last += 1;
        let mut message = json!({"jsonrpc": "2.0", "id": self.last, "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message).await;
        self.last
    }

    /// Sends a request of the modern era; returns its id.
    pub(crate) async fn begin_modern(&mut self, method: &str, params: Value) -> i64 {
        let params = with_meta(params);
        self.begin(method, params).await
    }

    /// The next line; `None` at the end.
    pub(crate) async fn line(&mut self) -> Option<String> {
        soon("a message of the gateway", self.lines.next_line())
            .await
            .unwrap()
    }

    /// The next message.
    pub(crate) async fn read(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line.expect("a message, not the end")).unwrap()
    }

    /// The answer with that id. What comes before it is kept.
    pub(crate) async fn answer(&mut self, id: i64) -> Value {
        self.wait_for(|message| message["id"] == id && message.get("method").is_none())
            .await
    }

    /// The next notification of that method. What comes before it is kept.
    pub(crate) async fn notice(&mut self, method: &str) -> Value {
        let place = self
            .seen
            .iter()
            .position(|message| message["method"] == method);
        match place {
            Some(place) => self.seen.remove(place),
            None => self.wait_for(|message| message["method"] == method).await,
        }
    }

    async fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.read().await;
            if is_it(&message) {
                return message;
            }
            self.seen.push(message);
        }
    }

    /// Makes a request and returns the whole answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// Makes a request of the modern era and returns the whole answer.
    pub(crate) async fn ask_modern(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin_modern(method, params).await;
        self.answer(id).await
    }

    /// Closes the input of the gateway and waits until it has ended.
    pub(crate) async fn end(mut self) -> Result<(), GatewayError> {
        self.to_gateway = None;
        soon("the end of the stream", self.serving).await.unwrap()
    }

    /// Closes the input and leaves the rest.
    pub(crate) fn hang_up(&mut self) {
        self.to_gateway = None;
    }
}

/// Parameters with what a modern client adds; its own `_meta` stays.
pub(crate) fn with_meta(mut params: Value) -> Value {
    if params.is_null() {
        params = json!({});
    }
    let mut meta = modern_meta();
    if let Some(own) = params["_meta"].as_object() {
        meta.as_object_mut().unwrap().extend(own.clone());
    }
    params["_meta"] = meta;
    params
}

/// The error of an answer.
pub(crate) fn error(code: i64, message: &str) -> Value {
    json!({"code": code, "message": message})
}

/// A text as the content of a result.
pub(crate) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// What a scripted server does with a request.
type Reaction = dyn Fn(&Value) -> Vec<Does> + Send + Sync;

/// A server that answers as it is told, and keeps what it was sent.
#[derive(Clone)]
pub(crate) struct Script {
    era: Era,
    /// The tools that it lists.
    pub(crate) tools: Arc<Mutex<Vec<Value>>>,
    /// The templates of resources that it lists.
    templates: Vec<Value>,
    capabilities: Value,
    heard: Arc<watch::Sender<Vec<Value>>>,
    /// What it does with a call or another request.
    does: Arc<Reaction>,
    says: Arc<Mutex<Option<mpsc::UnboundedSender<String>>>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

/// One thing that a scripted server does.
pub(crate) enum Does {
    /// Answers with the text of a result, as it is.
    Result(String),
    /// Answers with the text of an error, as it is.
    Error(String),
    /// Writes a message.
    Says(Value),
    /// Ends.
    Dies,
}

impl Script {
    pub(crate) fn new(
        era: Era,
        tools: &[&str],
        does: impl Fn(&Value) -> Vec<Does> + Send + Sync + 'static,
    ) -> Self {
        let tool = |name: &&str| json!({"name": name, "inputSchema": {"type": "object"}});
        Self {
            era,
            tools: Arc::new(Mutex::new(tools.iter().map(tool).collect())),
            templates: Vec::new(),
            capabilities: json!({
                "tools": {"listChanged": true},
                "resources": {"subscribe": true},
                "prompts": {},
                "logging": {},
            }),
            heard: Arc::new(watch::Sender::new(Vec::new())),
            does: Arc::new(does),
            says: Arc::default(),
        }
    }

    /// The same with a template of resources, whose variables it completes.
    pub(crate) fn template(mut self, text: &str) -> Self {
        let template = json!({"uriTemplate": text, "name": text});
        self.templates.push(template);
        self.capabilities["completions"] = json!({});
        self
    }

    /// The transport to it.
    pub(crate) fn memory(&self) -> Memory {
        let script = self.clone();
        Memory::new("script", move |input, output| {
            script.clone().run(input, output)
        })
    }

    /// Writes a message on its last connection.
    pub(crate) fn say(&self, message: &Value) {
        let says = self.says.lock().unwrap();
        says.as_ref().unwrap().send(message.to_string()).unwrap();
    }

    /// Waits until it was sent so many messages of that method; returns the last of them.
    pub(crate) async fn heard(&self, method: &str, count: usize) -> Value {
        let mut heard = self.heard.subscribe();
        let of_method = |all: &Vec<Value>| {
            let of = all.iter().filter(|message| message["method"] == method);
            of.cloned().collect::<Vec<_>>()
        };
        let enough = |all: &Vec<Value>| of_method(all).len() >= count;
        let what = format!("{count} x {method} at the server");
        let all = soon(&what, heard.wait_for(enough)).await.unwrap();
        of_method(&all).pop().unwrap()
    }

    /// The number of messages of that method until now.
    pub(crate) fn count(&self, method: &str) -> usize {
        let all = self.heard.borrow();
        all.iter()
            .filter(|message| message["method"] == method)
            .count()
    }

    /// The answer to a question of its own, once it is there.
    pub(crate) async fn answered(&self, id: &str) -> Value {
        let mut heard = self.heard.subscribe();
        let is_it = |message: &Value| message["id"] == id && message.get("method").is_none();
        let there = heard.wait_for(|all: &Vec<Value>| all.iter().any(is_it));
        let all = soon("an answer to the server", there).await.unwrap();
        all.iter().find(|message| is_it(message)).cloned().unwrap()
    }

    async fn run(self, input: DuplexStream, mut output: DuplexStream) {
        let (says, mut said) = mpsc::unbounded_channel::<String>();
        *self.says.lock().unwrap() = Some(says.clone());
        let mut lines = BufReader::new(input).lines();
        loop {
            let line = tokio::select! {
                Some(text) = said.recv() => {
                    output.write_all(format!("{text}\n").as_bytes()).await.ok();
                    continue;
                }
                line = lines.next_line() => line,
            };
            let Ok(Some(line)) = line else {
                return;
            };
            let message: Value = serde_json::from_str(&line).unwrap();
            self.heard.send_modify(|all| all.push(message.clone()));
            if message.get("id").is_none() || message.get("method").is_none() {
                continue;
            }
            let id = &message["id"];
            for does in self.reaction(&message) {
                let text = match does {
                    Does::Result(result) => {
                        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
                    }
                    Does::Error(error) => {
                        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
                    }
                    Does::Says(message) => message.to_string(),
                    Does::Dies => return,
                };
                says.send(text).unwrap();
            }
        }
    }

    fn reaction(&self, request: &Value) -> Vec<Does> {
        let list = |member: &str, items: &Value| {
            let mut result = json!({member: items});
            if self.era == Era::Modern {
                result["resultType"] = "complete".into();
                result["ttlMs"] = 0.into();
                result["cacheScope"] = "private".into();
            }
            vec![Does::Result(result.to_string())]
        };
        match (request["method"].as_str().unwrap(), self.era) {
            ("initialize", Era::Legacy) => vec![Does::Result(
                json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": self.capabilities,
                    "serverInfo": {"name": "script", "version": "1"},
                })
                .to_string(),
            )],
            ("server/discover", Era::Modern) => vec![Does::Result(
                json!({
                    "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": self.capabilities,
                })
                .to_string(),
            )],
            ("initialize" | "server/discover", _) => {
                vec![Does::Error(error(-32601, "method not found").to_string())]
            }
            ("tools/list", _) => list("tools", &json!(*self.tools.lock().unwrap())),
            ("prompts/list", _) => list("prompts", &json!([{"name": "hello"}])),
            ("resources/list", _) => list("resources", &json!([{"uri": "file:///a", "name": "a"}])),
            ("resources/templates/list", _) => list("resourceTemplates", &json!(self.templates)),
            ("resources/subscribe", _)
                if request["params"]["uri"]
                    .as_str()
                    .unwrap()
                    .starts_with("nowhere") =>
            {
                vec![Does::Error(error(-32002, "not here").to_string())]
            }
            ("resources/subscribe" | "resources/unsubscribe" | "logging/setLevel" | "ping", _) => {
                vec![Does::Result("{}".to_owned())]
            }
            _ => (self.does)(request),
        }
    }
}

/// Answers every request with a text.
pub(crate) fn answering(said: &'static str) -> impl Fn(&Value) -> Vec<Does> + Send + Sync {
    move |_| vec![Does::Result(text(said).to_string())]
}
