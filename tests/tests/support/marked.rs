//! Processes that carry a mark in their environment, and a host that starts such.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, Command, Stdio as Io};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

const NAME: &str = "SWITCHBOARD_TEST_MARK";

/// A mark that no other process has.
pub(crate) fn mark() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let time = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}-{next}-{time}", std::process::id())
}

/// The processes that carry a mark, with their commands. Dead ones carry none.
pub(crate) fn marked(mark: &str) -> Vec<(u32, String)> {
    let wanted = format!("{NAME}={mark}");
    let pids = std::fs::read_dir("/proc").unwrap();
    pids.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
        .filter(|pid| {
            // One that is gone by now has none.
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            let mut variables = environ.split(|byte| *byte == 0);
            variables.any(|variable| variable == wanted.as_bytes())
        })
        .map(|pid| {
            let command = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            (pid, command.chars().take(60).collect())
        })
        .collect()
}

/// A host that has started its server.
pub(crate) struct Host {
    child: Child,
    stdin: Option<ChildStdin>,
    /// The server's process.
    pub(crate) server: u32,
    /// Its parent, while it runs: its keeper. A keeper carries no mark, for it has no environment.
    pub(crate) keeper: Option<u32>,
}

/// The parent of a process that runs; none of a dead one that nobody has fetched.
pub(crate) fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut after_name = stat.rsplit(')').next()?.split_whitespace();
    let state = after_name.next()?;
    let parent = after_name.next()?.parse().ok()?;
    (state != "Z").then_some(parent)
}

impl Host {
    /// Starts a host that will end in a certain way, and its server.
    pub(crate) fn start(end: &str, waits: Duration, mark: &str, command: &[&str]) -> Self {
        let waits = waits.as_millis().to_string();
        // Whoever runs the tests in the background may have them ignore some signals, and so would
        // the host.
        let mut child = Command::new("env")
            .arg("--default-signal=HUP,INT,TERM")
            .arg(env!("CARGO_BIN_EXE_keeper-host"))
            .args([end, &waits, &waits])
            .args(command)
            .env(NAME, mark)
            .stdin(Io::piped())
            .stdout(Io::piped())
            .stderr(Io::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let server = line.trim().parse().unwrap();
        Self {
            stdin: child.stdin.take(),
            keeper: parent(server).filter(|parent| *parent != child.id()),
            child,
            server,
        }
    }

    /// Lets the host end by itself, or by a signal; waits for that, and says when it began.
    pub(crate) fn end(mut self, signal: Option<Signal>) -> Instant {
        let begun = Instant::now();
        match signal {
            Some(signal) => {
                let pid = i32::try_from(self.child.id()).unwrap();
                kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
            }
            None => drop(self.stdin.take()),
        }
        self.child.wait().unwrap();
        begun
    }
}
