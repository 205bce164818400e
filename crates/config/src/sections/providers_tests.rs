//! Tests of the section `providers`.

use std::path::Path;
use std::time::Duration;

use switchboard_core::environment::Environment;
use switchboard_core::spec::Layer;

use super::ProviderKind;
use crate::{Config, Problem, ProblemKind};

fn read(text: &str) -> Config {
    Config::read(text, Path::new("/home/me/mcp.json"), Layer::User)
}

fn one(text: &str) -> Problem {
    let config = read(text);
    let problems = config.problems();
    assert_eq!(problems.len(), 1, "{text}: {problems:?}");
    problems[0].clone()
}

fn names(config: &Config) -> Vec<&str> {
    let sections = config.providers().providers.iter();
    sections.map(|section| section.name.text()).collect()
}

#[test]
fn every_key_is_read_in_either_case() {
    let config = read(
        r#"{"providers": {
            "local": {"type": "openai", "baseUrl": "http://localhost:11434/v1", "model": "small",
                "models": ["large", "huge"], "max_tokens": 500, "tokensField": "max_completion_tokens",
                "timeout": "5m", "tools": false},
            "claude": {"type": "anthropic", "model": "claude-sonnet", "api_key": "${KEY}"},
            "default": "claude"
        }}"#,
    );
    assert_eq!(config.problems(), []);
    assert_eq!(names(&config), ["claude", "local"]);
    let [claude, local] = config.providers().providers.as_slice() else {
        panic!("{:?}", config.providers());
    };
    assert_eq!(
        (claude.kind, local.kind),
        (ProviderKind::Anthropic, ProviderKind::OpenAi)
    );
    assert_eq!(
        local.base_url.as_ref().unwrap().text(),
        "http://localhost:11434/v1"
    );
    assert_eq!((local.model.as_str(), local.models.len()), ("small", 2));
    assert_eq!(
        (local.max_tokens, local.is_completion),
        (Some(500), Some(true))
    );
    assert_eq!(
        (local.timeout, local.tools),
        (Some(Duration::from_secs(300)), false)
    );
    assert!(local.key.is_none() && claude.tools && claude.base_url.is_none());
}

#[test]
fn strengths_of_models_are_numbers_from_0_to_1() {
    let read_scores = |scores: &str| {
        read(&format!(
            r#"{{"providers": {{"local": {{"type": "openai", "base_url": "http://localhost/v1",
                "model": "small", "models": ["large"], "scores": {scores}}}}}}}"#
        ))
    };
    let config =
        read_scores(r#"{"small": {"cost": 0.9, "speed": 1}, "large": {"intelligence": 0.95}}"#);
    assert_eq!(config.problems(), []);
    let [small, large] = config.providers().providers[0].scores.as_slice() else {
        panic!("{:?}", config.providers());
    };
    assert_eq!((small.0.as_str(), large.0.as_str()), ("small", "large"));
    assert_eq!(
        (small.1.cost, small.1.speed, small.1.intelligence),
        (Some(0.9), Some(1.0), None)
    );
    assert_eq!(large.1.intelligence, Some(0.95));
    for bad in [
        r#"["small"]"#,
        r#"{"small": 1}"#,
        r#"{"small": {"cost": 1.5}}"#,
        r#"{"small": {"speed": "fast"}}"#,
        r#"{"small": {"price": 1}}"#,
    ] {
        let config = read_scores(bad);
        assert_eq!(config.problems().len(), 1, "{bad}: {:?}", config.problems());
    }
}

