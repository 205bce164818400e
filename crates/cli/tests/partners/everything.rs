//! server-everything, which has all of the legacy era: asked for from `call` and from the prompt.

use serde_json::json;
use switchboard_tests::partners;

use crate::stage::{READY, Stage};

fn stage() -> Stage {
    Stage::new("everything", &partners::everything(), json!({}), json!({}))
}

#[test]
fn a_tool_is_called_from_the_command_line_and_from_the_prompt() {
    let stage = stage();
    let mut pty = stage.start(&["call", "everything/echo", "message=hello"]);
    pty.wait_for("Echo: hello");
    assert_eq!(pty.finish().0, 0);
    let mut pty = stage.start(&[]);
    pty.wait_for(READY);
    pty.send(b"call everything/echo message=again\r");
    pty.wait_for("Echo: again");
    pty.wait_for(READY);
    pty.send(b"exit\r");
    assert_eq!(pty.finish().0, 0);
}
