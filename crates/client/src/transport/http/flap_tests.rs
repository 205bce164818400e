//! How often a server is asked that fails again and again, by a clock that stands still.
//!
//! No byte leaves the process: the HTTP client is replaced.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::time::Instant;

use switchboard_core::limits::{Budget, Limits};
use switchboard_core::secret::SafeUrl;
use switchboard_wire::Version;

use super::super::fetch::{Body, Chunk, Fetch, Fetching, Request, Response};
use super::super::inner::Inner;
use super::super::retry::Attempts;
use super::super::streamable::Streamable;
use super::super::{Headers, IdRule, Streams};
use crate::transport::{Exchange as _, FailedRequest, Fault, Heard, Inlet, Kind, Outgoing};

const MINUTE: Duration = Duration::from_secs(60);

/// An answer: status, one header, body.
type Answer = (u16, Option<(&'static str, &'static str)>, String);

type Answers = dyn Fn(&str, &Value) -> Answer + Send + Sync;

/// A server that is asked nothing for real.
struct Fake {
    answer: Box<Answers>,
    /// What was asked, and when.
    asked: Mutex<Vec<(String, Instant)>>,
}

impl Fake {
    fn new(answer: impl Fn(&str, &Value) -> Answer + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            answer: Box::new(answer),
            asked: Mutex::default(),
        })
    }

    fn times(&self, what: &str) -> Vec<Instant> {
        let asked = self.asked.lock().unwrap();
        let found = asked.iter().filter(|(found, _)| found == what);
        found.map(|(_, at)| *at).collect()
    }

    fn server(self: &Arc<Self>) -> Streamable {
        let limits = Limits::default();
        Streamable::new(Arc::new(Inner {
            url: SafeUrl::parse("http://127.0.0.1:9/mcp").unwrap(),
            headers: Headers::default(),
            of_message: std::sync::OnceLock::new(),
            #[cfg(feature = "auth")]
            authorization: None,
            id_rule: IdRule::default(),
            redirects: super::super::Redirects::default(),
            streams: Streams::default(),
            attempts: Arc::new(Mutex::new(Attempts::new(limits.attempts, MINUTE))),
            limits,
            fetch: Arc::new(Client(Arc::clone(self))),
        }))
    }

    /// A server with which the handshake is made.
    async fn open(self: &Arc<Self>) -> Streamable {
        let server = self.server();
        send(&server, "initialize").await.unwrap();
        send(&server, "notifications/initialized").await.unwrap();
        server
    }
}

/// Sends a message; says what became of it.
async fn send(server: &Streamable, method: &str) -> Result<(), Fault> {
    let budget = Budget::of(1024 * 1024);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method}).to_string();
    let message = Outgoing {
        kind: match method.starts_with("notifications/") {
            true => Kind::Notification,
            false => Kind::Request,
        },
        method,
        subject: None,
        version: (method != "initialize").then_some(Version::V2025_11_25),
        body: body.as_bytes(),
        budget: &budget,
    };
    server.send(message, &Waiting).await
}

/// Listens for that long.
async fn listen_for(server: &Streamable, time: Duration) {
    tokio::time::timeout(time, server.listen(&Nobody, &Budget::of_process()))
        .await
        .unwrap_err();
}

/// Waits for a result.
struct Waiting;

/// Waits for nothing.
struct Nobody;

impl Inlet for Waiting {
    fn message(&self, text: &[u8]) -> Heard {
        let message: Value = serde_json::from_slice(text).unwrap();
        match message.get("result") {
            Some(_) => Heard::Answer,
            None => Heard::Aside,
        }
    }

    fn over_limit(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }

    fn over_limit_end(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }
}

impl Inlet for Nobody {
    fn message(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }

    fn over_limit(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }

    fn over_limit_end(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }
}

struct Whole(VecDeque<bytes::Bytes>);

impl Body for Whole {
    fn chunk(&mut self) -> Chunk<'_> {
        let next = self.0.pop_front();
        Box::pin(async move { Ok(next) })
    }
}

struct Client(Arc<Fake>);

impl Fetch for Client {
    fn fetch(&self, request: Request) -> Fetching<'_> {
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let what = message["method"]
            .as_str()
            .unwrap_or(request.method.as_str());
        let now = (what.to_owned(), Instant::now());
        self.0.asked.lock().unwrap().push(now);
        let (status, header, body) = (self.0.answer)(what, &message["id"]);
        let mut headers = HeaderMap::new();
        let kind = match body.starts_with('{') {
            true => "application/json",
            false => "text/event-stream",
        };
        headers.insert("content-type", HeaderValue::from_static(kind));
        if let Some((name, value)) = header {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        let body = Box::new(Whole(VecDeque::from([bytes::Bytes::from(body)])));
        Box::pin(async move {
            Ok(Response {
                status,
                headers,
                body,
            })
        })
    }
}

