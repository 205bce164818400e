//! How a server that is a process ends, and what is known about it then.

use std::time::{Duration, Instant};

use switchboard::Limits;
use switchboard::session::{CloseCause, Session};
use switchboard::transport::{Exit, Stdio};
use tokio::time::timeout;

use crate::support::process::{file, is_alive, pids_in, python, sh, until};
use crate::support::{self, call, legacy_options, limited, secs, spawn_call, text_of};

/// Limits that let a stubborn server end soon.
fn hasty() -> Limits {
    limited(|limits| {
        limits.end_after_close = Duration::from_millis(300);
        limits.end_after_term = Duration::from_millis(300);
    })
}

async fn open(stdio: Stdio) -> Session {
    let options = legacy_options().limits(hasty());
    Session::connect(&stdio.limits(hasty()), options)
        .await
        .unwrap()
}

#[tokio::test]
async fn a_crash_during_calls_reports_status_and_stderr_to_all() {
    let session = open(sh(
        "greet; read -r a; read -r b; read -r c; echo 'assertion failed' >&2; echo bye >&2; exit 7",
    ))
    .await;
    let calls: Vec<_> = (0..3).map(|_| spawn_call(&session, "x")).collect();
    for call in calls {
        let error = call.await.unwrap().unwrap_err();
        let reason = error.close_reason().unwrap();
        assert_eq!(reason.cause, CloseCause::ProcessEnded);
        assert_eq!(reason.exit, Some(Exit::Code(7)));
        assert_eq!(reason.stderr, ["assertion failed", "bye"]);
        assert_eq!(reason.to_string(), "the server ended with exit code 7");
    }
}

#[tokio::test]
async fn a_signal_is_named() {
    let session = open(sh("greet; read -r line; kill -SEGV $$")).await;
    let error = call(&session, "x").await.unwrap_err();
    let reason = error.close_reason().unwrap();
    assert_eq!(reason.exit, Some(Exit::Signal(11)));
    assert!(reason.to_string().contains("SIGSEGV"), "{reason}");
}

#[tokio::test]
async fn an_answer_written_before_the_end_is_delivered() {
    let session = open(sh(
        "greet; read -r line; reply \"$(id_of \"$line\")\" \"$done\"; exit 0",
    ))
    .await;
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "done");
    assert_eq!(session.closed().await.exit, Some(Exit::Code(0)));
}

/// A server that ends with status 3 on the first call, and leaves a process behind.
///
/// `starter` is what starts it, `streams` what it does with the server's streams.
async fn leaving(starter: &str, streams: &str) -> Session {
    let session = open(sh(&format!(
        "greet; {starter} sh -c 'echo up $$ >&2; exec sleep 20' {streams} & read -r line; exit 3"
    )))
    .await;
    until("it runs", || session.peer().stderr().len() == 1).await;
    session
}

async fn ends_soon_with_status(session: &Session) {
    let begun = Instant::now();
    let error = call(session, "x").await.unwrap_err();
    // What it left behind goes on for twice as long.
    assert!(begun.elapsed() < secs(10), "{:?}", begun.elapsed());
    let reason = error.close_reason().unwrap();
    assert_eq!(
        (&reason.cause, reason.exit),
        (&CloseCause::ProcessEnded, Some(Exit::Code(3)))
    );
}

#[tokio::test]
async fn a_grandchild_that_holds_the_output_is_ended_too() {
    let session = leaving("", "").await;
    let up = session.peer().stderr().remove(0);
    let pid = up.strip_prefix("up ").unwrap().parse().unwrap();
    ends_soon_with_status(&session).await;
    until("the grandchild is gone", || !is_alive(pid)).await;
}

#[tokio::test]
async fn a_grandchild_that_has_left_with_the_output_is_not_waited_for() {
    let session = leaving("setsid", "").await;
    ends_soon_with_status(&session).await;
    timeout(secs(5), session.close()).await.unwrap();
}

#[tokio::test]
async fn a_grandchild_that_has_left_with_stderr_does_not_hide_the_exit_status() {
    let session = leaving("setsid", "</dev/null >/dev/null").await;
    ends_soon_with_status(&session).await;
}

#[tokio::test]
async fn output_closed_by_a_live_process_ends_the_connection() {
    let session = open(sh("greet; read -r line; exec >&-; cat >/dev/null")).await;
    let pid = session.peer().pid().unwrap();
    let error = call(&session, "x").await.unwrap_err();
    let reason = error.close_reason().unwrap();
    assert_eq!(
        (&reason.cause, reason.exit),
        (&CloseCause::OutputClosed, None)
    );
    until("it was ended", || !is_alive(pid)).await;
}

#[tokio::test]
async fn input_closed_by_a_live_process_ends_the_connection() {
    let session = open(sh(
        "greet; exec <&-; echo closed >&2; while :; do sleep 1000; done",
    ))
    .await;
    until("it has closed", || session.peer().stderr() == ["closed"]).await;
    let begun = Instant::now();
    let error = call(&session, "x").await.unwrap_err();
    assert!(begun.elapsed() < secs(5), "{:?}", begun.elapsed());
    let reason = error.close_reason().unwrap();
    assert!(
        matches!(reason.cause, CloseCause::WriteFailed(_)),
        "{reason:?}"
    );
    timeout(secs(5), session.close()).await.unwrap();
}

