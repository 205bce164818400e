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

/// A text without the milliseconds that something took.
fn timeless(text: &str) -> String {
    let mut words: Vec<&str> = text.split(' ').collect();
    for at in 1..words.len() {
        let (before, after) = words.split_at_mut(at);
        let is_time = after.first().is_some_and(|word| *word == "ms");
        if let Some(number) = before.last_mut().filter(|_| is_time) {
            *number = "N";
        }
    }
    words.join(" ")
}

#[test]
fn every_command_of_the_readme_prints_what_is_shown() {
    let page = include_str!("../../../../README.md");
    let elsewhere = Elsewhere::start();
    let home = tempfile::tempdir().expect("there is room");
    let own = std::path::Path::new(env!("CARGO_BIN_EXE_switchboard"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!(
        "{}:{path}",
        own.parent().expect("it is in a folder").display()
    );
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
            .env("HOME", home.path())
            .env("PATH", &path)
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .current_dir(home.path())
            .stdin(Stdio::null())
            .output()
            .expect("the binary is built");
        let printed = [run.stdout, run.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        let printed = printed.replace(&home.path().display().to_string(), "/home/me");
        assert_eq!(timeless(&printed), timeless(&output), "$ {command}");
        ran += 1;
    }
    assert!(ran >= 14, "only {ran} commands were found");
}
