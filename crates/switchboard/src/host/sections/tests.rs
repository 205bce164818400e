//! What the person's own file says counts, unless the program or an entry says it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::ErrorKind;
use crate::config::Config;
use crate::host::registry::{Approved, InputAnswers, transport};
use crate::host::{Host, HostBuilder, HostLimits};
use crate::limits::{Budget, Deadline, Limits, Timeouts};
use crate::spec::{Endpoint, Layer, ServerName, ServerSpec};
use crate::talk::Roots;

const SECONDS: fn(u64) -> Duration = Duration::from_secs;

fn host(own: &str, with: impl FnOnce(HostBuilder) -> HostBuilder) -> Host {
    let config = Config::read(own, Path::new("/home/me/mcp.json"), Layer::User);
    with(Host::builder()).config(&config).build().unwrap()
}

/// The spec of the server `a`, as it would be connected to.
fn spec(host: &Host) -> ServerSpec {
    let member = host
        .0
        .registry
        .member(&ServerName::parse("a").unwrap())
        .unwrap();
    let crate::host::member::Source::Entry(entry) = &member.source else {
        panic!("no entry");
    };
    host.0
        .registry
        .expanded(entry, Approved::default(), &InputAnswers::default())
        .unwrap()
}

fn times(host: &Host) -> Timeouts {
    let spec = spec(host);
    let (roots, secrets) = (Roots::default(), Arc::default());
    let registry = &host.0.registry;
    let options = registry.session_options(&spec.name, &spec.settings, &roots, &secrets);
    options.timeouts
}

#[test]
fn bounds_of_the_file_count_unless_the_program_sets_them() {
    let own = r#"{"limits": {"in_flight": 3, "list_items": 9, "list_age": "7s", "total_held_bytes": "70 MiB"}}"#;
    let plain = host(own, |builder| builder);
    let options = &plain.0.registry.options();
    assert_eq!((options.limits.in_flight, options.limits.items), (3, 9));
    assert_eq!(options.host_limits.list_age, SECONDS(7));
    assert_eq!(options.budget.limit_bytes(), 70 << 20);

    let set = |builder: HostBuilder| {
        let builder = builder
            .limits(Limits::default())
            .host_limits(HostLimits::default());
        builder.budget(&Budget::of(5))
    };
    let program = host(own, set);
    let options = &program.0.registry.options();
    assert_eq!(options.limits, Limits::default());
    assert_eq!(options.host_limits, HostLimits::default());
    assert_eq!(options.budget.limit_bytes(), 5);
}

