//! Resources that are watched: told of by the words of each era, and never for nothing.

mod ends;

use std::time::Duration;

use serde_json::{Value, json};
use switchboard::host::{Host, HostBuilder, HostLimits, Update, Watching};
use switchboard::policy::{Level, Policy, Verb};
use switchboard::spec::{Protocol, ServerSpec};
use switchboard::transport::Memory;
use switchboard::{Caller, Error, ErrorKind, View};
use switchboard_testkit::Options;
use switchboard_testkit::http::Http;
use tokio::time::timeout;

use crate::host_support::agents::{agent, allowing};
use crate::host_support::{PATIENCE, Tap, With as _, call, tapped, testkit};
use crate::support::wire::{Wire, hello_legacy, hello_modern};

const ERAS: [Protocol; 2] = [Protocol::Legacy, Protocol::Modern];

fn growing() -> Options {
    Options {
        growing: true,
        ..Options::default()
    }
}

/// What bounds a host that does not wait long before it tries again.
fn quick() -> HostLimits {
    let mut limits = HostLimits::default();
    limits.relisten = Duration::from_millis(1);
    limits
}

fn builder(protocol: Protocol) -> HostBuilder {
    Host::builder().protocol(protocol).host_limits(quick())
}

fn host(protocol: Protocol) -> (Host, Tap) {
    let (memory, tap) = tapped(growing());
    let host = builder(protocol).with("one", memory).build().unwrap();
    (host, tap)
}

fn owner(host: &Host) -> View {
    host.view(Caller::owner())
}

async fn watch(host: &Host, uri: &str) -> Watching {
    let view = owner(host);
    let watching = timeout(PATIENCE, view.watch("one", uri)).await;
    watching.unwrap().unwrap()
}

async fn next(watching: &mut Watching) -> Result<Update, Error> {
    timeout(PATIENCE, watching.next()).await.unwrap()
}

async fn touch(host: &Host, uri: &str) {
    call(
        host,
        "one/touch_resource",
        json!({"uri": uri, "text": "new"}),
    )
    .await;
}

fn changed(uri: &str) -> Update {
    Update::Changed(uri.to_owned())
}

