//! What they ask: forms, visits, models, folders; answered where a command was given, and at the prompt.

use serde_json::{Value, json};
use switchboard_testkit::models::{self, ModelApi};
use switchboard_tests::partners;

use super::{answer, asking, enter, leave, prompt, stage, stage_with_model};
use crate::pty::Pty;

/// How a form with a name and a size is filled in.
const FORM: [(&str, &str); 4] = [
    ("The server \"partner\" asks:\r\n  | Who is it for?", "y"),
    ("name: ", "Ada"),
    ("size [small]: ", "2"),
    ("Send it?", "y"),
];

/// How a form with a name alone is filled in.
const NAME: [(&str, &str); 3] = [
    ("The server \"partner\" asks:\r\n  | Who is it for?", "y"),
    ("name: ", "Ada"),
    ("Send it?", "y"),
];

/// How a model is let answer, with what it is asked.
fn let_ask(pty: &mut Pty, question: &str) {
    pty.wait_for("The server \"partner\" asks the model gpt-small of mine, for at most 50 tokens:");
    pty.wait_for("    | You are brief.\r\n");
    pty.wait_for(&format!("    | {question}\r\n"));
    answer(pty, &[("[N]o: ", "y")]);
    pty.wait_for(&format!("    | You said: {question}\r\n"));
    answer(pty, &[("[y/N] ", "y")]);
}

#[test]
fn all_of_it_is_of_the_modern_era() {
    for launch in asking().into_iter().chain([partners::python_v2_talking()]) {
        let stage = stage(&launch);
        let mut command = stage.command(&["servers", "partner", "--json"]);
        let output = command.output().unwrap();
        let server: Value = serde_json::from_slice(&output.stdout).unwrap();
        let found = (&server["era"], &server["version"]);
        assert_eq!(found, (&json!("modern"), &json!("2026-07-28")), "{server}");
    }
}

#[test]
fn a_form_is_filled_in() {
    const FILLED: &str = r#"accept {"name":"Ada","size":"large"}"#;
    for launch in asking() {
        let stage = stage(&launch);
        let mut pty = stage.start(&["call", "partner/ask_form"]);
        answer(&mut pty, &FORM);
        pty.wait_for(FILLED);
        assert_eq!(pty.finish().0, 0);
        let mut pty = prompt(&stage);
        enter(&mut pty, "call partner/ask_form");
        answer(&mut pty, &FORM);
        pty.wait_for(FILLED);
        enter(&mut pty, "call partner/ask_form");
        answer(&mut pty, &[("Answer it?", "d")]);
        pty.wait_for("decline null");
        leave(pty);
    }
}

#[test]
fn an_address_is_shown_and_the_visit_is_told() {
    const SHOWN: &str =
        "  https://example.com/sign-in?a=1&b=2\r\n          ^^^^^^^^^^^ the host\r\n";
    for launch in asking() {
        let stage = stage(&launch);
        let mut pty = stage.start(&["call", "partner/ask_url"]);
        pty.wait_for("The server \"partner\" asks you to open this URL:\r\n  | Sign in");
        pty.wait_for(SHOWN);
        answer(&mut pty, &[("Open it in a browser?", "m")]);
        pty.wait_for("accept\r\n");
        assert_eq!(pty.finish().0, 0);
        let mut pty = prompt(&stage);
        for (typed, told) in [
            ("m", "accept\r\n"),
            ("d", "decline\r\n"),
            ("c", "cancel\r\n"),
        ] {
            enter(&mut pty, "call partner/ask_url");
            pty.wait_for(SHOWN);
            answer(&mut pty, &[("Open it in a browser?", typed)]);
            pty.wait_for(told);
        }
        leave(pty);
    }
}

#[test]
fn a_model_answers() {
    for launch in asking() {
        let api = ModelApi::start(models::openai).unwrap();
        let stage = stage_with_model(&launch, &api, json!({}));
        let mut pty = stage.start(&["call", "partner/ask_model", "prompt=who is it"]);
        let_ask(&mut pty, "who is it");
        pty.wait_for("You said: who is it\r\n");
        assert_eq!(pty.finish().0, 0);
        let mut pty = prompt(&stage);
        enter(&mut pty, "call partner/ask_model prompt=again");
        let_ask(&mut pty, "again");
        pty.wait_for("You said: again\r\n");
        enter(&mut pty, "call partner/ask_model prompt=never");
        answer(&mut pty, &[("[N]o: ", "n")]);
        leave(pty);
        assert_eq!(api.requests().len(), 2);
    }
}

#[test]
fn folders_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().canonicalize().unwrap();
    let (folder, told) = (
        real.to_str().unwrap(),
        format!("file://{}\r\n", real.display()),
    );
    for launch in asking() {
        let entry = json!({"roots": [folder]});
        let stage = crate::stage::Stage::new("partner", &launch, entry, json!({}));
        let mut pty = stage.start(&["call", "partner/ask_roots"]);
        pty.wait_for(&told);
        assert_eq!(pty.finish().0, 0);
        let mut pty = prompt(&stage);
        enter(&mut pty, "call partner/ask_roots");
        pty.wait_for(&told);
        leave(pty);
    }
}

#[test]
fn one_call_may_ask_for_everything_round_after_round() {
    let folder = tempfile::tempdir().unwrap();
    for launch in asking() {
        let api = ModelApi::start(models::openai).unwrap();
        let entry = json!({"roots": [folder.path().to_str().unwrap()]});
        let stage = stage_with_model(&launch, &api, entry);
        let interview = |pty: &mut Pty| {
            answer(pty, &NAME);
            let_ask(pty, "Describe Ada.");
            pty.wait_for("Ada with 1 folders: You said: Describe Ada.\r\n");
        };
        let mut pty = stage.start(&["call", "partner/interview"]);
        interview(&mut pty);
        assert_eq!(pty.finish().0, 0);
        let mut pty = prompt(&stage);
        enter(&mut pty, "call partner/interview");
        interview(&mut pty);
        leave(pty);
    }
}

#[test]
fn prompts_and_resources_ask_too() {
    for launch in asking() {
        let stage = stage(&launch);
        let asked = [
            ("prompt partner/letter", "Please write to Ada."),
            ("read partner partner://locked/box", "box, opened by Ada"),
        ];
        for (line, told) in asked {
            let words: Vec<&str> = line.split(' ').collect();
            let mut pty = stage.start(&words);
            answer(&mut pty, &NAME);
            pty.wait_for(told);
            assert_eq!(pty.finish().0, 0);
        }
        let mut pty = prompt(&stage);
        for (line, told) in asked {
            enter(&mut pty, line);
            answer(&mut pty, &NAME);
            pty.wait_for(told);
        }
        leave(pty);
    }
}

#[test]
fn answers_that_are_known_are_given_without_a_question() {
    for launch in asking() {
        let stage = stage(&launch);
        let args = ["call", "partner/ask_form", "--answer", "name=Ada"];
        let (code, screen) = stage.start(&args).finish();
        assert_eq!(
            (code, screen.trim_end()),
            (0, r#"accept {"name":"Ada","size":"small"}"#)
        );
    }
}
