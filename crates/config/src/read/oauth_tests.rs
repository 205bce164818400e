//! The `oauth` block, of ours and as other clients write it.

use std::path::{Path, PathBuf};

use switchboard_core::environment::Environment;
use switchboard_core::secret::Secret;
use switchboard_core::spec::{Endpoint, Layer, OAuth, OAuthGrant, OAuthResource};

use crate::{Client, Config, Expansion, ProblemKind, Severity, read_client};

fn file(block: &str) -> String {
    format!(r#"{{"mcpServers": {{"s": {{"url": "https://example.com/mcp", {block}}}}}}}"#)
}

fn read(block: &str) -> Config {
    Config::read(&file(block), Path::new("/home/me/mcp.json"), Layer::User)
}

/// The block of the only server, filled in.
fn oauth_of(config: &Config) -> Option<OAuth> {
    let variables = [("SECRET".to_owned(), "s3cret".to_owned())];
    let host: Environment = variables.into_iter().collect();
    let with = Expansion::new(&host, Path::new("/shop"));
    let spec = config.entries()[0].expand(&with).unwrap();
    match spec.endpoint {
        Endpoint::Remote(remote) => remote.oauth.map(|oauth| *oauth),
        Endpoint::Process(_) => panic!("a command"),
    }
}

#[test]
fn every_member_is_read_in_either_case() {
    let config = read(
        r#""oauth": {
            "clientId": "app", "client_secret": "${SECRET}", "scopes": ["a", "b"], "callbackPort": 8123,
            "redirectUri": "http://127.0.0.1:8123/back", "resource": "omit", "issuer": "https://id.example.com",
            "authorizationEndpoint": "https://id.example.com/a", "tokenEndpoint": "https://id.example.com/t",
            "device_authorization_endpoint": "https://id.example.com/d", "grant": "device_code",
            "clientMetadataUrl": "https://example.com/client.json", "assertionFile": "token"
        }"#,
    );
    assert_eq!(config.problems(), []);
    let mut expected = OAuth::default();
    expected.client_id = Some("app".to_owned());
    expected.client_secret = Some(Secret::new("s3cret".to_owned()));
    expected.scopes = Some(vec!["a".to_owned(), "b".to_owned()]);
    expected.callback_port = Some(8123);
    expected.redirect_uri = Some("http://127.0.0.1:8123/back".to_owned());
    expected.resource = OAuthResource::Omit;
    expected.issuer = Some("https://id.example.com".to_owned());
    expected.authorization_endpoint = Some("https://id.example.com/a".to_owned());
    expected.token_endpoint = Some("https://id.example.com/t".to_owned());
    expected.device_authorization_endpoint = Some("https://id.example.com/d".to_owned());
    expected.grant = OAuthGrant::DeviceCode;
    expected.client_metadata_url = Some("https://example.com/client.json".to_owned());
    expected.assertion_file = Some(PathBuf::from("/home/me/token"));
    assert_eq!(oauth_of(&config), Some(expected));
}

#[test]
fn an_entry_without_a_block_has_none_and_an_empty_one_is_the_default() {
    assert_eq!(oauth_of(&read(r#""enabled": true"#)), None);
    assert_eq!(oauth_of(&read(r#""oauth": false"#)), None);
    assert_eq!(oauth_of(&read(r#""oauth": {}"#)), Some(OAuth::default()));
}

#[test]
fn the_forms_of_other_clients_are_understood() {
    let scopes = |config: &Config| oauth_of(config).and_then(|oauth| oauth.scopes);
    let both = Some(vec!["a".to_owned(), "b".to_owned()]);
    assert_eq!(scopes(&read(r#""oauth": {"scope": "a b"}"#)), both);
    assert_eq!(scopes(&read(r#""scopes": ["a", "b"]"#)), both);
    assert_eq!(
        oauth_of(&read(r#""auth": "oauth""#)),
        Some(OAuth::default())
    );
    let text = "[mcp_servers.s]\nurl = \"https://example.com/mcp\"\nscopes = [\"a\", \"b\"]\n\
                oauth_resource = \"https://example.com\"\n";
    let path = Path::new("/home/me/.codex/config.toml");
    let config = read_client(text, path, Layer::User, Client::Codex);
    assert_eq!(config.problems(), []);
    let oauth = oauth_of(&config).unwrap();
    assert_eq!(oauth.scopes, both);
    let resource = OAuthResource::Value("https://example.com".to_owned());
    assert_eq!(oauth.resource, resource);
}

#[test]
fn a_secret_that_is_written_out_is_a_warning() {
    let config = read(r#""oauth": {"clientId": "a", "clientSecret": "hunter2"}"#);
    let [problem] = config.problems() else {
        panic!("{:?}", config.problems());
    };
    assert_eq!(problem.kind(), ProblemKind::Suspicious);
    assert_eq!(problem.severity(), Severity::Warning);
    assert!(!format!("{problem:?}").contains("hunter2"));
    assert_eq!(config.entries().len(), 1);
}

#[test]
fn a_block_that_makes_no_sense_costs_its_entry() {
    for block in [
        r#""oauth": "yes""#,
        r#""oauth": {"clientId": 7}"#,
        r#""oauth": {"callbackPort": 0}"#,
        r#""oauth": {"callbackPort": 70000}"#,
        r#""oauth": {"grant": "implicit"}"#,
        r#""oauth": {"issuer": "http://id.example.com"}"#,
        r#""oauth": {"issuer": "file:///etc"}"#,
        r#""oauth": {"tokenEndpoint": "https://id.example.com/t"}"#,
        r#""oauth": {"clientSecret": "${SECRET}"}"#,
        r#""oauth": {"grant": "client_credentials"}"#,
        r#""oauth": {"grant": "workload"}"#,
    ] {
        let config = read(block);
        assert!(config.problems().iter().any(|it| it.is_error()), "{block}");
        assert!(config.entries().is_empty(), "{block}");
    }
}

#[test]
fn an_unknown_member_is_named_with_the_one_that_was_meant() {
    let config = read(r#""oauth": {"cliendId": "a"}"#);
    let [problem] = config.problems() else {
        panic!("{:?}", config.problems());
    };
    assert_eq!(problem.kind(), ProblemKind::UnknownKey);
    assert!(
        problem
            .hints()
            .iter()
            .any(|hint| hint.contains("client_id"))
    );
}
