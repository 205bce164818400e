//! Files as the nine clients and the people who use them write them, in every kind of line end and indentation.

use super::*;

const CLAUDE_CODE: &str = r#"{
  "numStartups": 42,
  "installMethod": "native",
  "tipsHistory": { "shift-enter": 3, "memory-command": 12 },
  "projects": {
    "/home/me/p": {
      "allowedTools": [],
      "history": [{ "display": "fix \"the\" tests \\ ü 🎈", "pastedContents": {} }],
      "mcpServers": {},
      "hasTrustDialogAccepted": true
    }
  },
  "mcpServers": {
    "sentry": {
      "type": "http",
      "url": "https://mcp.sentry.dev/mcp",
      "headers": {
        "Authorization": "Bearer hunter2"
      }
    }
  },
  "oauthAccount": { "emailAddress": "me@example.com" }
}
"#;

const CLAUDE_DESKTOP: &str = r#"{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "filesystem": {
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "C:\\Users\\me\\Desktop"
      ]
    }
  }
}
"#;

const CURSOR: &str = r#"{"mcpServers": {
  "github": { "command": "docker", "args": ["run", "-i", "--rm", "ghcr.io/github/github-mcp-server"], "env": { "GITHUB_PERSONAL_ACCESS_TOKEN": "${env:GITHUB_TOKEN}" } },
  "figma": { "url": "http://127.0.0.1:3845/mcp" }
}}
"#;

const VSCODE: &str = r#"{
  // Servers of the team.
  "inputs": [
    {
      "type": "promptString",
      "id": "key",
      "description": "API key",
      "password": true,
    },
  ],
  "servers": {
    /* local */
    "perplexity": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "server-perplexity-ask"],
      "env": { "PERPLEXITY_API_KEY": "${input:key}" },
    },
    // "off": { "command": "off" },
  },
}
"#;

const GEMINI: &str = r#"{
  "security": { "auth": { "selectedType": "oauth-personal" } },
  "ui": { "theme": "GitHub" },
  // "mcp": { "allowed": ["a"] },
  "mcpServers": {
    "local": { "httpUrl": "http://localhost:3000/mcp", "timeout": 5000, "trust": false }
  }
}
"#;

const WINDSURF: &str = r#"{
  "mcpServers": {
    "remote": {
      "serverUrl": "https://example.com/mcp",
      "disabledTools": ["delete_all"]
    }
  }
}
"#;

const OPENCODE: &str = r#"{
  "$schema": "https://opencode.ai/config.json",
  "theme": "system",
  "mcp": {
    "everything": {
      "type": "local",
      "command": ["npx", "-y", "@modelcontextprotocol/server-everything"],
      "enabled": true,
      "environment": { "A": "1" }
    }
  }
}
"#;

const ZED: &str = r#"// Zed settings
//
// For information on how to configure Zed, see the Zed
// documentation: https://zed.dev/docs/configuring-zed
{
  "telemetry": { "metrics": false },
  "languages": { "Rust": { "tab_size": 4 } }, // mine
  "context_servers": {
    "mcp-server-context7": {
      "settings": {},
    },
  },
  "theme": { "mode": "system", "light": "One Light", "dark": "One Dark" },
}
"#;

const CODEX: &str = r#"model = "gpt-5"
approval_policy = "on-request" # ask

# Servers
[mcp_servers.context7]
command = "npx"
args = [
  "-y",
  "@upstash/context7-mcp", # documentation
]

[mcp_servers.context7.env]
CONTEXT7_API_KEY = "hunter2"

# Projects
[projects."/home/me/p"]
trust_level = "trusted"

[tui]
notifications = true
"#;

const FILES: &[(Client, &str)] = &[
    (Client::ClaudeCode, CLAUDE_CODE),
    (Client::ClaudeDesktop, CLAUDE_DESKTOP),
    (Client::Cursor, CURSOR),
    (Client::VsCode, VSCODE),
    (Client::Codex, CODEX),
    (Client::Gemini, GEMINI),
    (Client::Windsurf, WINDSURF),
    (Client::OpenCode, OPENCODE),
    (Client::Zed, ZED),
];

/// The same text as other editors and systems write it.
fn variants(text: &str) -> Vec<String> {
    let tabs = text.replace("    ", "\t\t").replace("  ", "\t");
    let short = text.trim_end();
    let mut found = vec![
        text.to_owned(),
        short.to_owned(),
        format!("{text}\n\n"),
        tabs,
    ];
    let windows: Vec<String> = found
        .iter()
        .map(|text| text.replace('\n', "\r\n"))
        .collect();
    found.extend(windows);
    let marked: Vec<String> = found.iter().map(|text| format!("\u{feff}{text}")).collect();
    found.extend(marked);
    found
}

/// The lines of a text without their ends, and without a comma at the end.
fn lines(text: &str) -> Vec<&str> {
    let lines = text.lines().map(|line| line.trim_end_matches(','));
    lines.filter(|line| !line.trim().is_empty()).collect()
}

#[test]
fn files_of_all_clients_come_back_byte_for_byte() {
    assert_eq!(FILES.len(), Target::CLIENTS.len());
    for (client, original) in FILES {
        for (at, text) in variants(original).iter().enumerate() {
            for moves in [false, true] {
                let what = format!("{client}, variant {at}, moves: {moves}");
                let home = Home::new();
                let file = home.target(*client, InstallScope::User).file().to_owned();
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, text).unwrap();
                let plain = home.installer(*client, InstallScope::User);
                let installer = if moves {
                    plain.clone().moving_to(home.path("own/mcp.json"))
                } else {
                    plain.clone()
                };
                assert_eq!(
                    install(&installer).change,
                    InstallChange::Installed,
                    "{what}"
                );
                let after = fs::read_to_string(&file).unwrap();
                // One kind of line end, the mark, and no line that is lost.
                let is_windows = text.contains("\r\n");
                assert_eq!(
                    after.matches('\n').count() == after.matches("\r\n").count(),
                    is_windows,
                    "{what}"
                );
                assert_eq!(
                    after.starts_with('\u{feff}'),
                    text.starts_with('\u{feff}'),
                    "{what}"
                );
                if !moves {
                    let mut new = lines(&after).into_iter();
                    for line in lines(text) {
                        // A container on one line may have been opened for the new entry.
                        let is_there =
                            new.any(|found| found == line || found.contains("switchboard"));
                        assert!(is_there, "{what}: {line}");
                    }
                }
                assert_eq!(
                    install(&installer).change,
                    InstallChange::Unchanged,
                    "{what}"
                );
                assert_eq!(undo(&plain).change, InstallChange::Restored, "{what}");
                assert_eq!(fs::read_to_string(&file).unwrap(), *text, "{what}");
                assert!(!home.path("own/mcp.json").exists(), "{what}");
            }
        }
    }
}

#[test]
fn no_secret_of_a_file_is_in_the_difference() {
    for (client, text) in FILES.iter().filter(|(_, text)| text.contains("hunter2")) {
        let home = Home::new();
        let file = home.target(*client, InstallScope::User).file().to_owned();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let installer = home.installer(*client, InstallScope::User);
        let installer = installer.moving_to(home.path("own/mcp.json"));
        let dry = installer.install(&command("/bin/switchboard"), Mode::DryRun);
        let diff = dry.unwrap().diff;
        assert!(
            diff.contains("***") && !diff.contains("hunter2"),
            "{client}: {diff}"
        );
    }
}
