//! How `switchboard serve` ends, and that its servers end with it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::Home;
use crate::keepers::with_argument;

const SERVERS: usize = 20;

/// A home with twenty servers that write down each call before they run it.
struct Servers {
    home: Home,
    /// An argument of all of their processes.
    mark: String,
}

impl Servers {
    fn new() -> Self {
        let home = Home::new();
        let mark = home.path("mark").display().to_string();
        let servers = (0..SERVERS).map(|number| {
            let name = format!("s{number:02}");
            let journal = home.path(&format!("journal-{name}"));
            let args = json!(["test-server", "--journal", journal, "--instance", mark]);
            let entry = json!({"command": env!("CARGO_BIN_EXE_switchboard"), "args": args});
            (name, entry)
        });
        let servers: serde_json::Map<_, _> = servers.collect();
        let config = json!({"mcpServers": servers});
        home.write("config/switchboard/mcp.json", &config.to_string());
        Self { home, mark }
    }

    fn serve(&self, args: &[&str]) -> Command {
        let mut command = self.home.signalled_command();
        command.arg("serve").args(args);
        command
    }

    /// How many processes there are of them.
    fn running(&self) -> usize {
        with_argument(&self.mark).len()
    }

    /// Waits until a call has reached a server.
    fn called(&self, server: &str) {
        let journal = self.home.path(&format!("journal-{server}"));
        until("a call at the server", || {
            std::fs::metadata(&journal).is_ok_and(|file| file.len() > 0)
        });
    }
}

/// Waits for a condition.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let ends = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < ends, "it did not happen: {what}");
        std::thread::yield_now();
    }
}

/// A gateway over HTTP.
struct Gateway {
    child: Child,
    address: String,
    stderr: Option<BufReader<std::process::ChildStderr>>,
}

impl Gateway {
    fn start(servers: &Servers) -> Self {
        let mut command = servers.serve(&["--http", "0", "--no-auth"]);
        command.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut told = String::new();
        let address = loop {
            assert!(stderr.read_line(&mut told).unwrap() > 0, "{told}");
            let url = told.split("serving at http://").nth(1);
            if let Some((address, _)) = url.and_then(|url| url.split_once("/mcp")) {
                break address.to_owned();
            }
        };
        Self {
            child,
            address,
            stderr: Some(stderr),
        }
    }

    fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Makes a modern request in a thread, which ends with the whole answer.
    fn ask(&self, method: &'static str, mut params: Value) -> JoinHandle<String> {
        let name = params["name"].as_str();
        let name = name.map(|name| format!("Mcp-Name: {name}\r\n"));
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        });
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
        let (body, address) = (message.to_string(), self.address.clone());
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            name.unwrap_or_default(),
            body.len(),
        );
        std::thread::spawn(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        })
    }

    /// Waits until those tools are listed: servers that were never seen are offered once they are connected to.
    fn offers(&self, servers: &[&str]) {
        until("all tools are listed", || {
            let listed = self.ask("tools/list", json!({})).join().unwrap();
            let mut names = servers
                .iter()
                .map(|name| format!("\"{name}__slow_operation\""));
            names.all(|name| listed.contains(&name))
        });
    }

    /// Waits for its end; returns the exit code and the rest of stderr.
    fn end(mut self) -> (Option<i32>, String) {
        let mut text = String::new();
        let mut stderr = self.stderr.take().unwrap();
        stderr.read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap().code(), text)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // Ignored: it has ended already, where the test did not fail.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn slow_call(server: &str) -> Value {
    let name = format!("{server}__slow_operation");
    json!({"name": name, "arguments": {"duration": 2, "steps": 2}})
}

#[test]
fn calls_in_flight_over_http_finish_after_a_signal() {
    let servers = Servers::new();
    let gateway = Gateway::start(&servers);
    let used = ["s00", "s07", "s19"];
    gateway.offers(&used);
    let calls = used.map(|server| gateway.ask("tools/call", slow_call(server)));
    for server in used {
        servers.called(server);
    }
    gateway.signal(Signal::TERM);
    for call in calls {
        let answer = call.join().unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(answer.contains("\"result\":{"), "{answer}");
    }
    let (code, stderr) = gateway.end();
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(servers.running(), 0);
}

#[test]
fn a_gateway_that_is_killed_leaves_no_server() {
    let servers = Servers::new();
    let gateway = Gateway::start(&servers);
    until("all servers run", || servers.running() >= SERVERS);
    gateway.offers(&["s03"]);
    let call = gateway.ask("tools/call", slow_call("s03"));
    servers.called("s03");
    gateway.signal(Signal::KILL);
    assert_eq!(gateway.end().0, None);
    until("all servers have ended", || servers.running() == 0);
    // The connection broke, and nothing answered.
    let answer = call.join();
    assert!(answer.is_err() || !answer.unwrap().contains("\"result\":{"));
}

#[test]
fn the_end_of_stdin_ends_a_gateway_and_all_of_its_servers() {
    let servers = Servers::new();
    let mut command = servers.serve(&[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let params = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }});
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
    writeln!(input, "{list}").unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(answer["id"], 1, "{answer}");
    until("all servers run", || servers.running() >= SERVERS);
    drop(input);
    let ended = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{stderr}");
    assert_eq!(servers.running(), 0);
}
