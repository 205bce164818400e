//! An HTTP client that sends exactly what it is told to.

use std::time::Duration;

use serde_json::{Value, json};
use switchboard_testkit::http::Server;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Longer than anything that a test waits for.
const PATIENCE: Duration = Duration::from_secs(30);

/// An answer, of which the body may still be on its way.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    stream: BufReader<TcpStream>,
    chunk_left: usize,
    buffer: Vec<u8>,
    ended: bool,
}

/// One event of a stream.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) event: String,
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<u64>,
    pub(crate) data: String,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

/// Sends one request on a connection of its own.
pub(crate) async fn send(
    server: &Server,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let stream = TcpStream::connect(server.addr()).await.unwrap();
    send_on(BufReader::new(stream), method, path, headers, body).await
}

pub(crate) async fn send_on(
    mut stream: BufReader<TcpStream>,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut text = format!(
        "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(body);
    stream.get_mut().write_all(text.as_bytes()).await.unwrap();
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_line(&mut line));
        let read = read.await.expect("the server does not answer").unwrap();
        assert!(read > 0, "the connection ended before the answer");
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let status = lines[0].split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines[1..].iter().map(|line| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_ascii_lowercase(), value.to_owned())
    });
    Answer {
        status,
        headers: headers.collect(),
        stream,
        chunk_left: 0,
        buffer: Vec::new(),
        ended: false,
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(header, _)| header == name)
            .map(|(_, value)| value.as_str())
    }

    /// Reads some of the body; false at its end. A connection that breaks is an error.
    async fn more(&mut self) -> std::io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let work = async {
            if self.header("transfer-encoding") == Some("chunked") {
                if self.chunk_left == 0 {
                    let mut line = String::new();
                    self.stream.read_line(&mut line).await?;
                    let size = usize::from_str_radix(line.trim_end(), 16);
                    self.chunk_left = size.map_err(|_| std::io::ErrorKind::UnexpectedEof)?;
                    if self.chunk_left == 0 {
                        self.stream.read_line(&mut line).await?;
                        self.ended = true;
                        return Ok(false);
                    }
                }
                let mut bytes = vec![0; self.chunk_left.min(64 * 1024)];
                let read = self.stream.read(&mut bytes).await?;
                if read == 0 {
                    return Err(std::io::ErrorKind::UnexpectedEof.into());
                }
                self.buffer.extend_from_slice(&bytes[..read]);
                self.chunk_left -= read;
                if self.chunk_left == 0 {
                    let mut line = String::new();
                    self.stream.read_line(&mut line).await?;
                }
                Ok(true)
            } else {
                let length: usize = self
                    .header("content-length")
                    .unwrap_or("0")
                    .parse()
                    .unwrap();
                let mut bytes = vec![0; length];
                self.stream.read_exact(&mut bytes).await?;
                self.buffer.extend_from_slice(&bytes);
                self.ended = true;
                Ok(length > 0)
            }
        };
        tokio::time::timeout(PATIENCE, work)
            .await
            .expect("the server says nothing more")
    }

    /// The whole body, and the connection for the next request.
    pub(crate) async fn finish(mut self) -> (std::io::Result<Vec<u8>>, BufReader<TcpStream>) {
        loop {
            match self.more().await {
                Ok(true) => {}
                Ok(false) => return (Ok(self.buffer), self.stream),
                Err(error) => return (Err(error), self.stream),
            }
        }
    }

    pub(crate) async fn text(self) -> String {
        String::from_utf8(self.finish().await.0.unwrap()).unwrap()
    }

    pub(crate) async fn json(self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_str(&self.text().await).unwrap()
    }

    /// The next event; `None` when the stream ends, in whatever way.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        loop {
            let text = String::from_utf8_lossy(&self.buffer).replace("\r\n", "\n");
            if let Some((event, rest)) = text.split_once("\n\n") {
                let event = event.trim_start_matches('\u{feff}').to_owned();
                self.buffer = rest.as_bytes().to_vec();
                if event.trim().is_empty() {
                    continue;
                }
                return Some(parse(&event));
            }
            if !self.more().await.unwrap_or(false) {
                return None;
            }
        }
    }

    /// The next event that has data, as JSON.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            let event = self.event().await?;
            if event.event == "message" && !event.data.is_empty() {
                return Some(event.json());
            }
        }
    }

    /// How long the rest of the body is.
    pub(crate) async fn message_bytes(self) -> usize {
        self.finish().await.0.unwrap().len()
    }

    /// All events to the end.
    pub(crate) async fn events(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.event().await {
            events.push(event);
        }
        events
    }
}

