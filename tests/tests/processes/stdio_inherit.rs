//! What a server does not get from the host that starts it.

use std::os::fd::OwnedFd;

use rustix::io::{FdFlags, fcntl_setfd};
use serde_json::{Value, json};
use switchboard::session::Session;
use switchboard::transport::{Connect, ConnectError, StartError, Stdio};

use crate::support::process::python;
use crate::support::{call, legacy_options, text_of};

/// A server whose one tool tells how its process stands to the rest of the system.
const MIRROR: &str = r#"
import json, os, sys
def told():
    fds = [int(fd) for fd in os.listdir("/proc/self/fd")]
    # One more is open while the folder is listed.
    fds = sorted(fd for fd in fds if os.path.exists("/proc/self/fd/%d" % fd))
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        terminal = None
    stat = open("/proc/self/stat").read().rsplit(")", 1)[1].split()
    status = dict(line.split(":\t") for line in open("/proc/self/status").read().splitlines())
    return {"fds": fds, "terminal": terminal, "terminal number": int(stat[4]),
        "leads": [os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid()],
        "blocked": int(status["SigBlk"], 16), "argv0": open("/proc/self/cmdline").read().split("\0")[0]}
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
             "serverInfo": {"name": "py", "version": "1"}}
    elif m.get("method") == "tools/call":
        r = {"content": [{"type": "text", "text": json.dumps(told())}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"#;

async fn told(stdio: &Stdio) -> Value {
    let session = Session::connect(stdio, legacy_options()).await.unwrap();
    let result = call(&session, "x").await.unwrap();
    let told = serde_json::from_str(text_of(&result)).unwrap();
    session.close().await;
    told
}

/// Files that any program would inherit that the host starts without a thought.
fn inheritable(count: usize) -> Vec<OwnedFd> {
    let open = |_| OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
    let files: Vec<OwnedFd> = (0..count).map(open).collect();
    for file in &files {
        fcntl_setfd(file, FdFlags::empty()).unwrap();
    }
    files
}

#[tokio::test]
async fn two_hundred_files_of_the_host_do_not_reach_the_child() {
    let files = inheritable(200);
    // Without our care they would be there.
    let careless = std::process::Command::new("ls")
        .arg("/proc/self/fd")
        .output()
        .unwrap();
    let careless = String::from_utf8(careless.stdout).unwrap();
    assert!(careless.lines().count() > 200, "{careless}");
    assert_eq!(told(&python(MIRROR)).await["fds"], json!([0, 1, 2]));
    drop(files);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_opened_during_the_start_do_not_reach_the_child() {
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let opening = std::thread::spawn(move || {
        // Until the sender is gone.
        while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {
            drop(inheritable(20));
        }
    });
    for _ in 0..20 {
        assert_eq!(told(&python(MIRROR)).await["fds"], json!([0, 1, 2]));
    }
    drop(stop);
    opening.join().unwrap();
}

#[tokio::test]
async fn the_child_leads_a_session_that_has_no_terminal() {
    let told = told(&python(MIRROR)).await;
    assert_eq!(told["leads"], json!([true, true]));
    assert_eq!(told["terminal"], Value::Null);
    assert_eq!(told["terminal number"], 0);
    assert_eq!(told["blocked"], 0);
    // The path that was found, as a program that looks for its own folder expects.
    assert!(told["argv0"].as_str().unwrap().ends_with("/python3"));
}

#[tokio::test]
async fn a_nul_in_an_argument_is_a_clear_error() {
    let stdio = Stdio::new("/bin/sh").args(["-c", "exit 0\0; canary"]);
    let error = stdio.connect().await.err().unwrap();
    let ConnectError::Start(StartError::Spawn { path, source, .. }) = error else {
        panic!("{error:?}");
    };
    assert_eq!(path.to_str(), Some("/bin/sh"));
    assert_eq!(source.kind(), std::io::ErrorKind::InvalidInput);
    let text = source.to_string().to_lowercase();
    assert!(text.contains("nul byte"), "{text}");
    assert!(!text.contains("canary"), "{text}");
}
