//! `import`.

use serde_json::Value;

use crate::home::Home;
use crate::run::said;

const MINE: &str = "config/switchboard/mcp.json";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn servers(home: &Home) -> Value {
    json(&home.read(MINE))["mcpServers"].clone()
}

#[test]
fn servers_of_another_client_are_copied_as_they_are_written() {
    let home = Home::new();
    home.write(
        ".codex/config.toml",
        r#"
[mcp_servers.docs]
command = "./docs"
args = ["${HOME}", "x"]
env = { KEY = "${KEY:-none}" }
startup_timeout_sec = 20
enabled_tools = ["read"]

[mcp_servers.api]
url = "https://example.com/mcp"
bearer_token_env_var = "API_TOKEN"
enabled = false
"#,
    );
    assert_eq!(
        home.run(&["import", "codex", "--dry-run"]),
        said(
            0,
            "would import docs from ~/.codex/config.toml:2 (user) to ~/config/switchboard/mcp.json\n\
             would import api from ~/.codex/config.toml:9 (user) to ~/config/switchboard/mcp.json\n",
            ""
        )
    );
    assert!(!home.path("config").exists());
    assert_eq!(
        home.run(&["import", "codex"]),
        said(
            0,
            "imported docs from ~/.codex/config.toml:2 (user) to ~/config/switchboard/mcp.json\n\
             imported api from ~/.codex/config.toml:9 (user) to ~/config/switchboard/mcp.json\n",
            ""
        )
    );
    let text = servers(&home).to_string();
    let text = text.replace(&home.path("docs").display().to_string(), "~/docs");
    assert_eq!(
        json(&text),
        json(
            r#"{"docs": {"type": "stdio", "command": "~/docs", "args": ["${HOME}", "x"],
                         "env": {"KEY": "${KEY:-none}"}, "connect_timeout": 20,
                         "allowed_tools": ["read"]},
                "api": {"type": "http", "url": "https://example.com/mcp",
                        "headers": {"Authorization": "Bearer ${API_TOKEN}"}, "enabled": false}}"#
        )
    );
    let note = |name| format!("note: {name} is left out: ~/{MINE} has a server of that name\n");
    let notes = [note("docs"), note("api")].concat();
    assert_eq!(home.run(&["import", "codex"]), said(0, "", &notes));
}

#[test]
fn what_another_client_never_asks_about_is_no_grant() {
    let home = Home::new();
    let text =
        r#"{"mcpServers": {"my server": {"command": "a", "alwaysAllow": ["read", "write"]}}}"#;
    home.write("cline_mcp_settings.json", text);
    let run = home.run(&["import", "../cline_mcp_settings.json", "--yes", "--json"]);
    let document = json(&run.stdout);
    assert_eq!(
        document["imported"],
        json(
            r#"[{"server": "my-server", "original_name": "my server", "transport": "stdio",
                "source": {"file": "~/cline_mcp_settings.json", "layer": "project", "line": 1,
                           "column": 17},
                "suggested_tools": ["read", "write"],
                "notes": ["\"my server\" is called my-server here",
                          "my-server: the other client never asks about read, write; nothing is granted by that here"]}]"#
        )
    );
    assert_eq!(
        servers(&home),
        json(r#"{"my-server": {"type": "stdio", "command": "a"}}"#)
    );
}

#[test]
fn a_project_does_not_talk_itself_into_the_persons_own_file() {
    let home = Home::new();
    let text = r#"{"mcpServers": {"evil": {"command": "sh", "args": ["-c", "touch canary"]}}}"#;
    home.write("p/.cursor/mcp.json", text);
    let shown = "  server: evil\n  file: ~/p/.cursor/mcp.json:1\n  \
                 written by: the project in the current folder\n  \
                 runs: sh -c \"touch canary\"\n  program: ~/bin/sh\n";
    let refusal = "error: what a project's file brings needs a yes before it is written to your own\n  \
                   what to do:\n    - look at each of them, then run it again with --yes\n";
    for source in ["cursor", ".cursor/mcp.json"] {
        let run = home.run(&["import", source]);
        assert_eq!(run, said(7, "", &format!("{shown}{refusal}")));
    }
    let error = home.run(&["import", "cursor", "--json"]).error();
    assert_eq!(
        error["evidence"][0]["lines"][3],
        "runs: sh -c \"touch canary\""
    );
    assert!(!home.path("config").exists());
    let line =
        "imported evil from ~/p/.cursor/mcp.json:1 (project) to ~/config/switchboard/mcp.json\n";
    assert_eq!(
        home.run(&["import", "cursor", "--yes"]),
        said(0, line, shown)
    );
    assert!(!home.has_canary());
}

