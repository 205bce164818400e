//! A client that sends exactly what it is told to and forgives nothing.

use std::io;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::{Options, serve};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// A client at one end of a pipe, with a server at the other.
pub(crate) struct Client {
    to_server: WriteHalf<DuplexStream>,
    from_server: BufReader<ReadHalf<DuplexStream>>,
    server: JoinHandle<io::Result<()>>,
    last_id: i64,
    envelope: Option<Value>,
}

impl Client {
    /// Starts a server and says nothing to it.
    pub(crate) fn start(options: Options) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        let server = tokio::spawn(serve(reader, writer, options));
        let (from_server, to_server) = tokio::io::split(ours);
        Self {
            to_server,
            from_server: BufReader::new(from_server),
            server,
            last_id: 0,
            envelope: None,
        }
    }

    /// Shakes hands.
    pub(crate) async fn legacy(version: &str, capabilities: Value) -> Self {
        Self::legacy_with(Options::default(), version, capabilities).await
    }

    pub(crate) async fn legacy_with(options: Options, version: &str, capabilities: Value) -> Self {
        let mut client = Self::start(options);
        let params = handshake(version, &capabilities);
        let result = client.result("initialize", params).await;
        assert_eq!(result["protocolVersion"], version);
        client
            .send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        client
    }

    /// Puts the envelope of the modern era into every request.
    pub(crate) fn modern(options: Options, capabilities: &Value) -> Self {
        let mut client = Self::start(options);
        client.envelope = Some(envelope("2026-07-28", capabilities));
        client
    }

    /// A client of each era, each with a server of its own.
    pub(crate) async fn both(options: Options) -> [Self; 2] {
        [
            Self::legacy_with(options.clone(), "2025-11-25", json!({})).await,
            Self::modern(options, &json!({})),
        ]
    }

    pub(crate) async fn line(&mut self, text: &str) {
        self.bytes(format!("{text}\n").as_bytes()).await;
    }

    pub(crate) async fn bytes(&mut self, bytes: &[u8]) {
        self.to_server.write_all(bytes).await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.line(&message.to_string()).await;
    }

    /// Sends a request and returns its id.
    pub(crate) async fn request(&mut self, method: &str, mut params: Value) -> i64 {
        if let Some(envelope) = &self.envelope {
            let meta = params["_meta"].as_object().cloned().unwrap_or_default();
            params["_meta"] = envelope.clone();
            params["_meta"].as_object_mut().unwrap().extend(meta);
        }
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    pub(crate) async fn cancel(&mut self, id: i64) {
        let params = json!({"requestId": id, "reason": "enough"});
        self.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        )
        .await;
    }

    /// The next line as it is; empty when the server has ended.
    pub(crate) async fn next_line(&mut self) -> String {
        let mut line = String::new();
        let read = self.from_server.read_line(&mut line);
        // Longer than anything that a test waits for, even in paused time.
        let read = tokio::time::timeout(Duration::from_secs(7200), read).await;
        read.expect("the server said nothing").unwrap();
        line
    }

    /// The next line, whatever it is; `None` when the server has ended.
    pub(crate) async fn next_or_end(&mut self) -> Option<Value> {
        let line = self.next_line().await;
        if line.is_empty() {
            return None;
        }
        let message: Value = serde_json::from_str(&line).unwrap();
        if message.is_object() {
            assert_eq!(message["jsonrpc"], "2.0");
        }
        Some(message)
    }

    pub(crate) async fn next(&mut self) -> Value {
        self.next_or_end().await.expect("the server has ended")
    }

    /// Asks, and expects the very next line to be the answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params).await;
        let answer = self.next().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(crate) async fn result(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    pub(crate) async fn error(&mut self, method: &str, params: Value) -> Value {
        let mut answer = self.ask(method, params).await;
        assert!(answer.get("result").is_none(), "{answer}");
        answer["error"].take()
    }

    pub(crate) async fn code(&mut self, method: &str, params: Value) -> i64 {
        self.error(method, params).await["code"].as_i64().unwrap()
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }

    /// Shows that nothing else is on its way: what was sent before has been dealt with.
    pub(crate) async fn expect_silence(&mut self) {
        let answer = self.ask("tools/list", json!({"cursor": "made up"})).await;
        assert_eq!(answer["error"]["message"], "unknown cursor");
    }

    /// Ends the server's input and returns what it still has to say.
    pub(crate) async fn close(mut self) -> Vec<Value> {
        self.to_server.shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Some(message) = self.next_or_end().await {
            rest.push(message);
        }
        self.server.await.unwrap().unwrap();
        rest
    }

    /// Goes away without a word.
    pub(crate) async fn vanish(self) -> io::Result<()> {
        drop((self.to_server, self.from_server));
        self.server.await.unwrap()
    }
}

pub(crate) fn handshake(version: &str, capabilities: &Value) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1"},
    })
}

pub(crate) fn envelope(version: &str, capabilities: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

/// The text of a result with one block.
pub(crate) fn text(result: &Value) -> &str {
    let content = result["content"].as_array().unwrap();
    assert_eq!(content.len(), 1);
    assert_eq!(content[0]["type"], "text");
    content[0]["text"].as_str().unwrap()
}
