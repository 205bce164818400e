//! What is made again by itself when a connection is lost, and what is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::host::Host;
use switchboard::protocol::{CallToolResult, Raw};
use switchboard::spec::{ServerName, Settings};
use switchboard::transport::Memory;
use switchboard::{CallOptions, Deadline, ErrorKind, Server, ServerError};
use switchboard_testkit::Options;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::host_support::{Tap, With as _};
use crate::support::{Wire, legacy_options, text_of};

/// How many calls fit on one connection at a time.
const SLOTS: usize = 64;

/// A server that ends its first connection when every slot is taken, and answers on the next.
fn ends_once() -> (Server, mpsc::UnboundedReceiver<serde_json::Value>) {
    let (says, heard) = mpsc::unbounded_channel();
    let starts = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let memory = Memory::new("ends once", move |input, output| {
        let start = starts.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
        let mut wire = Wire::new(input, output, start, says.clone());
        async move {
            wire.greet_legacy().await;
            if wire.start > 1 {
                return wire.echo_names().await;
            }
            for _ in 0..SLOTS {
                wire.expect("tools/call").await;
            }
        }
    });
    let name = ServerName::parse("any").unwrap();
    (Server::new(name, memory, legacy_options()), heard)
}

#[tokio::test(start_paused = true)]
async fn what_never_left_is_made_again_on_the_next_connection_and_nothing_else_is() {
    let (server, mut heard) = ends_once();
    let calls: Vec<_> = (0..SLOTS + 10)
        .map(|number| {
            let server = server.clone();
            tokio::spawn(async move {
                let name = format!("tool{number}");
                let called = server.call_tool(&name, None, CallOptions::default()).await;
                (name, called)
            })
        })
        .collect();
    let mut answered = 0;
    for call in calls {
        let (name, called): (String, Result<CallToolResult, ServerError>) = call.await.unwrap();
        match called {
            Ok(result) => {
                assert_eq!(text_of(&result), name);
                answered += 1;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Closed);
                assert!(error.was_sent(), "what never left is not given up");
            }
        }
    }
    assert_eq!(answered, 10);
    let mut names: Vec<String> = std::iter::from_fn(|| heard.try_recv().ok())
        .filter(|message| message["method"] == "tools/call")
        .map(|message| message["params"]["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names.len(), SLOTS + 10);
    names.dedup();
    assert_eq!(names.len(), SLOTS + 10, "no call was sent twice");
}

/// A server that ends its first connections when it gets a certain request, and serves the next.
fn ends_on(method: &'static str, times: usize) -> (Memory, Tap) {
    let (tap, starts) = (Tap::default(), Arc::new(AtomicUsize::new(0)));
    let noted = tap.clone();
    let memory = Memory::new("ends often", move |input, output| {
        let (tap, start) = (noted.clone(), starts.fetch_add(1, Ordering::SeqCst));
        async move {
            let (mut inner, served) = tokio::io::duplex(64 * 1024);
            let mut lines = BufReader::new(input).lines();
            let forward = async move {
                while let Ok(Some(line)) = lines.next_line().await {
                    let message = serde_json::from_str::<Value>(&line).unwrap();
                    tap.note(&message);
                    if start < times && message["method"] == method {
                        return;
                    }
                    let line = format!("{line}\n");
                    if inner.write_all(line.as_bytes()).await.is_err() {
                        return;
                    }
                }
            };
            let serve = switchboard_testkit::serve(served, output, Options::default());
            tokio::select! {
                _ = serve => {}
                () = forward => {}
            }
        }
    });
    (memory, tap)
}

fn alone(memory: Memory) -> Server {
    let name = ServerName::parse("any").unwrap();
    Server::new(name, memory, legacy_options())
}

#[tokio::test(start_paused = true)]
async fn a_list_is_read_again_after_waits_that_double() {
    let (memory, tap) = ends_on("tools/list", 2);
    let began = Instant::now();
    let listing = alone(memory).list_tools().await.unwrap();
    assert_eq!(listing.items.len(), 7);
    assert_eq!(tap.count("tools/list"), 3);
    // One second and two, and up to half of each at random.
    let took = began.elapsed();
    let (least, most) = (Duration::from_secs(3), Duration::from_millis(4600));
    assert!((least..most).contains(&took), "{took:?}");
    // Not for ever: four times in all.
    let (memory, tap) = ends_on("tools/list", usize::MAX);
    let error = alone(memory).list_tools().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    assert_eq!(tap.count("tools/list"), 4);
}

#[tokio::test(start_paused = true)]
async fn only_an_idempotent_call_is_made_again_after_it_has_left() {
    let call = async |options: CallOptions| {
        let (memory, tap) = ends_on("tools/call", 2);
        let arguments = Raw::of(&json!({"message": "hello"})).ok();
        let called = alone(memory).call_tool("echo", arguments, options).await;
        (called, tap.count("tools/call"))
    };
    let (called, times) = call(CallOptions::default().idempotent()).await;
    assert_eq!((text_of(&called.unwrap()), times), ("hello", 3));
    let (called, times) = call(CallOptions::default()).await;
    let error = called.unwrap_err();
    assert!(error.was_sent(), "{error}");
    assert_eq!((error.kind(), times), (ErrorKind::Closed, 1));
    // The time that the caller allows in all leaves no room for the second wait.
    let within = Deadline::within(Duration::from_secs(3));
    let (called, times) = call(CallOptions::default().idempotent().deadline(within)).await;
    assert_eq!((called.unwrap_err().kind(), times), (ErrorKind::Closed, 2));
}

#[tokio::test(start_paused = true)]
async fn a_host_reads_lists_again_on_a_new_connection() {
    let (memory, tap) = ends_on("tools/list", 2);
    let host = Host::builder().with("demo", memory).build().unwrap();
    let status = host.connect("demo").await.unwrap();
    assert!(status.is_ready(), "{status:?}");
    assert_eq!((status.offers.tools, tap.count("tools/list")), (7, 3));
    // The description says how often and how soon.
    let (memory, tap) = ends_on("tools/list", 2);
    let mut settings = Settings::default();
    (settings.max_retries, settings.retry_backoff) = (Some(1), Some(Duration::from_millis(1)));
    let host = Host::builder().transport("demo", memory, settings);
    let host = host.build().unwrap();
    host.connect("demo").await.ok();
    assert_eq!(tap.count("tools/list"), 2);
    assert!(host.tools().is_empty());
}
