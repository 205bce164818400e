//! Explains requests without a result.

use std::time::Duration;

use switchboard_wire::{RpcError, code};

use super::place::Place;
use super::{Diagnosis, Step, TryPurpose, handshake, network, start, variables};
use crate::session::{CallError, Clock, CloseCause, CloseReason, Delivery, Refusal};
use crate::transport::stderr_hints::About;
use crate::transport::{Cleanup, Exit, is_gap, stderr_hints, stderr_names, stderr_words};

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
            noise,
        } => {
            let mut diagnosis = timed_out(method, *clock, *after, place);
            match delivery {
                _ if !noise.is_empty() => stray(noise, &mut diagnosis),
                Delivery::NeverSent => diagnosis
                    .causes
                    .push("the server does not read its input".to_owned()),
                _ => diagnosis.causes.push(
                    "the server is still working, or is waiting for something itself".to_owned(),
                ),
            }
            with_delivery(diagnosis, *delivery, place)
        }
        CallError::Closed { reason, delivery } => {
            with_delivery(ended(reason, When::Call, place), *delivery, place)
        }
        CallError::Exchange(fault) => {
            with_delivery(network::exchange(fault, place), error.delivery(), place)
        }
        CallError::TooLarge { limit_bytes } => too_large(*limit_bytes),
        CallError::NoRoom { limit_bytes } => Diagnosis {
            title: "too many results are waiting to be read".to_owned(),
            facts: vec![("limit", bytes(*limit_bytes))],
            causes: vec!["many large answers came at once".to_owned()],
            steps: vec![
                "make fewer calls with large answers at the same time, or raise the limit".into(),
            ],
            ..Diagnosis::default()
        },
        CallError::TooDeep { limit } => Diagnosis {
            title: "the answer is nested too deeply".to_owned(),
            facts: vec![("limit", format!("{limit} levels"))],
            causes: vec!["this is a bug in the server, or an attack".to_owned()],
            ..Diagnosis::default()
        },
        CallError::Malformed { what, excerpt } => Diagnosis {
            title: "the server's answer is not a valid message".to_owned(),
            facts: vec![("problem", what.clone())],
            evidence: vec![("the line begins", vec![excerpt.clone()])],
            causes: vec!["this is a bug in the server".to_owned()],
            ..Diagnosis::default()
        },
        CallError::Unfit { method, misfit, .. } => Diagnosis {
            title: format!("the server's result of {method} is not what the protocol says"),
            facts: vec![("problem", misfit.to_string())],
            causes: vec!["this is a bug in the server".to_owned()],
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
                "it does not accept the answers, such as a no; or it asks without end".to_owned(),
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

fn timed_out(method: &str, clock: Clock, after: Duration, place: Place<'_>) -> Diagnosis {
    let time = seconds(after);
    let limit = match clock {
        Clock::Idle => format!("no response or progress for {time}"),
        Clock::Total => format!("{time} in total"),
    };
    let mut diagnosis = Diagnosis {
        title: format!("no answer to {method} within {time}"),
        facts: vec![("limit", limit)],
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

/// Explains a call that got no answer while other lines came.
fn stray(noise: &[String], diagnosis: &mut Diagnosis) {
    let is_answer = |line: &String| line.starts_with("a response with id");
    diagnosis.causes.push(if noise.iter().any(is_answer) {
        "the server answered with the id of another request".to_owned()
    } else {
        "the server writes text to stdout, where only MCP messages belong".to_owned()
    });
    diagnosis.evidence = evidence(&[], noise);
}

/// Adds whether a call was sent. A list changes nothing, so that does not matter for it.
fn with_delivery(mut diagnosis: Diagnosis, delivery: Delivery, place: Place<'_>) -> Diagnosis {
    if place.0.listing.is_none() {
        let sent = delivery_text(delivery).to_owned();
        diagnosis.facts.push(("sent", sent));
    }
    diagnosis
}

/// Explains an answer over the limit, on whichever side it was noticed.
pub(super) fn too_large(limit_bytes: usize) -> Diagnosis {
    Diagnosis {
        title: "the answer is too large".to_owned(),
        facts: vec![("limit", bytes(limit_bytes))],
        causes: vec!["the result does not fit into one message".to_owned()],
        steps: vec![
            "request less: a part, a page or a filter, if the tool's arguments allow it".into(),
            "or raise the limit in your own config file: `\"limits\": {\"message_bytes\": 67108864}`"
                .into(),
        ],
        ..Diagnosis::default()
    }
}

/// Writes a size in the unit that divides it.
fn bytes(size: usize) -> String {
    match (size >> 20, size % (1 << 20)) {
        (1.., 0) => format!("{} MiB", size >> 20),
        _ => format!("{size} bytes"),
    }
}

fn delivery_text(delivery: Delivery) -> &'static str {
    match delivery {
        Delivery::NeverSent => "no, so it is safe to try again",
        Delivery::MaybeProcessed => "yes, so it may have taken effect",
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

/// Adds the known cause that a server's lines name, and its step. Returns the subject of the cause.
pub(super) fn known_cause(
    lines: &[String],
    place: Place<'_>,
    diagnosis: &mut Diagnosis,
) -> Option<About> {
    let meaning = stderr_hints::meaning(lines)?;
    let named = stderr_names::with_names(meaning, lines);
    diagnosis.causes.push(named.cause);
    diagnosis.steps.push(match (meaning.about, named.variable) {
        (About::Leftovers, _) => Step::ListLeftovers,
        (_, Some(name)) => Step::NameVariables {
            name: Some(name),
            entry: place.entry(),
        },
        _ => named.step.into(),
    });
    Some(meaning.about)
}

pub(super) fn ended(reason: &CloseReason, when: When, place: Place<'_>) -> Diagnosis {
    let told = match (when, place.0.listing) {
        (When::Handshake, _) => "in the handshake".to_owned(),
        (When::Call, Some(list)) => format!("while its {list} were being listed"),
        (When::Call, None) => "during the call".to_owned(),
        (When::Earlier, _) => "earlier".to_owned(),
        (When::Connected, _) => "after it had connected".to_owned(),
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
    let starts = reason.starts.max(place.0.starts);
    if starts > 1 {
        let starts = format!("{starts}, and each ended in the same way");
        diagnosis.facts.push(("starts", starts));
    }
    if let Some(cleanup) = &reason.cleanup {
        after_keeper(cleanup, &mut diagnosis);
    }
    // The server's own words go before the exit status, which says little.
    let said = known_cause(&reason.stderr, place, &mut diagnosis)
        .or_else(|| known_cause(&reason.noise, place, &mut diagnosis));
    if let Some(about) = said {
        variables::of_cause(about, &reason.network, place, &mut diagnosis);
    }
    // If the keeper was lost, the exit status is that of the keeper, not of the server.
    let exit = reason.exit.filter(|_| reason.cleanup.is_none());
    let by_exit = exit.and_then(|exit| exit_cause(exit, when));
    let is_explained = said.is_some() || by_exit.is_some() || reason.cleanup.is_some();
    // The shell's code for a missing command: its name is in what the shell wrote.
    if reason.exit == Some(Exit::Code(127)) {
        let missing = stderr_words::programs(&reason.stderr).find_map(start::install);
        diagnosis.steps.extend(missing);
    }
    diagnosis.causes.extend(by_exit.map(str::to_owned));
    if !is_explained {
        let cause = match (when, reason.stderr.is_empty()) {
            (When::Call, true) => "this request makes it fail, or it had finished its work",
            (_, true) => "it printed no reason: an argument, a variable or a file may be missing",
            (When::Call, false) => "see its output above",
            (_, false) => "see its output above; often a variable or an argument is missing",
        };
        diagnosis.causes.push(cause.to_owned());
    }
    // The commonest cause of a silent end is a variable that is not passed on.
    if when == When::Handshake && !is_explained && place.url().is_none() {
        diagnosis.steps.push(Step::NameVariables {
            name: None,
            entry: place.entry(),
        });
    }
    match when {
        When::Handshake => diagnosis.steps.extend(handshake::by_hand(place)),
        // Listing again is what has failed.
        _ if place.0.listing.is_some() => diagnosis.steps.extend(handshake::by_hand(place)),
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
        let cause = "the server or another program has killed its keeper, or the system did when memory ran out";
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
            "it is a program that does its work and exits, not a server; it may need an argument such as `stdio`"
        }
        Exit::Code(0) => "it exited normally",
        Exit::Code(126) => "a command in the server's start script is not executable",
        Exit::Code(127) => "a command in the server's start script was not found",
        Exit::Code(134) | Exit::Signal(6) => "it found an internal error and gave up (abort)",
        Exit::Code(137) | Exit::Signal(9) => {
            "it was killed; the system does so when memory runs out"
        }
        Exit::Code(139) | Exit::Signal(11) => {
            "it crashed: a bug in the server or in a library that it uses"
        }
        Exit::Code(143) | Exit::Signal(15) => "another program asked it to end",
        Exit::Signal(4) => "it uses an instruction that this processor does not have",
        Exit::Signal(1) => "its terminal was closed",
        Exit::Signal(2) => "it was interrupted, as with Ctrl-C",
        Exit::Signal(13) => "it wrote to a closed pipe",
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
        ("on stdout, but not an MCP message", noise),
    ]
    .into_iter()
    .filter(|(_, lines)| !lines.is_empty())
    .map(|(title, lines)| (title, lines.to_vec()))
    .collect()
}
