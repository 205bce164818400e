//! From which level on servers are to log: told in the words of each era, and never forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use switchboard::ErrorKind;
use switchboard::host::{Host, Logs, Said};
use switchboard::protocol::{LogLevel, Raw};
use switchboard::spec::{Protocol, ServerSpec};
use switchboard::transport::{Memory, Watched};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::host_support::{self, PATIENCE, With as _, call};
use crate::support::http_script::{Asked, Reply, Scripted};
use crate::support::wire;

/// What servers of a test's own were asked: how often each was connected to, and the messages.
type Asking = (Arc<AtomicUsize>, mpsc::UnboundedReceiver<Value>);

/// A server that answers calls, and dies when it is told to.
fn mortal(hello: fn() -> Value) -> (Memory, Asking) {
    let (says, heard) = mpsc::unbounded_channel();
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&starts);
    let memory = Memory::new("mortal", move |input, output| {
        let start = counted.fetch_add(1, Ordering::SeqCst) + 1;
        let mut wire = wire::Wire::new(input, output, start, says.clone());
        async move {
            while let Some(request) = wire.read().await {
                let result = match request["method"].as_str().unwrap() {
                    "initialize" | "server/discover" => hello(),
                    "tools/list" => json!({
                        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                        "tools": [{"name": "die", "inputSchema": {"type": "object"}}],
                    }),
                    "logging/setLevel" => json!({}),
                    "tools/call" => return,
                    _ => continue,
                };
                wire.answer(&request, &result).await;
            }
        }
    });
    (memory, (starts, heard))
}

fn legacy_logging() -> Value {
    let mut hello = wire::hello_legacy("2025-11-25");
    hello["capabilities"] = json!({"tools": {}, "logging": {}});
    hello
}

fn modern() -> Value {
    let mut hello = wire::hello_modern(&["2026-07-28"]);
    hello["capabilities"] = json!({"tools": {}});
    hello
}

async fn die(host: &Host) {
    let owner = switchboard::Caller::owner();
    let tool = host.view(owner).find("one/die").await.unwrap();
    tool.call(json!({})).await.unwrap_err();
}

#[tokio::test]
async fn a_legacy_server_is_told_the_level_once_on_each_connection() {
    let (memory, (starts, mut heard)) = mortal(legacy_logging);
    let host = Host::builder().with("one", memory);
    let host = host.protocol(Protocol::Legacy).build().unwrap();
    host.set_log_level("one", LogLevel::Warning).await.unwrap();
    host.connect("one").await.unwrap();
    host.set_log_level("one", LogLevel::Warning).await.unwrap();
    die(&host).await;
    host.connect("one").await.unwrap();
    host.set_log_level("one", LogLevel::Debug).await.unwrap();
    host.restart("one").await.unwrap();
    assert_eq!(starts.load(Ordering::SeqCst), 3);
    let asked = std::iter::from_fn(|| heard.try_recv().ok());
    let asked: Vec<String> = asked
        .filter_map(|asked| match asked["method"].as_str()? {
            "initialize" => Some("connect".to_owned()),
            "logging/setLevel" => Some(asked["params"]["level"].as_str()?.to_owned()),
            _ => None,
        })
        .collect();
    let wanted = [
        "connect", "warning", "connect", "warning", "debug", "connect", "debug",
    ];
    assert_eq!(asked, wanted);
}

#[tokio::test]
async fn a_level_that_is_wanted_starts_nothing_and_is_there_from_the_first_list_on() {
    let (memory, (starts, mut heard)) = mortal(modern);
    let host = Host::builder().with("one", memory);
    let host = host.protocol(Protocol::Modern).build().unwrap();
    host.want_log_level("one", LogLevel::Info).unwrap();
    assert_eq!(starts.load(Ordering::SeqCst), 0);
    host.connect("one").await.unwrap();
    let asked = std::iter::from_fn(|| heard.try_recv().ok());
    let list = asked
        .into_iter()
        .find(|asked| asked["method"] == "tools/list");
    let level = &list.unwrap()["params"]["_meta"]["io.modelcontextprotocol/logLevel"];
    assert_eq!(level, "info");
    let error = host.want_log_level("two", LogLevel::Info).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
}

