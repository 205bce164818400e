//! What went wrong, in words for people: pure, and shown by whoever has a screen.

use std::time::Duration;

use crate::error::{Cause, Context, Error};
use crate::session::{CallError, Clock, CloseCause, CloseReason, Delivery, OpenError, Seen};
use crate::transport::{ConnectError, Exit};

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
        Cause::Open(error) => opening(error),
        Cause::Call(error) => calling(error),
    };
    diagnosis.context = error.context().clone();
    diagnosis
}

fn opening(error: &OpenError) -> Diagnosis {
    match error {
        OpenError::Connect(error) => connecting(error),
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
            let mut diagnosis = handshake(error, seen);
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

fn connecting(error: &ConnectError) -> Diagnosis {
    match error {
        ConnectError::NotFound { command, searched } => Diagnosis {
            title: format!("command {command:?} was not found"),
            facts: vec![(
                "searched",
                match searched.as_slice() {
                    [] => "no folder: the command is a path, or PATH is not set".to_owned(),
                    folders => folders
                        .iter()
                        .map(|folder| folder.display().to_string())
                        .collect::<Vec<_>>()
                        .join(":"),
                },
            )],
            causes: installer(command)
                .map(|(what, _)| what.to_owned())
                .into_iter()
                .collect(),
            steps: match installer(command) {
                Some((_, step)) => vec![
                    step.to_owned(),
                    "or write the whole path of the program".to_owned(),
                ],
                None => vec![
                    "check how the command is spelled, or write the whole path of the program"
                        .to_owned(),
                ],
            },
            ..Diagnosis::default()
        },
        ConnectError::NotExecutable { path } => Diagnosis {
            title: format!("{} may not be run", path.display()),
            steps: vec![format!("chmod +x {}", path.display())],
            ..Diagnosis::default()
        },
        ConnectError::NoFolder { path } => Diagnosis {
            title: format!("the working folder {} does not exist", path.display()),
            steps: vec!["create it, or change `cwd`".to_owned()],
            ..Diagnosis::default()
        },
        ConnectError::Spawn { path, source } => Diagnosis {
            title: format!("{} could not be started", path.display()),
            facts: vec![("the system says", source.to_string())],
            causes: match source.raw_os_error() {
                // ENOEXEC on every Unix.
                Some(8) => vec![
                    "it is a script without a `#!` line, or made for another machine".to_owned(),
                ],
                _ => Vec::new(),
            },
            ..Diagnosis::default()
        },
        ConnectError::Other { source } => Diagnosis {
            title: "no connection to the server".to_owned(),
            facts: vec![("reason", source.to_string())],
            ..Diagnosis::default()
        },
    }
}

/// What brings a command that is not there.
fn installer(command: &str) -> Option<(&'static str, &'static str)> {
    let name = command.rsplit(['/', '\\']).next().unwrap_or(command);
    Some(match name {
        "npx" | "npm" | "node" => (
            "Node.js is not installed, or not in PATH",
            "install Node.js, which brings npx",
        ),
        "uvx" | "uv" => (
            "uv is not installed, or not in PATH",
            "install uv: pip install uv",
        ),
        "python" | "python3" | "pip" | "pip3" => (
            "Python is not installed, or has another name",
            "install Python 3, or write its whole path",
        ),
        "docker" => ("Docker is not installed, or not in PATH", "install Docker"),
        "bunx" | "bun" => ("Bun is not installed, or not in PATH", "install Bun"),
        "deno" => ("Deno is not installed, or not in PATH", "install Deno"),
        _ => return None,
    })
}

fn handshake(error: &CallError, seen: &Seen) -> Diagnosis {
    let mut diagnosis = match error {
        CallError::Closed { reason, .. } => ended(reason, "in the handshake"),
        CallError::TimedOut { after, .. } => Diagnosis {
            title: format!(
                "the server did not answer the handshake within {}",
                seconds(*after)
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
        error => calling(error),
    };
    if diagnosis.evidence.is_empty() {
        diagnosis.evidence = evidence(&seen.stderr, &seen.noise);
    }
    if !seen.noise.is_empty() {
        diagnosis.causes.insert(
            0,
            "it prints text on stdout, where only protocol messages belong".to_owned(),
        );
    }
    diagnosis
}

fn ended(reason: &CloseReason, when: &str) -> Diagnosis {
    let title = match (&reason.cause, reason.exit) {
        (CloseCause::ProcessEnded, Some(exit)) => format!("the server ended with {exit} {when}"),
        _ => format!("{reason}, {when}"),
    };
    let (causes, steps) = match reason.exit {
        Some(Exit::Code(127)) => (
            vec!["a command inside the server's start script was not found".to_owned()],
            Vec::new(),
        ),
        Some(Exit::Code(126)) => (
            vec!["a command inside the server's start script may not be run".to_owned()],
            Vec::new(),
        ),
        Some(Exit::Signal(9)) => (
            vec!["somebody killed it; the system does so when memory runs out".to_owned()],
            Vec::new(),
        ),
        Some(Exit::Code(0)) => (
            vec!["it is a program that does its work and ends, not a server; it may want an argument such as `stdio`".to_owned()],
            Vec::new(),
        ),
        _ if reason.stderr.is_empty() => (
            Vec::new(),
            vec!["it said nothing: run the command by hand to see why".to_owned()],
        ),
        _ => (
            vec!["its own words say why: often a missing variable or argument".to_owned()],
            vec!["variables reach a server only through `env` and `env_passthrough`".to_owned()],
        ),
    };
    Diagnosis {
        title,
        evidence: evidence(&reason.stderr, &reason.noise),
        causes,
        steps,
        ..Diagnosis::default()
    }
}

fn evidence(stderr: &[String], noise: &[String]) -> Vec<(&'static str, Vec<String>)> {
    [
        ("last lines of stderr", stderr),
        ("on stdout, but no message", noise),
    ]
    .into_iter()
    .filter(|(_, lines)| !lines.is_empty())
    .map(|(title, lines)| (title, lines.to_vec()))
    .collect()
}

fn calling(error: &CallError) -> Diagnosis {
    match error {
        CallError::Rpc(rpc) => Diagnosis {
            title: format!("the server answered with an error: {}", rpc.message()),
            facts: [("code", Some(rpc.code().to_string()))]
                .into_iter()
                .chain([("data", rpc.data().map(|data| data.as_str().to_owned()))])
                .filter_map(|(name, value)| Some((name, value?)))
                .collect(),
            ..Diagnosis::default()
        },
        CallError::TimedOut {
            method,
            clock,
            after,
            delivery,
        } => Diagnosis {
            title: format!("no answer to {method} within {}", seconds(*after)),
            facts: vec![
                (
                    "clock",
                    match clock {
                        Clock::Idle => "nothing was heard for that long, progress included",
                        Clock::Total => "the longest time that a call may take",
                    }
                    .to_owned(),
                ),
                ("sent", sent(*delivery).to_owned()),
            ],
            steps: vec!["give it more time (`--timeout` at the command line)".to_owned()],
            ..Diagnosis::default()
        },
        CallError::Closed { reason, delivery } => {
            let mut diagnosis = ended(reason, "during the call");
            diagnosis.facts.push(("sent", sent(*delivery).to_owned()));
            diagnosis
        }
        CallError::TooLarge { limit_bytes } => Diagnosis {
            title: "the answer is too large".to_owned(),
            facts: vec![("limit", format!("{limit_bytes} bytes"))],
            steps: vec!["ask for less, or raise the limit for this server".to_owned()],
            ..Diagnosis::default()
        },
        CallError::NoRoom { limit_bytes } => Diagnosis {
            title: "too much was waiting to be taken".to_owned(),
            facts: vec![("limit", format!("{limit_bytes} bytes"))],
            causes: vec!["many large answers came at once".to_owned()],
            steps: vec![
                "make fewer calls with large answers at the same time, or raise the limit"
                    .to_owned(),
            ],
            ..Diagnosis::default()
        },
        CallError::TooDeep { limit } => Diagnosis {
            title: "the answer is nested too deeply".to_owned(),
            facts: vec![("limit", format!("{limit} levels"))],
            ..Diagnosis::default()
        },
        CallError::Malformed { what, excerpt } => Diagnosis {
            title: "the server's answer is no valid message".to_owned(),
            facts: vec![("what is wrong", what.clone())],
            evidence: vec![("the line begins", vec![excerpt.clone()])],
            ..Diagnosis::default()
        },
        CallError::Unfit { method, misfit } => Diagnosis {
            title: format!("the server's result of {method} is not what the protocol says"),
            facts: vec![("what is wrong", misfit.to_string())],
            ..Diagnosis::default()
        },
        error => Diagnosis {
            title: error.to_string(),
            ..Diagnosis::default()
        },
    }
}

fn sent(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::NeverSent => "no: it is safe to try again",
        Delivery::MaybeProcessed => "yes: the server may have done it",
        Delivery::Answered => "yes, and answered",
    }
}

fn seconds(time: Duration) -> String {
    if time.subsec_nanos() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests;
