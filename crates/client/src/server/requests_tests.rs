//! How far a call is from the pipe: functions that only forward cost every reader and every call.

use std::backtrace::Backtrace;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use serde_json::{Value, json};
use switchboard_core::spec::Protocol;
use tokio::io::{AsyncBufReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader, DuplexStream};

use super::*;
use crate::session::SessionOptions;
use crate::transport::{Connect, Connecting, Link};

/// The most functions of our own from `Server::call_tool` to the write, both counted.
const MOST_FUNCTIONS: usize = 5;

/// Connects to an echo server in memory, and keeps the backtrace of the write of a call.
#[derive(Clone, Default)]
struct Traced(Arc<Mutex<String>>);

impl Connect for Traced {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async {
            let (to_server, input) = tokio::io::duplex(4096);
            let (output, from_server) = tokio::io::duplex(4096);
            drop(tokio::spawn(serve(input, output)));
            let writer = TracedWrite {
                inner: to_server,
                trace: Arc::clone(&self.0),
            };
            Ok(Link::new(from_server, writer))
        })
    }

    fn identity(&self) -> String {
        "memory:traced".to_owned()
    }
}

struct TracedWrite {
    inner: DuplexStream,
    trace: Arc<Mutex<String>>,
}

impl AsyncWrite for TracedWrite {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if String::from_utf8_lossy(bytes).contains("tools/call") {
            *self.trace.lock().unwrap() = format!("{:?}", Backtrace::force_capture());
        }
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

async fn serve(input: DuplexStream, mut output: DuplexStream) {
    let mut lines = BufReader::new(input).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "traced", "version": "1"},
            }),
            "tools/call" => json!({"content": [{"type": "text", "text": "done"}]}),
            _ => continue,
        };
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        output
            .write_all(format!("{answer}\n").as_bytes())
            .await
            .unwrap();
    }
}

/// The functions of this crate on the stack, the innermost first. A closure is part of the function around it.
fn own_functions(trace: &str) -> Vec<String> {
    let frames = trace.split("fn: \"").skip(1).filter_map(|frame| {
        let (name, rest) = frame.split_once("\", file: \"")?;
        let (file, _) = rest.split_once('"')?;
        Some((name, file))
    });
    let is_ours = |name: &str, file: &str| {
        let is_closure = name.starts_with("{closure") || name.ends_with("{{closure}}::{{closure}}");
        let is_test = file.ends_with("_tests.rs");
        (file.starts_with("./src/") || file.contains("crates/client/src/"))
            && !is_closure
            && !is_test
    };
    let own = frames.filter(|(name, file)| is_ours(name, file));
    own.map(|(name, file)| format!("{name} in {file}"))
        .collect()
}

#[tokio::test]
async fn a_call_is_at_most_five_functions_from_the_pipe() {
    let traced = Traced::default();
    let options = SessionOptions::default().protocol(Protocol::Legacy);
    let server = Server::new("traced".parse().unwrap(), traced.clone(), options);
    // The second finds nothing in front of it in the outbox, as nearly all do, and writes by itself.
    for _ in 0..2 {
        let called = server.call_tool("echo", None, CallOptions::default());
        assert_eq!(called.await.unwrap().content().len(), 1);
    }
    server.close().await;
    let trace = traced.0.lock().unwrap().clone();
    let functions = own_functions(&trace);
    let begins_and_ends = (
        functions
            .first()
            .is_some_and(|it| it.starts_with("write_now")),
        functions
            .last()
            .is_some_and(|it| it.ends_with("server/requests.rs")),
    );
    assert_eq!(begins_and_ends, (true, true), "{functions:#?}\n{trace}");
    assert!(functions.len() <= MOST_FUNCTIONS, "{functions:#?}");
}