#[tokio::test]
async fn the_last_clone_that_is_dropped_ends_the_process() {
    let session = open(sh("greet; cat >/dev/null")).await;
    let pid = session.peer().pid().unwrap();
    let clone = session.clone();
    drop(session);
    assert!(is_alive(pid));
    drop(clone);
    until("it is gone", || !is_alive(pid)).await;
}

#[tokio::test]
async fn a_server_that_ends_with_its_input_is_not_signalled() {
    let folder = tempfile::tempdir().unwrap();
    let (_, path) = file(&folder, "ended");
    let session = open(sh(&format!(
        "trap 'echo term > {path}; exit 9' TERM; greet; cat >/dev/null; echo eof > {path}"
    )))
    .await;
    let peer = session.peer().clone();
    session.close().await;
    assert_eq!(peer.exit(), Some(Exit::Code(0)));
    assert_eq!(std::fs::read_to_string(path).unwrap(), "eof\n");
}

#[tokio::test]
async fn a_server_that_ignores_the_end_of_its_input_is_told_to_terminate() {
    let session = open(sh("greet; while :; do sleep 1000; done")).await;
    let peer = session.peer().clone();
    let begun = Instant::now();
    session.close().await;
    assert_eq!(peer.exit(), Some(Exit::Signal(15)));
    assert!(begun.elapsed() >= Duration::from_millis(300));
    assert!(begun.elapsed() < secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_server_that_ignores_that_too_is_killed_with_its_children() {
    let folder = tempfile::tempdir().unwrap();
    let (pids, path) = file(&folder, "pids");
    let session = open(sh(&format!(
        "trap '' TERM; greet; sleep 1000 & echo $! > {path}; while :; do sleep 1000; done"
    )))
    .await;
    until("the child runs", || pids_in(&pids).len() == 1).await;
    let peer = session.peer().clone();
    let (one, two) = tokio::join!(session.close(), session.close());
    assert_eq!(one.cause, CloseCause::ByUs);
    assert_eq!(one, two);
    assert_eq!(peer.exit(), Some(Exit::Signal(9)));
    let child = pids_in(&pids)[0];
    until("the child is gone", || !is_alive(child)).await;
}

#[tokio::test]
async fn a_server_that_never_stops_talking_can_be_closed() {
    let session = open(sh(
        "trap '' TERM; greet; while :; do echo '{\"method\":\"notifications/x\"}' || :; done",
    ))
    .await;
    timeout(secs(10), session.close()).await.unwrap();
}

#[tokio::test]
async fn a_server_that_neither_reads_nor_ends_can_be_closed() {
    let session = open(sh("trap '' TERM; greet; while :; do sleep 1000; done")).await;
    let big = support::raw(&serde_json::json!({"x": "y".repeat(1_000_000)}));
    let options = switchboard::CallOptions::default();
    let stuck = session.call_tool("x", Some(big), options);
    timeout(Duration::from_millis(200), stuck)
        .await
        .unwrap_err();
    timeout(secs(10), session.close()).await.unwrap();
}

#[tokio::test]
async fn the_first_and_last_lines_of_stderr_can_be_read_while_it_runs() {
    let session = open(sh(
        "greet; i=1; while [ $i -le 50 ]; do echo \"line $i\" >&2; i=$((i+1)); done; cat >/dev/null",
    ))
    .await;
    let last = || session.peer().stderr().last().cloned();
    until("all is read", || last().as_deref() == Some("line 50")).await;
    let lines = |range: std::ops::RangeInclusive<u32>| range.map(|n| format!("line {n}"));
    let gap = "... 20 lines ...".to_owned();
    let wanted: Vec<String> = lines(1..=10).chain([gap]).chain(lines(31..=50)).collect();
    assert_eq!(session.peer().stderr(), wanted);
    session.close().await;
}

#[tokio::test]
async fn much_stderr_does_not_block_the_server() {
    let session = open(python(
        r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
             "serverInfo": {"name": "py", "version": "1"}}
    elif m.get("method") == "tools/call":
        for n in range(64):
            sys.stderr.write("x" * (1024 * 1024 - 1) + "\n")
        r = {"content": [{"type": "text", "text": "done"}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"#,
    ))
    .await;
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "done");
    let tail = session.peer().stderr();
    assert!(tail.iter().map(String::len).sum::<usize>() <= 31 * 2048);
    session.close().await;
}

#[tokio::test]
async fn an_endless_line_fails_the_calls_in_flight_and_the_server_can_be_closed() {
    let limits = limited(|limits| {
        limits.message_bytes = 100_000;
        limits.oversize_wait = Duration::from_millis(200);
        limits.end_after_close = Duration::from_millis(300);
        limits.end_after_term = Duration::from_millis(300);
    });
    let stdio = sh("greet; read -r line; exec tr '\\0' x </dev/zero").limits(limits.clone());
    let session = Session::connect(&stdio, legacy_options().limits(limits))
        .await
        .unwrap();
    let error = timeout(secs(10), call(&session, "x"))
        .await
        .unwrap()
        .unwrap_err();
    assert!(
        matches!(error, switchboard::CallError::TooLarge { .. }),
        "{error:?}"
    );
    timeout(secs(10), session.close()).await.unwrap();
}
