//! What a file's sections become.

use std::path::Path;

use crate::config::{Config, Places, Problem, ProblemKind, Severity};
use crate::host::{Host, agents};
use crate::policy::{AgentPolicy, Caller, Level, Policy, Request, Scope, Target};
use crate::spec::{Layer, ServerName};
use crate::transport::Environment;

fn read(text: &str) -> Config {
    Config::read(text, Path::new("/home/me/mcp.json"), Layer::User)
}

fn all(config: &Config) -> Vec<Problem> {
    let mut problems = config.problems().to_vec();
    problems.extend(agents::problems(config));
    problems
}

fn one(text: &str) -> Problem {
    let problems = all(&read(text));
    assert_eq!(problems.len(), 1, "{text}: {problems:?}");
    problems[0].clone()
}

fn decided(policy: &Policy, agent: &str, tool: &str) -> String {
    let (server, caller) = (
        ServerName::parse("demo").unwrap(),
        Caller::agent(agent).unwrap(),
    );
    let target = Target::Tool {
        server: &server,
        name: tool,
    };
    policy.decide(&Request::usual(&caller, target)).to_string()
}

#[test]
fn a_section_becomes_a_policy() {
    let config = read(
        r#"{"mcpServers": {"demo": {"command": "demo", "blocked_tools": ["rm"]}},
            "agents": {
                "planner": {"level": "yolo", "grants": ["mcp:demo:*"], "blocked_tools": ["slow_*"],
                    "withhold": ["mcp:demo:delete_*"]},
                "*": {"level": "Trusted", "grants": ["mcp:demo:echo"], "allowed_tools": ["echo"]},
                "caged": {"level": "SANDBOXED", "grants": ["mcp:demo:*"]}},
            "audience": {"demo": ["planner", "anybody"]},
            "pins": {"mode": "block"}}"#,
    );
    assert_eq!(all(&config), [] as [Problem; 0]);
    let (policy, _) = agents::policy(&config);
    for (agent, tool, wanted) in [
        ("planner", "echo", "allow: grant mcp:demo:*"),
        (
            "planner",
            "slow_echo",
            "deny: block list of the agent: slow_*",
        ),
        ("planner", "delete_all", "deny: withheld mcp:demo:delete_*"),
        ("planner", "rm", "deny: block list of server demo: rm"),
        ("anybody", "echo", "ask: level TRUSTED"),
        ("anybody", "add", "deny: not in the allow list of the agent"),
        ("caged", "echo", "deny: audience of server demo"),
    ] {
        assert_eq!(decided(&policy, agent, tool), wanted, "{agent} {tool}");
    }
    assert_eq!(agents::pin_mode(&config).0, Some(crate::pins::Mode::Block));
    assert_eq!(
        config.agents()[0].grants.as_ref().unwrap()[0].place(),
        (3, 57)
    );
}

