//! A hundred thousand calls over eight servers, each with a nonce of its own.
//!
//! The servers are processes that answer whatever has gathered in reverse order, and count what
//! they were asked. Nothing may be lost, doubled, or delivered to another call.

use serde_json::{Value, json};
use switchboard::CallOptions;
use switchboard::session::{Counts, Session, SessionOptions};
use tokio::time::timeout;

use crate::support::process::python;
use crate::support::{call, legacy, raw, secs, text, text_of};

const SERVERS: usize = 8;
const IN_FLIGHT: usize = 64;
/// For each of those in flight, so that there are a little over 100,000 in all.
const CALLS_EACH: usize = 196;

const SERVER: &str = r#"
import json, os
rest, seen, doubled = b"", set(), 0
def answer(m):
    global doubled
    if m["method"] == "server/discover":
        return {"resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "private"}
    params = m["params"]
    if params["name"] == "count":
        text = json.dumps([len(seen), doubled])
    else:
        text = params["arguments"]["nonce"]
        doubled += text in seen
        seen.add(text)
    return {"resultType": "complete", "content": [{"type": "text", "text": text}]}
while True:
    data = os.read(0, 1 << 18)
    if not data:
        break
    *lines, rest = (rest + data).split(b"\n")
    out = []
    for line in reversed(lines):
        m = json.loads(line)
        if "id" in m:
            out.append(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": answer(m)}) + "\n")
    out = "".join(out).encode()
    while out:
        out = out[os.write(1, out):]
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_hundred_thousand_calls_none_is_lost_doubled_or_given_to_another() {
    let mut sessions = Vec::new();
    for _ in 0..SERVERS {
        let options = SessionOptions::default();
        sessions.push(Session::connect(&python(SERVER), options).await.unwrap());
    }
    let callers: Vec<_> = (0..SERVERS * IN_FLIGHT)
        .map(|caller| {
            let session = sessions[caller % SERVERS].clone();
            tokio::spawn(async move { strangers(&session, caller).await })
        })
        .collect();
    let mut given_to_another = 0;
    for caller in callers {
        given_to_another += caller.await.unwrap();
    }
    assert_eq!(given_to_another, 0);
    for session in &sessions {
        let counted = call(session, "count").await.unwrap();
        let counted: Value = serde_json::from_str(text_of(&counted)).unwrap();
        assert_eq!(counted, json!([IN_FLIGHT * CALLS_EACH, 0]));
        session.close().await;
        assert_eq!(session.counts(), Counts::default());
    }
}

/// Makes a caller's calls; returns how many got the answer to another.
async fn strangers(session: &Session, caller: usize) -> usize {
    let mut strangers = 0;
    for n in 0..CALLS_EACH {
        // Some are long enough to take the other ways through the queue.
        let padding = match (caller + n) % 97 {
            0 => 100_000,
            1..=4 => 5_000,
            _ => 0,
        };
        let nonce = format!("{caller}-{n}-{}", "x".repeat(padding));
        let arguments = raw(&json!({"nonce": nonce}));
        let options = CallOptions::default();
        let result = session.call_tool("echo", Some(arguments), options).await;
        strangers += usize::from(text_of(&result.unwrap()) != nonce);
    }
    strangers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_given_up_at_any_moment_cost_no_other_call() {
    let (session, _server) = legacy(|mut wire| async move {
        let mut held: Option<Value> = None;
        while let Some(request) = wire.read().await {
            if request["method"] != "tools/call" {
                continue;
            }
            // Every other answer comes after the next.
            let is_last = request["params"]["name"] == "last";
            if held.is_none() && !is_last {
                held = Some(request);
                continue;
            }
            for request in [Some(request), held.take()].into_iter().flatten() {
                let name = request["params"]["name"].as_str().unwrap();
                wire.answer(&request, &text(name)).await;
            }
        }
    })
    .await;
    let callers: Vec<_> = (0..32_u64)
        .map(|caller| {
            let session = session.clone();
            tokio::spawn(async move {
                for n in 0..300 {
                    let nonce = format!("{caller}-{n}");
                    let mut calling = Box::pin(call(&session, &nonce));
                    // Given up after a few turns of the runtime, another number for every call.
                    let mut turns = (caller * 31 + n * 17) % 23;
                    let answered = std::future::poll_fn(|cx| match calling.as_mut().poll(cx) {
                        std::task::Poll::Ready(answered) => std::task::Poll::Ready(Some(answered)),
                        std::task::Poll::Pending if turns == 0 => std::task::Poll::Ready(None),
                        std::task::Poll::Pending => {
                            turns -= 1;
                            cx.waker().wake_by_ref();
                            std::task::Poll::Pending
                        }
                    })
                    .await;
                    if let Some(answered) = answered {
                        assert_eq!(text_of(&answered.unwrap()), nonce);
                    }
                }
            })
        })
        .collect();
    for caller in callers {
        timeout(secs(60), caller).await.unwrap().unwrap();
    }
    let last = call(&session, "last").await.unwrap();
    assert_eq!(text_of(&last), "last");
    timeout(secs(5), session.close()).await.unwrap();
}
