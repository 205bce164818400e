//! server-everything, which has all of the legacy era: asked for from plain commands and from the prompt.
//!
//! What is said to it and what it says is also looked up on the wire, in a trace: a person who is back at the prompt
//! does not show that the server got its answer.

mod completion;
mod form;
mod keys;
mod logging;
mod progress;
mod roots;
mod sampling;
mod subscriptions;
mod visit;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use switchboard_tests::partners;

use crate::prompt::{self, enter, opened};
use crate::pty::Pty;
use crate::stage::{READY, Stage};

/// How long something may take to be on the wire.
const PATIENCE: Duration = Duration::from_secs(30);

/// The server, with more members for its entry and for the whole file.
fn stage(entry: Value, file: Value) -> Stage {
    Stage::new("everything", &partners::everything(), entry, file)
}

/// The server, which simulates logging and changes without being asked to.
fn switched_on() -> Stage {
    let own = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/partners/everything/switched_on.mjs"
    );
    let mut launch = partners::everything();
    launch.args.insert(0, own.to_owned());
    Stage::new("everything", &launch, json!({}), json!({}))
}

/// A plain command at a terminal, whose messages are traced.
fn run(stage: &Stage, args: &[&str]) -> Pty {
    let trace = stage.home.path("trace");
    // That of the command before.
    std::fs::remove_file(&trace).ok();
    stage.start(&[args, &["--trace", trace.to_str().unwrap()]].concat())
}

/// A prompt at which a line can be typed, whose messages are traced.
fn open(stage: &Stage) -> Pty {
    opened(run(stage, &["repl"]))
}

/// Waits until a line can be typed, with nothing in it yet.
fn is_ready(pty: &Pty) {
    pty.wait_until(|screen| {
        let last = screen.lines().last().unwrap_or_default();
        last.trim_end() == READY.trim_end()
    });
}

/// Waits until the prompt is back, and has something done there.
fn is_back(pty: &mut Pty) {
    is_ready(pty);
    enter(pty, "call everything/get-sum a=20 b=22");
    pty.wait_for("The sum of 20 and 22 is 42.");
    pty.wait_for(READY);
}

/// Leaves the prompt.
fn leave(pty: Pty) {
    assert_eq!(prompt::leave(pty).0, 0);
}

/// The messages that went over the wire so far: whether they came from the server, and what they were.
fn wire(stage: &Stage) -> Vec<(bool, Value)> {
    let trace = std::fs::read_to_string(stage.home.path("trace")).unwrap_or_default();
    // The last line may be half written.
    let lines = trace
        .lines()
        .map_while(|line| serde_json::from_str(line).ok());
    lines
        .map(|line: Value| (line["direction"] == "received", line["message"].clone()))
        .collect()
}

/// Waits until a message that `is_so` has gone over the wire, and gives it.
fn crossed(stage: &Stage, is_so: impl Fn(bool, &Value) -> bool) -> Value {
    let ends = Instant::now() + PATIENCE;
    loop {
        let wire = wire(stage);
        if let Some((_, found)) = wire.iter().find(|(is_in, message)| is_so(*is_in, message)) {
            return found.clone();
        }
        assert!(Instant::now() < ends, "it was never said: {wire:#?}");
        std::thread::yield_now();
    }
}

/// Waits until so many requests of ours of that method were answered, and gives what the last one was answered with.
fn replied(stage: &Stage, method: &str, many: usize) -> Value {
    let ends = Instant::now() + PATIENCE;
    loop {
        let wire = wire(stage);
        let asked = wire
            .iter()
            .filter(|(is_in, message)| !is_in && message["method"] == method);
        let last = asked
            .skip(many - 1)
            .map(|(_, message)| &message["id"])
            .next();
        let reply = wire.iter().find(|(is_in, message)| {
            *is_in && Some(&message["id"]) == last && message.get("result").is_some()
        });
        if let Some((_, reply)) = reply {
            return reply["result"].clone();
        }
        assert!(Instant::now() < ends, "it was never answered: {wire:#?}");
        std::thread::yield_now();
    }
}

/// Waits for what the server's question of that method was answered with.
fn answered(stage: &Stage, method: &str) -> Value {
    let question = crossed(stage, |is_in, message| is_in && message["method"] == method);
    crossed(stage, |is_in, message| {
        !is_in && message["id"] == question["id"] && message.get("method").is_none()
    })
}

#[test]
fn a_tool_is_called_from_the_command_line_and_from_the_prompt() {
    let stage = stage(json!({}), json!({}));
    let mut pty = run(&stage, &["call", "everything/echo", "message=hello"]);
    pty.wait_for("Echo: hello");
    assert_eq!(pty.finish().0, 0);
    let mut pty = open(&stage);
    is_back(&mut pty);
    leave(pty);
}
