//! What agents see and use, and why.

use serde_json::Value;

use crate::home::Home;
use crate::run::{Run, said};
use crate::trust_verbs::at_a_terminal;

const OWN: &str = "config/switchboard/mcp.json";

/// A home whose own file says this about agents. `demo` and `secret` are the bundled server.
fn with_agents(agents: &str) -> Home {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_switchboard");
    home.write(
        OWN,
        &format!(
            r#"{{
  "mcpServers": {{
    "demo": {{"command": "{own}", "args": ["test-server"]}},
    "secret": {{"command": "{own}", "args": ["test-server", "--instance", "x"]}}
  }},
  "agents": {agents}
}}"#
        ),
    );
    home
}

fn usual() -> Home {
    with_agents(
        r#"{
    "one": {"level": "yolo", "grants": ["mcp:demo:echo"]},
    "asks": {"level": "trusted", "grants": ["mcp:demo:*", "mcp:demo:resource/*", "mcp:demo:prompt/*"]},
    "caged": {"level": "sandboxed", "grants": ["mcp:*:*"]}
  }"#,
    )
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"))
}

#[test]
fn an_agent_sees_and_calls_what_it_was_granted_and_nothing_else() {
    let home = usual();
    let tools = json(&home.run(&["tools", "demo", "--as", "one", "--json"]));
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["echo"]);
    assert_eq!(tools["exposed"].as_object().unwrap().len(), 1);
    let called = home.run(&["call", "demo/echo", "message=hi", "--as", "one"]);
    assert_eq!(called.code, Some(0), "{called:?}");
    let servers = json(&home.run(&["servers", "--as", "one", "--json"]));
    let servers = servers["servers"].as_array().unwrap();
    assert_eq!((servers.len(), &servers[0]["tools"]), (1, &Value::from(1)));
    let resources = home.run(&["resources", "demo", "--as", "one"]);
    assert_eq!((resources.code, resources.stdout.as_str()), (Some(0), ""));
}

#[test]
fn a_denied_use_is_7_and_names_the_rule() {
    let home = usual();
    for (args, rule) in [
        (&["call", "demo/add", "--as", "one"][..], "no grant"),
        (&["call", "demo/nil", "--as", "one"], "no grant"),
        (&["call", "secret/echo", "--as", "one"], "no grant"),
        (&["tool", "demo/add", "--as", "one"], "no grant"),
        (&["prompt", "demo/greeting", "--as", "one"], "no grant"),
        (&["read", "demo", "file:///x", "--as", "one"], "no grant"),
        (&["call", "demo/echo", "--as", "caged"], "level SANDBOXED"),
        (
            &["call", "demo/echo", "--as", "stranger"],
            "no policy for this agent",
        ),
    ] {
        let run = home.run(args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(7), ""), "{run:?}");
        assert!(run.stderr.contains(&format!(": {rule}")), "{run:?}");
        let run = home.run(&[args, &["--json"]].concat());
        assert_eq!(run.error()["kind"], "denied", "{run:?}");
    }
    // A server that is not for the agent is not there for it.
    let text = home.read(OWN).replacen(
        "\"agents\"",
        "\"audience\": {\"secret\": [\"asks\"]}, \"agents\"",
        1,
    );
    home.write(OWN, &text);
    let call = |name: &str| {
        let run = home.run(&["call", name, "--as", "one"]);
        (run.code, run.stderr.replace(name, "NAME"))
    };
    assert_eq!(call("secret/echoes"), call("zzzzzz/echoes"));
    assert_eq!(call("secret/echoes").0, Some(5));
}

#[test]
fn a_level_without_grants_gives_access_and_is_told_once() {
    let home = with_agents(
        r#"{
    "free": {"level": "yolo"},
    "asks": {"level": "trusted"},
    "caged": {"level": "sandboxed"},
    "none": {}
  }"#,
    );
    let call = |agent: &str, more: &[&str]| {
        let args = ["call", "demo/echo", "message=hi", "--as", agent];
        home.run(&[&args, more].concat()).code
    };
    assert_eq!(call("free", &[]), Some(0));
    assert_eq!(call("asks", &[]), Some(7));
    assert_eq!(call("asks", &["--level", "yolo"]), Some(0));
    for agent in ["caged", "none", "stranger"] {
        assert_eq!(call(agent, &[]), Some(7), "{agent}");
        assert_eq!(call(agent, &["--level", "yolo"]), Some(7), "{agent}");
    }
    let is_told = |run: &Run| {
        [
            "\"free\" has the level YOLO",
            "\"asks\" has the level TRUSTED",
        ]
        .map(|line| run.stderr.matches(line).count() + run.stdout.matches(line).count())
    };
    // The first run of the person lists them, and the next does not.
    let first = home.run(&["tools", "demo"]);
    assert_eq!(
        (first.code, is_told(&first)),
        (Some(0), [1, 1]),
        "{first:?}"
    );
    let second = home.run(&["tools", "demo"]);
    assert_eq!(is_told(&second), [0, 0], "{second:?}");
    for _ in 0..2 {
        let check = home.run(&["config", "check"]);
        assert_eq!(
            (check.code, is_told(&check)),
            (Some(0), [1, 1]),
            "{check:?}"
        );
        assert!(check.stdout.contains("`\"grants\": []`"), "{check:?}");
    }
}

