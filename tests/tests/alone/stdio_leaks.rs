//! Servers come and go, and nothing of them stays: no process, no entry of one, no thread, no file.
//!
//! In a process of its own, because it counts what the whole process has.

use std::path::Path;

use switchboard::session::{Session, SessionOptions};
use switchboard::transport::Connect;

use crate::support::alone::is_alone;
use crate::support::legacy_options;
use crate::support::proc::{children, files, threads};
use crate::support::process::{sh, until};

/// Whether the system still knows a process, be it as a dead one.
fn is_known(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

async fn come_and_go(times: usize) {
    for time in 0..times {
        // By themselves, when their input ends, and when they are killed.
        let script = match time % 3 {
            0 => "greet; exit 3",
            1 => "greet; cat >/dev/null",
            _ => "greet; kill -KILL $$",
        };
        let session = Session::connect(&sh(script), legacy_options())
            .await
            .unwrap();
        let pid = session.peer().pid().unwrap();
        session.close().await;
        assert!(!is_known(pid), "a closed session has fetched its process");
    }
}

async fn are_dropped_midway(times: usize) {
    for _ in 0..times {
        let stdio = sh("cat >/dev/null");
        let connecting = Session::connect(&stdio, SessionOptions::default());
        tokio::select! {
            _ = connecting => panic!("nobody answers"),
            () = until("it runs", || !children().is_empty()) => {}
        }
        until("it is fetched", || children().is_empty()).await;
    }
}

fn end_with_their_runtime(times: usize) -> Vec<u32> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let links: Vec<_> = (0..times)
        .map(|_| {
            let stdio = sh("trap '' TERM; while :; do sleep 1000; done");
            runtime.block_on(stdio.connect()).unwrap()
        })
        .collect();
    drop(runtime);
    links
        .iter()
        .map(|link| link.peer().pid().unwrap())
        .collect()
}

#[test]
fn many_servers_leave_no_process_no_thread_and_no_file() {
    if !is_alone(&many_servers_leave_no_process_no_thread_and_no_file) {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // What the first use opens stays open.
    runtime.block_on(come_and_go(3));
    let before = (files(), threads());
    runtime.block_on(come_and_go(100));
    runtime.block_on(are_dropped_midway(10));
    let pids = end_with_their_runtime(10);
    assert_eq!(pids.len(), 10);
    runtime.block_on(until("all are fetched", || {
        !pids.iter().any(|pid| is_known(*pid))
    }));
    assert_eq!(children(), Vec::<u32>::new());
    runtime.block_on(until("files and threads are as before", || {
        (files(), threads()) == before
    }));
}
