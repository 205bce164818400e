//! Servers that turn against their keeper, and a program whose file is gone.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

use crate::home::Home;
use crate::pty::Pty;
use crate::run::{Run, command};
use crate::script::Script;

/// Starts five processes that leave the session, writes their numbers, and kills the keeper; the
/// server itself has arranged to live on.
const KILLS: &str = r#"
import ctypes, signal

def leave(path):
    for _ in range(5):
        ready, tell = os.pipe()
        if os.fork() == 0:
            os.setsid()
            null = os.open("/dev/null", os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            os.write(tell, b"x")
            while True:
                signal.pause()
        os.read(ready, 1)

def kill_keeper():
    open(sys.argv[1], "w").write(str(os.getpid()))
    leave(sys.argv[1])
    ctypes.CDLL(None).prctl(1, 0)
    os.kill(os.getppid(), signal.SIGKILL)
    while True:
        signal.pause()
"#;

/// The processes that have this word among their arguments.
pub(crate) fn with_argument(word: &str) -> Vec<String> {
    let pids = fs::read_dir("/proc").unwrap();
    let pids = pids.filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    pids.filter(|pid| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|argument| argument == word.as_bytes())
    })
    .collect()
}

/// Gives a command the variables that are set for another, and takes away those that are taken from it.
fn set_environment(command: &mut Command, like: &Command) {
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

/// Whose processes `/proc` shows in a new PID namespace.
const PROCS: [Option<&str>; 2] = [
    // Its own.
    Some("--mount-proc"),
    // Those of the namespace around it, by other numbers.
    None,
];

/// The same command in a new PID namespace, in which its session and its group have no number, as under a container
/// that was started without a session of its own.
fn in_namespace(command: &Command, proc: Option<&str>) -> Command {
    let mut outer = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        outer.args(["--user", "--map-root-user"]);
    }
    outer.args(["--pid", "--fork", "--mount", "--kill-child"]);
    outer.args(proc);
    outer.arg(command.get_program()).args(command.get_args());
    set_environment(&mut outer, command);
    if let Some(folder) = command.get_current_dir() {
        outer.current_dir(folder);
    }
    outer.stdin(Stdio::null());
    outer
}

#[test]
fn a_program_whose_session_has_no_number_here_ends_what_a_lost_keeper_left() {
    for proc in PROCS {
        let changes = format!("{KILLS}\ndef call(request):\n    kill_keeper()\n");
        let server = Script::new(&changes);
        let state = TempDir::new().unwrap();
        let mark = state.path().join("pid").display().to_string();
        let stdio = format!("{} '{mark}'", server.command());
        let mut inner = command(&["call", "bad/go", "--stdio", &stdio]);
        inner.env("XDG_STATE_HOME", state.path());
        let run = Run::of(in_namespace(&inner, proc).output().unwrap());
        let told = "6 processes were ended in its place";
        assert!(run.stderr.contains(told), "{proc:?} {run:?}");
        assert_eq!(run.code, Some(10), "{proc:?} {run:?}");
    }
}

#[test]
fn a_keeper_finds_what_has_left_the_session_whatever_numbers_proc_has() {
    let changes = "
def call(request):
    for _ in range(3):
        ready, tell = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setsid()
            null = os.open('/dev/null', os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            os.write(tell, b'x')
            time.sleep(600)
        os.read(ready, 1)
        print(pid, file=open(sys.argv[1], 'a'))
    answer(request, text('went'))
";
    for proc in PROCS {
        let server = Script::new(changes);
        let folder = TempDir::new().unwrap();
        let mark = folder.path().join("pids").display().to_string();
        let stdio = format!("{} '{mark}'", server.command());
        let inner = command(&["call", "s/go", "--stdio", &stdio]);
        // A control group would find them too. All processes of a namespace end with its first one, which is this
        // shell; it asks whether they can be signalled.
        let script = format!(
            "umount -l /sys/fs/cgroup 2>/dev/null; \"$@\"; \
             for n in $(cat '{mark}'); do kill -0 $n 2>/dev/null && echo left || echo gone; done"
        );
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &script, "sh"])
            .arg(inner.get_program())
            .args(inner.get_args());
        set_environment(&mut shell, &inner);
        let run = Run::of(in_namespace(&shell, proc).output().unwrap());
        assert_eq!(run.stdout, "went\ngone\ngone\ngone\n", "{proc:?} {run:?}");
    }
}