#[test]
fn times_are_the_entrys_then_the_files_and_before_both_the_programs() {
    let own = |entry: &str| {
        format!(
            r#"{{"mcpServers": {{"a": {{"command": "x"{entry}}}}},
                "limits": {{"timeouts": {{"idle": 5, "call": 50, "total": "2h"}}}}}}"#
        )
    };
    let of = |connect, discovery, execution| {
        let deadline = |idle| Deadline {
            idle: SECONDS(idle),
            total: SECONDS(7200),
        };
        Timeouts {
            connect: deadline(connect),
            discovery: deadline(discovery),
            execution: deadline(execution),
        }
    };
    let plain = |builder| builder;
    assert_eq!(times(&host(&own(""), plain)), of(5, 5, 50));
    assert_eq!(times(&host(&own(r#", "timeout": 7"#), plain)), of(7, 7, 7));
    assert_eq!(
        times(&host(&own(r#", "connect_timeout": 9"#), plain)),
        of(9, 5, 50)
    );
    let program = Timeouts::all(Deadline::within(SECONDS(1)));
    let host = host(&own(r#", "timeout": 7"#), |builder| {
        builder.timeouts(program)
    });
    assert_eq!(times(&host), program);
}

#[test]
fn a_launcher_has_two_minutes_to_connect_unless_somebody_says_otherwise() {
    let connect = |entry: &str, limits: &str| {
        let own = format!(
            r#"{{"mcpServers": {{"a": {{"command": "npx", "args": ["-y", "x"]{entry}}}}},
                "limits": {limits}}}"#
        );
        times(&host(&own, |builder| builder)).connect.idle
    };
    assert_eq!(connect("", "{}"), SECONDS(120));
    assert_eq!(connect(r#", "connect_timeout": 30"#, "{}"), SECONDS(30));
    assert_eq!(connect(r#", "timeout": "30s""#, "{}"), SECONDS(30));
    let said = r#"{"timeouts": {"connect": 30}}"#;
    assert_eq!(connect("", said), SECONDS(30));
    let call = r#"{"timeouts": {"call": 50}}"#;
    assert_eq!(connect("", call), SECONDS(120));
}

#[cfg(feature = "http")]
mod http {
    use super::*;
    use crate::transport::{Environment, Proxy};

    fn at(url: &str, network: &str) -> String {
        format!(r#"{{"mcpServers": {{"a": {{"url": "{url}"}}}}, "network": {network}}}"#)
    }

    fn reached(host: &Host) -> Result<(), ErrorKind> {
        let spec = spec(host);
        let made = transport(&spec, &host.0.registry.options(), None);
        made.map(drop).map_err(|error| error.kind())
    }

    #[test]
    fn an_allowed_address_is_reached_and_no_metadata_service() {
        let allowed = r#"{"allowed_addresses": ["169.254.0.0/16"]}"#;
        let (link, cloud) = ("http://169.254.7.9/mcp", "http://169.254.169.254/mcp");
        let plain = |builder| builder;
        assert!(reached(&host(&at(link, "{}"), plain)).is_err());
        assert_eq!(reached(&host(&at(link, allowed), plain)), Ok(()));
        assert!(reached(&host(&at(cloud, allowed), plain)).is_err());
        let none = |builder: HostBuilder| builder.allow_addresses([]);
        assert!(reached(&host(&at(link, allowed), none)).is_err());
        let some =
            |builder: HostBuilder| builder.allow_addresses(["169.254.7.0/24".parse().unwrap()]);
        assert_eq!(reached(&host(&at(link, "{}"), some)), Ok(()));
        let older = at(link, allowed).replace("\"url\"", "\"type\": \"sse\", \"url\"");
        assert_eq!(reached(&host(&older, plain)), Ok(()));
    }

    #[test]
    fn the_proxy_is_the_programs_or_the_files_or_that_of_the_environment() {
        let of = |host: &Host| match host.0.registry.options().proxy.clone() {
            Some(Proxy::Of { https, except, .. }) => {
                let url = https.map(|url| url.expose().clone());
                Some((url.unwrap_or_default(), except.unwrap_or_default()))
            }
            _ => None,
        };
        let own = |proxy: &str| {
            at(
                "https://x.example",
                &format!(r#"{{"proxy": "{proxy}", "no_proxy": ["y.example"]}}"#),
            )
        };
        let variables = [("HTTPS_PROXY", "http://of.env"), ("NO_PROXY", "z")];
        let environment: Environment = variables
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .collect();
        let plain = |builder| builder;
        let (url, except) = of(&host(&own("http://of.file"), plain)).unwrap();
        assert_eq!(url, "http://of.file");
        assert_eq!(except, "localhost,127.0.0.0/8,::1,y.example");
        let with = |builder: HostBuilder| builder.environment(&environment);
        let expected = Some(("http://of.env".to_owned(), "z".to_owned()));
        assert_eq!(of(&host(&own("env"), with)), expected);
        assert_eq!(of(&host(&own("none"), with)), None);
        let program = |builder: HostBuilder| builder.proxy(&Proxy::None);
        assert_eq!(of(&host(&own("http://of.file"), program)), None);
    }

    #[test]
    fn where_the_way_is_unclear_no_server_at_a_url_is_reached_and_others_are() {
        let own = at("https://x.example", r#"{"proxy": 1}"#);
        let unclear = host(&own, |builder| builder);
        assert_eq!(reached(&unclear), Err(ErrorKind::Configuration));
        let program = own.replace(r#""url": "https://x.example""#, r#""command": "x""#);
        assert_eq!(reached(&host(&program, |builder| builder)), Ok(()));
    }

    #[test]
    fn the_password_of_a_proxy_is_a_secret_of_the_server() {
        let own = at(
            "https://x.example",
            r#"{"proxy": "http://me:canary-pw@proxy.example"}"#,
        );
        let host = host(&own, |builder| builder);
        let secrets = host.0.registry.secrets_of(&spec(&host));
        assert!(!secrets.redact("failed: canary-pw").contains("canary"));
    }
}

/// What is not for processes must not cost them anything.
#[test]
fn a_server_that_is_started_needs_no_network() {
    let own = r#"{"mcpServers": {"a": {"command": "x"}}, "network": {"ca_file": "/none.pem"}}"#;
    let host = host(own, |builder| builder);
    assert!(matches!(spec(&host).endpoint, Endpoint::Process(_)));
    let problems = host.config_problems();
    assert!(
        problems
            .iter()
            .any(|problem| problem.message().contains("ca_file")),
        "{problems:?}"
    );
}