#[test]
fn every_mistake_has_its_place_and_says_what_is_expected() {
    for (text, kind, place, part) in [
        (
            r#"{"agents": []}"#,
            ProblemKind::WrongType,
            (1, 12),
            "`agents` is a list",
        ),
        (
            r#"{"agents": {"a": 1}}"#,
            ProblemKind::WrongType,
            (1, 18),
            "agent \"a\" is a number",
        ),
        (
            r#"{"agents": {"owner": {"level": "yolo"}}}"#,
            ProblemKind::BadName,
            (1, 13),
            "the person",
        ),
        (
            r#"{"agents": {"a": {"level": "root"}}}"#,
            ProblemKind::WrongType,
            (1, 28),
            "no level",
        ),
        (
            r#"{"agents": {"a": {"level": 1}}}"#,
            ProblemKind::WrongType,
            (1, 28),
            "a number",
        ),
        (
            r#"{"agents": {"a": {"levl": "yolo"}}}"#,
            ProblemKind::UnknownKey,
            (1, 19),
            "\"levl\"",
        ),
        (
            r#"{"agents": {"a": {"level": "yolo", "grants": ["mcp:x:y", "mcp:x"]}}}"#,
            ProblemKind::WrongType,
            (1, 64),
            "the tool is missing",
        ),
        (
            r#"{"agents": {"a": {"level": "yolo", "grants": "mcp:x:y"}}}"#,
            ProblemKind::WrongType,
            (1, 46),
            "`grants` of agent \"a\" is a text",
        ),
        (
            r#"{"agents": {"a": {"level": "yolo", "blocked_tools": [1]}}}"#,
            ProblemKind::WrongType,
            (1, 54),
            "an item of `blocked_tools`",
        ),
        (
            r#"{"audience": {"a b": ["x"]}}"#,
            ProblemKind::BadName,
            (1, 15),
            "name of a server",
        ),
        (
            r#"{"pins": "on"}"#,
            ProblemKind::WrongType,
            (1, 10),
            "unknown mode",
        ),
        (
            r#"{"pins": true}"#,
            ProblemKind::WrongType,
            (1, 10),
            "`pins` is true",
        ),
        (
            r#"{"pins": {"mod": "ask"}}"#,
            ProblemKind::UnknownKey,
            (1, 11),
            "\"mod\"",
        ),
        (
            r#"{"limits": 3}"#,
            ProblemKind::WrongType,
            (1, 12),
            "`limits` is a number",
        ),
    ] {
        let problem = one(text);
        assert_eq!(problem.kind(), kind, "{text}");
        assert_eq!(problem.line().zip(problem.column()), Some(place), "{text}");
        assert!(problem.message().contains(part), "{text}: {problem}");
        assert!(problem.is_error() && problem.expected().is_some(), "{text}");
    }
    let typo = one(r#"{"agents": {"a": {"levl": "yolo"}}}"#);
    assert_eq!(typo.hints(), ["did you mean `level`?"]);
}

#[test]
fn what_cannot_be_understood_allows_nothing() {
    for text in [
        r#"{"agents": {"a": {"level": "yolo", "grants": ["mcp:demo:*"], "block_tools": ["rm"]}}}"#,
        r#"{"agents": {"a": {"level": "yolo", "grants": ["mcp:demo:*"], "blocked_tools": "rm"}}}"#,
        r#"{"agents": {"a": {"level": "yollo", "grants": ["mcp:demo:*"]}}}"#,
        r#"{"agents": {"a": {"grants": ["mcp:demo:*"]}}}"#,
        r#"{"agents": {"a": {"level": "yolo", "grants": ["mcp:demo"]}}}"#,
        r#"{"agents": {"a": {"level": "yolo", "grants": ["mcp:demo:*"], "withhold": ["mcp:demo"]}}}"#,
        r#"{"agents": {"a": {"level": "yolo", "grants": ["mcp:demo:*"], "withhold": "mcp:demo:rm"}}}"#,
        r#"{"audience": 1, "agents": {"a": {"level": "yolo", "grants": ["mcp:demo:*"]}}}"#,
        r#"{"audience": {"demo": "b"}, "agents": {"a": {"level": "yolo", "grants": ["mcp:*:*"]}}}"#,
    ] {
        let config = read(text);
        assert!(!all(&config).is_empty(), "{text}");
        let said = decided(&agents::policy(&config).0, "a", "echo");
        assert!(said.starts_with("deny"), "{text}: {said}");
    }
}

#[test]
fn sections_of_a_project_are_refused_and_not_read() {
    let text = r#"{"agents": {"a": {"level": "yolo", "grants": ["mcp:*:*"]}}, "pins": "off",
        "audience": {"x": ["a"]}}"#;
    let config = Config::read(text, Path::new("/p/.mcp.json"), Layer::Project);
    assert!(config.agents().is_empty() && config.pins().is_none());
    assert!(config.audience().is_empty());
    let refused = |problem: &Problem| problem.kind() == ProblemKind::UserOnly;
    assert_eq!(all(&config).iter().filter(|p| refused(p)).count(), 3);
}

