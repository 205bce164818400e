//! What floods of a server cost its host: memory within bounds, and one call at most.
//!
//! Each flood has a host of its own, whose memory is nobody else's.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use switchboard_tests::soak_size;

const SERVER: &str = env!("CARGO_BIN_EXE_endure-server");
const HOST: &str = env!("CARGO_BIN_EXE_flood-host");

const MIB_IN_KIB: u64 = 1024;

/// The usual limit of a message.
const LIMIT_KIB: u64 = 10 * MIB_IN_KIB;

/// The bounds are the same for any flood; smaller ones only take less time.
fn line_mib() -> u64 {
    soak_size(128, 1024)
}

fn stderr_mib() -> u64 {
    soak_size(64, 1024)
}

fn notices() -> u64 {
    soak_size(50_000, 1_000_000)
}

/// How many of them are kept for whoever may read them.
const KEPT_NOTICES: u64 = 1024;

/// Answers `echo` with a long line that says only at its end whose it is, as many servers would.
const ID_LAST: &str = r#"
import json, sys
out = sys.stdout.buffer
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    tail = ',"jsonrpc":"2.0","id":%s}\n' % json.dumps(m["id"])
    result = {"resultType": "complete", "content": [{"type": "text", "text": "3"}]}
    if m["method"] == "server/discover":
        result = {"resultType": "complete", "supportedVersions": ["2026-07-28"],
                  "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}
    elif m["params"]["name"] == "echo":
        out.write(b'{"result":{"content":[{"type":"text","text":"')
        for _ in range(int(sys.argv[1])):
            out.write(b"x" * (1 << 20))
        out.write(b'"}]}' + tail.encode())
        out.flush()
        continue
    out.write(('{"result":%s' % json.dumps(result) + tail).encode())
    out.flush()
"#;

/// What a host saw of a server.
struct Seen(BTreeMap<String, String>);

impl Seen {
    fn of(command: &[&str]) -> Self {
        let mut host = Command::new(HOST);
        let output = host.args(command).stderr(Stdio::inherit()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{command:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let pair = |line: &str| {
            let (name, value) = line.split_once(' ').unwrap();
            (name.to_owned(), value.to_owned())
        };
        let seen = Self(text.lines().map(pair).collect());
        // The next call, which a flood must not cost.
        assert_eq!(seen.text("next"), "3");
        seen
    }

    fn of_fault(fault: &str) -> Self {
        Self::of(&[SERVER, "--chaos", fault])
    }

    fn text(&self, name: &str) -> &str {
        &self.0[name]
    }

    fn number(&self, name: &str) -> u64 {
        self.text(name).parse().unwrap()
    }

    #[track_caller]
    fn assert_grown_at_most(&self, most_kib: u64) {
        let grown = self.number("grown-kib");
        assert!(grown <= most_kib, "{grown} KiB: {:?}", self.0);
    }
}

#[track_caller]
fn assert_failed_in_time(seen: &Seen) {
    assert_eq!(seen.text("outcome"), "too large 10485760");
    assert_eq!(seen.number("over-limit"), 1);
    // Two seconds are the limit; the third is for the machine to notice.
    assert!(seen.number("after-limit-ms") < 3000, "{:?}", seen.0);
    seen.assert_grown_at_most(3 * LIMIT_KIB);
}

#[test]
fn an_endless_line_costs_its_call_and_three_times_the_limit() {
    assert_failed_in_time(&Seen::of_fault(&format!("huge-line={}@echo", line_mib())));
}

#[test]
fn an_endless_line_that_names_its_call_last_costs_no_more() {
    let size = line_mib().to_string();
    assert_failed_in_time(&Seen::of(&["python3", "-c", ID_LAST, &size]));
}

#[test]
fn an_answer_behind_a_million_notifications_arrives_and_each_is_accounted_for() {
    let seen = Seen::of_fault(&format!("log-flood={}@echo", notices()));
    assert_eq!(seen.text("outcome"), "ok hello");
    assert_eq!(seen.number("dropped-notices"), notices() - KEPT_NOTICES);
    seen.assert_grown_at_most(16 * MIB_IN_KIB);
}

#[test]
fn a_server_that_floods_its_stderr_is_not_held_up_and_takes_no_memory() {
    let seen = Seen::of_fault(&format!("stderr-flood={}@echo", stderr_mib()));
    assert_eq!(seen.text("outcome"), "ok hello");
    // The first ten, the last twenty, and a line for those between.
    assert_eq!(seen.number("stderr-lines"), 31);
    seen.assert_grown_at_most(4 * MIB_IN_KIB);
}
