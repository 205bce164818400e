//! What servers that talk back without end cost their host: memory within bounds, no call, no connection.
//!
//! Each flood has a host of its own, whose memory is nobody else's. Questions are counted by the server: each is
//! answered, or the host has counted it as one that was not.

#![allow(clippy::print_stdout, reason = "the figures are worth seeing")]

use std::collections::BTreeMap;

use switchboard::protocol::Era;
use switchboard_tests::soak_size;
use tokio::io::AsyncBufReadExt as _;

use crate::support::http;

const HOST: &str = env!("CARGO_BIN_EXE_talk-flood-host");

const MIB_IN_KIB: u64 = 1024;

/// A hundred thousand, or a million where there is time.
fn many() -> u64 {
    soak_size(100_000, 1_000_000)
}

/// How many notifications are kept for whoever may read them.
const KEPT_NOTICES: u64 = 1024;

/// How many questions are open at the same time.
const OPEN: u64 = 8;

/// Floods during `echo`: `SERVER KIND COUNT`, legacy. The answer to the call says how many requests were made and how
/// many of them were answered, with a result or an error.
const SERVER: &str = r#"
import json, sys, threading
kind, count = sys.argv[1], int(sys.argv[2])
answers, arrived = {}, threading.Condition()
PLACES = 8
lock = threading.Lock()
sent = 0

def say(message):
    with lock:
        sys.stdout.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n")

def flush():
    with lock:
        sys.stdout.flush()

def ask(id, method, params=None):
    global sent
    sent += 1
    say({"id": id, "method": method, **({} if params is None else {"params": params})})

FORM = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
MESSAGES = [{"role": "user", "content": {"type": "text", "text": "?"}}]
KINDS = [
    ("elicitation/create", {"message": "who?", "requestedSchema": FORM}),
    ("sampling/createMessage", {"messages": MESSAGES, "maxTokens": 1}),
    ("roots/list", None),
    ("ping", None),
    ("x/unknown", {"a": 1}),
    ("elicitation/create", {"message": "go", "mode": "url", "url": "https://example.com/", "elicitationId": "e"}),
    ("elicitation/create", {"message": "tell", "requestedSchema":
        {"type": "object", "properties": {"password": {"type": "string"}}}}),
]

def flood():
    long = "x" * (1 << 20)
    for n in range(count):
        if kind == "requests":
            ask("q%d" % n, *KINDS[n % len(KINDS)])
        elif kind == "same-id":
            ask("q", *KINDS[n % len(KINDS)])
        elif kind == "long-messages":
            ask("q%d" % n, "elicitation/create", {"message": long, "requestedSchema": FORM})
        elif kind == "long-prompts":
            messages = [{"role": "user", "content": {"type": "text", "text": long * 5}}]
            ask("q%d" % n, "sampling/createMessage", {"messages": messages, "maxTokens": 1})
        elif kind == "long-methods":
            ask("q%d" % n, long)
        elif kind == "long-ids":
            ask("%d%s" % (n, long), "x/unknown")
        elif kind == "completed":
            say({"method": "notifications/elicitation/complete", "params": {"elicitationId": "e%d" % n}})
        elif kind == "updated":
            say({"method": "notifications/resources/updated", "params": {"uri": "file:///%d" % n}})
    barrier()
    if kind == "requests":
        # Requests that are answered at once take a place for a moment. Whether they leave one to those that are
        # never answered is chance, so the places are filled one by one, when nothing else is on its way.
        for n in range(PLACES):
            ask("place%d" % n, *KINDS[0])
            barrier()
    barrier()

def barrier():
    # What was asked before is answered before this is, unless it was left out, as this may be, too.
    n = 0
    while True:
        n += 1
        id = "end-%d-%d" % (sent, n)
        ask(id, "ping")
        flush()
        with arrived:
            if arrived.wait_for(lambda: id in answers, 0.2):
                return

def echo(id):
    flood()
    with arrived:
        results = sum(1 for it in answers.values() if it == "result")
        text = "sent %d results %d errors %d" % (sent, results, len(answers) - results)
    say({"id": id, "result": {"content": [{"type": "text", "text": text}]}})
    flush()

