//! What a server gets when it is started as a process, and starting it again.

use std::time::Duration;

use serde_json::Value;
use switchboard::protocol::Era;
use switchboard::session::{CallError, CloseCause, Session, SessionOptions};
use switchboard::transport::{Connect, Environment, Exit, Stdio};
use switchboard::{Deadline, Limits, OpenError, Timeouts};

use crate::support::process::{file, is_alive, pids_in, python, sh, until};
use crate::support::{self, call, legacy_options, secs, text_of};

/// A server whose one tool tells what the process was given.
const MIRROR: &str = r#"
import json, os, sys
def told():
    fds = sorted(int(fd) for fd in os.listdir("/proc/self/fd"))
    # One more is open while the folder is listed.
    fds = [fd for fd in fds if os.path.exists("/proc/self/fd/%d" % fd)]
    return json.dumps({"env": dict(os.environ), "fds": fds, "cwd": os.getcwd(),
        "pid": os.getpid(), "pgid": os.getpgid(0), "sid": os.getsid(0), "args": sys.argv[1:]})
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
             "serverInfo": {"name": "py", "version": "1"}}
    elif m.get("method") == "tools/call":
        r = {"content": [{"type": "text", "text": told()}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"#;

async fn told(stdio: &Stdio) -> Value {
    let session = Session::connect(stdio, legacy_options()).await.unwrap();
    let result = call(&session, "x").await.unwrap();
    let told: Value = serde_json::from_str(text_of(&result)).unwrap();
    assert_eq!(told["pid"], session.peer().pid().unwrap());
    session.close().await;
    told
}

fn host() -> Environment {
    let path = std::env::var("PATH").unwrap();
    let canaries = (0..50).map(|n| (format!("CANARY_{n}"), "secret".to_owned()));
    canaries
        .chain([
            ("PATH".to_owned(), path),
            ("HOME".to_owned(), "/nowhere".to_owned()),
            ("LANG".to_owned(), "C.UTF-8".to_owned()),
            ("WANTED".to_owned(), "let through".to_owned()),
            ("GITHUB_TOKEN".to_owned(), "not for you".to_owned()),
        ])
        .collect()
}

#[tokio::test]
async fn the_child_gets_the_safe_variables_and_those_that_were_named() {
    // Not a message, but every line of it is told.
    let stdio = Stdio::new("/usr/bin/env")
        .environment(&host())
        .env("API_KEY", "k=1 \u{e9}")
        .env("HOME", "/elsewhere")
        .env_passthrough(["WANTED", "ABSENT"]);
    let error = Session::connect(&stdio, legacy_options())
        .await
        .unwrap_err();
    let OpenError::Handshake { seen, .. } = error else {
        panic!("{error:?}");
    };
    let mut lines = seen.noise;
    lines.sort();
    let path = format!("PATH={}", std::env::var("PATH").unwrap());
    let wanted = [
        "API_KEY=k=1 \u{e9}",
        "HOME=/elsewhere",
        "LANG=C.UTF-8",
        &path,
        "WANTED=let through",
    ];
    assert_eq!(lines, wanted);
}

#[tokio::test]
async fn the_child_has_three_files_and_a_session_of_its_own() {
    // Files of the host that any program it starts would inherit.
    let folder = tempfile::tempdir().unwrap();
    let leaks: Vec<_> = (0..20)
        .map(|n| std::fs::File::create(folder.path().join(n.to_string())).unwrap())
        .collect();
    for leak in &leaks {
        rustix::io::fcntl_setfd(leak, rustix::io::FdFlags::empty()).unwrap();
    }
    let stdio = Stdio::new("/bin/sh")
        .args([
            "-c",
            "exec 7</dev/null 8</dev/null; exec \"$@\"",
            "sh",
            "python3",
            "-c",
            MIRROR,
        ])
        .environment(&Environment::of_process());
    // Through a shell that leaks two, to see that the look would notice them.
    assert_eq!(
        told(&stdio).await["fds"],
        serde_json::json!([0, 1, 2, 7, 8])
    );
    let told = told(&python(MIRROR)).await;
    assert_eq!(told["fds"], serde_json::json!([0, 1, 2]));
    assert_eq!(told["pgid"], told["pid"]);
    assert_eq!(told["sid"], told["pid"]);
    drop(leaks);
}

#[tokio::test]
async fn a_relative_command_is_found_in_a_relative_folder() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let script = folder.path().join("server");
    let text = format!(
        "#!/bin/sh\n{}\ngreet; read -r line; cat",
        support::process::HANDSHAKE
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let here = std::env::current_dir().unwrap();
    let shared = here
        .ancestors()
        .find(|above| folder.path().starts_with(above))
        .unwrap();
    let up = here
        .strip_prefix(shared)
        .unwrap()
        .components()
        .map(|_| "..");
    let up: std::path::PathBuf = up.collect();
    let relative = up.join(folder.path().strip_prefix(shared).unwrap());
    let stdio = Stdio::new("./server").cwd(relative);
    Session::connect(&stdio, legacy_options())
        .await
        .unwrap()
        .close()
        .await;
}

#[tokio::test]
async fn a_server_that_ends_on_the_probe_is_started_again_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let (starts, path) = file(&folder, "starts");
    let stdio = sh(&format!(
        r#"echo $$ >> {path}
read -r line
case "$line" in *server/discover*) echo "unexpected request" >&2; exit 1;; esac
reply "$(id_of "$line")" "$hello"
read -r line; read -r line; reply "$(id_of "$line")" "$done"; cat >/dev/null"#
    ));
    let session = Session::connect(&stdio, SessionOptions::default())
        .await
        .unwrap();
    assert_eq!(session.negotiated().era(), Era::Legacy);
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "done");
    session.close().await;
    assert_eq!(pids_in(&starts).len(), 2);
}

