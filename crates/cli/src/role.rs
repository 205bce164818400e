//! The agent that a prompt was opened for with `repl --as AGENT`.
//!
//! All input at such a prompt is the agent's: it answers no question that is meant for the person, approves
//! nothing, changes no policy, and cannot drop its role. A person who types `as AGENT` at a prompt of their
//! own stays the person.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use switchboard::policy::CallerId;

use crate::exit::Exit;
use crate::report::{Failure, Report};

static ROLE: OnceLock<CallerId> = OnceLock::new();

/// Makes the whole process act for the agent. This cannot be undone.
pub(crate) fn set_agent(agent: &CallerId) {
    ROLE.get_or_init(|| agent.clone());
}

/// Set if stdin is a client's, who must not answer questions for the person.
static IS_SERVING_STDIN: AtomicBool = AtomicBool::new(false);

/// Keeps questions for the person away from stdin. This cannot be undone.
pub(crate) fn serve_stdin() {
    IS_SERVING_STDIN.store(true, Ordering::Relaxed);
}

/// Returns true if stdin belongs to a client.
pub(crate) fn is_serving_stdin() -> bool {
    IS_SERVING_STDIN.load(Ordering::Relaxed)
}

/// Returns the agent that the prompt belongs to, if any.
pub(crate) fn agent() -> Option<&'static CallerId> {
    ROLE.get()
}

/// Refuses an action that only the person may take, at an agent's prompt.
///
/// # Errors
/// Returns the refusal if the prompt belongs to an agent.
pub(crate) fn person_only(what: &str) -> Result<(), Failure> {
    let Some(agent) = agent() else {
        return Ok(());
    };
    let message = format!("agent {agent} may not {what}: only the person can");
    let report = Report::new(Exit::Denied, "denied", message);
    Err(report.hint("leave this prompt and run it without --as"))
}
