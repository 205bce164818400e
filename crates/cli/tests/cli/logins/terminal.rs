//! Logins of a person at a terminal.

use super::{Stage, answered, assert_no_token_in, visited};
use crate::pty::Pty;

const ASKED: &str = "Log in there? [y/N] ";
const PASTE: &str = "paste the address that it ended at: ";

/// The address that a terminal shows.
fn shown_address(pty: &Pty) -> String {
    let written = pty.written();
    let line = written.lines().find(|line| line.contains("/authorize?"));
    line.unwrap_or_else(|| panic!("{written}"))
        .trim()
        .to_owned()
}

#[test]
fn a_login_with_a_browser_is_asked_for_and_calls_work_after_it() {
    let stage = Stage::new(&[]);
    let mut pty = stage.pty(&["login", "tickets"]);
    pty.wait_for("Login to tickets at 127.0.0.1\r\n  issuer: http://127.0.0.1:");
    pty.wait_for(ASKED);
    assert!(!stage.home.path("opened").exists(), "before a yes");
    pty.send(b"y\r");
    let page = visited(&stage.opened());
    assert_eq!(page.status, 200, "{}", page.body);
    pty.wait_for("logged in to tickets at http://127.0.0.1:");
    let (code, written) = pty.transcript();
    assert_eq!(code, 0, "{written}");
    assert_no_token_in(&written);
    let called = stage.run(&["call", "tickets/echo", "message=hello"]);
    assert_eq!((called.code, called.stdout.as_str()), (Some(0), "hello\n"));
    assert_eq!((stage.count("logins"), stage.count("prompts")), (1, 1));
}

#[test]
fn a_pasted_address_finishes_a_login_and_a_wrong_one_does_not() {
    let stage = Stage::new(&[]);
    let mut pty = Pty::start(stage.command(&["login", "tickets"]), 200);
    pty.wait_for(ASKED);
    pty.send(b"y\r");
    pty.wait_for("open this address in a browser, on this machine or on another:");
    pty.wait_for(PASTE);
    pty.send(b"http://127.0.0.1:1/callback?code=guessed&state=guessed\r");
    pty.wait_for("the address belongs to no login that was begun here");
    pty.wait_for(PASTE);
    let answer = answered(&shown_address(&pty));
    pty.send(format!("{answer}\r").as_bytes());
    pty.wait_for("logged in to tickets at");
    assert_eq!(pty.finish().0, 0);
    assert_eq!(stage.count("logins"), 1);
}

#[test]
fn a_login_that_is_not_wanted_opens_and_stores_nothing() {
    let stage = Stage::new(&[]);
    let mut pty = stage.pty(&["login", "tickets"]);
    pty.wait_for(ASKED);
    pty.send(b"\r");
    let (code, screen) = pty.finish();
    assert_eq!(code, 3, "{screen}");
    assert!(screen.contains("login cancelled"), "{screen}");
    assert!(!stage.home.path("opened").exists());
    assert_eq!(stage.run(&["auth", "status", "tickets"]).code, Some(3));
}

#[test]
fn ctrl_c_ends_a_login_and_nothing_listens_any_more() {
    let stage = Stage::new(&[]);
    let mut pty = stage.pty(&["login", "tickets", "--yes"]);
    let url = stage.opened();
    pty.wait_for(PASTE);
    pty.send(b"\x03");
    let (code, screen) = pty.finish();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("stopped by SIGINT"), "{screen}");
    let answer = answered(&url);
    assert!(super::Browser::default().visit(&answer).is_err());
    assert_eq!(stage.run(&["auth", "status", "tickets"]).code, Some(3));
}

#[test]
fn consent_that_is_refused_ends_the_login_with_what_to_do() {
    let stage = Stage::with(&[], &["consent-refused"]);
    let mut pty = stage.pty(&["login", "tickets", "--yes"]);
    visited(&stage.opened());
    pty.wait_for("the login was refused at the issuer");
    pty.wait_for("`switchboard login tickets`");
    assert_eq!(pty.finish().0, 3);
}

#[test]
fn the_port_that_was_registered_is_used_again_and_one_that_is_taken_is_not() {
    let stage = Stage::new(&[]);
    let port_of = |url: &str| {
        let at = url.find("127.0.0.1%3A").unwrap() + "127.0.0.1%3A".len();
        let port: String = url[at..].chars().take_while(char::is_ascii_digit).collect();
        port.parse::<u16>().unwrap()
    };
    let log_in = || {
        let mut pty = stage.pty(&["login", "tickets", "--yes", "--scopes", "tools"]);
        let url = stage.opened();
        visited(&url);
        pty.wait_for("logged in to tickets");
        assert_eq!(pty.finish().0, 0);
        port_of(&url)
    };
    let first = log_in();
    assert_eq!(log_in(), first);
    let taken = std::net::TcpListener::bind(("127.0.0.1", first)).unwrap();
    assert_ne!(log_in(), first);
    stage.describe(&format!(r#"{{"callbackPort": {first}}}"#));
    let run = stage.run(&["login", "tickets", "--no-browser", "--force"]);
    assert_eq!(run.code, Some(6), "{}", run.stderr);
    let title = format!("the port {first} of `oauth.callbackPort` is taken");
    assert!(run.stderr.contains(&title), "{}", run.stderr);
    drop(taken);
}

#[test]
fn the_question_for_an_address_is_gone_before_the_login_is_told_of() {
    let stage = Stage::new(&[]);
    let mut pty = stage.pty(&["repl"]);
    pty.wait_for("switchboard> ");
    for _ in 0..4 {
        pty.send(b"login tickets --yes --force\r");
        pty.wait_for(PASTE);
        visited(&stage.opened());
        pty.wait_for("logged in to tickets at");
        pty.wait_for("switchboard> ");
    }
    pty.send(b"exit\r");
    let (_, written) = pty.transcript();
    let logins: Vec<&str> = written.split("logged in to tickets at").collect();
    assert_eq!(logins.len(), 5);
    for login in &logins[..4] {
        let asked = login.rsplit(PASTE).next().unwrap();
        // The line of the question was ended, and it was not drawn again.
        assert!(asked.contains('\n'), "{asked:?}");
    }
    for told in &logins[1..] {
        let rest = told.split("switchboard> ").next().unwrap();
        assert!(!rest.contains("paste the address"), "{rest:?}");
    }
}
