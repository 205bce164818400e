//! A terminal: colours and lines that are drawn are the program's own, and nothing else is obeyed.

use std::process::Command;

use serde_json::json;

use crate::home::Home;
use crate::pty::Pty;

use super::{Attacker, MODES, for_each, forbidden};

/// What shows something that a server says.
const LINES: [&str; 15] = [
    "servers s",
    "tools s",
    "tool s/shown",
    "call s/text",
    "call s/data",
    "call s/rows",
    "call s/fail",
    "call s/refuse",
    "call s/die",
    "call s/missing",
    "call s/slow",
    "resources s",
    "read a://all",
    "prompt s/all",
    "doctor s",
];

/// Those of them that say much.
const LONG: [&str; 5] = [
    "servers s",
    "tools s",
    "tool s/shown",
    "call s/text",
    "call s/rows",
];

fn check(written: &str, what: &str) {
    let found = forbidden::find(&forbidden::without_own(written));
    assert_eq!(found, None, "{what}");
    assert!(written.contains("ZQ"), "{what}: {written:?}");
}

#[test]
fn a_terminal_obeys_nothing_that_a_server_says() {
    let cells: Vec<(&str, &str)> = LINES
        .into_iter()
        .flat_map(|line| MODES.map(|mode| (line, mode)))
        // A terminal is given the beginning of what is long; pipes are given all of it.
        .filter(|(line, mode)| *mode != "scalars" || LONG.contains(line))
        .collect();
    for_each(&cells, |(line, mode)| {
        let attacker = Attacker::new(mode);
        let stdio = attacker.command();
        let mut words: Vec<&str> = line.split(' ').collect();
        words.extend(["--stdio", &stdio]);
        let (_, written) = Pty::spawn(&words, &[], 80).transcript();
        check(&written, &format!("{line} ({mode})"));
    });
}

/// A home whose own file has the server, as `s`.
fn home(attacker: &Attacker) -> Home {
    let home = Home::new();
    let words: Vec<String> = attacker
        .command()
        .split(' ')
        .map(|word| word.trim_matches('\'').to_owned())
        .collect();
    // By its own name: what is found in PATH may be a script that needs one.
    let python = Command::new(&words[0])
        .args(["-c", "import sys; print(sys.executable)"])
        .output()
        .unwrap();
    let python = String::from_utf8(python.stdout).unwrap();
    let file = json!({"mcpServers": {"s": {"command": python.trim(), "args": words[1..]}}});
    home.write("config/switchboard/mcp.json", &file.to_string());
    home
}

#[test]
fn a_prompt_obeys_nothing_that_a_server_says() {
    for_each(&["0", "1"], |mode| {
        let attacker = Attacker::new(mode);
        let home = home(&attacker);
        let mut pty = Pty::start(home.command(&[]), 100);
        pty.wait_for("Ctrl-D exits");
        pty.wait_until(|screen| {
            screen
                .lines()
                .last()
                .is_some_and(|line| line.trim_end() == "switchboard>")
        });
        for (line, end) in [
            ("tools s", "n17"),
            ("call s/refuse", "-32000"),
            // What is logged meanwhile is told above the line.
            ("call s/slow", "done"),
        ] {
            pty.send(format!("{line}\r").as_bytes());
            pty.wait_for(end);
            pty.wait_until(|screen| {
                screen
                    .lines()
                    .last()
                    .is_some_and(|line| line.trim_end() == "switchboard>")
            });
        }
        // What can stand here is shown below, and what it is about beside it.
        pty.send(b"call s/\t");
        pty.wait_until(|screen| screen.contains("s/rows") && screen.contains("s/text"));
        // It clears the line, with the menu below it.
        pty.send(b"\t\t\x03");
        pty.wait_until(|screen| {
            let last = screen.trim_end().lines().last();
            last.is_some_and(|line| line.trim_end() == "switchboard>")
        });
        // The prompt takes lines as before.
        pty.send(b"help\r");
        pty.wait_for("reload");
        pty.wait_until(|screen| screen.trim_end().ends_with("switchboard>"));
        pty.send(b"\x04");
        let (code, written) = pty.transcript();
        check(&written, &format!("a prompt ({mode})"));
        assert_eq!(code, 0);
    });
}

#[test]
fn a_shell_is_given_no_name_that_a_terminal_obeys() {
    for_each(&MODES, |mode| {
        let attacker = Attacker::new(mode);
        let home = home(&attacker);
        assert_eq!(home.run(&["tools"]).code, Some(0));
        for shell in ["bash", "zsh", "fish"] {
            for words in [
                ["call", "s/"],
                ["prompt", "s/"],
                ["tool", "s/"],
                ["tools", ""],
            ] {
                let mut command = home.command(&["--", "switchboard", words[0], words[1]]);
                command.env("SWITCHBOARD_COMPLETE", shell);
                command
                    .env("_CLAP_COMPLETE_INDEX", "2")
                    .env("_CLAP_IFS", "\n");
                let output = command.output().unwrap();
                let text = String::from_utf8(output.stdout).unwrap();
                assert_eq!(forbidden::find(&text), None, "{shell} {words:?} ({mode})");
                assert!(text.contains('s'), "{shell} {words:?} ({mode})");
            }
        }
    });
}

#[test]
fn what_was_approved_and_what_is_there_now_are_shown_alike() {
    for_each(
        &[("0", "1"), ("2", "3"), ("3", "scalars")],
        |(before, now)| {
            let attacker = Attacker::new(before);
            let home = home(&attacker);
            let approved = home.run(&["pins", "approve", "s", "--yes"]);
            assert_eq!(approved.code, Some(0), "{approved:?}");
            let mut all = vec![approved, home.run(&["lock"])];
            attacker.say(now);
            for words in [
                &["pins", "diff"][..],
                &["pins", "diff", "--json"],
                &["pins", "list"],
                &["verify"],
                &["verify", "--json"],
                &["tools", "s"],
            ] {
                all.push(home.run(words));
            }
            for run in &all {
                let found = forbidden::find(&run.stdout).or(forbidden::find(&run.stderr));
                assert_eq!(found, None, "{before}, then {now}");
            }
            let is_shown = all.iter().any(|run| run.stdout.contains("ZQ"));
            assert!(is_shown, "{all:?}");
        },
    );
}
