//! Calls that bring no result.

use super::stage::{Made, Stage};
use super::{BRIEF, Case};

const USUAL: Case = Case::usual((11, "protocol"));

/// A call of the bundled server that has something wrong with it.
fn echo(stage: &Stage, chaos: &str) -> Made {
    let args = ["call", "thing/echo", "message=hi"];
    stage.bundled(&["--chaos", chaos], "", &args)
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases = unanswered();
    cases.extend(answered());
    cases.extend(never_made());
    cases
}

fn unanswered() -> Vec<Case> {
    vec![
        Case {
            name: "died-during-a-call",
            exit: (10, "closed"),
            title: "the server ended with exit code 1 during the call",
            shows: &["sent: yes, so it may have taken effect"],
            step: "check that it still starts: `switchboard tools thing`",
            make: |stage| echo(stage, "die-on-call=echo"),
            ..USUAL
        },
        Case {
            name: "closed-its-output",
            exit: (10, "closed"),
            title: "the server closed its output, during the call",
            shows: &["sent: yes, so it may have taken effect"],
            step: "check that it still starts: `switchboard tools thing`",
            make: |stage| echo(stage, "close-stdout=echo"),
            ..USUAL
        },
        Case {
            name: "call-timed-out",
            exit: (9, "timeout"),
            title: "no answer to tools/call within 2 s",
            shows: &[
                "limit: 2 s in total",
                "sent: yes, so it may have taken effect",
            ],
            step: "`\"execution_timeout\": \"2m\"` into its entry: ~/config/switchboard/mcp.json:3",
            deadline: BRIEF,
            make: |stage| echo(stage, "no-reply=echo"),
            ..USUAL
        },
        Case {
            name: "list-timed-out",
            exit: (9, "timeout"),
            title: "no answer to tools/list within 2 s",
            shows: &["limit: 2 s in total"],
            step: "`\"discovery_timeout\": \"2m\"` into its entry: ~/config/switchboard/mcp.json:3",
            deadline: BRIEF,
            make: |stage| {
                let reply = r#"{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"x\",\"version\":\"1\"}}}"#;
                stage.script(&super::handshakes::answering(reply))
            },
            ..USUAL
        },
    ]
}

fn answered() -> Vec<Case> {
    vec![
        Case {
            name: "asks-for-a-model",
            exit: (5, "rpc"),
            title: "the server answered with an error: the request needs a capability that the client did not declare",
            shows: &["data: {\"requiredCapabilities\":{\"sampling\":{}}}"],
            step: "write `\"sampling\": true` into its entry",
            make: |stage| {
                let args = ["call", "thing/ask_model", "prompt=hi"];
                stage.bundled(&["--asking-models"], "", &args)
            },
            ..USUAL
        },
        Case {
            name: "result-too-large",
            title: "the answer is too large",
            shows: &["limit: 10 MiB"],
            step: "request less",
            make: |stage| echo(stage, "big-result=11@echo"),
            ..USUAL
        },
        Case {
            name: "result-too-deep",
            title: "the answer is nested too deeply",
            shows: &["limit: 128 levels"],
            step: "see what it offers: `switchboard tools thing`",
            make: |stage| echo(stage, "deep=1000@echo"),
            ..USUAL
        },
        Case {
            name: "answer-is-no-message",
            title: "the server's answer is not a valid message",
            shows: &["problem: ", "the line begins"],
            step: "see what it offers: `switchboard tools thing`",
            make: |stage| echo(stage, "neither=echo"),
            ..USUAL
        },
        Case {
            name: "server-answers-with-an-error",
            exit: (5, "rpc"),
            title: "the server answered with an error: no such resource",
            shows: &["code: -32602"],
            step: "see its resources: `switchboard resources thing`",
            make: |stage| stage.bundled(&[], "", &["read", "thing", "demo://nowhere"]),
            ..USUAL
        },
    ]
}

fn never_made() -> Vec<Case> {
    vec![
        Case {
            name: "bad-tool-definition",
            title: "the server's definition of \"no_schema\" cannot be used",
            shows: &["what is wrong: inputSchema: expected an object"],
            step: "see what it offers: `switchboard tools thing`",
            make: |stage| stage.bundled(&["--chaos", "bad-item"], "", &["call", "thing/no_schema"]),
            ..USUAL
        },
        Case {
            name: "bad-argument",
            exit: (2, "arguments"),
            title: "argument \"a\": expected number, found \"x\"",
            shows: &["signature: add(", "sent: no, nothing was called"],
            step: "see its arguments: `switchboard tool thing/",
            make: |stage| stage.bundled(&[], "", &["call", "thing/add", "a=x", "b=2"]),
            ..USUAL
        },
        Case {
            name: "missing-argument",
            exit: (2, "arguments"),
            title: "argument \"message\": missing (string)",
            shows: &["signature: echo(", "sent: no, nothing was called"],
            step: "see its arguments: `switchboard tool thing/",
            make: |stage| stage.bundled(&[], "", &["call", "thing/echo"]),
            ..USUAL
        },
        Case {
            name: "unknown-tool",
            exit: (5, "unknown-tool"),
            title: "there is no tool named \"ecoh\"",
            shows: &[],
            step: "did you mean `switchboard call thing/echo",
            make: |stage| stage.bundled(&[], "", &["call", "thing/ecoh"]),
            ..USUAL
        },
    ]
}
