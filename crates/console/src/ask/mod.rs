//! Questions to the person at the terminal. A [`Dialogue`] takes care that they are asked one after the other.

mod dialogue;

use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, PoisonError};

use switchboard_core::text::sanitise_line;

pub use dialogue::{
    Away, Dialogue, begin, give_up, interrupt, is_away, leave, tell, unless_given_up,
};

use crate::editor::{Editor, Line, Wanted};
use crate::{board, talk};

/// Asks for a yes or a no; every answer but yes is a no. Returns `None` if there is no person to answer.
pub fn is_yes(question: &str) -> Option<bool> {
    if !is_attended() {
        return None;
    }
    // Progress lines must not be drawn over the question.
    let _paused = board::pause();
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
pub fn use_editor(editor: &Editor) {
    *PROMPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(editor.clone());
}

/// Returns true if the prompt runs, which shows events above its line.
pub fn has_prompt() -> bool {
    prompt().is_some()
}

/// Routes questions back to stdin.
pub fn release() {
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
pub fn is_yes_in(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// Returns true if a person can read a question and type an answer: stdin and stderr are terminals.
pub fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
