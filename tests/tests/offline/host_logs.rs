//! What servers say beside their answers: nothing is lost, nothing is kept without end.

use serde_json::{Value, json};
use switchboard::host::{Host, HostLimits, Log, Logs, Said};
use switchboard::protocol::{LogLevel, Raw};
use switchboard::spec::{Endpoint, Protocol, ServerSpec, TransportKind};
use switchboard::transport::{Environment, Watched};
use switchboard_testkit::Options;
use switchboard_testkit::http::{Http as TestServer, Transport};
use tokio::time::timeout;

use crate::host_support::{PATIENCE, With as _, call, faulty, name, scripted, testkit, usual};

const SECRET: &str = "correct-horse-battery-staple";

/// The next that is said; waits for it.
async fn next(logs: &mut Logs) -> Log {
    match timeout(PATIENCE, logs.next()).await.unwrap().unwrap() {
        Watched::Item(log) => log,
        Watched::Missed(missed) => panic!("{missed} missed"),
    }
}

fn message(level: LogLevel, logger: Option<&str>, data: &Value) -> Said {
    Said::Message {
        level: Some(level),
        logger: logger.map(str::to_owned),
        data: Raw::of(data).unwrap(),
    }
}

/// A server that writes to stderr and logs, with a secret in all of it.
const TALKER: &str = r#"
import json, os, sys
secret = os.environ["API_TOKEN"]
def write(value):
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()
def err(text):
    sys.stderr.write(text)
    sys.stderr.flush()