#[test]
fn what_is_imported_into_a_project_waits_for_approval() {
    let home = Home::new();
    let text = r#"{"servers": {"x": {"command": "./run", "env": {"API_KEY": "hunter2", "B": "${input:b}"}}}}"#;
    home.write("p/.vscode/mcp.json", text);
    assert_eq!(
        home.run(&["import", "vscode", "-s", "project"]),
        said(
            0,
            "imported x from ~/p/.vscode/mcp.json:1 (project) to ~/p/.mcp.json\n",
            "warning: x: the variable API_KEY looks like a secret and is in ~/p/.mcp.json in \
             clear text: write '${API_KEY}' instead, and set the variable where switchboard runs\n\
             note: x asks for the input \"b\"\n\
             note: nothing of it is approved: `switchboard trust approve` asks\n"
        )
    );
    let file = json(&home.read("p/.mcp.json"));
    assert_eq!(file["mcpServers"]["x"]["command"], "./run");
    let run = home.run(&["trust", "list"]);
    assert_eq!(
        run,
        said(0, "", "note: x of ~/p/.mcp.json is not approved\n")
    );
}

#[test]
fn a_bad_entry_is_told_and_the_good_ones_are_imported() {
    let home = Home::new();
    home.write(
        ".cursor/mcp.json",
        "{\"mcpServers\": {\n  \"bad\": {\"url\": 7},\n  \"good\": {\"command\": \"a\"}\n}}",
    );
    let run = home.run(&["import", "cursor"]);
    let line = "imported good from ~/.cursor/mcp.json:3 (user) to ~/config/switchboard/mcp.json\n";
    assert_eq!((run.code, run.stdout.as_str()), (Some(0), line));
    assert!(
        run.stderr
            .starts_with("warning: ~/.cursor/mcp.json:2:18: server \"bad\""),
        "{}",
        run.stderr
    );
    let run = home.run(&["import", "cursor", "bad"]);
    assert_eq!(run.code, Some(6));
    assert!(
        run.stderr
            .contains("file: ~/.cursor/mcp.json:2:18 (user)\n"),
        "{}",
        run.stderr
    );
    let run = home.run(&["import", "cursor", "goood"]);
    assert_eq!(run.code, Some(6));
    assert!(
        run.stderr.contains("did you mean \"good\"?"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_file_is_read_in_the_form_that_is_said() {
    let home = Home::new();
    let text = r#"{"mcp": {"x": {"type": "local", "command": ["a", "b"], "environment": {"K": "{env:K}"}}}}"#;
    home.write("p/some.json", text);
    let run = home.run(&["import", "some.json", "--yes"]);
    assert_eq!(run.code, Some(0));
    assert!(
        run.stderr
            .ends_with("note: there are no servers in ~/p/some.json\n"),
        "{}",
        run.stderr
    );
    let run = home.run(&["import", "some.json", "--from", "opencode", "--yes"]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(
        servers(&home),
        json(
            r#"{"x": {"type": "stdio", "command": "a", "args": ["b"], "env": {"K": "${env:K}"}}}"#
        )
    );
}

#[test]
fn claude_codes_servers_of_other_folders_stay_there() {
    let home = Home::new();
    let here = home.path("p").display().to_string();
    let text = format!(
        r#"{{"mcpServers": {{"all": {{"command": "a"}}}}, "projects": {{
            "{here}": {{"mcpServers": {{"all": {{"command": "here"}}}}}},
            "/other": {{"mcpServers": {{"far": {{"command": "b"}}}}}}}}}}"#
    );
    home.write(".claude.json", &text);
    let run = home.run(&["import", "claude-code"]);
    assert_eq!(
        (run.code, run.stdout.lines().count()),
        (Some(0), 1),
        "{run:?}"
    );
    assert_eq!(
        run.stderr,
        "note: far is for /other and not imported here\n"
    );
    assert_eq!(servers(&home)["all"]["command"], "here");
}

