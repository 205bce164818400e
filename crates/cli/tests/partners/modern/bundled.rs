//! The bundled server in the modern era, where the tests that need no partners do not show it: its questions at the
//! prompt, Ctrl-C at them, and what is watched.

use serde_json::json;
use switchboard_testkit::models::{self, ModelApi};
use switchboard_tests::partners::Launch;

use super::{answer, enter, leave, prompt, stage_with_model};
use crate::home::Home;
use crate::pty::Pty;
use crate::run::switchboard;
use crate::serving::Serving;
use crate::stage::READY;

const FILE: &str = "file:///readme.txt";

/// What is called, and the question that comes of it.
const QUESTIONS: [(&str, &str); 2] = [
    ("call partner/ask_name", "Answer it?"),
    ("call partner/ask_model prompt=x", "[N]o: "),
];

fn bundled() -> Launch {
    let program = Launch::program(env!("CARGO_BIN_EXE_switchboard"));
    let program = program.arg("test-server").arg("--asking-models");
    program.arg("--era").arg("modern")
}

#[test]
fn its_questions_are_answered_at_the_prompt_and_left_with_ctrl_c() {
    let api = ModelApi::start(models::openai).unwrap();
    let stage = stage_with_model(&bundled(), &api, json!({}));
    let mut pty = prompt(&stage);
    for (line, question) in QUESTIONS {
        enter(&mut pty, line);
        pty.wait_for(question);
        pty.send(b"\x03");
        pty.wait_for(READY);
        enter(&mut pty, "read partner note:///x");
        pty.wait_for("This is the note x.");
        pty.wait_for(READY);
    }
    assert_eq!(api.requests().len(), 0);
    enter(&mut pty, "call partner/ask_name");
    answer(
        &mut pty,
        &[("Answer it?", "y"), ("name: ", "Ada"), ("Send it?", "y")],
    );
    pty.wait_for("Hello, Ada!");
    enter(&mut pty, "call partner/ask_model prompt=well");
    answer(&mut pty, &[("[N]o: ", "y"), ("[y/N] ", "y")]);
    pty.wait_for("You said: well");
    leave(pty);
}

#[test]
fn ctrl_c_at_its_questions_ends_the_command() {
    let api = ModelApi::start(models::openai).unwrap();
    let stage = stage_with_model(&bundled(), &api, json!({}));
    for (line, question) in QUESTIONS {
        super::interrupt(&stage, line, question);
    }
    assert_eq!(api.requests().len(), 0);
}

#[test]
fn what_it_holds_is_watched_while_others_change_it() {
    let serving = Serving::start(&["--growing", "--era", "modern"]);
    let home = Home::new();
    let file = json!({"mcpServers": {"partner": {"url": serving.url()}}});
    home.write("config/switchboard/mcp.json", &file.to_string());
    let mut pty = Pty::start(home.command(&["watch", "partner", FILE, "--read"]), 100);
    changed(&serving, &mut pty, "first");
    pty.send(b"\x03");
    assert_eq!(pty.finish().0, 130);
    let mut pty = Pty::start(home.command(&[]), 100);
    pty.wait_for(READY);
    enter(&mut pty, &format!("watch partner {FILE} --read"));
    changed(&serving, &mut pty, "second");
    pty.send(b"\x03");
    leave(pty);
}

/// Changes it until whoever watches says so: when the server was told of them nobody knows.
fn changed(serving: &Serving, pty: &mut Pty, text: &str) {
    let (uri, text) = (format!("uri={FILE}"), format!("text={text} time"));
    let args = [
        "call",
        "--url",
        serving.url(),
        "touch_resource",
        &uri,
        &text,
    ];
    let shown = format!("{FILE}\r\n{}\r\n", text.trim_start_matches("text="));
    for _ in 0..1000 {
        let run = switchboard(&args);
        assert_eq!(run.code, Some(0), "{run:?}");
        if pty.written().contains(&shown) {
            return pty.wait_for(&shown);
        }
    }
    panic!("nothing was told:\n{}", pty.screen());
}
