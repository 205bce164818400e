//! Commands that need a login: offered at a terminal, exit code 3 elsewhere.

use std::time::Duration;

use super::{Stage, answered, visited};
use crate::prompt::{enter, leave, opened};

#[test]
fn a_call_at_a_terminal_offers_the_login_and_goes_on() {
    let stage = Stage::new(&[]);
    let mut pty = stage.pty(&["call", "tickets/echo", "message=hello-again"]);
    pty.wait_for("Login to tickets at 127.0.0.1");
    pty.wait_for("Log in there? [y/N] ");
    pty.send(b"y\r");
    visited(&stage.opened());
    pty.wait_for("hello-again\r\n");
    let (code, screen) = pty.finish();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(stage.count("logins"), 1);
}

#[test]
fn a_call_at_a_terminal_whose_login_is_not_wanted_says_how_to_log_in() {
    let stage = Stage::new(&[]);
    let mut pty = stage.pty(&["call", "tickets/echo", "message=hello"]);
    pty.wait_for("Log in there? [y/N] ");
    pty.send(b"n\r");
    pty.wait_for("the server requires a login");
    pty.wait_for("`switchboard login tickets`");
    assert_eq!(pty.finish().0, 3);
}

#[test]
fn ping_watch_and_logs_at_a_terminal_offer_the_login_and_go_on() {
    for (args, shown) in [
        (&["ping", "tickets"] as &[&str], "tickets  "),
        (
            &[
                "watch",
                "tickets",
                "file:///readme.txt",
                "--for",
                "5s",
                "--read",
            ],
            "",
        ),
        (&["logs", "tickets", "--for", "1s"], ""),
    ] {
        let stage = Stage::growing();
        let mut pty = stage.pty(args);
        pty.wait_for("Login to tickets at 127.0.0.1");
        pty.wait_for("Log in there? [y/N] ");
        pty.send(b"y\r");
        visited(&stage.opened());
        let (code, screen) = pty.finish();
        assert_eq!(code, 0, "{args:?}: {screen}");
        assert!(screen.contains(shown), "{args:?}: {screen}");
        assert!(!screen.contains("error"), "{args:?}: {screen}");
        assert_eq!(stage.count("logins"), 1, "{args:?}");
    }
}

#[test]
fn ping_watch_and_logs_whose_login_is_not_wanted_say_how_to_log_in() {
    let stage = Stage::new(&[]);
    for args in [
        &["ping", "tickets"] as &[&str],
        &["watch", "tickets", "file:///readme.txt"],
        &["logs", "tickets"],
    ] {
        let mut pty = stage.pty(args);
        pty.wait_for("Log in there? [y/N] ");
        pty.send(b"n\r");
        pty.wait_for("the server requires a login");
        pty.wait_for("`switchboard login tickets`");
        assert_eq!(pty.finish().0, 3, "{args:?}");
    }
}

#[test]
fn the_time_of_a_watch_stands_still_during_the_login() {
    let stage = Stage::growing();
    let mut pty = stage.pty(&["watch", "tickets", "file:///readme.txt", "--for", "500ms"]);
    pty.wait_for("Log in there? [y/N] ");
    // Longer than the command may take by itself.
    pty.stays_quiet(Duration::from_millis(1500));
    pty.send(b"y\r");
    visited(&stage.opened());
    let (code, screen) = pty.finish();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(stage.count("logins"), 1);
}

#[test]
fn a_prompt_tells_that_a_server_needs_a_login_with_the_command() {
    let stage = Stage::new(&[]);
    let mut pty = opened(stage.pty(&[]));
    let news = "* tickets: the server requires a login (`login tickets` logs in)";
    pty.wait_until(|screen| screen.contains(news));
    enter(&mut pty, "login tickets");
    pty.wait_until(|screen| screen.contains("Log in there? [y/N]"));
    enter(&mut pty, "n");
    pty.wait_until(|screen| {
        screen.contains("login cancelled") && screen.trim_end().ends_with("switchboard>")
    });
    let (code, screen) = leave(pty);
    assert_eq!(code, 0, "{screen}");
    // One line says it, and not a second one that the server could not be connected.
    assert!(
        !screen.contains("`servers tickets` shows details"),
        "{screen}"
    );
}

