//! The fuzz targets, with every input that is stored for them.
//!
//! `cargo xtask fuzz` invents new inputs; what it keeps is looked at here on every run.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Once;

use switchboard_fuzz::{TARGETS, Target};

/// What a folder of inputs may grow to: they are looked at on every run.
const MOST_FILES: usize = 300;
const MOST_BYTES: usize = 300 * 1024;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz")
}

/// The names of what is in a folder.
fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{} cannot be listed: {error}", folder.display()));
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

thread_local! {
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

/// Counts the panics of each thread: one in a task is caught by the runtime, and seen by nobody.
fn count_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            PANICS.set(PANICS.get() + 1);
            usual(info);
        }));
    });
}

/// Runs a target on everything that is stored for it, and names the input that it fails on.
fn holds(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let folder = fuzz().join("corpus").join(name);
    let files = names(&folder);
    assert!(
        !files.is_empty(),
        "nothing is stored in {}",
        folder.display()
    );
    count_panics();
    for file in files {
        let input = fs::read(folder.join(&file)).unwrap();
        let run = catch_unwind(AssertUnwindSafe(|| (target.run)(&input)));
        let calm = run.is_ok() && PANICS.get() == 0;
        assert!(calm, "fuzz/corpus/{name}/{file} is a finding");
    }
}

#[test]
fn a_config_file_is_read_to_an_end_and_no_value_of_it_is_told() {
    holds("config");
}

#[test]
fn lines_are_cut_alike_wherever_the_reads_end() {
    holds("lines");
}

#[test]
fn an_envelope_is_read_as_serde_json_reads_it() {
    holds("envelope");
}

#[test]
fn json_is_judged_and_taken_apart_as_serde_json_does_it() {
    holds("json");
}

#[test]
fn what_is_shown_has_nothing_forbidden_and_means_the_same() {
    holds("text");
}

#[test]
fn events_are_read_alike_wherever_the_reads_and_the_lines_end() {
    holds("sse");
}

#[test]
fn a_list_is_read_to_an_end_whatever_the_server_does() {
    holds("pagination");
}

#[test]
fn every_target_has_its_inputs_its_program_and_its_test() {
    let targets: BTreeSet<String> = TARGETS
        .iter()
        .map(|target| target.name.to_owned())
        .collect();
    assert_eq!(names(&fuzz().join("corpus")), targets);
    let programs = names(&fuzz().join("libfuzzer/targets"));
    let expected = targets.iter().map(|name| format!("{name}.rs"));
    assert_eq!(programs, expected.collect());
    let manifest = fs::read_to_string(fuzz().join("libfuzzer/Cargo.toml")).unwrap();
    let here = include_str!("fuzz_corpus.rs");
    for name in &targets {
        assert!(
            manifest.contains(&format!("path = \"targets/{name}.rs\"")),
            "{name}"
        );
        assert!(here.contains(&format!("holds(\"{name}\")")), "{name}");
    }
}

#[test]
fn what_is_stored_stays_small() {
    for Target { name, .. } in TARGETS {
        let folder = fuzz().join("corpus").join(name);
        let files = names(&folder);
        let sizes = files
            .iter()
            .map(|file| fs::read(folder.join(file)).unwrap().len());
        let bytes: usize = sizes.sum();
        assert!(
            files.len() <= MOST_FILES && bytes <= MOST_BYTES,
            "{name}: {} files, {bytes} bytes",
            files.len()
        );
    }
}
