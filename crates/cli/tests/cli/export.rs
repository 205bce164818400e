//! `export`, and back again with `import`.

use serde_json::{Value, json};

use crate::home::Home;

const MINE: &str = "config/switchboard/mcp.json";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn home() -> Home {
    let home = Home::new();
    let servers = json!({
        "time": {"command": "uvx", "args": ["mcp-server-time==1"], "env": {"LANG": "C"}},
        "wiki": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    });
    home.write(MINE, &json!({"mcpServers": servers}).to_string());
    home
}

#[test]
fn servers_are_printed_in_the_form_of_the_other_client() {
    let home = home();
    let run = home.run(&["export", "--to", "claude"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run:?}");
    assert_eq!(
        json(&run.stdout)["mcpServers"]["wiki"],
        json!({"type": "http", "url": "https://example.com/mcp",
               "headers": {"Authorization": "Bearer ${TOKEN}"}})
    );
    let run = home.run(&["export", "wiki", "--to", "cursor"]);
    assert_eq!(
        json(&run.stdout),
        json!({"mcpServers": {"wiki": {"url": "https://example.com/mcp",
               "headers": {"Authorization": "Bearer ${env:TOKEN}"}}}})
    );
    let run = home.run(&["export", "wiki", "--to", "codex"]);
    assert_eq!(
        run.stdout,
        "[mcp_servers.wiki]\nbearer_token_env_var = \"TOKEN\"\nurl = \"https://example.com/mcp\"\n"
    );
}

#[test]
fn what_is_exported_can_be_imported_again() {
    for (client, file) in [
        ("claude-code", "other/.claude.json"),
        ("cursor", "other/mcp.json"),
        ("vscode", "other/mcp.json"),
        ("codex", "other/config.toml"),
        ("gemini", "other/settings.json"),
        ("opencode", "other/opencode.json"),
        ("nexus3", "other/mcp.json"),
        ("switchboard", "other/mcp.json"),
    ] {
        let home = home();
        let run = home.run(&["export", "--to", client]);
        assert_eq!(
            (run.code, run.stderr.as_str()),
            (Some(0), ""),
            "{client} {run:?}"
        );
        home.write(file, &run.stdout);
        let path = format!("../{file}");
        let run = home.run(&[
            "import", &path, "--from", client, "--yes", "--config", "new.json",
        ]);
        assert_eq!(run.code, Some(0), "{client} {run:?}");
        let read = |file: &str| {
            let run = home.run(&["config", "show", "--config", file, "--json"]);
            let servers = json(&run.stdout.replace("${env:", "${"))["servers"].clone();
            let servers = servers.as_array().unwrap().iter();
            servers
                .map(|one| (one["name"].clone(), one["entry"].clone()))
                .collect::<Vec<_>>()
        };
        let own = read(&home.path(MINE).display().to_string());
        assert_eq!(read("new.json"), own, "{client}");
    }
}

#[test]
fn no_value_is_filled_in_and_nothing_is_run() {
    let home = home();
    let text = r#"{"mcpServers": {"theirs": {"command": "sh", "args": ["-c", "x"],
        "env": {"K": "${OWN_TOKEN}", "F": "${file:/etc/hostname}"}}}}"#;
    home.write("p/.mcp.json", text);
    for client in [
        "claude",
        "claude-desktop",
        "vscode",
        "codex",
        "gemini",
        "opencode",
        "zed",
        "roo",
    ] {
        let mut command = home.command(&["export", "theirs", "--to", client]);
        let output = command.env("OWN_TOKEN", "hunter2hunter2").output().unwrap();
        let all = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.success(), "{client} {all}");
        assert!(!all.contains("hunter2"), "{client} {all}");
        assert!(all.contains("OWN_TOKEN"), "{client} {all}");
        assert!(
            all.contains("defined by this project and not approved"),
            "{client} {all}"
        );
    }
    assert!(!home.has_canary());
}

#[test]
fn what_cannot_be_said_is_a_warning() {
    let home = Home::new();
    let servers = json!({
        "a": {"command": "a", "cwd": "/w", "env": {"K": "${K:-d}"}},
        "off": {"command": "b", "disabled": true},
    });
    home.write(MINE, &json!({"mcpServers": servers}).to_string());
    let run = home.run(&["export", "--to", "cursor"]);
    assert_eq!(run.code, Some(0));
    assert_eq!(
        run.stderr,
        "warning: off is left out: it is switched off, which cursor cannot be told\n\
         warning: a: cursor cannot be told `cwd`\n\
         warning: a: `env.K`: cursor cannot be told the default of ${K}\n"
    );
    let run = home.run(&["export", "off", "--to", "cursor"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(6), ""), "{run:?}");
    let run = home.run(&["export", "--to", "cursor", "--json"]);
    let document = json(&run.stdout);
    assert_eq!(document["client"], "cursor");
    assert_eq!(document["left_out"][0]["server"], "off");
    assert_eq!(
        document["servers"][0]["warnings"].as_array().unwrap().len(),
        2
    );
    assert_eq!(
        json(document["text"].as_str().unwrap())["mcpServers"]["a"]["command"],
        "a"
    );
}

#[test]
fn what_is_not_there_is_said() {
    let home = home();
    assert_eq!(home.run(&["export", "--to", "nobody"]).code, Some(2));
    assert_eq!(home.run(&["export"]).code, Some(2));
    let run = home.run(&["export", "tim", "--to", "zed"]);
    assert_eq!(run.code, Some(6));
    assert!(run.stderr.contains("did you mean \"time\"?"), "{run:?}");
    assert_eq!(Home::new().run(&["export", "--to", "zed"]).code, Some(6));
}
