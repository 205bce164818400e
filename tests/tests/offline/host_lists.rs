//! Lists that change while a host has them: told of in both eras and over every link, read again once,
//! and never more often than they have to be.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::ErrorKind;
use switchboard::catalog::{Catalog, Freshness, ItemKind};
use switchboard::host::{Host, HostLimits};
use switchboard::protocol::Era;
use switchboard::spec::{Protocol, Settings};
use switchboard::transport::{Environment, Http, Stdio};
use switchboard_testkit::Options;
use switchboard_testkit::http::{Http as TestServer, Server};

use crate::host_support::{PATIENCE, With as _, call, name, scripted, tapped, tools, until, usual};

const ERAS: [Protocol; 2] = [Protocol::Legacy, Protocol::Modern];
const LINKS: [Link; 3] = [Link::Memory, Link::Stdio, Link::Http];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Link {
    Memory,
    Stdio,
    Http,
}

fn growing() -> Options {
    let mut options = Options::default();
    options.growing = true;
    options
}

/// Waits that a test has time for.
fn hasty() -> HostLimits {
    let mut limits = HostLimits::default();
    limits.relisten = Duration::from_millis(100);
    limits.unrest = Duration::from_millis(200);
    limits
}

/// A host with a server, `demo`, that can change, and the server where it must be kept.
async fn grown(link: Link, era: Protocol) -> (Host, Option<Server>) {
    let builder = Host::builder().protocol(era).host_limits(hasty());
    let settings = Settings::default();
    let (builder, server) = match link {
        Link::Memory => (builder.with("demo", tapped(growing()).0), None),
        Link::Stdio => {
            let stdio = Stdio::new(env!("CARGO_BIN_EXE_endure-server"))
                .args(["--growing"])
                .environment(&Environment::of_process());
            (builder.transport(name("demo"), stdio, settings), None)
        }
        Link::Http => {
            let server = TestServer::new(growing()).serve().await.unwrap();
            let http = Http::new(&server.url()).unwrap();
            (
                builder.transport(name("demo"), http, settings),
                Some(server),
            )
        }
    };
    let host = builder.build().unwrap();
    let status = host.connect("demo").await.unwrap();
    assert!(status.is_ready(), "{status:?}");
    (host, server)
}

fn description(catalog: &Catalog, tool: &str) -> Option<String> {
    let tool = catalog.by_key("demo", tool)?;
    Some(tool.description().unwrap_or_default().to_owned())
}

