//! What is made again by itself when a connection is lost, and what is not.

use std::sync::Arc;

use switchboard::protocol::CallToolResult;
use switchboard::spec::ServerName;
use switchboard::transport::Memory;
use switchboard::{CallOptions, ErrorKind, Server, ServerError};
use tokio::sync::mpsc;

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
