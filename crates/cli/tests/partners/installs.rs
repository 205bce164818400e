//! `switchboard install` before the clients themselves: they list what it wrote, start it, and forget it again.

use std::process::Command;

use serde_json::{Value, json};
use switchboard_tests::partners::{self, Launch};

use crate::front::OWN;
use crate::home::Home;
use crate::run::Run;

/// A home whose own config has the bundled server.
fn home() -> Home {
    let home = Home::new();
    let servers = json!({"demo": {"command": OWN, "args": ["test-server"]}});
    let own = json!({ "mcpServers": servers });
    home.write("config/switchboard/mcp.json", &own.to_string());
    home
}

/// Runs a client in a home, without a network.
fn run(home: &Home, client: &Launch, args: &[&str]) -> Run {
    let mut command = Command::new(&client.program);
    command
        .args(&client.args)
        .args(args)
        .env_clear()
        .envs(client.env.iter().cloned())
        .env("HOME", home.path(""))
        // For node.
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("XDG_CONFIG_HOME", home.path("config"))
        .env("XDG_STATE_HOME", home.path("state"))
        .env("TMPDIR", home.path("tmp"))
        .current_dir(home.path("p"));
    // A closed port: every request fails at once.
    for name in ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env(name, "http://127.0.0.1:9");
    }
    std::fs::create_dir_all(home.path("tmp")).unwrap();
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, Some(0), "{args:?}: {run:?}");
    run
}

#[track_caller]
fn install(home: &Home, args: &[&str]) -> String {
    let run = home.run(&[&["install", "--json"], args].concat());
    assert_eq!(run.code, Some(0), "{run:?}");
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    document["change"].as_str().unwrap().to_owned()
}

#[test]
fn claude_code_starts_what_was_installed_in_each_scope() {
    let claude = partners::claude_code().env("DISABLE_TELEMETRY", "1");
    for scope in ["user", "local"] {
        let home = home();
        home.write("p/.git/HEAD", "ref: refs/heads/main\n");
        assert_eq!(
            install(&home, &["--to", "claude-code", "-s", scope]),
            "installed"
        );
        let listed = run(&home, &claude, &["mcp", "list"]).stdout;
        assert!(
            listed.contains("switchboard: [switchboard] serve - ✔ Connected"),
            "{listed}"
        );
        let shown = run(&home, &claude, &["mcp", "get", "switchboard"]).stdout;
        let place = if scope == "user" {
            "User config"
        } else {
            "Local config"
        };
        assert!(shown.contains(&format!("Scope: {place}")), "{shown}");
        // It has written the file anew by then, and another server is added by itself.
        run(
            &home,
            &claude,
            &["mcp", "add", "-s", scope, "other", "--", "/bin/true"],
        );
        assert_eq!(
            install(&home, &["--to", "claude-code", "-s", scope]),
            "unchanged"
        );
        assert_eq!(
            install(&home, &["--to", "claude-code", "-s", scope, "--undo"]),
            "removed"
        );
        let text = home.read(".claude.json");
        assert!(text.contains("\"other\"") && !text.contains(OWN), "{text}");
        let listed = run(&home, &claude, &["mcp", "list"]).stdout;
        assert!(
            listed.contains("other: /bin/true") && !listed.contains("switchboard"),
            "{listed}"
        );
    }
}

#[test]
fn claude_code_gives_its_servers_to_the_gateway_and_gets_them_back() {
    let claude = partners::claude_code().env("DISABLE_TELEMETRY", "1");
    let home = home();
    let add = [
        "mcp",
        "add",
        "-s",
        "user",
        "theirs",
        "-e",
        "KEY=value",
        "--",
        OWN,
        "test-server",
    ];
    run(&home, &claude, &add);
    let before: Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    assert_eq!(
        install(&home, &["--to", "claude-code", "--move"]),
        "installed"
    );
    let listed = run(&home, &claude, &["mcp", "list"]).stdout;
    assert!(
        listed.contains("serve - ✔ Connected") && !listed.contains("theirs"),
        "{listed}"
    );
    // The gateway has it now.
    let tools = home.run(&["tools", "theirs"]);
    assert!(tools.stdout.contains("echo"), "{tools:?}");
    install(&home, &["--to", "claude-code", "--undo"]);
    let after: Value = serde_json::from_str(&home.read(".claude.json")).unwrap();
    assert_eq!(after["mcpServers"], before["mcpServers"]);
    assert!(!home.read("config/switchboard/mcp.json").contains("theirs"));
}

#[test]
fn codex_lists_what_was_installed_until_it_is_undone() {
    let codex = partners::codex();
    let home = home();
    run(&home, &codex, &["mcp", "add", "other", "--", "/bin/true"]);
    let before = home.read(".codex/config.toml");
    assert_eq!(install(&home, &["--to", "codex"]), "installed");
    let listed = run(&home, &codex, &["mcp", "list", "--json"]).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let ours = listed.as_array().unwrap().iter();
    let ours = ours
        .clone()
        .find(|server| server["name"] == "switchboard")
        .unwrap();
    assert_eq!(ours["transport"]["command"], "[switchboard]", "{listed}");
    assert_eq!(ours["transport"]["args"], json!(["serve"]), "{listed}");
    assert_eq!(listed.as_array().unwrap().len(), 2, "{listed}");
    assert_eq!(install(&home, &["--to", "codex", "--undo"]), "restored");
    assert_eq!(home.read(".codex/config.toml"), before);
    // What it wrote itself is taken out like what we wrote.
    run(
        &home,
        &codex,
        &["mcp", "add", "switchboard", "--", OWN, "serve"],
    );
    assert_eq!(install(&home, &["--to", "codex"]), "unchanged");
    assert_eq!(install(&home, &["--to", "codex", "--undo"]), "removed");
    let listed = run(&home, &codex, &["mcp", "list"]).stdout;
    assert!(
        listed.contains("other") && !listed.contains("switchboard"),
        "{listed}"
    );
}

#[test]
fn gemini_starts_what_was_installed_in_each_scope() {
    let gemini = partners::gemini().env("GEMINI_CLI_TRUST_WORKSPACE", "true");
    for scope in ["user", "project"] {
        let home = home();
        assert_eq!(
            install(&home, &["--to", "gemini", "-s", scope]),
            "installed"
        );
        let shown = run(&home, &gemini, &["mcp", "list"]);
        // On stdout or stderr, as it likes.
        let listed = shown.stdout + &shown.stderr;
        let line = "switchboard: [switchboard] serve (stdio) - Connected";
        assert!(listed.contains(line), "{listed}");
        let done = install(&home, &["--to", "gemini", "-s", scope, "--undo"]);
        assert!(done == "deleted" || done == "removed", "{done}");
        let shown = run(&home, &gemini, &["mcp", "list"]);
        let listed = shown.stdout + &shown.stderr;
        assert!(!listed.contains("switchboard"), "{listed}");
    }
}
