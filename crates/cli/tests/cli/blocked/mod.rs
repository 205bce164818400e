//! Every read and write of the program, blocked in turn: signals end it all the same, and its servers.

mod standstill;

use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::home::Home;
use crate::signal_matrix::{MARK, Place, all_at_once, becomes_so};
use standstill::Standstill::{self, FullFile, Lock, Stderr, Stdin, Stdout, Unopened, Unwritten};

/// How many are run at once.
const AT_ONCE: usize = 16;

/// How long the program may live after the second signal: it takes half a second where something is stuck.
const PROMPTLY: Duration = Duration::from_secs(1);

/// How long servers may live after the second signal: their keepers give them four seconds at most.
const SERVERS_PROMPTLY: Duration = Duration::from_secs(5);

/// How long it is watched on a machine that is busy with other tests. A program that does not obey never ends.
const GONE: Duration = Duration::from_secs(5);

/// The same for servers, once the program is gone.
const SERVERS_GONE: Duration = Duration::from_secs(10);

/// How often a row is tried that obeys, but late: once of these it is to be prompt.
const TRIES: usize = 4;

/// How long the program may take to come to a standstill before it counts as never.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is to be ended while it stands still.
struct Row {
    /// The command line; `FIFO` is the path of a pipe, and `S` is a server that does not end when its stdin does.
    line: &'static str,
    at: Standstill,
    /// What is typed at a prompt.
    typed: &'static str,
}

const fn row(line: &'static str, at: Standstill) -> Row {
    let typed = "";
    Row { line, at, typed }
}

/// What the program reads.
const READS: &[Row] = &[
    row("call S/echo --args - --config mcp.json", Stdin),
    row("call S/echo message=@FIFO --config mcp.json", Unwritten),
    row("prompt S/greeting name=@FIFO --config mcp.json", Unwritten),
    row(
        "read S note://{topic}/1 topic=@FIFO --config mcp.json",
        Unwritten,
    ),
    row("tools --answers FIFO --config mcp.json", Unwritten),
    row("tools --answer key=@FIFO --config mcp.json", Unwritten),
    row(
        "tools --url https://127.0.0.1:9/mcp --ca-file FIFO",
        Unwritten,
    ),
    row("repl --config mcp.json", Stdin),
    row("repl --answers FIFO --config mcp.json", Unwritten),
];

/// What it writes.
const WRITES: &[Row] = &[
    row("servers --config mcp.json", Stdout),
    row("tools --config mcp.json", Stdout),
    row("tools --json --config mcp.json", Stdout),
    row("tool S/echo --config mcp.json", Stdout),
    row("call S/echo message=hello --config mcp.json", Stdout),
    row("call S/echo message=hello --json --config mcp.json", Stdout),
    row("resources --config mcp.json", Stdout),
    row("templates --config mcp.json", Stdout),
    row("read S file:///readme.txt --config mcp.json", Stdout),
    row("prompts --config mcp.json", Stdout),
    row("prompt S/greeting name=you --config mcp.json", Stdout),
    row("ping --config mcp.json", Stdout),
    row("doctor --config mcp.json", Stdout),
    row("logs --config mcp.json", Stdout),
    row("logs --json --config mcp.json", Stdout),
    row("lock --config mcp.json", Stdout),
    row("pins approve S --yes --config mcp.json", Stdout),
    row("config show --config mcp.json", Stdout),
    row("config check --json", Stdout),
    row("export S --to claude-code --config mcp.json", Stdout),
    row("completions bash", Stdout),
    row("man", Stdout),
    row("add other -- true", Stdout),
    row("test-server --list-chaos", Stdout),
    row("--help", Stdout),
    row("call S/echo --config mcp.json", Stderr),
    row("tools --trace - --config mcp.json", Stderr),
    row("tools --log-level debug --config mcp.json", Stderr),
    row("tools --config missing.json", Stderr),
    row("frobnicate", Stderr),
    row("tools --events FIFO --config mcp.json", Unopened),
    row("tools --trace FIFO --config mcp.json", Unopened),
    row("tools --events FIFO --config mcp.json", FullFile),
    row("tools --trace FIFO --config mcp.json", FullFile),
    row("repl --events FIFO --config mcp.json", Unopened),
    Row {
        typed: "tools\n",
        ..row("repl --config mcp.json", Stdout)
    },
    Row {
        typed: "frobnicate\n",
        ..row("repl --config mcp.json", Stderr)
    },
];

