//! Fifty servers that nobody uses cost their host little memory and no time.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use switchboard::Deadline;
use switchboard_tests::soak_size;

use crate::support::proc::{kib, parent, switches};

const SERVERS: usize = 50;

/// How long nothing may wake up.
fn window() -> Duration {
    Duration::from_secs(soak_size(5, 60))
}

const MOST_HOST_KIB: u64 = 40 * 1024;

/// What is a keeper's own. Pages of files are shared by all keepers, can be had back at any time,
/// and are more or fewer by the build.
const MOST_KEEPER_KIB: u64 = 1024;

struct Host {
    child: Child,
    keepers: Vec<u32>,
}

impl Host {
    fn start() -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_idle-host"))
            .args([&SERVERS.to_string(), env!("CARGO_BIN_EXE_endure-server")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let servers = lines
            .map(Result::unwrap)
            .take_while(|line| !line.is_empty());
        let keepers = servers.map(|pid| parent(pid.parse().unwrap())).collect();
        Self { child, keepers }
    }

    /// How often each thread of the host and of the keepers was woken.
    fn switches(&self) -> Vec<(u32, u64)> {
        let keepers = self.keepers.iter().copied();
        let all = keepers.chain([self.child.id()]);
        all.flat_map(switches).collect()
    }

    /// Waits until what belongs to the start is over: a connection's timer stands where its first
    /// request put it, goes off there once, although that was answered long ago, and then is gone.
    fn settle(&self) {
        sleep(Deadline::default().idle);
        let mut before = self.switches();
        for _ in 0..20 {
            sleep(Duration::from_secs(1));
            let now = self.switches();
            if now == before {
                return;
            }
            before = now;
        }
        panic!("the host never rests");
    }
}

#[test]
fn fifty_idle_servers_take_little_memory_and_never_wake_their_host() {
    let mut host = Host::start();
    assert_eq!(host.keepers.len(), SERVERS);
    host.settle();
    let before = host.switches();
    sleep(window());
    assert_eq!(host.switches(), before, "somebody woke up");
    let own = kib(host.child.id(), "status", "VmRSS");
    assert!(own <= MOST_HOST_KIB, "the host takes {own} KiB");
    for keeper in &host.keepers {
        let own = kib(*keeper, "status", "RssAnon");
        assert!(own <= MOST_KEEPER_KIB, "a keeper takes {own} KiB");
    }
    drop(host.child.stdin.take());
    assert!(host.child.wait().unwrap().success());
}
