//! Servers that follow a script, for tests that want to see every line.
//!
//! A script is a closure that gets a [`Wire`]: it reads what the client says and writes what the
//! test wants it to write, good or bad. Everything that the server hears also reaches the test,
//! through [`Server::heard`]. What belongs to real processes is in `process`.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "each test file uses a part of this, and a failure here is a failed test"
)]

pub(crate) mod alone;
pub(crate) mod asked;
pub(crate) mod http;
pub(crate) mod http_script;
#[cfg(target_os = "linux")]
pub(crate) mod marked;
pub(crate) mod person;
#[cfg(target_os = "linux")]
pub(crate) mod proc;
pub(crate) mod process;
pub(crate) mod wire;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::protocol::{CallToolResult, Era, Raw};
use switchboard::session::{CallOptions, Session, SessionOptions};
use switchboard::spec::Protocol;
use switchboard::transport::{Connect, Connecting, Memory};
use switchboard::{CallError, Deadline, Limits, Timeouts};
use tokio::sync::mpsc;

pub(crate) use wire::Wire;

/// A server that follows a script, once for each connection.
pub(crate) struct Server {
    memory: Memory,
    starts: Arc<AtomicUsize>,
    heard: mpsc::UnboundedReceiver<Value>,
}

impl Server {
    /// A server that runs `script` on each connection.
    pub(crate) fn new<F, Running>(script: F) -> Self
    where
        F: Fn(Wire) -> Running + Send + Sync + 'static,
        Running: Future<Output = ()> + Send + 'static,
    {
        let starts = Arc::new(AtomicUsize::new(0));
        let (says, heard) = mpsc::unbounded_channel();
        let counted = Arc::clone(&starts);
        let memory = Memory::new("scripted", move |input, output| {
            let start = counted.fetch_add(1, Ordering::SeqCst) + 1;
            script(Wire::new(input, output, start, says.clone()))
        });
        Self {
            memory,
            starts,
            heard,
        }
    }

    /// How often it was started.
    pub(crate) fn starts(&self) -> usize {
        self.starts.load(Ordering::SeqCst)
    }

    /// The next message that it heard; waits for one.
    pub(crate) async fn heard(&mut self) -> Value {
        self.heard.recv().await.unwrap()
    }

    /// What it has heard until now.
    pub(crate) fn heard_so_far(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.heard.try_recv().ok()).collect()
    }

    /// The methods of what it has heard until now.
    pub(crate) fn methods_so_far(&mut self) -> Vec<String> {
        let heard = self.heard_so_far();
        let name = |message: &Value| message["method"].as_str().unwrap_or("-").to_owned();
        heard.iter().map(name).collect()
    }
}

impl Connect for Server {
    fn connect(&self) -> Connecting<'_> {
        self.memory.connect()
    }

    fn identity(&self) -> String {
        self.memory.identity()
    }
}

/// Options for a legacy session, without the probe.
pub(crate) fn legacy_options() -> SessionOptions {
    SessionOptions::default().protocol(Protocol::Legacy)
}

/// Options for a modern session.
pub(crate) fn modern_options() -> SessionOptions {
    SessionOptions::default().protocol(Protocol::Modern)
}

/// Options with limits that differ from the usual ones.
pub(crate) fn limited(change: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    change(&mut limits);
    limits
}

/// A legacy session with a server that follows `script` after the handshake.
pub(crate) async fn legacy<F, Running>(script: F) -> (Session, Server)
where
    F: Fn(Wire) -> Running + Send + Sync + 'static,
    Running: Future<Output = ()> + Send + 'static,
{
    legacy_with(legacy_options(), script).await
}

/// The same with options of the test's own.
pub(crate) async fn legacy_with<F, Running>(options: SessionOptions, script: F) -> (Session, Server)
where
    F: Fn(Wire) -> Running + Send + Sync + 'static,
    Running: Future<Output = ()> + Send + 'static,
{
    let (session, mut server) = connect(Era::Legacy, options, script).await;
    assert_eq!(server.heard().await["method"], "initialize");
    assert_eq!(server.heard().await["method"], "notifications/initialized");
    (session, server)
}

/// A modern session with a server that follows `script` after the discovery.
pub(crate) async fn modern<F, Running>(script: F) -> (Session, Server)
where
    F: Fn(Wire) -> Running + Send + Sync + 'static,
    Running: Future<Output = ()> + Send + 'static,
{
    modern_with(modern_options(), script).await
}

/// The same with options of the test's own.
pub(crate) async fn modern_with<F, Running>(options: SessionOptions, script: F) -> (Session, Server)
where
    F: Fn(Wire) -> Running + Send + Sync + 'static,
    Running: Future<Output = ()> + Send + 'static,
{
    let (session, mut server) = connect(Era::Modern, options, script).await;
    assert_eq!(server.heard().await["method"], "server/discover");
    (session, server)
}

/// Connects to a server of an era that follows `script` after its greeting.
async fn connect<F, Running>(era: Era, options: SessionOptions, script: F) -> (Session, Server)
where
    F: Fn(Wire) -> Running + Send + Sync + 'static,
    Running: Future<Output = ()> + Send + 'static,
{
    let script = Arc::new(script);
    let server = Server::new(move |mut wire| {
        let script = Arc::clone(&script);
        async move {
            match era {
                Era::Legacy => wire.greet_legacy().await,
                Era::Modern => wire.greet_modern().await,
            }
            script(wire).await;
        }
    });
    let session = Session::connect(&server, options).await.unwrap();
    (session, server)
}

/// Calls a tool without arguments.
pub(crate) async fn call(session: &Session, tool: &str) -> Result<CallToolResult, CallError> {
    session.call_tool(tool, None, CallOptions::default()).await
}

/// Calls a tool in a task of its own.
pub(crate) fn spawn_call(
    session: &Session,
    tool: &str,
) -> tokio::task::JoinHandle<Result<CallToolResult, CallError>> {
    let (session, tool) = (session.clone(), tool.to_owned());
    tokio::spawn(async move { call(&session, &tool).await })
}

/// The first text of a result.
pub(crate) fn text_of(result: &CallToolResult) -> &str {
    result.content()[0].as_text().unwrap()
}

/// A tool's result of one text.
pub(crate) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

pub(crate) fn raw(value: &Value) -> Raw {
    Raw::of(value).unwrap()
}

pub(crate) fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// One limit for everything, in seconds.
pub(crate) fn within(seconds: u64) -> Timeouts {
    Timeouts::all(Deadline::within(secs(seconds)))
}