#[test]
fn keys_come_from_variables_and_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("key"), "from-file\n").unwrap();
    let environment = Environment::from_iter([("KEY".to_owned(), "from-variable".to_owned())]);
    for (written, key) in [
        (r#""api_key": "${KEY}""#, Some("from-variable")),
        (r#""api_key_env": "KEY""#, Some("from-variable")),
        (r#""api_key": "${NONE:-other}""#, Some("other")),
        (r#""api_key": "${file:key}""#, Some("from-file")),
        (r#""api_key": "plain""#, Some("plain")),
        (r#""api_key": "${NONE}""#, None),
        (r#""api_key_env": "NONE""#, None),
        (r#""api_key": "${file:none}""#, None),
        (r#""api_key": " ""#, None),
    ] {
        let text =
            format!(r#"{{"providers": {{"a": {{"type": "openai", "model": "m", {written}}}}}}}"#);
        let config = Config::read(&text, &folder.path().join("mcp.json"), Layer::User);
        assert_eq!(config.problems(), [], "{text}");
        let section = config.providers().providers[0].clone();
        assert!(!format!("{section:?}").contains("plain"), "{section:?}");
        let read = section.key.unwrap().read(&environment);
        assert_eq!(
            read.as_ref().ok().map(|key| key.expose().as_str()),
            key,
            "{written}"
        );
        if let Err(problem) = read {
            assert_eq!(problem.line(), Some(1));
            assert!(problem.expected().is_some());
        }
    }
}

#[test]
fn a_mistake_is_told_with_its_place_and_costs_its_provider() {
    const GOOD: &str = r#""type": "openai", "base_url": "http://localhost/v1", "model": "m""#;
    for (section, kind, part) in [
        (
            "1".to_owned(),
            ProblemKind::WrongType,
            "provider \"a\" is a number",
        ),
        (
            format!(r#"{{{GOOD}, "modle": "x"}}"#),
            ProblemKind::UnknownKey,
            "\"modle\"",
        ),
        (
            r#"{"base_url": "http://x", "model": "m"}"#.to_owned(),
            ProblemKind::WrongType,
            "has no `type`",
        ),
        (
            r#"{"base_url": "http://x", "type": "openai"}"#.to_owned(),
            ProblemKind::WrongType,
            "has no `model`",
        ),
        (
            r#"{"base_url": "http://x", "type": "openia", "model": "m"}"#.to_owned(),
            ProblemKind::WrongType,
            "not known",
        ),
        (
            r#"{"base_url": "http://x", "type": "openai", "model": ""}"#.to_owned(),
            ProblemKind::WrongType,
            "is empty",
        ),
        (
            r#"{"type": "openai", "model": "m"}"#.to_owned(),
            ProblemKind::WrongType,
            "has no key",
        ),
        (
            r#"{"base_url": "x", "type": "openai", "model": "m"}"#.to_owned(),
            ProblemKind::BadUrl,
            "no URL",
        ),
        (
            r#"{"base_url": "ftp://x", "type": "openai", "model": "m"}"#.to_owned(),
            ProblemKind::BadUrl,
            "begin with",
        ),
        (
            r#"{"base_url": "http://a:b@x", "type": "openai", "model": "m"}"#.to_owned(),
            ProblemKind::BadUrl,
            "password",
        ),
        (
            r#"{"base_url": "http://x?k=v", "type": "openai", "model": "m"}"#.to_owned(),
            ProblemKind::BadUrl,
            "behind its path",
        ),
        (
            r#"{"base_url": "${X}", "type": "openai", "model": "m"}"#.to_owned(),
            ProblemKind::BadUrl,
            "placeholder",
        ),
        (
            format!(r#"{{{GOOD}, "api_key": "${{userHome}}"}}"#),
            ProblemKind::BadPlaceholder,
            "`api_key`",
        ),
        (
            format!(r#"{{{GOOD}, "api_key": 1}}"#),
            ProblemKind::WrongType,
            "`api_key` is a number",
        ),
        (
            format!(r#"{{{GOOD}, "api_key_env": "A B"}}"#),
            ProblemKind::BadPlaceholder,
            "`api_key_env`",
        ),
        (
            format!(r#"{{{GOOD}, "api_key": "x", "api_key_env": "A"}}"#),
            ProblemKind::DuplicateKey,
            "both",
        ),
        (
            format!(r#"{{{GOOD}, "max_tokens": 0}}"#),
            ProblemKind::WrongType,
            "too small",
        ),
        (
            format!(r#"{{{GOOD}, "timeout": "2h"}}"#),
            ProblemKind::WrongType,
            "too large",
        ),
        (
            format!(r#"{{{GOOD}, "tools": "yes"}}"#),
            ProblemKind::WrongType,
            "`tools`",
        ),
        (
            format!(r#"{{{GOOD}, "models": "m"}}"#),
            ProblemKind::WrongType,
            "`models`",
        ),
        (
            format!(r#"{{{GOOD}, "tokens_field": "tokens"}}"#),
            ProblemKind::WrongType,
            "`tokens_field`",
        ),
    ] {
        let text = format!(r#"{{"providers": {{"a": {section}}}}}"#);
        let problem = one(&text);
        assert_eq!(problem.kind(), kind, "{text}: {problem}");
        assert!(
            problem.is_error() && problem.message().contains(part),
            "{text}: {problem}"
        );
        assert!(
            problem.expected().is_some() && problem.line() == Some(1),
            "{text}"
        );
        assert!(read(&text).providers().providers.is_empty(), "{text}");
    }
    let typo =
        one(r#"{"providers": {"a": {"type": "openia", "base_url": "http://x", "model": "m"}}}"#);
    assert_eq!(typo.hints(), ["did you mean `openai`?"]);
}

#[test]
fn nobody_is_asked_in_place_of_a_provider_that_is_not_right() {
    const GOOD: &str = r#"{"type": "openai", "base_url": "http://localhost/v1", "model": "m"}"#;
    let several =
        format!(r#"{{"providers": {{"a": {GOOD}, "b": {GOOD}, "c": {GOOD}, "default": "b"}}}}"#);
    assert_eq!(names(&read(&several)), ["b", "a", "c"]);
    let first = format!(r#"{{"providers": {{"a": {GOOD}, "b": {GOOD}}}}}"#);
    assert_eq!(names(&read(&first)), ["a", "b"]);
    for (bad, left) in [
        (
            format!(r#"{{"providers": {{"a": 1, "b": {GOOD}}}}}"#),
            vec![],
        ),
        (
            format!(r#"{{"providers": {{"a": {GOOD}, "b": 1}}}}"#),
            vec!["a"],
        ),
        (
            format!(r#"{{"providers": {{"a": {GOOD}, "default": "x"}}}}"#),
            vec![],
        ),
        (
            format!(r#"{{"providers": {{"a": {GOOD}, "default": 1}}}}"#),
            vec![],
        ),
        (r#"{"providers": {"default": "x"}}"#.to_owned(), vec![]),
        (r#"{"providers": []}"#.to_owned(), vec![]),
    ] {
        let problem = one(&bad);
        assert!(problem.is_error(), "{bad}");
        assert_eq!(names(&read(&bad)), left, "{bad}");
    }
    assert_eq!(read(r#"{"providers": {}}"#).problems(), []);
}

#[test]
fn no_key_is_shown_and_no_project_has_providers() {
    for text in [
        r#"{"providers": {"a": {"type": "openai", "model": "m", "api_key": "canary${userHome}"}}}"#,
        r#"{"providers": {"a": {"type": "bard", "model": "m", "api_key": "canary", "base_url": "http://me:canary@host"}}}"#,
        r#"{"providers": {"a": {"type": "openai", "api_key": "canary"}}}"#,
    ] {
        let config = read(text);
        assert!(!config.problems().is_empty());
        for problem in config.problems() {
            let shown = format!("{problem:?} {:?} {config:?}", problem.excerpt());
            assert!(!shown.contains("canary"), "{shown}");
        }
    }
    let text = r#"{"providers": {"a": {"type": "openai", "base_url": "http://x", "model": "m"}}}"#;
    let config = Config::read(text, Path::new("/p/.mcp.json"), Layer::Project);
    assert!(config.providers().providers.is_empty());
    assert_eq!(config.problems()[0].kind(), ProblemKind::UserOnly);
}
