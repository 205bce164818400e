//! Snapshots of what people see: each verb, the prompt, forms and failures, at a terminal of 80 columns.
//!
//! The files are in `tests/screens`; `UPDATE_SCREENS=1` writes them anew. Times, numbers of processes and
//! fingerprints are replaced, so that only a change of the screen is a difference.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use crate::home::Home;
use crate::pty::Pty;

const COLUMNS: u16 = 80;

/// Rows of the terminal that a transcript is shown on: more than any screen has.
const ROWS: u16 = 400;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/screens"))
}

/// A home whose servers are the binary itself, by a name that has no path in it.
fn home(config: &str) -> Home {
    let home = Home::in_tmp();
    symlink(
        env!("CARGO_BIN_EXE_switchboard"),
        home.path("bin/switchboard"),
    )
    .unwrap();
    fs::remove_file(home.path("bin/sh")).unwrap();
    symlink("/bin/sh", home.path("bin/sh")).unwrap();
    home.write("config/switchboard/mcp.json", config);
    home
}

const CALC: &str = r#"{
  "mcpServers": {
    "calc": {"command": "switchboard", "args": ["test-server"]}
  },
  "agents": {
    "planner": {"level": "trusted", "grants": ["mcp:calc:*"]}
  }
}
"#;

const MIXED: &str = r#"{
  "mcpServers": {
    "calc": {"command": "switchboard", "args": ["test-server"]},
    "gone": {"command": "no-such-command"},
    "off": {"command": "switchboard", "enabled": false},
    "pg": {"command": "sh", "args": ["-c", "echo 'ECONNREFUSED 127.0.0.1:5432' >&2; exit 1"]}
  }
}
"#;

const PROJECT: &str =
    r#"{"mcpServers": {"lint": {"command": "switchboard", "args": ["test-server"]}}}"#;

