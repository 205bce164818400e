//! Config files: what a folder brings is shown before it is approved, and what is wrong with it.

use serde_json::json;

use crate::home::Home;
use crate::pty::Pty;
use crate::run::Run;

use super::{ATTACKS, for_each, forbidden, groups};

/// A home with a project that has such things in every place where a file says anything.
fn project(attacks: &[&str]) -> Home {
    let home = Home::new();
    let mut servers = serde_json::Map::new();
    for (at, attack) in attacks.iter().enumerate() {
        let entry = match at % 3 {
            0 => json!({"command": attack, "args": [attack, "--key", attack], "cwd": attack,
                        "env": {attack.replace(['\0', '='], "_"): attack}}),
            1 => json!({"type": "http", "url": format!("http://127.0.0.1:9/{attack}"),
                        "headers": {"X-A": attack}}),
            _ => json!({"command": format!("${{{attack}}}"), "type": attack, "zq": attack,
                        attack.to_string(): 1}),
        };
        servers.insert(format!("s{at}"), entry.clone());
        servers.insert(format!("s{at}{attack}"), entry);
    }
    let file = json!({"mcpServers": servers, "inputs": [{"id": attacks[0]}]});
    home.write("p/.mcp.json", &file.to_string());
    home
}

fn check(run: &Run, what: &str) {
    for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        assert_eq!(forbidden::find(text), None, "{what}, on {stream}");
    }
}

const LINES: [&str; 12] = [
    "config check",
    "config show",
    "servers",
    "servers s0",
    "tools",
    "doctor",
    "trust list",
    "trust show s0",
    "trust show s1",
    "policy check --as a s0/x",
    "export claude-code",
    "export codex",
];

#[test]
fn what_a_project_brings_is_shown_safely_as_text_and_as_json() {
    let groups: Vec<&[&str]> = ATTACKS.chunks(9).collect();
    for_each(&groups, |attacks| {
        let home = project(attacks);
        let mut shown = String::new();
        for line in LINES {
            let words: Vec<&str> = line.split(' ').collect();
            let run = home.run(&words);
            check(&run, line);
            shown.push_str(&run.stdout);
            shown.push_str(&run.stderr);
            let run = home.run(&[&words[..], &["--json"]].concat());
            check(&run, &format!("{line} --json"));
        }
        assert!(shown.contains("ZQ"), "{shown}");
    });
}

#[test]
fn what_is_wrong_with_a_file_is_shown_safely() {
    for_each(&groups(4), |attack| {
        let home = Home::new();
        let quoted = serde_json::to_string(attack).unwrap();
        for (name, text) in [
            (".mcp.json", format!("{{\"mcpServers\": {{{attack}: 1}}}}")),
            (
                ".mcp.json",
                format!("{{\"mcpServers\": {{\"s\": {quoted} {attack}"),
            ),
            (
                ".mcp.json",
                format!("{{\"mcpServers\": {{\"s\": {quoted}}}}}"),
            ),
            (
                ".mcp.json",
                format!("{{\"mcpServers\": {{{quoted}: [{quoted}]}}}}"),
            ),
            ("b.toml", format!("[mcp_servers.s]\ncommand = {attack}\n")),
        ] {
            let path = format!("p/{name}");
            home.write(&path, &text);
            for words in [
                &["config", "check"][..],
                &["config", "check", "--json"],
                &["servers", "--config", name],
                &["servers", "--config", name, "--json"],
                &["import", "--from", name],
                &["add", "x", "--scope", "project", "--", "y"],
            ] {
                let run = home.run(words);
                check(&run, &format!("{words:?} of {text:?}"));
            }
        }
    });
}

#[test]
fn a_question_is_asked_safely() {
    let groups: Vec<&[&str]> = ATTACKS.chunks(9).collect();
    for_each(&groups, |attacks| {
        let home = project(attacks);
        // A command that can be run is what is asked about.
        let entry = json!({"command": "/bin/cat", "args": attacks});
        let file = json!({"mcpServers": {"asked": entry}});
        home.write("p/.mcp.json", &file.to_string());
        let mut pty = Pty::start(home.command(&["tools", "asked"]), 80);
        pty.wait_for("Approve?");
        pty.send(b"n\r");
        let (_, written) = pty.transcript();
        assert!(written.contains("ZQ"), "{written}");
        let found = forbidden::find(&forbidden::without_own(&written));
        assert_eq!(found, None);
        let mut pty = Pty::start(home.command(&["trust", "approve", "asked"]), 80);
        pty.wait_for("[y/N]");
        pty.send(b"n\r");
        let (_, written) = pty.transcript();
        let found = forbidden::find(&forbidden::without_own(&written));
        assert_eq!(found, None);
    });
}
