//! What else is done at a question: Ctrl-D, a terminal that can do nothing, and news that come meanwhile.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{PATIENCE, answered, enter, is_back, leave, open, run, wire};
use crate::pty::Pty;
use crate::stage::{READY, Stage};

const FORM: &str = "call everything/trigger-elicitation-request";

fn stage() -> Stage {
    super::stage(json!({}), json!({}))
}

fn asks(pty: &mut Pty) {
    pty.wait_for("The server \"everything\" asks:");
    pty.wait_for("Answer it? [Y]es, [d]ecline, [c]ancel: ");
}

/// A prompt at a terminal that can do nothing.
fn dumb(stage: &Stage) -> Pty {
    let trace = stage.home.path("trace");
    let mut command = stage.command(&["repl", "--trace", trace.to_str().unwrap()]);
    command.env("TERM", "dumb");
    let mut pty = Pty::start(command, 100);
    pty.wait_for(READY);
    pty
}

#[test]
fn ctrl_d_at_a_question_leads_back_to_the_prompt() {
    let stage = stage();
    let mut pty = open(&stage);
    enter(&mut pty, FORM);
    asks(&mut pty);
    pty.send(b"\x04");
    pty.wait_for("User cancelled");
    is_back(&mut pty);
    leave(pty);
    let answer = answered(&stage, "elicitation/create");
    assert_eq!(answer["result"], json!({"action": "cancel"}));
}

#[test]
fn ctrl_d_at_a_question_of_a_call_cancels_it() {
    let stage = stage();
    let mut pty = run(&stage, &["call", "everything/trigger-elicitation-request"]);
    asks(&mut pty);
    pty.send(b"\x04");
    pty.wait_for("User cancelled");
    assert_eq!(pty.finish().0, 0);
}

#[test]
fn a_terminal_that_can_do_nothing_is_enough_for_questions() {
    let stage = stage();
    let mut pty = dumb(&stage);
    enter(&mut pty, FORM);
    asks(&mut pty);
    enter(&mut pty, "y");
    pty.wait_for("name: ");
    enter(&mut pty, "Ada");
    // Everything else is optional, or has a default.
    for name in [
        "check: ",
        "firstLine [",
        "email: ",
        "homepage: ",
        "birthdate: ",
        "integer [",
        "number [",
        "untitledSingleSelectEnum [",
        "untitledMultipleSelectEnum [",
        "titledSingleSelectEnum [",
        "titledMultipleSelectEnum [",
        "legacyTitledEnum [",
    ] {
        pty.wait_for(&format!("  {name}"));
        enter(&mut pty, "");
    }
    pty.wait_for("Send it?");
    enter(&mut pty, "y");
    pty.wait_for("- Name: Ada");
    is_back(&mut pty);
    leave(pty);
}

#[test]
fn ctrl_c_at_a_question_leads_back_to_the_prompt_of_a_terminal_that_can_do_nothing() {
    let stage = stage();
    let mut pty = dumb(&stage);
    enter(&mut pty, FORM);
    asks(&mut pty);
    pty.send(b"\x03");
    pty.wait_for("User cancelled");
    let answer = answered(&stage, "elicitation/create");
    assert_eq!(answer["result"], json!({"action": "cancel"}));
    pty.wait_for(READY);
    // What is typed now is a command, and no answer to a question that was left.
    enter(&mut pty, "call everything/get-sum a=2 b=3");
    pty.wait_for("The sum of 2 and 3 is 5.");
    pty.wait_for(READY);
    is_back(&mut pty);
    leave(pty);
}

/// Whether the server has logged something that is told at the prompt, since it has asked.
fn is_logged_since(stage: &Stage, method: &str) -> bool {
    let is_told = |message: &Value| {
        message["method"] == "notifications/message" && message["params"]["level"] != "debug"
    };
    let wire = wire(stage);
    let mut after = wire
        .iter()
        .skip_while(|(is_in, message)| !is_in || message["method"] != method);
    after.any(|(_, message)| is_told(message))
}

#[test]
fn what_is_logged_while_a_question_is_open_waits_for_its_answer() {
    let stage = stage();
    let mut pty = open(&stage);
    enter(&mut pty, "call everything/toggle-simulated-logging");
    pty.wait_for("Started simulated");
    pty.wait_for(READY);
    enter(&mut pty, FORM);
    asks(&mut pty);
    let ends = Instant::now() + PATIENCE;
    while !is_logged_since(&stage, "elicitation/create") {
        assert!(Instant::now() < ends, "nothing was logged");
        std::thread::yield_now();
    }
    pty.stays_quiet(Duration::from_millis(300));
    enter(&mut pty, "d");
    pty.wait_for("* everything: ");
    pty.wait_until(|screen| screen.contains("User declined"));
    is_back(&mut pty);
    leave(pty);
}
