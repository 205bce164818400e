//! The distance from `ToolHandle::call` to the write, counted in functions of our own crates.

use std::backtrace::Backtrace;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use serde_json::json;
use switchboard::host::{Caller, Host};
use switchboard::spec::Settings;
use switchboard::transport::{Connect, Connecting, Link};
use switchboard_testkit::Options;
use tokio::io::{AsyncWrite, DuplexStream};

use crate::host_support::name;

/// The most functions of our own from `ToolHandle::call` to the write, both counted.
const MOST_FUNCTIONS: usize = 8;

/// Connects to the testkit's server in memory, and keeps the backtrace of the last write of a call.
#[derive(Clone, Default)]
struct Traced(Arc<Mutex<String>>);

impl Connect for Traced {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(async {
            let (to_server, input) = tokio::io::duplex(65_536);
            let (output, from_server) = tokio::io::duplex(65_536);
            drop(tokio::spawn(switchboard_testkit::serve(
                input,
                output,
                Options::default(),
            )));
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

/// Lists the functions of our crates in a backtrace, the innermost first. Closures belong to the function around them.
fn own_functions(trace: &str) -> Vec<String> {
    let frames = trace.split("fn: \"").skip(1).filter_map(|frame| {
        let (name, rest) = frame.split_once("\", file: \"")?;
        let (file, _) = rest.split_once('"')?;
        Some((name, file))
    });
    let own = frames.filter(|(name, file)| {
        let is_closure = name.starts_with("{closure") || name.ends_with("{{closure}}::{{closure}}");
        file.contains("crates/") && file.contains("/src/") && !is_closure
    });
    own.map(|(name, file)| format!("{name} in {file}"))
        .collect()
}

#[tokio::test]
async fn a_call_of_a_handle_is_at_most_eight_functions_from_the_pipe() {
    let traced = Traced::default();
    let host = Host::builder()
        .transport(name("traced"), traced.clone(), Settings::default())
        .build()
        .unwrap();
    let echo = host
        .view(Caller::owner())
        .find("traced/echo")
        .await
        .unwrap();
    // The second call finds the outbox empty, as nearly all do, and writes on its own task.
    for _ in 0..2 {
        let result = echo.call(json!({"message": "hello"})).await.unwrap();
        assert_eq!(result.text(), "hello");
    }
    host.shutdown().await;
    let trace = traced.0.lock().unwrap().clone();
    let functions = own_functions(&trace);
    let begins_and_ends = (
        functions
            .first()
            .is_some_and(|function| function.contains("write_now")),
        functions
            .last()
            .is_some_and(|function| function.ends_with("host/handle.rs")),
    );
    assert_eq!(begins_and_ends, (true, true), "{functions:#?}\n{trace}");
    assert!(functions.len() <= MOST_FUNCTIONS, "{functions:#?}");
}
