//! `add`, `remove`, `enable` and `disable`.

use serde_json::Value;

use crate::home::Home;
use crate::run::said;

const MINE: &str = "config/switchboard/mcp.json";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_server_is_added_to_the_persons_own_file() {
    let home = Home::new();
    assert_eq!(
        home.run(&[
            "add",
            "x",
            "-e",
            "LANG=C",
            "-e",
            "TOKEN=${TOKEN}",
            "--env-passthrough",
            "TZ",
            "--cwd",
            "sub",
            "--",
            "./run",
            "-v",
            "--json",
        ]),
        said(0, "added x to ~/config/switchboard/mcp.json\n", "")
    );
    let text = home
        .read(MINE)
        .replace(&home.path("p").display().to_string(), "~/p");
    assert_eq!(
        text,
        r#"{
  "mcpServers": {
    "x": {
      "type": "stdio",
      "command": "~/p/run",
      "args": ["-v", "--json"],
      "env": {
        "LANG": "C",
        "TOKEN": "${TOKEN}"
      },
      "env_passthrough": ["TZ"],
      "cwd": "~/p/sub"
    }
  }
}
"#
    );
    assert_eq!(
        home.run(&["add", "x", "--", "other"]),
        said(
            6,
            "",
            "error: there is a server \"x\" in this file already\n  server: x\n  \
             file: ~/config/switchboard/mcp.json (user)\n  what to do:\n    \
             - use another name, or --replace to replace it\n"
        )
    );
    assert_eq!(
        home.run(&[
            "add",
            "x",
            "--replace",
            "--disabled",
            "-t",
            "sse",
            "--url",
            "${BASE}/sse"
        ]),
        said(0, "replaced x in ~/config/switchboard/mcp.json\n", "")
    );
    let entry = json(&home.read(MINE))["mcpServers"]["x"].clone();
    assert_eq!(
        entry,
        json(r#"{"type": "sse", "url": "${BASE}/sse", "disabled": true}"#)
    );
}

#[test]
fn a_secret_in_clear_is_pointed_out_and_not_shown() {
    let home = Home::new();
    let add = [
        "add",
        "x",
        "-e",
        "API_KEY=hunter2",
        "--",
        "run",
        "--token",
        "hunter2",
    ];
    let run = home.run(&add);
    assert_eq!(
        run,
        said(
            0,
            "added x to ~/config/switchboard/mcp.json\n",
            "warning: the variable API_KEY looks like a secret and is in \
             ~/config/switchboard/mcp.json in clear text: write '${API_KEY}' instead, and set the \
             variable where switchboard runs\n\
             warning: argument 2 looks like a secret and is in \
             ~/config/switchboard/mcp.json in clear text: write '${NAME}' instead, and set the \
             variable where switchboard runs\n"
        )
    );
    let url = "https://example.com/?token=hunter2";
    let header = "Authorization: Bearer hunter2";
    for args in [
        &["add", "y", "--url", url, "-H", header, "--json"][..],
        &["add", "y", "--url", url, "-H", header],
        &["add", "z", "--url", url, "-H", "hunter2"],
        &["add", "z", "--url", "hunter2"],
        &["add", "-H", "Authorization:", "hunter2", "--url", url],
        &[
            "add",
            "-H",
            "Authorization:",
            "Bearer",
            "hunter2",
            "--url",
            url,
        ],
        &["add", "z", "-e", "hunter2", "--", "run"],
        &[
            "add",
            "z",
            "--url",
            url,
            "-H",
            "X: hunter2",
            "-H",
            "x: hunter2",
        ],
        &["add", "z", "--", "run", "--token=${hunter2"],
    ] {
        let run = home.run(args);
        assert_ne!(run.stdout.len() + run.stderr.len(), 0);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(!said.contains("hunter2"), "{args:?}: {said}");
    }
}