#[test]
fn what_names_no_server_only_warns() {
    let typo = one(r#"{"mcpServers": {"notes": {"command": "n"}}, "audience": {"note": ["a"]}}"#);
    assert_eq!(typo.severity(), Severity::Warning);
    assert_eq!(typo.hints(), ["did you mean `notes`?"]);
}

#[test]
fn a_level_without_grants_means_what_it_says() {
    let config = read(
        r#"{"mcpServers": {"demo": {"command": "demo"}},
            "agents": {
                "yolo": {"level": "yolo"},
                "trusted": {"level": "trusted"},
                "each": {"level": "trusted", "ask": "tool", "conceal_denials": true},
                "caged": {"level": "sandboxed"},
                "narrow": {"level": "yolo", "grants": ["mcp:demo:get_*"]},
                "empty": {"level": "yolo", "grants": []},
                "unclear": {"level": "yolo", "grant": ["mcp:demo:*"]},
                "blocked": {"level": "yolo", "blocked_tools": ["rm"]},
                "none": {}}}"#,
    );
    let (policy, _) = agents::policy(&config);
    for (agent, wanted) in [
        ("yolo", "allow: grant mcp:*:*"),
        ("trusted", "ask: level TRUSTED"),
        ("caged", "deny: level SANDBOXED"),
        ("narrow", "deny: no grant"),
        ("empty", "deny: no grant"),
        ("unclear", "deny: level SANDBOXED"),
        ("blocked", "deny: block list of the agent: rm"),
        ("none", "deny: level SANDBOXED"),
        ("stranger", "deny: no policy for this agent"),
    ] {
        assert_eq!(decided(&policy, agent, "rm"), wanted, "{agent}");
    }
    // A level for one run grants nothing to who had nothing.
    for agent in ["caged", "none", "unclear", "empty"] {
        let own = policy.of(&agent.parse().unwrap()).unwrap().clone();
        let policy = Policy::none().agent(agent.parse().unwrap(), own.level(Level::Yolo));
        assert_eq!(decided(&policy, agent, "rm"), "deny: no grant", "{agent}");
    }
    let each = policy.of(&"each".parse().unwrap()).unwrap();
    assert_eq!((each.scope(), each.conceals_denials()), (Scope::Item, true));
    // Those whose rights are not what they were.
    let changed = agents::agents_with_level_alone(&config);
    let lines: Vec<_> = changed.iter().map(|problem| problem.line()).collect();
    assert_eq!(lines, [3, 4, 5, 10].map(Some));
    assert!(
        changed[1]
            .to_string()
            .contains("after asking once for each server")
    );
    assert!(
        changed
            .iter()
            .all(|problem| problem.severity() == Severity::Warning)
    );
}

/// What the agent `gateway` may do by default in a host with that file, in words.
fn by_default(text: &str) -> String {
    let builder = Host::builder().environment(&Environment::default());
    let builder = builder.default_agent("gateway", AgentPolicy::everything(Level::Yolo));
    let host = builder.config(&read(text)).build().unwrap();
    decided(&host.policy(), "gateway", "echo")
}

#[test]
fn an_agent_by_default_may_use_what_no_section_speaks_of() {
    let others = r#"{"agents": {"planner": {"level": "yolo", "grants": []}}}"#;
    for text in ["{}", r#"{"mcpServers": {}}"#, others] {
        assert_eq!(by_default(text), "allow: grant mcp:*:*", "{text}");
    }
}

#[test]
fn a_section_for_an_agent_replaces_what_it_may_do_by_default() {
    for (section, decision) in [
        (
            r#"{"gateway": {"level": "yolo", "grants": ["mcp:demo:e*"]}}"#,
            "allow: grant mcp:demo:e*",
        ),
        (
            r#"{"gateway": {"level": "yolo", "grants": []}}"#,
            "deny: no grant",
        ),
        (r#"{"gateway": {"level": "trusted"}}"#, "ask: level trusted"),
        (
            r#"{"gateway": {"level": "sandboxed"}}"#,
            "deny: level sandboxed",
        ),
        (
            r#"{"gateway": {"level": "yolo", "grnts": []}}"#,
            "deny: level sandboxed",
        ),
        (r#"{"*": {"level": "sandboxed"}}"#, "deny: level sandboxed"),
        ("7", "deny: no policy for this agent"),
    ] {
        let text = format!(r#"{{"agents": {section}}}"#);
        assert_eq!(by_default(&text), decision, "{text}");
    }
}

#[test]
fn a_default_agent_has_no_access_beside_a_file_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp.json");
    std::fs::write(&file, r#"{"agents": {"gateway": {"level": "sandboxed"}"#).unwrap();
    let config = Config::load(&Places::only(&file));
    assert!(!config.file_errors().is_empty());
    let builder = Host::builder().environment(&Environment::default());
    let builder = builder.default_agent("gateway", AgentPolicy::everything(Level::Yolo));
    let host = builder.config(&config).build().unwrap();
    assert_eq!(
        decided(&host.policy(), "gateway", "echo"),
        "deny: no policy for this agent"
    );
}

#[test]
fn an_agent_by_default_is_beside_those_that_the_program_sets() {
    let all = || AgentPolicy::everything(Level::Yolo);
    let builder = Host::builder()
        .environment(&Environment::default())
        .default_agent("gateway", all())
        .default_agent("planner", all())
        .agent("planner", AgentPolicy::new(Level::Sandboxed));
    let policy = builder.build().unwrap().policy();
    let echo = |agent| decided(&policy, agent, "echo");
    assert_eq!(echo("gateway"), "allow: grant mcp:*:*");
    assert_eq!(echo("planner"), "deny: level sandboxed");
    assert_eq!(echo("guest"), "deny: no policy for this agent");
    Host::builder()
        .default_agent("owner", all())
        .build()
        .unwrap_err();
}
