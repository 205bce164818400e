//! A gateway with many clients: calls that each carry a nonce of their own, and sessions that nobody uses.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader as Lines, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_tests::soak_size;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::support::proc::kib;

const SERVERS: usize = 20;
const CLIENTS: usize = 500;

/// The calls of one client: 100,000 of all clients, or a million.
fn calls_each() -> usize {
    soak_size(200, 2_000)
}

/// What the calls after the first tenth may add to the gateway and its servers, in KiB.
const MOST_GROWN_KIB: u64 = 16 * 1024;

fn sessions() -> usize {
    soak_size(2_000, 10_000)
}

/// What an idle session may take, in KiB: 100 MiB for 10,000.
const MOST_SESSION_KIB: f64 = 10.24;

/// A gateway with its servers in a process of its own.
struct Gateway {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<ChildStdout>,
    address: SocketAddr,
}

impl Gateway {
    fn start(folder: &Path, servers: usize, idle: Duration) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gateway-host"))
            .arg(folder)
            .args([servers.to_string(), idle.as_millis().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = Lines::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        Self {
            input: child.stdin.take(),
            child,
            output,
            address: line.trim().parse().unwrap(),
        }
    }

    /// What it takes, in KiB.
    fn rss(&self) -> u64 {
        kib(self.child.id(), "status", "VmRSS")
    }

    /// Its open sessions, and those that have ended because they were idle.
    fn sessions(&mut self) -> (usize, usize) {
        let input = self.input.as_mut().unwrap();
        input.write_all(b"\n").unwrap();
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let (open, expired) = line.trim().split_once(' ').unwrap();
        (open.parse().unwrap(), expired.parse().unwrap())
    }

    fn end(mut self) {
        self.input = None;
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Ignored: it has ended already, where the test did not fail.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A connection that is kept open.
struct Connection {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    /// The headers of all requests.
    headers: String,
}

/// A response.
struct Answer {
    status: u16,
    session: Option<String>,
    body: String,
}

impl Answer {
    /// The message in it: the body, or the last event of a stream.
    fn message(&self) -> Value {
        let events = self.body.lines().rev();
        let mut data = events.filter_map(|line| line.strip_prefix("data: "));
        let text = match self.body.starts_with('{') {
            true => self.body.as_str(),
            false => data.next().unwrap_or_default(),
        };
        serde_json::from_str(text).unwrap_or_else(|_| panic!("{}: {}", self.status, self.body))
    }
}

impl Connection {
    async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream: BufReader::new(stream),
            address,
            headers: String::new(),
        }
    }

    /// Posts a message with some more headers.
    async fn post(&mut self, headers: &str, message: &Value) -> Answer {
        let body = message.to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{}{headers}Content-Length: {}\r\n\r\n{body}",
            self.address,
            self.headers,
            body.len(),
        );
        self.stream.write_all(request.as_bytes()).await.unwrap();
        self.answer().await
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        let length = self.stream.read_line(&mut line).await.unwrap();
        assert!(length > 0, "the gateway closed a connection");
        line.trim_end().to_owned()
    }

    async fn exactly(&mut self, length: usize) -> String {
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).await.unwrap();
        String::from_utf8(bytes).unwrap()
    }

    async fn answer(&mut self) -> Answer {
        let first = self.line().await;
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let (mut session, mut length, mut has_chunks) = (None, 0, false);
        loop {
            let line = self.line().await;
            let Some((name, value)) = line.split_once(": ") else {
                break;
            };
            match name.to_ascii_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "transfer-encoding" => has_chunks = value == "chunked",
                "mcp-session-id" => session = Some(value.to_owned()),
                _ => {}
            }
        }
        let mut body = String::new();
        if has_chunks {
            loop {
                let length = usize::from_str_radix(&self.line().await, 16).unwrap();
                body.push_str(&self.exactly(length).await);
                self.line().await;
                if length == 0 {
                    break;
                }
            }
        } else {
            body = self.exactly(length).await;
        }
        Answer {
            status,
            session,
            body,
        }
    }

    /// Shakes hands in the legacy era; returns the session's headers.
    async fn shake_hands(&mut self) -> String {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "load", "version": "1"},
        });
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = self.post("", &hello).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        let session = answer.session.unwrap();
        let headers = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post(&headers, &ready).await.status, 202);
        headers
    }
}

/// A client that makes calls.
struct Client {
    connection: Connection,
    number: usize,
    is_modern: bool,
    /// Answers that were another call's, or none.
    wrong: Vec<String>,
    slowest: Duration,
}

impl Client {
    async fn open(address: SocketAddr, number: usize) -> Self {
        let mut connection = Connection::open(address).await;
        let is_modern = number.is_multiple_of(2);
        connection.headers = if is_modern {
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n".to_owned()
        } else {
            connection.shake_hands().await
        };
        Self {
            connection,
            number,
            is_modern,
            wrong: Vec::new(),
            slowest: Duration::ZERO,
        }
    }

