//! The code in the guides is code that compiles.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

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
