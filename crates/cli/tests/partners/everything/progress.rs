//! `trigger-long-running-operation`: how far it is, and Ctrl-C.

use serde_json::json;

use super::{crossed, enter, is_back, leave, open, run};
use crate::pty::Pty;
use crate::stage::Stage;

const CALL: [&str; 4] = [
    "call",
    "everything/trigger-long-running-operation",
    "duration=3",
    "steps=6",
];
const LONG: [&str; 4] = [
    "call",
    "everything/trigger-long-running-operation",
    "duration=600",
    "steps=600",
];
const BAR: &str = "calling everything/trigger-long-running-operation [#";
const DONE: &str = "Long running operation completed. Duration: 3 seconds, Steps: 6.";

fn stage() -> Stage {
    super::stage(json!({}), json!({}))
}

fn is_done_and_the_bar_gone(pty: &Pty) {
    pty.wait_until(|screen| screen.contains(DONE) && !screen.contains("calling everything"));
}

/// Waits until the server was told why nobody waits for the call any more.
fn is_cancelled(stage: &Stage, why: &str) {
    crossed(stage, |is_in, message| {
        let reason = message["params"]["reason"].as_str().unwrap_or_default();
        !is_in && message["method"] == "notifications/cancelled" && reason.contains(why)
    });
}

#[test]
fn a_call_has_a_bar_until_it_is_done() {
    let stage = stage();
    let mut pty = run(&stage, &CALL);
    pty.wait_for(BAR);
    pty.wait_for("%");
    pty.wait_for(DONE);
    let (code, screen) = pty.finish();
    assert_eq!((code, screen.trim_end()), (0, DONE));
}

#[test]
fn the_prompt_has_a_bar_until_it_is_done() {
    let stage = stage();
    let mut pty = open(&stage);
    enter(&mut pty, &CALL.join(" "));
    pty.wait_for(BAR);
    pty.wait_for("%");
    pty.wait_for(DONE);
    is_done_and_the_bar_gone(&pty);
    is_back(&mut pty);
    leave(pty);
}

#[test]
fn ctrl_c_ends_a_call_that_reports_progress() {
    let stage = stage();
    let mut pty = run(&stage, &LONG);
    pty.wait_for("calling everything/trigger-long-running-operation [");
    pty.send(b"\x03");
    let (code, screen) = pty.finish();
    assert_eq!(code, 130, "{screen}");
    assert_eq!(screen.trim_end(), "error: stopped by SIGINT");
    is_cancelled(&stage, "stopped by SIGINT");
}

#[test]
fn ctrl_c_during_a_bar_leads_back_to_the_prompt() {
    let stage = stage();
    let mut pty = open(&stage);
    enter(&mut pty, &LONG.join(" "));
    pty.wait_for("calling everything/trigger-long-running-operation [");
    pty.send(b"\x03");
    pty.wait_for("cancelled");
    is_cancelled(&stage, "cancelled by the user");
    is_back(&mut pty);
    leave(pty);
}
