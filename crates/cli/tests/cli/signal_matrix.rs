//! Every verb that starts servers, ended by every signal in the middle of it: nothing runs on.

use std::fs;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::at_once;
use crate::home::Home;

/// How many are run at once. Most of the time goes into waiting for servers that do not want to end.
const AT_ONCE: usize = 16;

/// How long anything may live on after the signal.
const MOST: Duration = Duration::from_secs(5);

/// How long a server may take to start before it counts as never.
const PATIENCE: Duration = Duration::from_secs(60);

/// What all processes of a run carry in their environment, those that left their group as well.
pub(crate) const MARK: &str = "SWITCHBOARD_TEST_MARK";

/// Servers that are in the middle of their start for as long as anybody looks.
const SERVERS: [(&str, &str); 2] = [
    ("good", "--chaos slow-start=600"),
    (
        "deaf",
        "--chaos ignore-term --chaos ignore-eof --chaos fork-setsid=600 --chaos slow-start=600",
    ),
];

/// Verbs about all servers at once.
const ALL: [&str; 12] = [
    "servers",
    "tools",
    "resources",
    "templates",
    "prompts",
    "ping",
    "logs",
    "doctor",
    "pins diff",
    "lock",
    "verify",
    "repl",
];

/// Verbs about one server, whose name stands for `S`.
const ONE: [&str; 5] = [
    "call S/echo message=hello",
    "tool S/echo",
    "read S demo://greeting",
    "prompt S/greet",
    "pins approve S --yes",
];

/// The signals, and what the process returns after each. Nobody can return anything after the last.
const SIGNALS: [(&str, Option<i32>); 4] = [
    ("INT", Some(130)),
    ("TERM", Some(143)),
    ("HUP", Some(129)),
    ("KILL", None),
];

/// When the signal is sent.
enum When {
    /// When so many servers have started, and so many of their children.
    Started(usize, usize),
    /// When the server was called.
    Called,
}

struct Cell {
    line: String,
    /// How the servers behave.
    servers: Vec<(&'static str, &'static str)>,
    when: When,
    signal: &'static str,
    code: Option<i32>,
}

/// A folder with a config file, a lock that fits it, and a mark for everything that runs there.
pub(crate) struct Place {
    pub(crate) home: Home,
    pub(crate) mark: String,
}

impl Place {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let time = std::time::UNIX_EPOCH.elapsed().unwrap().as_nanos();
        let mark = format!("{}-{next}-{time}", std::process::id());
        let home = Home::new();
        let own = env!("CARGO_BIN_EXE_switchboard");
        let servers = SERVERS.map(|(name, _)| {
            // What it does is no part of its entry: a lock that was written before still fits.
            let how = home.path(name);
            let run = format!("exec '{own}' test-server $(cat '{}')", how.display());
            let entry = serde_json::json!({
                "command": "/bin/sh", "args": ["-c", run], "env": {MARK: mark}
            });
            (name.to_owned(), entry)
        });
        let servers: serde_json::Map<_, _> = servers.into_iter().collect();
        let file = serde_json::json!({"mcpServers": servers});
        home.write("p/mcp.json", &file.to_string());
        Self { home, mark }
    }

    /// Says what the servers are like; those that are not named are as they should be.
    fn behave(&self, servers: &[(&'static str, &str)]) {
        for (name, _) in SERVERS {
            let how = servers.iter().find(|(one, _)| *one == name);
            self.home.write(name, how.map_or("", |(_, how)| how));
        }
    }

    fn start(&self, line: &str) -> Child {
        let words: Vec<&str> = line.split(' ').collect();
        let trace = self.home.path("trace").display().to_string();
        let options = ["--config", "mcp.json", "--trace", &trace];
        let mut command = self.home.signalled_command();
        command
            .args(words)
            .args(options)
            .env(MARK, &self.mark)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A prompt starts servers when it is asked for something; after that there is no more to read.
        let mut stdin = child.stdin.take().unwrap();
        if line == "repl" {
            stdin.write_all(b"tools\n").unwrap();
        }
        child
    }

    /// The commands of the processes that carry the mark; dead ones carry none.
    pub(crate) fn running(&self) -> Vec<String> {
        let wanted = format!("{MARK}={}", self.mark);
        let pids = fs::read_dir("/proc").unwrap();
        pids.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok())
            .filter(|pid| {
                // One that is gone by now has none.
                let environ = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                let mut variables = environ.split(|byte| *byte == 0);
                variables.any(|variable| variable == wanted.as_bytes())
            })
            .map(|pid| {
                let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&command).replace('\0', " ")
            })
            .collect()
    }

    fn is_time(&self, when: &When) -> bool {
        match when {
            When::Started(servers, children) => {
                let running = self.running();
                let count = |part: &str| running.iter().filter(|line| line.contains(part)).count();
                count("--chaos slow-start=600") == *servers && count("sleep 600") == *children
            }
            When::Called => {
                let trace = fs::read_to_string(self.home.path("trace")).unwrap_or_default();
                trace.contains("tools/call")
            }
        }
    }
}