#[test]
fn an_agent_cannot_tell_what_is_concealed_from_what_is_not_there() {
    let home = with_agents(
        r#"{"one": {"level": "yolo", "grants": ["mcp:demo:echo"], "conceal_denials": true}}"#,
    );
    let stderr = |what: &[&str], name: &str| {
        let run = home.run(what);
        assert_ne!(run.code, Some(0), "{run:?}");
        (run.code, run.stderr.replace(name, "NAME"), run.stdout)
    };
    let call = |name: &str| stderr(&["call", name, "--as", "one"], name);
    assert_eq!(call("demo/add"), call("demo/nil"));
    assert_eq!(call("secret/echoes"), call("zzzzzz/echoes"));
    assert_eq!(call("demo/add").0, Some(5));
    let list = |name: &str| stderr(&["tools", name, "--as", "one"], name);
    assert_eq!(list("secret"), list("zzzzzz"));
    let read = |name: &str| stderr(&["read", name, "file:///x", "--as", "one"], name);
    assert_eq!(read("secret"), read("zzzzzz"));
    let prompt = |name: &str| stderr(&["prompt", name, "--as", "one"], name);
    assert_eq!(prompt("demo/greeting"), prompt("demo/nonesuch"));
}

#[test]
fn a_sandboxed_agent_and_one_that_nobody_knows_see_nothing() {
    let home = usual();
    for (agent, more) in [
        ("caged", &[][..]),
        ("stranger", &[]),
        ("stranger", &["--level", "yolo"]),
        ("one", &["--level", "sandboxed"]),
    ] {
        for verb in ["tools", "resources", "prompts", "servers"] {
            let mut args = vec![verb, "--as", agent];
            args.extend(more);
            let run = home.run(&args);
            assert_eq!(run, said(0, "", ""), "{args:?}");
            args.insert(1, "demo");
            let run = home.run(&args);
            assert_eq!(run.code, Some(6), "{args:?}: {run:?}");
        }
        let mut args = vec!["call", "demo/echo", "message=hi", "--as", agent];
        args.extend(more);
        let run = home.run(&args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(7), ""), "{args:?}");
    }
}

