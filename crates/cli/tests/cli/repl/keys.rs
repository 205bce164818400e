//! Keys: Tab, Ctrl-C, Ctrl-D, and what is remembered of lines.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::{READY, enter, entry, home, leave, open, shows};
use crate::home::Home;
use crate::pty::Pty;

#[test]
fn tab_completes_commands_servers_tools_and_arguments() {
    let home = home(
        &json!({"filer": entry(&[]), "other": entry(&[])}),
        &json!({}),
    );
    let mut pty = open(&home);
    // Until its tools are known, there is nothing to complete.
    enter(&mut pty, "tools filer");
    shows(&pty, "announce_change");
    pty.send(b"ca\t");
    pty.wait_until(|screen| screen.trim_end().ends_with("switchboard> call"));
    pty.send(b"fil\tec\t");
    pty.wait_until(|screen| screen.trim_end().ends_with("call filer/echo"));
    pty.send(b"me\t");
    pty.wait_until(|screen| screen.ends_with("call filer/echo message="));
    pty.send(b"completed\r");
    shows(&pty, "\ncompleted\n");
    pty.send(b"/mcp disc\tot\t\r");
    shows(&pty, "other: disconnected");
    pty.send(b"call filer/announce_change list=p\t\r");
    pty.wait_until(|screen| screen.contains("list=prompts"));
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn ctrl_c_cancels_the_call_and_gives_the_prompt_back() {
    let home = home(&json!({"one": entry(&["--instance", "first"])}), &json!({}));
    let mut pty = open(&home);
    enter(&mut pty, "call one/slow_operation duration=600");
    // Before that the key may be for the line, or the server not be there yet.
    pty.wait_for("calling one/slow_operation");
    pty.send(b"\x03");
    shows(&pty, "cancelled");
    enter(&mut pty, "call one/whoami");
    shows(&pty, "\nfirst");
    pty.send(b"\x03");
    pty.wait_for("Ctrl-C again");
    pty.wait_for(READY);
    pty.send(b"\x03");
    assert_eq!(pty.finish().0, 130);
}

#[test]
fn ctrl_c_on_a_typed_line_clears_it_and_nothing_else() {
    let mut pty = open(&Home::new());
    pty.send(b"call demo/echo message=never");
    pty.wait_until(|screen| screen.ends_with("message=never"));
    pty.send(b"\x03");
    pty.wait_until(|screen| screen.trim_end().ends_with("switchboard>"));
    assert!(!pty.written().contains("Ctrl-C again"), "{}", pty.screen());
    // A second one is the first on an empty line.
    pty.send(b"\x03");
    pty.wait_for("Ctrl-C again");
    pty.wait_for(READY);
    enter(&mut pty, "call demo/echo message=cleared");
    shows(&pty, "\ncleared\n");
    let (code, screen) = leave(pty);
    assert_eq!(code, 0);
    assert!(!screen.contains("\nnever"), "{screen}");
}

#[test]
fn a_call_that_is_given_up_is_cancelled_on_the_wire() {
    for era in ["legacy", "modern"] {
        let home = home(&json!({"one": entry(&["--era", era])}), &json!({}));
        let trace = home.path("trace");
        let mut pty = Pty::start(
            home.command(&["repl", "--trace", trace.to_str().unwrap()]),
            100,
        );
        pty.wait_for(READY);
        enter(&mut pty, "call one/slow_operation duration=600");
        let is_sent = |what: &str| {
            std::fs::read_to_string(&trace)
                .unwrap_or_default()
                .contains(what)
        };
        while !is_sent("tools/call") {
            std::thread::yield_now();
        }
        pty.send(b"\x03");
        shows(&pty, "cancelled");
        assert_eq!(leave(pty).0, 0);
        assert!(is_sent("notifications/cancelled"), "{era}");
        assert!(is_sent("cancelled by the user"), "{era}");
    }
}

#[test]
fn ctrl_d_leaves() {
    let mut pty = open(&Home::new());
    pty.send(b"\x04");
    assert_eq!(pty.finish().0, 0);
}

#[test]
fn the_history_is_private_and_has_no_secrets() {
    let home = Home::new();
    let mut pty = open(&home);
    for line in [
        "call demo/echo message=plain",
        "call demo/echo message=x password=hunter2",
        "tools --url http://127.0.0.1:9/mcp -H 'Authorization: Bearer s3cr3t-t0ken'",
    ] {
        enter(&mut pty, line);
        pty.wait_for(READY);
    }
    assert_eq!(leave(pty).0, 0);
    let history = home.read("state/switchboard/history");
    assert!(
        history.contains("call demo/echo message=plain"),
        "{history}"
    );
    assert!(
        !history.contains("hunter2") && !history.contains("s3cr3t"),
        "{history}"
    );
    let mode = |path| home.path(path).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("state/switchboard/history"), 0o600);
    assert_eq!(mode("state/switchboard"), 0o700);
    let mut pty = open(&home);
    // Up three times: exit, tools, call.
    pty.send(b"\x1b[A\x1b[A\x1b[A\x1b[A");
    pty.wait_until(|screen| screen.ends_with("> call demo/echo message=plain"));
    pty.send(b"\r");
    shows(&pty, "\nplain\n");
    assert_eq!(leave(pty).0, 0);
}

#[test]
fn a_narrow_terminal_and_no_colour_are_enough() {
    let home = home(&json!({"one": entry(&[])}), &json!({}));
    let mut command = home.command(&[]);
    command.env("NO_COLOR", "1");
    let mut pty = Pty::start(command, 40);
    pty.wait_for(READY);
    enter(&mut pty, "call one/echo message=narrow");
    shows(&pty, "\nnarrow\n");
    assert_eq!(leave(pty).0, 0);
}
