//! Explains requests without a result.

use std::time::Duration;

use switchboard_wire::{RpcError, code};

use super::place::Place;
use super::{Diagnosis, Step, TryPurpose, handshake, network, start, variables, words};
use crate::session::{CallError, Clock, CloseCause, CloseReason, Delivery, Refusal};
use crate::transport::stderr_hints::About;
use crate::transport::{Cleanup, Exit, is_gap, stderr_hints};

/// The phase in which a connection ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    Handshake,
    Call,
    Earlier,
    Connected,
}

pub(super) fn calling(error: &CallError, place: Place<'_>) -> Diagnosis {
    match error {
        CallError::Rpc(rpc) => Diagnosis {
            title: format!("the server answered with an error: {}", rpc.message()),
            facts: [("code", Some(rpc.code().to_string()))]
                .into_iter()
                .chain([("data", rpc.data().map(|data| data.as_str().to_owned()))])
                .filter_map(|(name, value)| Some((name, value?)))
                .collect(),
            steps: missing(rpc),
            ..Diagnosis::default()
        },
        CallError::TimedOut {
            method,
            clock,
            after,
            delivery,
        } => timed_out(method, *clock, *after, *delivery, place),
        CallError::Closed { reason, delivery } => {
            let mut diagnosis = ended(reason, When::Call, place);
            diagnosis
                .facts
                .push(("sent", delivery_text(*delivery).to_owned()));
            diagnosis
        }
        CallError::Exchange(fault) => {
            let mut diagnosis = network::exchange(fault, place);
            let sent = delivery_text(error.delivery()).to_owned();
            diagnosis.facts.push(("sent", sent));
            diagnosis
        }
        CallError::TooLarge { limit_bytes } => too_large(*limit_bytes),
        CallError::NoRoom { limit_bytes } => Diagnosis {
            title: "too much was waiting to be taken".to_owned(),
            facts: vec![("limit", format!("{limit_bytes} bytes"))],
            causes: vec!["many large answers came at once".to_owned()],
            steps: vec![
                "make fewer calls with large answers at the same time, or raise the limit".into(),
            ],
            ..Diagnosis::default()
        },
        CallError::TooDeep { limit } => Diagnosis {
            title: "the answer is nested too deeply".to_owned(),
            facts: vec![("limit", format!("{limit} levels"))],
            causes: vec!["it is a mistake of the server, or an attack".to_owned()],
            ..Diagnosis::default()
        },
        CallError::Malformed { what, excerpt } => Diagnosis {
            title: "the server's answer is no valid message".to_owned(),
            facts: vec![("what is wrong", what.clone())],
            evidence: vec![("the line begins", vec![excerpt.clone()])],
            causes: vec!["it is a mistake of the server".to_owned()],
            ..Diagnosis::default()
        },
        CallError::Unfit { method, misfit } => Diagnosis {
            title: format!("the server's result of {method} is not what the protocol says"),
            facts: vec![("what is wrong", misfit.to_string())],
            causes: vec!["it is a mistake of the server".to_owned()],
            ..Diagnosis::default()
        },
        CallError::InputRefused { method, why } => Diagnosis {
            title: error.to_string(),
            steps: instead(method, why),
            ..Diagnosis::default()
        },
        CallError::TooManyRounds { .. } => Diagnosis {
            title: error.to_string(),
            causes: vec![
                "it does not take the answers it gets, such as a no; or it is made to ask for ever"
                    .to_owned(),
            ],
            steps: vec![Step::AnswerQuestions],
            ..Diagnosis::default()
        },
        error => Diagnosis {
            title: error.to_string(),
            ..Diagnosis::default()
        },
    }
}

/// Returns the steps that give a server the capability that it says is missing.
fn missing(rpc: &RpcError) -> Vec<Step> {
    if rpc.code() != code::MISSING_CLIENT_CAPABILITY {
        return Vec::new();
    }
    let needed = rpc
        .data()
        .and_then(|data| data.member("requiredCapabilities"));
    let needed = needed.map(|needed| needed.members()).unwrap_or_default();
    needed
        .iter()
        .filter_map(|(name, _)| allowing(name))
        .collect()
}