fn result(id: &Value, result: &Value) -> Answer {
    let text = json!({"jsonrpc": "2.0", "id": id, "result": result});
    (200, None, text.to_string())
}

/// A good legacy server without a stream.
fn good(what: &str, id: &Value) -> Answer {
    match what {
        "initialize" => result(
            id,
            &json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "fake", "version": "1"}}),
        ),
        "tools/list" => result(id, &json!({"tools": []})),
        "GET" => (405, None, String::new()),
        _ => (202, None, String::new()),
    }
}

/// Asserts that no minute has more than so many of them.
#[track_caller]
fn assert_at_most(most: usize, times: &[Instant]) {
    for from in times {
        let within = |at: &&Instant| **at >= *from && **at - *from < MINUTE;
        let count = times.iter().filter(within).count();
        assert!(count <= most, "{count} in a minute");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_flaps_is_opened_ten_times_a_minute_at_most() {
    for stream in ["", "retry: 0\n\n", "id: 1\ndata:\n\n", ": hello\n\n"] {
        let fake = Fake::new(move |what, id| match what {
            "GET" => (200, None, stream.to_owned()),
            _ => good(what, id),
        });
        listen_for(&fake.open().await, 10 * MINUTE).await;
        let opened = fake.times("GET");
        assert_at_most(10, &opened);
        // Nor is it given up.
        assert!(opened.len() > 90, "{stream:?}: {}", opened.len());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_is_tried_again_ten_times_a_minute_at_most() {
    let fake = Fake::new(|what, id| match what {
        "tools/list" => (503, None, String::new()),
        _ => good(what, id),
    });
    let server = fake.open().await;
    let begun = Instant::now();
    let mut lists = 0;
    while begun.elapsed() < 10 * MINUTE {
        lists += 1;
        for made in 0.. {
            let fault = send(&server, "tools/list").await.unwrap_err();
            let Some(wait) = server.wait_before_repeating(&repeat(&fault, made)) else {
                break;
            };
            tokio::time::sleep(wait).await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let asked = fake.times("tools/list");
    let again = asked.len() - lists;
    assert!((50..=100).contains(&again), "{again} more than {lists}");
}

fn repeat(fault: &Fault, made: u32) -> FailedRequest<'_> {
    FailedRequest {
        method: "tools/list",
        idempotent: false,
        fault,
        made,
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_always_to_come_is_asked_after_ten_times_a_minute_at_most() {
    let fake = Fake::new(|what, id| match what {
        "tools/call" | "GET" => (200, None, "id: 7\nretry: 0\ndata:\n\n".to_owned()),
        _ => good(what, id),
    });
    let server = fake.open().await;
    let call = send(&server, "tools/call");
    let (call, ()) = tokio::join!(
        tokio::time::timeout(10 * MINUTE, call),
        listen_for(&server, 10 * MINUTE)
    );
    call.unwrap_err();
    assert_at_most(10, &fake.times("GET"));
    assert_eq!(fake.times("tools/call").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_wait_that_a_stream_asks_for_is_kept_within_its_bounds() {
    for (asked, least, most) in [
        ("0", Duration::from_millis(100), Duration::from_millis(200)),
        ("5000", Duration::from_secs(5), Duration::from_secs(6)),
        ("99999999999", MINUTE, MINUTE + Duration::from_secs(1)),
    ] {
        let fake = Fake::new(move |what, id| match what {
            "GET" => (200, None, format!("retry: {asked}\n\n")),
            _ => good(what, id),
        });
        listen_for(&fake.open().await, 3 * MINUTE).await;
        let opened = fake.times("GET");
        let waited = opened[1] - opened[0];
        assert!((least..=most).contains(&waited), "{asked}: {waited:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_when_to_come_back_is_believed_up_to_a_minute() {
    for (said, least, most) in [
        ("7", 7, 9),
        ("100000", 60, 62),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 2),
    ] {
        for status in [429, 503] {
            let fake = Fake::new(move |what, id| match what {
                "tools/list" => (status, Some(("retry-after", said)), String::new()),
                _ => good(what, id),
            });
            let server = fake.open().await;
            let fault = send(&server, "tools/list").await.unwrap_err();
            let wait = server.wait_before_repeating(&repeat(&fault, 0)).unwrap();
            assert!((least..=most).contains(&wait.as_secs()), "{said}: {wait:?}");
        }
    }
}
