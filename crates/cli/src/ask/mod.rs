//! Questions to the person at the terminal. A [`Dialogue`] takes care that they are asked one
//! after the other.

pub(crate) mod approval;
mod operator;

use switchboard::text::json_escape;
use switchboard::trust::{Question, ServerApproval};
pub(crate) use switchboard_console::ask::{
    Away, Dialogue, begin, give_up, has_prompt, interrupt, is_attended, is_away, is_yes_in, leave,
    release, tell, unless_given_up, use_editor,
};

pub(crate) use operator::Attendant;

use crate::blocking::run_blocking;
use crate::role;
use crate::screen::{Screen, talk};

/// Asks for a yes or a no; every answer but yes is a no. Returns `None` if there is no person to answer.
pub(crate) fn is_yes(question: &str) -> Option<bool> {
    if role::agent().is_some() {
        return None;
    }
    switchboard_console::ask::is_yes(question)
}

/// Asks like [`is_yes`] on a thread of its own, so that servers and signals are served meanwhile.
pub(crate) async fn is_yes_off_thread(question: &str) -> Option<bool> {
    let question = question.to_owned();
    run_blocking(move || is_yes(&question)).await
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
        !screen.is_json() && is_attended() && role::agent().is_none() && !role::is_serving_stdin()
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
