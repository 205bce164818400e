//! What the README shows is what happens.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

struct Shown {
    command: String,
    output: String,
}

/// The commands in the README's blocks, each with the output shown under it.
fn shown(page: &str) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    let (mut open, mut inside) = (false, false);
    for line in page.lines() {
        if line.starts_with("```") {
            // A block that names a language shows code, not a terminal.
            open = !open;
            inside = open && line == "```";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            all.push(Shown {
                command: command.to_owned(),
                output: String::new(),
            });
        } else if let Some(last) = all.last_mut().filter(|_| inside) {
            last.output.push_str(line);
            last.output.push('\n');
        }
    }
    all
}

fn arguments(command: &str) -> Option<Vec<String>> {
    let command = command
        .strip_prefix("switchboard ")
        .or_else(|| command.strip_prefix("cargo run --release -- "))?;
    Some(shlex::split(command).expect("the README's quotes are closed"))
}

/// The server that the page has its reader start in another terminal, on a port that is free.
struct Elsewhere {
    server: Child,
    url: String,
}

impl Elsewhere {
    /// Where the page says it is.
    const SHOWN: &str = "http://127.0.0.1:8808/mcp";

    fn start() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_switchboard"))
            .args(["test-server", "--port", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary is built");
        let mut line = String::new();
        let stdout = server.stdout.take().expect("it is a pipe");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("the server says where it is");
        let url = line.trim().strip_prefix("listening on ");
        let url = url.expect("the server says where it is").to_owned();
        Self { server, url }
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        self.server.kill().ok();
        self.server.wait().ok();
    }
}

#[test]
fn every_command_of_the_readme_prints_what_is_shown() {
    let page = include_str!("../../../README.md");
    let elsewhere = Elsewhere::start();
    let mut ran = 0;
    for Shown { command, output } in shown(page) {
        let Some(arguments) = arguments(&command) else {
            continue;
        };
        // What a downloaded server says is for the interop tests.
        if arguments.iter().any(|argument| argument.contains("uvx")) {
            continue;
        }
        let arguments = arguments
            .iter()
            .map(|argument| argument.replace(Elsewhere::SHOWN, &elsewhere.url));
        let run = Command::new(env!("CARGO_BIN_EXE_switchboard"))
            .args(arguments)
            .env("XDG_STATE_HOME", env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::null())
            .output()
            .expect("the binary is built");
        let printed = [run.stdout, run.stderr].concat();
        assert_eq!(String::from_utf8_lossy(&printed), output, "$ {command}");
        ran += 1;
    }
    assert!(ran >= 7, "only {ran} commands were found");
}