#[tokio::test]
async fn a_server_that_ends_both_times_is_reported_with_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (starts, path) = file(&folder, "starts");
    let stdio = sh(&format!(
        "echo $$ >> {path}; n=$(wc -l < {path}); echo \"no key, try $n\" >&2; read -r line; exit $((40 + n))"
    ));
    let error = Session::connect(&stdio, SessionOptions::default())
        .await
        .unwrap_err();
    let OpenError::Handshake {
        stage,
        error,
        earlier,
        seen,
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!(stage, "initialize");
    let CallError::Closed { reason, .. } = *error else {
        panic!("{error:?}");
    };
    assert_eq!(
        (&reason.cause, reason.exit),
        (&CloseCause::ProcessEnded, Some(Exit::Code(42)))
    );
    assert_eq!(reason.stderr, ["no key, try 2"]);
    assert_eq!(seen.stderr, ["no key, try 2"]);
    let earlier = earlier.unwrap();
    assert_eq!(earlier.exit, Some(Exit::Code(41)));
    assert_eq!(earlier.stderr, ["no key, try 1"]);
    assert_eq!(pids_in(&starts).len(), 2);
}

#[tokio::test]
async fn a_connect_that_is_dropped_midway_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let (pids, path) = file(&folder, "pids");
    let stdio = sh(&format!(
        "sleep 1000 & echo $! >> {path}; echo $$ >> {path}; cat >/dev/null"
    ));
    let connecting = Session::connect(&stdio, SessionOptions::default());
    tokio::select! {
        _ = connecting => panic!("nobody answers"),
        () = until("both run", || pids_in(&pids).len() == 2) => {}
    }
    let pids = pids_in(&pids);
    until("both are gone", || !pids.iter().any(|pid| is_alive(*pid))).await;
}

#[tokio::test]
async fn a_link_that_nobody_uses_leaves_no_process() {
    let link = sh("cat >/dev/null").connect().await.unwrap();
    let pid = link.peer().pid().unwrap();
    assert!(is_alive(pid));
    drop(link);
    until("it is gone", || !is_alive(pid)).await;
}

#[tokio::test]
async fn a_runtime_that_ends_takes_its_servers_along() {
    let pid = std::thread::spawn(|| {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let session = runtime.block_on(async {
            let stdio = sh("greet; trap '' TERM; while :; do sleep 1000; done");
            Session::connect(&stdio, legacy_options()).await.unwrap()
        });
        let pid = session.peer().pid().unwrap();
        runtime.shutdown_timeout(secs(5));
        drop(session);
        pid
    })
    .join()
    .unwrap();
    until("it is gone", || !is_alive(pid)).await;
}

