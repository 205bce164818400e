//! What to paste into each client, so that it uses the gateway.

use std::path::Path;

use serde_json::{Map, Value, json};

/// The way that one client is set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientSetup {
    /// The client.
    pub client: &'static str,
    /// A command to run, or a text for a file.
    pub text: String,
    /// The file that the text belongs in; `None` if it is a command.
    pub file: Option<&'static str>,
}

/// The name that the gateway has in a client's config.
const NAME: &str = "switchboard";

/// The variable that the token is in, for clients that read it from their environment.
const TOKEN_VARIABLE: &str = "SWITCHBOARD_TOKEN";

/// Sets clients up to start the gateway over stdio, with this program and these arguments.
pub fn over_stdio(program: &str, arguments: &[String]) -> Vec<ClientSetup> {
    let words = std::iter::once(program).chain(arguments.iter().map(String::as_str));
    let line: Vec<String> = words.map(quote_for_shell).collect();
    let line = line.join(" ");
    let entry = json!({ "command": program, "args": arguments });
    vec![
        command("Claude Code", format!("claude mcp add {NAME} -- {line}")),
        command("Codex", format!("codex mcp add {NAME} -- {line}")),
        command("VS Code", add_to_code(&entry)),
        file("Cursor", "~/.cursor/mcp.json", &servers(&entry)),
        file("Gemini", "~/.gemini/settings.json", &servers(&entry)),
    ]
}

/// Sets clients up to reach the gateway at a URL. The token stays in its file: it is in no text.
pub fn over_http(url: &str, token_file: Option<&Path>) -> Vec<ClientSetup> {
    let token = token_file.map(|path| quote_for_shell(&path.display().to_string()));
    let header = token.as_ref().map_or_else(String::new, |file| {
        format!(" --header \"Authorization: Bearer $(cat {file})\"")
    });
    let place = quote_for_shell(url);
    let with_header = |key: &str, kind: Option<&str>, secret: &str| {
        let mut entry = Map::new();
        entry.insert(key.to_owned(), json!(url));
        if let Some(kind) = kind {
            entry.insert("type".to_owned(), json!(kind));
        }
        if token.is_some() {
            let header = format!("Bearer {secret}");
            entry.insert("headers".to_owned(), json!({ "Authorization": header }));
        }
        Value::Object(entry)
    };
    let code = with_header("url", Some("http"), "${input:switchboard-token}");
    let cursor = with_header("url", None, &format!("${{env:{TOKEN_VARIABLE}}}"));
    let gemini = with_header("httpUrl", None, &format!("${TOKEN_VARIABLE}"));
    let mut codex = format!("[mcp_servers.{NAME}]\nurl = {}", json!(url));
    let mut code_file = Map::new();
    code_file.insert("servers".to_owned(), json!({ NAME: code }));
    if token.is_some() {
        codex.push_str(&format!("\nbearer_token_env_var = \"{TOKEN_VARIABLE}\""));
        let token = json!([{
            "type": "promptString", "id": "switchboard-token",
            "description": "Token of switchboard", "password": true,
        }]);
        code_file.insert("inputs".to_owned(), token);
    }
    let add = format!("claude mcp add --transport http {NAME} {place}{header}");
    vec![
        command("Claude Code", add),
        ClientSetup {
            client: "Codex",
            text: codex,
            file: Some("~/.codex/config.toml"),
        },
        file("VS Code", ".vscode/mcp.json", &Value::Object(code_file)),
        file("Cursor", "~/.cursor/mcp.json", &servers(&cursor)),
        file("Gemini", "~/.gemini/settings.json", &servers(&gemini)),
    ]
}

/// The command that puts the token where clients look that read their environment.
pub fn export_token(token_file: &Path) -> String {
    let file = quote_for_shell(&token_file.display().to_string());
    format!("export {TOKEN_VARIABLE}=$(cat {file})")
}

fn command(client: &'static str, text: String) -> ClientSetup {
    let file = None;
    ClientSetup { client, text, file }
}

