//! Tests of the sections `limits` and `network`.

use std::path::Path;
use std::time::Duration;

use switchboard_core::limits::{Deadline, Limits, Timeouts};
use switchboard_core::spec::Layer;

use super::{LimitsSection, ProxySection};
use crate::{Config, Problem, ProblemKind, Severity};

fn read(text: &str) -> Config {
    Config::read(text, Path::new("/home/me/mcp.json"), Layer::User)
}

fn one(text: &str) -> Problem {
    let config = read(text);
    let problems = config.problems();
    assert_eq!(problems.len(), 1, "{text}: {problems:?}");
    problems[0].clone()
}

#[test]
fn every_bound_is_read_in_either_case_and_put_where_it_belongs() {
    let config = read(
        r#"{"limits": {
            "message_bytes": "16 MiB", "heldBytes": "128 MiB", "total_held_bytes": 536870912,
            "queued_bytes": "1 MiB", "in_flight": 16, "inboundRequests": 4, "input_rounds": 3,
            "json_depth": 64, "list_items": 4096, "list_pages": 7, "stderr_lines": 200, "listAge": "1m",
            "timeouts": {"idle": 20, "connect": "500ms", "list": "5s", "call": "20m", "total": "1h", "probe": 1}
        }}"#,
    );
    assert_eq!(config.problems(), []);
    let said = config.limits();
    let mut limits = Limits::default();
    said.apply(&mut limits);
    let expected = Limits {
        message_bytes: 16 << 20,
        held_bytes: 128 << 20,
        queued_bytes: 1 << 20,
        in_flight: 16,
        inbound_requests: 4,
        input_rounds: 3,
        json_depth: 64,
        items: 4096,
        pages: 7,
        stderr_lines: 200,
        probe: Duration::from_secs(1),
        ..Limits::default()
    };
    assert_eq!(limits, expected);
    assert_eq!(said.total_held_bytes, Some(512 << 20));
    assert_eq!(said.list_age, Some(Duration::from_secs(60)));
    let (times, total) = (said.timeouts(), Duration::from_secs(3600));
    let deadline = |idle| Deadline { idle, total };
    assert_eq!(times.connect, deadline(Duration::from_millis(500)));
    assert_eq!(times.discovery, deadline(Duration::from_secs(5)));
    assert_eq!(times.execution, deadline(Duration::from_secs(1200)));
}

