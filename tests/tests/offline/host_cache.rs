//! Lists that are kept from one connection to the next: only where that is asked for or the server
//! says so, and never longer.

use std::time::Duration;

use serde_json::json;
use switchboard::catalog::Freshness;
use switchboard::host::{Host, HostBuilder};
use switchboard::spec::{Protocol, Settings};
use switchboard_testkit::Options;
use tokio::time::{advance, sleep};

use crate::host_support::{Tap, name, scripted, tapped, tools, until, usual};

fn keeping() -> Settings {
    let mut settings = Settings::default();
    settings.cache_tools_list = true;
    settings
}

fn kept(era: Protocol, settings: Settings) -> (HostBuilder, Tap) {
    let (memory, tap) = tapped(Options::default());
    let builder = Host::builder().protocol(era);
    (builder.transport(name("demo"), memory, settings), tap)
}

async fn again(host: &Host) {
    host.disconnect("demo").await.unwrap();
    let status = host.connect("demo").await.unwrap();
    assert!(status.is_ready(), "{status:?}");
    assert_eq!(status.offers.tools, 7);
    let live = until(host, "it is live", |catalog| {
        catalog.server("demo").unwrap().freshness() == Freshness::Live
    });
    live.await;
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_kept_is_read_again_after_five_minutes_and_no_sooner() {
    let (builder, tap) = kept(Protocol::Legacy, keeping());
    let host = builder.build().unwrap();
    host.connect("demo").await.unwrap();
    host.connect("demo").await.unwrap();
    again(&host).await;
    advance(Duration::from_secs(290)).await;
    again(&host).await;
    assert_eq!(tap.lists(), (1, 1, 1));
    assert_eq!(tap.count("initialize"), 3);
    advance(Duration::from_secs(11)).await;
    again(&host).await;
    assert_eq!(tap.lists(), (2, 2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_list_is_kept_only_where_that_is_asked_for() {
    let (builder, tap) = kept(Protocol::Legacy, Settings::default());
    let host = builder.build().unwrap();
    host.connect("demo").await.unwrap();
    host.connect("demo").await.unwrap();
    assert_eq!(tap.lists(), (1, 1, 1), "it is connected");
    again(&host).await;
    assert_eq!(tap.lists(), (2, 2, 2));
}

#[tokio::test(start_paused = true)]
async fn whoever_asks_for_a_fresh_list_gets_one() {
    let (builder, tap) = kept(Protocol::Legacy, keeping());
    let host = builder.build().unwrap();
    host.refresh("demo").await.unwrap();
    assert_eq!(tap.lists(), (1, 1, 1));
    host.refresh("demo").await.unwrap();
    assert_eq!(tap.lists(), (2, 2, 2), "on a live connection");
    host.disconnect("demo").await.unwrap();
    host.refresh("demo").await.unwrap();
    assert_eq!(tap.lists(), (3, 3, 3), "and on a new one");
    again(&host).await;
    assert_eq!(tap.lists(), (3, 3, 3), "which is kept again");
}

#[tokio::test(start_paused = true)]
async fn how_long_a_modern_server_says_counts_up_to_a_bound() {
    // The server says a minute.
    let (builder, tap) = kept(Protocol::Modern, Settings::default());
    let host = builder.build().unwrap();
    host.connect("demo").await.unwrap();
    advance(Duration::from_secs(59)).await;
    again(&host).await;
    assert_eq!(tap.lists(), (1, 1, 1));
    advance(Duration::from_secs(2)).await;
    again(&host).await;
    assert_eq!(tap.lists(), (2, 2, 2));

    // And is believed more than the setting.
    let (builder, tap) = kept(Protocol::Modern, keeping());
    let host = builder.build().unwrap();
    host.connect("demo").await.unwrap();
    advance(Duration::from_secs(61)).await;
    again(&host).await;
    assert_eq!(tap.lists(), (2, 2, 2));

    let (builder, tap) = kept(Protocol::Modern, Settings::default());
    let mut limits = switchboard::Limits::default();
    limits.ttl = Duration::from_secs(10);
    let host = builder.limits(limits).build().unwrap();
    host.connect("demo").await.unwrap();
    advance(Duration::from_secs(9)).await;
    again(&host).await;
    assert_eq!(tap.lists(), (1, 1, 1));
    advance(Duration::from_secs(2)).await;
    again(&host).await;
    assert_eq!(tap.lists(), (2, 2, 2));
}

#[tokio::test(start_paused = true)]
async fn each_list_has_its_own_age() {
    let (memory, script) = scripted(|method, _| Some(usual(method)));
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.transport(name("demo"), memory, keeping());
    let host = host.build().unwrap();
    host.connect("demo").await.unwrap();
    sleep(Duration::from_secs(200)).await;
    script.say("notifications/prompts/list_changed");
    sleep(Duration::from_secs(5)).await;
    assert_eq!(script.tap.lists(), (1, 2, 1));
    sleep(Duration::from_secs(200)).await;
    host.disconnect("demo").await.unwrap();
    host.connect("demo").await.unwrap();
    assert_eq!(script.tap.lists(), (2, 2, 2), "only the prompts are young");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_could_not_be_had_is_not_kept() {
    let (memory, script) = scripted(|method, before| {
        Some(match (method, before) {
            ("tools/list", 0) => json!({"error": {"code": -32603, "message": "not now"}}),
            _ => usual(method),
        })
    });
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.transport(name("demo"), memory, keeping());
    let host = host.build().unwrap();
    let status = host.connect("demo").await.unwrap();
    assert_eq!((status.offers.tools, status.unlisted.len()), (0, 1));
    host.disconnect("demo").await.unwrap();
    let status = host.connect("demo").await.unwrap();
    assert_eq!((status.offers.tools, status.unlisted.len()), (1, 0));
    assert_eq!(script.tap.lists(), (2, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_known_to_have_changed_is_not_kept() {
    let (memory, script) = scripted(|method, before| {
        Some(match (method, before) {
            ("tools/list", 1) => json!({"result": tools(&["another"])}),
            _ => usual(method),
        })
    });
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.transport(name("demo"), memory, keeping());
    let host = host.build().unwrap();
    host.connect("demo").await.unwrap();
    script.say("notifications/tools/list_changed");
    // Told, but the list is not quiet yet when the connection ends.
    sleep(Duration::from_millis(10)).await;
    host.disconnect("demo").await.unwrap();
    assert_eq!(script.tap.lists(), (1, 1, 1));
    host.connect("demo").await.unwrap();
    assert!(host.catalog().by_key("demo", "another").is_some());
    assert_eq!(script.tap.lists(), (2, 1, 1));
}
