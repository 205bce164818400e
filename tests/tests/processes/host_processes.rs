//! Hosts whose servers are processes: twenty of them, slow and broken ones among them, and whatever
//! is done to them, none is left.

use std::time::Duration;

use serde_json::json;
use switchboard::events::Event;
use switchboard::host::{Caller, Host, State};
use switchboard::spec::{ServerSpec, Settings};
use switchboard::transport::Environment;
use switchboard::{Deadline, ErrorKind, Timeouts};
use tokio::time::timeout;

use crate::host_support::{self, PATIENCE, call};
use crate::support::marked::{mark, marked};

const SERVER: &str = env!("CARGO_BIN_EXE_endure-server");

/// A server that can be found by its mark.
fn process(name: &str, mark: &str, args: &[&str]) -> ServerSpec {
    let spec = ServerSpec::stdio(name, SERVER).unwrap();
    spec.args(args.iter().copied())
        .env("SWITCHBOARD_TEST_MARK", mark)
}

#[tokio::test]
async fn of_twenty_processes_one_that_hangs_and_one_that_crashes_delay_nobody() {
    let mark = mark();
    let mut builder = Host::builder().environment(&Environment::of_process());
    for number in 0..18 {
        builder = builder.server(process(&format!("good{number:02}"), &mark, &[]));
    }
    let mut settings = Settings::default();
    settings.timeouts = Timeouts::all(Deadline::within(Duration::from_secs(30)));
    // Longer than anybody waits, so that it is still starting whenever it is looked at.
    let hanging = process("hangs", &mark, &["--start-delay", "3600000"]);
    let crashing = process("crashes", &mark, &["--chaos", "exit-3"]);
    let host = builder
        .server(hanging.settings(settings))
        .server(crashing)
        .build()
        .unwrap();
    let mut events = host.events();
    let connecting = tokio::spawn({
        let host = host.clone();
        async move { host.connect_all().await }
    });
    // Each is used at the moment that it is ready, whatever the others do.
    let view = host.view(Caller::owner());
    let mut used = Vec::new();
    let using = async {
        while used.len() < 18 {
            let Event::CatalogChanged { server, .. } = events.recv().await.unwrap() else {
                continue;
            };
            let server = server.as_str().to_owned();
            if used.contains(&server) {
                continue;
            }
            let echo = view.tool(&format!("{server}/echo")).unwrap();
            let said = echo.call(json!({ "message": server })).await.unwrap();
            assert_eq!(said.text(), server);
            used.push(server);
        }
    };
    timeout(PATIENCE, using).await.unwrap();
    let hangs = host.server("hangs").unwrap();
    assert!(matches!(hangs.state, State::Connecting), "{hangs:?}");
    assert!(!connecting.is_finished(), "it waits for the one that hangs");
    assert_eq!(marked(&mark).len(), 19, "one has crashed");

    // It says how all of them are once the last attempt is over: here because it is given up.
    host.shutdown().await;
    let statuses = timeout(PATIENCE, connecting).await.unwrap().unwrap();
    assert_eq!(statuses.len(), 20);
    assert_eq!(marked(&mark), []);
    let crashes = host.server("crashes").unwrap();
    let error = crashes.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Connect);
    assert!(format!("{:?}", switchboard::explain(error)).contains('3'));
    let hangs = host.server("hangs").unwrap();
    assert!(hangs.error().is_some(), "{hangs:?}");
}

#[tokio::test]
async fn all_of_twenty_statuses_come_once_the_slow_one_has_failed() {
    let mark = mark();
    let mut builder = Host::builder().environment(&Environment::of_process());
    for number in 0..18 {
        builder = builder.server(process(&format!("good{number:02}"), &mark, &[]));
    }
    let mut settings = Settings::default();
    settings.timeouts = Timeouts::all(Deadline::within(Duration::from_secs(5)));
    let hanging = process("hangs", &mark, &["--start-delay", "3600000"]);
    let host = builder
        .server(hanging.settings(settings))
        .server(process("crashes", &mark, &["--chaos", "exit-3"]))
        .build()
        .unwrap();
    let statuses = timeout(PATIENCE, host.connect_all()).await.unwrap();
    assert_eq!(statuses.len(), 20);
    let failed = statuses.iter().filter(|status| status.error().is_some());
    let failed: Vec<_> = failed.map(|status| status.name.as_str()).collect();
    assert_eq!(failed, ["crashes", "hangs"]);
    assert_eq!(
        statuses.iter().filter(|status| status.is_ready()).count(),
        18
    );
    // The one that hangs may still be ending; whoever shuts down waits for it too.
    assert!(marked(&mark).len() >= 18);
    host.shutdown().await;
    assert_eq!(marked(&mark), []);
}

#[tokio::test]
async fn dropping_a_host_ends_its_processes() {
    let mark = mark();
    let mut builder = Host::builder().environment(&Environment::of_process());
    for number in 0..4 {
        builder = builder.server(process(&format!("good{number}"), &mark, &[]));
    }
    let host = builder.build().unwrap();
    host.connect_all().await;
    assert_eq!(marked(&mark).len(), 4);
    drop(host);
    let gone = async {
        while !marked(&mark).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, gone).await.unwrap();
}