#[tokio::test]
async fn a_modern_server_is_told_the_level_with_every_request_on_every_connection() {
    let (memory, (starts, mut heard)) = mortal(modern);
    let host = Host::builder().with("one", memory);
    let host = host.protocol(Protocol::Modern).build().unwrap();
    host.set_log_level("one", LogLevel::Info).await.unwrap();
    host.connect("one").await.unwrap();
    die(&host).await;
    host.connect("one").await.unwrap();
    assert_eq!(starts.load(Ordering::SeqCst), 2);
    let asked = std::iter::from_fn(|| heard.try_recv().ok());
    let mut seen = 0;
    for asked in asked.filter(|asked| asked["method"] != "server/discover") {
        let level = &asked["params"]["_meta"]["io.modelcontextprotocol/logLevel"];
        assert_eq!(level, "info", "{asked}");
        assert_ne!(asked["method"], "logging/setLevel");
        seen += 1;
    }
    assert!(seen >= 3, "{seen}");
}

#[tokio::test]
async fn a_legacy_server_that_does_not_log_is_not_asked_to() {
    fn hello() -> Value {
        let mut hello = legacy_logging();
        hello["capabilities"] = json!({"tools": {}});
        hello
    }
    let (memory, (_, mut heard)) = mortal(hello);
    let host = Host::builder().with("one", memory);
    let host = host.protocol(Protocol::Legacy).build().unwrap();
    let refused = host.set_log_level("one", LogLevel::Info).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotOffered);
    assert!(refused.to_string().contains("logging"), "{refused}");
    let mut events = host.events();
    host.restart("one").await.unwrap();
    let notices = std::iter::from_fn(|| events.try_recv().ok());
    assert!(
        notices
            .map(|event| event.name())
            .all(|name| name != "notice")
    );
    let asked = std::iter::from_fn(|| heard.try_recv().ok());
    assert!(
        asked
            .map(|asked| asked["method"].clone())
            .all(|name| name != "logging/setLevel")
    );
    let unknown = host.set_log_level("two", LogLevel::Info).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::Configuration);
}

/// A legacy server over HTTP that logs before it answers, and forgets its session once.
fn forgetful() -> impl Fn(&Asked) -> Option<Reply> + Send + Sync {
    let sessions = AtomicUsize::new(0);
    move |asked| {
        let last = format!("s{}", sessions.load(Ordering::SeqCst));
        let is_known = asked.header("mcp-session-id") == Some(last.as_str());
        let id = asked.json()["id"].clone();
        Some(match asked.what().as_str() {
            "initialize" => {
                let id = sessions.fetch_add(1, Ordering::SeqCst) + 1;
                let reply = asked.result(&legacy_logging());
                reply.header("mcp-session-id", &format!("s{id}"))
            }
            "server/discover" => asked.legacy(),
            _ if !is_known => Reply::new(404),
            "logging/setLevel" => asked.result(&json!({})),
            "tools/list" => asked.result(&host_support::tools(&["forget"])),
            "tools/call" => {
                let log = json!({"jsonrpc": "2.0", "method": "notifications/message",
                    "params": {"level": "info", "data": last}});
                let answer = json!({"jsonrpc": "2.0", "id": id,
                    "result": {"content": [{"type": "text", "text": "done"}]}});
                // From now on it knows nobody.
                sessions.fetch_add(1, Ordering::SeqCst);
                Reply::stream(&format!("data: {log}\n\ndata: {answer}\n\n"))
            }
            _ => asked.legacy(),
        })
    }
}

/// The next that is said; waits for it.
async fn next(logs: &mut Logs) -> Said {
    match timeout(PATIENCE, logs.next()).await.unwrap().unwrap() {
        Watched::Item(log) => log.said,
        Watched::Missed(missed) => panic!("{missed} missed"),
    }
}

#[tokio::test]
async fn over_http_messages_come_with_answers_and_a_new_session_is_told_the_level_again() {
    let server = Scripted::new(forgetful()).await;
    let spec = ServerSpec::http("one", server.url()).unwrap();
    let host = Host::builder().server(spec).protocol(Protocol::Legacy);
    let host = host.build().unwrap();
    let mut logs = host.logs();
    host.set_log_level("one", LogLevel::Info).await.unwrap();
    for session in ["s1", "s3"] {
        call(&host, "one/forget", json!({})).await;
        let said = next(&mut logs).await;
        let wanted = Said::Message {
            level: Some(LogLevel::Info),
            logger: None,
            data: Raw::of(session).unwrap(),
        };
        assert_eq!(said, wanted);
    }
    let asked = server.asked();
    let levels = asked
        .iter()
        .filter(|asked| asked.what() == "logging/setLevel");
    let told: Vec<_> = levels
        .map(|asked| {
            (
                asked.header("mcp-session-id").unwrap(),
                asked.json()["params"]["level"].clone(),
            )
        })
        .collect();
    assert_eq!(told, [("s1", json!("info")), ("s3", json!("info"))]);
}
