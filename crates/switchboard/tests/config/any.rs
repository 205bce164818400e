//! Reading holds whatever the text is.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::sample::Index;
use switchboard::config::{Client, Config, ProblemKind, read_client};
use switchboard::spec::Layer;

/// The files that are stored for the other tests.
fn stored() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config");
    let mut folders: Vec<PathBuf> = ["broken", "clients"].map(|of| root.join(of)).into();
    let mut texts = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_none_or(|ending| ending != "txt") {
                texts.push(fs::read_to_string(path).unwrap());
            }
        }
    }
    texts.sort();
    texts
}

fn read_all(text: &str) {
    for client in Client::ALL {
        let config = read_client(text, Path::new("/p/mcp.json"), Layer::Project, *client);
        for problem in config.problems() {
            assert!(problem.kind() == ProblemKind::More || problem.line().is_some());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_to_an_end(text in any::<String>()) {
        read_all(&text);
    }

    #[test]
    fn a_text_of_brackets_and_words_is_read_to_an_end(
        text in r#"([\[\]{}:,"'#=\n\\]|mcpServers|servers|command|url|args|env|\$\{|A|1|true|//|/\*|"a"){0,80}"#
    ) {
        read_all(&text);
    }

    #[test]
    fn a_file_with_parts_missing_doubled_or_swapped_is_read_to_an_end(
        file in any::<Index>(),
        cuts in prop::collection::vec((any::<Index>(), any::<Index>(), 0..3_u8), 1..4),
    ) {
        let mut chars: Vec<char> = file.get(&stored()).chars().collect();
        for (one, other, what) in cuts {
            if chars.is_empty() {
                break;
            }
            let (one, other) = (one.index(chars.len()), other.index(chars.len()));
            let (from, to) = (one.min(other), one.max(other));
            match what {
                0 => drop(chars.drain(from..to)),
                1 => {
                    let part: Vec<char> = chars.iter().skip(from).take(to - from).copied().collect();
                    chars.splice(from..from, part);
                }
                _ => chars.swap(from, to),
            }
        }
        read_all(&chars.into_iter().collect::<String>());
    }
}

#[test]
fn depth_is_held_at_the_limit_and_over_it() {
    let nested = |depth: usize| {
        format!(
            "{{\"$schema\": {}{}}}",
            "[".repeat(depth),
            "]".repeat(depth)
        )
    };
    let read = |text: &str| Config::read(text, Path::new("/x.json"), Layer::User);
    assert_eq!(read(&nested(63)).problems(), []);
    for depth in [64, 1_000, 200_000] {
        let config = read(&nested(depth));
        assert_eq!(config.problems().len(), 1);
        assert_eq!(
            config.problems().first().unwrap().kind(),
            ProblemKind::TooDeep
        );
    }
    let toml = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let config = read_client(&toml, Path::new("c.toml"), Layer::User, Client::Codex);
    assert_eq!(
        config.problems().first().unwrap().kind(),
        ProblemKind::TooDeep
    );
}

fn servers(count: usize, entry: &str) -> Config {
    let entries: Vec<String> = (0..count).map(|n| format!("\"s{n}\": {entry}")).collect();
    let text = format!("{{\"mcpServers\": {{{}}}}}", entries.join(","));
    Config::read(&text, Path::new("/x.json"), Layer::User)
}

#[test]
fn of_very_many_problems_the_number_is_told() {
    assert_eq!(servers(200, "{}").problems().len(), 200);
    let config = servers(1_000, "{}");
    assert_eq!(config.problems().len(), 201);
    let last = config.problems().last().unwrap();
    assert_eq!(last.message(), "800 more problems are not shown");
}

#[test]
fn servers_and_defaults_are_bounded() {
    let config = servers(1_000, "{\"command\": \"x\"}");
    assert_eq!(
        (config.entries().len(), config.problems().len()),
        (1_000, 0)
    );
    let config = servers(30_000, "{\"command\": \"x\"}");
    assert_eq!(config.entries().len(), 1_000);
    assert_eq!(
        config.problems().first().unwrap().kind(),
        ProblemKind::TooLarge
    );
    for (count, kept) in [(254, 254), (255, 0)] {
        let env: Vec<String> = (0..count).map(|n| format!("\"K{n}\": 1")).collect();
        let text = format!(
            "{{\"defaults\": {{\"env\": {{{}}}}}, \"mcpServers\": {{\"a\": {{\"command\": \"x\"}}}}}}",
            env.join(",")
        );
        let config = Config::read(&text, Path::new("/x.json"), Layer::User);
        let names = config.get("a").unwrap().env_names().count();
        assert_eq!(names, kept, "{:?}", config.problems());
    }
}

/// A file that is as long as it may be is read in a moment, whatever it repeats.
#[test]
fn the_work_grows_with_the_file_and_not_faster() {
    let many = |part: &str, count: usize| {
        let parts: Vec<String> = (0..count)
            .map(|n| part.replace('#', &n.to_string()))
            .collect();
        parts.join(",")
    };
    let within =
        |fields: String| format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"x\", {fields}}}}}}}");
    for text in [
        within(many("\"k#\": 1", 60_000)),
        within(many("\"k\": 1", 60_000)),
        within(format!("\"env\": {{{}}}", many("\"k#\": null", 60_000))),
        within(format!("\"args\": [{}]", many("\"${A#}\"", 60_000))),
        format!("{{\"servers\": [{}]}}", many("{\"name\": \"a\"}", 40_000)),
        format!("{{{}}}", many("\"mcpSever#\": 1", 40_000)),
    ] {
        assert!(text.len() < 1024 * 1024, "{}", text.len());
        let config = Config::read(&text, Path::new("/x.json"), Layer::User);
        assert!(config.problems().len() <= 201);
    }
}
