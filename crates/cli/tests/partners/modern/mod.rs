//! Servers of the modern era, most of which others wrote: their questions come as rounds, their news by listening.
//!
//! What they offer is in `tests/src/talk.rs`.

mod asking;
mod bundled;
mod leaving;
mod telling;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use switchboard_testkit::models::{KEY, ModelApi};
use switchboard_tests::partners::{self, Launch};

use crate::prompt::{enter, leave_well as leave, opened};
use crate::pty::Pty;
use crate::stage::Stage;

/// The server made of rmcp, which is built with the tests of the library.
fn rmcp() -> Launch {
    let folder = Path::new(env!("CARGO_BIN_EXE_switchboard")).parent();
    let program: PathBuf = folder.unwrap().join("rmcp3-server");
    assert!(
        program.is_file(),
        "a partner is not built: {} does not exist; run `cargo xtask check`, or `cargo build -p switchboard-tests \
         --features partners --bin rmcp3-server`",
        program.display()
    );
    partners::rmcp3_talking(program)
}

/// Those whose questions come as rounds.
fn asking() -> [Launch; 2] {
    [rmcp(), partners::fastmcp_talking()]
}

/// A home with the server `partner`.
fn stage(launch: &Launch) -> Stage {
    Stage::new("partner", launch, json!({}), json!({}))
}

/// A home whose server may ask a model, which is at that API.
fn stage_with_model(launch: &Launch, api: &ModelApi, entry: Value) -> Stage {
    let provider = json!({
        "type": "openai", "base_url": format!("{}/v1", api.base()), "model": "gpt-small", "api_key": KEY,
    });
    let mut all = json!({"sampling": true});
    if let (Value::Object(all), Value::Object(entry)) = (&mut all, entry) {
        all.extend(entry);
    }
    let file = json!({"providers": {"mine": provider}});
    Stage::new("partner", launch, all, file)
}

/// Opens a prompt.
fn prompt(stage: &Stage) -> Pty {
    opened(stage.start(&[]))
}

/// Waits for each text, and types the line that goes with it.
fn answer(pty: &mut Pty, steps: &[(&str, &str)]) {
    for (asked, typed) in steps {
        pty.wait_for(asked);
        enter(pty, typed);
    }
}

/// Runs a command, and leaves its question with Ctrl-C, which ends the command.
fn interrupt(stage: &Stage, line: &str, question: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let mut pty = stage.start(&words);
    pty.wait_for(question);
    pty.send(b"\x03");
    let (code, screen) = pty.finish();
    assert_eq!(code, 130, "{line}: {screen}");
}
