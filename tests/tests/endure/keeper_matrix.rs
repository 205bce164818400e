//! However a host ends and whatever its server is like: nothing of the server runs on.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use rustix::process::Signal;

use crate::support::marked::{Host, mark, marked, parent};

/// How many hosts run at once.
const AT_ONCE: usize = 8;

/// How long anything of a server may live on after the host began to end.
const MOST: Duration = Duration::from_secs(5);

const BEGINNING: &str = r#"
import ctypes, json, os, signal, sys, time
def greet():
    asked = json.loads(sys.stdin.readline())
    hello = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
             "serverInfo": {"name": "py", "version": "1"}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": hello}), flush=True)
    sys.stdin.readline()
def up():
    greet()
    sys.stderr.write("up\n")
    sys.stderr.flush()
def until_eof():
    up()
    while sys.stdin.readline():
        pass
def for_ever():
    while True:
        signal.pause()
def quiet():
    null = os.open("/dev/null", os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
def child(*steps):
    ready, tell = os.pipe()
    if os.fork() == 0:
        for step in steps:
            step()
        os.write(tell, b"x")
        for_ever()
    os.read(ready, 1)
def fork_again():
    if os.fork():
        os._exit(0)
def deaf():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
def stop_keeper():
    greet()
    os.kill(os.getppid(), signal.SIGSTOP)
    sys.stderr.write("up\n")
    sys.stderr.flush()
def kill_keeper():
    greet()
    ctypes.CDLL(None).prctl(1, 0)
    os.kill(os.getppid(), signal.SIGKILL)
def fork_on_term(*_):
    for _ in range(3):
        if os.fork() == 0:
            os.setsid()
            return
"#;

/// What a server may be like: a name and what it does.
const SHAPES: [(&str, &str); 13] = [
    ("plain", "until_eof()"),
    ("child", "child(quiet); until_eof()"),
    ("session", "child(quiet, os.setsid); until_eof()"),
    (
        "double-fork",
        "child(quiet, os.setsid, fork_again, deaf); until_eof()",
    ),
    ("deaf", "deaf(); child(quiet, os.setsid); up(); for_ever()"),
    ("endless", "child(quiet, os.setsid); up(); for_ever()"),
    (
        "forks-on-term",
        "signal.signal(signal.SIGTERM, fork_on_term); up(); for_ever()",
    ),
    ("holds-pipes", "child(os.setsid, deaf); until_eof()"),
    ("wrapped", "child(quiet, os.setsid); until_eof()"),
    (
        "stops-keeper",
        "child(quiet, os.setsid); stop_keeper(); for_ever()",
    ),
    ("kills-keeper", "kill_keeper(); for_ever()"),
    (
        "dies-with-keeper",
        "child(quiet, os.setsid); greet(); os.kill(os.getppid(), signal.SIGKILL); for_ever()",
    ),
    (
        "kills-keeper-of-five",
        "[child(quiet, os.setsid, deaf) for _ in range(5)]; kill_keeper(); for_ever()",
    ),
];

/// Shapes that kill their keeper, and are gone before their host ends.
const KILLERS: [&str; 3] = ["kills-keeper", "dies-with-keeper", "kills-keeper-of-five"];

/// How a host may end: by itself, or by a signal.
const ENDS: [(&str, Option<Signal>); 10] = [
    ("close", None),
    ("drop", None),
    ("error", None),
    ("exit", None),
    ("panic", None),
    ("abort", None),
    ("interrupt", Some(Signal::INT)),
    ("terminate", Some(Signal::TERM)),
    ("hang-up", Some(Signal::HUP)),
    ("kill", Some(Signal::KILL)),
];

struct Cell {
    shape: &'static str,
    end: &'static str,
    signal: Option<Signal>,
    waits: Duration,
}

/// Runs one host to its end; says what is wrong if something of its server lives on.
fn run(cell: &Cell, folder: &Path) -> Option<String> {
    let script = folder.join(cell.shape).display().to_string();
    let inner = format!("python3 -u {script}; :");
    let outer = format!("sh -c '{inner}'; :");
    let command: &[&str] = match cell.shape {
        "wrapped" => &["sh", "-c", &outer],
        _ => &["python3", "-u", &script],
    };
    let mark = mark();
    let host = Host::start(cell.end, cell.waits, &mark, command);
    let (server, keeper) = (host.server, host.keeper);
    // A host whose server has killed its keeper has ended the rest of it by now.
    let before = match KILLERS.contains(&cell.shape) {
        true => marked(&mark).len() == 1,
        // The host and the server at least; the keeper has no mark.
        false => marked(&mark).len() >= 2 && keeper.is_some(),
    };
    let begun = host.end(cell.signal);
    loop {
        let left = marked(&mark);
        // A keeper fetches its server. It is itself fetched by the system, in its own time.
        let is_known = Path::new(&format!("/proc/{server}")).exists()
            || keeper.is_some_and(|keeper| parent(keeper).is_some());
        if left.is_empty() && !is_known {
            return (!before).then(|| format!("{} was not kept, or not ended", cell.shape));
        }
        if begun.elapsed() > MOST {
            return Some(format!("{} x {}: {left:?}", cell.shape, cell.end));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn scripts() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in SHAPES {
        let text = format!("{BEGINNING}\n{}\n", text.replace("; ", "\n"));
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn run_all(cells: Vec<Cell>) {
    let folder = scripts();
    let (cells, wrong) = (Mutex::new(VecDeque::from(cells)), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let next = || cells.lock().unwrap().pop_front();
                while let Some(cell) = next() {
                    let found = run(&cell, folder.path());
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_lives_on_after_the_host_whatever_the_server_and_however_the_host_ends() {
    let waits = Duration::from_secs(1);
    let ends = || ENDS.into_iter();
    let cells = SHAPES.into_iter().flat_map(|(shape, _)| {
        ends().map(move |(end, signal)| Cell {
            shape,
            end,
            signal,
            waits,
        })
    });
    run_all(cells.collect());
}

#[test]
fn the_waits_that_nobody_has_changed_are_short_enough() {
    let waits = switchboard::Limits::default().end_after_close;
    let cells = ["deaf", "forks-on-term"].map(|shape| Cell {
        shape,
        end: "kill",
        signal: Some(Signal::KILL),
        waits,
    });
    run_all(cells.into());
}