/// Returns the step that enables a request of the server, unless it was refused on purpose.
fn instead(method: &str, why: &Refusal) -> Vec<Step> {
    let capability = method.split('/').next().unwrap_or_default();
    // A person who said no needs no advice on how to allow it.
    let step = allowing(capability).filter(|_| *why == Refusal::NotAvailable);
    step.into_iter().collect()
}

/// Returns the step that gives a server one of our capabilities.
fn allowing(capability: &str) -> Option<Step> {
    Some(match capability {
        "sampling" => Step::from(
            "let it ask your model: write `\"sampling\": true` into its entry, and the model into `providers` of your own config file",
        ),
        "roots" => Step::ShareFolders,
        _ => return None,
    })
}

fn timed_out(
    method: &str,
    clock: Clock,
    after: Duration,
    delivery: Delivery,
    place: Place<'_>,
) -> Diagnosis {
    let mut diagnosis = Diagnosis {
        title: format!("no answer to {method} within {}", seconds(after)),
        facts: vec![
            (
                "clock",
                match clock {
                    Clock::Idle => "nothing was heard for that long, progress included",
                    Clock::Total => "the longest time that a call may take",
                }
                .to_owned(),
            ),
            ("sent", delivery_text(delivery).to_owned()),
        ],
        causes: vec![match delivery {
            Delivery::NeverSent => "the server does not read what it is sent".to_owned(),
            _ => "the server is still at it, or waits for something itself".to_owned(),
        }],
        ..Diagnosis::default()
    };
    // Lists are read with a timeout of their own.
    let is_list = method.ends_with("/list");
    let field = if is_list {
        "discovery_timeout"
    } else {
        "execution_timeout"
    };
    place.more_time(field, &mut diagnosis);
    diagnosis
}

/// Explains an answer over the limit, on whichever side it was noticed.
pub(super) fn too_large(limit_bytes: usize) -> Diagnosis {
    Diagnosis {
        title: "the answer is too large".to_owned(),
        facts: vec![("limit", format!("{limit_bytes} bytes"))],
        causes: vec!["more was asked for than fits into one answer".to_owned()],
        steps: vec!["ask for less: a part, a page, a filter, as the tool's arguments allow".into()],
        ..Diagnosis::default()
    }
}

fn delivery_text(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::NeverSent => "no: it is safe to try again",
        Delivery::MaybeProcessed => "yes: the server may have done it",
        Delivery::Answered => "yes, and answered",
    }
}

pub(super) fn seconds(time: Duration) -> String {
    // Round to tenths: a measured time is never exactly the limit that was set.
    let tenths = time.saturating_add(Duration::from_millis(50)).as_millis() / 100;
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} s"),
        (whole, rest) => format!("{whole}.{rest} s"),
    }
}

pub(super) fn ended(reason: &CloseReason, when: When, place: Place<'_>) -> Diagnosis {
    let told = match when {
        When::Handshake => "in the handshake",
        When::Call => "during the call",
        When::Earlier => "earlier",
        When::Connected => "after it had connected",
    };
    let title = match (&reason.cause, reason.exit) {
        (CloseCause::ProcessEnded, Some(exit)) if reason.cleanup.is_none() => {
            format!("the server ended with {exit} {told}")
        }
        _ => format!("{reason}, {told}"),
    };
    let mut diagnosis = Diagnosis {
        title,
        evidence: evidence(&reason.stderr, &reason.noise),
        ..Diagnosis::default()
    };
    if let Some(cleanup) = &reason.cleanup {
        after_keeper(cleanup, &mut diagnosis);
    }
    // The server's own words go before the exit status, which says little.
    let said =
        stderr_hints::meaning(&reason.stderr).or_else(|| stderr_hints::meaning(&reason.noise));
    if let Some(said) = said {
        diagnosis.causes.push(said.cause.to_owned());
        diagnosis.steps.push(match said.about {
            About::Leftovers => Step::ListLeftovers,
            _ => said.step.into(),
        });
        variables::of_cause(said.about, &reason.network, place, &mut diagnosis);
    }
    // If the keeper was lost, the exit status is that of the keeper, not of the server.
    let exit = reason.exit.filter(|_| reason.cleanup.is_none());
    let by_exit = exit.and_then(|exit| exit_cause(exit, when));
    let is_explained = said.is_some() || by_exit.is_some() || reason.cleanup.is_some();
    // The shell's code for a missing command: its name is in what the shell wrote.
    if reason.exit == Some(Exit::Code(127)) {
        let missing = words::programs(&reason.stderr).find_map(start::install);
        diagnosis.steps.extend(missing);
    }
    diagnosis.causes.extend(by_exit.map(str::to_owned));
    match (is_explained, reason.stderr.is_empty()) {
        (true, _) => {}
        (false, true) if when == When::Call => diagnosis
            .causes
            .push("this call is too much for it, or its work was done".to_owned()),
        (false, true) => diagnosis
            .causes
            .push("it said nothing: it may lack an argument, a variable or a file".to_owned()),
        (false, false) if when == When::Call => {
            diagnosis.causes.push("its own words say why".to_owned());
        }
        (false, false) => diagnosis
            .causes
            .push("its own words say why: often a missing variable or argument".to_owned()),
    }
    // The commonest cause of a silent end is a variable that is not passed on.
    if when == When::Handshake && !is_explained && place.url().is_none() {
        diagnosis.steps.push(Step::NameVariables {
            entry: place.entry(),
        });
    }
    match when {
        When::Handshake => diagnosis.steps.extend(handshake::by_hand(place)),
        When::Call | When::Earlier | When::Connected => {
            let again = place.try_again(TryPurpose::StillStarts);
            diagnosis.steps.extend(again);
        }
    }
    diagnosis
}

