//! Questions that only a person at a terminal can answer.

use std::future::Future;
use std::io::{self, IsTerminal as _};
use std::pin::Pin;

use switchboard::text::sanitise_line;
use switchboard::trust::{Answer, Question, Vouch};

use crate::live;
use crate::screen::{Screen, talk};

/// Asks for a yes or a no. Nothing where nobody is there to answer; all but a yes is a no.
pub(crate) fn is_yes(question: &str) -> Option<bool> {
    if !is_attended() {
        return None;
    }
    let _paused = live::pause();
    talk(&format!("{} [y/N] ", sanitise_line(question)));
    let mut answer = String::new();
    match io::stdin().read_line(&mut answer) {
        Ok(0) | Err(_) => {
            talk("\n");
            Some(false)
        }
        Ok(_) => Some(is_yes_in(&answer)),
    }
}

/// Whether what somebody typed is a yes; all else is a no.
pub(crate) fn is_yes_in(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

/// A line that the person types, read by a thread of its own: nothing else waits while they think.
pub(crate) async fn answer() -> Option<String> {
    let answer = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        io::stdin().read_line(&mut line).map(|_| line)
    });
    answer.await.ok()?.ok()
}

/// Whether somebody can read a question and type an answer.
pub(crate) fn is_attended() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Shows what there is to see before an answer, nothing of it cut.
pub(crate) fn show(lines: &[String]) {
    let lines = lines
        .iter()
        .map(|line| format!("  {}\n", sanitise_line(line)));
    talk(&lines.collect::<String>());
}

/// The person at the terminal.
pub(crate) struct Terminal;

impl Terminal {
    /// Whether there is a person to ask.
    pub(crate) fn there_is(screen: &Screen) -> bool {
        !screen.is_json() && is_attended()
    }
}

impl Vouch for Terminal {
    fn vouch<'a>(
        &'a self,
        question: &'a Question,
    ) -> Pin<Box<dyn Future<Output = Answer> + Send + 'a>> {
        Box::pin(async move {
            let _paused = live::pause();
            let title = match question.changes.is_empty() {
                true => "came with this folder and is not approved",
                false => "has changed since it was approved",
            };
            let server = &question.claim.server;
            talk(&format!("\nThe server {server:?} {title}:\n"));
            show(&question.lines());
            talk("Use it? [y]es, always; [o]nce; [N]o: ");
            let answer = answer().await;
            answer.map_or(Answer::Refuse, |line| meaning(&line))
        })
    }
}

fn meaning(line: &str) -> Answer {
    match line.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Answer::Approve,
        "o" | "once" => Answer::ApproveOnce,
        _ => Answer::Refuse,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_is_a_yes() {
        assert_eq!(meaning("y\n"), Answer::Approve);
        assert_eq!(meaning(" YES "), Answer::Approve);
        assert_eq!(meaning("once\n"), Answer::ApproveOnce);
        for no in ["", "\n", "n", "maybe", "yy", "yes please"] {
            assert_eq!(meaning(no), Answer::Refuse, "{no:?}");
        }
    }
}
