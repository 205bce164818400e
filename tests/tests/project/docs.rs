//! The code in the guides is code that compiles.

#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    reason = "a failure here is a failed test"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn squeezed(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("\n")
}

/// The blocks of a language in a page.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}");
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for line in page.lines() {
        match (&mut block, line.trim()) {
            (None, line) if line == opening => block = Some(String::new()),
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

/// The paths that a text in Rust imports, by the name that each has there.
fn imports(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    // Each statement from its `use` at the beginning of a line to its semicolon.
    let text = format!("\n{text}");
    for statement in text.split("\nuse ").skip(1) {
        let statement = statement.split(';').next().unwrap();
        let (parent, names) = match statement.split_once('{') {
            Some((parent, names)) => (parent, names.trim_end_matches('}')),
            None => ("", statement),
        };
        for name in names
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
        {
            let path = format!("{parent}{name}");
            let path = path.trim_end_matches("::self");
            let name = path.rsplit("::").next().unwrap();
            found.insert(name.to_owned(), path.to_owned());
        }
    }
    found
}

/// A block without the imports that it begins with.
fn without_imports(block: &str) -> &str {
    let mut rest = block;
    while rest.starts_with("use ") {
        rest = rest.split_once(";\n").map_or("", |(_, rest)| rest);
    }
    rest.trim_start_matches('\n')
}

#[test]
fn every_block_of_rust_in_the_guide_has_the_imports_that_it_needs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let guide = fs::read_to_string(root.join("docs/library.md")).unwrap();
    let programs: Vec<String> = ["crates/switchboard/examples", "tests/compare"]
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    for block in blocks(&guide, "rust") {
        let code = squeezed(without_imports(&block));
        let program = programs.iter().find(|it| squeezed(it).contains(&code));
        let words: BTreeSet<&str> = code
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .collect();
        let mut needed = imports(program.unwrap());
        needed.retain(|name, _| words.contains(name.as_str()));
        assert_eq!(imports(&block), needed, "{block}");
    }
}

/// The files with an ending in these folders, squeezed.
fn sources(folders: &[&str], ending: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let entries = folders
        .iter()
        .flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let files = entries.map(|entry| entry.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|found| found == ending));
    files
        .map(|file| squeezed(&fs::read_to_string(file).unwrap()))
        .collect()
}

#[test]
fn every_block_of_code_in_the_guides_stands_in_a_program() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let rust = sources(&["crates/switchboard/examples", "tests/compare"], "rs");
    let python = sources(&["tests/partners/python"], "py");
    let mut seen = 0;
    for page in ["README.md", "docs/library.md"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        for (language, programs) in [("rust", &rust), ("python", &python)] {
            for block in blocks(&text, language) {
                seen += 1;
                let code = squeezed(without_imports(&block));
                let found = programs.iter().any(|program| program.contains(&code));
                assert!(
                    found,
                    "{page} shows code that stands in no program:\n{block}"
                );
            }
        }
    }
    assert!(seen >= 20, "only {seen} blocks were found");
}

#[test]
fn the_snippet_of_the_readme_is_the_doctest_of_the_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |page: &str| fs::read_to_string(root.join(page)).unwrap();
    let shown = blocks(&read("README.md"), "rust");
    let tested = blocks(&read("crates/switchboard/README.md"), "rust,no_run");
    assert_eq!(shown, tested);
    assert_eq!(shown.len(), 1);
}

/// The lines of code of a program: no blank lines, comments and imports, and no lints of this workspace.
fn code_lines(file: &str) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(root.join(file)).unwrap();
    let is_python = file.ends_with(".py");
    // A program in Python begins with its documentation.
    let text = if is_python {
        text.splitn(3, "\"\"\"").nth(2).unwrap()
    } else {
        &text
    };
    let aside: &[&str] = if is_python {
        &["#", "import ", "from "]
    } else {
        &["//", "#![", "use ", "extern crate "]
    };
    let lines = text.lines().map(str::trim);
    let code =
        lines.filter(|line| !line.is_empty() && !aside.iter().any(|it| line.starts_with(it)));
    code.count()
}

#[test]
fn whole_programs_are_as_short_as_the_guide_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let guide = fs::read_to_string(root.join("docs/library.md")).unwrap();
    for (name, most) in [
        ("agent", 40),
        ("registry_minimal", 12),
        ("registry", 60),
        ("descriptions", 70),
        ("manager", 40),
    ] {
        let file = format!("crates/switchboard/examples/{name}.rs");
        let lines = code_lines(&file);
        assert!((10..=most).contains(&lines), "{name}: {lines} lines");
        let row = format!("| [`{name}`](../{file}) | {lines} |");
        assert!(guide.contains(&row), "{row}");
    }
    let compared = [
        "crates/switchboard/examples/agent.rs",
        "tests/compare/agent_rmcp.rs",
        "tests/partners/python/agent_fastmcp.py",
    ];
    let [ours, rmcp, fastmcp] = compared.map(code_lines);
    let row = format!("| lines of code | {ours} | {rmcp} | {fastmcp} |");
    assert!(guide.contains(&row), "{row}");
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

fn read(page: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(page)).unwrap()
}

/// The first cells of the rows of a table below a heading, without empty ones.
fn titles(page: &str, heading: &str) -> Vec<String> {
    let (_, section) = page.split_once(&format!("\n## {heading}\n")).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let titles = cells.map(|cell| cell.trim().to_owned());
    titles.filter(|title| !title.is_empty()).skip(1).collect()
}

#[test]
fn every_test_that_the_page_on_promises_names_exists() {
    let page = read("docs/tests.md");
    let named = count_named_tests(&page);
    assert!(named > 250, "only {named} tests are named");
}

#[test]
fn every_invariant_of_the_map_has_tests_or_says_why_not() {
    let titles = titles(&read("docs/tests.md"), "Invariants");
    let map = read("ARCHITECTURE.md");
    let invariants = map.split("## Invariants").nth(1).unwrap();
    let invariants = invariants.split("\n## ").next().unwrap();
    for number in 1.. {
        let is_stated = invariants.contains(&format!("\n{number}. "));
        let has_tests = titles
            .iter()
            .any(|title| title.starts_with(&format!("{number}. ")));
        assert_eq!(is_stated, has_tests, "invariant {number}");
        if !is_stated {
            assert!(number > 10, "only {number} invariants");
            break;
        }
    }
}

#[test]
fn every_promise_of_the_page_on_security_has_tests_and_no_other_has() {
    let titles = titles(&read("docs/tests.md"), "Security");
    let page = read("docs/security.md");
    let promises = page.split("## What we do not promise").next().unwrap();
    let promises = promises
        .split("\n\n")
        .filter_map(|part| part.strip_prefix("**"));
    let promises = promises.map(|promise| {
        let words: Vec<&str> = promise.split_whitespace().collect();
        let words = words.join(" ");
        let title = words.split("**").next().unwrap_or_default();
        title.trim_end_matches(['.', ',', ':']).to_owned()
    });
    assert_eq!(promises.collect::<Vec<_>>(), titles);
}
