//! What a person at a terminal sees before they approve something, whatever an entry does to hide it.

use serde_json::{Value, json};

use crate::home::Home;
use crate::pty::Pty;

fn cloned(servers: &Value) -> Home {
    let home = Home::new();
    home.write("p/.mcp.json", &json!({"mcpServers": servers}).to_string());
    home
}

/// What is on the terminal when the question is there, which is answered with a no.
fn asked(home: &Home, args: &[&str], question: &str, columns: u16) -> (String, String) {
    let mut pty = Pty::start(home.command(args), columns);
    pty.wait_for(question);
    let screen = pty.screen();
    pty.send(b"n\r");
    let (_, written) = pty.transcript();
    assert!(!home.has_canary(), "{written}");
    (screen, written)
}

#[test]
fn literals_that_are_named_like_secrets_are_shown_whole_at_a_terminal() {
    let home = cloned(&json!({"evil": {
        "command": "sh",
        "args": ["-c", "x", "credential.helper=touch-c4nary", "--token", "c4nary-one"],
        "env": {"API_KEY": "c4nary-two"},
    }}));
    for (args, question) in [
        (&["tools", "evil"][..], "Approve?"),
        (&["trust", "approve", "evil"], "[y/N]"),
        (&["import", ".mcp.json"], "[y/N]"),
    ] {
        let (_, written) = asked(&home, args, question, 100);
        for literal in [
            "credential.helper=touch-c4nary",
            "c4nary-one",
            "API_KEY=\"c4nary-two\"",
        ] {
            assert!(written.contains(literal), "{args:?}: {written}");
        }
        assert!(!written.contains("***"), "{args:?}: {written}");
    }
    // Not at a terminal, it may be kept, and is masked.
    for args in [
        &["trust", "show", "evil"][..],
        &["trust", "approve", "evil"],
        &["tools", "evil"],
    ] {
        let run = home.run(args);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(
            said.contains("***") && !said.contains("c4nary-two"),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn what_runs_stands_right_above_the_question_however_long_the_entry_is() {
    let mut env = serde_json::Map::new();
    for at in 0..300 {
        env.insert(format!("A{at}"), json!("x".repeat(60)));
    }
    let padding = "y".repeat(6000);
    let home = cloned(&json!({"evil": {
        "command": "sh", "args": ["-c", format!("touch it; {padding}")], "env": env,
    }}));
    for (args, question) in [
        (&["tools", "evil"][..], "Approve?"),
        (&["trust", "approve", "evil"], "approve it?"),
        (&["import", ".mcp.json"], "write this to"),
    ] {
        // 50 rows, of more than 300 lines.
        let (screen, _) = asked(&home, args, question, 100);
        let program = format!("  program: {}", home.path("bin/sh").display());
        let (above, _) = screen.rsplit_once(question).unwrap();
        let above: Vec<&str> = above.lines().collect();
        let last: Vec<&str> = above.iter().rev().take(12).copied().collect();
        let has = |start: &str| last.iter().any(|line| line.starts_with(start));
        assert!(has("  runs: sh -c \"touch it; yyy"), "{args:?}: {screen}");
        let whole = last.iter().rev().copied().collect::<Vec<_>>().join("");
        let program = program.replace(' ', "");
        let whole = whole.replace([' ', '|'], "");
        assert!(whole.contains(&program), "{args:?}: {screen}");
    }
}

#[test]
fn no_text_of_an_entry_begins_a_line_of_its_own() {
    // Without a mark, the terminal itself would begin a line with what comes in the next column.
    let columns = 60;
    let fake = "  program: /usr/bin/true";
    let home = (0..columns).map(|shift| {
        let text = format!(
            "{}{}",
            "z".repeat(usize::from(columns) + usize::from(shift)),
            fake.trim()
        );
        (
            format!("s{shift}"),
            json!({"command": "sh", "args": [text]}),
        )
    });
    let servers: serde_json::Map<String, Value> = home.collect();
    let home = cloned(&Value::Object(servers));
    for name in ["s0", "s7", "s23", "s41", "s59"] {
        let (screen, _) = asked(&home, &["tools", name], "Approve?", columns);
        let faked = screen
            .lines()
            .any(|line| line.trim_start().starts_with("program: /usr/bin/true"));
        assert!(!faked, "{screen}");
    }
}

#[test]
fn spaces_tabs_and_other_directions_hide_nothing_at_a_terminal() {
    let far = format!("true{};touch-it", " ".repeat(300));
    let home = cloned(&json!({
        "spaces": {"command": "sh", "args": ["-c", far]},
        "blanks": {"command": "sh", "args": ["-c", format!("true{};touch-it", "\u{2800}".repeat(9))]},
        "tabs": {"command": "sh", "args": ["-c", "true\t\t\t\t\t\t;touch-it"]},
        "turned": {"command": "sh", "args": ["-c", "\u{5d0}\u{5d1} ;touch-it"]},
    }));
    for (name, expected) in [
        ("spaces", r#""true"[300 spaces]";touch-it""#),
        ("blanks", r#"\u{2800};touch-it""#),
        ("tabs", r#""true\t\t\t\t\t\t;touch-it""#),
        ("turned", r#""\u{5d0}\u{5d1} ;touch-it""#),
    ] {
        let (screen, _) = asked(&home, &["tools", name], "Approve?", 200);
        assert!(screen.contains(expected), "{name}: {screen}");
    }
}

#[test]
fn an_approval_of_less_says_why_it_is_asked_again() {
    let home = cloned(&json!({"evil": {"command": "sh", "args": ["-c", "x"]}}));
    assert_eq!(
        home.run(&["trust", "approve", "evil", "--yes"]).code,
        Some(0)
    );
    assert_eq!(home.run(&["trust", "approve", "evil", "--yes"]).stdout, "");
    home.write("config/switchboard/mcp.json", r#"{"approvals": "content"}"#);
    let run = home.run(&["tools", "evil"]);
    assert_eq!(run.code, Some(7), "{run:?}");
    assert!(
        run.stderr
            .contains("approval covers less than approvals do now"),
        "{run:?}"
    );
    let why = "asked again: you approved this entry before Switchboard also bound the content of its files";
    assert!(run.stderr.contains(why), "{run:?}");
    let (screen, _) = asked(&home, &["tools", "evil"], "Approve?", 200);
    assert!(
        screen.contains("was approved by an older version"),
        "{screen}"
    );
    assert_eq!(
        home.run(&["trust", "approve", "evil", "--yes"]).code,
        Some(0)
    );
    let run = home.run(&["trust", "show", "evil"]);
    assert!(run.stdout.ends_with("approval: given\n"), "{run:?}");
    // The program is another file now.
    home.write("bin/sh", "#!/bin/false\n");
    let run = home.run(&["trust", "show", "evil"]);
    assert!(
        run.stdout
            .contains("changed: \"content of ~/bin/sh\": \"..\" -> \"..\""),
        "{run:?}"
    );
    assert!(!home.has_canary());
}