#[test]
fn where_nobody_can_be_asked_the_answer_is_no_and_a_level_can_say_otherwise() {
    let home = usual();
    for args in [
        &["call", "demo/echo", "message=hi", "--as", "asks"][..],
        &["prompt", "demo/greeting", "name=you", "--as", "asks"],
    ] {
        let run = home.run(args);
        assert_eq!(run.code, Some(7), "{run:?}");
        assert!(run.stderr.contains("only after asking"), "{run:?}");
        assert!(run.stderr.contains("level TRUSTED"), "{run:?}");
    }
    let run = home.run(&[
        "call",
        "demo/echo",
        "message=hi",
        "--as",
        "asks",
        "--level",
        "yolo",
    ]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let run = home.run(&["call", "demo/echo", "--as", "asks", "message=hi", "--json"]);
    assert_eq!(
        (&run.error()["exit"], &run.error()["kind"]),
        (&Value::from(7), &Value::from("denied"))
    );
    // The person may do what they like.
    let run = home.run(&["call", "demo/add", "a=1", "b=2"]);
    assert_eq!(run.code, Some(0), "{run:?}");
}

#[test]
fn why_names_the_rule_and_starts_nothing() {
    let home = usual();
    home.write(
        OWN,
        &home
            .read(OWN)
            .replace(env!("CARGO_BIN_EXE_switchboard"), "sh"),
    );
    for (agent, target, wanted) in [
        ("one", "demo/echo", "allow: grant mcp:demo:echo\n"),
        ("one", "demo/add", "deny: no grant\n"),
        ("one", "demo/resource/file:///x", "deny: no grant\n"),
        (
            "asks",
            "demo/prompt/greeting",
            "ask: level TRUSTED; not approved yet\n",
        ),
        ("caged", "demo/echo", "deny: level SANDBOXED\n"),
        ("stranger", "demo/echo", "deny: no policy for this agent\n"),
    ] {
        assert_eq!(
            home.run(&["policy", "why", agent, target]),
            said(0, wanted, "")
        );
    }
    let told = json(&home.run(&[
        "policy",
        "why",
        "asks",
        "demo/echo",
        "--level",
        "yolo",
        "--json",
    ]));
    let wanted = serde_json::json!({
        "agent": "asks", "server": "demo", "kind": "tool", "name": "echo", "verb": "call",
        "decision": "allow", "rule": "grant", "reason": "grant mcp:demo:*", "level": "YOLO",
        "approved": null
    });
    assert_eq!(told, wanted);
    assert!(!home.has_canary());
    for bad in ["echo", "demo/", "/echo"] {
        assert_eq!(
            home.run(&["policy", "why", "one", bad]).code,
            Some(2),
            "{bad}"
        );
    }
    assert_eq!(
        home.run(&["policy", "why", "owner", "demo/echo"]).code,
        Some(2)
    );
}

#[test]
fn approvals_are_listed_and_revoked() {
    let home = usual();
    assert_eq!(home.run(&["policy", "list"]), said(0, "", ""));
    assert_eq!(
        home.run(&["policy", "list", "--json"]),
        said(0, "{\"approvals\":[]}\n", "")
    );
    assert_eq!(home.run(&["policy", "revoke"]).code, Some(2));
    let run = home.run(&["policy", "revoke", "--agent", "asks", "--server", "demo"]);
    assert_eq!(run, said(0, "", "note: no matching approvals\n"));
}

#[test]
fn a_person_at_a_terminal_is_asked_and_what_they_say_for_good_is_remembered() {
    let home = usual();
    let call = &["call", "demo/echo", "message=hi", "--as", "asks"];
    for (answer, code) in [
        ("n\n", 7),
        ("y\n", 7),
        ("o\n", 0),
        ("server\n", 0),
        ("s\n", 0),
        ("t\n", 0),
        ("\n", 7),
    ] {
        assert_eq!(
            at_a_terminal(&home, answer, call).0,
            Some(code),
            "{answer:?}"
        );
    }
    assert_eq!(home.run(&["policy", "list"]).stdout, "");
    assert_eq!(at_a_terminal(&home, "always\n", call).0, Some(0));
    assert_eq!(home.run(call).code, Some(0));
    let listed = json(&home.run(&["policy", "list", "--json"]));
    let given = &listed["approvals"][0];
    assert_eq!(
        (&given["agent"], &given["server"], &given["covers"]),
        (&"asks".into(), &"demo".into(), &"server".into())
    );
    let why = home.run(&["policy", "why", "asks", "demo/add"]);
    assert_eq!(why.stdout, "ask: level TRUSTED; approved permanently\n");
    // What was approved is the server as it was described.
    let file = home.read(OWN);
    let other = file.replacen("[\"test-server\"]", "[\"test-server\", \"--growing\"]", 1);
    home.write(OWN, &other);
    assert_eq!(home.run(call).code, Some(7));
    home.write(OWN, &file);
    assert_eq!(home.run(call).code, Some(0));
    let run = home.run(&["policy", "revoke", "--agent", "asks"]);
    assert!(run.stdout.starts_with("revoked "), "{run:?}");
    assert_eq!(home.run(call).code, Some(7));
}

#[test]
fn a_bad_section_is_told_with_its_place_and_costs_only_itself() {
    let home =
        with_agents(r#"{"one": {"level": "yolo", "grants": ["mcp:demo:echo", "mcp:demo"]}}"#);
    let check = home.run(&["config", "check"]);
    assert_eq!(check.code, Some(6), "{check:?}");
    let place = format!("error: ~/{OWN}:6:76: this is no grant: the tool is missing");
    assert!(check.stdout.starts_with(&place), "{check:?}");
    let run = home.run(&["call", "demo/echo", "message=hi", "--as", "one"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("the config file has errors"), "{run:?}");
    assert!(!run.stderr.contains("mcp:"), "{run:?}");
    let run = home.run(&["call", "demo/echo", "message=hi"]);
    assert!(run.stderr.contains(":6:76: this is no grant"), "{run:?}");
}

#[test]
fn a_project_cannot_say_what_agents_may_do() {
    let home = Home::new();
    home.write(
        "p/.mcp.json",
        r#"{"agents": {"one": {"level": "yolo", "grants": ["mcp:demo:*"]}}}"#,
    );
    let run = home.run(&["call", "demo/echo", "message=hi", "--as", "one"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(7), ""), "{run:?}");
    assert!(run.stderr.contains("the config file has errors"), "{run:?}");
    let run = home.run(&["call", "demo/echo", "message=hi"]);
    assert!(
        run.stderr.contains("is not read from a project's file"),
        "{run:?}"
    );
}

#[test]
fn packages_without_a_version_are_pointed_out() {
    let home = Home::new();
    home.write(
        OWN,
        r#"{"mcpServers": {"a": {"command": "npx", "args": ["-y", "pkg"]},
        "b": {"command": "uvx", "args": ["pkg@1.2.3"]}}}"#,
    );
    let check = home.run(&["config", "check"]);
    assert_eq!(check.code, Some(0), "{check:?}");
    assert_eq!(
        check.stdout.matches("runs the latest version").count(),
        1,
        "{check:?}"
    );
}
