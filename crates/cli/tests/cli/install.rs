//! `install`: the gateway in the config files of other clients.

use serde_json::{Value, json};

use crate::home::Home;
use crate::run::{Run, said};

const CURSOR: &str = ".cursor/mcp.json";

/// Runs `install` with the program's own path in its output as it is in files.
fn install(home: &Home, args: &[&str]) -> Run {
    home.run(&[&["install"], args].concat())
}

#[test]
fn the_gateway_is_installed_once_and_undone_exactly() {
    let home = Home::new();
    let text = "{\n  // mine\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" },\n  },\n}";
    home.write(CURSOR, text);
    assert_eq!(
        install(&home, &["--to", "cursor"]),
        said(
            0,
            "installed switchboard in ~/.cursor/mcp.json\n",
            "note: start cursor again to use it\n"
        )
    );
    let own = env!("CARGO_BIN_EXE_switchboard");
    let entry = format!(
        "\"switchboard\": {{\n      \"command\": \"{own}\",\n      \"args\": [\"serve\"]\n    }}"
    );
    let after = text.replace("},\n  }", &format!("}},\n    {entry},\n  }}"));
    assert_eq!(home.read(CURSOR), after);
    assert_eq!(
        install(&home, &["--to", "cursor"]),
        said(0, "~/.cursor/mcp.json already has switchboard\n", "")
    );
    assert_eq!(home.read(CURSOR), after);
    assert_eq!(
        install(&home, &["--to", "cursor", "--undo"]),
        said(
            0,
            "restored ~/.cursor/mcp.json to the text before the install\n",
            ""
        )
    );
    assert_eq!(home.read(CURSOR), text);
    assert_eq!(
        install(&home, &["--to", "cursor", "--undo"]),
        said(
            0,
            "~/.cursor/mcp.json does not have switchboard: there is nothing to undo\n",
            ""
        )
    );
}

#[test]
fn a_dry_run_shows_what_would_be_written_and_no_secret() {
    let home = Home::new();
    let text = r#"{"mcpServers": {"a": {"command": "a", "env": {"KEY": "hunter2"}}}}"#;
    home.write(CURSOR, text);
    let run = install(&home, &["--to", "cursor", "--dry-run", "--name", "all"]);
    let old = r#"{"mcpServers": {"a": {"command": "a", "env": {"KEY": "***"}}}}"#;
    let new = old.replace(
        "}}}}",
        r#"}}, "all": {"command": "[switchboard]", "args": ["serve"]}}}"#,
    );
    assert_eq!(
        run,
        said(
            0,
            &format!(
                "--- ~/.cursor/mcp.json\n+++ ~/.cursor/mcp.json\n@@ -1,1 +1,1 @@\n-{old}\n+{new}\n\
                 would install all in ~/.cursor/mcp.json\n"
            ),
            ""
        )
    );
    assert_eq!(home.read(CURSOR), text);
    assert!(!home.path("state").exists());
}

#[test]
fn a_broken_file_is_left_alone_and_its_line_is_named() {
    let home = Home::new();
    let text = "{\n  \"mcpServers\": {\n    \"a\" { \"env\": {\"KEY\": \"hunter2\"} }\n  }\n}\n";
    home.write(CURSOR, text);
    let run = install(&home, &["--to", "cursor"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(6), ""), "{run:?}");
    for part in [
        "  file: ~/.cursor/mcp.json:3:9 (user)\n",
        "    - fix ~/.cursor/mcp.json:3, then run `switchboard config check ~/.cursor/mcp.json`\n",
        "    - the file is unchanged: fix it, and run this again\n",
    ] {
        assert!(run.stderr.contains(part), "{part}: {}", run.stderr);
    }
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
    assert_eq!(home.read(CURSOR), text);
}

#[test]
fn another_server_of_the_name_is_not_replaced() {
    let home = Home::new();
    home.write(
        CURSOR,
        r#"{"mcpServers": {"switchboard": {"command": "board"}}}"#,
    );
    assert_eq!(
        install(&home, &["--to", "cursor"]),
        said(
            6,
            "",
            "error: there is another server \"switchboard\" in this file\n  \
             file: ~/.cursor/mcp.json (user)\n  what to do:\n    \
             - choose another name with --name NAME\n"
        )
    );
    assert_eq!(
        install(&home, &["--to", "cursor", "--undo"]),
        said(
            6,
            "",
            "error: the entry \"switchboard\" is not the one that was installed\n  \
             file: ~/.cursor/mcp.json (user)\n  what to do:\n    \
             - take it out by hand if it is not needed\n"
        )
    );
}

#[test]
fn a_project_cannot_redirect_an_install_to_another_file() {
    let home = Home::new();
    home.write("mine/mcp.json", "{}");
    std::os::unix::fs::symlink(home.path("mine"), home.path("p/.vscode")).unwrap();
    assert_eq!(
        install(&home, &["--to", "vscode", "--scope", "project"]),
        said(
            6,
            "",
            "error: the project's file is a link out of its folder\n  \
             file: ~/p/.vscode/mcp.json (project)\n  it leads to: ~/mine/mcp.json\n  \
             what to do:\n    - replace the link with the file, or install with --scope user\n"
        )
    );
    assert_eq!(home.read("mine/mcp.json"), "{}");
}

