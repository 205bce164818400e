//! Sessions over HTTP with the test server, good or bad.

#![allow(
    dead_code,
    unused_macros,
    unused_imports,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "each test file uses a part of this, and a failure here is a failed test"
)]

use std::time::Duration;

use serde_json::{Value, json};
use switchboard::protocol::{Era, Raw};
use switchboard::session::{OpenError, Session, SessionOptions};
use switchboard::spec::Protocol;
use switchboard::transport::{FaultKind, Http, Sent};
use switchboard::{CallError, CallOptions, Deadline, Limits, Timeouts};
use switchboard_testkit::http::{Answers, Http as TestServer, Request, Server};
use switchboard_testkit::{Eras, Options};
use tokio::task::JoinHandle;

/// Both eras, each ordered.
pub(crate) const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// What a call may take in these tests.
pub(crate) const SOON: Duration = Duration::from_secs(3);

/// How long something may take that is not what a test is about.
const PATIENCE: Duration = Duration::from_secs(60);

/// The test server before it runs, with these faults.
pub(crate) fn faulty(faults: &[&str]) -> TestServer {
    TestServer::new(options_with(faults))
}

pub(crate) fn options_with(faults: &[&str]) -> Options {
    Options {
        chaos: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
        ..Options::default()
    }
}

/// A server of one era, with these faults.
pub(crate) async fn server_of(era: Era, faults: &[&str]) -> Server {
    server_with(era, faults, Answers::Auto).await
}

pub(crate) async fn server_with(era: Era, faults: &[&str], answers: Answers) -> Server {
    let options = Options {
        eras: match era {
            Era::Legacy => Eras::Legacy,
            Era::Modern => Eras::Modern,
        },
        ..options_with(faults)
    };
    let server = TestServer::new(options).answers(answers);
    server.serve().await.unwrap()
}

/// Limits under which nothing takes long, and an answer has at most a MiB.
pub(crate) fn limits() -> Limits {
    let mut limits = Limits::default();
    limits.message_bytes = 1024 * 1024;
    limits.retry_first = Duration::from_millis(10);
    limits.retry_most = Duration::from_millis(40);
    limits.resume = Duration::from_millis(100);
    limits.attempts = 1000;
    limits
}

/// Waits for [`SOON`], and speaks one era.
pub(crate) fn options(era: Era) -> SessionOptions {
    let protocol = match era {
        Era::Legacy => Protocol::Legacy,
        Era::Modern => Protocol::Modern,
    };
    SessionOptions::default()
        .protocol(protocol)
        .limits(limits())
        .timeouts(Timeouts::all(Deadline::within(SOON)))
}

pub(crate) fn http(server: &Server) -> Http {
    Http::new(&server.url()).unwrap().limits(&limits())
}

pub(crate) async fn try_connect(server: &Server, era: Era) -> Result<Session, OpenError> {
    Session::connect(&http(server), options(era)).await
}

/// Connects where nothing is to go wrong, however busy the machine is.
pub(crate) async fn connect(server: &Server, era: Era) -> Session {
    let mut patient = options(era);
    patient.timeouts.connect = Deadline::within(PATIENCE);
    Session::connect(&http(server), patient).await.unwrap()
}

pub(crate) async fn call_with(
    session: &Session,
    tool: &str,
    arguments: Value,
    options: CallOptions,
) -> Result<String, CallError> {
    let arguments = Some(Raw::of(&arguments).unwrap());
    let result = session.call_tool(tool, arguments, options).await?;
    Ok(result.content()[0].as_text().unwrap().to_owned())
}

pub(crate) async fn call(
    session: &Session,
    tool: &str,
    arguments: Value,
) -> Result<String, CallError> {
    call_with(session, tool, arguments, CallOptions::default()).await
}

/// The call that faults strike.
pub(crate) async fn echo(session: &Session) -> Result<String, CallError> {
    call(session, "echo", json!({"message": "hello"})).await
}

/// The call that they do not.
pub(crate) async fn add(session: &Session) -> Result<String, CallError> {
    call(session, "add", json!({"a": 1, "b": 2})).await
}

/// A call of so many seconds, in a task of its own.
pub(crate) fn slow(session: &Session, seconds: u64) -> JoinHandle<Result<String, CallError>> {
    let arguments = json!({"duration": seconds, "steps": 1});
    let session = session.clone();
    tokio::spawn(async move { call(&session, "slow_operation", arguments).await })
}

