//! `trigger-elicitation-request`: a form with every kind of field that there is.

use serde_json::{Value, json};

use super::{answered, crossed, enter, is_back, leave, open, run};
use crate::pty::Pty;
use crate::stage::Stage;

const CALL: [&str; 2] = ["call", "everything/trigger-elicitation-request"];

/// What is typed first and does not do, and what is said of it.
type Wrong = Option<(&'static str, &'static str)>;

/// What is asked for, what is wrong, and what is typed in the end.
const FIELDS: [(&str, Wrong, &str); 13] = [
    ("name: ", Some(("", "a value is required")), "Ada Lovelace"),
    ("check: ", Some(("maybe", "enter yes or no")), "yes"),
    ("firstLine [It was a dark and stormy night.]: ", None, ""),
    (
        "email: ",
        Some(("ada", "an email address")),
        "ada@example.com",
    ),
    ("homepage: ", None, "https://example.com/ada"),
    ("birthdate: ", Some(("1815-12-32", "date")), "1815-12-10"),
    ("integer [42]: ", Some(("101", "must be at most 100")), "7"),
    ("number [3.14]: ", None, "2.5"),
    ("untitledSingleSelectEnum [Monica]: ", None, "Chandler"),
    ("untitledMultipleSelectEnum [Guitar]: ", None, "Piano, 5"),
    ("titledSingleSelectEnum [Superman]: ", None, "3"),
    ("titledMultipleSelectEnum [Tuna]: ", None, "1, 2, 3"),
    ("legacyTitledEnum [Cats]: ", None, "-"),
];

/// What the server gets of that.
fn content() -> Value {
    json!({
        "name": "Ada Lovelace", "check": true, "firstLine": "It was a dark and stormy night.",
        "email": "ada@example.com", "homepage": "https://example.com/ada", "birthdate": "1815-12-10",
        "integer": 7, "number": 2.5, "untitledSingleSelectEnum": "Chandler",
        "untitledMultipleSelectEnum": ["Piano", "Bass"], "titledSingleSelectEnum": "hero-3",
        "titledMultipleSelectEnum": ["fish-1", "fish-2", "fish-3"],
    })
}

fn stage() -> Stage {
    super::stage(json!({}), json!({}))
}

fn asks(pty: &mut Pty) {
    pty.wait_for("The server \"everything\" asks:");
    pty.wait_for("  | Please provide inputs for the following fields:");
    pty.wait_for("Answer it? [Y]es, [d]ecline, [c]ancel: ");
}

/// Answers every field, and looks at it all.
fn fills_in(pty: &mut Pty) {
    asks(pty);
    enter(pty, "y");
    for (question, wrong, right) in FIELDS {
        pty.wait_for(question);
        if let Some((wrong, problem)) = wrong {
            enter(pty, wrong);
            pty.wait_for(problem);
            pty.wait_for(question);
        }
        enter(pty, right);
    }
    for shown in [
        "This will be sent to \"everything\":",
        "  String: Ada Lovelace\r\n",
        "  Boolean: yes\r\n",
        "  Untitled Multiple Select Enum: Piano, Bass\r\n",
        "  Titled Single Select Enum: Wonder Woman\r\n",
        "  Titled Multiple Select Enum: Tuna, Salmon, Trout\r\n",
        "  Legacy Titled Single Select Enum: (left out)\r\n",
        "Send it? [y]es, [e]dit, [d]ecline, [c]ancel: ",
    ] {
        pty.wait_for(shown);
    }
}

/// Answers every field, and sends it all.
fn sends(pty: &mut Pty) {
    fills_in(pty);
    enter(pty, "y");
    pty.wait_for("User provided the requested information!");
    pty.wait_for("- Favorite Integer: 7");
}

/// What the server was answered with.
fn answer(stage: &Stage) -> Value {
    answered(stage, "elicitation/create")["result"].clone()
}

/// Whether the server was told that nobody waits for its tool any more.
fn is_cancelled(is_in: bool, message: &Value) -> bool {
    !is_in && message["method"] == "notifications/cancelled"
}

#[test]
fn a_form_is_filled_in_looked_at_and_sent_from_a_call() {
    let stage = stage();
    let mut pty = run(&stage, &CALL);
    sends(&mut pty);
    assert_eq!(pty.finish().0, 0);
    assert_eq!(
        answer(&stage),
        json!({"action": "accept", "content": content()})
    );
}

