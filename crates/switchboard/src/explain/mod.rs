//! Errors in words for people: title, facts, evidence, causes, and steps as data.
//!
//! Everything here is pure. The program displays the diagnosis, and words each [`Step`] as its own
//! command, button or menu item.
//!
//! `start` explains processes that do not start, `handshake` those that start but do not agree with us,
//! `network` HTTP exchanges without an answer, `calls` the outcomes of requests, `host` errors before
//! there is a request, and `config` problems of config files. `variables` lists their certificate and proxy variables, `place` takes the facts for steps
//! from an error, and `step` has the types of steps.

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

use switchboard_client::{ErrorKind, ServerErrorCause};

use place::Place;
pub use step::{CredentialScheme, ServerEntry, Step, StepTarget, TryPurpose};

#[cfg(feature = "config")]
use crate::error::HostError;
use crate::error::{Cause, Context, Error};

/// A diagnosis: the problem, its likely causes, and the next steps.
///
/// Text that came from a server is verbatim: the program that shows it has to sanitise it.
///
/// ```
/// use switchboard::{Error, Step, explain};
///
/// let diagnosis = explain(&Error::configuration("no server is described"));
/// assert_eq!(diagnosis.title, "no server is described");
/// let commands = diagnosis.steps.iter().map(Step::to_string);
/// assert_eq!(commands.count(), 0);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The problem, in one line.
    pub title: String,
    /// The server and the place of its description.
    pub context: Context,
    /// The known facts, as names and values.
    pub facts: Vec<(&'static str, String)>,
    /// Further facts that help few people, such as earlier attempts.
    pub details: Vec<(&'static str, String)>,
    /// The server's own output, as titles and lines.
    pub evidence: Vec<(&'static str, Vec<String>)>,
    /// The possible causes, the likeliest first.
    pub causes: Vec<String>,
    /// Steps to take, the best first.
    pub steps: Vec<Step>,
}

/// Explains an error: the problem in one line, the known facts, and what to do next.
///
/// ```
/// use switchboard::{Host, ServerSpec, explain};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let server = ServerSpec::stdio("notes", "no-such-program")?;
/// let host = Host::builder().server(server).build()?;
/// let error = host.connect("notes").await.unwrap_err();
/// let diagnosis = explain(&error);
/// println!("{}", diagnosis.title);
/// for (name, value) in &diagnosis.facts {
///     println!("  {name}: {value}");
/// }
/// assert!(diagnosis.title.contains("no-such-program"));
/// # Ok(())
/// # }
/// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
/// ```
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
    // A server that cannot be used has at least one exact step. An error that answers one request is
    // about that request, and a look at the entry would not help.
    let is_about_request = matches!(
        error.kind(),
        ErrorKind::Rpc
            | ErrorKind::NotFound
            | ErrorKind::NotOffered
            | ErrorKind::Arguments
            | ErrorKind::Input
    );
    let has_step = diagnosis.steps.iter().any(Step::is_exact);
    if place.is_in_file() && !is_about_request && !has_step {
        let entry = place.entry();
        diagnosis.steps.push(match error.cause() {
            Cause::Server(cause) if matches!(**cause, ServerErrorCause::Call(_)) => {
                Step::ListTools { entry }
            }
            _ => Step::ShowEntry { entry },
        });
    }
    diagnosis.context = match error.cause() {
        // Point to the place inside the entry, not only to its first line.
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

/// Redacts the secrets that the error knows from all texts.
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