#[test]
fn what_cannot_be_a_server_is_not_written() {
    let home = Home::new();
    for args in [
        &["add", "x"][..],
        &["add", "a b", "--", "run"],
        &["add", "x", "--url", "example.com"],
        &["add", "x", "-t", "http", "--", "run"],
        &["add", "x", "-t", "pigeon", "--", "run"],
        &["add", "x", "-e", "A=1", "-e", "A=2", "--", "run"],
        &["add", "x", "-e", "A=${", "--", "run"],
        &["add", "x", "--url", "https://example.com", "--", "run"],
        &["add", "x", "-s", "user", "--config", "f.json", "--", "run"],
    ] {
        let run = home.run(args);
        assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(
            run.stderr.starts_with("error: "),
            "{args:?}: {}",
            run.stderr
        );
    }
    assert!(!home.path("config").exists());
}

#[test]
fn what_a_person_adds_to_a_project_is_approved_as_it_was_typed() {
    let home = Home::new();
    let add = ["add", "x", "-s", "project", "--", "sh", "-c", "x"];
    let line = "added x to ~/p/.mcp.json and approved it as it was typed\n";
    assert_eq!(home.run(&add), said(0, line, ""));
    let run = home.run(&["trust", "list"]);
    assert_eq!(run, said(0, "..  ..  x  ~/p/.mcp.json\n", ""));

    home.write("p/.switchboard/mcp.json", "// ours\n{\"servers\": []}\n");
    let run = home.run(&["add", "y", "-s", "project", "--json", "--", "sh"]);
    assert_eq!(
        json(&run.stdout),
        json(
            r#"{"server": "y", "change": "added", "approval": "approved", "fingerprint": "..",
                "source": {"file": "~/p/.switchboard/mcp.json", "layer": "project", "line": 4,
                           "column": 13},
                "notes": [], "warnings": []}"#
        )
    );
    assert!(
        home.read("p/.switchboard/mcp.json")
            .starts_with("// ours\n")
    );
    assert!(!home.has_canary());
}

#[test]
fn what_a_project_adds_to_it_by_itself_is_not_approved() {
    let home = Home::new();
    let text = r#"{"defaults": {"env": {"LD_PRELOAD": "./evil.so"}}, "mcpServers": {}}"#;
    home.write("p/.mcp.json", text);
    assert_eq!(
        home.run(&["add", "x", "-s", "project", "--", "sh"]),
        said(
            0,
            "added x to ~/p/.mcp.json\n",
            "warning: it is not approved, because `defaults` of the file add to it: \
             see `switchboard trust show x`\n"
        )
    );
    assert_eq!(
        home.run(&["trust", "list"]),
        said(0, "", "note: x of ~/p/.mcp.json is not approved\n")
    );
}

#[test]
fn which_of_two_servers_of_a_name_is_used_is_said() {
    let home = Home::new();
    home.run(&["add", "x", "--", "mine"]);
    let run = home.run(&["add", "x", "-s", "project", "--", "theirs"]);
    assert_eq!(
        run.stderr,
        "note: here it replaces the server of the same name in \
         ~/config/switchboard/mcp.json:3 (user)\n"
    );
    let run = home.run(&["add", "x", "--replace", "--", "mine"]);
    assert_eq!(
        run.stderr,
        "warning: it is not used here: ~/p/.mcp.json:3 (project) defines a server of \
         the same name\n"
    );
    let run = home.run(&["disable", "x", "-s", "user"]);
    assert_eq!(
        run,
        said(
            0,
            "disabled x in ~/config/switchboard/mcp.json\n",
            "warning: no effect here: the server of the same name in \
             ~/p/.mcp.json:3 (project) is used\n"
        )
    );
    assert_eq!(
        home.run(&["remove", "x"]),
        said(
            0,
            "removed x from ~/p/.mcp.json, and its approval\n",
            "note: the server of the same name in ~/config/switchboard/mcp.json:3 (user) is used now\n"
        )
    );
    assert_eq!(home.run(&["trust", "list"]), said(0, "", ""));
}

