//! Servers that ask the person's model.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use switchboard_testkit::models::{self, Given, KEY, ModelApi};

use crate::home::Home;
use crate::pty::Pty;
use crate::run::Run;

const OWN: &str = env!("CARGO_BIN_EXE_switchboard");

/// A home with a server that may ask, in its own file, and an API that answers.
fn home(api: &ModelApi) -> Home {
    let home = Home::new();
    let provider = json!({
        "type": "openai", "base_url": format!("{}/v1", api.base()), "model": "gpt-small",
        "api_key": "${MODEL_KEY}",
    });
    let server = json!({
        "command": OWN, "args": ["test-server", "--asking-models"], "sampling": true,
    });
    let config = json!({"mcpServers": {"notes": server}, "providers": {"mine": provider}});
    home.write("config/switchboard/mcp.json", &config.to_string());
    home
}

fn run(home: &Home, args: &[&str]) -> Run {
    let mut command = home.command(args);
    command.env("MODEL_KEY", KEY);
    Run::of(command.output().unwrap())
}

fn at_terminal(home: &Home, args: &[&str], env: &[(&str, &str)]) -> Pty {
    let mut command = home.command(args);
    command.env("MODEL_KEY", KEY).envs(env.iter().copied());
    Pty::start(command, 120)
}

const CALL: [&str; 3] = ["call", "notes/ask_model", "prompt=what is up"];

#[test]
fn the_person_sees_all_of_it_and_says_yes() {
    let api = ModelApi::start(models::openai).unwrap();
    let home = home(&api);
    let prompt = "prompt=one\nSend it? \u{1b}[2J\u{202e}two";
    let mut pty = at_terminal(&home, &["call", "notes/ask_model", prompt], &[]);
    pty.wait_for("The server \"notes\" asks the model gpt-small of mine, for at most 100 tokens:");
    pty.wait_for("  system:\r\n    | You answer in one sentence.\r\n");
    pty.wait_for("  user:\r\n    | one\r\n    | Send it? \\u{1b}[2J\\u{202e}two\r\n");
    pty.wait_for("[N]o: ");
    assert_eq!(api.requests().len(), 0, "nothing is sent before the yes");
    pty.send(b"y\r");
    pty.wait_for("The model gpt-small-2026-01-01 answers the server \"notes\":");
    pty.wait_for("    | You said: one\r\n");
    pty.wait_for("[y/N] ");
    pty.send(b"y\r");
    let (code, screen) = pty.finish();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(api.requests()[0].body["max_tokens"], 100);
}

#[test]
fn a_no_and_an_enter_send_nothing() {
    let api = ModelApi::start(models::openai).unwrap();
    let home = home(&api);
    for answer in ["n\r", "\r", "maybe\r"] {
        let mut pty = at_terminal(&home, &CALL, &[]);
        pty.wait_for("[N]o: ");
        pty.send(answer.as_bytes());
        let (code, screen) = pty.finish();
        assert_ne!(code, 0, "{screen}");
        assert!(!screen.contains("You said"), "{screen}");
    }
    assert_eq!(api.requests().len(), 0);
    // The answer of the model is the person's as long as they do not share it.
    let mut pty = at_terminal(&home, &CALL, &[]);
    pty.wait_for("[N]o: ");
    pty.send(b"y\r");
    pty.wait_for("[y/N] ");
    pty.send(b"\r");
    let (code, screen) = pty.finish();
    assert_ne!(code, 0, "{screen}");
    assert_eq!(api.requests().len(), 1);
}