#[test]
fn a_prompt_whose_group_has_no_number_here_gives_the_terminal_back() {
    PROCS.into_iter().for_each(gives_the_terminal_back);
}

fn gives_the_terminal_back(proc: Option<&str>) {
    let inner = command(&["repl"]);
    let script = format!(
        "'{}' repl; stty -a | tr ' ' '\\n' | grep -x -e '-*icanon' -e '-*echo'",
        inner.get_program().display()
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]);
    set_environment(&mut shell, &inner);
    let mut pty = Pty::start(in_namespace(&shell, proc), 100);
    pty.wait_for("switchboard> ");
    pty.send(b"call demo/echo message=inside\r");
    pty.wait_for("\r\ninside\r\n");
    pty.wait_for("switchboard> ");
    pty.send(b"\x04");
    let (code, screen) = pty.finish();
    assert!(screen.contains("\nicanon\necho"), "{code} {screen}");
    assert!(!screen.contains("panicked"), "{screen}");
}

/// Runs a verb with that server in a state of its own; gives what it said, and what `leftovers` says
/// after it.
fn run(changes: &str, args: &[&str]) -> (Run, Run) {
    let server = Script::new(&format!("{KILLS}\n{changes}"));
    let state = TempDir::new().unwrap();
    let mark = state.path().join("pid").display().to_string();
    let stdio = format!("{} '{mark}'", server.command());
    let with_state = |args: &[&str]| {
        let mut command = command(args);
        command.env("XDG_STATE_HOME", state.path());
        Run::of(command.output().unwrap())
    };
    let run = with_state(&[args, &["--stdio", &stdio]].concat());
    assert!(Path::new(&mark).exists(), "{run:?}");
    assert_eq!(with_argument(&mark), Vec::<String>::new(), "{run:?}");
    (run, with_state(&["leftovers"]))
}

#[test]
fn a_server_that_kills_its_keeper_in_a_call_leaves_nothing() {
    let changes = "def call(request):\n    kill_keeper()\n";
    let (run, left) = run(changes, &["call", "bad/go"]);
    assert_eq!(run.code, Some(10), "{run:?}");
    let told =
        "the server's keeper was lost (signal 9 (SIGKILL)); 6 processes were ended in its place";
    assert!(run.stderr.contains(told), "{run:?}");
    assert_eq!((left.code, left.stdout.as_str()), (Some(0), ""));
}

