//! Narrow terminals, dumb ones, those of people who want no colours, and pipes.

use serde_json::json;

use crate::home::Home;
use crate::pty::Pty;
use crate::run::Run;

/// A home with a server that works, one that does not, and one whose names are wide.
fn home() -> Home {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_switchboard");
    let working = json!({"command": own, "args": ["test-server"]});
    let servers = json!({
        "calc": working,
        "a_server_with_quite_a_long_name": working,
        "gone": {"command": "no-such-command-anywhere"},
    });
    let file = json!({"mcpServers": servers}).to_string();
    home.write("config/switchboard/mcp.json", &file);
    home
}

/// The verbs that list something.
const LISTS: [&str; 13] = [
    "servers",
    "servers calc",
    "tools",
    "tools calc",
    "resources",
    "templates calc",
    "prompts",
    "ping",
    "trust list",
    "pins list",
    "policy list",
    "config check",
    "leftovers",
];

/// Others that paint.
const OTHERS: [&str; 5] = [
    "tool calc/add",
    "call calc/echo message=hello",
    "call calc/missing",
    "doctor",
    "servers gone",
];

#[test]
fn no_line_of_a_list_is_wider_than_a_narrow_terminal() {
    let home = home();
    for line in LISTS {
        let mut words: Vec<&str> = line.split(' ').collect();
        // What is drawn while one waits is drawn over.
        if !matches!(
            words[0],
            "trust" | "pins" | "policy" | "config" | "leftovers"
        ) {
            words.push("--quiet");
        }
        let (_, written) = Pty::start(home.command(&words), 40).transcript();
        for shown in written.lines().map(|shown| unpainted(shown.trim_end())) {
            let columns = shown.chars().count();
            // A word that is too long is not ours to break, nor is a page of facts that can be copied, nor a
            // sentence.
            let is_list = !matches!(line, "servers calc" | "config check");
            let is_ours = shown.trim().contains(' ') && is_list;
            assert!(!is_ours || columns <= 40, "{line}: {shown:?} has {columns}");
        }
    }
}

/// A line without colours.
fn unpainted(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    first + &rest.collect::<String>()
}

fn check(text: &str, what: &str) {
    let bad = text
        .chars()
        .find(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r'));
    assert_eq!(bad, None, "{what}: {text:?}");
}

#[test]
fn without_colours_there_is_no_escape_at_all() {
    let home = home();
    for line in LISTS.into_iter().chain(OTHERS) {
        let words: Vec<&str> = line.split(' ').collect();
        let run = Run::of(home.command(&words).output().unwrap());
        check(&run.stdout, line);
        check(&run.stderr, line);
        let mut dumb = home.command(&words);
        dumb.env("TERM", "dumb");
        let (_, written) = Pty::start(dumb, 40).transcript();
        check(&written, &format!("{line} at a dumb terminal"));
        // A line that is drawn anew moves the cursor, which is no colour: --quiet has none.
        let mut words = words;
        if !matches!(
            words[0],
            "trust" | "pins" | "policy" | "config" | "leftovers"
        ) {
            words.push("--quiet");
        }
        let mut plain = home.command(&words);
        plain.env("NO_COLOR", "1");
        let (_, written) = Pty::start(plain, 40).transcript();
        check(&written, &format!("{line} without colours"));
    }
}

#[test]
fn what_is_drawn_without_colours_has_none() {
    let home = home();
    let mut plain = home.command(&["tools"]);
    plain.env("NO_COLOR", "1");
    let (_, written) = Pty::start(plain, 40).transcript();
    let paints = written.split('\u{1b}').skip(1).filter(|part| {
        let end = part.find(|c: char| c.is_ascii_alphabetic());
        end.is_some_and(|end| part[end..].starts_with('m'))
    });
    assert_eq!(paints.count(), 0, "{written:?}");
}

#[test]
fn a_prompt_at_a_dumb_terminal_is_plain() {
    let home = home();
    let mut dumb = home.command(&[]);
    dumb.env("TERM", "dumb");
    let mut pty = Pty::start(dumb, 40);
    pty.wait_for("switchboard> ");
    pty.send(b"call calc/echo message=hello\r");
    pty.wait_for("\nhello");
    pty.wait_for("switchboard> ");
    pty.send(b"exit\r");
    let (code, written) = pty.transcript();
    check(&written, "a prompt");
    assert_eq!(code, 0);
}
