//! Config files that change while servers run and calls are in flight.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};
use switchboard::config::Config;
use switchboard::host::{Caller, Host};
use switchboard::policy::{AgentPolicy, Level};
use switchboard::spec::Layer;
use switchboard::transport::Environment;
use tokio::task::JoinSet;

use crate::support::marked::{mark, marked};
use crate::support::process::until;

const SERVER: &str = env!("CARGO_BIN_EXE_endure-server");

/// A file with as many servers, each of which can be found by its own mark.
fn config(mark: &str, servers: usize, change: impl Fn(usize, &mut Value)) -> Config {
    let servers = (0..servers).map(|number| {
        let own = format!("{mark}-{number}");
        let env = json!({ "SWITCHBOARD_TEST_MARK": own });
        let mut entry = json!({ "command": SERVER, "env": env });
        change(number, &mut entry);
        (format!("s{number}"), entry)
    });
    let servers: serde_json::Map<String, Value> = servers.collect();
    let text = json!({ "mcpServers": servers }).to_string();
    Config::read(&text, Path::new("/home/me/mcp.json"), Layer::User)
}

fn pids(mark: &str, number: usize) -> BTreeSet<u32> {
    let found = marked(&format!("{mark}-{number}"));
    found.into_iter().map(|(pid, _)| pid).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_changed_server_of_twenty_under_load_is_the_only_one_that_restarts() {
    const SERVERS: usize = 20;
    let mark = mark();
    let before = config(&mark, SERVERS, |_, _| {});
    let host = Host::builder()
        .environment(&Environment::of_process())
        .agent("planner", AgentPolicy::everything(Level::Yolo))
        .config(&before)
        .build()
        .unwrap();
    host.connect_all().await;
    let old: Vec<_> = (0..SERVERS).map(|number| pids(&mark, number)).collect();
    assert!(old.iter().all(|pids| !pids.is_empty()), "{old:?}");

    // Callers of each server: by a handle that is kept, by name, and an agent.
    let (stop, calls) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let mut load = JoinSet::new();
    for number in 0..SERVERS {
        let (host, stop, calls) = (host.clone(), Arc::clone(&stop), Arc::clone(&calls));
        load.spawn(async move {
            let name = format!("s{number}/echo");
            let kept = host.find(&*name).await.unwrap();
            let agent = host.view(Caller::agent("planner").unwrap());
            agent.find(&*name).await.unwrap();
            let mut failed = Vec::new();
            while !stop.load(Ordering::Relaxed) {
                let message = || json!({ "message": "hello" });
                let results = [
                    kept.call(message()).await,
                    host.call(&*name, message()).await,
                    agent.call(&*name, message()).await,
                ];
                for result in results {
                    calls.fetch_add(1, Ordering::Relaxed);
                    match result {
                        Ok(result) if result.text() == "hello" => {}
                        Ok(result) => failed.push(result.text()),
                        Err(error) => failed.push(error.to_string()),
                    }
                }
            }
            (number, failed)
        });
    }
    let busy = |more: u64| {
        let (calls, now) = (Arc::clone(&calls), calls.load(Ordering::Relaxed));
        until("calls go on", move || {
            calls.load(Ordering::Relaxed) >= now + more
        })
    };
    busy(2000).await;
    let after = config(&mark, SERVERS, |number, entry| {
        if number == 7 {
            entry["args"] = json!(["--start-delay", "50"]);
        }
    });
    let done = host.reconcile(&after).await;
    let changed: Vec<_> = done.changed.iter().map(|name| name.as_str()).collect();
    assert_eq!(changed, ["s7"]);
    assert_eq!(done.kept.len(), SERVERS - 1);
    busy(2000).await;
    stop.store(true, Ordering::Relaxed);
    let failed = load.join_all().await.into_iter();
    let failed: Vec<_> = failed.filter(|(_, failed)| !failed.is_empty()).collect();
    assert!(failed.is_empty(), "{failed:?}");
    for (number, old) in old.iter().enumerate() {
        if number == 7 {
            // The old one ends in the background.
            until("the old server has ended", || {
                pids(&mark, 7).is_disjoint(old)
            })
            .await;
            assert!(!pids(&mark, 7).is_empty());
        } else {
            assert_eq!(&pids(&mark, number), old, "s{number}");
        }
    }
    host.shutdown().await;
    for number in 0..SERVERS {
        assert!(pids(&mark, number).is_empty(), "s{number}");
    }
}
