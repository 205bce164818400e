//! The prompt, typed into at a terminal.

mod agents;
mod keys;
mod lines;
mod news;
mod questions;
mod values;
mod verbs;

use crate::home::Home;
use crate::prompt::{READY, enter, leave, opened};
use crate::pty::Pty;

/// An entry for this very binary as a server.
fn entry(args: &[&str]) -> serde_json::Value {
    let args: Vec<&str> = ["test-server"].iter().chain(args).copied().collect();
    serde_json::json!({"command": env!("CARGO_BIN_EXE_switchboard"), "args": args})
}

/// A home whose own file has those servers, and those other sections.
fn home(servers: &serde_json::Value, sections: &serde_json::Value) -> Home {
    let home = Home::new();
    let mut file = serde_json::json!({"mcpServers": servers});
    for (name, section) in sections.as_object().into_iter().flatten() {
        file[name] = section.clone();
    }
    home.write("config/switchboard/mcp.json", &file.to_string());
    home
}

/// Opens a prompt at a terminal.
fn open(home: &Home) -> Pty {
    opened(Pty::start(home.command(&[]), 100))
}

/// Waits until a text is on the screen, and the prompt is back below it.
fn shows(pty: &Pty, text: &str) {
    pty.wait_until(|screen| {
        let found = screen.rfind(text);
        found.is_some_and(|at| screen[at..].lines().last().is_some_and(is_ready))
    });
}

/// Whether the last line of the screen is a prompt with nothing behind it.
fn is_ready(line: &str) -> bool {
    line.starts_with("switchboard") && line.trim_end().ends_with('>')
}
