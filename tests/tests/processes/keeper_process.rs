//! What a host sees of a server through its keeper is what it sees without one.
//!
//! The keeper is the helper `keeper-host`, which the test is not.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use switchboard::session::Session;
use switchboard::transport::{Connect, ConnectError, Exit, StartError, Stdio};

use crate::support::process::{file, is_alive, pids_in, sh, until};
use crate::support::{call, legacy_options, limited, text_of};

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
        assert!(begun.elapsed() < Duration::from_secs(10), "{script}");
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
        ConnectError::Start(StartError::Spawn { source, .. }) => source,
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
    let reason = session.closed().await;
    assert_eq!(reason.exit, Some(Exit::Signal(9)));
    let cleanup = reason.cleanup.clone().unwrap();
    assert_eq!(cleanup.keeper_lost, Some(Exit::Signal(9)));
    assert!(cleanup.left.is_empty(), "{cleanup:?}");
    assert!(reason.to_string().contains("keeper was lost"), "{reason}");
}

/// This process adopts nobody: it ends who is still in the session of the server.
#[tokio::test]
async fn what_a_server_leaves_in_its_session_ends_with_a_killed_keeper() {
    let folder = tempfile::tempdir().unwrap();
    let (pids, path) = file(&folder, "pids");
    let session = open(&format!(
        "greet; sh -c 'trap \"\" TERM HUP; echo $$ > {path}; while :; do sleep 1000; done' </dev/null >/dev/null 2>&1 & \
         while ! [ -s {path} ]; do sleep 0.01; done; kill -KILL $PPID; sleep 1000"
    ))
    .await;
    let reason = session.closed().await;
    session.close().await;
    let [child] = pids_in(&pids)[..] else {
        panic!("{reason:?}");
    };
    assert!(!is_alive(child));
    let cleanup = session.peer().cleanup().unwrap();
    assert_eq!(cleanup.keeper_lost, Some(Exit::Signal(9)));
    assert!(cleanup.left.is_empty(), "{cleanup:?}");
    assert!(cleanup.ended >= 1, "{cleanup:?}");
}

#[tokio::test]
async fn a_server_that_killed_itself_has_not_lost_its_keeper() {
    let session = open("greet; kill -KILL $$").await;
    let reason = session.closed().await;
    assert_eq!(
        (reason.exit, &reason.cleanup),
        (Some(Exit::Signal(9)), &None)
    );
}

#[tokio::test]
async fn closing_wakes_a_keeper_that_was_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let (pids, path) = file(&folder, "pids");
    let session = open(&format!(
        "greet; setsid sh -c 'trap \"\" TERM; echo $$ > {path}; while :; do sleep 1000; done' & \
         while ! [ -s {path} ]; do sleep 0.01; done; kill -STOP $PPID; echo up >&2; while :; do sleep 1000; done"
    ))
    .await;
    until("it has stopped its keeper", || {
        !session.peer().stderr().is_empty()
    })
    .await;
    session.close().await;
    assert_eq!(session.peer().cleanup(), None);
    assert!(!is_alive(pids_in(&pids)[0]));
}

/// The loader of each program that has the variable complains about it, on the stderr that a keeper
/// shares with its server until that runs.
#[tokio::test]
async fn the_variables_of_a_server_do_nothing_to_its_keeper() {
    let script = "greet; echo end >&2; while read -r line; do :; done";
    let mut stderr = Vec::new();
    for stdio in [kept(script), sh(script)] {
        let stdio = stdio.env("LD_PRELOAD", "/no/such/library.so");
        let session = Session::connect(&stdio, legacy_options()).await.unwrap();
        until("it has written", || {
            session.peer().stderr().last().map(String::as_str) == Some("end")
        })
        .await;
        stderr.push(session.peer().stderr());
        session.close().await;
    }
    assert!(
        stderr[1].len() == 2 && stderr[1][0].contains("LD_PRELOAD"),
        "{stderr:?}"
    );
    assert_eq!(stderr[0], stderr[1]);
}

#[tokio::test]
async fn many_long_variables_reach_the_server() {
    // More than a pipe holds.
    let mut stdio = kept("greet; printf '%s' \"$LONG_9\" | wc -c >&2; cat >/dev/null");
    for number in 0..10 {
        stdio = stdio.env(format!("LONG_{number}"), "x".repeat(100_000));
    }
    let session = Session::connect(&stdio, legacy_options()).await.unwrap();
    until("it has written", || !session.peer().stderr().is_empty()).await;
    assert_eq!(session.peer().stderr()[0].trim(), "100000");
    session.close().await;
}

/// The control group of a process, in the hierarchy where a process is in one only.
fn cgroup(pid: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/cgroup")).unwrap();
    let path = text.lines().find_map(|line| line.strip_prefix("0::"));
    path.map(str::to_owned)
}

/// Where the hierarchy of control groups is mounted.
fn mounted() -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
    let mut mounts = mounts.lines().map(|line| line.split(' '));
    mounts.find_map(|mut fields| {
        let path = fields.nth(1)?;
        (fields.next()? == "cgroup2").then(|| path.to_owned())
    })
}

#[tokio::test]
async fn a_server_has_a_control_group_where_one_can_be_made() {
    let folder = mounted().zip(cgroup("self"));
    let folder = folder.map(|(mount, own)| Path::new(&mount).join(own.trim_start_matches('/')));
    let test = folder.map(|own| own.join(format!("switchboard-test-{}", std::process::id())));
    let is_possible = test.is_some_and(|test| {
        let is_made = std::fs::create_dir(&test).is_ok();
        let is_whole = is_made && test.join("cgroup.kill").exists();
        std::fs::remove_dir(&test).ok();
        is_whole
    });
    let session = open("greet; cat >/dev/null").await;
    let (own, theirs) = (
        cgroup("self"),
        cgroup(&session.peer().pid().unwrap().to_string()),
    );
    session.close().await;
    assert_eq!(own != theirs, is_possible, "{own:?} {theirs:?}");
    if let Some((mount, theirs)) = mounted().zip(theirs).filter(|_| is_possible) {
        let folder = Path::new(&mount).join(theirs.trim_start_matches('/'));
        assert!(!folder.exists(), "{folder:?}");
    }
}

/// How much of a file is mapped depends on the build, and on what the system maps around it; those
/// pages can be had back at any time. What is a keeper's own cannot.
#[tokio::test]
async fn a_keeper_keeps_little_of_its_own() {
    const MOST_KIB: u64 = 512;
    let session = open("greet; cat >/dev/null").await;
    let keeper = parent(session.peer().pid().unwrap());
    let own = || -> u64 {
        // Its maps are for nobody but the system's administrator to read.
        let status = std::fs::read_to_string(format!("/proc/{keeper}/status")).unwrap();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        let number = line.unwrap().trim().trim_end_matches(" kB");
        number.parse().unwrap()
    };
    // It gives back what it does not need after the server has started.
    until("it is small", || own() <= MOST_KIB).await;
    session.close().await;
}
