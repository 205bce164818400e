//! The agent that a prompt was opened for with `repl --as AGENT`.
//!
//! Whoever types there is that agent and nobody else: it answers no question that is meant for the person,
//! approves nothing, changes no policy, and cannot put its role down. A person who types `as AGENT` at a
//! prompt of their own stays the person.

use std::sync::OnceLock;

use switchboard::policy::CallerId;

use crate::exit::Exit;
use crate::report::{Failure, Report};

static ROLE: OnceLock<CallerId> = OnceLock::new();

/// Makes everything in this process the agent's from now on. There is no way back.
pub(crate) fn keep(agent: &CallerId) {
    ROLE.get_or_init(|| agent.clone());
}

/// The agent that types, where it is one.
pub(crate) fn kept() -> Option<&'static CallerId> {
    ROLE.get()
}

/// Refuses what only the person may do, where an agent types.
///
/// # Errors
/// When one does.
pub(crate) fn person_only(what: &str) -> Result<(), Failure> {
    let Some(agent) = kept() else {
        return Ok(());
    };
    let message = format!("agent {agent} may not {what}: that is for the person");
    let report = Report::new(Exit::Denied, "denied", message);
    Err(report.hint("leave this prompt, and do it without --as"))
}