/// Waits until a server was asked something that often.
async fn until_asked(tap: &Tap, method: &str, times: usize) {
    let asked = async {
        while tap.count(method) < times {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, asked).await.unwrap();
}

#[tokio::test]
async fn who_watches_is_told_of_a_resource_and_of_what_is_below_it() {
    for era in ERAS {
        let (host, _) = host(era);
        let mut data = watch(&host, "file:///data").await;
        let mut readme = watch(&host, "file:///readme.txt").await;
        for uri in ["file:///database", "file:///data/users.csv", "file:///data"] {
            touch(&host, uri).await;
        }
        assert_eq!(
            next(&mut data).await.unwrap(),
            changed("file:///data/users.csv")
        );
        assert_eq!(next(&mut data).await.unwrap(), changed("file:///data"));
        touch(&host, "file:///readme.txt").await;
        assert_eq!(
            next(&mut readme).await.unwrap(),
            changed("file:///readme.txt")
        );
        assert_eq!(readme.uri(), "file:///readme.txt");
        host.shutdown().await;
        assert_eq!(
            next(&mut data).await.unwrap_err().kind(),
            ErrorKind::Connect
        );
    }
}

#[tokio::test]
async fn over_http_it_is_the_same() {
    for era in ERAS {
        let server = Http::new(growing()).serve().await.unwrap();
        let spec = ServerSpec::http("one", &server.url()).unwrap();
        let host = builder(era).server(spec).build().unwrap();
        let mut data = watch(&host, "file:///data").await;
        let mut other = watch(&host, "file:///config.json").await;
        touch(&host, "file:///data/users.csv").await;
        touch(&host, "file:///config.json").await;
        assert_eq!(
            next(&mut data).await.unwrap(),
            changed("file:///data/users.csv")
        );
        assert_eq!(
            next(&mut other).await.unwrap(),
            changed("file:///config.json")
        );
        host.shutdown().await;
    }
}

#[tokio::test]
async fn a_legacy_server_is_asked_once_and_told_to_stop_when_the_last_one_goes() {
    let (host, tap) = host(Protocol::Legacy);
    let first = watch(&host, "file:///data").await;
    let mut second = watch(&host, "file:///data").await;
    assert_eq!(tap.count("resources/subscribe"), 1);
    drop(first);
    touch(&host, "file:///data").await;
    assert_eq!(next(&mut second).await.unwrap(), changed("file:///data"));
    assert_eq!(tap.count("resources/unsubscribe"), 0);
    drop(second);
    until_asked(&tap, "resources/unsubscribe", 1).await;
    let mut third = watch(&host, "file:///data").await;
    assert_eq!(tap.count("resources/subscribe"), 2);
    touch(&host, "file:///data").await;
    assert_eq!(next(&mut third).await.unwrap(), changed("file:///data"));
}

#[tokio::test]
async fn who_comes_right_after_another_has_gone_is_told_as_well() {
    for era in ERAS {
        let (host, _) = host(era);
        let mut data = watch(&host, "file:///data").await;
        for _ in 0..20 {
            drop(data);
            data = watch(&host, "file:///data").await;
            touch(&host, "file:///data").await;
            assert_eq!(next(&mut data).await.unwrap(), changed("file:///data"));
        }
    }
}

#[tokio::test]
async fn a_modern_server_has_one_subscription_for_all_and_none_when_the_last_one_goes() {
    let (host, tap) = host(Protocol::Modern);
    let open = async |count: &str| {
        let counted = async {
            while call(&host, "one/listening", json!({})).await != count {
                tokio::task::yield_now().await;
            }
        };
        timeout(PATIENCE, counted).await.unwrap();
    };
    let first = watch(&host, "file:///data").await;
    // One is for the lists.
    open("2").await;
    let mut second = watch(&host, "file:///readme.txt").await;
    open("2").await;
    drop(first);
    open("2").await;
    touch(&host, "file:///readme.txt").await;
    assert_eq!(
        next(&mut second).await.unwrap(),
        changed("file:///readme.txt")
    );
    drop(second);
    open("1").await;
    assert_eq!(tap.count("resources/subscribe"), 0);
}

#[tokio::test]
async fn however_a_subscription_ends_it_is_opened_again_and_all_is_to_be_read_again() {
    for how in ["result", "error", "cancelled", "cut"] {
        let (host, tap) = host(Protocol::Modern);
        let mut data = watch(&host, "file:///data").await;
        let before = tap.count("subscriptions/listen");
        let tool = owner(&host).find("one/end_listening").await.unwrap();
        // Where the connection is cut there is no answer.
        tool.call(json!({"how": how})).await.ok();
        assert_eq!(next(&mut data).await.unwrap(), Update::Again, "{how}");
        assert!(tap.count("subscriptions/listen") > before);
        touch(&host, "file:///data").await;
        assert_eq!(
            next(&mut data).await.unwrap(),
            changed("file:///data"),
            "{how}"
        );
    }
}

#[tokio::test]
async fn a_connection_that_was_wanted_gone_is_not_made_again_until_somebody_wants_it() {
    for era in ERAS {
        let (host, _) = host(era);
        let mut data = watch(&host, "file:///data").await;
        host.disconnect("one").await.unwrap();
        let waited = timeout(Duration::from_millis(50), data.next()).await;
        assert!(waited.is_err(), "{waited:?}");
        assert!(host.server("one").unwrap().pid.is_none());
        host.connect("one").await.unwrap();
        assert_eq!(next(&mut data).await.unwrap(), Update::Again);
    }
}

/// A server that has resources, dies when a tool is called, and answers other requests as it is told.
#[tokio::test]
async fn a_flood_costs_no_more_than_its_addresses_and_what_is_left_out_is_counted() {
    for era in ERAS {
        let mut limits = quick();
        limits.updates = 2;
        let memory = testkit(growing());
        let host = Host::builder().protocol(era).host_limits(limits);
        let host = host.with("one", memory).build().unwrap();
        let mut data = watch(&host, "file:///data").await;
        for number in 0..500 {
            touch(&host, &format!("file:///data/{}", number % 5)).await;
        }
        touch(&host, "file:///data/0").await;
        assert_eq!(next(&mut data).await.unwrap(), changed("file:///data/0"));
        assert_eq!(next(&mut data).await.unwrap(), changed("file:///data/1"));
        assert_eq!(next(&mut data).await.unwrap(), Update::Missed(300));
        touch(&host, "file:///data/4").await;
        assert_eq!(next(&mut data).await.unwrap(), changed("file:///data/4"));
    }
}

#[tokio::test]
async fn no_more_is_watched_than_the_limit_says() {
    let mut limits = quick();
    limits.watches = 1;
    let host = Host::builder().host_limits(limits);
    let host = host.with("one", testkit(growing())).build().unwrap();
    let _first = watch(&host, "file:///a").await;
    let _again = watch(&host, "file:///a").await;
    owner(&host).watch("one", "file:///b").await.unwrap_err();
}

fn granted(grants: &[&str]) -> Policy {
    allowing("planner", Level::Yolo, grants)
}

#[tokio::test]
async fn to_an_agent_what_it_may_not_watch_looks_like_what_is_not_there() {
    let (memory, tap) = tapped(growing());
    let host = builder(Protocol::Legacy).with("one", memory);
    let policy = granted(&["mcp:one:resource/file:///a*"]);
    let host = host.policy(policy.clone().conceal_denials(true));
    let host = host.build().unwrap();
    let view = host.view(agent("planner"));
    let said = |error: Error| (error.kind(), error.to_string(), error.server().cloned());
    let denied = said(view.watch("one", "file:///b").await.unwrap_err());
    let absent = said(view.watch("none", "file:///b").await.unwrap_err());
    assert_eq!(denied, absent);
    assert_eq!(denied.0, ErrorKind::NotFound);
    host.set_policy(policy);
    let error = view.watch("one", "file:///b").await.unwrap_err();
    assert_eq!(error.denial().unwrap().item.verb, Verb::Subscribe);
    assert_eq!(tap.count("initialize"), 0, "nothing was started for it");
    let mut watching = view.watch("one", "file:///a").await.unwrap();
    // The grant ends, and so does the watch.
    touch(&host, "file:///a").await;
    host.set_policy(granted(&[]));
    let error = next(&mut watching).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied);
}

#[tokio::test]
async fn an_agent_learns_no_address_that_it_may_not_see() {
    let host = builder(Protocol::Modern).with("one", testkit(growing()));
    let policy = granted(&["mcp:one:resource/file:///data", "mcp:one:resource/*.csv"]);
    let host = host.policy(policy).build().unwrap();
    let view = host.view(agent("planner"));
    let mut watching = view.watch("one", "file:///data").await.unwrap();
    touch(&host, "file:///data/keys.pem").await;
    touch(&host, "file:///data/users.csv").await;
    assert_eq!(next(&mut watching).await.unwrap(), changed("file:///data"));
    assert_eq!(
        next(&mut watching).await.unwrap(),
        changed("file:///data/users.csv")
    );
}