/// Waits until a modern server has somebody who listens.
async fn until_listening(host: &Host, era: Protocol) {
    if era == Protocol::Modern {
        let listened = async {
            while call(host, "demo/listening", json!({})).await != "1" {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, listened).await.unwrap();
    }
}

#[tokio::test]
async fn what_a_server_adds_changes_and_removes_shows_up_unasked() {
    for (link, era) in LINKS.iter().flat_map(|link| ERAS.map(|era| (*link, era))) {
        let (host, _server) = grown(link, era).await;
        until_listening(&host, era).await;
        let held = host.catalog();
        let (count, echo) = (
            held.tool_count(),
            Arc::clone(held.by_key("demo", "echo").unwrap()),
        );

        let new = json!({"name": "fresh", "description": "first"});
        call(&host, "demo/add_tool", new).await;
        let added = until(&host, "a tool is added", |catalog| {
            description(catalog, "fresh").is_some()
        });
        let added = added.await;
        assert_eq!(description(&added, "fresh").unwrap(), "first");
        assert!(!call(&host, "demo/fresh", json!({})).await.is_empty());

        let other = json!({"name": "fresh", "description": "second"});
        call(&host, "demo/change_tool", other).await;
        let changed = until(&host, "a tool is changed", |catalog| {
            description(catalog, "fresh").is_some_and(|text| text == "second")
        });
        changed.await;
        call(&host, "demo/remove_tool", json!({"name": "fresh"})).await;
        let removed = until(&host, "a tool is removed", |catalog| {
            description(catalog, "fresh").is_none()
        });
        let removed = removed.await;

        let same = removed.by_key("demo", "echo").unwrap();
        assert!(Arc::ptr_eq(same, &echo), "{link:?} {era:?}: it is the same");
        assert_eq!(held.tool_count(), count, "what somebody holds stays");
        assert!(held.by_key("demo", "fresh").is_none());
        assert!(added.by_key("demo", "fresh").is_some());

        call(&host, "demo/add_prompt", json!({"name": "p", "text": "t"})).await;
        let prompts = until(&host, "a prompt is added", |catalog| {
            catalog.prompt_by_key("demo", "p").is_some()
        });
        prompts.await;
        let resource = json!({"uri": "file:///new", "text": "t"});
        call(&host, "demo/add_resource", resource).await;
        let resources = until(&host, "a resource is added", |catalog| {
            catalog.resource("demo", "file:///new").is_some()
        });
        resources.await;
        host.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_changes_is_read_once_and_only_the_list_that_changed() {
    for era in ERAS {
        let (memory, tap) = tapped(growing());
        let host = Host::builder().protocol(era).with("demo", memory);
        let host = host.build().unwrap();
        host.connect("demo").await.unwrap();
        until_listening(&host, era).await;
        assert_eq!(tap.lists(), (1, 1, 1), "{era:?}");
        let adding = (0..20).map(|number| {
            let host = host.clone();
            let new = json!({"name": format!("fresh{number}")});
            tokio::spawn(async move { call(&host, "demo/add_tool", new).await })
        });
        let adding: Vec<_> = adding.collect();
        for added in adding {
            added.await.unwrap();
        }
        let all = until(&host, "all are there", |catalog| {
            (0..20).all(|number| description(catalog, &format!("fresh{number}")).is_some())
        });
        all.await;
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert_eq!(tap.lists(), (2, 1, 1), "{era:?}");
        call(&host, "demo/add_prompt", json!({"name": "p", "text": "t"})).await;
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert_eq!(tap.lists(), (2, 2, 1), "{era:?}");
        let resource = json!({"uri": "file:///new", "text": "t"});
        call(&host, "demo/add_resource", resource).await;
        tokio::time::sleep(Duration::from_secs(30)).await;
        assert_eq!(tap.lists(), (2, 2, 2), "{era:?}");
    }
}

#[tokio::test]
async fn a_use_right_after_a_change_was_announced_waits_for_the_new_list() {
    for (link, era) in [Link::Memory, Link::Stdio]
        .iter()
        .flat_map(|link| ERAS.map(|era| (*link, era)))
    {
        let (host, _server) = grown(link, era).await;
        until_listening(&host, era).await;
        let change = |tool: &'static str, change: Value| {
            let host = host.clone();
            async move { host.call(tool, change).await.unwrap() }
        };
        // New tools are found by either name, and called by name, again and again.
        for number in 0..8 {
            let fresh = format!("fresh{number}");
            change("demo/add_tool", json!({"name": fresh})).await;
            host.call(format!("demo/{fresh}").as_str(), json!({}))
                .await
                .unwrap();
            let other = format!("other{number}");
            change("demo/add_tool", json!({"name": other})).await;
            host.find(format!("mcp__demo__{other}").as_str())
                .await
                .unwrap();
        }
        // A handle calls the tool as it is now: its arguments are checked by the new schema.
        let held = host.find("demo/fresh0").await.unwrap();
        let schema = json!({"type": "object", "required": ["a"]});
        let changed = json!({"name": "fresh0", "description": "new", "schema": schema});
        change("demo/change_tool", changed).await;
        let error = held.call(json!({})).await.unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::Arguments,
            "{link:?} {era:?}: {error}"
        );
        let changed = json!({"name": "fresh1", "description": "changed"});
        change("demo/change_tool", changed).await;
        let found = host.find("demo/fresh1").await.unwrap();
        assert_eq!(found.description(), "changed");
        // A tool that is gone is not found.
        change("demo/remove_tool", json!({"name": "fresh2"})).await;
        let error = host.call("demo/fresh2", json!({})).await.unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::NotFound,
            "{link:?} {era:?}: {error}"
        );
        host.shutdown().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_an_announced_list_no_longer_than_its_deadline() {
    let (memory, script) = scripted(|method, before| match (method, before) {
        ("tools/list", 1) => None,
        _ => Some(usual(method)),
    });
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.with("demo", memory).build().unwrap();
    host.connect("demo").await.unwrap();
    let only = host.find("demo/only").await.unwrap();
    script.say("notifications/tools/list_changed");
    let asked = async {
        while script.tap.count("tools/list") < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.unwrap();
    let (begin, second) = (tokio::time::Instant::now(), Duration::from_secs(1));
    let error = only.call(json!({})).timeout(second).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Timeout, "{error}");
    assert!(!error.was_sent());
    let error = host.call("demo/only", json!({})).timeout(second);
    assert_eq!(error.await.unwrap_err().kind(), ErrorKind::Timeout);
    assert!(begin.elapsed() < Duration::from_secs(3));
    // Without a deadline of its own the call waits until the list has failed, and uses the last one.
    assert_eq!(only.call(json!({})).await.unwrap().text(), "done");
    assert_eq!(script.tap.count("tools/call"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_a_call_waits_for_is_read_at_once() {
    let (host, _server) = grown(Link::Memory, Protocol::Legacy).await;
    let begin = tokio::time::Instant::now();
    host.call("demo/add_tool", json!({"name": "fresh"}))
        .await
        .unwrap();
    host.call("demo/fresh", json!({})).await.unwrap();
    // Not after the pause that makes one reading of a burst of changes.
    assert!(begin.elapsed() < HostLimits::default().quiet);
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_changes_costs_about_one_reading() {
    for era in ERAS {
        let mut options = Options::default();
        options.chaos = vec!["list-changed-storm".parse().unwrap()];
        let (memory, tap) = tapped(options);
        let host = Host::builder().protocol(era).with("demo", memory);
        let host = host.build().unwrap();
        host.connect("demo").await.unwrap();
        assert_eq!(call(&host, "demo/echo", json!({"message": "x"})).await, "x");
        tokio::time::sleep(Duration::from_secs(60)).await;
        let (count, ..) = tap.lists();
        assert!((2..=4).contains(&count), "{era:?}: {count}");
        assert_eq!(call(&host, "demo/echo", json!({"message": "x"})).await, "x");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_rests_is_read_about_once_a_second() {
    let (memory, script) = scripted(|method, _| Some(usual(method)));
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.with("demo", memory).build().unwrap();
    host.connect("demo").await.unwrap();
    for _ in 0..1000 {
        script.say("notifications/tools/list_changed");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let (count, prompts, _) = script.tap.lists();
    assert!((8..=16).contains(&count), "{count} in ten seconds");
    assert_eq!(prompts, 1);
    assert_eq!(call(&host, "demo/only", json!({})).await, "done");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_changes_whenever_it_was_read_is_read_about_once_a_second() {
    let (memory, script) = scripted(|method, _| Some(usual(method)));
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.with("demo", memory).build().unwrap();
    host.connect("demo").await.unwrap();
    let begin = tokio::time::Instant::now();
    let mut answered = 0;
    while begin.elapsed() < Duration::from_secs(60) {
        if script.tap.count("tools/list") > answered {
            answered = script.tap.count("tools/list");
            script.say("notifications/tools/list_changed");
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!((40..=70).contains(&answered), "{answered} in a minute");
}

#[tokio::test]
async fn a_subscription_that_ends_is_opened_anew_and_nothing_is_missed() {
    for link in LINKS {
        for how in ["result", "error", "cancelled", "cut"] {
            if how == "cut" && link != Link::Http {
                // It ends the connection: the next test.
                continue;
            }
            let (host, _server) = grown(link, Protocol::Modern).await;
            until_listening(&host, Protocol::Modern).await;
            call(&host, "demo/end_listening", json!({"how": how})).await;
            // Nobody may be listening now.
            let new = json!({"name": format!("after-{how}")});
            call(&host, "demo/add_tool", new).await;
            let what = format!("{link:?}: what was added after {how} is seen");
            let seen = until(&host, &what, |catalog| {
                description(catalog, &format!("after-{how}")).is_some()
            });
            seen.await;
            until_listening(&host, Protocol::Modern).await;
            call(&host, "demo/remove_tool", json!({"name": "echo"})).await;
            let what = format!("{link:?}: it is told again after {how}");
            until(&host, &what, |catalog| {
                description(catalog, "echo").is_none()
            })
            .await;
            host.shutdown().await;
        }
    }
}

#[tokio::test]
async fn a_lost_connection_leaves_what_is_known_as_stale_until_the_next() {
    for link in [Link::Memory, Link::Stdio] {
        let (host, _server) = grown(link, Protocol::Modern).await;
        until_listening(&host, Protocol::Modern).await;
        let freshness = |catalog: &Catalog| catalog.server("demo").unwrap().freshness();
        assert_eq!(freshness(&host.catalog()), Freshness::Live);
        let held = host.catalog();
        let cut = host.view(switchboard::host::Caller::owner());
        let cut = cut.tool("demo/end_listening").unwrap();
        cut.call(json!({"how": "cut"})).await.ok();
        let stale = until(&host, "it is stale", |catalog| {
            freshness(catalog) == Freshness::Stale
        });
        let stale = stale.await;
        assert!(stale.by_key("demo", "echo").is_some(), "known all the same");
        assert_eq!(freshness(&held), Freshness::Live, "a snapshot stays");
        call(&host, "demo/echo", json!({"message": "x"})).await;
        let live = until(&host, "it is live again", |catalog| {
            freshness(catalog) == Freshness::Live
        });
        let live = live.await;
        assert!(Arc::ptr_eq(
            live.by_key("demo", "echo").unwrap(),
            held.by_key("demo", "echo").unwrap()
        ));
        assert_eq!(
            host.server("demo").unwrap().version.unwrap().era(),
            Era::Modern
        );
        host.shutdown().await;
    }
}

fn refusal() -> Value {
    json!({"error": {"code": -32603, "message": "not now"}})
}

#[tokio::test(start_paused = true)]
async fn a_list_that_cannot_be_had_leaves_what_was_known_and_says_so() {
    let (memory, script) = scripted(|method, before| {
        Some(match (method, before) {
            ("tools/list", 1) => refusal(),
            ("tools/list", 2) => json!({"result": tools(&["only", "another"])}),
            _ => usual(method),
        })
    });
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.with("demo", memory).build().unwrap();
    let status = host.connect("demo").await.unwrap();
    assert!(status.unlisted.is_empty(), "{status:?}");
    let mut events = host.events();
    script.say("notifications/tools/list_changed");
    let failed = async { while events.recv().await.unwrap().name() != "list_failed" {} };
    tokio::time::timeout(PATIENCE, failed).await.unwrap();
    let status = host.server("demo").unwrap();
    assert!(status.is_ready(), "{status:?}");
    assert_eq!(status.offers.tools, 1);
    let (kind, error) = &status.unlisted[0];
    assert_eq!(*kind, ItemKind::Tool);
    assert!(error.to_string().contains("not now"), "{error}");
    assert!(status.notices.iter().any(|text| text.contains("not now")));
    assert_eq!(call(&host, "demo/only", json!({})).await, "done");
    script.say("notifications/tools/list_changed");
    let read = until(&host, "it is read at last", |catalog| {
        description(catalog, "another").is_some()
    });
    read.await;
    assert!(host.server("demo").unwrap().unlisted.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_server_whose_other_lists_hang_is_found_by_its_tools() {
    let (memory, script) = scripted(|method, _| match method {
        "resources/list" => None,
        _ => Some(usual(method)),
    });
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.with("demo", memory).build().unwrap();
    let begin = tokio::time::Instant::now();
    assert_eq!(call(&host, "demo/only", json!({})).await, "done");
    assert!(begin.elapsed() < Duration::from_secs(1), "nobody waited");
    assert_eq!(script.tap.lists(), (1, 1, 1));
    // Connecting outright waits for everything, for as long as a request may take.
    let status = host.connect("demo").await.unwrap();
    assert!(begin.elapsed() > Duration::from_secs(1));
    assert_eq!(status.unlisted[0].0, ItemKind::Resource);
    assert!(status.is_ready());
}