/// What became of `echo` with a fault, while a neighbour's call went well and the next one worked.
pub(crate) struct Struck {
    pub(crate) outcome: Result<String, CallError>,
    pub(crate) took: Duration,
    pub(crate) server: Server,
    pub(crate) session: Session,
}

pub(crate) async fn struck(era: Era, fault: &str) -> Struck {
    let server = server_of(era, &[fault]).await;
    let session = connect(&server, era).await;
    assert_eq!(
        add(&session).await.unwrap(),
        "3",
        "{fault}: the call before"
    );
    let neighbour = slow(&session, 1);
    server.until(|counts| counts.running > 0).await;
    let begun = tokio::time::Instant::now();
    let outcome = echo(&session).await;
    let took = begun.elapsed();
    let next = add(&session).await;
    assert_eq!(next.unwrap(), "3", "{fault} in {era:?}: the next call");
    let theirs = neighbour.await.unwrap();
    let expected = "finished 1 steps in 1 seconds";
    assert_eq!(theirs.unwrap(), expected, "{fault} in {era:?}: a neighbour");
    assert_eq!(session.close_reason(), None);
    Struck {
        outcome,
        took,
        server,
        session,
    }
}

/// Asserts that a fault fails `echo` and nothing else, in both eras and in time.
pub(crate) async fn fails(fault: &str, expected: fn(&CallError) -> bool) {
    tokio::join!(
        fails_in(Era::Legacy, fault, expected),
        fails_in(Era::Modern, fault, expected)
    );
}

pub(crate) async fn fails_in(era: Era, fault: &str, expected: fn(&CallError) -> bool) -> Struck {
    let struck = struck(era, fault).await;
    let error = struck.outcome.as_ref().expect_err(fault);
    assert!(expected(error), "{fault} in {era:?}: {error:?}");
    let most = 2 * SOON;
    assert!(struck.took < most, "{fault} in {era:?}: {:?}", struck.took);
    // Whatever went wrong, it went out once.
    assert_eq!(calls_of(&struck.server, "echo"), 1, "{fault} in {era:?}");
    struck
}

/// Asserts that a fault changes nothing that a caller sees, in both eras.
pub(crate) async fn is_borne(fault: &str) {
    tokio::join!(
        is_borne_in(Era::Legacy, fault),
        is_borne_in(Era::Modern, fault)
    );
}

pub(crate) async fn is_borne_in(era: Era, fault: &str) -> Struck {
    let struck = struck(era, fault).await;
    match &struck.outcome {
        Ok(text) => assert_eq!(text, "hello", "{fault} in {era:?}"),
        Err(error) => panic!("{fault} in {era:?}: {error:?}"),
    }
    struck
}

/// What went wrong with an exchange, and how far the request came.
pub(crate) fn fault(error: &CallError) -> Option<(&FaultKind, Sent)> {
    error.fault().map(|fault| (&fault.kind, fault.sent))
}

/// Whether it is a fault of this kind, known of a request that came this far.
macro_rules! is {
    ($kind:pat, $sent:ident) => {
        |error: &CallError| matches!(fault(error), Some(($kind, Sent::$sent)))
    };
}
#[allow(
    unused_imports,
    reason = "not every test file has faults to tell apart"
)]
pub(crate) use is;

pub(crate) fn timed_out(error: &CallError) -> bool {
    error.is_timeout() && error.delivery() == switchboard::session::Delivery::MaybeProcessed
}

/// The requests with a method of the protocol.
pub(crate) fn requests_of(server: &Server, method: &str) -> Vec<Request> {
    let requests = server.requests().into_iter();
    requests
        .filter(|request| request.rpc_method() == method)
        .collect()
}

/// How often a tool was asked to run.
pub(crate) fn calls_of(server: &Server, tool: &str) -> usize {
    let calls = requests_of(server, "tools/call").into_iter();
    calls
        .filter(|call| call.json()["params"]["name"] == tool)
        .count()
}

/// The requests with a verb.
pub(crate) fn verb_of(server: &Server, verb: &str) -> Vec<Request> {
    let requests = server.requests().into_iter();
    requests.filter(|request| request.method == verb).collect()
}
