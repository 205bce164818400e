//! Servers that die, hang, are restarted, removed and left alone.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::ErrorKind;
use switchboard::events::{Event, Events};
use switchboard::host::{Caller, Host, State};
use switchboard::spec::{Protocol, ServerSpec, Settings};
use switchboard::transport::Memory;
use switchboard_testkit::http::Http as TestServer;
use switchboard_testkit::{Journal, Options};
use tokio::time::{Instant, advance, timeout};

use crate::host_support::{
    PATIENCE, With as _, call, crashing, name, scripted, silent, testkit, tools, until, usual,
};

/// The events that were not looked at yet.
fn drained(events: &mut Events) -> Vec<Event> {
    std::iter::from_fn(|| events.try_recv().ok()).collect()
}

fn count(events: &[Event], event: &str) -> usize {
    events.iter().filter(|known| known.name() == event).count()
}

/// A server that ends at once from the `good`th connection on, and how often it was started.
fn failing_from(good: usize) -> (Memory, Arc<AtomicUsize>) {
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&starts);
    let memory = Memory::new("failing", move |input, output| {
        let start = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            if start < good {
                let mut options = Options::default();
                options.chaos = vec!["die-on-call=echo".parse().unwrap()];
                let served = switchboard_testkit::serve(input, output, options);
                served.await.ok();
            }
        }
    });
    (memory, starts)
}

#[tokio::test(start_paused = true)]
async fn rests_between_attempts_grow_within_their_bounds_and_differ() {
    let mut all = Vec::new();
    for _ in 0..20 {
        let host = Host::builder().with("broken", crashing()).build().unwrap();
        let mut events = host.events();
        let mut attempts = Vec::new();
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(60) {
            host.check("broken").await.unwrap_err();
            if count(&drained(&mut events), "connect_failed") > 0 {
                attempts.push(Instant::now());
            }
            advance(Duration::from_millis(10)).await;
        }
        assert_eq!(attempts.len(), 5);
        let rests = attempts.windows(2).map(|two| two[1] - two[0]);
        let rests: Vec<Duration> = rests.collect();
        for (rest, ceiling) in rests.iter().zip([500, 1000, 2000, 4000]) {
            let ceiling = Duration::from_millis(ceiling + 20);
            assert!(*rest <= ceiling, "{rests:?}");
        }
        all.push(rests);
    }
    all.sort();
    all.dedup();
    assert!(all.len() > 15, "hosts do not try all at the same moment");
}

#[tokio::test(start_paused = true)]
async fn a_server_is_tried_as_often_as_its_settings_say_whoever_wants_it() {
    let mut settings = Settings::default();
    settings.max_reconnect_attempts = 2;
    let (memory, starts) = failing_from(0);
    // One attempt each, without a second try for the other era.
    let host = Host::builder().protocol(Protocol::Modern);
    let host = host.transport(name("broken"), memory, settings);
    let host = host.build().unwrap();
    let view = host.view(Caller::owner());
    for _ in 0..20 {
        host.check("broken").await.unwrap_err();
        view.find("broken/echo").await.unwrap_err();
        view.find("mcp__broken__echo").await.unwrap_err();
        view.read("broken", "file:///x").await.unwrap_err();
        advance(Duration::from_secs(60)).await;
    }
    assert_eq!(starts.load(Ordering::SeqCst), 2);
    host.connect("broken").await.unwrap_err();
    assert_eq!(starts.load(Ordering::SeqCst), 3, "asking outright tries");
    host.connect_all().await;
    assert_eq!(starts.load(Ordering::SeqCst), 4);
}

