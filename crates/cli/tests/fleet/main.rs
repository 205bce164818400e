//! The real binary with more than twenty servers that people use, from npm and PyPI.
//!
//! What each of them is and offers is known (`servers`), and every run has to show just that: one server at a time,
//! ten in one run, ten runs at once; with nothing remembered and with what earlier runs remember. A remark by `doctor`
//! on how they speak would be false, because all of these servers keep to the protocol; on how much of a model's
//! context their definitions take it is right for a few, which are known too.
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
mod schemas {
    /// Shapes are held against their schemas by the tests in `tests/cli`.
    pub(crate) fn check(_: &[&str], _: &crate::run::Run) {}
}
mod seen;
mod servers;
mod stage;

use run::Run;
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
        for verb in ["doctor", "servers", "tools"] {
            wrong.extend(compared_alone(verb, &stage, &stage.run_at_once(verb)));
        }
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
            let compared = stage.servers().iter().filter_map(|server| {
                let truth = Seen::truth(verb, server);
                difference(
                    verb,
                    server,
                    &truth,
                    &Seen::among_others(verb, &run, server),
                )
            });
            wrong.extend(compared);
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
        wrong.extend(compared_alone(
            "doctor",
            &stage,
            &stage.run_at_once("doctor"),
        ));
        wrong.extend(stage.leftovers());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Where each group of ten begins, so that every server is in one.
fn groups() -> impl Iterator<Item = usize> {
    let starts = (0..COUNT).step_by(MANY);
    starts.map(|first| first.min(COUNT - MANY))
}

/// What runs about one server each show otherwise than it is.
fn compared_alone(verb: &str, stage: &Stage, runs: &[Run]) -> Vec<String> {
    let pairs = stage.servers().iter().zip(runs);
    let differences = pairs.filter_map(|(server, run)| {
        let truth = Seen::truth_alone(verb, server);
        difference(verb, server, &truth, &Seen::alone(verb, run, server))
    });
    differences.collect()
}

fn difference(verb: &str, server: &Server, truth: &Seen, seen: &Seen) -> Option<String> {
    let name = server.name;
    (seen != truth).then(|| format!("{name}, {verb}:\n  is    {truth:?}\n  shown {seen:?}"))
}