#[tokio::test]
async fn who_connects_while_the_last_process_still_ends_is_connected() {
    let mark = mark();
    let stubborn = process("demo", &mark, &["--chaos", "ignore-eof", "--instance", "x"]);
    let host = Host::builder().environment(&Environment::of_process());
    let host = host.server(stubborn).build().unwrap();
    let first = call(&host, "demo/whoami", json!({})).await;
    let closing = tokio::spawn({
        let host = host.clone();
        async move { host.disconnect("demo").await }
    });
    let stale = host_support::until(&host, "it closes", |catalog| {
        catalog.server("demo").unwrap().freshness() == switchboard::catalog::Freshness::Stale
    });
    stale.await;
    let second = call(&host, "demo/whoami", json!({})).await;
    assert_ne!(first, second, "another process");
    assert!(!closing.is_finished(), "the first still ends");
    closing.await.unwrap().unwrap();
    let status = host.server("demo").unwrap();
    assert!(status.is_ready(), "{status:?}");
    assert_eq!(call(&host, "demo/whoami", json!({})).await, second);
    host.shutdown().await;
    assert_eq!(marked(&mark), []);
}

/// Numbers that look random and are the same each time.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % sides
    }
}

const NAMES: [&str; 3] = ["one", "two", "three"];

fn spec_of(server: &str, mark: &str) -> ServerSpec {
    match server {
        // Dies now and then, so that connections are lost too.
        "three" => process(server, mark, &["--chaos", "die-after-3"]),
        _ => process(server, mark, &["--growing"]),
    }
}

/// Does something to a server. Anything may fail, for another may have done something else.
async fn something(host: &Host, dice: &mut Dice, mark: &str) -> &'static str {
    let server = NAMES[dice.roll(NAMES.len())];
    match dice.roll(20) {
        0..2 => {
            host.connect(server).await.ok();
            "connect"
        }
        2..4 => {
            host.disconnect(server).await.ok();
            "disconnect"
        }
        4..6 => {
            host.restart(server).await.ok();
            "restart"
        }
        6 => {
            host.remove(server).await.ok();
            "remove"
        }
        7..10 => {
            host.add(spec_of(server, mark)).ok();
            "add"
        }
        10 => {
            host.refresh(server).await.ok();
            "refresh"
        }
        11 => {
            host.check(server).await.ok();
            "check"
        }
        12 => {
            // Given up half way.
            let wait = Duration::from_millis(5);
            timeout(wait, host.restart(server)).await.ok();
            "give up"
        }
        _ => {
            let view = host.view(Caller::owner());
            if let Ok(echo) = view.find(&format!("{server}/echo")).await
                && let Ok(result) = echo.call(json!({"message": "x"})).await
            {
                assert_eq!(result.text(), "x");
            }
            "call"
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn whatever_eight_do_at_once_nothing_hangs_and_nothing_is_left() {
    let tasks = tokio::runtime::Handle::current().metrics();
    for seed in 1..=3_u64 {
        let mark = mark();
        let mut builder = Host::builder().environment(&Environment::of_process());
        for server in NAMES {
            builder = builder.server(spec_of(server, &mark));
        }
        let host = builder.build().unwrap();
        let before = tasks.num_alive_tasks();
        let doing: Vec<_> = (0..8_u64)
            .map(|task| {
                let (host, mark) = (host.clone(), mark.clone());
                let mut dice = Dice::new(seed * 1000 + task);
                tokio::spawn(async move {
                    for number in 0..25 {
                        let doing = something(&host, &mut dice, &mark);
                        let done = timeout(PATIENCE, doing).await;
                        done.unwrap_or_else(|_| {
                            panic!("seed {seed}, task {task}, {number} hangs: {host:?}")
                        });
                    }
                })
            })
            .collect();
        for done in doing {
            done.await.unwrap();
        }
        // What it is now, it says rightly.
        for status in host.servers() {
            let part = host.catalog();
            let part = part.server(status.name.as_str()).cloned();
            if status.is_ready() {
                let checked = host.check(status.name.as_str()).await;
                // One of the servers dies of every third request, and the check may be that one.
                let may_die = status.name.as_str() == "three";
                if let Err(error) = checked {
                    assert!(may_die && error.kind() == ErrorKind::Closed, "{error:?}");
                }
                assert!(part.is_some(), "{status:?}");
            }
        }
        for part in host.catalog().servers() {
            assert!(host.server(part.name().as_str()).is_ok(), "{part:?}");
        }
        timeout(PATIENCE, host.shutdown()).await.unwrap();
        assert_eq!(marked(&mark), [], "seed {seed}");
        let gone = async {
            while tasks.num_alive_tasks() > before {
                tokio::task::yield_now().await;
            }
        };
        let gone = timeout(PATIENCE, gone).await;
        gone.unwrap_or_else(|_| panic!("{} tasks are left", tasks.num_alive_tasks() - before));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_shutdown_in_the_middle_of_it_all_leaves_nothing_either() {
    for seed in 1..=5_u64 {
        let mark = mark();
        let mut builder = Host::builder().environment(&Environment::of_process());
        for server in NAMES {
            builder = builder.server(spec_of(server, &mark));
        }
        let host = builder.build().unwrap();
        let doing: Vec<_> = (0..8_u64)
            .map(|task| {
                let (host, mark) = (host.clone(), mark.clone());
                let mut dice = Dice::new(seed * 7777 + task);
                tokio::spawn(async move {
                    for _ in 0..25 {
                        let doing = something(&host, &mut dice, &mark);
                        timeout(PATIENCE, doing).await.unwrap();
                    }
                })
            })
            .collect();
        let mut events = host.events();
        for _ in 0..30 {
            timeout(PATIENCE, events.recv()).await.unwrap().unwrap();
        }
        timeout(PATIENCE, host.shutdown()).await.unwrap();
        for done in doing {
            done.await.unwrap();
        }
        timeout(PATIENCE, host.shutdown()).await.unwrap();
        assert_eq!(marked(&mark), [], "seed {seed}");
    }
}
