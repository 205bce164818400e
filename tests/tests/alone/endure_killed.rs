//! Eight servers are killed all the time while they are used: every call resolves and says what is
//! known of it, none runs twice, and whoever asks next gets an answer.
//!
//! What has run is what the servers wrote into their journals before they ran it. In a process of
//! its own, because it kills the children of the whole process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use switchboard::spec::ServerName;
use switchboard::transport::{Environment, Stdio};
use switchboard::{CallOptions, ErrorKind, Server, SessionOptions};
use switchboard_tests::soak_size;
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::support::alone::is_alone;
use crate::support::proc::{children, living_children};
use crate::support::process::{file, is_alive};
use crate::support::{raw, secs, text_of};

const SERVERS: usize = 8;

/// How many calls each server has in flight.
const CALLERS: usize = 16;

fn calls() -> usize {
    soak_size(10_000, 100_000)
}

fn calls_each() -> usize {
    calls().div_ceil(SERVERS * CALLERS)
}

/// Every so many calls, one runs for a while.
const SLOW: usize = 8;

const BETWEEN_KILLS: Duration = Duration::from_millis(50);

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Fate {
    Answered,
    NeverSent,
    MaybeRun,
}

/// Calls a tool that answers at once.
async fn call(server: &Server, marker: &str) -> Fate {
    let arguments = json!({"message": marker});
    fate_of(server, "echo", &arguments, marker).await
}

/// Calls a tool that runs for a while, so that a server is seldom killed at rest: as many seconds as
/// the marker says, which is another number for each call.
async fn call_slowly(server: &Server, marker: &str) -> Fate {
    let seconds: f64 = marker.parse().unwrap();
    let arguments = json!({"duration": seconds, "steps": 1});
    let answer = format!("finished 1 steps in {seconds} seconds");
    fate_of(server, "slow_operation", &arguments, &answer).await
}

async fn fate_of(server: &Server, tool: &str, arguments: &Value, answer: &str) -> Fate {
    let calling = server.call_tool(tool, Some(raw(arguments)), CallOptions::default());
    // Longer than any of the deadlines: one that is late is lost.
    match timeout(secs(120), calling).await.unwrap() {
        Ok(result) => {
            assert_eq!(text_of(&result), answer);
            Fate::Answered
        }
        Err(error) => {
            let kind = error.kind();
            assert!(
                matches!(kind, ErrorKind::Closed | ErrorKind::Connect),
                "{error:?}"
            );
            match error.was_sent() {
                true => Fate::MaybeRun,
                false => Fate::NeverSent,
            }
        }
    }
}

/// Kills a child of this process every now and then, until told to stop; returns how many.
async fn kill(mut stop: oneshot::Receiver<()>) -> usize {
    let mut ticks = interval(BETWEEN_KILLS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut killed, mut random) = (0, 0x9e37_79b9_7f4a_7c15_u64);
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            _ = &mut stop => return killed,
        }
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let pids = living_children();
        let Some(choices) = u64::try_from(pids.len()).ok().filter(|many| *many > 0) else {
            continue;
        };
        let pid = pids[usize::try_from(random % choices).unwrap()];
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        killed += usize::from(kill_process(pid, Signal::KILL).is_ok());
    }
}

/// How often each marker is in a journal.
fn add_journal(path: &Path, ran: &mut HashMap<String, usize>) {
    const BEGINNING: &str = r#"{"tool":"#;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        // A server that was killed in the middle of a line has not run that call, and the next one
        // began where it had stopped.
        let Some(begin) = line.rfind(BEGINNING) else {
            continue;
        };
        if let Ok(entry) = serde_json::from_str::<Value>(&line[begin..]) {
            let marker = match &entry["arguments"]["message"] {
                Value::String(marker) => marker.clone(),
                _ => format!("{:.9}", entry["arguments"]["duration"].as_f64().unwrap()),
            };
            *ran.entry(marker).or_default() += 1;
        }
    }
}

/// Calls a server that nobody kills any more; if the last one was, it may not be known yet.
async fn call_after_all(server: &Server, marker: &str) -> Fate {
    let session = server.session().await.unwrap();
    if !is_alive(session.peer().pid().unwrap()) {
        timeout(secs(30), session.closed()).await.unwrap();
    }
    call(server, marker).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_servers_that_are_killed_all_the_time_no_call_is_lost_or_run_twice() {
    if !is_alone(&of_servers_that_are_killed_all_the_time_no_call_is_lost_or_run_twice) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let journals: Vec<_> = (0..SERVERS)
        .map(|server| file(&folder, &format!("journal-{server}")))
        .collect();
    let start = |(number, (_, journal)): (usize, &(PathBuf, String))| {
        let stdio = Stdio::new(env!("CARGO_BIN_EXE_endure-server"))
            .args(["--journal", journal])
            .environment(&Environment::of_process());
        let name = ServerName::parse(&format!("server-{number}")).unwrap();
        Server::new(name, stdio, SessionOptions::default())
    };
    let servers: Vec<Server> = journals.iter().enumerate().map(start).collect();

    let (stop, stopped) = oneshot::channel();
    let killing = tokio::spawn(kill(stopped));
    let callers: Vec<_> = (0..SERVERS * CALLERS)
        .map(|caller| {
            let server = servers[caller % SERVERS].clone();
            tokio::spawn(async move {
                let mut fates = Vec::new();
                for number in 0..calls_each() {
                    let serial = caller * calls_each() + number;
                    if number % SLOW == 0 {
                        let marker = format!("0.05{serial:07}");
                        let fate = call_slowly(&server, &marker).await;
                        fates.push((marker, fate));
                    } else {
                        let marker = format!("call {serial}");
                        let fate = call(&server, &marker).await;
                        fates.push((marker, fate));
                    }
                }
                fates
            })
        })
        .collect();
    let mut fates = Vec::new();
    for caller in callers {
        fates.extend(caller.await.unwrap());
    }
    stop.send(()).unwrap();
    let killed = killing.await.unwrap();
    for (number, server) in servers.iter().enumerate() {
        let marker = format!("last-{number}");
        let fate = call_after_all(server, &marker).await;
        assert_eq!(fate, Fate::Answered, "server {number} did not recover");
        fates.push((marker, fate));
        server.close().await;
    }
    assert_eq!(children(), Vec::<u32>::new());

    let mut ran = HashMap::new();
    for (path, _) in &journals {
        add_journal(path, &mut ran);
    }
    let (mut answered, mut cut_short) = (0, 0);
    for (marker, fate) in &fates {
        let times = ran.remove(marker).unwrap_or_default();
        let allowed = match fate {
            Fate::Answered => 1..=1,
            Fate::NeverSent => 0..=0,
            Fate::MaybeRun => 0..=1,
        };
        assert!(allowed.contains(&times), "{marker}: {fate:?}, ran {times}");
        answered += usize::from(*fate == Fate::Answered);
        cut_short += usize::from(*fate == Fate::MaybeRun && times == 1);
    }
    assert_eq!(ran, HashMap::new(), "nobody made these calls");
    // Else nothing was shown about calls that must not be repeated.
    assert!(cut_short > 0, "no call was running when its server died");
    assert!(killed > SERVERS, "only {killed} were killed");
    let failed = fates.len() - answered;
    // A process that dies takes along what it had in flight, and nothing more.
    assert!(failed <= killed * CALLERS, "{failed}, {killed} killed");
    let calls = calls();
    assert!(failed < calls / 2, "{failed} of {calls} failed");
}
