//! What is drawn while somebody waits.

use std::time::Duration;

use crate::home::Home;
use crate::pty::Pty;
use crate::run::{said, switchboard};
use crate::script::Script;

#[test]
fn a_call_that_says_how_far_it_is_has_a_bar_which_goes_when_it_is_done() {
    let call = ["call", "demo/slow_operation", "duration=1.6", "steps=4"];
    let mut pty = Pty::spawn(&call, &[], 80);
    pty.wait_for("calling demo/slow_operation [#");
    pty.wait_for("step 2 of 4");
    let (code, screen) = pty.finish();
    assert_eq!(
        (code, screen.as_str()),
        (0, "finished 4 steps in 1.6 seconds")
    );
}

#[test]
fn a_bar_fits_a_narrow_terminal() {
    let call = ["call", "demo/slow_operation", "duration=1.2", "steps=3"];
    let mut pty = Pty::spawn(&call, &[], 40);
    pty.wait_for("[###-------] 33%");
    // A line that went on to the next could not be taken away.
    pty.wait_until(|screen| screen.lines().count() == 1 && screen.contains("66%"));
    let (code, screen) = pty.finish();
    assert_eq!(
        (code, screen.as_str()),
        (0, "finished 3 steps in 1.2 seconds")
    );
}

#[test]
fn a_call_that_says_nothing_has_the_time_it_takes_and_can_be_stopped() {
    let call = ["call", "demo/slow_operation", "duration=60", "steps=1"];
    let mut pty = Pty::spawn(&call, &[], 80);
    pty.wait_for("calling demo/slow_operation 0.");
    pty.wait_for("calling demo/slow_operation 1.");
    pty.send(b"\x03");
    let (code, screen) = pty.finish();
    assert_eq!(code, 130, "{screen}");
    // The keyboard's echo goes with the line.
    assert_eq!(screen, "error: stopped by SIGINT");
}

#[test]
fn every_server_has_a_line_while_it_is_connected_to() {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_switchboard");
    let server = |delay: u32| {
        format!(r#"{{"command": "{own}", "args": ["test-server", "--start-delay", "{delay}"]}}"#)
    };
    let servers = format!(
        r#"{{"mcpServers": {{"quick": {}, "slow": {}, "slower": {}}}}}"#,
        server(0),
        server(900),
        server(1800)
    );
    home.write("config/switchboard/mcp.json", &servers);
    let pty = Pty::start(home.command(&["templates"]), 60);
    pty.wait_until(|screen| {
        screen.contains("connecting to slow ") && screen.contains("connecting to slower ")
    });
    pty.wait_until(|screen| {
        !screen.contains("connecting to slow ") && screen.contains("connecting to slower ")
    });
    let (code, screen) = pty.finish();
    assert_eq!(code, 0);
    assert!(!screen.contains("connecting"), "{screen}");
    assert_eq!(screen.matches("note:///{name}").count(), 3, "{screen}");
}

#[test]
fn a_launcher_that_fetches_its_server_says_so_until_the_server_is_there() {
    let home = Home::new();
    let go = home.path("go");
    let npx = format!(
        "#!/bin/sh\n\
         echo 'npm warn exec The following package was not found and will be installed: x' >&2\n\
         until [ -e '{}' ]; do /bin/sleep 0.05; done\n\
         exec '{}' test-server\n",
        go.display(),
        env!("CARGO_BIN_EXE_switchboard")
    );
    home.program("npx", &npx);
    let servers =
        r#"{"mcpServers": {"it": {"command": "npx", "args": ["-y", "@playwright/mcp"]}}}"#;
    home.write("config/switchboard/mcp.json", servers);
    let pty = Pty::start(home.command(&["templates"]), 60);
    pty.wait_until(|screen| {
        screen.contains("npx is fetching @playwright/mcp (") && screen.contains(" s)")
    });
    std::fs::write(go, "").unwrap();
    let (code, screen) = pty.finish();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains("fetching"), "{screen}");
}

