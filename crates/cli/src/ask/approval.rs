//! Layout of the question about a project's server.
//!
//! At a terminal every literal is shown in full; elsewhere a log may keep it, so secrets are masked. Long
//! lines are folded with a mark before each continuation, so that no part of a line can pass for a line of
//! its own. The command is repeated right above the answer, because an entry can be longer than the screen.

use std::io::{self, IsTerminal as _};

use switchboard::text::sanitise_line;
use switchboard::trust::{Question, Reason};
use switchboard_terminal::fold::{fold, stderr_columns};

/// Returns the lines to show on stderr: in full at a terminal, masked elsewhere.
pub(crate) fn lines(question: &Question) -> Vec<String> {
    if io::stderr().is_terminal() {
        question.lines()
    } else {
        question.masked_lines()
    }
}

/// Formats lines for stderr: indented, and folded if stderr is a terminal.
pub(crate) fn block(lines: &[String]) -> String {
    let columns = stderr_columns();
    let mut out = String::new();
    for line in lines {
        fold(&sanitise_line(line), columns, &mut out);
    }
    out
}

/// Formats the summary that is repeated right above the answer, under a line that says how much there is to
/// read.
pub(crate) fn summary(summary: &[String], lines: usize) -> String {
    let lead = match lines {
        1 => "Summary of the line above:".to_owned(),
        _ => format!("Summary of the {lines} lines above:"),
    };
    format!("{lead}\n{}", block(summary))
}

/// Returns the reason for the question, worded to follow the server's name.
pub(crate) fn reason(question: &Question) -> &'static str {
    match question.reason {
        Reason::Changed => "has changed since it was approved",
        Reason::BindsMore => {
            "was approved by an older version, which did not check the lines marked as added"
        }
        _ => "is defined by this project and is not approved",
    }
}
