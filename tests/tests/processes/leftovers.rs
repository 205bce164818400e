//! What an earlier run has left running is found, and nothing else is taken for it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio as Io};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use switchboard::leftovers::{Ledger, list};
use switchboard::spec::ServerName;
use switchboard::transport::{Connect, Stdio};
use tempfile::TempDir;

use crate::support;
use crate::support::process::{is_alive, sh, until};

/// A host that has started its server and was killed since.
struct Killed {
    folder: TempDir,
    host: u32,
    server: u32,
}

/// A host with its server, which does not mind that its stdin ends.
fn host(folder: &Path, script: &str) -> (Child, u32) {
    let mut host = Command::new(env!("CARGO_BIN_EXE_ledger-host"))
        .arg(folder)
        .args(["/bin/sh", "-c", script, "canary-of-an-argument"])
        .stdin(Io::null())
        .stdout(Io::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(host.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    (host, line.trim().parse().unwrap())
}

impl Killed {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (mut host, server) = host(folder.path(), script);
        host.kill().unwrap();
        host.wait().unwrap();
        Self {
            folder,
            host: host.id(),
            server,
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        files(self.folder.path())
    }

    /// What was written down of the server.
    fn record(&self) -> Value {
        let text = fs::read_to_string(&self.files()[0]).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// What was written down, changed.
    fn changed(&self, changes: &Value) -> String {
        let mut record = self.record();
        for (name, value) in changes.as_object().unwrap() {
            record[name] = value.clone();
        }
        record.to_string()
    }
}

/// Nothing of it may outlive a test that fails.
impl Drop for Killed {
    fn drop(&mut self) {
        for left in list(self.folder.path()).unwrap_or_default() {
            left.end(Duration::ZERO).ok();
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn a_server_whose_host_was_killed_is_listed_and_can_be_ended() {
    let before = SystemTime::now();
    let killed = Killed::new("exec sleep 600");
    assert!(is_alive(killed.server));
    let left = list(killed.folder.path()).unwrap();
    let [left] = &left[..] else {
        panic!("{left:?}");
    };
    let facts = (
        left.server().as_str(),
        left.command(),
        left.pid(),
        left.host(),
    );
    assert_eq!(facts, ("stubborn", "/bin/sh", killed.server, killed.host));
    // The system counts from its start, in whole seconds.
    let slack = Duration::from_secs(5);
    assert!(left.started() > before - slack && left.started() < SystemTime::now() + slack);
    // Listing changes nothing.
    assert_eq!(list(killed.folder.path()).unwrap().len(), 1);
    assert!(is_alive(killed.server));

    assert!(left.end(Duration::from_secs(10)).unwrap());
    assert!(!is_alive(killed.server));
    assert_eq!(killed.files(), Vec::<PathBuf>::new());
    assert_eq!(list(killed.folder.path()).unwrap().len(), 0);
    // Once more is no error.
    assert!(left.end(Duration::ZERO).unwrap());
}

#[tokio::test]
async fn the_end_takes_along_who_ignores_it_and_who_has_left() {
    let folder = tempfile::tempdir().unwrap();
    let (path, text) = support::process::file(&folder, "pids");
    let killed = Killed::new(&format!(
        "trap '' TERM; echo $$ >{text}.new; sleep 600 & echo $! >>{text}.new; \
         setsid sh -c 'echo $$ >>{text}.new; mv {text}.new {text}; exec sleep 600' & \
         while :; do wait; done"
    ));
    until("all run", || path.exists()).await;
    let pids = support::process::pids_in(&path);
    assert_eq!(pids.len(), 3);
    let left = list(killed.folder.path()).unwrap();
    assert!(left[0].end(Duration::from_millis(100)).unwrap());
    for pid in pids {
        assert!(!is_alive(pid), "{pid}");
    }
}

#[test]
fn neither_arguments_nor_variables_are_written() {
    let killed = Killed::new("exec sleep 600");
    let text = fs::read_to_string(&killed.files()[0]).unwrap();
    assert!(
        text.contains("stubborn") && !text.contains("canary"),
        "{text}"
    );
    assert!(!text.contains("sleep"), "{text}");
}

#[test]
fn a_server_whose_host_runs_is_none_of_ours() {
    let folder = tempfile::tempdir().unwrap();
    let (mut host, server) = host(folder.path(), "exec sleep 600");
    assert_eq!(list(folder.path()).unwrap().len(), 0);
    assert_eq!(files(folder.path()).len(), 1);
    host.kill().unwrap();
    host.wait().unwrap();
    let left = list(folder.path()).unwrap();
    assert_eq!(left[0].pid(), server);
    assert!(left[0].end(Duration::from_secs(10)).unwrap());
}

#[test]
fn a_process_that_got_the_same_number_is_not_named() {
    let killed = Killed::new("exec sleep 600");
    let started = killed.record()["started"].as_str().unwrap().to_owned();
    let (boot, ticks) = started.split_once('/').unwrap();
    let ticks: u64 = ticks.parse().unwrap();
    let others = [
        format!("{boot}/{}", ticks - 1),
        format!("{boot}/{}", ticks + 1),
        // The same number of ticks after another start of the system.
        format!("x{boot}/{ticks}"),
        String::new(),
    ];
    for started in others {
        let file = killed.folder.path().join("reused.server");
        fs::write(&file, killed.changed(&json!({"started": started}))).unwrap();
        let left = list(killed.folder.path()).unwrap();
        assert_eq!(left.len(), 1, "{started}");
        assert!(!file.exists(), "{started}");
    }
    assert!(is_alive(killed.server));
}

#[test]
fn a_host_whose_number_is_another_process_is_gone() {
    let killed = Killed::new("exec sleep 600");
    // That process runs, but it is not the one that started the server. This one may have begun in
    // the same tick of the system's clock as the host has.
    let other = std::os::unix::process::parent_id();
    let text = killed.changed(&json!({"host_pid": other}));
    fs::write(&killed.files()[0], text).unwrap();
    assert_eq!(list(killed.folder.path()).unwrap().len(), 1);
}

#[test]
fn files_that_mean_nobody_are_removed() {
    let killed = Killed::new("exec sleep 600");
    for pid in [0, 1 << 22, u32::MAX] {
        let file = killed.folder.path().join("gone.server");
        fs::write(&file, killed.changed(&json!({"pid": pid}))).unwrap();
        assert_eq!(list(killed.folder.path()).unwrap().len(), 1, "{pid}");
        assert!(!file.exists(), "{pid}");
    }
}

#[test]
fn what_is_no_file_of_ours_is_left_alone() {
    let killed = Killed::new("exec sleep 600");
    let folder = killed.folder.path();
    let own = fs::read_to_string(&killed.files()[0]).unwrap();
    let mut extra = killed.record();
    extra["extra"] = json!(1);
    let files = [
        ("empty.server", String::new()),
        ("garbage.server", "\0\u{1b}[31m{{{{".to_owned()),
        ("half.server", own[..own.len() / 2].to_owned()),
        ("deep.server", "[".repeat(10_000)),
        ("huge.server", format!("{own}{}", " ".repeat(1 << 20))),
        ("other-ending.txt", own.clone()),
        ("1-2-3.unfinished", own.clone()),
        ("extra.server", extra.to_string()),
        ("format.server", killed.changed(&json!({"format": 2}))),
        ("name.server", killed.changed(&json!({"server": "a/b"}))),
        ("negative.server", killed.changed(&json!({"pid": -1}))),
        ("large.server", killed.changed(&json!({"pid": 1_u64 << 40}))),
        // Of another machine or container, where the same number is another process.
        (
            "place.server",
            killed.changed(&json!({"place": "elsewhere", "pid": 1})),
        ),
    ];
    for (name, text) in &files {
        fs::write(folder.join(name), text).unwrap();
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let target = elsewhere.path().join("target.server");
    fs::write(&target, &own).unwrap();
    let gone = elsewhere.path().join("gone.server");
    fs::write(&gone, killed.changed(&json!({"pid": 0}))).unwrap();
    std::os::unix::fs::symlink(&target, folder.join("link.server")).unwrap();
    std::os::unix::fs::symlink(&gone, folder.join("link-to-gone.server")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.join("zero.server")).unwrap();
    fs::create_dir(folder.join("folder.server")).unwrap();
    let pipe = folder.join("pipe.server");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );

    let before = killed.files().len();
    assert_eq!(before, files.len() + 6);
    let left = list(folder).unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0].pid(), killed.server);
    assert_eq!(killed.files().len(), before);
    assert!(target.exists() && gone.exists());
}

#[test]
fn a_folder_that_is_not_there_is_empty_and_a_file_is_none() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(list(&folder.path().join("absent")).unwrap().len(), 0);
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(list(&file).is_err());
    assert!(Ledger::open(&file).is_err());
}

/// A server that is written down in a folder.
fn recorded(stdio: Stdio, folder: &Path) -> Stdio {
    let ledger = Ledger::open(folder).unwrap();
    stdio.record(&ledger, &ServerName::parse("here").unwrap())
}

#[tokio::test]
async fn a_server_is_written_down_for_as_long_as_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let stdio = recorded(sh("read -r line"), folder.path());
    for _ in 0..2 {
        let (one, two) = (
            stdio.connect().await.unwrap(),
            stdio.connect().await.unwrap(),
        );
        assert_eq!(files(folder.path()).len(), 2);
        let ends = [one.peer().clone(), two.peer().clone()];
        drop((one, two));
        for peer in ends {
            peer.ended().await;
        }
        assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
    }
}

#[tokio::test]
async fn a_server_starts_also_where_it_cannot_be_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    let stdio = recorded(sh("read -r line"), &inner);
    fs::remove_dir(&inner).unwrap();
    let link = stdio.connect().await.unwrap();
    assert!(is_alive(link.peer().pid().unwrap()));
}

#[test]
fn a_runtime_that_ends_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let stdio = recorded(sh("trap '' TERM; sleep 600"), folder.path());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let link = runtime.block_on(stdio.connect()).unwrap();
    assert_eq!(files(folder.path()).len(), 1);
    drop(runtime);
    drop(link);
    assert_eq!(files(folder.path()), Vec::<PathBuf>::new());
}