    /// Makes one call after the other, each to another server than the one before.
    async fn call(&mut self, calls: std::ops::Range<usize>) {
        for n in calls {
            let nonce = format!("{}-{n}", self.number);
            let tool = format!("{}__echo", server_of(self.number, n));
            let mut params = json!({"name": tool, "arguments": {"message": nonce}});
            let mut headers = String::new();
            if self.is_modern {
                headers = format!("Mcp-Name: {tool}\r\n");
                params["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                    "io.modelcontextprotocol/clientInfo": {"name": "load", "version": "1"},
                });
            }
            let call = json!({"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params});
            let start = Instant::now();
            let answer = self.connection.post(&headers, &call).await;
            self.slowest = self.slowest.max(start.elapsed());
            let message = answer.message();
            let text = &message["result"]["content"][0]["text"];
            if message["id"] != n || *text != nonce {
                let status = answer.status;
                self.wrong.push(format!("{nonce}: {status} {message}"));
            }
        }
    }
}

/// Lets all clients make those calls at the same time.
async fn all_call(clients: Vec<Client>, calls: std::ops::Range<usize>) -> Vec<Client> {
    let each = clients.into_iter().map(|mut client| {
        let calls = calls.clone();
        tokio::spawn(async move {
            client.call(calls).await;
            client
        })
    });
    let mut done = Vec::new();
    for client in each.collect::<Vec<_>>() {
        done.push(client.await.unwrap());
    }
    done
}

fn server_of(client: usize, call: usize) -> String {
    format!("s{:02}", (client + call) % SERVERS)
}

/// How often each call reached each server, as the servers' journals say.
fn journals(folder: &Path) -> HashMap<(String, String), usize> {
    let mut all = HashMap::new();
    for number in 0..SERVERS {
        let server = format!("s{number:02}");
        let text = std::fs::read_to_string(folder.join(&server)).unwrap();
        for line in text.lines() {
            let call: Value = serde_json::from_str(line).unwrap();
            let nonce = call["arguments"]["message"].as_str().unwrap().to_owned();
            *all.entry((server.clone(), nonce)).or_default() += 1;
        }
    }
    all
}

#[tokio::test]
async fn no_call_of_five_hundred_clients_is_lost_doubled_or_anothers() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(folder.path(), SERVERS, Duration::from_secs(600));
    let all = calls_each();
    let warm = all / 10;
    let start = Instant::now();
    let opened = (0..CLIENTS).map(|number| Client::open(gateway.address, number));
    let mut clients = Vec::new();
    for client in opened {
        clients.push(client.await);
    }
    let clients = all_call(clients, 0..warm).await;
    let before = gateway.rss();
    // They stay connected until the memory is measured.
    let clients = all_call(clients, warm..all).await;
    let took = start.elapsed();
    let after = gateway.rss();
    let wrong: Vec<_> = clients.iter().flat_map(|client| &client.wrong).collect();
    assert!(wrong.is_empty(), "{}: {:?}", wrong.len(), wrong.first());
    let slowest = clients.iter().map(|client| client.slowest).max().unwrap();
    drop(clients);
    gateway.end();
    println!(
        "{} calls in {:.1} s, the slowest {} ms; {before} KiB after the first tenth, {after} KiB at the end",
        CLIENTS * all,
        took.as_secs_f64(),
        slowest.as_millis(),
    );
    let journals = journals(folder.path());
    let doubled: Vec<_> = journals.iter().filter(|(_, times)| **times != 1).collect();
    assert!(doubled.is_empty(), "{doubled:?}");
    assert_eq!(journals.len(), CLIENTS * all);
    for client in 0..CLIENTS {
        for n in 0..all {
            let call = (server_of(client, n), format!("{client}-{n}"));
            assert!(journals.contains_key(&call), "{call:?}");
        }
    }
    let grown = after.saturating_sub(before);
    assert!(grown <= MOST_GROWN_KIB, "{grown} KiB");
}

/// Connections that sessions are opened over.
const OPENERS: usize = 50;

#[tokio::test]
async fn idle_sessions_take_little_memory_and_end_without_goodbye() {
    let folder = tempfile::tempdir().unwrap();
    let idle = Duration::from_secs(soak_size(30, 90));
    let mut gateway = Gateway::start(folder.path(), 1, idle);
    let address = gateway.address;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let mut first = Connection::open(address).await;
    let headers = first.shake_hands().await;
    let answer = first.post(&headers, &list).await.message();
    assert!(answer["result"]["tools"].is_array(), "{answer}");
    let before = gateway.rss();
    let openers: Vec<_> = (0..OPENERS)
        .map(|_| {
            let list = list.clone();
            tokio::spawn(async move {
                let mut connection = Connection::open(address).await;
                for _ in 0..sessions() / OPENERS {
                    let headers = connection.shake_hands().await;
                    let answer = connection.post(&headers, &list).await.message();
                    assert!(answer["result"]["tools"].is_array(), "{answer}");
                }
            })
        })
        .collect();
    for opener in openers {
        opener.await.unwrap();
    }
    let after = gateway.rss();
    let (open, expired) = gateway.sessions();
    assert_eq!((open + expired, expired <= 1), (sessions() + 1, true));
    let each = f64::from(u32::try_from(after.saturating_sub(before)).unwrap())
        / f64::from(u32::try_from(sessions()).unwrap());
    println!(
        "{} idle sessions: {before} KiB before, {after} KiB after, {each:.2} KiB each",
        sessions()
    );
    assert!(each <= MOST_SESSION_KIB, "{each} KiB");
    // None of them says goodbye.
    let ends = Instant::now() + idle * 4;
    while gateway.sessions() != (0, sessions() + 1) {
        assert!(Instant::now() < ends, "{:?}", gateway.sessions());
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let mut later = Connection::open(address).await;
    assert_eq!(later.post(&headers, &list).await.status, 404);
    gateway.end();
}
