//! Ctrl-C and its sisters: the call is cancelled on the wire, and nothing is left behind.

use std::io::{BufRead as _, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::run::command;
use crate::script::Script;

/// Far longer than anything here takes: a test that fails should not hang.
const PATIENCE: Duration = Duration::from_secs(30);

/// A server that reports every message it gets, and answers no call.
const REPORTER: &str = r#"
import signal, socket
link = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
def heard(message):
    link.sendall((json.dumps(message) + "\n").encode())
def call(request):
    pass
"#;

/// What makes it end only by force.
const STUBBORN: &str = r#"
signal.signal(signal.SIGTERM, signal.SIG_IGN)
gentle = serve
def serve():
    gentle()
    while True:
        signal.pause()
"#;

/// A call that waits, and what its server hears.
struct Waiting {
    child: Child,
    heard: BufReader<TcpStream>,
    _server: Script,
}

impl Waiting {
    fn new(changes: &str, json: bool) -> Self {
        Self::until_asked("tools/call", changes, json)
    }

    fn until_asked(method: &str, changes: &str, json: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Script::new(&format!("{REPORTER}\n{changes}"));
        let stdio = format!("{} {port}", server.command());
        let mut command = command(&["call", "s/go", "--stdio", &stdio]);
        if json {
            command.arg("--json");
        }
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // The first server is asked for the modern era and refuses; it is not started again.
        let (sender, accepted) = mpsc::channel();
        std::thread::spawn(move || sender.send(listener.accept().unwrap().0));
        let stream = accepted.recv_timeout(PATIENCE).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut waiting = Self {
            child,
            heard: BufReader::new(stream),
            _server: server,
        };
        waiting.until(method);
        waiting
    }

    /// Reads what the server hears up to a message of that method.
    fn until(&mut self, method: &str) -> serde_json::Value {
        loop {
            let mut line = String::new();
            assert_ne!(
                self.heard.read_line(&mut line).unwrap(),
                0,
                "the server ended before {method}"
            );
            let message: serde_json::Value = serde_json::from_str(&line).unwrap();
            if message["method"] == method {
                return message;
            }
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args([name, &pid])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Waits for the end of both, and gives what was said.
    fn end(mut self) -> (Option<i32>, String, String) {
        let output = self.child.wait_with_output().unwrap();
        let mut line = String::new();
        while self.heard.read_line(&mut line).unwrap_or_default() > 0 {}
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }
}

#[test]
fn a_signal_cancels_the_call_with_a_reason() {
    for (option, name, code) in [
        ("-INT", "SIGINT", 130),
        ("-TERM", "SIGTERM", 143),
        ("-HUP", "SIGHUP", 129),
    ] {
        let mut call = Waiting::new("", false);
        call.signal(option);
        let cancelled = call.until("notifications/cancelled");
        assert_eq!(
            cancelled["params"]["reason"],
            format!("the user's client was stopped by {name}")
        );
        let (ended, stdout, stderr) = call.end();
        assert_eq!((ended, stdout.as_str()), (Some(code), ""));
        assert_eq!(stderr, format!("error: stopped by {name}\n"));
    }
}

#[test]
fn a_program_reads_that_it_was_interrupted() {
    let mut call = Waiting::new("", true);
    call.signal("-INT");
    call.until("notifications/cancelled");
    let (code, _, stderr) = call.end();
    assert_eq!(code, Some(130));
    let error: serde_json::Value = serde_json::from_str(&stderr).unwrap();
    assert_eq!(
        (&error["exit"], &error["kind"]),
        (&130.into(), &"interrupted".into())
    );
}

#[test]
fn a_second_signal_leaves_at_once_and_the_server_goes_too() {
    let mut call = Waiting::new(STUBBORN, false);
    call.signal("-INT");
    call.until("notifications/cancelled");
    let again = std::time::Instant::now();
    call.signal("-INT");
    let (code, _, _) = call.end();
    assert_eq!(code, Some(130));
    // Without it, the server would get two seconds to end and two more after it was told to.
    assert!(
        again.elapsed() < Duration::from_secs(3),
        "{:?}",
        again.elapsed()
    );
}

#[test]
fn a_signal_during_the_handshake_leaves_nothing_behind() {
    let changes = format!("{STUBBORN}\ndef initialize(request):\n    pass\n");
    let call = Waiting::until_asked("initialize", &changes, false);
    call.signal("-INT");
    let (code, stdout, stderr) = call.end();
    assert_eq!((code, stdout.as_str()), (Some(130), ""));
    assert_eq!(stderr, "error: stopped by SIGINT\n");
}
