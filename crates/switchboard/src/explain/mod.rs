//! What went wrong, in words for people: pure, and shown by whoever has a screen.
//!
//! `start` explains processes that do not start, `network` exchanges over HTTP that brought no
//! answer, and `calls` everything that can become of a request.

mod calls;
mod host;
mod network;
mod start;

use crate::error::{Cause, Context, Error};
use crate::session::{CallError, OpenError, Seen};

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
    /// What the server itself said, as titles and lines.
    pub evidence: Vec<(&'static str, Vec<String>)>,
    /// What the reason may be, the likeliest first.
    pub causes: Vec<String>,
    /// What to do next.
    pub steps: Vec<String>,
}

/// Explains an error.
pub fn explain(error: &Error) -> Diagnosis {
    let mut diagnosis = match error.cause() {
        Cause::Configuration(what) => Diagnosis {
            title: what.clone(),
            ..Diagnosis::default()
        },
        Cause::Open(failed) => opening(failed, is_remote(error.context())),
        Cause::Call(error) => calls::calling(error),
        Cause::Host(cause) => host::hosting(cause, error),
    };
    diagnosis.context = error.context().clone();
    redact(&mut diagnosis, error);
    diagnosis
}

/// Takes the secrets that the error knows of out of everything that is said.
fn redact(diagnosis: &mut Diagnosis, error: &Error) {
    let facts = diagnosis.facts.iter_mut().map(|(_, value)| value);
    let evidence = diagnosis.evidence.iter_mut().flat_map(|(_, lines)| lines);
    let told = diagnosis.causes.iter_mut().chain(&mut diagnosis.steps);
    let all = facts.chain(evidence).chain(told);
    for text in all.chain([&mut diagnosis.title]) {
        *text = error.redact(text);
    }
}

/// Whether a server is reached by URL, as far as that is known.
fn is_remote(context: &Context) -> bool {
    let identity = context.identity.as_deref().unwrap_or_default();
    identity.starts_with("http:") || identity.starts_with("sse:")
}

fn opening(error: &OpenError, is_remote: bool) -> Diagnosis {
    match error {
        OpenError::Connect(error) => start::connecting(error),
        OpenError::NoCommonVersion { theirs, ours } => Diagnosis {
            title: "the server and Switchboard have no protocol version in common".to_owned(),
            facts: vec![
                ("the server speaks", theirs.join(", ")),
                ("Switchboard speaks", ours.join(", ")),
            ],
            steps: vec!["update the server, or set its protocol to \"auto\"".to_owned()],
            ..Diagnosis::default()
        },
        OpenError::Handshake {
            stage,
            error,
            earlier,
            seen,
        } => {
            let mut diagnosis = handshake(error, seen, is_remote);
            diagnosis
                .facts
                .insert(0, ("failed at", (*stage).to_owned()));
            if let Some(earlier) = earlier {
                diagnosis.facts.push((
                    "first start",
                    format!(
                        "asked for the modern era, {earlier}; it was started again without asking"
                    ),
                ));
            }
            diagnosis
        }
    }
}

fn handshake(error: &CallError, seen: &Seen, is_remote: bool) -> Diagnosis {
    let mut diagnosis = match error {
        CallError::Closed { reason, .. } => calls::ended(reason, "in the handshake"),
        // What became of the first question is not what the person asked for.
        CallError::Exchange(fault) => network::exchange(fault),
        CallError::TimedOut { after, .. } if is_remote => network::silence(*after),
        CallError::TimedOut { after, .. } => Diagnosis {
            title: format!(
                "the server did not answer the handshake within {}",
                calls::seconds(*after)
            ),
            causes: vec![
                "it is still starting: a first run of npx or uvx downloads the package".to_owned(),
                "it waits for something: input, a login, another service".to_owned(),
                "it is no MCP server, or speaks another transport".to_owned(),
            ],
            steps: vec![
                "run the command by hand and see what it prints".to_owned(),
                "give it more time (`--timeout` at the command line)".to_owned(),
            ],
            ..Diagnosis::default()
        },
        error => calls::calling(error),
    };
    if diagnosis.evidence.is_empty() {
        diagnosis.evidence = calls::evidence(&seen.stderr, &seen.noise);
    }
    if !seen.noise.is_empty() {
        diagnosis.causes.insert(
            0,
            "it prints text on stdout, where only protocol messages belong".to_owned(),
        );
    }
    diagnosis
}

#[cfg(test)]
mod tests;
