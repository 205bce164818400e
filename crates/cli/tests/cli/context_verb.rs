//! `context`: resources for a model, within a budget.

use serde_json::{Value, json};

use crate::home::Home;
use crate::prompt::{enter, leave, opened};
use crate::pty::Pty;
use crate::run::switchboard;
use crate::serving::Serving;

/// A server with two notes beside its own resources, and a home with an agent that may read those alone.
fn stage() -> (Serving, Home) {
    let server = Serving::start(&["--growing"]);
    for (uri, text, priority) in [
        ("mine:first", "the first\u{1b}[31m", 1.0),
        ("mine:second", "the second\n", 0.9),
    ] {
        let annotations = json!({"priority": priority});
        let definition = json!({"size": null, "annotations": annotations});
        let new = json!({"uri": uri, "text": text, "definition": definition}).to_string();
        let call = ["call", "--url", server.url(), "add_resource", "--args"];
        let run = switchboard(&[&call[..], &[new.as_str()]].concat());
        assert_eq!(run.code, Some(0), "{run:?}");
    }
    let home = Home::new();
    let agent = json!({"level": "yolo", "grants": ["mcp:kit:resource/mine:*"]});
    let file = json!({"mcpServers": {"kit": {"url": server.url()}}, "agents": {"one": agent}});
    home.write("config/switchboard/mcp.json", &file.to_string());
    (server, home)
}

/// What the two notes are as text.
const NOTES: &str = "[kit mine:first]\nthe first\\u{1b}[31m\n\n[kit mine:second]\nthe second\n\n";

#[test]
fn the_most_important_resources_are_read_as_long_as_they_fit() {
    let (_server, home) = stage();
    // 14 and 11 bytes: the second one fits to the last byte, and nothing fits after it.
    let run = home.run(&["context", "kit", "--budget", "25"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), NOTES), "{run:?}");
    let warning = "warning: kit file:///config.json is left out: it has ";
    assert!(run.stderr.contains(warning), "{run:?}");
    assert!(run.stderr.contains(" bytes, and 0 are left\n"), "{run:?}");
    let run = home.run(&["context", "--budget", "1MiB"]);
    assert!(run.stdout.starts_with(NOTES), "{run:?}");
    assert!(
        run.stdout
            .contains("[kit file:///readme.txt]\nThis is a server")
    );
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    // An agent is given what it may read.
    let run = home.run(&["context", "--as", "one"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), NOTES), "{run:?}");
}

#[test]
fn resources_can_be_picked_and_the_rest_is_named_in_json() {
    let (_server, home) = stage();
    let run = home.run(&["context", "kit", "mine:second", "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let text = json!({"server": "kit", "uri": "mine:second", "text": "the second\n"});
    let expected = json!({"texts": [text], "left_out": [], "bytes": 11});
    assert_eq!(document, expected);
    let run = home.run(&[
        "context",
        "mine:first",
        "mine:second",
        "--budget",
        "13",
        "--json",
    ]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["texts"], json!([text]));
    let reason = "it has 14 bytes, and 13 are left";
    let left_out = json!([{"server": "kit", "uri": "mine:first", "reason": reason}]);
    assert_eq!(document["left_out"], left_out);
    let run = home.run(&["context", "kit", "mine:third"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run:?}");
    assert!(run.stderr.contains("there is no such resource"), "{run:?}");
    let run = home.run(&["context", "kit", "--budget", "much"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert!(run.stderr.contains("such as 32KiB"), "{run:?}");
}

#[test]
fn resources_are_picked_at_the_prompt_for_the_agent_that_acts() {
    let (_server, home) = stage();
    let mut pty = opened(Pty::start(home.command(&[]), 100));
    enter(&mut pty, "tools kit");
    pty.wait_for("add_resource");
    enter(&mut pty, "as one");
    // The agent's resources are completed; both are picked.
    pty.send(b"context kit mine:f\t");
    pty.wait_for("mine:first ");
    enter(&mut pty, "mine:second");
    pty.wait_for("[kit mine:first]\r\nthe first\\u{1b}[31m");
    pty.wait_for("[kit mine:second]\r\nthe second");
    enter(&mut pty, "context kit file:///readme.txt");
    pty.wait_for("there is no such resource");
    assert_eq!(leave(pty).0, 0);
}