#[test]
fn a_call_on_a_pipe_says_the_command_that_logs_in() {
    let stage = Stage::new(&[]);
    for args in [
        &["call", "tickets/echo", "message=hello", "--json"] as &[&str],
        &["tools", "tickets", "--json"],
    ] {
        let run = stage.run(args);
        assert_eq!(run.code, Some(3), "{}", run.stderr);
        let error = run.error();
        assert_eq!(error["kind"], "authorization");
        assert_eq!(error["message"], "the server requires a login");
        assert_eq!(error["hints"][0], "`switchboard login tickets`");
    }
}

#[test]
fn scopes_that_a_call_demands_are_in_the_command_that_logs_in() {
    let stage = Stage::new(&["scopes=read,admin", "tool-scope=echo:admin"]);
    stage.log_in(&["--scopes", "read"]);
    let call = ["call", "tickets/echo", "message=hello", "--json"];
    let refused = stage.run(&call);
    assert_eq!(refused.code, Some(3), "{}", refused.stderr);
    let error = refused.error();
    assert_eq!(
        error["message"],
        "the login lacks scopes that the server requires"
    );
    let hint = error["hints"][0]
        .as_str()
        .unwrap()
        .trim_matches('`')
        .to_owned();
    assert_eq!(hint, "switchboard login tickets --scopes 'read admin'");
    // As pasted, but for the browser.
    let begun = stage.run(&["login", "tickets", "--scopes", "read admin", "--no-browser"]);
    let answer = answered(begun.stdout.trim());
    assert_eq!(
        stage.run(&["login", "tickets", "--finish", &answer]).code,
        Some(0)
    );
    let called = stage.run(&["call", "tickets/echo", "message=hello"]);
    assert_eq!(called.stdout, "hello\n", "{}", called.stderr);
}

#[test]
fn a_call_at_a_terminal_that_demands_more_scopes_goes_on_after_the_login() {
    let stage = Stage::new(&["scopes=read,admin", "tool-scope=echo:admin"]);
    stage.log_in(&["--scopes", "read"]);
    let mut pty = stage.pty(&["call", "tickets/echo", "message=hello-again"]);
    pty.wait_for("scopes: read admin");
    pty.wait_for("Log in there? [y/N] ");
    pty.send(b"y\r");
    visited(&stage.opened());
    pty.wait_for("hello-again\r\n");
    assert_eq!(pty.finish().0, 0);
}

#[test]
fn among_several_servers_one_that_needs_a_login_is_a_warning_with_the_command() {
    let stage = Stage::new(&[]);
    let own = env!("CARGO_BIN_EXE_switchboard");
    let text = format!(
        r#"{{"mcpServers": {{"tickets": {{"url": "{}"}}, "calc": {{"command": "{own}", "args": ["test-server"]}}}}}}"#,
        stage.issuer.url()
    );
    stage.home.write("config/switchboard/mcp.json", &text);
    let run = stage.run(&["tools"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert!(run.stdout.contains("echo"), "{}", run.stdout);
    let warning =
        "warning: tickets: the server requires a login (`switchboard login tickets` logs in)\n";
    assert!(run.stderr.contains(warning), "{}", run.stderr);
}

#[test]
fn a_doctor_and_a_list_of_servers_say_the_command_that_logs_in() {
    let stage = Stage::new(&[]);
    let doctor = stage.run(&["doctor"]);
    assert_eq!(doctor.code, Some(3), "{}", doctor.stdout);
    assert!(
        doctor.stdout.contains("`switchboard login tickets`"),
        "{}",
        doctor.stdout
    );
    let servers = stage.run(&["servers", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&servers.stdout).unwrap();
    let server = &document["servers"][0];
    assert_eq!(server["state"], "needs_login");
    assert_eq!(server["error"]["hints"][0], "`switchboard login tickets`");
}