/// Adds a cause if the keeper was lost, or if it could not end all processes of its server.
fn after_keeper(cleanup: &Cleanup, diagnosis: &mut Diagnosis) {
    if cleanup.keeper_lost.is_some() {
        let cause = "the server has killed its keeper, or somebody else has, or the system when memory ran out";
        diagnosis.causes.push(cause.to_owned());
    }
    if !cleanup.left.is_empty() {
        diagnosis.steps.push(Step::EndLeftovers);
    }
}

/// Returns the cause that an exit status alone suggests.
fn exit_cause(exit: Exit, when: When) -> Option<&'static str> {
    Some(match exit {
        Exit::Code(0) if when == When::Handshake => {
            "it is a program that does its work and ends, not a server; it may want an argument such as `stdio`"
        }
        Exit::Code(0) => "it ended of its own accord",
        Exit::Code(126) => "a command inside the server's start script may not be run",
        Exit::Code(127) => "a command inside the server's start script was not found",
        Exit::Code(134) | Exit::Signal(6) => "it noticed a mistake of its own and gave up (abort)",
        Exit::Code(137) | Exit::Signal(9) => {
            "somebody killed it; the system does so when memory runs out"
        }
        Exit::Code(139) | Exit::Signal(11) => {
            "it crashed: it used memory that is not its own, which is a mistake of its own"
        }
        Exit::Code(143) | Exit::Signal(15) => "somebody asked it to end",
        Exit::Signal(4) => {
            "it uses what this processor does not have: it may be made for another one"
        }
        Exit::Signal(1) => "its terminal went away",
        Exit::Signal(2) => "it was interrupted, as with Ctrl-C",
        Exit::Signal(13) => "it wrote to somebody who was gone",
        _ => return None,
    })
}

/// Returns the server's own output. If there is much, lines that look like the cause come first.
pub(super) fn evidence(stderr: &[String], noise: &[String]) -> Vec<(&'static str, Vec<String>)> {
    /// So many lines are taken in at a glance.
    const FEW: usize = 5;
    // A few lines need no excerpt.
    let causes = if stderr.len() > FEW {
        stderr_hints::cause_lines(stderr)
    } else {
        Vec::new()
    };
    let causes: Vec<String> = causes.into_iter().map(str::to_owned).collect();
    let title = if stderr.iter().any(|line| is_gap(line)) {
        "first and last lines of stderr"
    } else {
        "last lines of stderr"
    };
    [
        ("likely cause, from stderr", causes.as_slice()),
        (title, stderr),
        ("on stdout, but no message", noise),
    ]
    .into_iter()
    .filter(|(_, lines)| !lines.is_empty())
    .map(|(title, lines)| (title, lines.to_vec()))
    .collect()
}