err("starting with " + secret + "\n")
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "logging": {}},
                  "serverInfo": {"name": "talker", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "talk", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        for number in range(3):
            params = {"level": "warning", "logger": "db", "data": {"n": number, "token": secret}}
            write({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
        write({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "loud", "data": 1}})
        write({"jsonrpc": "2.0", "method": "notifications/odd", "params": {"x": secret}})
        err("called\r\n")
        result = {"content": [{"type": "text", "text": "done"}]}
    else:
        continue
    write({"jsonrpc": "2.0", "id": message["id"], "result": result})
err("bye")
"#;

fn talker() -> ServerSpec {
    let spec = ServerSpec::stdio("talker", "python3").unwrap();
    let mut spec = spec.args(["-u", "-c", TALKER]);
    if let Endpoint::Process(process) = &mut spec.endpoint {
        let secret = switchboard::secret::Secret::new(SECRET.to_owned());
        process.env.insert("API_TOKEN".to_owned(), secret);
    }
    spec.settings.protocol = Protocol::Legacy;
    spec
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stderr_and_messages_come_in_order_and_without_secrets() {
    let host = Host::builder()
        .environment(&Environment::of_process())
        .server(talker())
        .build()
        .unwrap();
    let mut logs = host.logs();
    call(&host, "talker/talk", json!({})).await;
    host.shutdown().await;
    drop(host);
    let (mut stderr, mut said) = (Vec::new(), Vec::new());
    while let Some(log) = timeout(PATIENCE, logs.next()).await.unwrap() {
        let Watched::Item(log) = log else {
            panic!("{log:?}")
        };
        assert_eq!((&log.server, log.cut_from), (&name("talker"), None));
        match log.said {
            Said::Stderr(line) => stderr.push(line),
            other => said.push(other),
        }
    }
    assert_eq!(stderr, ["starting with ***", "called", "bye"]);
    let logged = |n: i32| json!({"n": n, "token": "***"});
    let text = |n| logged(n).to_string().replace(':', ": ").replace(',', ", ");
    let warning = |n| Said::Message {
        level: Some(LogLevel::Warning),
        logger: Some("db".to_owned()),
        data: Raw::parse(&text(n)).unwrap(),
    };
    let odd = Said::Message {
        level: None,
        logger: None,
        data: Raw::parse(r#"{"level": "loud", "data": 1}"#).unwrap(),
    };
    let announced = Said::Announced {
        method: "notifications/odd".to_owned(),
        params: Some(Raw::parse(r#"{"x": "***"}"#).unwrap()),
    };
    assert_eq!(said, [warning(0), warning(1), warning(2), odd, announced]);
}

#[tokio::test]
async fn of_a_flood_that_nobody_reads_the_newest_are_kept_and_the_rest_is_counted_to_the_last() {
    let host = Host::builder().with("one", faulty(&["log-flood=100000@echo"]));
    let host = host.protocol(Protocol::Legacy).build().unwrap();
    let (mut logs, mut late) = (host.logs(), host.logs());
    call(&host, "one/echo", json!({"message": "hi"})).await;
    let most = HostLimits::default().logs;
    let missed = 100_000 - u64::try_from(most).unwrap();
    for logs in [&mut logs, &mut late] {
        assert_eq!(logs.next_now(), Some(Watched::Missed(missed)));
        let kept = std::iter::from_fn(|| logs.next_now());
        let kept: Vec<Said> = kept
            .map(|log| match log {
                Watched::Item(log) => log.said,
                Watched::Missed(more) => panic!("{more} more"),
            })
            .collect();
        let newest = (100_000 - most..100_000).map(|number| {
            let text = json!(format!("message {number}"));
            message(LogLevel::Info, None, &text)
        });
        let newest: Vec<Said> = newest.collect();
        // Counted from nought or from one.
        assert_eq!(kept.len(), newest.len());
        assert!(
            kept[..most - 1] == newest[1..] || kept == newest,
            "{:?}",
            kept[0]
        );
    }
    // They went to whoever listens, and were not passed over.
    let counts = host.server("one").unwrap().counts.unwrap();
    assert_eq!(counts.dropped_notices, 0);
}

#[tokio::test]
async fn a_long_message_is_cut_and_measured() {
    let mut limits = HostLimits::default();
    limits.log_bytes = 10;
    let (memory, script) = scripted(|method, _| Some(usual(method)));
    let host = Host::builder().host_limits(limits).with("one", memory);
    let host = host.build().unwrap();
    let mut logs = host.logs();
    host.connect("one").await.unwrap();
    for size in [8, 9] {
        let data = "x".repeat(size);
        script.say_with(
            "notifications/message",
            &json!({"level": "info", "data": data}),
        );
    }
    let whole = next(&mut logs).await;
    assert_eq!(
        whole.said,
        message(LogLevel::Info, None, &json!("xxxxxxxx"))
    );
    assert_eq!(whole.cut_from, None);
    let cut = next(&mut logs).await;
    assert_eq!(
        cut.said,
        message(LogLevel::Info, None, &json!("\"xxxxxxxxx"))
    );
    assert_eq!(cut.cut_from, Some(11));
}

#[tokio::test]
async fn the_older_transport_tells_what_is_logged_too() {
    let mut options = Options::default();
    options.chaos = vec!["log-flood=300@echo".parse().unwrap()];
    let server = TestServer::new(options).transport(Transport::Sse);
    let server = server.serve().await.unwrap();
    let mut spec = ServerSpec::http("one", &server.url()).unwrap();
    if let Endpoint::Remote(remote) = &mut spec.endpoint {
        remote.transport = TransportKind::Sse;
    }
    let host = Host::builder().server(spec).build().unwrap();
    let mut logs = host.logs();
    call(&host, "one/echo", json!({"message": "hi"})).await;
    for _ in 0..300 {
        assert_eq!(next(&mut logs).await.said.level(), Some(LogLevel::Info));
    }
    assert_eq!(logs.next_now(), None);
}

#[tokio::test]
async fn logs_end_with_the_host() {
    let host = Host::builder().with("one", testkit(Options::default()));
    let host = host.build().unwrap();
    let mut logs = host.logs();
    host.connect("one").await.unwrap();
    host.shutdown().await;
    drop(host);
    let end = async { while logs.next().await.is_some() {} };
    timeout(PATIENCE, end).await.unwrap();
}