for line in sys.stdin:
    m = json.loads(line)
    if "method" not in m:
        with arrived:
            answers[m["id"] if kind != "same-id" or m["id"] != "q" else "q%d" % len(answers)] = \
                "result" if "result" in m else "error"
            if isinstance(m["id"], str) and m["id"].startswith("end"):
                arrived.notify_all()
    elif m["method"] == "initialize":
        say({"id": m["id"], "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
             "serverInfo": {"name": "flood", "version": "1"}}})
    elif m["method"] == "tools/call" and m["params"]["name"] == "echo":
        threading.Thread(target=echo, args=[m["id"]], daemon=True).start()
    elif m["method"] == "tools/call":
        say({"id": m["id"], "result": {"content": [{"type": "text", "text": "3"}]}})
    elif "id" in m:
        say({"id": m["id"], "error": {"code": -32601, "message": "no"}})
    flush()
"#;

/// Asks during `echo` over HTTP, with ids of a MiB, and never takes an answer to that.
const DEAF: &str = r#"
import http.server, json, sys, threading
count = int(sys.argv[1])

class Deaf(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def whole(self, status, body=b"", type="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.whole(405)

    def do_DELETE(self):
        self.whole(200)

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        if length > 1 << 20:
            threading.Event().wait()
        m = json.loads(self.rfile.read(length))
        if "id" not in m or "method" not in m:
            return self.whole(202)
        say = lambda result: dict(jsonrpc="2.0", id=m["id"], **result)
        if m["method"] == "initialize":
            return self.whole(200, json.dumps(say({"result": {"protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}}, "serverInfo": {"name": "deaf", "version": "1"}}})).encode())
        if m["method"] != "tools/call":
            error = {"error": {"code": -32601, "message": "no"}}
            return self.whole(200, json.dumps(say(error)).encode())
        name = m["params"]["name"]
        text = "hello" if name == "echo" else "3"
        messages = [] if name != "echo" else [
            {"jsonrpc": "2.0", "id": "%d%s" % (n, "x" * (1 << 20)), "method": "x/unknown"} for n in range(count)]
        messages.append(say({"result": {"content": [{"type": "text", "text": text}]}}))
        body = "".join("data: %s\n\n" % json.dumps(it) for it in messages)
        self.whole(200, body.encode(), "text/event-stream")

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Deaf)
print("http://127.0.0.1:%d/mcp" % server.server_port, flush=True)
server.serve_forever()
"#;

/// What a host saw of a server.
struct Seen(BTreeMap<String, String>);

impl Seen {
    async fn of(who: &str, server: &[&str]) -> Self {
        let mut host = tokio::process::Command::new(HOST);
        let output = host.arg(who).args(server).kill_on_drop(true).output();
        let output = output.await.unwrap();
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{who}: {words}");
        let text = String::from_utf8(output.stdout).unwrap();
        let pair = |line: &str| {
            let (name, value) = line.split_once(' ').unwrap();
            (name.to_owned(), value.to_owned())
        };
        let seen = Self(text.lines().map(pair).collect());
        // The next call, which a flood must not cost.
        assert_eq!(seen.0["next"], "3", "{who}: {:?}", seen.0);
        seen
    }

    async fn of_flood(who: &str, kind: &str, count: u64) -> Self {
        let count = count.to_string();
        let seen = Self::of(who, &["python3", "-c", SERVER, kind, &count]).await;
        println!("{who}, {count} {kind}: {:?}", seen.0);
        seen
    }

    fn number(&self, name: &str) -> u64 {
        self.0[name].parse().unwrap()
    }

    /// What the server told of its requests: those made, those with results and those with errors.
    fn told(&self) -> (u64, u64, u64) {
        let words: Vec<&str> = self.0["outcome"].split(' ').collect();
        let ["ok", "sent", sent, "results", results, "errors", errors] = words[..] else {
            panic!("{:?}", self.0);
        };
        let [sent, results, errors] = [sent, results, errors].map(|it| it.parse().unwrap());
        (sent, results, errors)
    }

    /// Each request was answered, or is open, or was counted as one that got no answer.
    #[track_caller]
    fn assert_accounted(&self, open: u64) {
        let (sent, results, errors) = self.told();
        let shed = self.number("shed");
        assert_eq!(results + errors + shed + open, sent, "{:?}", self.0);
    }

    #[track_caller]
    fn assert_grown_at_most(&self, most_mib: u64) {
        let grown = self.number("grown-kib");
        assert!(grown <= most_mib * MIB_IN_KIB, "{grown} KiB: {:?}", self.0);
    }
}

#[tokio::test]
async fn a_hundred_thousand_questions_are_answered_or_counted_and_take_no_room() {
    let seen = Seen::of_flood("answering", "requests", many()).await;
    seen.assert_accounted(0);
    // The model is asked ten times a minute, and nobody for a secret.
    let (_, results, errors) = seen.told();
    assert!(results > 0 && errors > 0, "{:?}", seen.0);
    seen.assert_grown_at_most(16);
}

#[tokio::test]
async fn a_hundred_thousand_questions_that_nobody_ever_answers_take_no_room() {
    let seen = Seen::of_flood("silent", "requests", many()).await;
    assert_eq!(seen.number("asked"), OPEN);
    seen.assert_accounted(OPEN);
    seen.assert_grown_at_most(16);
}

#[tokio::test]
async fn a_hundred_thousand_questions_without_a_handler_are_refused_or_counted() {
    let seen = Seen::of_flood("nobody", "requests", many()).await;
    seen.assert_accounted(0);
    seen.assert_grown_at_most(16);
}

#[tokio::test]
async fn questions_that_all_have_one_id_are_borne() {
    for who in ["answering", "silent", "nobody"] {
        let seen = Seen::of_flood(who, "same-id", many() / 10).await;
        seen.assert_grown_at_most(16);
        assert!(seen.number("asked") <= 1, "{:?}", seen.0);
    }
}

#[tokio::test]
async fn long_questions_are_refused_and_not_kept() {
    for who in ["answering", "silent", "nobody"] {
        let seen = Seen::of_flood(who, "long-messages", 40).await;
        assert_eq!(seen.number("asked"), 0);
        seen.assert_accounted(0);
        seen.assert_grown_at_most(24);
    }
}

#[tokio::test]
async fn prompts_that_nobody_answers_are_held_within_the_bound_of_a_connection() {
    let seen = Seen::of_flood("silent", "long-prompts", 20).await;
    assert_eq!(seen.number("asked"), OPEN);
    seen.assert_accounted(OPEN);
    // Eight prompts of five MiB, twice where they are read, and the one that is being read.
    seen.assert_grown_at_most(128);
}

#[tokio::test]
async fn long_names_and_ids_are_not_kept() {
    for kind in ["long-methods", "long-ids"] {
        let seen = Seen::of_flood("answering", kind, 40).await;
        seen.assert_accounted(0);
        seen.assert_grown_at_most(24);
    }
}

#[tokio::test]
async fn what_was_never_asked_for_is_dropped_and_counted_to_the_last() {
    for kind in ["completed", "updated"] {
        let seen = Seen::of_flood("silent", kind, many()).await;
        assert_eq!(seen.number("completed"), 0, "{kind}");
        assert_eq!(
            seen.number("dropped-notices"),
            many() - KEPT_NOTICES,
            "{kind}"
        );
        seen.assert_grown_at_most(16);
    }
}

#[tokio::test]
async fn floods_of_questions_over_http_are_borne_too() {
    for flag in ["request-flood=10000@echo", "ping-flood=10000@echo"] {
        for who in ["answering", "nobody"] {
            let server = http::server_of(Era::Legacy, &[flag]).await;
            let seen = Seen::of(who, &[&server.url()]).await;
            println!("{who}, {flag} over HTTP: {:?}", seen.0);
            assert_eq!(seen.0["outcome"], "ok hello", "{:?}", seen.0);
            seen.assert_grown_at_most(32);
        }
    }
}

#[tokio::test]
async fn answers_that_a_server_over_http_does_not_take_are_not_kept() {
    let mut server = tokio::process::Command::new("python3")
        .args(["-c", DEAF, "40"])
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let said = tokio::io::BufReader::new(server.stdout.take().unwrap());
    let url = said.lines().next_line().await.unwrap().unwrap();
    let seen = Seen::of("nobody", &[&url]).await;
    println!("deaf server over HTTP: {:?}", seen.0);
    assert_eq!(seen.0["outcome"], "ok hello", "{:?}", seen.0);
    assert_eq!(seen.number("shed"), 39, "{:?}", seen.0);
    seen.assert_grown_at_most(48);
}