fn parse(text: &str) -> Event {
    let mut event = Event::default();
    for line in text.lines().filter(|line| !line.starts_with(':')) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
        match name {
            "event" => event.event = value,
            "id" => event.id = Some(value),
            "retry" => event.retry = value.parse().ok(),
            "data" => event.data.push_str(&value),
            name => panic!("a field {name}"),
        }
    }
    event
}

pub(crate) const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");
pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

/// A modern request with everything that belongs to it.
pub(crate) struct Modern {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Value,
}

impl Modern {
    pub(crate) fn new(method: &str, mut params: Value) -> Self {
        let mut meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        if let Some(more) = params["_meta"].as_object() {
            meta.as_object_mut().unwrap().extend(more.clone());
        }
        params["_meta"] = meta;
        let mut headers = vec![
            ("MCP-Protocol-Version".to_owned(), "2026-07-28".to_owned()),
            ("Mcp-Method".to_owned(), method.to_owned()),
        ];
        if let Some(name) = params.get("name").or(params.get("uri")) {
            headers.push(("Mcp-Name".to_owned(), name.as_str().unwrap().to_owned()));
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        Self { headers, body }
    }

    pub(crate) fn call(tool: &str, arguments: Value) -> Self {
        Self::new("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| header != name);
        self
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) async fn send(self, server: &Server) -> Answer {
        let mut headers = vec![JSON, BOTH];
        headers.extend(
            self.headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        );
        send(server, "POST", "/mcp", &headers, &self.body.to_string()).await
    }
}

/// A legacy session.
pub(crate) struct Legacy<'a> {
    server: &'a Server,
    pub(crate) session: Option<String>,
    pub(crate) version: &'static str,
}

impl<'a> Legacy<'a> {
    pub(crate) async fn open(server: &'a Server, version: &'static str) -> Self {
        Self::open_with(server, version, json!({})).await
    }

    pub(crate) async fn open_with(
        server: &'a Server,
        version: &'static str,
        capabilities: Value,
    ) -> Self {
        let params = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"},
        });
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = send(server, "POST", "/mcp", &[JSON, BOTH], &body.to_string()).await;
        assert_eq!(answer.status, 200);
        let session = answer.header("mcp-session-id").map(str::to_owned);
        drop(answer);
        let client = Self {
            server,
            session,
            version,
        };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&initialized).await.status, 202);
        client
    }

    pub(crate) async fn send(&self, method: &str, more: &[(&str, &str)], body: &str) -> Answer {
        let mut headers = vec![("mcp-protocol-version", self.version)];
        if let Some(session) = &self.session {
            headers.push(("mcp-session-id", session));
        }
        headers.extend(more);
        send(self.server, method, "/mcp", &headers, body).await
    }

    pub(crate) async fn post(&self, body: &Value) -> Answer {
        self.send("POST", &[JSON, BOTH], &body.to_string()).await
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.request(1, tool, arguments, json!({})).await
    }

    pub(crate) async fn request(
        &self,
        id: i64,
        tool: &str,
        arguments: Value,
        meta: Value,
    ) -> Answer {
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let method = "tools/call";
        self.post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await
    }

    pub(crate) async fn get(&self, last: Option<&str>) -> Answer {
        let mut headers = vec![("accept", "text/event-stream")];
        headers.extend(last.map(|last| ("last-event-id", last)));
        self.send("GET", &headers, "").await
    }
}
