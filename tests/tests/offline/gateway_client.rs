//! A client of a gateway on an in-memory stream.

use serde_json::{Value, json};
use switchboard_gateway::{ClientIdentity, Gateway, Scope};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};

const PIPE_BYTES: usize = 256 << 10;

/// A client that waits for each answer.
pub(crate) struct Client {
    lines: Lines<BufReader<DuplexStream>>,
    to_gateway: DuplexStream,
    last: u64,
    is_modern: bool,
}

impl Client {
    /// Opens a stream; in the legacy era it shakes hands.
    pub(crate) async fn open(gateway: &Gateway, identity: ClientIdentity, is_modern: bool) -> Self {
        let (to_gateway, input) = tokio::io::duplex(PIPE_BYTES);
        let (output, from_gateway) = tokio::io::duplex(PIPE_BYTES);
        let gateway = gateway.clone();
        // It ends with the stream.
        tokio::spawn(async move { gateway.serve(input, output, identity, Scope::All).await });
        let mut client = Self {
            lines: BufReader::new(from_gateway).lines(),
            to_gateway,
            last: 0,
            is_modern,
        };
        if !is_modern {
            let hello = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            });
            let answer = client.ask("initialize", hello).await;
            assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            client.send(&ready).await;
        }
        client
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.to_gateway.write_all(line.as_bytes()).await.unwrap();
    }

    /// Makes a request and returns the whole answer.
    pub(crate) async fn ask(&mut self, method: &str, mut params: Value) -> Value {
        if self.is_modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            });
        }
        self.last += 1;
        let id = self.last;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        loop {
            let line = self.lines.next_line().await.unwrap();
            let message: Value = serde_json::from_str(&line.expect("an answer")).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// All that a list has, by this member of each item.
    pub(crate) async fn list(&mut self, method: &str, member: &str) -> Vec<String> {
        let (list, _) = method.split_once('/').unwrap();
        let answer = self.ask(method, json!({})).await;
        let items = answer["result"][list].as_array();
        let items = items.unwrap_or_else(|| panic!("{method}: {answer}"));
        assert!(answer["result"].get("nextCursor").is_none(), "one page");
        let text = |item: &Value| item[member].as_str().unwrap().to_owned();
        items.iter().map(text).collect()
    }
}
