//! Explains failed handshakes: the server sent nothing, sent something wrong, or ended.

use std::time::Duration;

use switchboard_wire::{Era, Initialize, Method as _, Version};

use super::place::Place;
use super::{Diagnosis, Step, TryPurpose, calls, network, variables};
use crate::session::{CallError, OpenError, Seen};
use crate::transport::{stderr_hints, stderr_words as words};

/// Explains why no session came about on a connection.
pub(super) fn failed(error: &OpenError, place: Place<'_>) -> Diagnosis {
    match error {
        OpenError::Connect(error) => super::start::connecting(error, place),
        OpenError::NoCommonVersion { theirs, ours } => versions(theirs, ours, place),
        OpenError::Handshake {
            stage,
            error,
            earlier,
            seen,
        } => {
            let mut diagnosis = handshake(error, seen, place);
            // If the server ended, the stage that it did not reach says nothing.
            if error.close_reason().is_none() {
                let stage = (*stage).to_owned();
                diagnosis.facts.insert(0, ("failed at", stage));
            }
            if let Some(earlier) = earlier {
                let first = if *stage == Initialize::NAME {
                    format!(
                        "tried protocol {} first, and {earlier}; retried with {}",
                        Version::NEWEST_MODERN,
                        Version::NEWEST_LEGACY
                    )
                } else {
                    format!("{earlier}; it was started a second time")
                };
                diagnosis.details.push(("first attempt", first));
            }
            diagnosis
        }
    }
}

/// Explains a version that one side does not know, or was configured not to speak.
fn versions(theirs: &[String], ours: &[String], place: Place<'_>) -> Diagnosis {
    // A version that both know was not used, so the configuration must forbid it.
    let is_known = |era| Version::newest_mutual(era, theirs).is_some();
    let is_legacy = theirs.iter().any(|version| version == "a legacy version");
    let is_order = is_legacy || is_known(Era::Legacy) || is_known(Era::Modern);
    let facts = vec![
        ("the server speaks", theirs.join(", ")),
        ("Switchboard speaks", ours.join(", ")),
    ];
    if is_order {
        let mut steps = Vec::new();
        let target = place.target();
        steps.extend(target.map(|target| Step::DetectProtocol { target }));
        steps.extend(place.edit("\"protocol\": \"auto\""));
        return Diagnosis {
            title: "the server does not speak the protocol version that is configured".to_owned(),
            facts,
            causes: vec!["`protocol` is set to a version that the server does not know".to_owned()],
            steps,
            ..Diagnosis::default()
        };
    }
    let mut steps: Vec<Step> =
        vec!["update the server; with npx, write `@latest` after the package name".into()];
    steps.extend(place.try_again(TryPurpose::Next));
    Diagnosis {
        title: "the server and Switchboard have no protocol version in common".to_owned(),
        facts,
        causes: vec![
            "the server is older than the protocol's first release, or newer than Switchboard"
                .to_owned(),
        ],
        steps,
        ..Diagnosis::default()
    }
}

fn handshake(error: &CallError, seen: &Seen, place: Place<'_>) -> Diagnosis {
    let mut diagnosis = match error {
        _ if is_echo(seen) => echo(place),
        CallError::Closed { reason, .. } => calls::ended(reason, calls::When::Handshake, place),
        // Explain the exchange alone: the user did not make the handshake request.
        CallError::Exchange(fault) => network::exchange(fault, place),
        CallError::TimedOut { after, .. } if place.url().is_some() => {
            network::silence(*after, place)
        }
        CallError::TimedOut { after, .. } => local_silence(*after, seen, place),
        CallError::Malformed { what, excerpt } => Diagnosis {
            title: "the server answered the handshake with an invalid message".to_owned(),
            facts: vec![("problem", what.clone())],
            evidence: vec![("the line begins", vec![excerpt.clone()])],
            causes: vec!["it is not an MCP server, or a broken one".to_owned()],
            steps: by_hand(place),
            ..Diagnosis::default()
        },
        error => {
            let mut diagnosis = calls::calling(error, place);
            // What a server says in its answer means the same as on stderr.
            if let CallError::Rpc(rpc) = error {
                let message = [rpc.message().to_owned()];
                calls::known_cause(&message, place, &mut diagnosis);
            }
            diagnosis.steps.extend(by_hand(place));
            diagnosis
        }
    };
    // Some explanations have better evidence of their own.
    if diagnosis.evidence.is_empty() {
        diagnosis.evidence = calls::evidence(&seen.stderr, &seen.noise);
    }
    diagnosis
}

/// Returns `true` if stdout repeats the messages that we sent.
fn is_echo(seen: &Seen) -> bool {
    let asked = [
        "\"method\":\"initialize\"",
        "\"method\":\"server/discover\"",
    ];
    let is_ours =
        |line: &String| line.starts_with('{') && asked.iter().any(|ask| line.contains(ask));
    seen.noise.iter().any(is_ours)
}

