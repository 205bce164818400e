//! Why a request has no result.

use std::time::Duration;

use super::{Diagnosis, network};
use crate::session::{CallError, Clock, CloseCause, CloseReason, Delivery};
use crate::transport::Exit;

pub(super) fn calling(error: &CallError) -> Diagnosis {
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
        CallError::Exchange(fault) => {
            let mut diagnosis = network::exchange(fault);
            let sent = sent(error.delivery()).to_owned();
            diagnosis.facts.push(("sent", sent));
            diagnosis
        }
        CallError::TooLarge { limit_bytes } => too_large(*limit_bytes),
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

/// What to say of an answer over the limit, whoever noticed.
pub(super) fn too_large(limit_bytes: usize) -> Diagnosis {
    Diagnosis {
        title: "the answer is too large".to_owned(),
        facts: vec![("limit", format!("{limit_bytes} bytes"))],
        steps: vec!["ask for less, or raise the limit for this server".to_owned()],
        ..Diagnosis::default()
    }
}

fn sent(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::NeverSent => "no: it is safe to try again",
        Delivery::MaybeProcessed => "yes: the server may have done it",
        Delivery::Answered => "yes, and answered",
    }
}

pub(super) fn seconds(time: Duration) -> String {
    if time.subsec_nanos() == 0 {
        format!("{} s", time.as_secs())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

pub(super) fn ended(reason: &CloseReason, when: &str) -> Diagnosis {
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

pub(super) fn evidence(stderr: &[String], noise: &[String]) -> Vec<(&'static str, Vec<String>)> {
    [
        ("last lines of stderr", stderr),
        ("on stdout, but no message", noise),
    ]
    .into_iter()
    .filter(|(_, lines)| !lines.is_empty())
    .map(|(title, lines)| (title, lines.to_vec()))
    .collect()
}
