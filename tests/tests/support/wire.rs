//! A server's end of a connection, for scripts.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::mpsc;

/// A server's end of a connection.
pub(crate) struct Wire {
    pub(crate) input: BufReader<DuplexStream>,
    pub(crate) output: DuplexStream,
    /// Which connection this is, from 1.
    pub(crate) start: usize,
    says: mpsc::UnboundedSender<Value>,
}

impl Wire {
    pub(crate) fn new(
        input: DuplexStream,
        output: DuplexStream,
        start: usize,
        says: mpsc::UnboundedSender<Value>,
    ) -> Self {
        Self {
            input: BufReader::new(input),
            output,
            start,
            says,
        }
    }

    /// The next message; `None` when the client has closed.
    pub(crate) async fn read(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.input.read_line(&mut line).await {
            Ok(0) | Err(_) => None,
            Ok(_) => {
                let message: Value = serde_json::from_str(&line).unwrap();
                // A test that has ended does not listen.
                self.says.send(message.clone()).ok();
                Some(message)
            }
        }
    }

    /// The next message, which has to be this one.
    pub(crate) async fn expect(&mut self, method: &str) -> Value {
        let message = self.read().await.unwrap_or_default();
        assert_eq!(message["method"], method, "the server expected otherwise");
        message
    }

    /// Writes bytes as they are.
    pub(crate) async fn raw(&mut self, bytes: impl AsRef<[u8]>) {
        // A client that has closed does not read.
        self.output.write_all(bytes.as_ref()).await.ok();
    }

    /// Writes a message.
    pub(crate) async fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n")).await;
    }

    /// Answers a request.
    pub(crate) async fn answer(&mut self, request: &Value, result: &Value) {
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        self.send(&answer).await;
    }

    /// Answers a request with an error.
    pub(crate) async fn refuse(&mut self, request: &Value, code: i64) {
        self.refuse_with(request, code, &Value::Null).await;
    }

    /// Answers a request with an error that carries data.
    pub(crate) async fn refuse_with(&mut self, request: &Value, code: i64, data: &Value) {
        let mut error = json!({"code": code, "message": "no"});
        if !data.is_null() {
            error["data"] = data.clone();
        }
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "error": error});
        self.send(&answer).await;
    }

    /// Takes part in the legacy handshake.
    pub(crate) async fn greet_legacy(&mut self) {
        let request = self.expect("initialize").await;
        self.answer(&request, &hello_legacy("2025-11-25")).await;
        self.expect("notifications/initialized").await;
    }

    /// Answers the discovery.
    pub(crate) async fn greet_modern(&mut self) {
        let request = self.expect("server/discover").await;
        self.answer(&request, &hello_modern(&["2026-07-28"])).await;
    }

    /// Listens until the client closes.
    pub(crate) async fn hold(mut self) {
        while self.read().await.is_some() {}
    }

    /// Answers every tool call with the tool's name, until the client closes.
    pub(crate) async fn echo_names(mut self) {
        while let Some(request) = self.read().await {
            if request["method"] == "tools/call" {
                let name = request["params"]["name"].as_str().unwrap().to_owned();
                self.answer(&request, &super::text(&name)).await;
            }
        }
    }
}

/// What a legacy server says of itself.
pub(crate) fn hello_legacy(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {"name": "scripted", "version": "1"},
    })
}

/// What a modern server says of itself.
pub(crate) fn hello_modern(versions: &[&str]) -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": versions,
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "ttlMs": 0,
        "cacheScope": "private",
    })
}
