//! `switchboard servers`, at terminals of several widths.

use serde_json::Value;

use crate::home::Home;
use crate::pty::Pty;
use crate::run::switchboard;

/// A home with a server that works, one that does not, and one that is switched off.
fn home() -> Home {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_switchboard");
    let config = format!(
        r#"{{"mcpServers": {{
  "calc": {{"command": "{own}", "args": ["test-server"]}},
  "gone": {{"command": "no-such-command-anywhere"}},
  "off": {{"command": "{own}", "enabled": false}}
}}}}"#
    );
    home.write("config/switchboard/mcp.json", &config);
    home
}

/// A screen without times and without the home's name, its spaces taken together.
fn told(screen: &str, home: &Home) -> Vec<String> {
    let root = home.path("").display().to_string();
    let screen = screen.replace(root.trim_end_matches('/'), "~");
    let lines = screen.lines().map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let words = words.join(" ");
        let words = match words.find(" 7 ").filter(|_| words.starts_with("ok ")) {
            // The estimate changes with the definitions.
            Some(at) => {
                let (before, after) = words.split_at(at + 3);
                let rest = after.split_once(' ').map_or("", |(_, rest)| rest);
                format!("{before}TOKENS {rest}")
            }
            None => words,
        };
        match words.find(" ms") {
            Some(at) => {
                let start = words[..at].rfind([' ', ',']).map_or(0, |space| space + 1);
                format!("{}N{}", &words[..start], &words[at..])
            }
            None => words,
        }
    });
    lines.collect()
}

#[test]
fn a_wide_terminal_has_a_column_for_each_thing() {
    let home = home();
    let (code, screen) = Pty::start(home.command(&["servers"]), 200).finish();
    assert_eq!(code, 0);
    let lines = told(&screen, &home);
    assert_eq!(
        lines[..2],
        [
            "SERVER STATUS PROTOCOL TOOLS TOKENS LATENCY CONFIG",
            "ok calc connected 2026-07-28 7 TOKENS N ms ~/config/switchboard/mcp.json:2",
        ]
    );
    assert_eq!(
        lines[2..],
        [
            "x gone failed - - - - ~/config/switchboard/mcp.json:3",
            "- off disabled - - - - ~/config/switchboard/mcp.json:4",
            "",
            "gone: command \"no-such-command-anywhere\" was not found",
            "details: switchboard servers gone",
        ]
    );
}

#[test]
fn columns_that_do_not_fit_go_and_a_narrow_terminal_has_lines() {
    let home = home();
    let (_, screen) = Pty::start(home.command(&["servers"]), 66).finish();
    let head = screen.lines().next().unwrap();
    assert!(
        head.starts_with("   SERVER") && !head.contains("PROTOCOL"),
        "{screen}"
    );
    assert!(
        screen.lines().all(|line| line.chars().count() <= 66),
        "{screen}"
    );
    let (code, screen) = Pty::start(home.command(&["servers"]), 40).finish();
    assert_eq!(code, 0);
    assert!(
        screen.starts_with("calc  connected, 2026-07-28, 7 tools, 3"),
        "{screen}"
    );
    assert!(screen.contains("\ngone  failed, "), "{screen}");
}

#[test]
fn a_pipe_has_one_line_for_each() {
    let home = home();
    let run = home.run(&["servers"]);
    assert_eq!(run.stdout.lines().count(), 3, "{run:?}");
    let lines = told(&run.stdout, &home);
    assert_eq!(
        lines[0],
        "calc connected 2026-07-28 7 tools 3 resources 3 prompts N ms stdio ~/config/switchboard/mcp.json:2"
    );
}

#[test]
fn one_server_is_shown_in_full() {
    let run = switchboard(&["servers", "demo"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "demo: connected");
    for line in [
        "  server info:   switchboard-testkit ",
        "  identity:      stdio:",
        "  transport:     stdio",
        "  protocol:      2026-07-28 (modern)",
        "  process:       ",
        "  connected in:  ",
        "  ping:          ",
        "  offers:        7 tools, 3 resources, 1 template, 3 prompts",
        "  capabilities:  tools (notifies of changes), ",
        "  config:        the command line",
        "  approval:      not needed",
        "  definitions:   about ",
        "  instructions:",
    ] {
        assert!(
            lines.iter().any(|one| one.starts_with(line)),
            "{line:?}: {run:?}"
        );
    }
}

#[test]
fn the_document_has_what_it_had_and_more() {
    let run = switchboard(&["servers", "demo", "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["era"], "modern");
    assert!(document["pid"].as_u64().is_some(), "{document}");
    assert!(document["latency_ms"].as_f64().is_some(), "{document}");
    assert!(document["capabilities"]["tools"].is_object(), "{document}");
    for old in [
        "server", "state", "identity", "version", "took_ms", "tools", "notices",
    ] {
        assert!(!document[old].is_null(), "{old}: {document}");
    }
}