#[tokio::test(start_paused = true)]
async fn without_reconnect_a_failed_attempt_of_somebody_does_not_bring_more() {
    let mut settings = Settings::default();
    settings.reconnect = false;
    let (memory, starts) = failing_from(1);
    let host = Host::builder().protocol(Protocol::Modern);
    let host = host.transport(name("demo"), memory, settings);
    let host = host.build().unwrap();
    let view = host.view(Caller::owner());
    let echo = view.find("demo/echo").await.unwrap();
    echo.call(json!({"message": "x"})).await.unwrap_err();
    host.connect("demo").await.unwrap_err();
    assert_eq!(starts.load(Ordering::SeqCst), 2);
    for _ in 0..10 {
        advance(Duration::from_secs(60)).await;
        let error = echo.call(json!({"message": "x"})).await.unwrap_err();
        assert!(error.to_string().contains("`reconnect` is off"), "{error}");
    }
    assert_eq!(starts.load(Ordering::SeqCst), 2);
    // Whoever closes the connection wants the next use to make another.
    host.disconnect("demo").await.unwrap();
    echo.call(json!({"message": "x"})).await.unwrap_err();
    assert_eq!(starts.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn every_call_that_runs_while_a_server_is_restarted_ends_once_and_runs_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal");
    let mut options = Options::default();
    options.chaos = vec!["delay=1@echo".parse().unwrap()];
    options.journal = Some(Journal::open(&file).unwrap());
    let host = Host::builder().with("demo", testkit(options));
    let host = host.build().unwrap();
    host.connect("demo").await.unwrap();
    let mut events = host.events();
    let echo = host.view(Caller::owner()).tool("demo/echo").unwrap();
    let calls: Vec<_> = (0..64)
        .map(|number| {
            let echo = echo.clone();
            tokio::spawn(async move {
                // Some come before, some while, some after.
                tokio::time::sleep(Duration::from_millis(50 * number)).await;
                let message = number.to_string();
                (number, echo.call(json!({ "message": message })).await)
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(1500)).await;
    assert!(host.restart("demo").await.unwrap().is_ready());
    let (mut answered, mut failed) = (Vec::new(), Vec::new());
    for call in calls {
        let (number, result) = timeout(PATIENCE, call).await.unwrap().unwrap();
        match result {
            Ok(result) => {
                assert_eq!(result.text(), number.to_string());
                answered.push(number);
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
                assert!(error.was_sent(), "{number}: {error}");
                failed.push(number);
            }
        }
    }
    assert_eq!(answered.len() + failed.len(), 64);
    assert!(!failed.is_empty() && answered.len() > 30, "{failed:?}");
    let events = drained(&mut events);
    assert_eq!(count(&events, "call_started"), 64);
    assert_eq!(count(&events, "call_completed"), answered.len());
    assert_eq!(count(&events, "call_failed"), failed.len());
    let mut ran: BTreeMap<u64, usize> = BTreeMap::new();
    for line in std::fs::read_to_string(&file).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let number = line["arguments"]["message"].as_str().unwrap();
        *ran.entry(number.parse().unwrap()).or_default() += 1;
    }
    assert!(ran.values().all(|times| *times == 1), "{ran:?}");
    assert!(answered.iter().all(|number| ran.contains_key(number)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_server_can_be_replaced_by_another_of_its_name_while_calls_run() {
    let mut instances = Vec::new();
    for number in 0..2 {
        let mut options = Options::default();
        options.instance = Some(format!("instance{number}"));
        instances.push(TestServer::new(options).serve().await.unwrap());
    }
    let spec = |number: usize| ServerSpec::http("demo", &instances[number].url()).unwrap();
    let host = Host::builder().server(spec(0)).build().unwrap();
    host.connect("demo").await.unwrap();
    let view = host.view(Caller::owner());
    let echo = view.tool("demo/echo").unwrap();
    let slow = view.tool("demo/slow_operation").unwrap();
    for round in 1..=10 {
        let mut events = host.events();
        let running: Vec<_> = (0..8)
            .map(|_| {
                let slow = slow.clone();
                let arguments = json!({"duration": 30, "steps": 3});
                tokio::spawn(async move { slow.call(arguments).await })
            })
            .collect();
        let mut begun = 0;
        while begun < running.len() {
            begun += usize::from(events.recv().await.unwrap().name() == "call_started");
        }
        let (one, other) = (host.clone(), host.clone());
        let one = tokio::spawn(async move { one.remove("demo").await });
        let other = tokio::spawn(async move { other.remove("demo").await });
        let removed = [one.await.unwrap(), other.await.unwrap()];
        assert!(removed.iter().any(Result::is_ok), "{removed:?}");
        assert!(host.catalog().server("demo").is_none());
        host.add(spec(round % 2)).unwrap();
        host.add(spec(round % 2)).unwrap_err();
        // The handle outlives the server, and what comes of it is the new one's.
        let said = echo.call(json!({"message": "x"})).await.unwrap();
        assert_eq!(said.text(), "x");
        let who = call(&host, "demo/whoami", json!({})).await;
        assert!(who.contains(&format!("instance{}", round % 2)), "{who}");
        for call in running {
            timeout(PATIENCE, call).await.unwrap().unwrap().unwrap_err();
        }
        assert!(host.catalog().by_key("demo", "echo").is_some());
        assert!(host.server("demo").unwrap().is_ready());
    }
    host.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_server_that_hangs_when_it_is_not_wanted_any_more() {
    let begin = Instant::now();
    let host = Host::builder()
        .with("removed", silent())
        .with("kept", silent())
        .build()
        .unwrap();
    let connect = |server: &'static str| {
        let host = host.clone();
        tokio::spawn(async move { host.connect(server).await })
    };
    let (removed, kept) = (connect("removed"), connect("kept"));
    tokio::task::yield_now().await;
    host.remove("removed").await.unwrap();
    let error = removed.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    host.shutdown().await;
    let error = kept.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connect, "{error}");
    assert!(begin.elapsed() < Duration::from_millis(100), "at once");
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_for_lists_that_will_not_come() {
    let (memory, _script) = scripted(|method, _| match method {
        "tools/list" => None,
        _ => Some(usual(method)),
    });
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.with("demo", memory).build().unwrap();
    let begin = Instant::now();
    let waiting = tokio::spawn({
        let host = host.clone();
        async move { host.refresh("demo").await }
    });
    tokio::time::sleep(Duration::from_millis(100)).await;
    host.remove("demo").await.unwrap();
    waiting.await.unwrap().unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn nothing_is_started_after_the_host_was_shut_down() {
    let (memory, starts) = failing_from(100);
    let host = Host::builder().with("demo", memory);
    let host = host.with("idle", crashing()).build().unwrap();
    host.connect("demo").await.unwrap();
    let view = host.view(Caller::owner());
    let echo = view.tool("demo/echo").unwrap();
    host.shutdown().await;
    let mut events = host.events();
    echo.call(json!({"message": "x"})).await.unwrap_err();
    host.check("demo").await.unwrap_err();
    host.connect("demo").await.unwrap_err();
    host.restart("demo").await.unwrap_err();
    host.refresh("demo").await.unwrap_err();
    host.connect("idle").await.unwrap_err();
    view.read("demo", "file:///readme.txt").await.unwrap_err();
    host.connect_all().await;
    host.shutdown().await;
    assert_eq!(starts.load(Ordering::SeqCst), 1);
    assert_eq!(count(&drained(&mut events), "connect_started"), 0);
    assert!(!host.server("demo").unwrap().is_ready());
}

#[tokio::test]
async fn dropping_the_host_ends_its_servers_whatever_they_are_doing() {
    let alive = Arc::new(());
    let counted = |hangs: bool| {
        let (memory, _) = scripted(move |method, _| match method {
            "tools/list" if hangs => None,
            _ => Some(usual(method)),
        });
        let memory = Arc::new(memory);
        let alive = Arc::clone(&alive);
        (memory, alive)
    };
    for hangs in [false, true] {
        let (memory, guard) = counted(hangs);
        let host = Host::builder().protocol(Protocol::Legacy);
        let host = host.transport(name("demo"), Guarded(memory, guard), Settings::default());
        let host = host.build().unwrap();
        // Connects, and does not wait for lists.
        host.check("demo").await.unwrap();
        let before = tokio::runtime::Handle::current().metrics();
        assert!(before.num_alive_tasks() > 0);
        drop(host);
        let ended = async {
            let tasks = tokio::runtime::Handle::current().metrics();
            while tasks.num_alive_tasks() > 0 || Arc::strong_count(&alive) > 1 {
                tokio::task::yield_now().await;
            }
        };
        let ended = timeout(Duration::from_secs(10), ended).await;
        ended.unwrap_or_else(|_| panic!("a task is left; hangs: {hangs}"));
    }
}

/// A transport that shows whether somebody still has it.
struct Guarded(
    Arc<Memory>,
    #[allow(dead_code, reason = "it is counted")] Arc<()>,
);

impl switchboard::transport::Connect for Guarded {
    fn connect(&self) -> switchboard::transport::Connecting<'_> {
        self.0.connect()
    }

    fn identity(&self) -> String {
        self.0.identity()
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_must_have_tools_fails_while_it_has_none() {
    let (memory, script) = scripted(|method, before| {
        Some(match (method, before) {
            ("tools/list", 1) => json!({"result": tools(&[])}),
            _ => usual(method),
        })
    });
    let mut settings = Settings::default();
    settings.fail_if_no_tools = true;
    let host = Host::builder().protocol(Protocol::Legacy);
    let host = host.transport(name("strict"), memory, settings);
    let host = host.build().unwrap();
    assert!(host.connect("strict").await.unwrap().is_ready());
    script.say("notifications/tools/list_changed");
    let empty = until(&host, "it has none", |catalog| catalog.tool_count() == 0);
    empty.await;
    let status = host.server("strict").unwrap();
    let State::Failed(error) = &status.state else {
        panic!("{status:?}");
    };
    assert!(error.to_string().contains("fail_if_no_tools"), "{error}");
    script.say("notifications/tools/list_changed");
    until(&host, "it has one", |catalog| catalog.tool_count() == 1).await;
    let status = host.server("strict").unwrap();
    assert!(status.is_ready(), "{status:?}");
}