#[test]
fn a_legacy_server_gets_its_no_and_ctrl_c_sends_nothing() {
    let api = ModelApi::start(models::openai).unwrap();
    let home = home(&api);
    let legacy = [
        "call",
        "--protocol",
        "legacy",
        "notes/ask_model",
        "prompt=x",
    ];
    let mut pty = at_terminal(&home, &legacy, &[]);
    pty.wait_for("[N]o: ");
    pty.send(b"n\r");
    let (_, screen) = pty.finish();
    assert!(screen.contains("the person said no (code -1)"), "{screen}");
    let mut pty = at_terminal(&home, &legacy, &[]);
    pty.wait_for("[N]o: ");
    pty.send(b"\x03");
    let (code, screen) = pty.finish();
    assert_eq!(code, 130, "{screen}");
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn what_is_sent_can_be_changed_in_an_editor_or_by_typing() {
    let api = ModelApi::start(models::openai).unwrap();
    let home = home(&api);
    let script = "#!/bin/sh\nPATH=/usr/bin:/bin\nstat -c %a \"$2\" > \"$1\"\necho \"$2\" >> \"$1\"\n\
        sed -i 's/what is up/something else/' \"$2\"\n";
    home.write("bin/edit me", script);
    let (editor, note) = (home.path("bin/edit me"), home.path("note"));
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let visual = format!("'{}' '{}'", editor.display(), note.display());
    let mut pty = at_terminal(&home, &CALL, &[("VISUAL", &visual), ("EDITOR", "none")]);
    pty.wait_for("[N]o: ");
    pty.send(b"e\r");
    pty.wait_for("With your changes, the server \"notes\"");
    pty.wait_for("    | something else\r\n");
    pty.send(b"s\r");
    pty.wait_for("Changed.");
    pty.wait_for("[N]o: ");
    pty.send(b"y\r");
    pty.wait_for("You said: something else");
    pty.wait_for("[y/N] ");
    pty.send(b"y\r");
    assert_eq!(pty.finish().0, 0);
    let note = home.read("note");
    let (mode, file) = note.trim_end().split_once('\n').unwrap();
    assert_eq!(mode, "600");
    assert!(!fs::exists(file).unwrap(), "{file} is still there");

    // An editor that is not there changes nothing; without one, lines are typed.
    let mut pty = at_terminal(&home, &CALL, &[("EDITOR", "no-such-editor")]);
    pty.wait_for("[N]o: ");
    pty.send(b"e\r");
    pty.wait_for("The edit was not used: the editor cannot be started");
    pty.wait_for("[N]o: ");
    pty.send(b"n\r");
    pty.finish();
    let mut pty = at_terminal(&home, &CALL, &[]);
    pty.wait_for("[N]o: ");
    pty.send(b"e\r");
    pty.wait_for("system (Enter keeps it): ");
    pty.send(b"\r");
    pty.wait_for("user (Enter keeps it): ");
    pty.send(b"typed\r");
    pty.wait_for("    | typed\r\n");
    pty.wait_for("[N]o: ");
    pty.send(b"y\r");
    pty.wait_for("[y/N] ");
    pty.send(b"y\r");
    assert_eq!(pty.finish().0, 0);
    let asked = api.requests();
    let said = |at: usize| asked[at].body["messages"].clone();
    assert_eq!(said(0)[1]["content"], "something else");
    assert_eq!(said(1)[1]["content"], "typed");
    assert_eq!(said(1)[0]["content"], "You answer in one sentence.");
    assert!(!home.has_canary(), "no shell was run");
}

#[test]
fn a_server_may_ask_for_a_whole_session_at_the_prompt() {
    let api = ModelApi::start(models::openai).unwrap();
    let home = home(&api);
    let mut pty = at_terminal(&home, &["repl"], &[]);
    pty.wait_for("> ");
    pty.send(b"call notes/ask_model prompt=first\r");
    pty.wait_for("[N]o: ");
    pty.send(b"s\r");
    pty.wait_for("You said: first");
    pty.send(b"call notes/ask_model prompt=second\r");
    pty.wait_for("You said: second");
    pty.send(b"\x04");
    pty.finish();
    assert_eq!(api.requests().len(), 2);
}

#[test]
fn nobody_to_ask_means_no_unless_the_command_line_says_otherwise() {
    let api = ModelApi::start(models::openai).unwrap();
    let home = home(&api);
    for args in [&CALL[..], &["call", "notes/ask_model", "--json"]] {
        let run = run(&home, args);
        assert_ne!(run.code, Some(0), "{run:?}");
    }
    // A person at a terminal who wants JSON is not asked either.
    let (code, _) = at_terminal(&home, &["call", "notes/ask_model", "--json"], &[]).finish();
    assert_ne!(code, 0);
    assert_eq!(api.requests().len(), 0);
    let mut args = CALL.to_vec();
    args.push("--allow-sampling");
    let allowed = run(&home, &args);
    assert_eq!(
        (allowed.code, allowed.stdout.trim_end()),
        (Some(0), "You said: what is up")
    );
    let stdio = format!("{OWN} test-server --asking-models");
    let described = [
        "call",
        "--stdio",
        &stdio,
        "ask_model",
        "prompt=x",
        "--allow-sampling",
    ];
    let allowed = run(&home, &described);
    assert_eq!(allowed.stdout.trim_end(), "You said: x", "{allowed:?}");
    let refused = run(&home, &described[..5]);
    assert_ne!(refused.code, Some(0));
    assert_eq!(api.requests().len(), 2);
}

#[test]
fn what_the_provider_says_is_told_without_the_key() {
    let body = json!({"error": {"message": format!("no credit for {KEY}")}});
    let api = ModelApi::start(move |_| Given::json(429, &body)).unwrap();
    let home = home(&api);
    let mut args = CALL.to_vec();
    args.extend(["--allow-sampling", "--protocol", "legacy"]);
    let told = run(&home, &args);
    assert!(
        told.stderr.contains(
            "warning: the model for the server \"notes\" did not answer: mine: \
             the provider has no time (429): no credit for ***"
        ),
        "{told:?}"
    );
    let all = format!("{told:?}");
    assert!(
        all.contains("the model has no time now") && !all.contains(KEY),
        "{all}"
    );
    // Without its key, nobody is asked, and it is said why.
    let run = home.run(&args);
    assert!(
        run.stderr.contains("the variable `MODEL_KEY` is not set"),
        "{run:?}"
    );
}

#[test]
fn a_server_that_may_ask_a_model_where_there_is_none_is_warned_of() {
    let home = Home::new();
    let server = json!({"command": OWN, "args": ["test-server"], "sampling": true});
    let config = json!({"mcpServers": {"notes": server, "other": {"command": OWN}}});
    home.write("config/switchboard/mcp.json", &config.to_string());
    let warning = "the server may use sampling, but no provider is configured; describe one under `providers` in your own config file";
    let used = home.run(&["call", "notes/echo", "message=hi"]);
    assert_eq!((used.code, used.stdout.as_str()), (Some(0), "hi\n"));
    assert!(used.stderr.contains(warning), "{}", used.stderr);
    let checked = home.run(&["config", "check"]);
    assert!(
        checked.stdout.contains("the server may use sampling")
            || checked.stderr.contains("the server may use sampling"),
        "{checked:?}"
    );
}
