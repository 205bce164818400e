//! Pipes: text without what is forbidden, and JSON that says all of it in escapes.

use crate::run::{Run, command};

use super::{Attacker, MODES, for_each, forbidden, groups};

/// How many of the lines say much.
const LONG: usize = 12;

/// What shows something that a server says; `--stdio` comes with it. Those that say much are first.
const LINES: [&str; 19] = [
    "servers s",
    "tools s",
    "tool s/shown",
    "call s/text",
    "call s/data",
    "call s/rows",
    "call s/fail",
    "resources s",
    "read a://all",
    "prompt s/all",
    "prompts s",
    "logs s --level debug --for 20s",
    "templates s",
    "tool s/missing",
    "call s/refuse",
    "call s/die",
    "call s/missing",
    "call s/shown",
    "doctor s",
];

/// Runs a line with the server that says such things.
fn run(line: &str, attacker: &Attacker, more: &[&str]) -> Run {
    let mut words: Vec<&str> = line.split(' ').collect();
    let stdio = attacker.command();
    words.extend(["--stdio", &stdio]);
    words.extend(more);
    Run::of(command(&words).output().unwrap())
}

fn check(run: &Run, what: &str) {
    for (stream, text) in [("stdout", &run.stdout), ("stderr", &run.stderr)] {
        let found = forbidden::find(text);
        assert_eq!(found, None, "{what}, on {stream}");
    }
}

#[test]
fn no_text_on_a_pipe_has_anything_that_a_terminal_obeys() {
    for_each(&cells(), |(line, mode)| {
        let run = run(line, &Attacker::new(mode), &[]);
        let what = format!("{line} ({mode})");
        check(&run, &what);
        let is_shown = format!("{}{}", run.stdout, run.stderr).contains("ZQ");
        assert!(is_shown, "{what}: {run:?}");
    });
}

#[test]
fn json_on_a_pipe_is_json_and_has_the_same_in_escapes() {
    for_each(&cells(), |(line, mode)| {
        let run = run(line, &Attacker::new(mode), &["--json"]);
        let what = format!("{line} --json ({mode})");
        check(&run, &what);
        for text in [&run.stdout, &run.stderr] {
            // One document, or one on each line.
            let documents = serde_json::Deserializer::from_str(text).into_iter();
            for document in documents {
                let _: serde_json::Value =
                    document.unwrap_or_else(|e| panic!("{what}: {e}\n{text}"));
            }
        }
        assert!(!run.stdout.is_empty() || !run.stderr.is_empty(), "{what}");
    });
}

#[test]
fn json_means_every_scalar_value_that_the_server_sent() {
    let attacker = Attacker::new("scalars");
    let run = run("call s/text", &attacker, &["--json"]);
    let result: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let blocks = result["content"].as_array().unwrap().iter();
    let texts = blocks.filter_map(|block| block["text"].as_str()?.strip_prefix("ZQ"));
    let seen: String = texts.collect();
    let all = seen.chars().take(1_112_064);
    assert!(all.eq('\0'..=char::MAX), "some are not as they were sent");
}

#[test]
fn a_trace_on_stderr_and_words_of_the_person_are_no_exception() {
    for_each(&MODES, |mode| {
        let run = run("call s/fail", &Attacker::new(mode), &["--trace", "-"]);
        check(&run, &format!("a trace ({mode})"));
        assert!(run.stderr.contains("ZQ"));
    });
    for_each(&groups(6), |attack| {
        // No argument can hold it.
        let word = attack.replace('\0', "");
        let tool = format!("demo/{word}");
        let option = format!("--{word}");
        for words in [
            &["call", &tool][..],
            &["tool", &tool],
            &["tools", &word],
            &["call", "demo/echo", &word],
            &["call", "demo/echo", &format!("{word}=1")],
            &["call", "demo/add", &format!("a={word}")],
            &["read", "demo", &word],
            &["prompt", &tool],
            &[&word],
            &["tools", &option],
            &["tools", "demo", "--timeout", &word],
            &["tools", "--stdio", &word],
            &["tools", "--url", &word],
            &["tools", "--config", &word],
        ] {
            let run = Run::of(command(words).output().unwrap());
            check(&run, &format!("{words:?}"));
        }
    });
}

/// Every line with all attacks, and with all scalar values where there is room for them.
fn cells() -> Vec<(&'static str, &'static str)> {
    let all = LINES.into_iter().enumerate().flat_map(|(at, line)| {
        let modes = MODES.into_iter();
        modes.filter_map(move |mode| (mode != "scalars" || at < LONG).then_some((line, mode)))
    });
    all.collect()
}