/// A server that ends by itself and leaves a process, which its keeper may not kill.
#[tokio::test]
async fn what_a_keeper_could_not_end_is_reported_and_listed_while_the_host_runs() {
    let folder = tempfile::tempdir().unwrap();
    let (pids, path) = support::process::file(&folder, "pids");
    let script = format!(
        "setsid sh -c 'echo $$ >{path}; exec sleep 600' </dev/null >/dev/null 2>&1 & \
         while ! [ -s {path} ]; do sleep 0.01; done"
    );
    let ledger = folder.path().join("ledger");
    let stdio = recorded(sh(&script), &ledger)
        .keeper(env!("CARGO_BIN_EXE_keeper-host"))
        .limits(support::limited(|limits| {
            limits.end_after_kill = Duration::ZERO;
        }));
    let link = stdio.connect().await.unwrap();
    link.peer().ended().await;
    let [child] = support::process::pids_in(&pids)[..] else {
        panic!("no process was left");
    };
    let cleanup = link.peer().cleanup().unwrap();
    assert_eq!((cleanup.keeper_lost, cleanup.ended), (None, 0));
    assert_eq!(cleanup.left, [child]);
    let left = list(&ledger).unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!((left[0].pid(), left[0].server().as_str()), (child, "here"));
    assert!(left[0].end(Duration::ZERO).unwrap());
    assert!(!is_alive(child));
    assert_eq!(files(&ledger), Vec::<PathBuf>::new());
}
