//! `watch`, and `toggle-subscriber-updates`: a change of all that is watched every 5 seconds, on this connection.

use serde_json::{Value, json};

use super::{enter, is_back, leave, open, replied, run, switched_on, wire};
use crate::stage::{READY, Stage};

const URI: &str = "demo://resource/dynamic/text/7";
const HOLDS: &str = "Resource 7: This is a plaintext resource";

/// How many changes of the resource the server has told of.
fn changes(stage: &Stage) -> usize {
    let is_change = |message: &Value| {
        message["method"] == "notifications/resources/updated" && message["params"]["uri"] == URI
    };
    let wire = wire(stage);
    wire.iter()
        .filter(|(_, message)| is_change(message))
        .count()
}

#[test]
fn watch_shows_changes_until_ctrl_c() {
    let stage = switched_on();
    let mut pty = run(&stage, &["watch", "everything", URI]);
    for _ in 0..2 {
        pty.wait_for(&format!("{URI}\r\n"));
    }
    pty.send(b"\x03");
    let (code, screen) = pty.finish();
    assert_eq!(code, 130, "{screen}");
    assert!(changes(&stage) >= 2);
}

#[test]
fn watch_shows_what_the_resource_holds_where_that_is_wanted() {
    let stage = switched_on();
    let mut pty = run(&stage, &["watch", "everything", URI, "--read"]);
    pty.wait_for(&format!("{URI}\r\n{HOLDS}"));
    pty.send(b"\x03");
    assert_eq!(pty.finish().0, 130);
}

#[test]
fn watch_shows_changes_at_the_prompt_until_ctrl_c() {
    let stage = super::stage(json!({}), json!({}));
    let mut pty = open(&stage);
    enter(&mut pty, "call everything/toggle-subscriber-updates");
    pty.wait_for("Started simulated resource updated notifications");
    pty.wait_for(READY);
    enter(&mut pty, &format!("watch everything {URI}"));
    replied(&stage, "resources/subscribe", 1);
    for _ in 0..2 {
        pty.wait_for(&format!("\n{URI}\r\n"));
    }
    pty.send(b"\x03");
    pty.wait_for("cancelled");
    is_back(&mut pty);
    // Nobody watches any more, and the server knows.
    replied(&stage, "resources/unsubscribe", 1);
    enter(&mut pty, &format!("watch everything {URI} --read"));
    pty.wait_for(&format!("\n{URI}\r\n{HOLDS}"));
    pty.send(b"\x03");
    pty.wait_for("cancelled");
    is_back(&mut pty);
    enter(&mut pty, "call everything/toggle-subscriber-updates");
    pty.wait_for("Stopped simulated resource updates");
    is_back(&mut pty);
    leave(pty);
    assert!(changes(&stage) >= 3);
}
