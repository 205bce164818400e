//! Addresses that servers want to send the person to.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::elicit::{asking, asking_once, at_home, stdio};
use crate::home::Home;
use crate::pty::Pty;
use crate::run::switchboard;

/// A home in which opening an address writes it down.
fn with_browser() -> Home {
    let home = Home::new();
    let script = format!(
        "#!/bin/sh\necho \"$#:$1\" >> '{}'\n",
        home.path("opened").display()
    );
    home.write("bin/xdg-open", &script);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(home.path("bin/xdg-open"), mode).unwrap();
    home
}

const VISIT: &str = r#"{"mode": "url", "message": "Sign in", "url": "https://аpple.com/?a=$(touch%20x)&b=1;2", "elicitationId": "e1"}"#;

#[test]
#[cfg(target_os = "linux")]
fn an_address_is_shown_whole_and_opened_on_a_yes_without_a_shell() {
    let home = with_browser();
    let script = asking_once(VISIT);
    let command = script.command();
    let mut pty = Pty::start(at_home(&home, &stdio(&command, &[])), 100);
    pty.wait_for("The server \"mine\" asks you to open this URL:\r\n  | Sign in");
    pty.wait_for(
        "  https://xn--pple-43d.com/?a=$(touch%20x)&b=1;2\r\n          ^^^^^^^^^^^^^^^^ the host",
    );
    pty.wait_for("the host xn--pple-43d.com reads");
    pty.wait_for("warning: the host's name mixes letters");
    pty.wait_for("Open it in a browser?");
    assert!(!home.path("opened").exists());
    pty.send(b"\r");
    pty.wait_for("Open it in a browser?");
    pty.send(b"y\r");
    pty.wait_for(r#"{"action": "accept"}"#);
    assert_eq!(pty.finish().0, 0);
    let opened = home.path("opened");
    while fs::read_to_string(&opened).unwrap_or_default().is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(
        home.read("opened"),
        "1:https://xn--pple-43d.com/?a=$(touch%20x)&b=1;2\n"
    );
}

#[test]
fn an_address_is_opened_by_nobody_without_a_yes() {
    let home = with_browser();
    for (typed, action) in [("m", "accept"), ("d", "decline"), ("c", "cancel")] {
        let script = asking_once(VISIT);
        let command = script.command();
        let mut pty = Pty::start(at_home(&home, &stdio(&command, &[])), 100);
        pty.wait_for("Open it in a browser?");
        pty.send(format!("{typed}\r").as_bytes());
        pty.wait_for(&format!(r#"{{"action": "{action}"}}"#));
        assert_eq!(pty.finish().0, 0);
    }
    let script = asking_once(
        r#"{"mode": "url", "message": "Sign in", "url": "javascript:alert(1)", "elicitationId": "e1"}"#,
    );
    let command = script.command();
    let mut pty = Pty::start(at_home(&home, &stdio(&command, &[])), 100);
    pty.wait_for("people are sent to https alone");
    pty.wait_for("-32602");
    assert_eq!(pty.finish().0, 0);
    assert!(!home.path("opened").exists());
    // Not declared on a pipe, and so not known there.
    let piped = switchboard(&stdio(&asking_once(VISIT).command(), &[]));
    assert!(piped.stdout.contains("-32601"), "{piped:?}");
}

#[test]
fn a_call_that_is_refused_until_somebody_was_elsewhere_is_made_again() {
    let script = asking(&format!(
        r#"
COUNT = []

def call(request):
    COUNT.append(1)
    if len(COUNT) == 1:
        refuse(request, -32042, "sign in first", data={{"elicitations": [{VISIT}]}})
    else:
        answer(request, text("signed in"))
"#
    ));
    let command = script.command();
    let mut pty = Pty::spawn(&stdio(&command, &[]), &[], 100);
    pty.wait_for("Open it in a browser?");
    pty.send(b"m\r");
    pty.wait_for("Enter when you are done");
    pty.send(b"\r");
    pty.wait_for("signed in");
    assert_eq!(pty.finish().0, 0);
    let piped = switchboard(&stdio(&command, &[]));
    assert!(piped.stderr.contains("sign in first"), "{piped:?}");
    assert_ne!(piped.code, Some(0));
}
