use std::path::PathBuf;
use std::time::Duration;

use crate::limits::Deadline;
use crate::spec::{NameStyle, OAuth, OAuthGrant, OAuthResource, Protocol, Settings, ToolFilter};
use serde_json::json;

use super::*;

fn variables(written: &Written) -> Vec<(&str, &str)> {
    let pairs = written.variables.iter();
    pairs
        .map(|(name, value)| (name.as_str(), value.expose().as_str()))
        .collect()
}

/// Expands every reference of a written value once, as a reader would.
fn expand(text: &str, variables: &[(String, Secret<String>)]) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${") {
        let (name, after) = behind.split_once('}').unwrap();
        let (_, value) = variables.iter().find(|(other, _)| other == name).unwrap();
        out = out + before + value.expose();
        rest = after;
    }
    out + rest
}

#[test]
fn a_plain_server_is_written_plainly() {
    let spec = ServerSpec::stdio("time", "uvx")
        .unwrap()
        .args(["mcp-server-time", "--tz", "UTC"]);
    for secrets in [Secrets::AsVariables, Secrets::InClear, Secrets::AsTyped] {
        let written = entry(&spec, secrets).unwrap();
        assert_eq!(
            written.value.to_string(),
            r#"{"type":"stdio","command":"uvx","args":["mcp-server-time","--tz","UTC"]}"#
        );
        assert_eq!(variables(&written), []);
    }
    let spec = ServerSpec::sse("old", "https://example.com/sse").unwrap();
    let written = entry(&spec, Secrets::AsVariables).unwrap();
    assert_eq!(
        written.value,
        json!({"type": "sse", "url": "https://example.com/sse"})
    );
}

#[test]
fn secrets_of_a_process_become_variables() {
    let spec = ServerSpec::stdio("git-hub", "npx")
        .unwrap()
        .args([
            "-y",
            "--token",
            "canary1",
            "--header=X-Api-Key:canary2",
            "ghp_canarycanarycanary",
            "postgres://me:canary3@localhost/db",
            r#"{"apiKey": "canary4", "x": "TOKEN=canary5"}"#,
        ])
        .env("GITHUB_TOKEN", "canary6")
        .env("PATH", "/canary7")
        .env("EMPTY", "")
        .env_passthrough(["LANG"])
        .cwd("/srv");
    let written = entry(&spec, Secrets::AsVariables).unwrap();
    assert_eq!(
        written.value,
        json!({
            "type": "stdio",
            "command": "npx",
            "args": [
                "-y",
                "--token",
                "${GIT_HUB_TOKEN}",
                "--header=X-Api-Key:${X_API_KEY}",
                "${GIT_HUB_ARG_5}",
                "postgres://${GIT_HUB_CREDENTIALS}@localhost/db",
                "${GIT_HUB_ARG_7}",
            ],
            "env": {
                "EMPTY": "",
                "GITHUB_TOKEN": "${GITHUB_TOKEN}",
                "PATH": "${GIT_HUB_PATH}",
            },
            "env_passthrough": ["LANG"],
            "cwd": "/srv",
        })
    );
    let Endpoint::Process(process) = &spec.endpoint else {
        panic!("{spec:?}");
    };
    let args = written.value["args"].as_array().unwrap().iter();
    let args: Vec<String> = args
        .map(|arg| expand(arg.as_str().unwrap(), &written.variables))
        .collect();
    assert_eq!(args, process.args);
    assert!(!written.value.to_string().contains("canary"));
    assert!(!format!("{written:?}").contains("canary"));
}