/// The locks that it waits for.
const LOCKS: &[Row] = &[
    row("add other -- true", Lock("config/switchboard/")),
    row(
        "pins approve S --yes --config mcp.json",
        Lock("state/switchboard/pins/pins.lock"),
    ),
    row(
        "trust approve theirs --yes",
        Lock("state/switchboard/trust/trust.lock"),
    ),
];

/// How often a signal is sent, and which.
#[derive(Clone, Copy)]
struct Sent {
    times: usize,
    signal: (&'static str, i32),
}

const TERM: (&str, i32) = ("TERM", 15);
const INT: (&str, i32) = ("INT", 2);
const HUP: (&str, i32) = ("HUP", 1);

/// A program at a standstill is ended by two signals of any kind, and by the first one too.
#[test]
fn signals_end_a_program_that_waits_for_a_reader_or_writer() {
    let rows = || READS.iter().chain(WRITES).chain(LOCKS);
    let twice = rows().map(|row| {
        (
            row,
            Sent {
                times: 2,
                signal: TERM,
            },
        )
    });
    let once = rows().step_by(2);
    let once = once.map(|row| {
        (
            row,
            Sent {
                times: 1,
                signal: TERM,
            },
        )
    });
    let few = || rows().step_by(9);
    let interrupted = few().map(|row| {
        (
            row,
            Sent {
                times: 2,
                signal: INT,
            },
        )
    });
    let hung_up = few().map(|row| {
        (
            row,
            Sent {
                times: 2,
                signal: HUP,
            },
        )
    });
    let cells = twice.chain(once).chain(interrupted).chain(hung_up);
    all_at_once(AT_ONCE, cells, |(row, sent)| {
        let mut late = None;
        for _ in 0..TRIES {
            match run(row, *sent) {
                None => return None,
                Some(Wrong::Late(what)) => late = Some(what),
                Some(Wrong::Failed(what)) => return Some(what),
            }
        }
        late
    });
}

/// Starts the program of a row; its servers carry a mark.
fn start(row: &Row, place: &Place) -> (Child, standstill::Hold) {
    let fifo = place.home.path("FIFO").display().to_string();
    let words = row.line.split(' ').map(|word| word.replace("FIFO", &fifo));
    let words = words.map(|word| match word.strip_prefix('S') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("stubborn{rest}"),
        _ => word,
    });
    let mut command = place.home.signalled_command();
    command
        .args(words)
        .env(MARK, &place.mark)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let hold = row.at.prepare(&place.home.path(""), &mut command);
    let mut child = command.spawn().unwrap();
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(row.typed.as_bytes()).unwrap();
        // A prompt with nothing more to read would end.
        std::mem::forget(stdin);
    }
    (child, hold)
}

fn configure(place: &Place) {
    let own = env!("CARGO_BIN_EXE_switchboard");
    let run = format!("echo begun >&2; exec '{own}' test-server --talking --chaos ignore-eof");
    let entry = serde_json::json!({
        "command": "/bin/sh", "args": ["-c", run], "env": {MARK: place.mark}
    });
    let file = serde_json::json!({"mcpServers": {"stubborn": entry}});
    place.home.write("p/mcp.json", &file.to_string());
    let theirs = r#"{"mcpServers": {"theirs": {"command": "/bin/true"}}}"#;
    place.home.write("p/.mcp.json", theirs);
}

/// What is wrong with a row.
enum Wrong {
    /// It does not do what it should.
    Failed(String),
    /// It does, but takes longer than it may on a machine that does nothing else.
    Late(String),
}