#[test]
fn what_is_not_there_is_said() {
    let home = Home::new();
    let run = home.run(&["import", "zedd"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr.contains("did you mean \"zed\"?"),
        "{}",
        run.stderr
    );
    assert_eq!(
        home.run(&["import", "cursor"]),
        said(
            6,
            "",
            "error: there is no config file of cursor\n  looked for: ~/.cursor/mcp.json\n  \
             looked for: ~/p/.cursor/mcp.json\n"
        )
    );
    assert_eq!(home.run(&["import", "./no.json"]).code, Some(6));
}

#[test]
fn a_file_that_cannot_be_read_says_where() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{\"mcpServers\": {\n  hunter2\n}}");
    let run = home.run(&["import", "cursor"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(6), ""));
    assert!(
        run.stderr.contains("file: ~/.cursor/mcp.json:2:3 (user)\n"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
}

/// A home with files of four clients: one with a secret, one that is the project's.
fn many_clients() -> Home {
    let home = Home::new();
    home.write(
        "config/goose/config.yaml",
        "GOOSE_MODEL: x\nextensions:\n  developer:\n    type: builtin\n    enabled: true\n  \
         wiki:\n    type: stdio\n    cmd: uvx\n    args:\n      - wiki-server\n    \
         envs:\n      LEVEL: info\n    env_keys: [WIKI_TOKEN]\n    timeout: 300\n    enabled: true\n  \
         far:\n    type: streamable_http\n    uri: https://far.example/mcp\n",
    );
    home.write(
        ".mcporter/mcporter.json",
        r#"{"imports": ["cursor"], "mcpServers": {
            "linear": {"baseUrl": "https://linear.example/mcp", "headers": {"X": "$env:LINEAR"}}}}"#,
    );
    home.write(
        ".codex/config.toml",
        "[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"files\"]\n\
         [mcp_servers.files.tools.read]\napproval_mode = \"approve\"\n\
         [mcp_servers.files.tools.erase]\nenabled = false\n",
    );
    home.write(
        ".cursor/mcp.json",
        r#"{"mcpServers": {"gh": {"command": "npx", "args": ["gh"],
            "env": {"GITHUB_TOKEN": "ghp_abcdefghij0123456789abcdefghij012345"}}}}"#,
    );
    home.write(
        "p/.vscode/mcp.json",
        r#"{"servers": {"theirs": {"command": "sh"}}}"#,
    );
    home
}

#[test]
fn without_a_client_the_own_files_of_all_are_imported() {
    let home = many_clients();
    let run = home.run(&["import", "--dry-run"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    let names = |run: &crate::run::Run| -> Vec<String> {
        let lines = run.stdout.lines();
        let mut names: Vec<String> = lines
            .filter_map(|line| {
                line.split_whitespace()
                    .find(|word| !["would", "import", "imported"].contains(word))
            })
            .map(str::to_owned)
            .collect();
        names.sort();
        names
    };
    let all = ["far", "files", "gh", "linear", "wiki"];
    assert_eq!(names(&run), all, "{run:?}");
    for told in [
        "goose: 2 servers in ~/config/goose/config.yaml",
        "mcporter: 1 server in ~/.mcporter/mcporter.json",
        "it is built into Goose, and cannot be copied",
        "~/p/.vscode/mcp.json belongs to this project: `switchboard import vscode` reads it, and asks",
        "gh: the variable GITHUB_TOKEN is a secret, copied in clear; --secrets-as-vars avoids it",
    ] {
        assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("ghp_"), "{}", run.stderr);
    let run = home.run(&["import"]);
    assert_eq!(
        (run.code, names(&run)),
        (Some(0), all.map(str::to_owned).to_vec()),
        "{run:?}"
    );
    let written: Value = serde_json::from_str(&home.read("config/switchboard/mcp.json")).unwrap();
    let servers = &written["mcpServers"];
    assert_eq!(servers["wiki"]["command"], "uvx");
    assert_eq!(
        servers["wiki"]["env_passthrough"],
        serde_json::json!(["WIKI_TOKEN"])
    );
    assert_eq!(servers["far"]["url"], "https://far.example/mcp");
    assert_eq!(servers["linear"]["url"], "https://linear.example/mcp");
    assert_eq!(servers["linear"]["headers"]["X"], "${env:LINEAR}");
    assert_eq!(
        servers["files"]["blocked_tools"],
        serde_json::json!(["erase"])
    );
    assert!(servers.get("theirs").is_none() && !home.has_canary());
}

#[test]
fn secrets_are_imported_as_variables_on_request() {
    let home = many_clients();
    let run = home.run(&["import", "cursor", "--secrets-as-vars"]);
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(
        run.stderr
            .contains("gh: set GITHUB_TOKEN where switchboard runs"),
        "{run:?}"
    );
    let text = home.read("config/switchboard/mcp.json");
    assert!(
        text.contains("\"${GITHUB_TOKEN}\"") && !text.contains("ghp_"),
        "{text}"
    );
    // What is exported has no secrets either, unless they are asked for.
    let export = ["export", "--to", "vscode", "--config"];
    let file = home.path(".cursor/mcp.json").display().to_string();
    let run = home.run(&[&export[..], &[&file]].concat());
    assert!(run.stdout.contains("${env:GITHUB_TOKEN}"), "{run:?}");
    assert!(
        run.stderr.contains("set GITHUB_TOKEN where vscode runs"),
        "{run:?}"
    );
    let run = home.run(&[&export[..], &[&file, "--with-secrets"]].concat());
    assert!(run.stdout.contains("ghp_"), "{run:?}");
}
