//! Questions to the person at the terminal. `dialogue` takes care that they are asked one after the other.

pub(crate) mod approval;
mod dialogue;
mod operator;

use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, PoisonError};

use switchboard::text::{json_escape, sanitise_line};
use switchboard::trust::{Question, ServerApproval};

pub(crate) use dialogue::{
    Away, Dialogue, begin, give_up, interrupt, is_away, leave, tell, unless_given_up,
};
pub(crate) use operator::Attendant;

use crate::blocking::run_blocking;
use crate::live;
use crate::repl::{Editor, Line, Wanted};
use crate::role;
use crate::screen::{Screen, talk};

/// Asks for a yes or a no; every answer but yes is a no. Returns `None` if there is no person to answer.
pub(crate) fn is_yes(question: &str) -> Option<bool> {
    if !is_attended() || role::agent().is_some() {
        return None;
    }
    // Progress lines must not be drawn over the question.
    let _paused = live::pause();
    let question = format!("{} [y/N] ", sanitise_line(question));
    let answer = match prompt() {
        Some(editor) => typed_line(editor.read_blocking(Wanted::Answer {
            before: String::new(),
            question,
            goes_on: false,
        })),
        None => read("", &question),
    };
    Some(answer.is_some_and(|answer| is_yes_in(&answer)))
}

/// Asks like [`is_yes`] on a thread of its own, so that servers and signals are served meanwhile.
pub(crate) async fn is_yes_off_thread(question: &str) -> Option<bool> {
    let question = question.to_owned();
    run_blocking(move || is_yes(&question)).await
}

fn read(before: &str, question: &str) -> Option<String> {
    talk(&format!("{before}{question}"));
    read_line()
}

/// Waits until there is a line to read on the terminal; not at all where that cannot be told. Reads nothing, and
/// leaves nothing behind that would.
#[cfg(unix)]
async fn typing() {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;

    // The other end goes with this future, which ends the wait.
    let Ok((gone, _here)) = io::pipe() else {
        return;
    };
    let waiting = tokio::task::spawn_blocking(move || {
        let stdin = io::stdin();
        let mut watched = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::new(&gone, PollFlags::IN),
        ];
        while poll(&mut watched, None) == Err(Errno::INTR) {}
    });
    drop(waiting.await);
}

#[cfg(not(unix))]
async fn typing() {}

fn read_line() -> Option<String> {
    let mut line = String::new();
    match io::stdin().read_line(&mut line) {
        Ok(0) | Err(_) => {
            talk("\n");
            None
        }
        Ok(_) => Some(line),
    }
}

/// The line editor that owns the terminal, if the prompt runs.
static PROMPT: Mutex<Option<Editor>> = Mutex::new(None);

fn prompt() -> Option<Editor> {
    PROMPT
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// Routes questions through the line editor of the prompt.
pub(crate) fn use_editor(editor: &Editor) {
    *PROMPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(editor.clone());
}

/// Returns true if the prompt runs, which shows events above its line.
pub(crate) fn has_prompt() -> bool {
    prompt().is_some()
}

/// Routes questions back to stdin.
pub(crate) fn release() {
    *PROMPT.lock().unwrap_or_else(PoisonError::into_inner) = None;
}

/// Returns the typed line, or `None` if the person did not answer.
fn typed_line(line: Line) -> Option<String> {
    match line {
        Line::Typed(line) => Some(line),
        Line::Interrupted | Line::End => None,
    }
}

/// Returns true for a typed yes; everything else is a no.
pub(crate) fn is_yes_in(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Returns true if a person can read a question and type an answer: stdin and stderr are terminals.
pub(crate) fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Shows the lines to read before an answer, never shortened.
pub(crate) fn show(lines: &[String]) {
    talk(&approval::block(lines));
}

/// Shows a question about a project's server, followed by its summary if an answer is about to be asked for.
pub(crate) fn show_question(question: &Question, is_asked: bool) {
    let lines = approval::lines(question);
    show(&lines);
    if is_asked {
        talk(&approval::summary(&question.summary(), lines.len()));
    }
}

/// The person at the terminal.
pub(crate) struct Terminal;

impl Terminal {
    /// Returns true if a person can be asked: output is not JSON, and the prompt is not an agent's.
    pub(crate) fn is_available(screen: &Screen) -> bool {
        !screen.is_json() && is_attended() && role::agent().is_none()
    }
}

/// Asks the person about a server that came with a folder.
async fn approve_server(question: &Question) -> ServerApproval {
    let mut dialogue = Dialogue::begin().await;
    let title = approval::reason(question);
    let server = json_escape(question.claim.server.as_str());
    dialogue.say(&format!("\nThe server {server} {title}:\n"));
    let lines = question.lines();
    dialogue.say(&approval::block(&lines));
    dialogue.say(&approval::summary(&question.summary(), lines.len()));
    let answer = dialogue
        .ask("Approve? [y]es (always), [o]nce, [N]o: ")
        .await;
    answer.map_or(ServerApproval::Refuse, |line| meaning(&line))
}

fn meaning(line: &str) -> ServerApproval {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => ServerApproval::Approve,
        "o" | "once" => ServerApproval::ApproveOnce,
        _ => ServerApproval::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_is_a_yes() {
        assert_eq!(meaning("y\n"), ServerApproval::Approve);
        assert_eq!(meaning(" YES "), ServerApproval::Approve);
        assert_eq!(meaning("once\n"), ServerApproval::ApproveOnce);
        for no in ["", "\n", "n", "maybe", "yy", "yes please"] {
            assert_eq!(meaning(no), ServerApproval::Refuse, "{no:?}");
        }
    }
}