#[test]
fn each_client_and_scope_has_its_file() {
    for (client, scope, file) in [
        ("claude-code", "user", ".claude.json"),
        ("claude", "project", "p/.mcp.json"),
        ("claude-code", "local", ".claude.json"),
        ("codex", "user", ".codex/config.toml"),
        ("codex", "project", "p/.codex/config.toml"),
        (
            "claude-desktop",
            "user",
            "config/Claude/claude_desktop_config.json",
        ),
        ("cursor", "project", "p/.cursor/mcp.json"),
        ("vscode", "user", "config/Code/User/mcp.json"),
        ("vscode", "project", "p/.vscode/mcp.json"),
        ("gemini", "user", ".gemini/settings.json"),
        ("gemini", "project", "p/.gemini/settings.json"),
        ("windsurf", "user", ".codeium/windsurf/mcp_config.json"),
        ("opencode", "user", "config/opencode/opencode.json"),
        ("opencode", "project", "p/opencode.json"),
        ("zed", "user", ".config/zed/settings.json"),
        ("zed", "project", "p/.zed/settings.json"),
    ] {
        let home = Home::new();
        let args = ["--to", client, "--scope", scope, "--json"];
        let run = install(&home, &args);
        assert_eq!(run.code, Some(0), "{run:?}");
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(document["change"], "installed");
        assert_eq!(document["file"], json!(format!("~/{file}")), "{run:?}");
        let text = home.read(file);
        let own = env!("CARGO_BIN_EXE_switchboard");
        assert!(text.contains(own) && text.contains("\"serve\""), "{text}");
        let run = install(&home, &[&args[..], &["--undo"]].concat());
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(document["change"], "deleted", "{run:?}");
        assert!(!home.path(file).exists());
    }
    let home = Home::new();
    for (client, scope) in [("windsurf", "project"), ("cursor", "local")] {
        let run = install(&home, &["--to", client, "--scope", scope]);
        assert_eq!(run.code, Some(6), "{run:?}");
    }
    assert_eq!(install(&home, &["--to", "nobody"]).code, Some(2));
    assert_eq!(install(&home, &[]).code, Some(2));
    assert_eq!(
        install(&home, &["--to", "zed", "--name", "a b/c"]).code,
        Some(2)
    );
}

#[test]
fn the_entry_can_name_a_profile_and_an_agent() {
    let home = Home::new();
    let args = ["--to", "zed", "--json", "--profile", "work", "--as", "zed"];
    assert_eq!(install(&home, &args).code, Some(0));
    let text: Value = serde_json::from_str(&home.read(".config/zed/settings.json")).unwrap();
    let words = &text["context_servers"]["switchboard"]["args"];
    assert_eq!(*words, json!(["serve", "--profile", "work", "--as", "zed"]));
    // Without them it is another entry, which takes the place of this one.
    let run = install(&home, &args[..3]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(document["change"], "updated");
    let text: Value = serde_json::from_str(&home.read(".config/zed/settings.json")).unwrap();
    assert_eq!(
        text["context_servers"]["switchboard"]["args"],
        json!(["serve"])
    );
}

#[cfg(unix)]
#[test]
fn the_name_in_path_is_installed_where_there_is_one() {
    let home = Home::new();
    let own = env!("CARGO_BIN_EXE_switchboard");
    std::os::unix::fs::symlink(own, home.path("bin/switchboard")).unwrap();
    install(&home, &["--to", "cursor"]);
    let text = home.read(CURSOR);
    let name = home.path("bin/switchboard").display().to_string();
    assert!(text.contains(&name) && !text.contains(own), "{text}");
}

#[test]
fn servers_move_along_and_come_back() {
    let home = Home::new();
    let text = json!({"mcpServers": {
        "time": {"command": "uvx", "args": ["mcp-server-time"], "env": {"KEY": "hunter2"}},
        "asks": {"command": "a", "env": {"KEY": "${input:key}"}},
    }});
    home.write(CURSOR, &text.to_string());
    let args = ["--to", "cursor", "--move"];
    let dry = install(&home, &[&args[..], &["--dry-run"]].concat());
    assert!(!dry.stdout.contains("hunter2"), "{}", dry.stdout);
    let end = "would install switchboard in ~/.cursor/mcp.json\n\
               would move time from ~/.cursor/mcp.json to ~/config/switchboard/mcp.json\n";
    assert!(dry.stdout.ends_with(end), "{}", dry.stdout);
    assert_eq!(home.read(CURSOR), text.to_string());
    assert_eq!(
        install(&home, &args),
        said(
            0,
            &end.replace("would install", "installed")
                .replace("would move", "moved"),
            "note: start cursor again to use it\n\
             note: asks is not moved: it asks for an input, which only this client can answer\n"
        )
    );
    let own: Value = serde_json::from_str(&home.read("config/switchboard/mcp.json")).unwrap();
    assert_eq!(own["mcpServers"]["time"]["env"]["KEY"], "hunter2");
    let theirs: Value = serde_json::from_str(&home.read(CURSOR)).unwrap();
    assert_eq!(theirs["mcpServers"]["time"], Value::Null);
    assert_eq!(
        install(&home, &["--to", "cursor", "--undo"]),
        said(
            0,
            "restored ~/.cursor/mcp.json to the text before the install\n\
             moved time from ~/config/switchboard/mcp.json to ~/.cursor/mcp.json\n",
            ""
        )
    );
    assert_eq!(home.read(CURSOR), text.to_string());
    assert!(!home.path("config/switchboard").exists());
    let run = install(&home, &["--to", "cursor", "--move", "-s", "project"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    assert_eq!(
        install(&home, &["--to", "cursor", "--move", "--undo"]).code,
        Some(2)
    );
}
