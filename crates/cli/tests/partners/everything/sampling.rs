//! `trigger-sampling-request`: the server asks the person's model.

use std::time::Instant;

use serde_json::json;
use switchboard_testkit::models::{self, Given, KEY, ModelApi};

use super::{PATIENCE, answered, crossed, enter, is_back, leave, open, run};
use crate::pty::Pty;
use crate::stage::Stage;

const CALL: [&str; 4] = [
    "call",
    "everything/trigger-sampling-request",
    "prompt=up?",
    "maxTokens=20",
];

/// A server that may ask, and an API that answers.
fn stage(api: &ModelApi) -> Stage {
    let provider = json!({
        "type": "openai", "base_url": format!("{}/v1", api.base()), "model": "gpt-small", "api_key": KEY,
    });
    super::stage(
        json!({"sampling": true}),
        json!({"providers": {"mine": provider}}),
    )
}

/// Waits for the question whether to ask the model.
fn asks(pty: &mut Pty) {
    pty.wait_for(
        "The server \"everything\" asks the model gpt-small of mine, for at most 20 tokens:",
    );
    pty.wait_for("    | You are a helpful test server.\r\n");
    pty.wait_for("    | Resource trigger-sampling-request context: up?\r\n");
    pty.wait_for("[N]o: ");
}

/// Waits until the model was asked.
fn is_asked(api: &ModelApi) {
    let ends = Instant::now() + PATIENCE;
    while api.requests().is_empty() {
        assert!(Instant::now() < ends, "it was never asked");
        std::thread::yield_now();
    }
}

/// Says yes to the question, and to what the model answers.
fn says_yes(pty: &mut Pty) {
    asks(pty);
    pty.send(b"y\r");
    pty.wait_for("answers the server \"everything\":");
    pty.wait_for("    | You said: Resource trigger-sampling-request context: up?\r\n");
    pty.wait_for("[y/N] ");
    pty.send(b"y\r");
    pty.wait_for("LLM sampling result:");
    pty.wait_for("\"text\": \"You said: Resource trigger-sampling-request context: up?\"");
}

#[test]
fn a_yes_has_the_model_asked_from_a_call() {
    let api = ModelApi::start(models::openai).unwrap();
    let stage = stage(&api);
    let mut pty = run(&stage, &CALL);
    says_yes(&mut pty);
    assert_eq!(pty.finish().0, 0);
    let asked = api.requests();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].body["max_tokens"], 20);
    assert_eq!(asked[0].body["temperature"], 0.7);
}

#[test]
fn a_yes_has_the_model_asked_from_the_prompt() {
    let api = ModelApi::start(models::openai).unwrap();
    let stage = stage(&api);
    let mut pty = open(&stage);
    for times in 1..=2 {
        enter(&mut pty, &CALL.join(" "));
        says_yes(&mut pty);
        is_back(&mut pty);
        assert_eq!(api.requests().len(), times);
    }
    leave(pty);
}

#[test]
fn a_no_reaches_the_server_and_no_model_from_a_call() {
    let api = ModelApi::start(models::openai).unwrap();
    let stage = stage(&api);
    let mut pty = run(&stage, &CALL);
    asks(&mut pty);
    pty.send(b"n\r");
    pty.wait_for("the person said no");
    assert_eq!(pty.finish().0, 5);
    let answer = answered(&stage, "sampling/createMessage");
    assert_eq!(answer["error"]["code"], -1, "{answer}");
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn a_no_reaches_the_server_and_no_model_from_the_prompt() {
    let api = ModelApi::start(models::openai).unwrap();
    let stage = stage(&api);
    let mut pty = open(&stage);
    enter(&mut pty, &CALL.join(" "));
    asks(&mut pty);
    pty.send(b"n\r");
    pty.wait_for("the person said no");
    is_back(&mut pty);
    leave(pty);
    let answer = answered(&stage, "sampling/createMessage");
    assert_eq!(answer["error"]["code"], -1, "{answer}");
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn ctrl_c_at_the_question_ends_a_call_and_the_server_hears_of_it() {
    let api = ModelApi::start(models::openai).unwrap();
    let stage = stage(&api);
    let mut pty = run(&stage, &CALL);
    asks(&mut pty);
    pty.send(b"\x03");
    assert_eq!(pty.finish().0, 130);
    crossed(&stage, |is_in, message| {
        !is_in && message["method"] == "notifications/cancelled"
    });
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn ctrl_c_at_the_question_leads_back_to_the_prompt() {
    let api = ModelApi::start(models::openai).unwrap();
    let stage = stage(&api);
    let mut pty = open(&stage);
    enter(&mut pty, &CALL.join(" "));
    asks(&mut pty);
    pty.send(b"\x03");
    let answer = answered(&stage, "sampling/createMessage");
    assert_eq!(answer["error"]["code"], -1, "{answer}");
    is_back(&mut pty);
    assert_eq!(api.requests().len(), 0);
    // Who asks again is asked about again.
    enter(&mut pty, &CALL.join(" "));
    says_yes(&mut pty);
    is_back(&mut pty);
    leave(pty);
}

#[test]
fn ctrl_c_while_the_model_thinks_ends_a_call() {
    let api = ModelApi::start(|_| Given::never()).unwrap();
    let stage = stage(&api);
    let mut pty = run(&stage, &CALL);
    asks(&mut pty);
    pty.send(b"y\r");
    is_asked(&api);
    pty.send(b"\x03");
    assert_eq!(pty.finish().0, 130);
}

#[test]
fn ctrl_c_while_the_model_thinks_leads_back_to_the_prompt() {
    let api = ModelApi::start(|_| Given::never()).unwrap();
    let stage = stage(&api);
    let mut pty = open(&stage);
    enter(&mut pty, &CALL.join(" "));
    asks(&mut pty);
    pty.send(b"y\r");
    is_asked(&api);
    pty.send(b"\x03");
    pty.wait_for("cancelled");
    is_back(&mut pty);
    crossed(&stage, |is_in, message| {
        !is_in && message["method"] == "notifications/cancelled"
    });
    // Nobody waits for the model any more, and the server is told.
    let answer = answered(&stage, "sampling/createMessage");
    assert_eq!(answer["error"]["code"], -1, "{answer}");
    leave(pty);
}

#[test]
fn ctrl_c_at_what_the_model_has_answered_keeps_it_from_the_server() {
    let api = ModelApi::start(models::openai).unwrap();
    let stage = stage(&api);
    let mut pty = open(&stage);
    enter(&mut pty, &CALL.join(" "));
    asks(&mut pty);
    pty.send(b"y\r");
    pty.wait_for("[y/N] ");
    pty.send(b"\x03");
    let answer = answered(&stage, "sampling/createMessage");
    assert!(answer.get("error").is_some(), "{answer}");
    is_back(&mut pty);
    leave(pty);
}