fn echo(place: Place<'_>) -> Diagnosis {
    Diagnosis {
        title: "the server sends back what it receives: it is not an MCP server".to_owned(),
        causes: vec![
            "the command is one that repeats its input, such as `cat`, or a terminal with echo"
                .to_owned(),
        ],
        steps: by_hand(place),
        ..Diagnosis::default()
    }
}

/// Explains a process that runs but has not answered, from its output.
fn local_silence(after: Duration, seen: &Seen, place: Place<'_>) -> Diagnosis {
    let program = place.program().unwrap_or_default();
    let time = calls::seconds(after);
    let mut diagnosis = Diagnosis::default();
    // The most certain sign first: a question, then text on stdout, then a download, then nothing
    // at all.
    let question = words::question(&seen.stderr).or_else(|| words::question(&seen.noise));
    let fetching = stderr_hints::fetching(&seen.stderr);
    if question.is_some() {
        diagnosis.title = format!("the server waits for input, and did not answer within {time}");
        diagnosis.causes = vec![
            "its last line is a question, but a server has no terminal to read an answer from"
                .to_owned(),
        ];
        diagnosis.steps = vec![match program {
            "npx" => {
                "let npx install without asking: write `-y` before the package in `args`".into()
            }
            _ => "give it the answer in its arguments or in `env`, or sign in with its own tool first"
                .into(),
        }];
        diagnosis.steps.extend(by_hand(place));
    } else if !seen.noise.is_empty() {
        garbage(&mut diagnosis, &time, seen, place);
    } else if fetching.is_some() || words::fetches(program, place.args()) {
        diagnosis.title = format!("the server was still starting after {time}");
        diagnosis.causes = vec![match fetching {
            Some(_) => {
                format!("{program} is downloading or building the server, as its output says")
            }
            None => {
                format!("{program} downloads the server at its first start, which takes a while")
            }
        }];
        place.more_time("connect_timeout", &mut diagnosis);
        diagnosis.steps.extend(place.command_line().map(|line| {
            Step::Do(format!(
                "or download it beforehand: run `{line}`, and press Ctrl-C when it is quiet"
            ))
        }));
        variables::proxies(&seen.network, place, &mut diagnosis);
    } else {
        diagnosis.title = format!("the server did not answer the handshake within {time}");
        diagnosis.causes = if seen.stderr.is_empty() {
            vec![
                "it is not an MCP server, or one that serves at a URL instead of stdio".to_owned(),
                "it waits silently for something: another service, a lock, the network".to_owned(),
                "it starts slowly".to_owned(),
            ]
        } else {
            vec![
                "see its output above; it may start slowly".to_owned(),
                "it is not an MCP server, or one that serves at a URL instead of stdio".to_owned(),
            ]
        };
        diagnosis.steps = by_hand(place);
        diagnosis.steps.push(Step::Do(format!(
            "then paste this line, and press Enter; an MCP server answers with one line: `{INITIALIZE}`"
        )));
        place.more_time("connect_timeout", &mut diagnosis);
    }
    diagnosis
}

/// The first request of a legacy session, for a person who runs a server by hand.
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"by-hand","version":"1"}}}"#;

/// A process that writes text to stdout.
fn garbage(diagnosis: &mut Diagnosis, time: &str, seen: &Seen, place: Place<'_>) {
    diagnosis.title = format!("the server writes text to stdout, and did not answer within {time}");
    let mut steps: Vec<Step> = Vec::new();
    if let Some(url) = words::listening(&seen.noise) {
        diagnosis
            .causes
            .push("it serves at a URL instead of stdio".to_owned());
        steps.push(Step::ReachAt {
            url: url.to_owned(),
        });
        // These are options of the server's own command.
        steps.push(
            "or start it so that it uses stdio, often with `--stdio` or `--transport stdio`".into(),
        );
    }
    if stderr_hints::meaning(&seen.noise).is_some_and(|meaning| meaning.cause.contains("arguments"))
    {
        diagnosis
            .causes
            .push("it prints its usage: an argument is missing or wrong".to_owned());
    }
    diagnosis
        .causes
        .push("it logs to stdout, where only MCP messages belong".to_owned());
    diagnosis.causes.push("it is not an MCP server".to_owned());
    steps.push("make it log to stderr, or turn its log off".into());
    steps.extend(by_hand(place));
    diagnosis.steps = steps;
}

/// Proposes to run the server's command without us, if it has one.
pub(super) fn by_hand(place: Place<'_>) -> Vec<Step> {
    // A server at a URL is not ours to start.
    if place.url().is_some() {
        return Vec::new();
    }
    vec![Step::RunByHand {
        command: place.command_line(),
        entry: place.entry(),
    }]
}