#[test]
fn secrets_of_a_remote_server_become_variables() {
    let address = "https://me:canary1@example.com:8443/s/3f2c9a7e1b4d4c7e9f00aa11/mcp?api_key=canary%202&v=&canary3#canary4";
    let spec = ServerSpec::http("wiki", address)
        .unwrap()
        .header("Authorization", "Bearer canary5")
        .header("X-Team", "canary6")
        .header("Cookie", "canary7");
    let written = entry(&spec, Secrets::AsVariables).unwrap();
    assert_eq!(
        written.value,
        json!({
            "type": "http",
            "url": "https://${WIKI_USER}:${WIKI_PASSWORD}@example.com:8443/s/${WIKI_PATH}/mcp?api_key=${API_KEY}&v=&${WIKI_QUERY}#${WIKI_FRAGMENT}",
            "headers": {
                "Authorization": "Bearer ${WIKI_TOKEN}",
                "X-Team": "${WIKI_TEAM}",
                "Cookie": "${WIKI_COOKIE}",
            },
        })
    );
    let url = written.value["url"].as_str().unwrap();
    assert_eq!(expand(url, &written.variables), address);
    assert!(!format!("{} {written:?}", written.value).contains("canary"));
    let clear = entry(&spec, Secrets::InClear).unwrap();
    assert_eq!(clear.value["url"], address);
    assert_eq!(clear.value["headers"]["Authorization"], "Bearer canary5");
    assert_eq!(variables(&clear), []);
    assert!(!format!("{clear:?}").contains("canary"));
}

#[test]
fn a_literal_reference_survives_as_a_variable_or_is_refused() {
    let spec = ServerSpec::stdio("a", "x")
        .unwrap()
        .args(["${HOME}", "--token=${T}"])
        .env("E", "${F}")
        .cwd("/${G}");
    let written = entry(&spec, Secrets::AsVariables).unwrap();
    assert_eq!(
        written.value,
        json!({
            "type": "stdio",
            "command": "x",
            "args": ["${A_ARG_1}", "--token=${A_TOKEN}"],
            "env": {"E": "${A_E}"},
            "cwd": "${A_CWD}",
        })
    );
    assert_eq!(
        variables(&written),
        [
            ("A_ARG_1", "${HOME}"),
            ("A_TOKEN", "${T}"),
            ("A_E", "${F}"),
            ("A_CWD", "/${G}")
        ]
    );
    let error = entry(&spec, Secrets::InClear).unwrap_err();
    assert_eq!(
        error.to_string(),
        "arg_1 of server \"a\" has \"${\" in it, which would be read as a variable: write it as a variable that holds it"
    );
    let spec = ServerSpec::stdio("a", "x").unwrap().env("E", "canary${F}");
    let error = entry(&spec, Secrets::InClear).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("canary"));
}

#[test]
fn what_was_typed_as_a_reference_stays_one() {
    let spec = ServerSpec::http("a", "https://example.com/${SECRET}/mcp?k=${KEY}")
        .unwrap()
        .header("Authorization", "Bearer ${TOKEN}");
    let written = entry(&spec, Secrets::AsTyped).unwrap();
    assert_eq!(
        written.value,
        json!({
            "type": "http",
            "url": "https://example.com/${SECRET}/mcp?k=${KEY}",
            "headers": {"Authorization": "Bearer ${TOKEN}"},
        })
    );
    assert_eq!(variables(&written), []);
}

#[test]
fn settings_that_differ_from_the_default_are_written() {
    let mut settings = Settings::default();
    settings.timeouts.connect = Deadline::within(Duration::from_secs(90));
    settings.timeouts.discovery = Deadline::within(Duration::from_millis(1500));
    settings.timeouts.execution = Deadline::within(Duration::from_micros(999_500));
    settings.protocol = Protocol::Modern;
    settings.max_retries = Some(0);
    settings.retry_backoff = Some(Duration::from_millis(250));
    settings.cache_tools_list = true;
    settings.reconnect = false;
    settings.max_reconnect_attempts = 2;
    settings.fail_if_no_tools = true;
    settings.tools = ToolFilter {
        allow: Some(Vec::new()),
        block: vec!["drop".into()],
    };
    settings.name_style = Some(NameStyle::Single);
    settings.clean_arguments = true;
    settings.idempotent_tools = vec!["get".into()];
    settings.roots = vec![PathBuf::from("/srv/data")];
    settings.sampling = true;
    settings.suggested_tools = vec!["never".into()];
    let mut spec = ServerSpec::http("a", "https://example.com/mcp")
        .unwrap()
        .settings(settings);
    spec.is_enabled = false;
    if let Endpoint::Remote(remote) = &mut spec.endpoint {
        remote.streamable = false;
        remote.strict_session_id = true;
    }
    assert_eq!(
        entry(&spec, Secrets::InClear).unwrap().value,
        json!({
            "type": "http",
            "url": "https://example.com/mcp",
            "streamable": false,
            "strict_session_id": true,
            "disabled": true,
            "connect_timeout": "90s",
            "discovery_timeout": "1500ms",
            "execution_timeout": "1s",
            "max_retries": 0,
            "retry_backoff": "250ms",
            "cache_tools_list": true,
            "reconnect": false,
            "fail_if_no_tools": true,
            "clean_arguments": true,
            "sampling": true,
            "max_reconnect_attempts": 2,
            "protocol": "2026-07-28",
            "name_style": "mcp_server_tool",
            "include_tools": [],
            "exclude_tools": ["drop"],
            "idempotent_tools": ["get"],
            "roots": ["/srv/data"],
        })
    );
}

