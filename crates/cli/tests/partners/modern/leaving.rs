//! A person can always get out: Ctrl-C at a question of a round.

use serde_json::json;
use switchboard_testkit::models::{self, ModelApi};

use super::{asking, enter, leave, prompt, stage_with_model};
use crate::stage::READY;

/// What is called, the question that comes of it, and what the server makes of it that somebody left.
const QUESTIONS: [(&str, &str, Option<&str>); 4] = [
    ("call partner/ask_form", "Answer it?", Some("cancel null")),
    (
        "call partner/ask_url",
        "Open it in a browser?",
        Some("\ncancel\r\n"),
    ),
    // Who refuses a model has no words for it: the server is not asked again.
    ("call partner/ask_model prompt=x", "[N]o: ", None),
    (
        "prompt partner/letter",
        "Answer it?",
        Some("Please write to nobody."),
    ),
];

#[test]
fn ctrl_c_at_a_question_ends_the_command() {
    for launch in asking() {
        let api = ModelApi::start(models::openai).unwrap();
        let stage = stage_with_model(&launch, &api, json!({}));
        for (line, question, _) in QUESTIONS {
            super::interrupt(&stage, line, question);
        }
        assert_eq!(api.requests().len(), 0);
    }
}

#[test]
fn ctrl_c_at_a_question_gives_the_prompt_back() {
    for launch in asking() {
        let api = ModelApi::start(models::openai).unwrap();
        let stage = stage_with_model(&launch, &api, json!({}));
        let mut pty = prompt(&stage);
        for (line, question, told) in QUESTIONS {
            enter(&mut pty, line);
            pty.wait_for(question);
            pty.send(b"\x03");
            told.into_iter().for_each(|told| pty.wait_for(told));
            pty.wait_for(READY);
            // Neither the prompt nor the server is any worse for it.
            enter(&mut pty, "read partner partner://notes/ada");
            pty.wait_for("a note for ada");
            pty.wait_for(READY);
        }
        enter(&mut pty, "call partner/ask_form");
        pty.wait_for("Answer it?");
        pty.send(b"\x03");
        leave(pty);
        assert_eq!(api.requests().len(), 0);
    }
}

#[test]
fn ctrl_c_within_a_form_sends_nothing_of_it() {
    for launch in asking() {
        let api = ModelApi::start(models::openai).unwrap();
        let stage = stage_with_model(&launch, &api, json!({}));
        let mut pty = prompt(&stage);
        for stop_at in ["size [small]: ", "Send it?"] {
            enter(&mut pty, "call partner/ask_form");
            pty.wait_for("Answer it?");
            enter(&mut pty, "y");
            pty.wait_for("name: ");
            enter(&mut pty, "Ada");
            pty.wait_for("size [small]: ");
            if stop_at == "Send it?" {
                enter(&mut pty, "");
                pty.wait_for(stop_at);
            }
            pty.send(b"\x03");
            pty.wait_for(READY);
        }
        assert!(!pty.written().contains("accept {"), "{}", pty.written());
        enter(&mut pty, "read partner partner://notes/ada");
        pty.wait_for("a note for ada");
        leave(pty);
    }
}