/// Looks again and again; says whether it became so in time.
pub(crate) fn becomes_so(time: Duration, is_so: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > time {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Runs one cell; says what is wrong with it.
fn run(cell: &Cell) -> Option<String> {
    let place = Place::new();
    if cell.line == "verify" {
        place.behave(&[]);
        let locked = place.start("lock").wait_with_output().unwrap();
        assert!(locked.status.success(), "{locked:?}");
    }
    place.behave(&cell.servers);
    let mut child = place.start(&cell.line);
    let what = format!("{} and SIG{}", cell.line, cell.signal);
    if !becomes_so(PATIENCE, || place.is_time(&cell.when)) {
        let running = place.running();
        child.kill().unwrap();
        let said = child.wait_with_output().unwrap();
        return Some(format!("{what}: never in the middle, {running:?} {said:?}"));
    }
    let kill = format!("-{}", cell.signal);
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([&kill, &pid]).status().unwrap();
    assert!(sent.success());
    let is_over = becomes_so(MOST, || place.running().is_empty());
    let left = place.running();
    let ended = match is_over {
        true => child.wait_with_output().unwrap(),
        false => return Some(format!("{what}: still there: {left:?}")),
    };
    let expected = match cell.code {
        Some(code) => ended.status.code() == Some(code),
        None => ended.status.signal() == Some(9),
    };
    (!expected).then(|| format!("{what}: {ended:?}"))
}

fn run_all(cells: impl Iterator<Item = Cell>) {
    all_at_once(AT_ONCE, cells, run);
}

/// Runs all cells, so many at once; fails with what is wrong with any of them.
pub(crate) fn all_at_once<C: Sync>(
    at_once: usize,
    cells: impl Iterator<Item = C>,
    run: fn(&C) -> Option<String>,
) {
    let wrong = Mutex::new(Vec::new());
    at_once::for_each(at_once, &cells.collect::<Vec<_>>(), |cell| {
        let found = run(cell);
        wrong.lock().unwrap().extend(found);
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A cell for each signal.
fn signalled(
    line: &str,
    servers: &[(&'static str, &'static str)],
    when: fn(usize, usize) -> When,
) -> Vec<Cell> {
    let children = servers.iter().filter(|(name, _)| *name == "deaf").count();
    let of = |(signal, code)| Cell {
        line: line.to_owned(),
        servers: servers.to_vec(),
        when: when(servers.len(), children),
        signal,
        code,
    };
    SIGNALS.map(of).into()
}

#[test]
fn nothing_is_left_of_any_verb_whatever_signal_ends_it() {
    let all = ALL
        .into_iter()
        .flat_map(|line| signalled(line, &SERVERS, When::Started));
    let one = ONE.into_iter().flat_map(|line| {
        SERVERS.into_iter().flat_map(move |server| {
            signalled(&line.replace('S', server.0), &[server], When::Started)
        })
    });
    run_all(all.chain(one));
}

#[test]
fn nothing_is_left_of_a_call_whatever_signal_ends_it() {
    let good = ("good", "--chaos no-reply");
    let deaf = (
        "deaf",
        "--chaos ignore-term --chaos ignore-eof --chaos fork-setsid=600 --chaos no-reply",
    );
    run_all([good, deaf].into_iter().flat_map(|server| {
        let line = format!("call {}/echo message=hello", server.0);
        signalled(&line, &[server], |_, _| When::Called)
    }));
}
