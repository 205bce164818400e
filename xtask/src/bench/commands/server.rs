//! The server of the commands, and how long it takes alone: started with pipes, asked in plain bytes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Number of tools.
const TOOLS: &str = "20";

/// A part of the last tool's name, which proves that a client has read the whole list.
pub(super) const LAST: &str = "_0019";

/// The messages of a client until it knows the tools; none of them waits for an answer.
const ASKED: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/list"}
"#;

/// The server that all commands start.
pub(super) struct Server {
    program: String,
}

impl Server {
    /// The one that was built for the benchmark.
    pub(super) fn at(programs: &Path) -> Result<Self, String> {
        let program = programs.join("bench-server").into_os_string();
        let program = program
            .into_string()
            .map_err(|_| "the path of the server is not text")?;
        Ok(Self { program })
    }

    pub(super) fn program(&self) -> &str {
        &self.program
    }

    pub(super) fn arguments(&self) -> [&'static str; 2] {
        ["--tools", TOOLS]
    }

    /// The whole command, for those who take it as one word.
    pub(super) fn line(&self) -> String {
        let [option, count] = self.arguments();
        format!("'{}' {option} {count}", self.program)
    }

    /// Starts it, asks for its tools and waits for the answer; its end is not part of the time.
    pub(super) fn time(&self) -> Result<Duration, String> {
        let failed = |error: std::io::Error| format!("the server alone failed: {error}");
        let started = Instant::now();
        let mut child = Command::new(&self.program)
            .args(self.arguments())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the server alone has no pipes".to_owned());
        };
        stdin.write_all(ASKED).map_err(failed)?;
        let mut answers = BufReader::new(stdout);
        let mut answer = String::new();
        for _ in ["initialize", "tools/list"] {
            answer.clear();
            answers.read_line(&mut answer).map_err(failed)?;
        }
        let took = started.elapsed();
        drop(stdin);
        child.wait().map_err(failed)?;
        if !answer.contains(LAST) {
            return Err(format!("the server alone did not list its tools: {answer}"));
        }
        Ok(took)
    }
}
