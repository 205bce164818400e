//! `config show`, `config check` and `config path`.

use serde_json::Value;

use crate::home::Home;
use crate::run::said;

/// A home with a file of the person's, one of a folder above, and two of the project.
fn layered() -> Home {
    let home = Home::new();
    home.write(
        "config/switchboard/mcp.json",
        r#"{
  // mine
  "mcpServers": {
    "both": { "command": "mine" },
    "wiki": {
      "url": "https://me:pw@example.com/mcp?key=hunter2",
      "headers": { "Authorization": "Bearer hunter2", "X-Other": "${X}" },
      "timeout": 5
    }
  }
}"#,
    );
    home.write(
        ".mcp.json",
        r#"{"mcpServers": {"above": {"command": "a", "disabled": true}}}"#,
    );
    home.write(
        "p/.mcp.json",
        r#"{"mcpServers": {
  "both": {"command": "sh", "args": ["-c", "x y", "--token", "hunter2"],
           "env": {"API_KEY": "hunter2", "T": "${T:-hunter2}"}},
  "bad": {"comand": "npx"}
}}"#,
    );
    home
}

#[test]
fn every_server_is_shown_with_where_it_is_from() {
    assert_eq!(
        layered().run(&["config", "show"]),
        said(
            0,
            "\
both
  from: ~/p/.mcp.json:2 (project)
  type: stdio
  command: sh -c \"x y\" --token ***
  env: API_KEY=***
  env: T=${T:-***}
  approval: needed; `switchboard trust approve` asks
  hides: ~/config/switchboard/mcp.json:4 (user)

wiki
  from: ~/config/switchboard/mcp.json:5 (user)
  type: http
  url: https://***@example.com/mcp?key=***
  header: Authorization: Bearer ***
  header: X-Other: ${X}
  timeout: 5
  approval: not needed

above
  from: ~/.mcp.json:1 (ancestor:~)
  type: stdio
  command: a
  disabled: `switchboard enable` enables it
  approval: needed; `switchboard trust approve` asks
",
            "warning: ~/p/.mcp.json:4:3: server \"bad\": neither `command` nor `url` is there\n"
        )
    );
}

#[test]
fn one_server_is_shown_to_a_program() {
    let home = layered();
    let run = home.run(&["config", "show", "both", "--json"]);
    let expected = r#"{
        "servers": [{
            "server": "both", "transport": "stdio", "enabled": true,
            "approval": "new", "fingerprint": "..",
            "source": {"file": "~/p/.mcp.json", "layer": "project", "line": 2, "column": 3},
            "hides": [{"file": "~/config/switchboard/mcp.json", "layer": "user", "line": 4,
                       "column": 5}],
            "entry": {"type": "stdio", "command": "sh", "args": ["-c", "x y", "--token", "***"],
                      "env": {"API_KEY": "***", "T": "${T:-***}"}}
        }],
        "problems": []
    }"#;
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document, serde_json::from_str::<Value>(expected).unwrap());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_server_that_is_described_wrongly_says_where() {
    let home = layered();
    assert_eq!(
        home.run(&["config", "show", "bad"]),
        said(
            6,
            "",
            "error: server \"bad\": neither `command` nor `url` is there\n  server: bad\n  \
             file: ~/p/.mcp.json:4:3 (project)\n  \
             expected: `command` for a program that is started, or `url` for a server that runs\n  \
             the file says:\n    \
             | 3 |            \"env\": {\"API_KEY\": \"***\", \"T\": \"***\"}},\n    \
             | 4 |   \"bad\": {\"comand\": \"npx\"}\n    |   |   ^^^^^\n    | 5 | }}\n  \
             one that is started looks like this:\n    \
             | \"bad\": { \"command\": \"npx\", \"args\": [\"-y\", \"PACKAGE\"] }\n  \
             one that runs elsewhere looks like this:\n    \
             | \"bad\": { \"url\": \"https://HOST/mcp\" }\n  what to do:\n    \
             - write `command` for \"comand\"\n    \
             - fix ~/p/.mcp.json:4, then run `switchboard config check ~/p/.mcp.json`\n"
        )
    );
    let error = home.run(&["config", "show", "bad", "--json"]).error();
    assert_eq!(
        (
            &error["exit"],
            &error["source"]["line"],
            &error["source"]["column"]
        ),
        (&6.into(), &4.into(), &3.into())
    );
    let run = home.run(&["config", "show", "wikki"]);
    assert_eq!(run.code, Some(6));
    assert!(
        run.stderr.contains("did you mean \"wiki\"?"),
        "{}",
        run.stderr
    );
}

