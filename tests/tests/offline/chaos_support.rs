//! Sessions with the misbehaving server, without a process.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::field_reassign_with_default,
    reason = "each test file uses a part of this, and a failure here is a failed test"
)]

use std::time::Duration;

use serde_json::{Value, json};
use switchboard::protocol::Raw;
use switchboard::session::{OpenError, Session, SessionOptions};
use switchboard::spec::Protocol;
use switchboard::transport::Memory;
use switchboard::{CallError, CallOptions, Deadline, Limits, Timeouts};
use switchboard_testkit::Options;
use tokio::task::JoinHandle;

/// Both eras, each ordered.
pub(crate) const ERAS: [Protocol; 2] = [Protocol::Legacy, Protocol::Modern];

/// The server with these faults.
pub(crate) fn server(faults: &[&str]) -> Memory {
    let mut options = Options::default();
    options.chaos = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    Memory::new("chaos", move |input, output| {
        let options = options.clone();
        async move {
            switchboard_testkit::serve(input, output, options)
                .await
                .ok();
        }
    })
}

/// Five seconds for everything, and a message of at most a MiB.
pub(crate) fn options(protocol: Protocol) -> SessionOptions {
    let mut limits = Limits::default();
    limits.message_bytes = 1024 * 1024;
    let deadline = Deadline::within(Duration::from_secs(5));
    SessionOptions::default()
        .protocol(protocol)
        .limits(limits)
        .timeouts(Timeouts::all(deadline))
}

/// Tries to open a session with the server that has this fault.
pub(crate) async fn try_open(fault: &str, protocol: Protocol) -> Result<Session, OpenError> {
    Session::connect(&server(&[fault]), options(protocol)).await
}

/// A session with the server that has this fault.
pub(crate) async fn open(fault: &str, protocol: Protocol) -> Session {
    try_open(fault, protocol).await.unwrap()
}

/// Calls a tool and returns its first text.
pub(crate) async fn call(
    session: &Session,
    tool: &str,
    arguments: Value,
) -> Result<String, CallError> {
    let arguments = Some(Raw::of(&arguments).unwrap());
    let result = session
        .call_tool(tool, arguments, CallOptions::default())
        .await?;
    Ok(result.content()[0].as_text().unwrap().to_owned())
}

/// The call that the tests strike.
pub(crate) async fn echo(session: &Session) -> Result<String, CallError> {
    call(session, "echo", json!({"message": "hello"})).await
}

/// The call that they do not.
pub(crate) async fn add(session: &Session) -> Result<String, CallError> {
    call(session, "add", json!({"a": 1, "b": 2})).await
}

/// A call that takes a second; it is on its way when this returns.
pub(crate) async fn neighbour(session: &Session) -> JoinHandle<Result<String, CallError>> {
    let arguments = json!({"duration": 1, "steps": 1});
    let other = session.clone();
    let calling = tokio::spawn(async move { call(&other, "slow_operation", arguments).await });
    tokio::task::yield_now().await;
    calling
}

/// What becomes of `echo` with a fault in an era, while a neighbour's call goes well and the next
/// call works.
pub(crate) async fn struck(
    fault: &str,
    protocol: Protocol,
) -> (Session, Result<String, CallError>) {
    let session = open(fault, protocol).await;
    let neighbour = neighbour(&session).await;
    let outcome = echo(&session).await;
    let next = add(&session).await;
    assert_eq!(next.unwrap(), "3", "{fault}: the next call");
    let theirs = neighbour.await.unwrap();
    assert_eq!(
        theirs.unwrap(),
        "finished 1 steps in 1 seconds",
        "{fault}: the neighbour"
    );
    (session, outcome)
}

/// Asserts that a fault fails `echo` and nothing else, in both eras, within the deadline.
pub(crate) async fn fails(fault: &str, expected: fn(&CallError) -> bool) {
    for protocol in ERAS {
        let begin = tokio::time::Instant::now();
        let (_session, outcome) = struck(fault, protocol).await;
        let error = outcome.expect_err(fault);
        assert!(expected(&error), "{fault} in {protocol:?}: {error:?}");
        assert!(begin.elapsed() <= Duration::from_secs(6), "{fault}");
    }
}

/// Asserts that a fault changes nothing that a caller sees, in both eras.
pub(crate) async fn is_borne(fault: &str) {
    for protocol in ERAS {
        let (_session, outcome) = struck(fault, protocol).await;
        assert_eq!(outcome.expect(fault), "hello", "{fault} in {protocol:?}");
    }
}
