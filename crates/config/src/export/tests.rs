//! Round trips: an exported server is read back as the same server.

use std::path::Path;
use std::time::Duration;

use switchboard_core::limits::Deadline;
use switchboard_core::spec::Layer;

use super::*;
use crate::read_client;

/// Exports everything as it is written.
fn export<'e>(entries: impl IntoIterator<Item = &'e Entry>, client: Client) -> Exported {
    super::entries(entries, client, Secrets::InClear)
}

/// A file of ours.
fn ours(text: &str) -> Config {
    let config = Config::read(text, Path::new("/p/.mcp.json"), Layer::User);
    assert_eq!(config.problems(), []);
    config
}

/// Returns the path of a client's file.
fn file(client: Client) -> &'static str {
    match client {
        Client::Codex => "/q/.codex/config.toml",
        Client::Goose => "/q/goose/config.yaml",
        _ => "/q/other.json",
    }
}

/// Whatever a file calls it, what counts is what it comes to.
fn meaning(entry: &Entry) -> String {
    let mut fields = entry.canonical();
    fields.retain(|field, _| !field.ends_with("timeout") && !field.ends_with("_tools"));
    fields.remove("enabled");
    fields.sort_keys();
    let fields = Value::from(fields).to_string().replace("${env:", "${");
    // Two names of one transport.
    let fields = fields.replace("streamable-http", "http");
    let settings = entry.settings();
    let is_on = entry.is_enabled();
    format!(
        "{fields} {:?} {:?} {is_on}",
        settings.timeouts, settings.tools
    )
}

fn round(text: &str, client: Client) -> Vec<String> {
    let config = ours(text);
    let exported = export(config.entries(), client);
    assert!(
        exported.left_out.is_empty(),
        "{client}: {:?}",
        exported.left_out
    );
    let layer = Layer::User;
    let read = read_client(&exported.text, Path::new(file(client)), layer, client);
    assert_eq!(read.problems(), [], "{client}: {}", exported.text);
    for entry in config.entries() {
        let back = read.get(entry.name().as_str()).unwrap();
        assert_eq!(meaning(back), meaning(entry), "{client}: {}", exported.text);
    }
    let written = exported.servers.into_iter();
    written.flat_map(|written| written.warnings).collect()
}

#[test]
fn what_every_client_can_have_comes_back_the_same() {
    let text = r#"{"mcpServers": {
        "plain": {"command": "uvx", "args": ["mcp-server-time==1.0", "--x"], "env": {"LANG": "C", "a b": "\u001b\""}},
        "bare": {"command": "/usr/bin/thing"}}}"#;
    for client in Client::ALL {
        assert_eq!(round(text, *client), [""; 0], "{client}");
    }
}

#[test]
fn servers_with_a_url_come_back_the_same() {
    let http =
        r#"{"mcpServers": {"h": {"url": "https://example.com/mcp", "headers": {"X-Y": "z"}}}}"#;
    let sse = r#"{"mcpServers": {"s": {"type": "sse", "url": "https://example.com/sse"}}}"#;
    for client in Client::ALL {
        if *client == Client::ClaudeDesktop {
            let exported = export(ours(http).entries(), *client);
            assert_eq!((exported.servers.len(), exported.left_out.len()), (0, 1));
            continue;
        }
        assert_eq!(round(http, *client), [""; 0], "{client}");
        match client {
            Client::Codex => assert_eq!(export(ours(sse).entries(), *client).left_out.len(), 1),
            // They are told that it is at a URL, and find out themselves.
            Client::OpenCode | Client::Zed | Client::Mcporter => {
                let exported = export(ours(sse).entries(), *client);
                assert_eq!(exported.servers[0].warnings.len(), 1);
            }
            client => assert_eq!(round(sse, *client), [""; 0], "{client}"),
        }
    }
}

#[test]
fn what_a_client_has_keys_for_comes_back_the_same() {
    for (client, entry) in [
        (
            Client::ClaudeCode,
            r#"{"command": "a", "env": {"K": "${K:-d}"}}"#,
        ),
        (
            Client::Cursor,
            r#"{"command": "a", "args": ["${env:K}", "${workspaceFolder}/x", "${userHome}"]}"#,
        ),
        (
            Client::VsCode,
            r#"{"command": "a", "cwd": "/w", "env_file": "/w/.env", "env": {"K": "${env:K}", "P": "${input:p}"}}"#,
        ),
        (
            Client::Codex,
            r#"{"command": "a", "cwd": "/w", "env_passthrough": ["K"], "connect_timeout": 20,
                "execution_timeout": "2m", "allowed_tools": ["x"], "blocked_tools": ["y"], "enabled": false}"#,
        ),
        (
            Client::Codex,
            r#"{"url": "https://example.com/mcp",
                "headers": {"Authorization": "Bearer ${T}", "X-K": "${K}"}}"#,
        ),
        (
            Client::Gemini,
            r#"{"command": "a", "cwd": "/w", "timeout": "1500ms", "allowed_tools": ["x"], "env": {"K": "${K}"}}"#,
        ),
        (
            Client::Cline,
            r#"{"command": "a", "timeout": 30, "enabled": false}"#,
        ),
        (
            Client::Roo,
            r#"{"command": "a", "timeout": "1h", "enabled": false}"#,
        ),
        (
            Client::OpenCode,
            r#"{"command": "a", "args": ["b"], "env": {"K": "${env:K}", "F": "${file:/k}"}, "enabled": false}"#,
        ),
        (
            Client::Nexus3,
            r#"{"command": "a", "cwd": "/w", "env_passthrough": ["K"], "enabled": false, "fail_if_no_tools": true}"#,
        ),
        (
            Client::Switchboard,
            r#"{"url": "https://${H}/mcp", "reconnect": false, "protocol": "legacy", "roots": ["/a"], "timeout": 3,
                "idempotent_tools": ["x"], "max_retries": 1}"#,
        ),
    ] {
        let text = format!(r#"{{"mcpServers": {{"x": {entry}}}}}"#);
        assert_eq!(round(&text, client), [""; 0], "{client}");
    }
}

