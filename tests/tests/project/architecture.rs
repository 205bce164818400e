//! Holds the workspace against the rules of the architecture.
//!
//! The rules themselves, and the tests that they can fail, are in `switchboard_tests::architecture`.

use std::fs;
use std::path::{Path, PathBuf};

use switchboard_tests::architecture::{crates, files};

/// What others wrote or what was built; `.git` is a file where a repository has several worktrees.
const SKIPPED: &[&str] = &["target", ".git", "node_modules"];

/// The crates that open files.
const READERS: &[&str] = &[
    "crates/core/src",
    "crates/process/src",
    "crates/client/src",
    "crates/config/src",
    "crates/switchboard/src",
    "crates/lock/src",
    "crates/reload/src",
    "crates/daemon/src",
    "crates/gateway/src",
    "crates/console/src",
    "crates/args/src",
    "crates/cli/src",
];

/// The crates of the library: other programs than ours show their strings.
const LIBRARY: &[&str] = &[
    "crates/wire/src",
    "crates/core/src",
    "crates/process/src",
    "crates/client/src",
    "crates/config/src",
    "crates/schema/src",
    "crates/questions/src",
    "crates/switchboard/src",
];

fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest
        .parent()
        .expect("tests/ is inside the workspace")
        .to_owned()
}

/// Lists the files below a folder of the workspace with `/` between the parts of their names, and
/// their texts. What is not UTF-8 is nobody's source and is left out.
pub(crate) fn texts(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder can be listed") {
            let entry = entry.expect("a folder can be listed");
            let name = entry.file_name();
            if SKIPPED.iter().any(|skipped| name == *skipped) {
                continue;
            }
            let relative = folder.join(&name);
            let kind = entry.file_type().expect("a file has a type");
            if kind.is_dir() {
                folders.push(relative);
                continue;
            }
            if !kind.is_file() {
                continue;
            }
            let bytes = fs::read(entry.path()).expect("a file can be read");
            if let Ok(text) = String::from_utf8(bytes) {
                let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
                found.push((parts.join("/"), text));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "nothing was read in {folder:?}");
    found
}

#[track_caller]
pub(crate) fn assert_none(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

/// Applies `check` to every text and puts the file's name before what it finds.
pub(crate) fn violations(
    texts: &[(String, String)],
    check: impl Fn(&str, &str) -> Vec<String>,
) -> Vec<String> {
    let judged = texts.iter().flat_map(|(path, text)| {
        let found = check(path, text);
        found
            .into_iter()
            .map(move |violation| format!("{path}: {violation}"))
    });
    judged.collect()
}

#[test]
fn crates_depend_on_each_other_as_the_design_draws_it() {
    let mut manifests = texts("crates");
    manifests.retain(|(path, _)| path.ends_with("/Cargo.toml"));
    assert!(manifests.len() >= 8, "crates are missing: {manifests:?}");
    assert_none(&violations(&manifests, |_, text| crates::violations(text)));
}

#[test]
fn files_are_read_through_the_guarded_open_alone() {
    for place in READERS {
        let mut sources = texts(place);
        sources.retain(|(path, _)| {
            let is_test = path.ends_with("tests.rs") || path.contains("/tests/");
            path.ends_with(".rs") && !is_test && !path.starts_with("crates/core/src/files/")
        });
        assert_none(&violations(&sources, |_, text| files::reads(text)));
    }
}

#[test]
fn no_string_of_the_library_names_a_command_of_the_program() {
    for place in LIBRARY {
        let mut sources = texts(place);
        sources.retain(|(path, _)| path.ends_with(".rs"));
        assert_none(&violations(&sources, |_, text| files::commands(text)));
    }
}

#[test]
fn no_file_names_a_path_of_somebodys_machine() {
    assert_none(&violations(&texts(""), |_, text| {
        files::machine_paths(text)
    }));
}