/// What a terminal shows of a transcript, without anything that changes from run to run.
fn shown(transcript: &str, home: &Home) -> String {
    let mut terminal = vt100::Parser::new(ROWS, COLUMNS, 0);
    terminal.process(transcript.as_bytes());
    let text = home.hide(&terminal.screen().contents());
    let mut out = String::new();
    let mut was_fingerprint = false;
    for line in text.lines() {
        // The rest of a fingerprint that was folded.
        if std::mem::take(&mut was_fingerprint) && line.starts_with("    | ") {
            continue;
        }
        was_fingerprint = line.starts_with("  fingerprint: ");
        if was_fingerprint {
            out.push_str("  fingerprint: ..\n");
            continue;
        }
        let line = without_time(line);
        let line = match line.split_once("process:") {
            Some((before, _)) => format!("{before}process: N"),
            None => line,
        };
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// Replaces the number before `ms`; in a column it keeps its width.
fn without_time(line: &str) -> String {
    let Some(at) = line.find(" ms") else {
        return line.to_owned();
    };
    let before = line[..at].trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if before.len() == at {
        return line.to_owned();
    }
    let is_row = line.starts_with("ok ") || line.starts_with(" ! ");
    let number = if is_row {
        format!("{:>1$}", "N", at - before.len())
    } else {
        "N".to_owned()
    };
    format!("{before}{number}{}", &line[at..])
}

/// Compares a screen with its file, or writes it.
fn check(name: &str, screen: &str, differences: &mut Vec<String>) {
    let file = folder().join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        fs::write(file, screen).unwrap();
        return;
    }
    let wanted = fs::read_to_string(file).unwrap_or_default();
    if wanted != screen {
        differences.push(format!(
            "== {name}, was:\n{wanted}\n== {name}, is:\n{screen}"
        ));
    }
}

#[track_caller]
fn assert_same(differences: &[String]) {
    assert!(
        differences.is_empty(),
        "screens have changed; UPDATE_SCREENS=1 writes them anew:\n{}",
        differences.join("\n")
    );
}

/// The binary in a home, without the keyring of the machine.
fn command(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(args);
    command.env("SWITCHBOARD_KEYRING", "off");
    command
}

/// Runs commands one after the other in one home.
fn run_all(home: &Home, screens: &[(&str, &str)]) {
    let mut differences = Vec::new();
    for (name, line) in screens {
        let words = words(line);
        let args: Vec<&str> = words.iter().map(String::as_str).collect();
        let (code, transcript) = Pty::start(command(home, &args), COLUMNS).transcript();
        let screen = shown(&transcript, home);
        let screen = format!("$ switchboard {line}\n{screen}[exit code {code}]\n");
        check(name, &screen, &mut differences);
    }
    assert_same(&differences);
}

/// Splits a line at spaces, except in single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in line.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

#[test]
fn each_verb_has_its_screen() {
    let home = home(CALC);
    run_all(
        &home,
        &[
            ("help", "--help"),
            ("help-call", "call --help"),
            ("help-doctor", "doctor -h"),
            ("servers", "servers"),
            ("servers-one", "servers calc"),
            ("tools", "tools"),
            ("tools-long", "tools --long"),
            ("tools-tokens", "tools calc --tokens"),
            ("tool", "tool calc/add"),
            ("tool-choices", "tool calc/announce_change"),
            ("call", "call calc/echo message=hello"),
            ("call-data", "call calc/add a=1 b=2"),
            ("resources", "resources"),
            ("templates", "templates"),
            ("read", "read calc file:///readme.txt"),
            ("prompts", "prompts"),
            ("prompt-verb", "prompt calc/greeting name=Ada"),
            ("ping", "ping"),
            ("doctor-good", "doctor"),
            ("auth-status", "auth status"),
            ("config-show", "config show"),
            ("config-check", "config check"),
            ("config-path", "config path"),
            ("policy-why", "policy why planner calc/add"),
            ("policy-why-denied", "policy why stranger calc/add"),
            ("policy-list", "policy list"),
            ("pins-list", "pins list"),
            ("pins-diff", "pins diff calc"),
            ("trust-list-empty", "trust list"),
            ("leftovers", "leftovers"),
            ("export", "export --to cursor"),
            ("logs", "logs calc --for 10ms"),
            ("add", "add time -- uvx mcp-server-time@1.0"),
            ("add-taken", "add time -- uvx mcp-server-time@1.0"),
            ("disable", "disable time"),
            ("enable", "enable time"),
            ("remove", "remove time"),
            ("logout", "logout --all"),
        ],
    );
}

#[test]
fn servers_that_do_not_work_have_their_screens() {
    let home = home(MIXED);
    run_all(
        &home,
        &[
            ("servers-mixed", "servers"),
            ("servers-failed", "servers gone"),
            ("doctor-mixed", "doctor"),
            ("tools-mixed", "tools"),
            ("ping-mixed", "ping"),
        ],
    );
}

#[test]
fn a_project_has_its_screens() {
    let home = home(CALC);
    home.write("p/.mcp.json", PROJECT);
    let mut differences = Vec::new();
    // The question, and its answer.
    let mut pty = Pty::start(command(&home, &["trust", "approve", "lint"]), COLUMNS);
    pty.wait_for("[y/N]");
    pty.send(b"n\r");
    let screen = shown(&pty.transcript().1, &home);
    check("trust-approve", &screen, &mut differences);
    let mut pty = Pty::start(command(&home, &["tools", "lint"]), COLUMNS);
    pty.wait_for("Approve?");
    pty.send(b"\r");
    let screen = shown(&pty.transcript().1, &home);
    check("question-server", &screen, &mut differences);
    assert_same(&differences);
    run_all(
        &home,
        &[
            ("trust-list", "trust list"),
            ("trust-show", "trust show lint"),
            ("doctor-project", "doctor lint"),
            ("trust-approve-yes", "trust approve lint --yes"),
            ("lock", "lock"),
            ("verify", "verify"),
        ],
    );
}

#[test]
fn failures_have_their_screens() {
    let home = home(MIXED);
    home.write(
        "broken.json",
        "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\",}}\n",
    );
    home.write(
        "unset.json",
        r#"{"mcpServers": {"a": {"command": "switchboard", "args": ["${NOT_SET}"]}}}"#,
    );
    run_all(
        &home,
        &[
            ("failure-unknown-server", "tools clac"),
            ("failure-unknown-tool", "call calc/ad a=1"),
            ("failure-missing-argument", "call calc/add a=1"),
            ("failure-wrong-argument", "call calc/add a=one b=2"),
            ("failure-unparsed-argument", "call calc/echo hello"),
            (
                "failure-tool-error",
                "call calc/fail message='out of paper'",
            ),
            ("failure-command-not-found", "tools gone"),
            ("failure-exit-at-start", "tools pg"),
            ("failure-disabled", "tools off"),
            ("failure-syntax", "servers --config ../broken.json"),
            ("failure-unset-variable", "tools a --config ../unset.json"),
            ("failure-refused", "tools --url http://127.0.0.1:1/mcp"),
            ("failure-url", "tools --url nonsense"),
            (
                "failure-unknown-agent",
                "call calc/add a=1 b=2 --as stranger",
            ),
            ("failure-unknown-resource", "read calc file:///nope"),
            ("failure-unknown-verb", "tolls"),
        ],
    );
}

/// A prompt that is typed into, line by line; each line is sent once the one before has had its effect.
fn at_prompt(name: &str, home: &Home, steps: &[(&str, &str)], differences: &mut Vec<String>) {
    let mut pty = Pty::start(command(home, &[]), COLUMNS);
    pty.wait_for("Ctrl-D exits.");
    pty.wait_for(": connected (");
    for (typed, awaited) in steps {
        pty.send(format!("{typed}\r").as_bytes());
        pty.wait_for(awaited);
    }
    pty.wait_until(|screen| screen.trim_end().ends_with('>'));
    pty.send(b"\x04");
    let screen = shown(&pty.transcript().1, home);
    check(name, &screen, differences);
}

#[test]
fn the_prompt_has_its_screens() {
    let mut differences = Vec::new();
    let first = Home::in_tmp();
    at_prompt("prompt-first-visit", &first, &[], &mut differences);
    let home = home(CALC);
    for (name, steps) in [
        ("prompt-help", &[("help", "one per command")][..]),
        ("prompt-help-verb", &[("help call", "--quiet")]),
        ("prompt-servers", &[("/mcp", "/mcp roots NAME")]),
        ("prompt-tools", &[("tools", "--long")]),
        ("prompt-call", &[("call calc/add a=1 b=2", "3")]),
        ("prompt-unknown", &[("tolls", "tools")]),
        (
            "prompt-agent-without-policy",
            &[("as stranger", "reload"), ("tools", "warning:")],
        ),
        (
            "prompt-approval",
            &[
                ("as planner", "(planner)>"),
                ("call calc/add a=1 b=2", "[N]o"),
                ("o", "3"),
            ],
        ),
        (
            "prompt-denied",
            &[
                ("as planner", "(planner)>"),
                ("call calc/add a=1 b=2", "[N]o"),
                ("n", "denied"),
            ],
        ),
    ] {
        at_prompt(name, &home, steps, &mut differences);
    }
    assert_same(&differences);
}

#[test]
fn forms_have_their_screens() {
    let home = home(CALC);
    let mut differences = Vec::new();
    for (name, answers) in [
        (
            "form-sent",
            &[("Answer it?", "y"), ("name: ", "Ada"), ("Send it?", "y")][..],
        ),
        (
            "form-edited",
            &[
                ("Answer it?", "y"),
                ("name: ", "Ada"),
                ("Send it?", "e"),
                ("name [Ada]: ", "Eva"),
                ("Send it?", "y"),
            ],
        ),
        ("form-declined", &[("Answer it?", "d")]),
        ("form-cancelled", &[("Answer it?", "c")]),
    ] {
        let mut pty = Pty::start(command(&home, &["call", "calc/ask_name"]), COLUMNS);
        for (question, answer) in answers {
            pty.wait_for(question);
            pty.send(format!("{answer}\r").as_bytes());
        }
        let screen = shown(&pty.transcript().1, &home);
        check(name, &screen, &mut differences);
    }
    assert_same(&differences);
}

#[test]
fn no_screen_is_wider_than_the_terminal_and_there_are_sixty() {
    let files: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(files.len() >= 60, "{} screens", files.len());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let is_wide = |line: &&str| line.chars().count() > usize::from(COLUMNS) + 1;
        let wide = text
            .lines()
            .filter(|line| !line.starts_with("$ "))
            .find(is_wide);
        assert_eq!(wide, None, "{}", file.display());
    }
}

