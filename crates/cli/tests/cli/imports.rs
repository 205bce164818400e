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
            "warning: x: the variable API_KEY looks like a secret and stands in ~/p/.mcp.json in \
             clear: write '${API_KEY}' instead, and set the variable where switchboard runs\n\
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
