//! What a host sees of a server through its keeper is what it sees without one.
//!
//! The keeper is the helper `keeper-host`, which the test is not.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failure here is a failed test"
)]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use support::process::{file, is_alive, pids_in, sh, until};
use support::{call, legacy_options, limited, text_of};
use switchboard::session::Session;
use switchboard::transport::{Connect, ConnectError, Exit, Stdio};

const KEEPER: &str = env!("CARGO_BIN_EXE_keeper-host");

fn kept(script: &str) -> Stdio {
    sh(script).keeper(KEEPER).limits(limited(|limits| {
        limits.end_after_close = Duration::from_millis(300);
        limits.end_after_term = Duration::from_millis(300);
    }))
}

async fn open(script: &str) -> Session {
    Session::connect(&kept(script), legacy_options())
        .await
        .unwrap()
}

fn parent(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let after_name = stat.rsplit(')').next().unwrap();
    let parent = after_name.split_whitespace().nth(1).unwrap();
    parent.parse().unwrap()
}

#[tokio::test]
async fn calls_work_and_the_server_is_the_process_that_is_named() {
    let session = open(
        "greet; read -r line; reply \"$(id_of \"$line\")\" \"$done\"; echo $$ >&2; cat >/dev/null",
    )
    .await;
    assert_eq!(text_of(&call(&session, "x").await.unwrap()), "done");
    until("it has written", || !session.peer().stderr().is_empty()).await;
    let pid = session.peer().pid().unwrap();
    assert_eq!(session.peer().stderr(), [pid.to_string()]);
    let keeper = parent(pid);
    assert_eq!(parent(keeper), std::process::id());
    session.close().await;
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    assert!(!Path::new(&format!("/proc/{keeper}")).exists());
}

#[tokio::test]
async fn the_exit_code_the_signal_and_the_last_words_arrive() {
    for (script, exit) in [
        ("echo bye >&2; exit 7", Exit::Code(7)),
        ("echo bye >&2; exit 0", Exit::Code(0)),
        ("echo bye >&2; kill -SEGV $$", Exit::Signal(11)),
        ("echo bye >&2; kill -TERM $$", Exit::Signal(15)),
        ("echo bye >&2; kill -KILL $$", Exit::Signal(9)),
    ] {
        let session = open(&format!("greet; read -r line; {script}")).await;
        let error = call(&session, "x").await.unwrap_err();
        let reason = error.close_reason().unwrap();
        assert_eq!(reason.exit, Some(exit), "{script}");
        assert_eq!(reason.stderr, ["bye"]);
    }
}

#[tokio::test]
async fn a_server_ends_by_its_input_by_a_request_or_by_force() {
    for (script, exit) in [
        ("cat >/dev/null; exit 5", Exit::Code(5)),
        ("while :; do sleep 1000; done", Exit::Signal(15)),
        (
            "trap '' TERM; while :; do sleep 1000; done",
            Exit::Signal(9),
        ),
    ] {
        let session = open(&format!("greet; {script}")).await;
        let peer = session.peer().clone();
        let begun = Instant::now();
        session.close().await;
        assert_eq!(peer.exit(), Some(exit), "{script}");
        assert!(begun.elapsed() < Duration::from_secs(2));
    }
}

#[tokio::test]
async fn a_child_that_has_left_is_ended_with_the_server() {
    let folder = tempfile::tempdir().unwrap();
    let (pids, path) = file(&folder, "pids");
    let session = open(&format!(
        "greet; setsid sh -c 'trap \"\" TERM; echo $$ > {path}; while :; do sleep 1000; done' & cat >/dev/null"
    ))
    .await;
    until("the child runs", || pids_in(&pids).len() == 1).await;
    session.close().await;
    assert!(!is_alive(pids_in(&pids)[0]));
}

#[tokio::test]
async fn a_server_gets_its_folder_and_variables_and_nothing_of_its_keeper() {
    let folder = tempfile::tempdir().unwrap();
    let script = "greet; pwd >&2; env | grep KEEPER >&2; echo \"$KEY\" >&2; ls /proc/$$/fd | tr '\\n' ' ' >&2; \
                  grep -E 'Sig(Blk|Ign)' /proc/self/status >&2; echo >&2; echo end >&2; cat >/dev/null";
    let mut stderr = Vec::new();
    for stdio in [kept(script), sh(script)] {
        let stdio = stdio.env("KEY", "a value").cwd(folder.path());
        let session = Session::connect(&stdio, legacy_options()).await.unwrap();
        until("it has written", || {
            session.peer().stderr().last().map(String::as_str) == Some("end")
        })
        .await;
        stderr.push(session.peer().stderr());
        session.close().await;
    }
    assert_eq!(stderr[0], stderr[1]);
    assert_eq!(stderr[0][1], "a value");
}

async fn failure(stdio: Stdio) -> std::io::Error {
    match stdio.connect().await.unwrap_err() {
        ConnectError::Spawn { source, .. } => source,
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_program_that_cannot_be_loaded_fails_as_without_a_keeper() {
    let folder = tempfile::tempdir().unwrap();
    let (script, path) = file(&folder, "script");
    for text in ["no program\n", "#!/no/such/interpreter\n"] {
        std::fs::write(&script, text).unwrap();
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
        let with = failure(Stdio::new(&path).keeper(KEEPER)).await;
        let without = failure(Stdio::new(&path)).await;
        assert!(without.raw_os_error().is_some());
        assert_eq!(with.raw_os_error(), without.raw_os_error());
    }
}

#[tokio::test]
async fn a_program_that_is_no_keeper_is_named() {
    let error = failure(Stdio::new("/bin/cat").keeper("/bin/true")).await;
    assert!(
        error.to_string().contains("/bin/true is no keeper"),
        "{error}"
    );
    let error = failure(Stdio::new("/bin/cat").keeper("/no/such/keeper")).await;
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(error.to_string().contains("/no/such/keeper"), "{error}");
}

#[tokio::test]
async fn a_killed_keeper_takes_its_server_along() {
    let session = open("trap '' TERM; greet; exec sleep 1000").await;
    let pid = session.peer().pid().unwrap();
    let keeper = i32::try_from(parent(pid)).unwrap();
    let keeper = rustix::process::Pid::from_raw(keeper).unwrap();
    rustix::process::kill_process(keeper, rustix::process::Signal::KILL).unwrap();
    until("the server is gone", || !is_alive(pid)).await;
    assert_eq!(session.closed().await.exit, Some(Exit::Signal(9)));
}

/// How much of a file is mapped depends on the build, and on what the system maps around it; those
/// pages can be had back at any time. What is a keeper's own cannot.
#[tokio::test]
async fn a_keeper_keeps_little_of_its_own() {
    const MOST_KIB: u64 = 512;
    let session = open("greet; cat >/dev/null").await;
    let keeper = parent(session.peer().pid().unwrap());
    let own = || -> u64 {
        let rollup = std::fs::read_to_string(format!("/proc/{keeper}/smaps_rollup")).unwrap();
        let line = rollup
            .lines()
            .find_map(|line| line.strip_prefix("Pss_Anon:"));
        let number = line.unwrap().trim().trim_end_matches(" kB");
        number.parse().unwrap()
    };
    // It gives back what it does not need after the server has started.
    until("it is small", || own() <= MOST_KIB).await;
    session.close().await;
}
