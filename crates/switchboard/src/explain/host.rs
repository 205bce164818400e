//! Explains errors between a program and a session.

use std::time::Duration;

use switchboard_client::ServerErrorCause;

#[cfg(feature = "config")]
use super::config::diagnose_problem;
use super::place::Place;
use super::{Diagnosis, Step, calls, explain, handshake};
use crate::error::{Error, HostError};
use crate::trust::{Question, Reason};

/// Explains an error of the host; `error` is the whole of it.
pub(super) fn hosting(cause: &HostError, error: &Error) -> Diagnosis {
    let place = Place(error.context());
    let titled = |title: String| Diagnosis {
        title,
        ..Diagnosis::default()
    };
    let mut diagnosis = titled(cause.to_string());
    match cause {
        #[cfg(feature = "config")]
        HostError::Problem(problem) => return diagnose_problem(problem),
        HostError::Disabled => {
            let written = place.entry_place();
            diagnosis.causes = written
                .map(|entry| format!("its entry says so, with `enabled` or `disabled`: {entry}"))
                .into_iter()
                .collect();
            diagnosis.steps = vec![Step::EnableServer {
                entry: place.entry(),
            }];
        }
        HostError::Untrusted(question) => return untrusted(question, place),
        HostError::Store(source) => {
            diagnosis.facts.push(("reason", source.to_string()));
        }
        HostError::Unknown {
            what,
            closest,
            known,
            ..
        } => {
            if let Some(closest) = closest {
                let step = format!("did you mean {closest:?}?");
                diagnosis.steps.push(step.into());
            }
            let step = if known.is_empty() {
                format!("there are no {what}s")
            } else {
                format!("the {what}s there are: {}", known.join(", "))
            };
            diagnosis.steps.push(step.into());
        }
        HostError::NoPolicy(missing) => {
            let (place, example) = (missing.pointer(), missing.example());
            let step = format!("add an entry at {place}, such as {example}");
            diagnosis.steps.push(step.into());
        }
        HostError::Denied(denial) => {
            diagnosis.facts.push(("agent", denial.agent.to_string()));
            diagnosis.facts.push(("rule", denial.rule.id().to_owned()));
            let sent = "no, nothing was called".to_owned();
            diagnosis.facts.push(("sent", sent));
            let step = format!(
                "if the agent may do this, say so at `/agents/{}` of your own config file",
                denial.agent
            );
            diagnosis.steps.push(step.into());
        }
        HostError::Twice(_) | HostError::ToolTwice { .. } => {
            diagnosis.steps.push("give one of them another name".into());
        }
        HostError::Offline { .. } => diagnosis
            .steps
            .push("configure the server that has the tool".into()),
        HostError::Ended(reason) => {
            diagnosis = calls::ended(reason, calls::When::Connected, place);
        }
        HostError::NoTools => {
            diagnosis.causes = vec![
                "it needs a login or a setting before it offers any".to_owned(),
                "the allow and block lists of its entry leave none".to_owned(),
            ];
            diagnosis.steps = vec![
                Step::RefreshTools {
                    server: error.context().server.clone(),
                },
                "take `fail_if_no_tools` out of its entry to use its resources and prompts".into(),
            ];
        }
        HostError::NewServerTimedOut { .. } => {
            diagnosis.steps.push("allow more time to connect".into());
        }
        HostError::NoObject { .. } => diagnosis
            .steps
            .push("give the arguments by name, such as {\"message\": \"hello\"}".into()),
        HostError::Arguments { tool, violations } => {
            diagnosis.title = format!("the arguments of {tool:?} do not fit");
            let lines = violations.iter().map(ToString::to_string).collect();
            diagnosis.evidence.push(("what does not fit", lines));
            diagnosis
                .facts
                .push(("sent", "no, nothing was called".to_owned()));
        }
        HostError::TooManyConnections { .. } => {
            let step = "try again once another call has ended, or allow more connections";
            diagnosis.steps.push(step.into());
        }
        HostError::Auth(_)
        | HostError::NoLogin { .. }
        | HostError::Structure { .. }
        | HostError::ClientGone => {}
    }
    diagnosis
}

/// Explains the cause of a server's error.
pub(super) fn serving(cause: &ServerErrorCause, error: &Error) -> Diagnosis {
    let place = Place(error.context());
    match cause {
        ServerErrorCause::Open(failed) => handshake::failed(failed, place),
        ServerErrorCause::Call(error) => calls::calling(error, place),
        ServerErrorCause::Resting { last, wait } => {
            let mut diagnosis = explain(&last.clone().into());
            diagnosis.facts.push(("tried again", rest(*wait)));
            diagnosis.steps.push(Step::Retry {
                server: error.context().server.clone(),
            });
            diagnosis
        }
        ServerErrorCause::Lost(reason) => {
            let mut diagnosis = calls::ended(reason, calls::When::Earlier, place);
            diagnosis
                .facts
                .push(("tried again", "no: `reconnect` is off".to_owned()));
            diagnosis
        }
        _ => Diagnosis {
            title: cause.to_string(),
            ..Diagnosis::default()
        },
    }
}

fn untrusted(question: &Question, place: Place<'_>) -> Diagnosis {
    let (title, cause) = match question.reason {
        Reason::New => (
            "the server is not approved: a project's file defines it",
            "you have not reviewed it yet, and nothing of it was run",
        ),
        Reason::Changed => (
            "the server's description has changed since it was approved",
            "its entry was edited after you approved it, and nothing of it was run",
        ),
        Reason::BindsMore => (
            "the server's approval covers less than approvals do now",
            "an approval now also covers the program that a reference names, the env file and the \
             content of files; nothing of it was run",
        ),
    };
    Diagnosis {
        title: title.to_owned(),
        evidence: vec![("what it wants to do", question.masked_lines())],
        causes: vec![cause.to_owned()],
        steps: vec![
            Step::ApproveServer {
                entry: place.entry(),
            },
            Step::ApproveOnce {
                fingerprint: question.fingerprint,
            },
        ],
        ..Diagnosis::default()
    }
}

fn rest(wait: Option<Duration>) -> String {
    match wait {
        Some(wait) => format!("in {:.1} s", wait.as_secs_f64()),
        None => {
            "automatic reconnection has stopped: too many attempts have failed in a row".to_owned()
        }
    }
}