#[tokio::test]
async fn what_cannot_be_started_is_said_before_anything_is_asked() {
    let open = |stdio: Stdio| async move {
        let error = Session::connect(&stdio, SessionOptions::default()).await;
        match error.unwrap_err() {
            OpenError::Connect(error) => error.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let missing = Stdio::new("no-such-command").environment(&host());
    assert_eq!(open(missing).await, "command \"no-such-command\" not found");
    let folder = sh("cat").cwd("/no/such/folder").limits(Limits::default());
    assert_eq!(
        open(folder).await,
        "working folder /no/such/folder does not exist"
    );
}

/// Options that give the probe so long, and the whole start so long that no test waits for it.
fn probing(after_first_byte: Duration, in_all: Duration) -> SessionOptions {
    let mut limits = Limits::default();
    limits.probe = after_first_byte;
    limits.probe_total = in_all;
    let ample = Timeouts::all(Deadline::within(secs(2400)));
    SessionOptions::default().limits(limits).timeouts(ample)
}

/// A legacy server that says nothing to the probe, after it has said what `first` says.
fn mute(first: &str) -> Stdio {
    sh(&format!(
        r#"{first}
while read -r line; do
  case "$line" in
    *'"initialize"'*) reply "$(id_of "$line")" "$hello" ;;
    *tools/call*) reply "$(id_of "$line")" "$done" ;;
  esac
done"#
    ))
}

#[tokio::test]
async fn the_first_byte_on_either_stream_starts_the_clock_of_the_probe() {
    let brief = Duration::from_millis(50);
    for first in ["echo up >&2", "printf x >&2", "echo up"] {
        // Without the byte it would be asked for the handshake in twenty minutes.
        let options = probing(brief, secs(1200));
        let session = Session::connect(&mute(first), options).await.unwrap();
        assert_eq!(session.negotiated().era(), Era::Legacy, "{first}");
        assert_eq!(text_of(&call(&session, "x").await.unwrap()), "done");
        session.close().await;
    }
}

#[tokio::test]
async fn a_process_that_writes_nothing_is_asked_for_the_handshake_in_the_end() {
    let brief = Duration::from_millis(50);
    let session = Session::connect(&mute(":"), probing(brief, 2 * brief)).await;
    let session = session.unwrap();
    assert_eq!(session.negotiated().era(), Era::Legacy);
    session.close().await;
}

#[tokio::test]
async fn a_server_is_started_again_only_where_it_does_not_say_why_it_ended() {
    for (last_words, starts) in [
        ("echo 'API_KEY is not set' >&2; exit 1", 1),
        ("echo \"Cannot find module 'x'\" >&2; exit 1", 1),
        ("no-such-command", 1),
        ("exit 1", 2),
        ("echo boom >&2; exit 1", 2),
        (
            "echo 'expect initialize request, but received server/discover' >&2; exit 1",
            2,
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (path, text) = file(&folder, "starts");
        let server = sh(&format!("echo 1 >> '{text}'; read -r line; {last_words}"));
        let error = Session::connect(&server, SessionOptions::default()).await;
        let OpenError::Handshake { earlier, .. } = error.unwrap_err() else {
            panic!("{last_words}: not a failed handshake");
        };
        assert_eq!(pids_in(&path).len(), starts, "{last_words}");
        assert_eq!(earlier.is_some(), starts == 2, "{last_words}");
    }
}

#[tokio::test]
async fn certificate_and_proxy_variables_reach_a_server_without_being_named() {
    let mut variables = vec![("PATH".to_owned(), std::env::var("PATH").unwrap())];
    variables.extend([
        ("SSL_CERT_FILE".to_owned(), "/ca.pem".to_owned()),
        ("no_proxy".to_owned(), "localhost".to_owned()),
        ("http_proxy".to_owned(), "http://proxy:3128".to_owned()),
        (
            "HTTPS_PROXY".to_owned(),
            "http://me:s3cret@proxy:3128".to_owned(),
        ),
    ]);
    let host: Environment = variables.into_iter().collect();
    let told = told(&python(MIRROR).environment(&host)).await;
    assert_eq!(told["env"]["SSL_CERT_FILE"], "/ca.pem");
    assert_eq!(told["env"]["no_proxy"], "localhost");
    assert_eq!(told["env"]["http_proxy"], "http://proxy:3128");
    assert_eq!(told["env"]["HTTPS_PROXY"], Value::Null);
    let stdio = python("import sys; sys.exit('ENOTFOUND registry.npmjs.org')").environment(&host);
    let error = Session::connect(&stdio, legacy_options())
        .await
        .unwrap_err();
    let OpenError::Handshake { error, .. } = error else {
        panic!("{error:?}");
    };
    let network = &error.close_reason().unwrap().network;
    assert_eq!(network.set, ["SSL_CERT_FILE", "http_proxy", "no_proxy"]);
    assert_eq!(network.withheld, ["HTTPS_PROXY"]);
}
