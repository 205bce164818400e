//! Everyday slips: each is understood, or answered with a command that works.

use crate::home::Home;
use crate::run::Run;
use crate::serving::Serving;

const SELF: &str = env!("CARGO_BIN_EXE_switchboard");

/// The answer to a slip.
enum Reply {
    /// It does what was meant: a part of stdout.
    Does(&'static str),
    /// It proposes this command, which works.
    Proposes(&'static str),
}

use Reply::{Does, Proposes};

/// What people type, and the answer. `SELF` is the binary, `URL` a server, `FILE` a config file.
const SLIPS: &[(&str, Reply)] = &[
    ("call calc echo message=hi", Does("hi")),
    ("call calc.echo message=hi", Does("hi")),
    ("call calc:echo message=hi", Does("hi")),
    ("call echo message=hi", Does("hi")),
    ("call calc/echo '{\"message\":\"hi\"}'", Does("hi")),
    ("call calc echo '{\"message\":\"hi\"}'", Does("hi")),
    ("call echo '{\"message\":\"hi\"}'", Does("hi")),
    ("tool calc echo", Does("message")),
    ("tool echo", Does("message")),
    ("tools calc/echo", Does("message")),
    ("prompt calc greeting name=Ada", Does("Ada")),
    ("prompt greeting name=Ada", Does("Ada")),
    ("prompts calc/greeting name=Ada", Does("Ada")),
    (
        "prompt it/greeting name=Ada -- SELF test-server",
        Does("Ada"),
    ),
    ("tools URL", Does("echo")),
    ("call URL echo message=hi", Does("hi")),
    ("ping URL", Does("")),
    ("tools -- SELF test-server", Does("echo")),
    ("call echo message=hi -- SELF test-server", Does("hi")),
    ("add --transport http sentry URL", Does("sentry")),
    ("add sentry URL", Does("sentry")),
    ("add sentry URL -H 'A: ${B}'", Does("sentry")),
    ("add time SELF test-server", Does("time")),
    ("add time SELF test-server --era legacy", Does("time")),
    ("--config FILE tools", Does("echo")),
    ("--json tools calc", Does("\"echo\"")),
    ("-q call calc/echo message=hi", Does("hi")),
    ("list", Does("calc")),
    ("ls", Does("calc")),
    ("get calc", Does("calc")),
    ("rm calc", Does("calc")),
    ("--config FILE", Does("")),
    ("--stdio 'SELF test-server'", Does("")),
    ("tools calc --timeout 2m", Does("echo")),
    ("tolls calc", Proposes("tools calc")),
    ("list-tools calc", Proposes("tools calc")),
    (
        "run calc/echo message=hi",
        Proposes("call calc/echo message=hi"),
    ),
    ("validate", Proposes("config check")),
    (
        "calc/echo message=hi",
        Proposes("call calc/echo message=hi"),
    ),
    ("URL", Proposes("tools URL")),
    (
        "call calc/echo --message hi",
        Proposes("call calc/echo message=hi"),
    ),
    (
        "call calc/echo --message='a b'",
        Proposes("call calc/echo message='a b'"),
    ),
    (
        "call calc/echo --tool-arg message=hi",
        Proposes("call calc/echo message=hi"),
    ),
    (
        "tools calc --tiemout 5s",
        Proposes("tools calc --timeout 5s"),
    ),
    (
        "call calc/ecko message=hi",
        Proposes("call calc/echo message=hi"),
    ),
    (
        "call ecko message=hi",
        Proposes("call calc/echo message=hi"),
    ),
    (
        "call clac/echo message=hi",
        Proposes("call calc/echo message=hi"),
    ),
    ("tools clac", Proposes("tools calc")),
    ("call calc", Proposes("tools calc")),
    ("call", Proposes("tools")),
    ("remove", Proposes("servers")),
    ("trust lst", Proposes("trust list")),
];

/// A home with one server, `calc`.
fn home() -> Home {
    let home = Home::new();
    let entry = format!(
        r#"{{"mcpServers": {{"calc": {{"command": {SELF:?}, "args": ["test-server"]}}}}}}"#
    );
    home.write("config/switchboard/mcp.json", &entry);
    home.write("named.json", &entry);
    home
}

fn run(home: &Home, line: &str) -> Run {
    let words = shlex::split(line).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    home.run(&words)
}

/// The first command between backticks.
fn proposed(stderr: &str) -> Option<&str> {
    let mut parts = stderr.split('`').skip(1).step_by(2);
    parts.find(|part| part.starts_with("switchboard "))
}

#[test]
fn everyday_slips_are_understood_or_answered_with_what_works() {
    assert!(SLIPS.len() >= 40);
    let serving = Serving::start(&[]);
    let mut wrong = Vec::new();
    for (line, reply) in SLIPS {
        let home = home();
        let file = home.path("named.json").display().to_string();
        let whole = |line: &str| {
            line.replace("SELF", SELF)
                .replace("URL", serving.url())
                .replace("FILE", &file)
        };
        let typed = run(&home, &whole(line));
        match reply {
            Does(part) if typed.code == Some(0) && typed.stdout.contains(part) => {}
            Proposes(command) if typed.code != Some(0) => {
                let command = whole(&format!("switchboard {command}"));
                if proposed(&typed.stderr) != Some(command.as_str()) {
                    wrong.push(format!("{line}: {typed:?}"));
                    continue;
                }
                let pasted = run(&home, command.strip_prefix("switchboard ").unwrap());
                if pasted.code != Some(0) {
                    wrong.push(format!("{line}: {command}: {pasted:?}"));
                }
            }
            _ => wrong.push(format!("{line}: {typed:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_that_two_servers_have_is_not_guessed() {
    let home = Home::new();
    let entry = format!(r#"{{"command": {SELF:?}, "args": ["test-server"]}}"#);
    let both = format!(r#"{{"mcpServers": {{"one": {entry}, "two": {entry}}}}}"#);
    home.write("config/switchboard/mcp.json", &both);
    let typed = run(&home, "call echo message=hi");
    assert_eq!((typed.code, typed.stdout.as_str()), (Some(2), ""));
    for server in ["one", "two"] {
        let command = format!("`switchboard call {server}/echo message=hi`");
        assert!(typed.stderr.contains(&command), "{}", typed.stderr);
    }
}

#[test]
fn a_misspelled_command_with_a_secret_is_not_repeated() {
    let home = home();
    let typed = run(
        &home,
        "tolls --url https://x -H 'Authorization: Bearer s3cret'",
    );
    assert_eq!(typed.code, Some(2));
    assert!(!typed.stderr.contains("s3cret"), "{}", typed.stderr);
}
