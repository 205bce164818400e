//! Fields that apply to one kind of server, and fields that apply to all.

use std::path::Path;
use std::time::Duration;

use switchboard_core::environment::Environment;
use switchboard_core::spec::Layer;

use crate::{Config, Expansion, ProblemKind};

const PROCESS: &str = r#""command": "server""#;
const REMOTE: &str = r#""url": "https://example.com/mcp""#;

fn read(file: &str) -> Config {
    Config::read(file, Path::new("/home/me/mcp.json"), Layer::User)
}

/// The retries of the only server: how many, and the first wait.
fn retries(config: &Config) -> (Option<u32>, Option<Duration>) {
    let host: Environment = [("PATH".to_owned(), "/bin".to_owned())]
        .into_iter()
        .collect();
    let with = Expansion::new(&host, Path::new("/shop"));
    let spec = config.entries()[0].expand(&with).unwrap();
    (spec.settings.max_retries, spec.settings.retry_backoff)
}

#[test]
fn retries_are_read_for_every_transport_without_a_warning() {
    for server in [PROCESS, REMOTE] {
        for (retries_key, backoff_key) in [
            ("max_retries", "retry_backoff"),
            ("http_max_retries", "http_retry_backoff"),
        ] {
            let keys = format!(r#""{retries_key}": 2, "{backoff_key}": "3s""#);
            let in_entry = format!(r#"{{"mcpServers": {{"s": {{{server}, {keys}}}}}}}"#);
            let in_defaults =
                format!(r#"{{"defaults": {{{keys}}}, "mcpServers": {{"s": {{{server}}}}}}}"#);
            for file in [in_entry, in_defaults] {
                let config = read(&file);
                assert!(config.problems().is_empty(), "{file}: {config:?}");
                let expected = (Some(2), Some(Duration::from_secs(3)));
                assert_eq!(retries(&config), expected, "{file}");
            }
        }
    }
}

#[test]
fn a_field_of_the_other_kind_of_server_has_no_effect() {
    for (server, field) in [
        (PROCESS, r#""follow_redirects": false"#),
        (REMOTE, r#""cwd": "/tmp""#),
    ] {
        let config = read(&format!(
            r#"{{"mcpServers": {{"s": {{{server}, {field}}}}}}}"#
        ));
        let kinds: Vec<ProblemKind> = config.problems().iter().map(crate::Problem::kind).collect();
        assert_eq!(kinds, [ProblemKind::Unused], "{field}");
    }
}