#[test]
fn the_login_of_a_server_is_written_with_its_secrets_as_variables() {
    let mut oauth = OAuth::default();
    oauth.client_id = Some("app".to_owned());
    oauth.client_secret = Some("hunter2".into());
    oauth.scopes = Some(vec!["a".to_owned(), "b".to_owned()]);
    oauth.callback_port = Some(8123);
    oauth.resource = OAuthResource::Omit;
    oauth.issuer = Some("https://id.example.com".to_owned());
    oauth.grant = OAuthGrant::DeviceCode;
    let mut spec = ServerSpec::http("a", "https://example.com/mcp").unwrap();
    let Endpoint::Remote(remote) = &mut spec.endpoint else {
        panic!("a command");
    };
    remote.oauth = Some(Box::new(oauth));
    let written = entry(&spec, Secrets::AsVariables).unwrap().value;
    assert_eq!(
        written["oauth"],
        json!({
            "clientId": "app",
            "clientSecret": "${OAUTH_CLIENT_SECRET}",
            "scopes": ["a", "b"],
            "callbackPort": 8123,
            "resource": "omit",
            "issuer": "https://id.example.com",
            "grant": "device_code",
        })
    );
    let in_clear = entry(&spec, Secrets::InClear).unwrap().value;
    assert_eq!(in_clear["oauth"]["clientSecret"], "hunter2");
}

#[test]
fn a_document_shares_variables_and_keeps_others_apart() {
    let server = |name, token: &str| {
        ServerSpec::stdio(name, "x")
            .unwrap()
            .env("API_TOKEN", token)
    };
    let specs = [server("a", "1"), server("b", "1"), server("c", "2")];
    let written = document(&specs, Secrets::AsVariables).unwrap();
    let entry =
        |reference| json!({"type": "stdio", "command": "x", "env": {"API_TOKEN": reference}});
    assert_eq!(
        written.value,
        json!({"mcpServers": {
            "a": entry("${API_TOKEN}"),
            "b": entry("${API_TOKEN}"),
            "c": entry("${C_API_TOKEN}"),
        }})
    );
    assert_eq!(
        variables(&written),
        [("API_TOKEN", "1"), ("C_API_TOKEN", "2")]
    );
    let twice = [server("a", "1"), server("a", "2")];
    assert_eq!(
        document(&twice, Secrets::InClear).unwrap_err(),
        WriteError::Twice { name: "a".into() }
    );
}

#[test]
fn what_has_no_place_in_json_is_refused() {
    let spec = ServerSpec::http("a", "https://example.com")
        .unwrap()
        .header("X-A", "1")
        .header("x-a", "2");
    let error = entry(&spec, Secrets::InClear).unwrap_err();
    assert_eq!(error.to_string(), "\"x-a\" is there twice");
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_text_is_refused() {
    use std::os::unix::ffi::OsStringExt as _;

    let folder = std::ffi::OsString::from_vec(vec![b'/', 0xff]);
    let spec = ServerSpec::stdio("a", "x").unwrap().cwd(folder);
    let error = entry(&spec, Secrets::AsVariables).unwrap_err();
    assert_eq!(error.to_string(), "cwd of server \"a\" is not UTF-8");
}
