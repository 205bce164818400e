//! What they tell: progress, logs, changes; and what they complete.

use switchboard_tests::{partners, talk};

use super::{asking, enter, leave, prompt, rmcp, stage};
use crate::pty::Pty;
use crate::stage::READY;

#[test]
fn progress_is_a_bar() {
    for launch in asking() {
        let stage = stage(&launch);
        let mut pty = stage.start(&["call", "partner/count", "steps=2", "pause=1500"]);
        pty.wait_for("calling partner/count [#####-----] 50%");
        pty.wait_for("at 1");
        let (code, screen) = pty.finish();
        assert_eq!((code, screen.trim_end()), (0, "counted to 2"));
        let mut pty = prompt(&stage);
        enter(&mut pty, "call partner/count steps=2 pause=1500");
        pty.wait_for("calling partner/count [#####-----] 50%");
        pty.wait_for("counted to 2");
        pty.wait_for(READY);
        enter(&mut pty, "call partner/count steps=2 pause=60000");
        pty.wait_for("calling partner/count [#####-----] 50%");
        pty.send(b"\x03");
        leave(pty);
    }
}

#[test]
fn logs_are_told_at_the_prompt() {
    for launch in asking() {
        let stage = stage(&launch);
        let mut pty = prompt(&stage);
        enter(&mut pty, "call partner/log");
        pty.wait_for("logged");
        pty.wait_until(|screen| {
            let told = screen.lines().find(|line| line.contains("loud words"));
            told.is_some_and(|line| line.starts_with("* partner: warning partner: "))
        });
        assert!(!pty.written().contains("quiet words"), "{}", pty.written());
        leave(pty);
    }
}

#[test]
fn logs_are_told_beside_a_call() {
    for launch in asking() {
        let stage = stage(&launch);
        let mut pty = stage.start(&["call", "partner/log"]);
        pty.wait_for("logged");
        let (code, screen) = pty.finish();
        assert_eq!((code, screen.contains("words")), (0, false), "{screen}");
        for (level, quiet) in [("debug", true), ("warning", false)] {
            let mut pty = stage.start(&["call", "partner/log", "--log-level", level]);
            pty.wait_for("logged");
            let (code, screen) = pty.finish();
            assert_eq!(code, 0, "{screen}");
            let told = screen.lines().find(|line| line.contains("loud words"));
            let is_told = |line: &str| line.starts_with("partner: warning partner: ");
            assert!(told.is_some_and(is_told), "{screen}");
            assert_eq!(screen.contains("quiet words"), quiet, "{screen}");
        }
    }
}

#[test]
fn logs_are_shown_by_the_verb() {
    let stage = stage(&rmcp());
    let mut pty = stage.start(&["logs", "partner", "--level", "info"]);
    pty.wait_for("info partner: tools were listed");
    pty.send(b"\x03");
    assert_eq!(pty.finish().0, 130);
}

#[test]
fn a_resource_is_watched() {
    for launch in [rmcp(), partners::python_v2_talking()] {
        let stage = stage(&launch);
        let mut pty = stage.start(&["watch", "partner", talk::NUMBER, "--read"]);
        pty.wait_for(&format!("{}\r\n0\r\n", talk::NUMBER));
        pty.send(b"\x03");
        assert_eq!(pty.finish().0, 130);
        let mut pty = prompt(&stage);
        enter(&mut pty, "call partner/touch");
        pty.wait_for("touched");
        enter(&mut pty, &format!("watch partner {} --read", talk::NUMBER));
        pty.wait_for(&format!("{}\r\n1\r\n", talk::NUMBER));
        pty.send(b"\x03");
        leave(pty);
    }
}

#[test]
fn a_tool_that_is_new_is_told_and_can_be_called_by_its_name() {
    for launch in [rmcp(), partners::python_v2_talking()] {
        let stage = stage(&launch);
        let pty = prompt(&stage);
        grown(pty);
    }
}

/// What a server offers at first is no news, and how long that takes nobody knows.
fn grown(mut pty: Pty) {
    for number in 0..1000 {
        enter(&mut pty, &format!("call partner/grow name=new{number}"));
        pty.wait_for("grown\r\n");
        pty.wait_for(READY);
        if pty.written().contains("* partner: tool new") {
            enter(&mut pty, "tool partner/new0");
            pty.wait_for("Talks back.");
            return leave(pty);
        }
    }
    panic!("nothing was told:\n{}", pty.screen());
}

#[test]
fn tab_completes_what_a_server_knows() {
    for launch in asking() {
        let stage = stage(&launch);
        let mut pty = prompt(&stage);
        // Only what is connected is asked.
        enter(&mut pty, "prompts partner");
        pty.wait_for("greet(");
        pty.wait_for(READY);
        pty.send(b"prompt partner/greet name=Gr\t");
        pty.wait_until(|screen| screen.trim_end().ends_with("name=Grace"));
        pty.send(b"\r");
        pty.wait_for("Please greet Grace.");
        pty.wait_for(READY);
        pty.send(b"read partner partner://notes/{name} name=Al\t");
        pty.wait_until(|screen| screen.trim_end().ends_with("name=Alan"));
        pty.send(b"\r");
        pty.wait_for("a note for Alan");
        leave(pty);
    }
}