#[test]
fn a_server_that_kills_its_keeper_at_its_end_is_warned_of() {
    let changes = "
def list_tools(request):
    answer(request, {'tools': TOOLS})
    sys.stdin.readline()
    kill_keeper()
";
    let (run, left) = run(changes, &["tools", "bad"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.stderr.contains("bad: the server's keeper was lost"),
        "{run:?}"
    );
    assert_eq!((left.code, left.stdout.as_str()), (Some(0), ""));
}

#[test]
fn a_server_that_kills_its_keeper_in_the_handshake_leaves_nothing() {
    let changes = "def initialize(request):\n    kill_keeper()\n";
    let (run, left) = run(changes, &["tools", "bad"]);
    assert_eq!(run.code, Some(4), "{run:?}");
    assert!(run.stderr.contains("keeper was lost"), "{run:?}");
    assert_eq!((left.code, left.stdout.as_str()), (Some(0), ""));
}

/// A prompt that reads commands from a pipe, run from a copy of the program.
struct Prompt {
    folder: TempDir,
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Prompt {
    fn open(home: &Home) -> Self {
        let folder = TempDir::new().unwrap();
        let own = folder.path().join("switchboard");
        fs::copy(env!("CARGO_BIN_EXE_switchboard"), &own).unwrap();
        let like = home.command(&["repl"]);
        let mut prompt = Command::new(&own);
        prompt.args(like.get_args());
        set_environment(&mut prompt, &like);
        prompt.current_dir(like.get_current_dir().unwrap());
        prompt.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = prompt.stderr(Stdio::piped()).spawn().unwrap();
        Self {
            folder,
            stdin: child.stdin.take().unwrap(),
            lines: BufReader::new(child.stdout.take().unwrap()).lines(),
            child,
        }
    }

    fn enter(&mut self, line: &str) {
        writeln!(self.stdin, "{line}").unwrap();
    }

    /// The next line that it prints; nothing where it fails, for it leaves then.
    fn says(&mut self) -> Option<String> {
        self.lines.next().map(Result::unwrap)
    }

    fn delete_program(&self) {
        fs::remove_file(self.folder.path().join("switchboard")).unwrap();
    }

    /// Leaves; gives what else was printed, the exit code and stderr.
    fn leave(self) -> (Vec<String>, Option<i32>, String) {
        drop(self.stdin);
        let rest = self.lines.map(Result::unwrap).collect();
        let output = self.child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        (rest, output.status.code(), stderr)
    }
}

#[test]
fn a_prompt_whose_program_was_deleted_still_starts_servers() {
    let home = Home::new();
    let entry = json!({"command": env!("CARGO_BIN_EXE_switchboard"), "args": ["test-server"]});
    let servers = json!({"mcpServers": {"early": entry, "late": entry}});
    home.write("config/switchboard/mcp.json", &servers.to_string());
    let mut prompt = Prompt::open(&home);
    prompt.enter("call early/echo message=early");
    assert_eq!(prompt.says().as_deref(), Some("early"));
    prompt.delete_program();
    // Those that the prompt has connected to by itself are started anew.
    for name in ["early", "late"] {
        prompt.enter(&format!("/mcp disconnect {name}"));
        prompt.enter(&format!("call {name}/echo message={name}"));
    }
    let (rest, code, stderr) = prompt.leave();
    let echoed: Vec<&String> = rest.iter().filter(|line| !line.contains(' ')).collect();
    assert_eq!(echoed, ["early", "late"], "{rest:?} {stderr}");
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn a_prompt_whose_program_was_deleted_still_starts_the_demo() {
    let home = Home::new();
    let mut prompt = Prompt::open(&home);
    prompt.enter("call demo/echo message=early");
    assert_eq!(prompt.says().as_deref(), Some("early"));
    prompt.delete_program();
    prompt.enter("/mcp disconnect demo");
    prompt.enter("call demo/echo message=late");
    let (rest, code, stderr) = prompt.leave();
    assert_eq!(rest.last().map(String::as_str), Some("late"), "{stderr}");
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn a_child_that_was_there_before_the_program_is_left_alone() {
    // `exec` keeps children: this one is in a session of its own, and no server of ours.
    let program = env!("CARGO_BIN_EXE_switchboard");
    let script = format!(
        "setsid sleep 600 >/dev/null 2>&1 & echo $!; exec '{program}' call demo/echo message=x"
    );
    let state = TempDir::new().unwrap();
    let output = Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::null())
        .env("XDG_STATE_HOME", state.path())
        .env("XDG_CONFIG_HOME", state.path())
        .output()
        .unwrap();
    let run = Run::of(output);
    let (pid, rest) = run.stdout.split_once('\n').unwrap();
    // Not by /proc, which may be that of another PID namespace.
    let lives = Command::new("kill").arg(pid).status().unwrap().success();
    assert_eq!((run.code, rest, run.stderr.as_str()), (Some(0), "x\n", ""));
    assert!(lives, "{pid}");
}