#[test]
fn long_output_goes_through_the_pager_unless_it_is_switched_off() {
    let home = home(
        r#"{"mcpServers": {
            "calc": {"command": "switchboard", "args": ["test-server"]},
            "many": {"command": "switchboard", "args": ["test-server"], "env": {"MCP_TOOL_COUNT": "80"}}
        }}"#,
    );
    home.program("page", "#!/bin/sh\necho paged\nexec cat\n");
    let at_terminal = |more: &[&str]| {
        let args = [&["tools", "many"], more].concat();
        let mut command = home.command(&args);
        command.env("PAGER", "page").env(
            "PATH",
            format!("{}:/bin:/usr/bin", home.path("bin").display()),
        );
        Pty::start(command, COLUMNS).transcript()
    };
    let (code, paged) = at_terminal(&[]);
    assert_eq!(code, 0, "{paged}");
    assert!(
        paged.contains("paged") && paged.contains("tool_079"),
        "{paged}"
    );
    let (code, plain) = at_terminal(&["--no-pager"]);
    assert_eq!(code, 0, "{plain}");
    assert!(
        !plain.contains("paged") && plain.contains("tool_079"),
        "{plain}"
    );
    // What fits on the screen is printed.
    let mut command = home.command(&["tools", "calc"]);
    command.env("PAGER", "page");
    let (_, short) = Pty::start(command, COLUMNS).transcript();
    assert!(!short.contains("paged"), "{short}");
}
