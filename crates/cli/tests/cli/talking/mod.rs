//! The bundled server where it talks back, in both eras: from the prompt, and from plain commands.

mod asking;
mod telling;

use serde_json::{Value, json};

use crate::home::Home;
use crate::prompt::{READY, enter, leave_well as leave, opened};
use crate::pty::Pty;

const ERAS: [&str; 2] = ["legacy", "modern"];
/// A home with the server `kit`, which speaks one era alone.
fn home(era: &str) -> Home {
    let home = Home::new();
    describe(&home, era, json!({}), json!({}));
    home
}

/// Describes the server, with more members for its entry and for the whole file.
fn describe(home: &Home, era: &str, entry: Value, mut file: Value) {
    let args = ["test-server", "--talking", "--asking-models", "--era", era];
    let mut server = json!({"command": env!("CARGO_BIN_EXE_switchboard"), "args": args});
    if let (Value::Object(server), Value::Object(entry)) = (&mut server, entry) {
        server.extend(entry);
    }
    file["mcpServers"] = json!({"kit": server});
    home.write("config/switchboard/mcp.json", &file.to_string());
}

fn run(home: &Home, args: &[&str]) -> Pty {
    Pty::start(home.command(args), 100)
}

/// Opens a prompt.
fn open(home: &Home) -> Pty {
    opened(run(home, &[]))
}

fn ends(pty: Pty) {
    let (code, screen) = pty.finish();
    assert_eq!(code, 0, "{screen}");
}

#[test]
fn the_server_is_of_the_era_that_it_is_meant_to_be() {
    for (era, version) in ERAS.into_iter().zip(["2025-11-25", "2026-07-28"]) {
        let run = home(era).run(&["servers", "kit", "--json"]);
        let server: Value = serde_json::from_str(&run.stdout).unwrap();
        let found = (&server["era"], &server["version"]);
        assert_eq!(found, (&json!(era), &json!(version)), "{server}");
    }
}
