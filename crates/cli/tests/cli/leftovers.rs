//! What earlier runs have left running.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::run::{command, said, switchboard_with};
use crate::script::Script;

/// A folder for what outlives a run, and the folder in it that says what runs.
fn state() -> (TempDir, PathBuf) {
    let state = tempfile::tempdir().unwrap();
    let running = state.path().join("switchboard").join("running");
    (state, running)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A server that says over a pipe of its own what is in the folder while it is called.
const LOOKING: &str = r#"
def call(request):
    folder = sys.argv[1]
    answer(request, text(open(os.path.join(folder, os.listdir(folder)[0])).read()))
"#;

/// Calls that server, and gives what was written down of it.
fn recorded(state: &Path, running: &Path) -> serde_json::Value {
    let server = Script::new(LOOKING);
    let stdio = format!("{} '{}'", server.command(), running.display());
    let variables = [("XDG_STATE_HOME", state.to_str().unwrap())];
    let run = switchboard_with(&variables, &["call", "watched/go", "--stdio", &stdio]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn a_server_is_written_down_while_it_runs() {
    let (state, running) = state();
    let record = recorded(state.path(), &running);
    assert_eq!(
        (&record["server"], &record["command"]),
        (&"watched".into(), &"python3".into())
    );
    assert_eq!(files(&running), Vec::<PathBuf>::new());
    let variables = [("XDG_STATE_HOME", state.path().to_str().unwrap())];
    assert_eq!(
        switchboard_with(&variables, &["leftovers"]),
        said(0, "", "")
    );
    assert_eq!(
        switchboard_with(&variables, &["leftovers", "--json"]),
        said(0, "{\"leftovers\":[]}\n", "")
    );
}

#[test]
fn a_home_that_cannot_be_written_to_is_no_reason_not_to_call() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let variables = [("XDG_STATE_HOME", file.path().to_str().unwrap())];
    let run = switchboard_with(&variables, &["call", "demo/echo", "message=hello"]);
    assert_eq!(run, said(0, "hello\n", ""));
}

/// A process that a run which is gone has left, with its file.
struct Left {
    process: Child,
    state: TempDir,
    running: PathBuf,
}

/// When a process started, in ticks.
fn ticks(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    rest.split_whitespace().nth(19).unwrap().parse().unwrap()
}

/// The record that a run would have written of a process that is there.
pub(crate) fn record_of(pid: u32) -> serde_json::Value {
    let (state, running) = state();
    record_in(state.path(), &running, pid)
}

fn record_in(state: &Path, running: &Path, pid: u32) -> serde_json::Value {
    let mut record = recorded(state, running);
    let started = record["started"].as_str().unwrap();
    let (boot, _) = started.split_once('/').unwrap();
    record["started"] = format!("{boot}/{}", ticks(pid)).into();
    record["pid"] = pid.into();
    record
}

impl Left {
    fn new(server: &str, its_command: &str) -> Self {
        let (state, running) = state();
        let process = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut record = record_in(state.path(), &running, process.id());
        record["server"] = server.into();
        record["command"] = its_command.into();
        fs::write(running.join("left.server"), record.to_string()).unwrap();
        Self {
            process,
            state,
            running,
        }
    }

    fn run(&self, args: &[&str]) -> crate::run::Run {
        let mut run = command(args);
        run.env("XDG_STATE_HOME", self.state.path());
        crate::run::Run::of(run.output().unwrap())
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A line without the time in it, and that time.
fn untimed(line: &str) -> (String, String) {
    let mut words: Vec<&str> = line.split("  ").collect();
    let time = words.remove(1);
    (words.join("  "), time.to_owned())
}

#[test]
fn what_is_left_is_listed_and_ended_when_asked_for() {
    let mut left = Left::new("stubborn", "npx");
    let pid = left.process.id();
    let run = left.run(&["leftovers"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let (line, time) = untimed(&run.stdout);
    assert_eq!(line, format!("{pid}  stubborn  npx\n"));
    assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
    assert_eq!(left.process.try_wait().unwrap(), None);

    let run = left.run(&["leftovers", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let item = &document["leftovers"][0];
    assert_eq!(
        (&item["pid"], &item["started"], &item["ended"]),
        (&pid.into(), &time.into(), &serde_json::Value::Null)
    );

    let run = left.run(&["leftovers", "--end"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    assert_eq!(
        untimed(&run.stdout).0,
        format!("{pid}  stubborn  npx  ended\n")
    );
    assert!(!left.process.wait().unwrap().success());
    assert_eq!(files(&left.running), Vec::<PathBuf>::new());
    assert_eq!(left.run(&["leftovers", "--end"]), said(0, "", ""));
}

#[test]
fn whoever_looks_everything_over_is_told_of_what_is_left() {
    let mut left = Left::new("stubborn", "npx");
    let run = left.run(&["doctor", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let document: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let found = document["findings"].as_array().unwrap().iter();
    let found: Vec<_> = found.filter(|one| one["check"] == "leftovers").collect();
    assert_eq!(found.len(), 1, "{document}");
    let line = found[0]["evidence"][0]["lines"][0].as_str().unwrap();
    let start = format!("stubborn (process {}, since 20", left.process.id());
    assert!(line.starts_with(&start), "{line}");
    assert_eq!(found[0]["hints"][0], "switchboard leftovers --end");
    assert_eq!(left.process.try_wait().unwrap(), None);
    // What another server has left is not what was asked about.
    let run = left.run(&["doctor", "demo"]);
    assert!(!run.stdout.contains("stubborn"), "{run:?}");
}

#[test]
fn what_a_file_says_is_shown_safely() {
    let left = Left::new("a\u{202e}b", "\u{1b}[31mnpx\n\u{7}");
    let run = left.run(&["leftovers"]);
    assert_eq!(run.code, Some(0));
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    let run = [run.stdout, left.run(&["leftovers", "--json"]).stdout].concat();
    assert!(!run.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{run:?}");
}

#[test]
fn without_a_home_there_is_nothing_to_look_at() {
    let mut run = command(&["leftovers"]);
    run.env_remove("HOME").env_remove("XDG_STATE_HOME");
    let run = crate::run::Run::of(run.output().unwrap());
    assert_eq!(run.code, Some(6));
    assert!(run.stderr.contains("set HOME"), "{}", run.stderr);
}
