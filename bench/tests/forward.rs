//! Every way through the gateway, and through the bare proxy, brings the right answers.

#![cfg(feature = "ours")]
#![allow(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test may fail loudly"
)]

use std::process::Command;

const SERVER: &str = env!("CARGO_BIN_EXE_bench-server");

fn brings_answers(load: &[&str], program: &[&str]) {
    brings(40, load, program);
}

fn brings(count: u32, load: &[&str], program: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_bench-load"))
        .args(["--count", &count.to_string()])
        .args(load)
        .arg("--")
        .args(program)
        .args(["--server", SERVER])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{load:?} {program:?}: {said}");
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(line["ops"], count);
    for figure in ["per_op_us", "p50_us", "p99_us", "processor_us"] {
        assert!(line[figure].as_f64().unwrap() > 0.0, "{line}");
    }
}

fn through_the_gateway(front: &str, upstream: &str) {
    let program = env!("CARGO_BIN_EXE_bench-gateway");
    let program = [program, "--front", front, "--upstream", upstream];
    for lanes in ["1", "8"] {
        let load = ["--front", front, "--tool", "bench__echo", "--lanes", lanes];
        brings_answers(&load, &program);
        brings_answers(&[&load[..], &["--modern"]].concat(), &program);
    }
}

#[test]
fn a_stream_to_a_pipe_has_right_answers_in_both_eras() {
    through_the_gateway("stream", "stdio");
}

#[test]
fn http_to_a_pipe_has_right_answers_in_both_eras() {
    through_the_gateway("http", "stdio");
}

#[test]
fn http_to_http_has_right_answers_in_both_eras() {
    through_the_gateway("http", "http");
}

#[test]
fn the_bare_proxy_has_right_answers() {
    let program = [env!("CARGO_BIN_EXE_bench-proxy")];
    for lanes in ["1", "8"] {
        let load = ["--front", "http", "--modern", "--lanes", lanes];
        brings_answers(&load, &program);
    }
}

#[test]
fn the_raw_pipe_behind_http_has_right_answers() {
    let program = [env!("CARGO_BIN_EXE_bench-proxy"), "--pipe"];
    for lanes in ["1", "8"] {
        brings_answers(&["--front", "http", "--lanes", lanes], &program);
    }
}

#[test]
fn hostile_clients_beside_a_load_are_refused() {
    let program = [
        env!("CARGO_BIN_EXE_bench-gateway"),
        "--front",
        "http",
        "--upstream",
        "stdio",
    ];
    let load = ["--front", "http", "--tool", "bench__echo", "--hostile"];
    brings(2000, &[&load[..], &["--lanes", "8"]].concat(), &program);
}

#[test]
fn a_load_fails_if_a_hostile_request_is_not_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_bench-load"))
        .args([
            "--front",
            "http",
            "--hostile",
            "--lanes",
            "8",
            "--count",
            "2000",
            "--",
        ])
        .args([
            env!("CARGO_BIN_EXE_bench-proxy"),
            "--pipe",
            "--server",
            SERVER,
        ])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no token was answered with 200"), "{said}");
}

#[test]
fn a_wrong_answer_fails_the_load() {
    let output = Command::new(env!("CARGO_BIN_EXE_bench-load"))
        .args(["--front", "http", "--modern", "--tool", "big", "--"])
        .args([env!("CARGO_BIN_EXE_bench-proxy"), "--server", SERVER])
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("a wrong answer to call"), "{said}");
}