#[test]
fn all_problems_are_shown_with_their_places() {
    let home = layered();
    assert_eq!(
        home.run(&["config", "check"]),
        said(
            6,
            "\
warning: ~/p/.mcp.json:4:11: server \"bad\": unknown key \"comand\"
    3 |            \"env\": {\"API_KEY\": \"***\", \"T\": \"***\"}},
    4 |   \"bad\": {\"comand\": \"npx\"}
      |           ^^^^^^^^
    5 | }}
  what to do: did you mean `command`?
error: ~/p/.mcp.json:4:3: server \"bad\": neither `command` nor `url` is there
    3 |            \"env\": {\"API_KEY\": \"***\", \"T\": \"***\"}},
    4 |   \"bad\": {\"comand\": \"npx\"}
      |   ^^^^^
    5 | }}
  expected: `command` for a program that is started, or `url` for a server that runs
  what to do: write `command` for \"comand\"
",
            "error: 4 servers in 3 files: 1 error, 1 warning\n"
        )
    );
    let run = home.run(&["config", "check", "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (run.code, &document["errors"], &document["warnings"]),
        (Some(6), &1.into(), &1.into())
    );
    assert_eq!(document["problems"][1]["kind"], "no-transport");
    assert_eq!(run.error()["exit"], 6);
    let run = home.run(&["config", "check", "../.mcp.json"]);
    assert_eq!(
        run,
        said(0, "", "1 server in 1 file: 0 errors, 0 warnings\n")
    );
    let run = home.run(&["config", "check", "nothing.json"]);
    assert_eq!(
        run,
        said(
            6,
            "error: nothing.json: there is no such file\n",
            "error: 0 servers in 1 file: 1 error, 0 warnings\n"
        )
    );
}

