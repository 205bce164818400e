//! Tab, where the server knows what an argument may be; and the verbs that take what was completed.

use serde_json::{Value, json};

use super::{crossed, enter, is_back, leave, open, run};
use crate::prompt::tab;
use crate::pty::Pty;
use crate::stage::{READY, Stage};

const PROMPT: &str = "everything/completable-prompt";
const TEMPLATE: &str = "demo://resource/dynamic/text/{resourceId}";

fn stage() -> Stage {
    super::stage(json!({}), json!({}))
}

/// A prompt that knows what the server has.
fn open_and_list(stage: &Stage) -> Pty {
    let mut pty = open(stage);
    enter(&mut pty, "prompts everything");
    pty.wait_for("completable-prompt(department, name)");
    pty.wait_for(READY);
    pty
}

/// What the server has suggested for an argument, as far as it was typed.
fn suggested(stage: &Stage, name: &str, value: &str) -> (Value, Value) {
    let asked = crossed(stage, |is_in, message| {
        let argument = &message["params"]["argument"];
        let is_it = argument["name"] == name && argument["value"] == value;
        !is_in && message["method"] == "completion/complete" && is_it
    });
    let answer = crossed(stage, |is_in, message| {
        is_in && message["id"] == asked["id"] && message.get("result").is_some()
    });
    let values = answer["result"]["completion"]["values"].clone();
    (asked["params"].clone(), values)
}

#[test]
fn tab_completes_an_argument_and_another_that_hangs_on_it() {
    let stage = stage();
    let mut pty = open_and_list(&stage);
    tab(
        &mut pty,
        "prompt everything/comp",
        &format!("prompt {PROMPT}"),
    );
    tab(&mut pty, "dep", &format!("prompt {PROMPT} department="));
    let line = format!("prompt {PROMPT} department=Engineering");
    tab(&mut pty, "E", &line);
    tab(&mut pty, "na", &format!("{line} name="));
    tab(&mut pty, "A", &format!("{line} name=Alice"));
    enter(&mut pty, "");
    pty.wait_for("Please promote Alice to the head of the Engineering team.");
    pty.wait_for(READY);
    let (asked, values) = suggested(&stage, "name", "A");
    assert_eq!(
        asked["context"]["arguments"],
        json!({"department": "Engineering"})
    );
    assert_eq!(values, json!(["Alice"]));
    // Another department has other people; where there are several, they are shown.
    pty.send(format!("prompt {PROMPT} department=Sales name=\t").as_bytes());
    pty.wait_until(|screen| {
        ["name=David", "name=Eve", "name=Frank"]
            .iter()
            .all(|name| screen.contains(name))
    });
    // Enter takes the one that is marked, and the next one does what the line says.
    enter(&mut pty, "");
    pty.wait_until(|screen| screen.trim_end().ends_with("department=Sales name=David"));
    enter(&mut pty, "");
    pty.wait_for("Please promote David to the head of the Sales team.");
    pty.wait_for(READY);
    // The other way to write it completes as well.
    let line = format!("/mcp prompt {PROMPT} department=Support name=");
    tab(&mut pty, &format!("{line}L"), &format!("{line}Lee"));
    enter(&mut pty, "");
    pty.wait_for("Please promote Lee to the head of the Support team.");
    is_back(&mut pty);
    leave(pty);
}

#[test]
fn tab_completes_what_a_template_has_left_open() {
    let stage = stage();
    let mut pty = open_and_list(&stage);
    tab(
        &mut pty,
        "read everything demo://resource/dynamic/t",
        &format!("read everything {TEMPLATE}"),
    );
    tab(
        &mut pty,
        "re",
        &format!("read everything {TEMPLATE} resourceId="),
    );
    pty.send(b"7\t");
    let (asked, values) = suggested(&stage, "resourceId", "7");
    assert_eq!(
        asked["ref"],
        json!({"type": "ref/resource", "uri": TEMPLATE})
    );
    assert_eq!(values, json!(["7"]));
    pty.wait_until(|screen| screen.trim_end().ends_with(" resourceId=7"));
    enter(&mut pty, "");
    pty.wait_for("Resource 7: This is a plaintext resource");
    is_back(&mut pty);
    leave(pty);
}

#[test]
fn what_was_completed_can_be_got_and_read_from_the_command_line() {
    let stage = stage();
    let mut pty = run(
        &stage,
        &["prompt", PROMPT, "department=Support", "name=Kim"],
    );
    pty.wait_for("Please promote Kim to the head of the Support team.");
    assert_eq!(pty.finish().0, 0);
    let mut pty = run(&stage, &["read", "everything", TEMPLATE, "resourceId=9"]);
    pty.wait_for("Resource 9: This is a plaintext resource");
    assert_eq!(pty.finish().0, 0);
}
