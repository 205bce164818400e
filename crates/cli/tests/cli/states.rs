//! The states of servers, in text and JSON: connecting, connected, failed, disabled, needs_approval.

use std::fs;

use serde_json::{Value, json};

use crate::home::Home;
use crate::pty::Pty;
use crate::run::{Run, switchboard};
use crate::script::Script;

const MINE: &str = "config/switchboard/mcp.json";

/// A home with a server in each state.
fn home() -> Home {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_switchboard");
    let servers = json!({
        "good": {"command": own, "args": ["test-server"]},
        "gone": {"command": "no-such-command-anywhere"},
        "off": {"command": own, "disabled": true},
    });
    home.write(MINE, &json!({"mcpServers": servers}).to_string());
    let theirs = json!({"theirs": {"command": "sh", "args": ["-c", "x"]}});
    home.write("p/.mcp.json", &json!({"mcpServers": theirs}).to_string());
    home
}

const STATES: [(&str, &str); 4] = [
    ("gone", "failed"),
    ("good", "connected"),
    ("off", "disabled"),
    ("theirs", "needs_approval"),
];

fn json_of(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn all_servers_are_shown_with_their_states() {
    let home = home();
    for verb in ["servers", "doctor"] {
        let all = json_of(&home.run(&[verb, "--json"]));
        let servers = all["servers"].as_array().unwrap().iter();
        let states = servers.map(|server| {
            let text = |key: &str| server[key].as_str().unwrap().to_owned();
            (text("server"), text("state"))
        });
        let mut states: Vec<(String, String)> = states.collect();
        states.sort();
        let wanted = STATES.map(|(name, state)| (name.to_owned(), state.to_owned()));
        assert_eq!(states, wanted, "{verb}");
    }
    let text = home.run(&["servers"]).stdout;
    for (name, state) in STATES {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        assert_eq!(line.split_whitespace().nth(1), Some(state), "{text}");
    }
    let text = home.run(&["doctor"]).stdout;
    for (name, state) in STATES {
        let row = format!(" {name} {}", state.replace('_', " "));
        let mut rows = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        assert!(rows.any(|words| words.join(" ").contains(&row)), "{text}");
    }
}

#[test]
fn one_server_is_shown_with_its_state_whatever_it_is() {
    let home = home();
    for ((name, state), code) in STATES.into_iter().zip([4, 0, 0, 7]) {
        let run = home.run(&["servers", name, "--json"]);
        assert_eq!(run.code, Some(code), "{run:?}");
        let document = json_of(&run);
        assert_eq!(
            (&document["server"], &document["state"]),
            (&json!(name), &json!(state))
        );
        let error = &document["error"];
        assert_eq!(error.is_null(), code == 0, "{document}");
        if code != 0 {
            assert_eq!(
                (&error["exit"], &run.error()["exit"]),
                (&json!(code), &json!(code))
            );
        }
        let run = home.run(&["servers", name]);
        let head = format!("{name}: {}\n", state.replace('_', " "));
        assert!(run.stdout.starts_with(&head), "{run:?}");
        assert_eq!(run.code, Some(code), "{run:?}");
    }
    assert!(!home.has_canary());
}

#[test]
fn the_prompt_shows_states_before_anything_is_used() {
    let home = home();
    let mut pty = Pty::start(home.command(&["repl"]), 120);
    pty.wait_for("switchboard>");
    pty.send(b"/mcp\r");
    pty.wait_until(|screen| {
        let shows = |name: &str, state: &str| {
            let mut lines = screen.lines();
            lines.any(|line| line.contains(&format!(" {name} ")) && line.contains(state))
        };
        shows("theirs", "needs approval") && shows("off", "disabled")
    });
    pty.send(b"exit\r");
    pty.finish();
    assert!(!home.has_canary());
}

/// Servers that connect and then fail to list their tools, or end.
fn half_broken() -> [(&'static str, &'static str, Script); 2] {
    let list = |body: &str| {
        let says = "sys.stderr.write(\"the disk is full\\n\"); sys.stderr.flush(); ";
        format!("def list_tools(request):\n    {says}{body}\n")
    };
    let refuses = Script::new(&list("refuse(request, -32603, \"database is locked\")"));
    let ends = Script::new(&list("sys.exit(3)"));
    [("refuses", "connected", refuses), ("ends", "failed", ends)]
}

#[test]
fn one_that_failed_to_list_is_shown_with_its_error_and_stderr() {
    let folder = tempfile::tempdir().unwrap();
    for (name, state, script) in half_broken() {
        let mut entry = script.entry();
        entry["protocol"] = json!("legacy");
        let file = folder.path().join(format!("{name}.json"));
        fs::write(&file, json!({"mcpServers": {name: entry}}).to_string()).unwrap();
        let file = file.to_str().unwrap();
        for one in [&[][..], &[name]] {
            let run = switchboard(&[&["servers"], one, &["--config", file, "--json"]].concat());
            let document = json_of(&run);
            let server = match one.is_empty() {
                true => &document["servers"][0],
                false => &document,
            };
            assert_eq!(server["state"], state, "{run:?}");
            let error = &server["error"];
            assert_eq!(error["exit"], run.code.unwrap(), "{run:?}");
            assert_eq!(error["stderr"], json!(["the disk is full"]), "{run:?}");
            let run = switchboard(&[&["servers"], one, &["--config", file, "-q"]].concat());
            assert!(run.stdout.contains(state), "{run:?}");
            let said = format!("{}{}", run.stdout, run.stderr);
            assert!(said.contains("the disk is full"), "{run:?}");
            let words = match name {
                "refuses" => "database is locked",
                _ => "exit code 3",
            };
            assert!(said.contains(words), "{run:?}");
        }
        let run = switchboard(&["doctor", "--config", file]);
        let head = match state {
            "connected" => " x refuses  connected with errors",
            _ => " x ends    failed",
        };
        assert!(run.stdout.contains(head), "{run:?}");
        assert!(run.stdout.contains("the disk is full"), "{run:?}");
    }
}
