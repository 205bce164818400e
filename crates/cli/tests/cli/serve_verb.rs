//! `switchboard serve`: a real process and a raw client.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::Home;
use crate::run::Run;

const OWN: &str = env!("CARGO_BIN_EXE_switchboard");

/// A gateway that runs, and a client on its stdin and stdout.
pub(crate) struct Gateway {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Gateway {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let input = child.stdin.take();
        Self {
            child,
            input,
            output,
            id: 0,
        }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    /// Sends a request and reads up to its answer. Every line of stdout is a message.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.answer(id)
    }

    /// Reads up to the answer to a request. Every line of stdout is a message.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            assert!(
                self.output.read_line(&mut line).unwrap() > 0,
                "{}",
                self.rest()
            );
            let message: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(message["jsonrpc"], "2.0");
            if message["id"] == id {
                return message;
            }
        }
    }

    pub(crate) fn shake_hands(&mut self) -> Value {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.ask("initialize", &params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    pub(crate) fn tools(&mut self) -> Vec<String> {
        let listed = self.ask("tools/list", &json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        tools
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Reads up to the announcement that the list of tools has changed.
    pub(crate) fn wait_for_change(&mut self) {
        let mut line = String::new();
        while !line.contains("notifications/tools/list_changed") {
            line.clear();
            let read = self.output.read_line(&mut line).unwrap();
            assert!(read > 0, "{}", self.rest());
        }
    }

    /// Lists the tools until they are as wanted. Each change is announced; until then there is nothing to
    /// ask for again.
    pub(crate) fn tools_until(&mut self, is_wanted: impl Fn(&[String]) -> bool) {
        while !is_wanted(&self.tools()) {
            self.wait_for_change();
        }
    }

    /// Reads stderr up to a line with that text.
    pub(crate) fn told_until(&mut self, text: &str) -> String {
        let mut stderr = BufReader::new(self.child.stderr.take().unwrap());
        let mut told = String::new();
        while !told.contains(text) {
            assert!(stderr.read_line(&mut told).unwrap() > 0, "{told}");
        }
        // The rest stays readable, so that it never blocks.
        self.child.stderr = Some(stderr.into_inner());
        told
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// What it wrote to stderr up to its end.
    fn rest(&mut self) -> String {
        self.input = None;
        let mut text = String::new();
        let stderr = self.child.stderr.as_mut().unwrap();
        stderr.read_to_string(&mut text).unwrap();
        text
    }

    /// Closes the client's side; returns the exit code and stderr.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let text = self.rest();
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

/// A home with these servers in the person's own file, each of them the bundled one.
pub(crate) fn home(servers: &[&str], sections: &Value) -> Home {
    let home = Home::new();
    let entry = json!({"command": OWN, "args": ["test-server"]});
    let servers = servers
        .iter()
        .map(|name| ((*name).to_owned(), entry.clone()));
    let mut config = json!({"mcpServers": serde_json::Map::from_iter(servers)});
    for (key, value) in sections.as_object().unwrap() {
        config[key] = value.clone();
    }
    home.write("config/switchboard/mcp.json", &config.to_string());
    home
}

pub(crate) fn serve(home: &Home, args: &[&str]) -> Gateway {
    let mut command = home.signalled_command();
    command.arg("serve").args(args);
    Gateway::start(command)
}

fn refused(home: &Home, args: &[&str]) -> Run {
    let args = [&["serve"], args].concat();
    let run = Run::of(home.command(&args).output().unwrap());
    assert_eq!(run.stdout, "", "{args:?}");
    run
}

#[test]
fn a_client_over_stdio_uses_all_servers_as_one() {
    let home = home(&["one", "two"], &json!({}));
    let mut gateway = serve(&home, &[]);
    let hello = gateway.shake_hands();
    assert_eq!(hello["serverInfo"]["name"], "switchboard");
    let tools = gateway.tools();
    assert!(tools.is_sorted(), "{tools:?}");
    for name in ["one__echo", "two__echo", "one__add"] {
        assert!(tools.iter().any(|tool| tool == name), "{tools:?}");
    }
    let call = json!({"name": "two__echo", "arguments": {"message": "hello"}});
    let answer = gateway.ask("tools/call", &call);
    assert_eq!(answer["result"]["content"][0]["text"], "hello");
    let (code, stderr) = gateway.end();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_server_alone_is_served_with_its_own_names() {
    let home = home(&["one", "two"], &json!({}));
    let mut gateway = serve(&home, &["--server", "two"]);
    gateway.shake_hands();
    let tools = gateway.tools();
    assert!(tools.iter().any(|tool| tool == "echo"), "{tools:?}");
    assert!(!tools.iter().any(|tool| tool.contains("__")), "{tools:?}");
    assert_eq!(gateway.end().0, Some(0));
}

#[test]
fn a_profile_offers_what_it_names() {
    let profiles = json!({"profiles": {
        "work": {"servers": ["one"], "tools": ["*/e*"]},
        "odd": {"tool": []},
    }});
    let home = home(&["one", "two"], &profiles);
    let mut gateway = serve(&home, &["--profile", "work"]);
    gateway.shake_hands();
    let tools = gateway.tools();
    assert!(
        tools.iter().all(|tool| tool.starts_with("one__e")),
        "{tools:?}"
    );
    assert!(tools.iter().any(|tool| tool == "one__echo"), "{tools:?}");
    let (code, stderr) = gateway.end();
    // One bad profile warns, and the others work.
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stderr.contains("the profile odd has errors and is not served"),
        "{stderr}"
    );
    let run = refused(&home, &["--profile", "odd"]);
    assert_eq!(run.code, Some(6), "{}", run.stderr);
}

#[test]
fn a_server_that_is_not_approved_is_left_out_and_named() {
    let home = home(&["one"], &json!({}));
    let project = json!({"mcpServers": {"theirs": {"command": "sh", "args": ["-c", "x"]}}});
    home.write("p/.mcp.json", &project.to_string());
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    let listed = gateway.ask("tools/list", &json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert!(
        tools
            .iter()
            .all(|tool| tool["name"].as_str().unwrap().starts_with("one__"))
    );
    let told = serde_json::to_string(&listed["result"]["_meta"]).unwrap();
    assert!(told.contains("switchboard trust approve theirs"), "{told}");
    // stderr names it once the server was asked for, which the list has waited for.
    let mut line = String::new();
    let mut stderr = BufReader::new(gateway.child.stderr.take().unwrap());
    while !line.contains("theirs") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0);
    }
    gateway.input = None;
    stderr.read_to_string(&mut line).unwrap();
    assert!(line.contains("switchboard trust approve theirs"), "{line}");
    assert_eq!(gateway.child.wait().unwrap().code(), Some(0));
    assert!(!home.has_canary());
}

#[test]
fn a_server_that_is_approved_meanwhile_is_offered() {
    let home = home(&["one"], &json!({}));
    let project = json!({"mcpServers": {"theirs": {"command": OWN, "args": ["test-server"]}}});
    home.write("p/.mcp.json", &project.to_string());
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    let has_theirs = |tools: &[String]| tools.iter().any(|tool| tool == "theirs__echo");
    assert!(!has_theirs(&gateway.tools()));
    let run = home.run(&["trust", "approve", "theirs", "--yes"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    gateway.tools_until(has_theirs);
    let (code, stderr) = gateway.end();
    assert_eq!(code, Some(0));
    assert!(stderr.contains("theirs is offered again"), "{stderr}");
}

#[test]
fn an_entry_that_starts_a_gateway_is_left_out() {
    let home = home(&["one"], &json!({}));
    let own = json!({"mcpServers": {
        "one": {"command": OWN, "args": ["test-server"]},
        "self": {"command": OWN, "args": ["serve"]},
        "shell": {"command": "sh", "args": ["-c", "exec switchboard serve"]},
    }});
    home.write("config/switchboard/mcp.json", &own.to_string());
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    let tools = gateway.tools();
    assert!(
        tools.iter().all(|tool| tool.starts_with("one__")),
        "{tools:?}"
    );
    let (code, stderr) = gateway.end();
    assert_eq!(code, Some(0));
    for name in ["self", "shell"] {
        let expected =
            format!("switchboard: {name} is left out: its entry starts a gateway itself");
        assert!(stderr.contains(&expected), "{stderr}");
    }
    assert!(!home.has_canary());
}

#[test]
fn a_gateway_that_another_one_started_refuses_to_serve() {
    let home = home(&["one"], &json!({}));
    let mut command = home.command(&["serve"]);
    command.env("SWITCHBOARD_DEPTH", "1");
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, Some(6), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("a server of another `switchboard serve`"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_server_of_a_gateway_knows_its_depth() {
    let home = home(&[], &json!({}));
    let seen = home.path("depth").display().to_string();
    let script =
        format!("#!/bin/sh\necho \"$SWITCHBOARD_DEPTH\" > '{seen}'\nexec '{OWN}' test-server\n");
    home.program("wrapped", &script);
    let config = json!({"mcpServers": {"one": {"command": home.path("bin/wrapped")}}});
    home.write("config/switchboard/mcp.json", &config.to_string());
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    assert!(gateway.tools().iter().any(|tool| tool == "one__echo"));
    assert_eq!(gateway.end().0, Some(0));
    assert_eq!(home.read("depth"), "1\n");
}

#[test]
fn each_misuse_of_serve_has_an_error_and_a_code() {
    let home = home(&["one"], &json!({}));
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    home.write("file", "not a socket");
    let file = home.path("file").display().to_string();
    for (args, code, says) in [
        (&["--profile", "none"][..], 6, "no profile is called none"),
        (&["--server", "none"], 6, "no server is called none"),
        (&["--as", "nobody"], 6, "no policy for agent"),
        (&["--name-length", "23"], 2, "from 24 to 128"),
        (&["--http", "example.com"], 2, "expected PORT or IP:PORT"),
        (&["--http", &taken], 4, "listening on"),
        (&["--http", "0.0.0.0:0"], 6, "give --tls-cert and --tls-key"),
        (&["--http", "0.0.0.0:0", "--no-auth"], 6, "without a token"),
        (&["--unix", &file], 4, "something else than a socket"),
        (&["--no-auth"], 2, "--http"),
        (
            &["--http", "0", "--profile", "work"],
            2,
            "cannot be used with",
        ),
        (&["--http", "0", "--tls-cert", "x"], 2, "--tls-key"),
        (&["--http", "0", "--oauth", "x"], 2, "give --public-url"),
        (&["--http", "1", "--oauth", "/none"], 6, "/none"),
        (&["--oauth", "x"], 2, "--http"),
        (&["--config", "/none.json"], 6, "none.json"),
    ] {
        let run = refused(&home, args);
        assert_eq!(run.code, Some(code), "{args:?}: {}", run.stderr);
        assert!(run.stderr.contains(says), "{args:?}: {}", run.stderr);
        assert!(
            !run.stderr.contains("serving at"),
            "{args:?}: {}",
            run.stderr
        );
    }
}

#[test]
fn a_config_file_that_cannot_be_read_serves_nothing() {
    let home = home(&["one"], &json!({}));
    home.write("config/switchboard/mcp.json", "{\"agents\": ");
    let project = json!({"mcpServers": {"theirs": {"command": "sh"}}});
    home.write("p/.mcp.json", &project.to_string());
    let run = refused(&home, &[]);
    assert_eq!(run.code, Some(6), "{}", run.stderr);
}

#[test]
fn keys_of_an_issuer_are_not_fetched_past_an_unclear_network() {
    let home = home(&["one"], &json!({"network": {"proxy": 5}}));
    let issuer = json!({"issuer": "https://login.example", "rules": [{"agent": "a"}]});
    home.write("p/issuer.json", &issuer.to_string());
    let http = ["--http", "0", "--public-url", "http://localhost"];
    let run = refused(&home, &[&http[..], &["--oauth", "issuer.json"]].concat());
    assert_eq!(run.code, Some(6), "{}", run.stderr);
    assert!(run.stderr.contains("proxy"), "{}", run.stderr);
}

/// A gateway over HTTP that has told where it serves.
pub(crate) fn serve_http(home: &Home, args: &[&str]) -> (Gateway, String) {
    serve_at(home, &[&["--http", "0"], args].concat())
}

/// The same at the address that the options name.
pub(crate) fn serve_at(home: &Home, args: &[&str]) -> (Gateway, String) {
    let mut gateway = serve(home, args);
    let stderr = gateway.child.stderr.take().unwrap();
    let mut stderr = BufReader::new(stderr);
    let mut told = String::new();
    while !told.contains("serving at ") || !told.contains("Gemini") {
        assert!(stderr.read_line(&mut told).unwrap() > 0, "{told}");
    }
    // The rest stays readable, so that it never blocks.
    gateway.child.stderr = Some(stderr.into_inner());
    (gateway, told)
}

/// Posts a message and returns the head and body of the answer.
pub(crate) fn post(told: &str, token: Option<&str>, message: &Value) -> String {
    let token = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
    post_with(told, &token.unwrap_or_default(), message)
}

/// The same with these lines among the headers.
pub(crate) fn post_with(told: &str, headers: &str, message: &Value) -> String {
    let url = told.split("serving at http://").nth(1).unwrap();
    let address = url.split('/').next().unwrap();
    let mut stream = std::net::TcpStream::connect(address).unwrap();
    let body = message.to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len(),
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

pub(crate) fn hello() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

#[test]
fn clients_over_http_need_the_token_of_the_file() {
    let home = home(&["one"], &json!({}));
    let (gateway, told) = serve_http(&home, &[]);
    let file = home.path("state/switchboard/gateway-token");
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let token = std::fs::read_to_string(&file).unwrap();
    let token = token.trim();
    assert!(
        told.contains(&format!("the token, shown this once: {token}")),
        "{told}"
    );
    assert!(
        told.contains("claude mcp add --transport http switchboard http://"),
        "{told}"
    );
    assert!(post(&told, None, &hello()).starts_with("HTTP/1.1 401"));
    assert!(post(&told, Some("wrong"), &hello()).starts_with("HTTP/1.1 401"));
    let answer = post(&told, Some(token), &hello());
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    gateway.signal(Signal::TERM);
    let (code, stderr) = gateway.end();
    assert_eq!(code, Some(0), "{stderr}");
    // The next run uses the same token, and does not show it again.
    let (gateway, told) = serve_http(&home, &[]);
    assert!(!told.contains(token), "{told}");
    assert!(post(&told, Some(token), &hello()).starts_with("HTTP/1.1 200"));
    gateway.signal(Signal::INT);
    assert_eq!(gateway.end().0, Some(0));
}

#[test]
fn without_a_token_every_program_of_the_machine_is_served() {
    let home = home(&["one"], &json!({}));
    let (gateway, told) = serve_http(&home, &["--no-auth"]);
    assert!(told.contains("no token is asked for"), "{told}");
    assert!(post(&told, None, &hello()).starts_with("HTTP/1.1 200"));
    assert!(!home.path("state/switchboard/gateway-token").exists());
    gateway.signal(Signal::TERM);
    assert_eq!(gateway.end().0, Some(0));
}

#[test]
fn a_second_gateway_on_a_socket_is_refused_and_the_first_stays() {
    let home = home(&["one"], &json!({}));
    std::fs::set_permissions(home.path(""), std::fs::Permissions::from_mode(0o700)).unwrap();
    let socket = home.path("socket").display().to_string();
    let mut first = serve(&home, &["--unix", &socket]);
    let mut stderr = BufReader::new(first.child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("serving on the socket") {
        assert!(stderr.read_line(&mut told).unwrap() > 0, "{told}");
    }
    let run = refused(&home, &["--unix", &socket]);
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    first.child.stderr = Some(stderr.into_inner());
    first.signal(Signal::TERM);
    assert_eq!(first.end().0, Some(0));
    assert!(!home.path("socket").exists());
}

#[test]
fn a_signal_lets_a_call_in_flight_finish() {
    let home = home(&["one"], &json!({}));
    let mut gateway = serve(&home, &[]);
    gateway.shake_hands();
    drop(gateway.tools());
    let call = json!({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {
        "name": "one__slow_operation", "arguments": {"duration": 1, "steps": 2},
    }});
    gateway.send(&call);
    // A ping is answered after the call was taken: messages take effect in their order.
    drop(gateway.ask("ping", &json!({})));
    gateway.signal(Signal::TERM);
    let mut line = String::new();
    while !line.contains("\"id\":99") {
        line.clear();
        assert!(
            gateway.output.read_line(&mut line).unwrap() > 0,
            "{}",
            gateway.rest()
        );
    }
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert!(answer["result"].is_object(), "{line}");
    assert_eq!(gateway.end().0, Some(0));
}