#[test]
fn nothing_is_lost_without_a_word() {
    let text = r#"{"mcpServers": {"x": {"command": "a", "cwd": "sub", "reconnect": false, "roots": ["r"],
        "protocol": "legacy", "env_passthrough": ["K"], "timeout": 5, "fail_if_no_tools": true,
        "allowed_tools": ["a*"], "env": {"K": "${K:-hunter2}"}, "sampling": true}}}"#;
    let config = ours(text);
    let entry = &config.entries()[0];
    for client in Client::ALL {
        if *client == Client::Switchboard {
            continue;
        }
        let exported = export([entry], *client);
        let back = read_client(
            &exported.text,
            Path::new(file(*client)),
            Layer::User,
            *client,
        );
        let back = back.get("x").unwrap().canonical();
        let warnings = exported.servers[0].warnings.join("\n");
        for field in entry.canonical().keys() {
            let is_there = back.contains_key(field)
                || field == "timeout" && back.contains_key("connect_timeout");
            let is_told = warnings.contains(&format!("`{field}`"));
            assert!(is_there || is_told, "{client} {field}: {warnings}");
        }
        // Not even where it is about the default of a secret.
        assert!(!warnings.contains("hunter2"), "{client}: {warnings}");
    }
}

#[test]
fn a_server_that_is_off_is_not_switched_on_by_being_copied() {
    let text = r#"{"mcpServers": {"x": {"command": "a", "enabled": false}}}"#;
    let config = ours(text);
    for client in Client::ALL {
        let exported = export(config.entries(), *client);
        if exported.servers.is_empty() {
            assert!(
                exported.left_out[0].reason.contains("switched off"),
                "{client}"
            );
            continue;
        }
        let back = read_client(
            &exported.text,
            Path::new(file(*client)),
            Layer::User,
            *client,
        );
        assert!(!back.get("x").unwrap().is_enabled(), "{client}");
    }
}

#[test]
fn relative_paths_lead_where_they_led() {
    let text = r#"{"mcpServers": {"x": {"command": "./run", "cwd": "sub"}}}"#;
    let exported = export(ours(text).entries(), Client::VsCode);
    let written: Value = serde_json::from_str(&exported.text).unwrap();
    assert_eq!(
        written["servers"]["x"],
        json!({"type": "stdio", "command": "/p/run", "cwd": "/p/sub"})
    );
}

#[test]
fn questions_go_along_where_they_are_asked() {
    let text = r#"{"mcpServers": {"x": {"command": "a", "env": {"A": "${input:a}", "B": "${input:b}"}}},
        "inputs": [{"id": "a", "type": "pickString", "description": "Which?", "options": ["1", "2"], "default": "1"}]}"#;
    let exported = export(ours(text).entries(), Client::VsCode);
    let written: Value = serde_json::from_str(&exported.text).unwrap();
    assert_eq!(
        written["inputs"],
        json!([
            {"type": "pickString", "id": "a", "description": "Which?", "options": ["1", "2"], "default": "1"},
            {"type": "promptString", "id": "b", "description": "b", "password": true},
        ])
    );
}

#[test]
fn secrets_of_described_servers_leave_as_variables() {
    let process = ServerSpec::stdio("notes", "/usr/bin/notes").unwrap();
    let process = process.env("API_KEY", "hunter2");
    let remote = ServerSpec::http("wiki", "https://example.com/mcp").unwrap();
    let remote = remote.header("Authorization", "Bearer hunter3");
    for client in Client::ALL {
        if *client == Client::ClaudeDesktop {
            continue;
        }
        let exported = specs([&process, &remote], *client).unwrap();
        let named: Vec<&str> = exported.variables.iter().map(|(name, _)| &**name).collect();
        assert_eq!(named, ["API_KEY", "WIKI_TOKEN"], "{client}");
        assert_eq!(exported.servers.len(), 2, "{client}");
        assert!(!exported.text.contains("hunter"), "{client}: {exported:?}");
        assert!(!format!("{exported:?}").contains("hunter"), "{client}");
    }
}

#[test]
fn a_server_that_no_file_can_describe_is_left_out_with_the_reason() {
    let year = Duration::from_secs(365 * 24 * 3600);
    let mut slow = ServerSpec::stdio("slow", "slow").unwrap();
    slow.settings.timeouts.connect = Deadline::within(year);
    let fine = ServerSpec::stdio("fine", "fine").unwrap();
    let exported = specs([&slow, &fine], Client::Cursor).unwrap();
    assert_eq!(exported.servers.len(), 1);
    assert_eq!(exported.left_out.len(), 1);
    assert_eq!(exported.left_out[0].name.as_str(), "slow");
    assert!(
        exported.left_out[0].reason.contains("timeout"),
        "{exported:?}"
    );
}

#[test]
fn a_secret_in_clear_is_a_warning_that_does_not_show_it() {
    let text = r#"{"mcpServers": {"x": {"command": "a", "env": {"API_KEY": "hunter2"}}}}"#;
    let exported = export(ours(text).entries(), Client::Cursor);
    assert_eq!(
        exported.servers[0].warnings,
        ["the variable API_KEY looks like a secret and is written in clear"]
    );
}
