//! Everything that goes wrong with servers, made on purpose and run through the binary, once for a person
//! and once for a program.
//!
//! A [`Case`] says how it is made and what must be told; `run` holds the binary to it, and `snapshot`
//! to every word. A new failure is a line here, a snapshot and a section of `docs/errors.md`.

mod calls;
mod files;
mod handshakes;
mod page;
mod permission;
mod run;
mod snapshot;
mod stage;
mod starts;
mod tls;
mod web;

use std::sync::{Mutex, PoisonError};

use crate::at_once;
use stage::{Made, Stage};

/// Where the entry of a server in the person's own file is.
const OWN: Option<(&str, u64, &str)> = Some(("~/config/switchboard/mcp.json", 3, "user"));

/// Long enough for a machine that has much else to do.
const AMPLE: u64 = 20;

/// For what is only over when its time is.
const BRIEF: u64 = 2;

/// Something that goes wrong.
struct Case {
    /// The name of its snapshot.
    name: &'static str,
    /// The exit code, and the word for programs.
    exit: (i32, &'static str),
    /// What went wrong, in one line.
    title: &'static str,
    /// The file, line and layer of what it is about.
    place: Option<(&'static str, u64, &'static str)>,
    /// Facts, evidence and causes that must be told, or parts of them.
    shows: &'static [&'static str],
    /// What to do, or a part of it.
    step: &'static str,
    /// The seconds that it may take.
    deadline: u64,
    make: fn(&Stage) -> Made,
}

impl Case {
    /// What most cases of a kind have in common. Each says itself how it is made.
    const fn usual(exit: (i32, &'static str)) -> Self {
        Self {
            name: "",
            exit,
            title: "",
            place: OWN,
            shows: &[],
            step: "",
            deadline: AMPLE,
            make: |_| unreachable!("each case says how it is made"),
        }
    }
}

fn all() -> Vec<Case> {
    let mut all = starts::cases();
    all.extend(handshakes::cases());
    all.extend(web::cases());
    all.extend(tls::cases());
    all.extend(calls::cases());
    all.extend(permission::cases());
    all.extend(files::cases());
    all
}

/// Most of them wait most of their time.
const AT_ONCE: usize = 8;

#[test]
fn every_failure_is_told_with_its_cause_its_proof_its_place_and_what_to_do() {
    let cases = all();
    let runs = cases.iter().flat_map(|case| [(case, false), (case, true)]);
    let wrong = Mutex::new(Vec::new());
    at_once::for_each(AT_ONCE, &runs.collect::<Vec<_>>(), |(case, is_json)| {
        let complaints = run::complaints(case, *is_json);
        let mut wrong = wrong.lock().unwrap_or_else(PoisonError::into_inner);
        wrong.extend(complaints);
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn there_are_many_and_each_is_there_once() {
    let mut names: Vec<&str> = all().iter().map(|case| case.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() == count && count >= 60, "{count}: {names:?}");
}

#[test]
fn no_snapshot_is_left_of_a_case_that_is_gone() {
    let names: Vec<&str> = all().iter().map(|case| case.name).collect();
    assert_eq!(snapshot::strays(&names), Vec::<String>::new());
}

#[test]
fn silence_garbage_questions_and_slow_starts_are_told_apart() {
    let named = |name: &str| {
        let mut all = all().into_iter();
        all.find(|case| case.name == name).unwrap().title
    };
    let mut titles = vec![
        named("silent"),
        named("garbage"),
        named("waits-for-input"),
        named("slow-start-npx"),
        named("echo"),
        named("exits-with-code"),
    ];
    titles.sort_unstable();
    titles.dedup();
    assert_eq!(titles.len(), 6, "{titles:?}");
}

#[test]
fn every_failure_is_on_the_page_of_errors() {
    let missing: Vec<String> = all().iter().filter_map(page::missing).collect();
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
