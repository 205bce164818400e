//! Kept servers come and go, and nothing of them stays: no process, no entry of one, no thread, no file.
//!
//! In a process of its own, because it counts what the whole process has.

use std::future::poll_fn;
use std::task::Poll;

use switchboard::session::Session;
use switchboard::transport::{Connect, Stdio};

use crate::support::alone::is_alone;
use crate::support::legacy_options;
use crate::support::proc::{children, files, threads};
use crate::support::process::{sh, until};

const KEEPER: &str = env!("CARGO_BIN_EXE_keeper-host");

fn kept(script: &str) -> Stdio {
    sh(script).keeper(KEEPER)
}

async fn come_and_go(times: usize) {
    for time in 0..times {
        let script = match time % 3 {
            0 => "greet; exit 3",
            1 => "greet; sleep 1000 & cat >/dev/null",
            _ => "greet; kill -KILL $$",
        };
        let session = Session::connect(&kept(script), legacy_options())
            .await
            .unwrap();
        session.close().await;
        assert!(
            children().is_empty(),
            "a closed session has fetched its keeper"
        );
    }
}

#[test]
fn many_kept_servers_leave_no_process_no_thread_and_no_file() {
    if !is_alone(&many_kept_servers_leave_no_process_no_thread_and_no_file) {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // What the first use opens stays open.
    runtime.block_on(come_and_go(3));
    let before = (files(), threads());
    runtime.block_on(come_and_go(50));
    for _ in 0..10 {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let stdio = kept("trap '' TERM; while :; do sleep 1000; done");
        let link = runtime.block_on(stdio.connect()).unwrap();
        // The link outlives the runtime that tends it.
        drop(runtime);
        drop(link);
    }
    for _ in 0..20 {
        // Given up while the keeper is being loaded, unless that is very quick.
        let stdio = kept("trap '' TERM; while :; do sleep 1000; done");
        let mut connecting = stdio.connect();
        let once = poll_fn(|context| Poll::Ready(connecting.as_mut().poll(context)));
        drop(runtime.block_on(once));
    }
    let no_program = kept("").keeper("/bin/true");
    assert!(runtime.block_on(no_program.connect()).is_err());
    runtime.block_on(until("all are fetched", || children().is_empty()));
    runtime.block_on(until("files and threads are as before", || {
        (files(), threads()) == before
    }));
}
