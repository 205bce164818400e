//! A thousand servers come and go, and nothing of them stays: no process, no thread, no file.
//!
//! In a process of its own, because it counts what the whole process has.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use switchboard::session::{CallOptions, Session, SessionOptions};
use switchboard::transport::{Environment, Stdio};

use crate::support::alone::is_alone;
use crate::support::marked::{mark, marked};
use crate::support::proc::{children, files, threads};
use crate::support::process::until;
use crate::support::{raw, text_of};

const CYCLES: usize = 1000;

/// How many servers come and go at the same time.
const AT_ONCE: usize = 4;

fn server(mark: &str, cycle: usize) -> Stdio {
    let stdio = Stdio::new(env!("CARGO_BIN_EXE_endure-server"))
        .env("SWITCHBOARD_TEST_MARK", mark)
        .environment(&Environment::of_process());
    match cycle % 2 {
        0 => stdio,
        _ => stdio.keeper(env!("CARGO_BIN_EXE_keeper-host")),
    }
}

/// Starts a server, uses it, and stops it in one of three ways.
async fn come_and_go(mark: &str, cycle: usize) {
    let session = Session::connect(&server(mark, cycle), SessionOptions::default())
        .await
        .unwrap();
    let arguments = raw(&json!({"message": "hello"}));
    let called = session.call_tool("echo", Some(arguments), CallOptions::default());
    assert_eq!(text_of(&called.await.unwrap()), "hello");
    let pid = session.peer().pid().unwrap();
    match cycle / 2 % 3 {
        0 => {}
        1 => {
            let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            kill_process(pid, Signal::KILL).unwrap();
        }
        // It goes by itself some time after this.
        _ => return drop(session),
    }
    session.close().await;
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

async fn all_come_and_go(mark: &str, cycles: usize) {
    let mut running = tokio::task::JoinSet::new();
    for cycle in 0..cycles {
        if running.len() == AT_ONCE {
            running.join_next().await.unwrap().unwrap();
        }
        let mark = mark.to_owned();
        running.spawn(async move { come_and_go(&mark, cycle).await });
    }
    while let Some(gone) = running.join_next().await {
        gone.unwrap();
    }
    until("all are fetched", || children().is_empty()).await;
}

#[test]
fn a_thousand_servers_leave_no_process_no_thread_and_no_file() {
    if !is_alone(&a_thousand_servers_leave_no_process_no_thread_and_no_file) {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mark = mark();
    // What the first use opens stays open.
    runtime.block_on(all_come_and_go(&mark, 2 * AT_ONCE));
    let before = (files(), threads());
    runtime.block_on(all_come_and_go(&mark, CYCLES));
    runtime.block_on(until("files and threads are as before", || {
        (files(), threads()) == before
    }));
    assert_eq!(marked(&mark), []);
}
