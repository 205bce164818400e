//! The real binary with more than twenty servers that people use, from npm and PyPI.
//!
//! What each of them is and offers is known (`servers`), and every run has to show just that: one server at a time,
//! ten in one run, ten runs at once; with nothing remembered and with what earlier runs remember. A remark by `doctor`
//! would be false, because all of these servers keep to the protocol.
//!
//! `cargo xtask check --only fleet` installs the servers and runs this; without them, these tests fail.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests say what they expect by failing"
)]

#[path = "../cli/home.rs"]
#[allow(dead_code, reason = "it is shared")]
mod home;
#[path = "../cli/run.rs"]
#[allow(dead_code, reason = "it is shared")]
mod run;
mod seen;
mod servers;
mod stage;

use seen::Seen;
use servers::{COUNT, Server};
use stage::Stage;

/// How many servers run at once.
const MANY: usize = 10;

#[test]
fn each_server_alone_keeps_its_era_and_its_tools_cold_and_warm() {
    let mut wrong = Vec::new();
    for index in 0..COUNT {
        let stage = Stage::new(index..=index);
        // The first run knows nothing of the server; the others remember its era.
        wrong.extend(named(
            &stage,
            stage.run_named(&["doctor", "servers", "tools"]),
        ));
        wrong.extend(stage.leftovers());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ten_servers_in_one_run_keep_their_eras_and_their_tools() {
    let mut wrong = Vec::new();
    for first in groups() {
        let stage = Stage::new(first..=first + MANY - 1);
        for verb in ["servers", "doctor", "tools"] {
            let run = stage.run(&[verb, "--json"]);
            wrong.extend(compared(
                verb,
                stage.servers(),
                &Seen::all(verb, &run, stage.servers()),
            ));
        }
        wrong.extend(stage.leftovers());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ten_runs_at_once_find_the_same_eras_with_nothing_remembered() {
    let mut wrong = Vec::new();
    for first in groups() {
        let stage = Stage::new(first..=first + MANY - 1);
        wrong.extend(named(&stage, stage.run_at_once("doctor")));
        wrong.extend(stage.leftovers());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where each group of ten begins, so that every server is in one.
fn groups() -> impl Iterator<Item = usize> {
    let starts = (0..COUNT).step_by(MANY);
    starts.map(|first| first.min(COUNT - MANY))
}

/// What runs that were about one server each show otherwise than it is.
fn named(stage: &Stage, runs: Vec<(usize, &'static str, run::Run)>) -> Vec<String> {
    let compare = |(index, verb, run): (usize, &'static str, run::Run)| {
        let server = &stage.servers()[index];
        compared(
            verb,
            std::slice::from_ref(server),
            &[Seen::one(verb, &run, server)],
        )
    };
    runs.into_iter().flat_map(compare).collect()
}

/// What a run shows of servers otherwise than they are.
fn compared(verb: &str, servers: &[Server], seen: &[Seen]) -> Vec<String> {
    let pairs = servers.iter().zip(seen);
    let differ = pairs.filter_map(|(server, seen)| {
        let truth = Seen::truth(verb, server);
        let name = server.name;
        (*seen != truth).then(|| format!("{name}, {verb}:\n  is    {truth:?}\n  shown {seen:?}"))
    });
    let mut wrong: Vec<String> = differ.collect();
    if servers.len() != seen.len() {
        wrong.push(format!(
            "{verb}: {} servers are shown, not {}",
            seen.len(),
            servers.len()
        ));
    }
    wrong
}
