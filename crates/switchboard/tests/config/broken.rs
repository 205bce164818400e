//! Broken files, each with what is said about it.
//!
//! What is said is kept beside each file. `SWITCHBOARD_REWRITE=1 cargo test -p switchboard --test
//! config broken` writes it anew; read the difference before it is committed.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use switchboard::config::{Config, Problem};
use switchboard::spec::Layer;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config/broken")
}

/// The names of the broken files.
fn files() -> BTreeSet<String> {
    let entries = fs::read_dir(folder()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| !name.ends_with(".txt")).collect()
}

fn read(name: &str) -> Config {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    let layer = match name.starts_with("project-") {
        true => Layer::Project,
        false => Layer::User,
    };
    Config::read(&text, Path::new(name), layer)
}

fn told(config: &Config) -> String {
    let mut text = String::new();
    for problem in config.problems() {
        writeln!(text, "{:?} {:?}", problem.severity(), problem.kind()).unwrap();
        writeln!(text, "{problem}").unwrap();
        if let Some(expected) = problem.expected() {
            writeln!(text, "expected: {expected}").unwrap();
        }
        for hint in problem.hints() {
            writeln!(text, "hint: {hint}").unwrap();
        }
        for line in problem.excerpt() {
            writeln!(text, "  {line}").unwrap();
        }
        text.push('\n');
    }
    let names: Vec<&str> = config
        .entries()
        .iter()
        .map(|entry| entry.name().as_str())
        .collect();
    writeln!(text, "left: {}", names.join(" ")).unwrap();
    text
}

#[test]
fn what_is_said_about_a_broken_file_is_what_is_kept_beside_it() {
    let files = files();
    assert!(files.len() >= 40, "{} files", files.len());
    let rewrite = std::env::var_os("SWITCHBOARD_REWRITE").is_some();
    let mut wrong = String::new();
    for name in files {
        let told = told(&read(&name));
        let kept = folder().join(format!("{name}.txt"));
        if rewrite {
            fs::write(&kept, &told).unwrap();
        }
        let expected = fs::read_to_string(&kept).unwrap_or_default();
        if told != expected {
            write!(wrong, "\n{name}: kept:\n{expected}\ntold:\n{told}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_problem_of_a_broken_file_has_a_place_and_a_way_on() {
    for name in files() {
        let config = read(&name);
        assert!(!config.problems().is_empty(), "{name} has no problem");
        for problem in config.problems() {
            if problem.kind() == switchboard::config::ProblemKind::More {
                continue;
            }
            assert!(
                problem.line().is_some() && problem.column().is_some(),
                "{problem}"
            );
            let has_advice = problem.expected().is_some() || !problem.hints().is_empty();
            assert!(has_advice, "{problem} says nothing about what to do");
            let has_caret = problem.excerpt().iter().any(|line| line.contains('^'));
            assert!(
                has_caret,
                "{problem} shows no place: {:?}",
                problem.excerpt()
            );
        }
    }
}

#[test]
fn no_value_of_a_broken_file_is_said() {
    for name in files() {
        let config = read(&name);
        let all = told(&config) + &format!("{config:?}");
        for secret in ["canary", "12345678", "87654321", "1234567"] {
            assert!(!all.contains(secret), "{name} says {secret}: {all}");
        }
    }
}

#[test]
fn a_bad_entry_costs_itself_and_no_other() {
    let names = |config: &Config| -> Vec<String> {
        let entries = config.entries().iter();
        entries.map(|entry| entry.name().to_string()).collect()
    };
    for name in [
        "entry-bad-name.json",
        "list-without-name.json",
        "codex-no-transport.toml",
    ] {
        assert_eq!(names(&read(name)), ["good"], "{name}");
    }
    let config = read("codex-no-transport.toml");
    let lines: Vec<Option<usize>> = config.problems().iter().map(Problem::line).collect();
    assert_eq!(
        config.bad("a").and_then(Problem::line),
        Some(2),
        "{lines:?}"
    );
    assert!(config.bad("good").is_none());
}

/// A mistake is rarely alone, and a value must not be taken for a key because of it.
#[test]
fn no_value_is_said_where_one_more_character_is_missing() {
    for name in files() {
        let text = fs::read_to_string(folder().join(&name)).unwrap();
        if text.len() > 600 {
            continue;
        }
        let marks = text
            .char_indices()
            .filter(|(_, c)| "{}[],:\"=\n#/*".contains(*c));
        for (at, c) in marks {
            let (before, after) = text.split_at(at);
            let broken = format!("{before}{}", &after[c.len_utf8()..]);
            let config = Config::read(&broken, Path::new(&name), Layer::User);
            let all = told(&config) + &format!("{config:?}");
            assert!(
                !all.contains("canary"),
                "{name} without {c:?} at {at}:\n{broken}\n{all}"
            );
        }
    }
}
