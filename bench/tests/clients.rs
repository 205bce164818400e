//! Every client does every kind of work, and gets the right answers: figures of a client that
//! fails half of its calls would look good.

#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may fail loudly"
)]

use std::process::{Command, Output};

fn client(server: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench-client"))
        .args(["--server", server])
        .args(arguments)
        .output()
        .unwrap()
}

fn succeeds(name: &str, work: &str, more: &[&str]) {
    let arguments = ["--client", name, "--work", work, "--count", "3"];
    let server = env!("CARGO_BIN_EXE_bench-server");
    let output = client(server, &[&arguments[..], more].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {work} {more:?}: {said}");
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(line["ops"], 3);
    assert!(line["per_op_us"].as_f64().unwrap() > 0.0);
    assert!(line["peak_rss_kb"].as_u64().unwrap() > 0);
}

const WORK: [&str; 6] = ["echo", "echo64", "big", "big-lines", "list", "connect20"];

fn succeeds_at_everything(name: &str) {
    for work in WORK {
        for runtime in ["current", "multi"] {
            succeeds(name, work, &["--runtime", runtime]);
            succeeds(name, work, &["--runtime", runtime, "--modern"]);
        }
    }
}

#[test]
fn the_raw_client_gets_right_answers() {
    for work in WORK {
        succeeds("raw", work, &[]);
    }
}

#[test]
fn rmcp_gets_right_answers_in_both_eras() {
    succeeds_at_everything("rmcp");
}

#[cfg(feature = "ours")]
#[test]
fn our_client_gets_right_answers_in_both_eras() {
    succeeds_at_everything("ours");
}

#[test]
fn every_client_gets_right_answers_over_http() {
    for work in ["http-echo", "http-echo-sse"] {
        succeeds("raw", work, &[]);
        for runtime in ["current", "multi"] {
            for name in ["rmcp", "rmcp-pooled"] {
                succeeds(name, work, &["--runtime", runtime]);
            }
            #[cfg(feature = "ours")]
            succeeds("ours", work, &["--runtime", runtime]);
        }
    }
}

#[cfg(feature = "ours")]
#[test]
fn the_catalog_finds_its_tools_and_tells_of_a_change() {
    for work in ["catalog-find", "catalog-rebuild"] {
        succeeds("ours", work, &[]);
    }
}

#[test]
fn a_server_that_does_not_answer_right_fails_the_measurement() {
    // It prints its arguments, which is no answer to anything.
    let output = client("echo", &["--client", "raw", "--work", "echo"]);
    assert!(!output.status.success());
    assert!(output.stdout.is_empty());
}
