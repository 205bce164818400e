//! Errors in words for people: title, facts, evidence, causes, and steps as data.
//!
//! Everything here is pure. The program that has a screen shows it, and words each [`Step`] as the
//! command, button or menu that it has for it.
//!
//! `start` explains processes that do not start, `handshake` those that start and do not agree with us,
//! `network` exchanges over HTTP that brought no answer, `calls` everything that can become of a
//! request, `host` what goes wrong before there is one, and `config` what is wrong with files. `words` reads what servers say for
//! themselves, `variables` says which certificate and proxy variables they have, `place` reads the facts of
//! steps off an error, and `step` has their types.

mod calls;
#[cfg(feature = "config")]
mod config;
mod handshake;
mod host;
mod network;
mod place;
mod start;
mod step;
mod variables;
mod words;

use switchboard_client::ServerErrorCause;

use place::Place;
pub use step::{CredentialScheme, ServerEntry, Step, StepTarget, TryPurpose};

#[cfg(feature = "config")]
use crate::error::HostError;
use crate::error::{Cause, Context, Error};

/// What went wrong, why that may be, and what to do next.
///
/// Everything that came from a server is verbatim: it is made safe where it is shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// What went wrong, in one line.
    pub title: String,
    /// The server, and where it is described.
    pub context: Context,
    /// What is known, as names and values.
    pub facts: Vec<(&'static str, String)>,
    /// What is known besides and helps few people, such as what was tried before.
    pub details: Vec<(&'static str, String)>,
    /// What the server itself said, as titles and lines.
    pub evidence: Vec<(&'static str, Vec<String>)>,
    /// What the reason may be, the likeliest first.
    pub causes: Vec<String>,
    /// Steps to take, the best first.
    pub steps: Vec<Step>,
}

/// Explains an error.
pub fn explain(error: &Error) -> Diagnosis {
    let place = Place(error.context());
    let mut diagnosis = match error.cause() {
        Cause::Configuration(what) => Diagnosis {
            title: what.clone(),
            ..Diagnosis::default()
        },
        Cause::Server(cause) => host::serving(cause, error),
        Cause::Host(cause) => host::hosting(cause, error),
    };
    // Every diagnosis of a configured server has at least one exact step.
    if place.is_in_file() && !diagnosis.steps.iter().any(Step::is_exact) {
        let entry = place.entry();
        diagnosis.steps.push(match error.cause() {
            Cause::Server(cause) if matches!(**cause, ServerErrorCause::Call(_)) => {
                Step::ListTools { entry }
            }
            _ => Step::ShowEntry { entry },
        });
    }
    diagnosis.context = match error.cause() {
        // Where in the entry, and not only where the entry begins.
        #[cfg(feature = "config")]
        Cause::Host(HostError::Problem(problem)) => Context {
            identity: error.context().identity.clone(),
            ..Diagnosis::of_problem(problem).context
        },
        _ => error.context().clone(),
    };
    redact(&mut diagnosis, error);
    diagnosis
}

/// Takes the secrets that the error knows of out of everything that is said.
fn redact(diagnosis: &mut Diagnosis, error: &Error) {
    let facts = diagnosis.facts.iter_mut().chain(&mut diagnosis.details);
    let facts = facts.map(|(_, value)| value);
    let evidence = diagnosis.evidence.iter_mut().flat_map(|(_, lines)| lines);
    let all = facts.chain(evidence).chain(&mut diagnosis.causes);
    for text in all.chain([&mut diagnosis.title]) {
        *text = error.redact(text);
    }
    for step in &mut diagnosis.steps {
        step.redact(|text| error.redact(text));
    }
}

#[cfg(test)]
mod ended_tests;
#[cfg(test)]
mod tests;