#[test]
fn a_file_without_bounds_changes_none() {
    for text in ["{}", r#"{"limits": {}}"#, r#"{"limits": {"timeouts": {}}}"#] {
        let config = read(text);
        assert_eq!(config.problems(), []);
        assert_eq!(config.limits(), &LimitsSection::default(), "{text}");
        let mut limits = Limits::default();
        config.limits().apply(&mut limits);
        assert_eq!(limits, Limits::default());
        assert_eq!(config.limits().timeouts(), Timeouts::default());
    }
    // A longer idle time implies at least that much in total.
    let config = read(r#"{"limits": {"timeouts": {"call": "20m"}}}"#);
    let times = config.limits().timeouts();
    assert_eq!(times.execution, Deadline::within(Duration::from_secs(1200)));
    assert_eq!(times.connect, Deadline::default());
}

#[test]
fn bounds_are_taken_at_their_ends_and_not_beyond() {
    let counts = [
        ("in_flight", 1, 4096),
        ("json_depth", 16, 256),
        ("list_items", 1, 65_536),
    ];
    let sizes = [
        ("message_bytes", 65_536, 256 << 20),
        ("queued_bytes", 65_536, 1 << 30),
    ];
    for (key, least, most) in counts.into_iter().chain(sizes) {
        for good in [least, most] {
            // Where one bound is larger than another there is a warning, and it counts.
            let config = read(&format!(r#"{{"limits": {{"{key}": {good}}}}}"#));
            let errors = config
                .problems()
                .iter()
                .filter(|problem| problem.is_error());
            assert_eq!(errors.count(), 0, "{key} {good}");
            assert_ne!(config.limits(), &LimitsSection::default(), "{key} {good}");
        }
        for (bad, what) in [
            ((least - 1).to_string(), "too small"),
            ((most + 1_u64).to_string(), "too large"),
            ("99999999999999999999999".to_owned(), "too large"),
            ("-1".to_owned(), "does not fit"),
            ("1.5".to_owned(), "does not fit"),
            ("\"many\"".to_owned(), "does not fit"),
            ("true".to_owned(), "is true"),
        ] {
            let text = format!(r#"{{"limits": {{"{key}": {bad}}}}}"#);
            let problem = one(&text);
            assert!(
                problem.is_error() && problem.kind() == ProblemKind::WrongType,
                "{text}"
            );
            assert!(
                problem
                    .message()
                    .starts_with(&format!("`{key}` of `limits` is "))
            );
            assert!(problem.message().contains(what), "{text}: {problem}");
            assert!(problem.expected().unwrap().contains("from "), "{text}");
            let column = 13 + key.len() + 4;
            assert_eq!(
                (problem.line(), problem.column()),
                (Some(1), Some(column)),
                "{text}"
            );
            assert_eq!(read(&text).limits(), &LimitsSection::default(), "{text}");
        }
    }
}

#[test]
fn a_mistake_in_bounds_shows_what_is_written_and_what_is_expected() {
    let problem = one("{\"limits\": {\n  \"message_bytes\": \"1 KiB\"\n}}");
    assert_eq!(
        problem.message(),
        "`message_bytes` of `limits` is too small"
    );
    assert_eq!(
        problem.expected(),
        Some("from 64 KiB to 256 MiB: a number of bytes, or a text such as `\"16 MiB\"`")
    );
    assert!(
        problem
            .excerpt()
            .iter()
            .any(|line| line.contains("\"1 KiB\"")),
        "{:?}",
        problem.excerpt()
    );
    for (text, hint) in [
        (
            r#"{"limits": {"mesage_bytes": 1}}"#,
            "did you mean `message_bytes`?",
        ),
        (
            r#"{"limits": {"timeouts": {"cal": 1}}}"#,
            "did you mean `call`?",
        ),
    ] {
        let problem = one(text);
        assert_eq!(
            (problem.kind(), problem.hints()),
            (ProblemKind::UnknownKey, &[hint.to_owned()][..])
        );
    }
    for (text, what) in [
        (r#"{"limits": []}"#, "`limits` is a list"),
        (r#"{"limits": {"timeouts": 3}}"#, "`timeouts` is a number"),
        (
            r#"{"limits": {"timeouts": {"call": 0}}}"#,
            "`call` of `timeouts` is too small",
        ),
        (
            r#"{"limits": {"timeouts": {"call": "31 days"}}}"#,
            "does not fit",
        ),
        (r#"{"limits": {"timeouts": {"probe": "6m"}}}"#, "too large"),
        (r#"{"limits": {"list_age": "0s"}}"#, "too small"),
    ] {
        assert!(one(text).message().contains(what), "{text}: {}", one(text));
    }
}

#[test]
fn a_bound_that_another_makes_useless_is_told() {
    for text in [
        r#"{"limits": {"message_bytes": "100 MiB"}}"#,
        r#"{"limits": {"held_bytes": "300 MiB"}}"#,
        r#"{"limits": {"total_held_bytes": "1 MiB"}}"#,
    ] {
        let problem = one(text);
        assert_eq!(
            (problem.severity(), problem.kind()),
            (Severity::Warning, ProblemKind::Suspicious)
        );
        assert!(problem.message().contains("is more than"), "{problem}");
    }
}

#[test]
fn the_network_is_read() {
    let config = read(
        r#"{"network": {"allowed_addresses": ["169.254.7.0/24", "fe80::1"], "proxy": "http://me:pw@proxy:3128",
            "noProxy": ["intranet.example"], "ca_file": "certs/corp.pem"}}"#,
    );
    assert_eq!(config.problems(), []);
    let network = config.network();
    let ranges: Vec<String> = network
        .allowed_addresses
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(ranges, ["169.254.7.0/24", "fe80::1/128"]);
    let Some(ProxySection::Url(url)) = &network.proxy else {
        panic!("{:?}", network.proxy);
    };
    assert_eq!(url.expose(), "http://me:pw@proxy:3128");
    assert!(!format!("{config:?}").contains("pw@"));
    assert_eq!(network.no_proxy, ["intranet.example"]);
    let file = network.ca_file.as_ref().unwrap();
    assert_eq!(file.path(), Path::new("/home/me/certs/corp.pem"));
    assert!(network.unclear.is_none());
    for (word, wanted) in [("env", "Environment"), ("none", "None")] {
        let config = read(&format!(r#"{{"network": {{"proxy": "{word}"}}}}"#));
        assert_eq!(
            format!("{:?}", config.network().proxy.as_ref().unwrap()),
            wanted
        );
    }
}

#[test]
fn a_way_that_cannot_be_told_is_not_taken_for_none() {
    for (text, kind, place, part) in [
        (
            r#"{"network": 1}"#,
            ProblemKind::WrongType,
            13,
            "`network` is a number",
        ),
        (
            r#"{"network": {"proxi": "env"}}"#,
            ProblemKind::UnknownKey,
            14,
            "\"proxi\"",
        ),
        (
            r#"{"network": {"proxy": true}}"#,
            ProblemKind::WrongType,
            23,
            "`proxy` is true",
        ),
        (
            r#"{"network": {"proxy": "proxy:3128"}}"#,
            ProblemKind::BadUrl,
            23,
            "does not begin with",
        ),
        (
            r#"{"network": {"proxy": "on"}}"#,
            ProblemKind::BadUrl,
            23,
            "neither",
        ),
        (
            r#"{"network": {"proxy": "${P}"}}"#,
            ProblemKind::BadUrl,
            23,
            "a placeholder",
        ),
        (
            r#"{"network": {"proxy": "socks5://x"}}"#,
            ProblemKind::BadUrl,
            23,
            "does not begin with",
        ),
        (
            r#"{"network": {"no_proxy": "x"}}"#,
            ProblemKind::WrongType,
            26,
            "`no_proxy` is a text",
        ),
    ] {
        let problem = one(text);
        assert_eq!(
            (problem.kind(), problem.column()),
            (kind, Some(place)),
            "{text}"
        );
        assert!(problem.message().contains(part), "{text}: {problem}");
        assert!(problem.is_error() && problem.expected().is_some(), "{text}");
        let config = read(text);
        let unclear = config.network().unclear.as_ref().unwrap();
        assert_eq!(unclear.column(), Some(2), "{text}");
    }
}

#[test]
fn a_mistake_that_only_allows_less_costs_nothing_else() {
    for (text, place, part) in [
        (
            r#"{"network": {"allowed_addresses": ["x"]}}"#,
            36,
            "does not begin with an address",
        ),
        (
            r#"{"network": {"allowed_addresses": ["10.0.0.1/8"]}}"#,
            36,
            "begins at another address: 10.0.0.0",
        ),
        (
            r#"{"network": {"allowed_addresses": "x"}}"#,
            35,
            "`allowed_addresses` is a text",
        ),
        (r#"{"network": {"no_proxy": ["a,b"]}}"#, 27, "no host"),
        (
            r#"{"network": {"ca_file": 1}}"#,
            25,
            "`ca_file` is a number",
        ),
    ] {
        let problem = one(text);
        assert_eq!(problem.column(), Some(place), "{text}");
        assert!(problem.message().contains(part), "{text}: {problem}");
        assert!(read(text).network().unclear.is_none(), "{text}");
    }
}

#[test]
fn no_secret_of_the_network_is_shown() {
    for text in [
        r#"{"network": {"proxy": "canary://me:canary@host"}}"#,
        r#"{"network": {"proxy": ["http://me:canary@host"], "no_proxy": {"token": "canary"}}}"#,
        r#"{"network": {"ca_file": 1, "proxi": "http://me:canary@host"}}"#,
    ] {
        for problem in read(text).problems() {
            let shown = format!("{problem:?} {:?}", problem.excerpt());
            assert!(!shown.contains("canary"), "{shown}");
        }
    }
}

#[test]
fn a_projects_file_says_nothing_about_bounds_or_the_network() {
    let text = r#"{"limits": {"in_flight": 2}, "network": {"proxy": "http://evil.example"}}"#;
    let config = Config::read(text, Path::new("/p/.mcp.json"), Layer::Project);
    assert_eq!(config.limits(), &LimitsSection::default());
    assert!(config.network().proxy.is_none() && config.network().unclear.is_none());
    let kinds: Vec<ProblemKind> = config.problems().iter().map(Problem::kind).collect();
    assert_eq!(kinds, [ProblemKind::UserOnly; 2]);
    assert!(
        config.problems()[1]
            .message()
            .contains("which addresses may be reached")
    );
}

#[test]
fn a_file_of_certificates_is_read_when_it_is_used_and_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("mcp.json");
    let config = Config::read(r#"{"network": {"ca_file": "ca.pem"}}"#, &own, Layer::User);
    let file = config.network().ca_file.clone().unwrap();
    let problem = file.read().unwrap_err();
    assert_eq!((problem.line(), problem.column()), (Some(1), Some(25)));
    assert!(
        problem.message().ends_with("it does not exist"),
        "{problem}"
    );
    std::fs::write(folder.path().join("ca.pem"), "no").unwrap();
    assert!(
        file.read()
            .unwrap_err()
            .message()
            .contains("no certificate")
    );
    std::fs::write(folder.path().join("ca.pem"), super::network::CERTIFICATE).unwrap();
    assert!(file.read().is_ok());
}

#[test]
fn a_profile_is_read_as_it_is_written() {
    let text = r#"{"profiles": {
        "work": {"servers": ["git", "files"], "tools": ["git/*"], "withoutTools": ["*/push"]},
        "all": {}
    }}"#;
    let config = read(text);
    assert_eq!(config.problems(), []);
    let texts = |list: &[crate::Placed]| -> Vec<String> {
        list.iter().map(|placed| placed.text().to_owned()).collect()
    };
    let [work, all] = config.profiles() else {
        panic!("{:?}", config.profiles());
    };
    assert_eq!((work.name.text(), work.is_unclear), ("work", false));
    assert_eq!(texts(work.servers.as_deref().unwrap()), ["git", "files"]);
    assert_eq!(texts(work.tools.as_deref().unwrap()), ["git/*"]);
    assert_eq!(texts(&work.without_tools), ["*/push"]);
    assert!(all.servers.is_none() && all.tools.is_none() && all.without_tools.is_empty());
}

#[test]
fn a_profile_that_is_not_understood_is_unclear() {
    for text in [
        r#"{"profiles": {"a": {"tool": ["git/*"]}}}"#,
        r#"{"profiles": {"a": {"tools": "git/*"}}}"#,
        r#"{"profiles": {"a": {"tools": ["git"]}}}"#,
        r#"{"profiles": {"a": {"without_tools": ["git/"]}}}"#,
        r#"{"profiles": {"a": []}}"#,
    ] {
        let config = read(text);
        assert_eq!(
            config.problems().len(),
            1,
            "{text}: {:?}",
            config.problems()
        );
        assert!(config.profiles()[0].is_unclear, "{text}");
    }
    let project = r#"{"profiles": {"a": {}}}"#;
    let config = Config::read(project, Path::new("/p/.mcp.json"), Layer::Project);
    assert_eq!(config.problems()[0].kind(), ProblemKind::UserOnly);
    assert!(config.profiles().is_empty());
}
