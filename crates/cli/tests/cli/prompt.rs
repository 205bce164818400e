//! A prompt that a test types into.

use crate::pty::Pty;

/// What stands before a line.
pub(crate) const READY: &str = "switchboard> ";

/// Waits until a prompt that was started takes lines.
pub(crate) fn opened(mut pty: Pty) -> Pty {
    pty.wait_for("Ctrl-D exits");
    pty.wait_for(READY);
    pty
}

/// Types a line.
pub(crate) fn enter(pty: &mut Pty, line: &str) {
    pty.send(format!("{line}\r").as_bytes());
}

/// Types something with a Tab behind it, and waits until the line has become another.
pub(crate) fn tab(pty: &mut Pty, typed: &str, line: &str) {
    pty.send(format!("{typed}\t").as_bytes());
    let line = format!("{READY}{line}");
    pty.wait_until(|screen| screen.trim_end().ends_with(&line));
}

/// Leaves, and gives the exit code and what was on the screen.
pub(crate) fn leave(mut pty: Pty) -> (i32, String) {
    enter(&mut pty, "exit");
    pty.finish()
}

/// Leaves once the last line is done, and nothing has failed.
pub(crate) fn leave_well(mut pty: Pty) {
    pty.wait_for(READY);
    let (code, screen) = leave(pty);
    assert_eq!(code, 0, "{screen}");
}
