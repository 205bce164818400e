//! A server over HTTP that answers as a test says, right or wrong, and remembers what it was asked.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "each test file uses a part of this, and a failure here is a failed test"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A request as it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) verb: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(header, _)| header.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The method of the message in it, or the verb where there is none.
    pub(crate) fn what(&self) -> String {
        let json = self.json();
        json["method"].as_str().unwrap_or(&self.verb).to_owned()
    }

    /// A good answer to this request.
    pub(crate) fn result(&self, result: &Value) -> Reply {
        let id = self.json()["id"].clone();
        Reply::json(200, &json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }

    /// A bad one.
    pub(crate) fn error(&self, status: u16, code: i64) -> Reply {
        let id = self.json()["id"].clone();
        let error = json!({"code": code, "message": "not like this"});
        Reply::json(status, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
    }

    /// What a good legacy server without sessions answers; `tools/call` gives the text "done".
    pub(crate) fn legacy(&self) -> Reply {
        match self.what().as_str() {
            "initialize" => self.result(&json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "scripted", "version": "1"}
            })),
            "tools/list" => self.result(&json!({"tools": []})),
            "tools/call" => self.result(&json!({"content": [{"type": "text", "text": "done"}]})),
            "ping" => self.result(&json!({})),
            "server/discover" => self.error(400, -32601),
            "GET" => Reply::new(405),
            "DELETE" => Reply::new(204),
            _ => Reply::new(202),
        }
    }

    /// What a good modern server answers.
    pub(crate) fn modern(&self) -> Reply {
        match self.what().as_str() {
            "server/discover" => self.result(&json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"
            })),
            "tools/list" => self.result(&json!({
                "resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"
            })),
            "tools/call" => self.result(&json!({
                "resultType": "complete", "content": [{"type": "text", "text": "done"}]
            })),
            "GET" | "DELETE" => Reply::new(405),
            _ => Reply::new(202),
        }
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    ends: bool,
}

impl Reply {
    pub(crate) fn new(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Vec::new(),
            ends: true,
        }
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        let reply = Self::new(status).header("content-type", "application/json");
        reply.body(body.to_string())
    }

    pub(crate) fn stream(events: &str) -> Self {
        let reply = Self::new(200).header("content-type", "text/event-stream");
        reply.body(events)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Leaves the body open: more may come, and never does.
    pub(crate) fn unfinished(mut self) -> Self {
        self.ends = false;
        self
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Answer\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.ends {
            head.push_str(&format!("content-length: {}\r\n\r\n", self.body.len()));
            return [head.as_bytes(), &self.body].concat();
        }
        head.push_str("transfer-encoding: chunked\r\n\r\n");
        if self.body.is_empty() {
            return head.into_bytes();
        }
        let size = format!("{:x}\r\n", self.body.len());
        [head.as_bytes(), size.as_bytes(), &self.body, b"\r\n"].concat()
    }
}

type Script = dyn Fn(&Asked) -> Option<Reply> + Send + Sync;

/// A server that follows a script.
pub(crate) struct Scripted {
    url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    connections: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Scripted {
    /// Answers as `script` says; nothing is never answered.
    pub(crate) async fn new(
        script: impl Fn(&Asked) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let (asked, connections) = (Arc::default(), Arc::<AtomicUsize>::default());
        let opened = Arc::clone(&connections);
        let (script, log): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                opened.fetch_add(1, Ordering::SeqCst);
                open.spawn(serve(stream, Arc::clone(&script), Arc::clone(&log)));
            }
        });
        Self {
            url,
            asked,
            connections,
            task,
        }
    }

    /// Remembers what it is asked, and says that all is well.
    pub(crate) async fn recording() -> Self {
        Self::new(|asked| Some(asked.legacy())).await
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Host and port.
    pub(crate) fn authority(&self) -> &str {
        let url = self.url.strip_prefix("http://").unwrap();
        url.strip_suffix("/mcp").unwrap()
    }

    /// Number of connections that were opened.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// What was asked, as methods and verbs.
    pub(crate) fn whats(&self) -> Vec<String> {
        self.asked().iter().map(Asked::what).collect()
    }

    pub(crate) fn count(&self, what: &str) -> usize {
        self.whats().iter().filter(|found| *found == what).count()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, script: Arc<Script>, log: Arc<Mutex<Vec<Asked>>>) {
    let mut read = Vec::new();
    while let Some(asked) = request(&mut stream, &mut read).await {
        let reply = script(&asked);
        log.lock().unwrap().push(asked);
        let Some(reply) = reply else {
            return std::future::pending().await;
        };
        if stream.write_all(&reply.to_bytes()).await.is_err() {
            return;
        }
        if !reply.ends {
            // Until the client has had enough.
            while matches!(stream.read(&mut [0; 64]).await, Ok(1..)) {}
            return;
        }
    }
}

async fn request(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<Asked> {
    let head_end = loop {
        if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    };
    let head: Vec<u8> = read.drain(..head_end).collect();
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let headers = lines.filter_map(|line| line.split_once(':'));
    let mut asked = Asked {
        verb: first.next()?.to_owned(),
        path: first.next()?.to_owned(),
        headers: headers
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect(),
        body: Vec::new(),
    };
    let length = asked.header("content-length").map(str::parse);
    let length: usize = length.map_or(0, Result::unwrap);
    while read.len() < length {
        if stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    }
    asked.body = read.drain(..length).collect();
    Some(asked)
}