fn file(client: &'static str, file: &'static str, content: &Value) -> ClientSetup {
    ClientSetup {
        client,
        text: content.to_string(),
        file: Some(file),
    }
}

fn servers(entry: &Value) -> Value {
    json!({ "mcpServers": { NAME: entry } })
}

/// The command line that adds an entry to VS Code.
fn add_to_code(entry: &Value) -> String {
    let name = ("name".to_owned(), json!(NAME));
    let members = entry.as_object().into_iter().flatten();
    let members = members.map(|(key, value)| (key.clone(), value.clone()));
    let named = Value::Object(std::iter::once(name).chain(members).collect());
    format!("code --add-mcp {}", quote_for_shell(&named.to_string()))
}

/// A word as a shell takes it.
pub(crate) fn quote_for_shell(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(setups: Vec<ClientSetup>) -> Vec<String> {
        let line = |setup: ClientSetup| {
            let file = setup
                .file
                .map(|file| format!("{file}: "))
                .unwrap_or_default();
            format!("{}: {file}{}", setup.client, setup.text)
        };
        setups.into_iter().map(line).collect()
    }

    #[test]
    fn clients_are_set_up_to_start_the_gateway() {
        let arguments = ["serve", "--profile", "my work"].map(str::to_owned);
        let expected = [
            "Claude Code: claude mcp add switchboard -- switchboard serve --profile 'my work'",
            "Codex: codex mcp add switchboard -- switchboard serve --profile 'my work'",
            r#"VS Code: code --add-mcp '{"name":"switchboard","command":"switchboard","args":["serve","--profile","my work"]}'"#,
            r#"Cursor: ~/.cursor/mcp.json: {"mcpServers":{"switchboard":{"command":"switchboard","args":["serve","--profile","my work"]}}}"#,
            r#"Gemini: ~/.gemini/settings.json: {"mcpServers":{"switchboard":{"command":"switchboard","args":["serve","--profile","my work"]}}}"#,
        ];
        assert_eq!(lines(over_stdio("switchboard", &arguments)), expected);
    }

    #[test]
    fn clients_are_set_up_to_reach_the_gateway_with_its_token() {
        let url = "http://127.0.0.1:8808/mcp";
        let expected = [
            r#"Claude Code: claude mcp add --transport http switchboard http://127.0.0.1:8808/mcp --header "Authorization: Bearer $(cat /s/token)""#,
            "Codex: ~/.codex/config.toml: [mcp_servers.switchboard]\nurl = \"http://127.0.0.1:8808/mcp\"\nbearer_token_env_var = \"SWITCHBOARD_TOKEN\"",
            r#"VS Code: .vscode/mcp.json: {"servers":{"switchboard":{"url":"http://127.0.0.1:8808/mcp","type":"http","headers":{"Authorization":"Bearer ${input:switchboard-token}"}}},"inputs":[{"type":"promptString","id":"switchboard-token","description":"Token of switchboard","password":true}]}"#,
            r#"Cursor: ~/.cursor/mcp.json: {"mcpServers":{"switchboard":{"url":"http://127.0.0.1:8808/mcp","headers":{"Authorization":"Bearer ${env:SWITCHBOARD_TOKEN}"}}}}"#,
            r#"Gemini: ~/.gemini/settings.json: {"mcpServers":{"switchboard":{"httpUrl":"http://127.0.0.1:8808/mcp","headers":{"Authorization":"Bearer $SWITCHBOARD_TOKEN"}}}}"#,
        ];
        assert_eq!(lines(over_http(url, Some(Path::new("/s/token")))), expected);
        let open = lines(over_http(url, None)).join("\n");
        assert!(
            !open.contains("Authorization") && !open.contains("TOKEN"),
            "{open}"
        );
        let export = export_token(Path::new("/my state/token"));
        assert_eq!(export, "export SWITCHBOARD_TOKEN=$(cat '/my state/token')");
    }
}