const TELLS: &str = r#"
def call(request):
    token = request["params"].get("_meta", {}).get("progressToken")
    if token is not None:
        note = {"progressToken": token, "progress": 1, "total": 2, "message": "\x1b[2J\x07" + "\u6f22" * 400}
        write(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": note}))
        time.sleep(0.9)
    answer(request, text("went"))
"#;

#[test]
fn what_a_server_says_of_its_progress_moves_nothing_and_is_cut() {
    let server = Script::new(TELLS);
    let stdio = server.command();
    let mut pty = Pty::spawn(&["call", "--stdio", &stdio, "go"], &[], 60);
    pty.wait_for("[#####-----] 50%");
    pty.wait_for("\\u{1b}[2J");
    pty.wait_until(|screen| screen.lines().count() == 1);
    let written = pty.written();
    assert!(
        !written.contains("\u{1b}[2J") && !written.contains('\u{7}'),
        "{written:?}"
    );
    assert_eq!(pty.finish(), (0, "went".to_owned()));
}

#[test]
fn nothing_is_drawn_but_for_a_person_at_a_terminal() {
    let call = ["call", "demo/slow_operation", "duration=0.8", "steps=2"];
    let result = "finished 2 steps in 0.8 seconds";
    assert_eq!(switchboard(&call), said(0, &format!("{result}\n"), ""));
    let quiet = [&call[..], &["--quiet"]].concat();
    for (args, term) in [(&call[..], "dumb"), (&quiet, "xterm")] {
        let pty = Pty::spawn(args, &[("TERM", term)], 80);
        let (code, screen) = pty.finish();
        assert_eq!((code, screen.as_str()), (0, result), "{args:?}");
    }
    let json = [&call[..], &["--json"]].concat();
    let (code, screen) = Pty::spawn(&json, &[], 300).finish();
    assert_eq!(code, 0);
    assert!(screen.starts_with('{'), "{screen}");
}

#[test]
fn a_question_is_left_alone_until_it_is_answered() {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_switchboard");
    let config = format!(
        r#"{{"mcpServers": {{"demo": {{"command": "{own}", "args": ["test-server"]}}}},
            "agents": {{"asks": {{"level": "trusted", "grants": ["mcp:demo:*"]}}}}}}"#
    );
    home.write("config/switchboard/mcp.json", &config);
    let call = [
        "call",
        "demo/slow_operation",
        "duration=1",
        "steps=2",
        "--as",
        "asks",
    ];
    let mut pty = Pty::start(home.command(&call), 80);
    pty.wait_for("[N]o: ");
    // By now a line would have been drawn over what the person types.
    pty.stays_quiet(Duration::from_millis(700));
    pty.send(b"o\r");
    pty.wait_for("calling demo/slow_operation");
    let (code, screen) = pty.finish();
    assert_eq!(code, 0, "{screen}");
    assert!(
        screen.ends_with("\nfinished 2 steps in 1 seconds"),
        "{screen}"
    );
    assert!(screen.contains("[N]o: o\n"), "{screen}");
    assert!(!screen.contains("calling"), "{screen}");
}

#[test]
fn a_prompt_shows_the_same_and_is_there_again_afterwards() {
    let mut pty = Pty::spawn(&["repl"], &[], 80);
    pty.wait_for("switchboard> ");
    pty.send(b"call demo/slow_operation duration=1 steps=2\r");
    pty.wait_for("calling demo/slow_operation");
    pty.wait_for("finished 2 steps in 1 seconds");
    pty.wait_for("switchboard> ");
    pty.send(b"tool demo/echo\r");
    pty.wait_for("switchboard call demo/echo message=hello");
    pty.wait_for("switchboard> ");
    pty.wait_until(|screen| !screen.contains("calling demo"));
    pty.send(b"exit\r");
    assert_eq!(pty.finish().0, 0);
}