/// Runs one row; says what is wrong with it.
fn run(row: &Row, sent: Sent) -> Option<Wrong> {
    let (name, number) = sent.signal;
    let what = format!(
        "{} at {:?}, SIG{name} {} times",
        row.line, row.at, sent.times
    );
    let place = Place::new();
    configure(&place);
    let (mut child, mut hold) = start(row, &place);
    let pid = child.id();
    let mut is_reached = false;
    becomes_so_mut(PATIENCE, || {
        is_reached = row.at.is_reached(pid, &mut hold);
        is_reached || child.try_wait().unwrap().is_some()
    });
    if !is_reached {
        let running = place.running();
        let ended = child.try_wait();
        child.kill().unwrap();
        child.wait().unwrap();
        return Some(Wrong::Failed(format!(
            "{what}: never at a standstill: {ended:?} {running:?}"
        )));
    }
    for _ in 0..sent.times {
        send(&child, name);
        // Two that wait to be delivered are one.
        becomes_so(PATIENCE, || !is_pending(pid, number));
    }
    // After one signal, servers have the time that they always have.
    let patience = GONE
        + if sent.times > 1 {
            Duration::ZERO
        } else {
            SERVERS_GONE
        };
    let begun = Instant::now();
    let is_gone = becomes_so_mut(patience, || child.try_wait().unwrap().is_some());
    let took = begun.elapsed();
    if !is_gone {
        child.kill().unwrap();
        child.wait().unwrap();
        return Some(Wrong::Failed(format!("{what}: still there after {took:?}")));
    }
    let status = child.wait().unwrap();
    // Before there are servers, the signal itself ends the program.
    let is_told = status.code() == Some(128 + number) || status.signal() == Some(number);
    if !is_told {
        return Some(Wrong::Failed(format!("{what}: {status:?}")));
    }
    if !becomes_so(SERVERS_GONE, || place.running().is_empty()) {
        let left = place.running();
        return Some(Wrong::Failed(format!("{what}: left behind: {left:?}")));
    }
    let servers_took = begun.elapsed();
    let is_late = sent.times > 1 && (took > PROMPTLY || servers_took > SERVERS_PROMPTLY);
    is_late.then(|| {
        Wrong::Late(format!(
            "{what}: gone after {took:?}, servers after {servers_took:?}"
        ))
    })
}

/// Sends a signal; one that is gone by now needs none.
fn send(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let kill = Command::new("kill")
        .args([format!("-{name}"), pid])
        .stderr(Stdio::null())
        .status();
    kill.unwrap();
}

/// Whether a signal was sent and has not been delivered yet.
fn is_pending(pid: u32, number: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
    let pending = pending.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    pending.is_some_and(|set| set & (1 << (number - 1)) != 0)
}

fn becomes_so_mut(time: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > time {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// A prompt that waits for a file on the runtime's own thread hears of no signal: the second one ends it.
#[test]
fn a_second_signal_ends_a_program_whose_runtime_is_stuck() {
    let place = Place::new();
    configure(&place);
    let stuck = Row {
        typed: "ping\nreload\n",
        ..row("repl --events FIFO --config mcp.json", Unopened)
    };
    let (mut child, mut hold) = start(&stuck, &place);
    let pid = child.id();
    let fifo = place.home.path("FIFO");
    assert!(becomes_so_mut(PATIENCE, || Unopened.is_reached(pid, &mut hold)));
    // The file is opened, and closed before it is opened again by `reload`: what it says first ends this reader.
    let reader = std::thread::spawn(move || {
        let mut first = [0; 1];
        std::io::Read::read_exact(&mut std::fs::File::open(fifo).unwrap(), &mut first).unwrap();
    });
    reader.join().unwrap();
    assert!(becomes_so_mut(PATIENCE, || Unopened.is_reached(pid, &mut hold)));
    send(&child, "TERM");
    assert!(becomes_so(PATIENCE, || !is_pending(pid, 15)));
    send(&child, "TERM");
    assert!(becomes_so_mut(GONE, || child.try_wait().unwrap().is_some()));
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(becomes_so(SERVERS_GONE, || place.running().is_empty()));
}

/// A pipe in the place of a config file, or of a file that it names, is refused before anybody waits for it.
#[test]
fn a_pipe_that_is_no_config_file_is_not_waited_for() {
    let home = Home::new();
    let path = home.path("p/pipe.json");
    let made = Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    let entry = r#"{"mcpServers": {"s": {"command": "true", "envFile": "pipe.json"}}}"#;
    home.write("p/named.json", entry);
    for file in ["pipe.json", "named.json"] {
        let run = home.run(&["tools", "--config", file]);
        // What it returns is for others to hold: here it is that it returns.
        assert!(run.code.is_some(), "{file}: {run:?}");
    }
}
