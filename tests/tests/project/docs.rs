//! The code in the guides is code that compiles.

#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a failure here is a failed test"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn squeezed(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// The blocks of Rust in a page.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for line in page.lines() {
        match (&mut block, line.trim()) {
            (None, "```rust") => block = Some(String::new()),
            (None, _) => {}
            (Some(_), "```") => blocks.extend(block.take()),
            (Some(text), _) => {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    blocks
}

#[test]
fn every_block_of_rust_in_the_guides_stands_in_an_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let examples: Vec<String> = fs::read_dir(root.join("crates/switchboard/examples"))
        .unwrap()
        .map(|entry| squeezed(&fs::read_to_string(entry.unwrap().path()).unwrap()))
        .collect();
    let mut seen = 0;
    for page in ["README.md", "docs/library.md"] {
        for block in blocks(&fs::read_to_string(root.join(page)).unwrap()) {
            seen += 1;
            let found = examples
                .iter()
                .any(|example| example.contains(&squeezed(&block)));
            assert!(
                found,
                "{page} shows code that stands in no example:\n{block}"
            );
        }
    }
    assert!(seen >= 5, "only {seen} blocks were found");
}

/// The functions of all sources below a folder.
fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(path).unwrap();
            for (at, _) in text.match_indices("fn ") {
                let name = text[at + 3..].split(['(', '<']).next().unwrap_or_default();
                found.insert(name.to_owned());
            }
        }
    }
}

/// Checks that every test that a page names exists, and returns how many it names.
fn count_named_tests(page: &str) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut known = BTreeSet::new();
    for folder in ["tests/tests", "crates"] {
        functions(&root.join(folder), &mut known);
    }
    let is_test = |text: &&str| {
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        text.chars().all(is_name) && text.matches('_').count() >= 3
    };
    let named: BTreeSet<&str> = page.split('`').skip(1).step_by(2).filter(is_test).collect();
    let missing: Vec<&&str> = named
        .iter()
        .filter(|name| !known.contains(**name))
        .collect();
    assert!(missing.is_empty(), "no such tests: {missing:#?}");
    named.len()
}

#[test]
fn every_test_that_the_page_on_invariants_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/invariants.md")).unwrap();
    let named = count_named_tests(&page);
    assert!(named > 80, "only {named} tests are named");
    // Each invariant of the map has a section, in the same order.
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let invariants = map.split("## Invariants").nth(1).unwrap();
    let invariants = invariants.split("\n## ").next().unwrap();
    for number in 1.. {
        let is_stated = invariants.contains(&format!("\n{number}. "));
        let has_tests = page.contains(&format!("\n## {number}. "));
        assert_eq!(is_stated, has_tests, "invariant {number}");
        if !is_stated {
            assert!(number > 10, "only {number} invariants");
            break;
        }
    }
}

#[test]
fn every_test_that_the_page_on_logins_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/auth.md")).unwrap();
    let tried = page.split("## Tried with").nth(1).unwrap();
    let named = count_named_tests(tried);
    assert!(named > 10, "only {named} tests are named");
}

#[test]
fn every_test_that_the_page_on_security_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/security.md")).unwrap();
    let named = count_named_tests(&page);
    assert!(named > 80, "only {named} tests are named");
    // Every promise names the tests that show it, up to where none are made.
    let promises = page.split("## What we do not promise").next().unwrap();
    for promise in promises.split("\n\n").filter(|part| part.starts_with("**")) {
        let words: Vec<&str> = promise.split_whitespace().collect();
        assert!(words.join(" ").contains("*Shown by* `"), "{promise}");
    }
}
