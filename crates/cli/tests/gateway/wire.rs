//! A client that keeps the text of what it gets, over stdio and HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use switchboard_wire::{Era, Raw};

/// The version that requests of an era have.
pub(crate) fn version(era: Era) -> &'static str {
    match era {
        Era::Legacy => "2025-11-25",
        Era::Modern => "2026-07-28",
    }
}

/// A connection in one era.
pub(crate) struct Wire {
    era: Era,
    way: Way,
    next: u64,
}

enum Way {
    Stdio(Process),
    Http {
        url: String,
        session: Option<String>,
    },
}

struct Process {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Wire {
    /// Starts a server and opens a connection to it.
    pub(crate) fn stdio(command: &mut Command, era: Era) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let process = Process {
            child,
            stdin,
            stdout,
        };
        Self::open(era, Way::Stdio(process))
    }

    /// Opens a connection to a URL.
    pub(crate) fn http(url: &str, era: Era) -> Self {
        let url = url.to_owned();
        Self::open(era, Way::Http { url, session: None })
    }

    fn open(era: Era, way: Way) -> Self {
        let next = 1;
        let mut wire = Self { era, way, next };
        if era == Era::Legacy {
            let hello = json!({"protocolVersion": version(era), "capabilities": {},
                "clientInfo": {"name": "wire", "version": "1"}});
            wire.ask("initialize", hello);
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            wire.send(&ready, "notifications/initialized", None);
        }
        wire
    }

    /// Calls a tool; gives the text of `result`.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = Raw::parse(&answer).unwrap().member("result");
        result.expect(&answer).as_str().to_owned()
    }

    /// Makes a request; gives the whole answer.
    pub(crate) fn ask(&mut self, method: &str, mut params: Value) -> String {
        let id = self.next;
        self.next += 1;
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": version(self.era),
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
            });
        }
        let name = params["name"].as_str().map(str::to_owned);
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let answers = self.send(&message, method, name.as_deref());
        if let Some(answer) = answers.into_iter().find(|it| is_answer(it, id)) {
            return answer;
        }
        let Way::Stdio(process) = &mut self.way else {
            panic!("{method} is not answered");
        };
        loop {
            let mut line = String::new();
            assert!(process.stdout.read_line(&mut line).unwrap() > 0, "the end");
            let line = line.strip_suffix('\n').unwrap_or(&line);
            if is_answer(line, id) {
                return line.to_owned();
            }
        }
    }

    /// Sends a message; gives the messages of the HTTP response.
    fn send(&mut self, message: &Value, method: &str, name: Option<&str>) -> Vec<String> {
        let body = message.to_string();
        match &mut self.way {
            Way::Stdio(process) => {
                process.stdin.write_all(body.as_bytes()).unwrap();
                process.stdin.write_all(b"\n").unwrap();
                process.stdin.flush().unwrap();
                Vec::new()
            }
            Way::Http { url, session } => {
                let mut head = format!("MCP-Protocol-Version: {}\r\n", version(self.era));
                if self.era == Era::Modern {
                    head += &format!("Mcp-Method: {method}\r\n");
                    head += &name.map_or_else(String::new, |it| format!("Mcp-Name: {it}\r\n"));
                } else if let Some(session) = session {
                    head += &format!("Mcp-Session-Id: {session}\r\n");
                }
                let (opened, messages) = post(url, &head, &body);
                if session.is_none() {
                    *session = opened;
                }
                messages
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

fn is_answer(text: &str, id: u64) -> bool {
    let message = Raw::parse(text).unwrap();
    let own = message.member("id");
    message.member("method").is_none() && own.is_some_and(|own| own.as_str() == id.to_string())
}

/// Posts a message on a connection of its own; gives the session that it opened, and all messages.
fn post(url: &str, head: &str, body: &str) -> (Option<String>, Vec<String>) {
    let address = url.strip_prefix("http://").unwrap();
    let (host, path) = address.split_once('/').unwrap();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         {head}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(host).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    let end = response
        .windows(4)
        .position(|it| it == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8(response[..end].to_vec()).unwrap();
    let header = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(key, _)| key.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.to_owned())
    };
    assert!(head.starts_with("HTTP/1.1 20"), "{head}");
    let mut body = response.split_off(end + 4);
    if header("transfer-encoding").is_some() {
        body = unchunked(&body);
    }
    let body = String::from_utf8(body).unwrap();
    let is_stream = header("content-type").is_some_and(|it| it.contains("event-stream"));
    let messages = if is_stream {
        let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
        let data = data.map(|data| data.strip_prefix(' ').unwrap_or(data).to_owned());
        // The first event of a stream that can be resumed has no data.
        data.filter(|data| !data.is_empty()).collect()
    } else {
        Some(body).into_iter().filter(|it| !it.is_empty()).collect()
    };
    (header("mcp-session-id"), messages)
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    loop {
        let end = rest.windows(2).position(|it| it == b"\r\n").unwrap();
        let size = str::from_utf8(&rest[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return whole;
        }
        whole.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 2 + size + 2..];
    }
}