#[test]
fn a_projects_file_is_held_to_the_rules_of_one() {
    let home = Home::new();
    home.write("p/.mcp.json", r#"{"limits": {}, "mcpServers": {}}"#);
    home.write("p/other.json", r#"{"limits": {}, "mcpServers": {}}"#);
    assert_eq!(home.run(&["config", "check", ".mcp.json"]).code, Some(6));
    assert_eq!(home.run(&["config", "check", "other.json"]).code, Some(0));
}

#[test]
fn files_are_listed_the_strongest_last() {
    let home = layered();
    home.write("p/.switchboard/mcp.json", "[");
    assert_eq!(
        home.run(&["config", "path"]),
        said(
            0,
            "\
user      2 servers  ~/config/switchboard/mcp.json
ancestor  1 server   ~/.mcp.json
ancestor  not there  ~/.switchboard/mcp.json
project   1 server   ~/p/.mcp.json
project   refused    ~/p/.switchboard/mcp.json
",
            ""
        )
    );
    let run = home.run(&["config", "path", "--json"]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    let expected = r#"{"file": "~/.switchboard/mcp.json", "layer": "ancestor:~", "exists": false,
                       "servers": 0, "refused": false}"#;
    assert_eq!(
        document["files"][2],
        serde_json::from_str::<Value>(expected).unwrap()
    );
}

#[test]
fn what_a_terminal_would_obey_is_not_printed() {
    let home = Home::new();
    let text = "{\"mcpServers\": {\"a\u{202e}b\": {\"command\": \"\\u001b[31mx\", \"args\": [\"\\u0007\"]},\
                \"\\u001bbad\": {}}}";
    home.write("p/.mcp.json", text);
    for args in [
        &["config", "show"][..],
        &["config", "show", "--json"],
        &["config", "check"],
        &["config", "check", "--json"],
        &["trust", "list"],
        &["trust", "approve"],
        &["trust", "approve", "--json"],
        &["trust", "show", "a\u{202e}b"],
        &["import", ".mcp.json"],
        &["import", ".mcp.json", "--dry-run", "--json"],
        &["disable", "a\u{202e}b"],
    ] {
        let run = home.run(args);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert_ne!(said, "");
        assert!(
            !said.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{args:?}: {said:?}"
        );
    }
}

/// A server of each kind with secrets in every place that can have one; `next` makes them.
fn secretive(next: &mut dyn FnMut() -> String) -> String {
    let env: Vec<String> = (0..20)
        .map(|at| format!("\"API_KEY_{at}\": \"{}\"", next()))
        .collect();
    let headers: Vec<String> = (0..15)
        .map(|at| format!("\"X-Auth-Token-{at}\": \"Bearer {}\"", next()))
        .collect();
    let args: Vec<String> = (0..10)
        .map(|_| format!("\"--token\", \"{}\", \"--api-key={}\"", next(), next()))
        .collect();
    let (user, key, part) = (next(), next(), next());
    format!(
        r#""local": {{"command": "sh", "args": [{}], "env": {{{}, "TOKEN": "${{T:-{}}}"}}, "odd_secret": "{}"}},
           "remote": {{"url": "https://me:{user}@example.com/mcp?key={key}#{part}", "headers": {{{}}}}},
           "broken": {{"comand": "npx", "args": ["--token", "{}"], "env": ["{}"]}}"#,
        args.join(", "),
        env.join(", "),
        next(),
        next(),
        headers.join(", "),
        next(),
        next(),
    )
}

#[test]
fn no_verb_shows_a_secret() {
    let home = Home::new();
    let mut count = 0;
    let mut next = || {
        count += 1;
        format!("c4nary{count:04}")
    };
    for file in [
        "config/switchboard/mcp.json",
        "p/.mcp.json",
        "p/.cursor/mcp.json",
        ".cursor/mcp.json",
    ] {
        home.write(
            file,
            &format!("{{\"mcpServers\": {{{}}}}}", secretive(&mut next)),
        );
    }
    assert!(count >= 200, "{count}");
    for line in [
        "config show",
        "config show local",
        "config show remote",
        "config show broken",
        "config check",
        "config check .mcp.json .cursor/mcp.json",
        "config path",
        "trust list",
        "trust show local",
        "trust show remote",
        "trust approve",
        "trust approve local --yes",
        "disable local",
        "enable local",
        "enable broken",
        "import cursor",
        "import cursor --dry-run",
        "import cursor --config new.json --yes",
        "import .cursor/mcp.json broken",
        "remove local",
        "remove remote -s user",
        "trust revoke local",
    ] {
        for json in [None, Some("--json")] {
            let args: Vec<&str> = line.split(' ').chain(json).collect();
            let run = home.run(&args);
            let said = format!("{}{}", run.stdout, run.stderr);
            assert!(!said.contains("c4nary"), "{args:?}: {said}");
        }
    }
}

#[test]
fn with_strict_an_unknown_key_is_an_error() {
    let home = Home::new();
    home.write(
        "config/switchboard/mcp.json",
        r#"{"mcpServers": {"a": {"command": "true", "comand_line": "x"}}}"#,
    );
    let run = home.run(&["config", "check"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.starts_with("warning: "), "{run:?}");
    let run = home.run(&["config", "check", "--strict"]);
    assert_eq!(run.code, Some(6), "{run:?}");
    assert!(run.stdout.starts_with("error: "), "{run:?}");
    let run = home.run(&[
        "config",
        "check",
        "--strict",
        "../config/switchboard/mcp.json",
    ]);
    assert_eq!(run.code, Some(6), "{run:?}");
}

#[test]
fn a_server_shows_what_it_writes_to_stderr_while_it_runs() {
    let home = Home::new();
    let line = format!(
        "echo warming up >&2; exec {} test-server",
        env!("CARGO_BIN_EXE_switchboard")
    );
    let config =
        serde_json::json!({"mcpServers": {"a": {"command": "/bin/sh", "args": ["-c", line]}}});
    home.write("config/switchboard/mcp.json", &config.to_string());
    let run = home.run(&["servers", "a"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stdout.contains("last lines of stderr"), "{run:?}");
    assert!(run.stdout.contains("warming up"), "{run:?}");
}