#[test]
fn a_form_is_filled_in_looked_at_and_sent_from_the_prompt() {
    let stage = stage();
    let mut pty = open(&stage);
    enter(&mut pty, &CALL.join(" "));
    sends(&mut pty);
    is_back(&mut pty);
    leave(pty);
    assert_eq!(
        answer(&stage),
        json!({"action": "accept", "content": content()})
    );
}

#[test]
fn what_was_typed_can_be_changed_before_it_is_sent() {
    let stage = stage();
    let mut pty = open(&stage);
    enter(&mut pty, &CALL.join(" "));
    fills_in(&mut pty);
    enter(&mut pty, "e");
    pty.wait_for("name [Ada Lovelace]: ");
    enter(&mut pty, "Ada King");
    // Enter keeps what there is; the last one was left out, and has nothing to keep.
    for (question, ..) in &FIELDS[1..] {
        let name = question.split([' ', ':']).next().unwrap();
        pty.wait_for(&format!("  {name}"));
        pty.wait_for(": ");
        enter(&mut pty, "");
    }
    pty.wait_for("  String: Ada King\r\n");
    pty.wait_for("Send it?");
    enter(&mut pty, "y");
    pty.wait_for("- Name: Ada King");
    is_back(&mut pty);
    leave(pty);
    let mut wanted = content();
    wanted["name"] = json!("Ada King");
    assert_eq!(answer(&stage)["content"], wanted);
}

#[test]
fn answers_that_a_command_line_knows_are_sent_without_asking() {
    let stage = stage();
    let args = [&CALL[..], &["--answer", "name=Ada", "--answer", "check=no"]].concat();
    let mut pty = run(&stage, &args);
    pty.wait_for("- Name: Ada");
    pty.wait_for("- Agreed to terms: false");
    let (code, screen) = pty.finish();
    assert_eq!(code, 0);
    assert!(!screen.contains("Answer it?"), "{screen}");
}

#[test]
fn a_form_is_declined_and_cancelled_from_a_call() {
    for (typed, told, action) in [
        ("d", "User declined", "decline"),
        ("c", "User cancelled", "cancel"),
    ] {
        let stage = stage();
        let mut pty = run(&stage, &CALL);
        asks(&mut pty);
        enter(&mut pty, typed);
        pty.wait_for(told);
        assert_eq!(pty.finish().0, 0);
        assert_eq!(answer(&stage), json!({"action": action}));
    }
}

#[test]
fn a_form_is_declined_and_cancelled_from_the_prompt_also_when_it_is_filled_in() {
    for (typed, told, action) in [
        ("d", "User declined", "decline"),
        ("c", "User cancelled", "cancel"),
    ] {
        let stage = stage();
        let mut pty = open(&stage);
        enter(&mut pty, &CALL.join(" "));
        fills_in(&mut pty);
        enter(&mut pty, typed);
        pty.wait_for(told);
        is_back(&mut pty);
        enter(&mut pty, &CALL.join(" "));
        asks(&mut pty);
        enter(&mut pty, typed);
        pty.wait_for(told);
        is_back(&mut pty);
        leave(pty);
        assert_eq!(answer(&stage), json!({"action": action}));
    }
}

#[test]
fn ctrl_c_at_a_question_ends_a_call_and_the_server_hears_of_it() {
    let stage = stage();
    for is_begun in [false, true] {
        let mut pty = run(&stage, &CALL);
        asks(&mut pty);
        if is_begun {
            enter(&mut pty, "y");
            pty.wait_for("name: ");
        }
        pty.send(b"\x03");
        pty.wait_for("stopped by SIGINT");
        assert_eq!(pty.finish().0, 130);
        crossed(&stage, is_cancelled);
    }
}

#[test]
fn ctrl_c_at_a_question_leads_back_to_the_prompt_and_the_server_hears_of_it() {
    let stage = stage();
    let mut pty = open(&stage);
    enter(&mut pty, &CALL.join(" "));
    asks(&mut pty);
    pty.send(b"\x03");
    pty.wait_for("User cancelled");
    is_back(&mut pty);
    assert_eq!(answer(&stage), json!({"action": "cancel"}));
    // In the middle of a form it is the same, and what was typed is sent to nobody.
    enter(&mut pty, &CALL.join(" "));
    asks(&mut pty);
    enter(&mut pty, "y");
    pty.wait_for("name: ");
    enter(&mut pty, "Ada");
    pty.wait_for("check: ");
    pty.send(b"\x03");
    pty.wait_for("User cancelled");
    is_back(&mut pty);
    // Who was left may ask again on the next command.
    enter(&mut pty, &CALL.join(" "));
    sends(&mut pty);
    is_back(&mut pty);
    leave(pty);
}
