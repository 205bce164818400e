//! A program that is stopped (Ctrl-Z, SIGSTOP, a frozen container) past a deadline, and goes on: an answer that has
//! come meanwhile counts.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::run::{Run, command, said};
use crate::script::Script;

/// The deadline of everything, in seconds: long enough for a server to start on a busy machine.
const DEADLINE: u64 = 6;

/// Far longer than anything here takes: a test that fails should not hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server that waits before it answers one method until it is told to, and says so when it has.
const WAITS: &str = r#"
import socket
control = socket.create_connection(("127.0.0.1", int(sys.argv[1]))).makefile("rw")
wanted = sys.argv[2]
def tell(word):
    control.write(word + "\n")
    control.flush()
def heard(message):
    if message.get("method") == wanted:
        tell("heard")
        control.readline()
plain = answer
def answer(request, result):
    plain(request, result)
    if request.get("method") == wanted:
        tell("answered")
"#;

/// The same server, over HTTP.
const OVER_HTTP: &str = r#"
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args):
        pass
    def do_GET(self):
        self.reply(405, b"")
    do_DELETE = do_GET
    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        global write
        written = []
        write = written.append
        heard(message)
        method = message.get("method")
        known = {"initialize": initialize, "tools/list": list_tools, "tools/call": call}
        if "id" not in message:
            return self.reply(202, b"")
        if method in known:
            known[method](message)
            self.reply(200, written[0].encode())
        else:
            refuse(message, -32601, "no such method")
            self.reply(400, written[0].encode())
        if method == wanted:
            tell("sent")
def serve():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tell(str(server.server_port))
    server.serve_forever()
"#;

/// What a server is told, and what it says.
struct Control {
    said: BufReader<TcpStream>,
    told: TcpStream,
}

impl Control {
    fn of(listener: &TcpListener) -> Self {
        let told = listener.accept().unwrap().0;
        told.set_read_timeout(Some(PATIENCE)).unwrap();
        let said = BufReader::new(told.try_clone().unwrap());
        Self { said, told }
    }

    fn next(&mut self) -> String {
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        line.trim().to_owned()
    }

    fn go_on(&mut self) {
        self.told.write_all(b"go\n").unwrap();
    }
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([name, &pid]).status().unwrap();
    assert!(sent.success());
}

/// Waits until the whole process stands still.
fn until_stopped(child: &Child) {
    let tasks = format!("/proc/{}/task", child.id());
    let is_stopped = |stat: String| stat.rsplit(')').next().unwrap().trim().starts_with('T');
    loop {
        let all = std::fs::read_dir(&tasks).unwrap().all(|task| {
            let stat = std::fs::read_to_string(task.unwrap().path().join("stat"));
            is_stopped(stat.unwrap())
        });
        if all {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Stops the program while its server owes it an answer, has the server answer, and lets the deadline pass.
fn stopped_meanwhile(child: Child, control: &mut Control, last_word: &str) -> Run {
    assert_eq!(control.next(), "heard");
    signal(&child, "-STOP");
    until_stopped(&child);
    control.go_on();
    while control.next() != last_word {}
    // The deadline began before the server heard the request.
    std::thread::sleep(Duration::from_secs(DEADLINE) + Duration::from_millis(200));
    signal(&child, "-CONT");
    Run::of(child.wait_with_output().unwrap())
}

fn spawn(args: &[&str]) -> Child {
    let timeout = DEADLINE.to_string();
    let mut command = command(&["call", "s/go", "--timeout", &timeout]);
    command.args(args);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn over_stdio(method: &str) -> Run {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = Script::new(WAITS);
    let stdio = format!("{} {port} {method}", server.command());
    let child = spawn(&["--stdio", &stdio]);
    let mut control = Control::of(&listener);
    stopped_meanwhile(child, &mut control, "answered")
}

fn over_http(method: &str) -> Run {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = Script::new(&format!("{WAITS}\n{OVER_HTTP}"));
    let line = format!("exec {} {port} {method}", script.command());
    let mut server = Command::new("sh").args(["-c", &line]).spawn().unwrap();
    let mut control = Control::of(&listener);
    let url = format!("http://127.0.0.1:{}/mcp", control.next());
    let child = spawn(&["--url", &url]);
    let run = stopped_meanwhile(child, &mut control, "sent");
    server.kill().unwrap();
    server.wait().unwrap();
    run
}

#[test]
fn an_answer_that_came_while_the_host_was_stopped_counts() {
    type Way = fn(&str) -> Run;
    let runs: [(&str, Way); 6] = [
        ("initialize", over_stdio),
        ("tools/list", over_stdio),
        ("tools/call", over_stdio),
        ("initialize", over_http),
        ("tools/list", over_http),
        ("tools/call", over_http),
    ];
    // All at once: each of them waits for its deadline.
    let ended = runs.map(|(method, run)| (method, std::thread::spawn(move || run(method))));
    for (at, (method, run)) in ended.into_iter().enumerate() {
        let run = run.join().unwrap();
        assert_eq!(run, said(0, "went\n", ""), "{at} {method}");
    }
}