#[test]
fn a_switch_keeps_an_approval_and_gives_none() {
    let home = Home::new();
    home.write("p/.mcp.json", r#"{"mcpServers": {"x": {"command": "sh"}}}"#);
    assert_eq!(
        home.run(&["disable", "x"]),
        said(0, "disabled x in ~/p/.mcp.json\n", "")
    );
    assert_eq!(
        home.run(&["enable", "x"]),
        said(
            0,
            "enabled x in ~/p/.mcp.json\n",
            "note: it is not approved: `switchboard trust approve x` shows it and asks\n"
        )
    );
    assert_eq!(home.run(&["trust", "approve", "x", "--yes"]).code, Some(0));
    for (verb, line) in [
        ("disable", "disabled x in ~/p/.mcp.json\n"),
        ("disable", "x is already disabled in ~/p/.mcp.json\n"),
        ("enable", "enabled x in ~/p/.mcp.json\n"),
        ("enable", "x is already enabled in ~/p/.mcp.json\n"),
    ] {
        assert_eq!(home.run(&[verb, "x"]), said(0, line, ""));
        let run = home.run(&["trust", "show", "x"]);
        assert!(run.stdout.ends_with("approval: given\n"), "{}", run.stdout);
    }
    assert!(!home.has_canary());
}

#[test]
fn a_name_that_nobody_has_is_not_guessed() {
    let home = Home::new();
    home.run(&["add", "time", "--", "run"]);
    let stderr = "error: there is no server named \"tiem\"\n  what to do:\n    \
                  - did you mean \"time\"?\n    \
                  - `switchboard config show` lists all servers\n";
    for verb in ["remove", "enable", "disable"] {
        assert_eq!(home.run(&[verb, "tiem"]), said(6, "", stderr));
        let run = home.run(&[verb, "tiem", "--json"]);
        assert_eq!((run.code, run.error()["exit"].as_i64()), (Some(6), Some(6)));
    }
    let run = home.run(&["remove", "time", "-s", "project"]);
    assert_eq!(
        run,
        said(
            6,
            "",
            "error: there is no server named \"time\" in a file of this folder\n  what to do:\n    \
             - there is one in ~/config/switchboard/mcp.json:3 (user)\n    \
             - `switchboard config show` lists all servers\n"
        )
    );
}

#[test]
fn what_is_wrong_elsewhere_does_not_stand_in_the_way() {
    let home = Home::new();
    home.write(
        "p/.mcp.json",
        r#"{"mcpServers": {"bad": {"url": 7}, "good": {"command": "a"}}}"#,
    );
    home.write("p/.switchboard/mcp.json", "{");
    let run = home.run(&["disable", "good"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), "disabled good in ~/p/.mcp.json\n")
    );
    assert!(
        run.stderr
            .contains("warning: ~/p/.mcp.json:1:32: server \"bad\""),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("warning: ~/p/.switchboard/mcp.json:1:"),
        "{}",
        run.stderr
    );
    let run = home.run(&["remove", "bad"]);
    assert_eq!(
        (run.code, run.stdout.as_str()),
        (Some(0), "removed bad from ~/p/.mcp.json\n")
    );
    let run = home.run(&["add", "x", "-s", "project", "--", "a"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(6), ""));
    assert_eq!(home.read("p/.switchboard/mcp.json"), "{");
}

#[test]
fn a_file_that_is_named_is_the_only_one() {
    let home = Home::new();
    home.run(&["add", "x", "--", "mine"]);
    let run = home.run(&["add", "x", "--config", "own.json", "--", "a"]);
    assert_eq!(run, said(0, "added x to own.json\n", ""));
    let run = home.run(&["disable", "x", "--config", "own.json"]);
    assert_eq!(run, said(0, "disabled x in own.json\n", ""));
    let run = home.run(&["remove", "x", "--config", "own.json"]);
    assert_eq!(run, said(0, "removed x from own.json\n", ""));
    assert_eq!(home.read("p/own.json"), "{\n  \"mcpServers\": {}\n}\n");
    assert!(home.read(MINE).contains("mine"));
}

#[test]
fn a_link_in_a_project_leads_nowhere() {
    let home = Home::new();
    home.run(&["add", "x", "--", "mine"]);
    let before = home.read(MINE);
    std::os::unix::fs::symlink(home.path(MINE), home.path("p/.mcp.json")).unwrap();
    let run = home.run(&["add", "y", "-s", "project", "--", "a"]);
    assert_eq!(
        run,
        said(
            6,
            "",
            "error: the file is a link\n  file: ~/p/.mcp.json (project)\n  what to do:\n    \
             - replace the link with the file\n"
        )
    );
    assert_eq!(home.read(MINE), before);
}
