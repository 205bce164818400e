//! How often a server is asked that fails again and again, by a clock that stands still.
//!
//! No byte leaves the process: the HTTP client is replaced.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::super::fetch::{Body, Chunk, Fetch, Fetching, Request, Response};
use super::super::inner::Inner;
use super::super::retry::Attempts;
use super::super::streamable::Streamable;
use super::super::{IdRule, Streams};
use crate::limits::{Deadline, Limits, Timeouts};
use crate::secret::SafeUrl;
use crate::session::{CallOptions, Session, SessionOptions};
use crate::spec::Protocol;
use crate::transport::{Connect, Connecting, Link};

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

    async fn open(self: &Arc<Self>) -> Session {
        let patient = Timeouts::all(Deadline::within(100 * MINUTE));
        let options = SessionOptions::default()
            .protocol(Protocol::Legacy)
            .timeouts(patient);
        Session::connect(&Fakes(Arc::clone(self)), options)
            .await
            .unwrap()
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

struct Fakes(Arc<Fake>);

impl Connect for Fakes {
    fn connect(&self) -> Connecting<'_> {
        let limits = Limits::default();
        let inner = Arc::new(Inner {
            url: SafeUrl::parse("http://127.0.0.1:9/mcp").unwrap(),
            headers: super::super::Headers::default(),
            id_rule: IdRule::default(),
            streams: Streams::default(),
            attempts: Arc::new(Mutex::new(Attempts::new(limits.attempts, MINUTE))),
            limits,
            fetch: Arc::new(Client(Arc::clone(&self.0))),
        });
        Box::pin(async move { Ok(Link::of_exchange(Streamable::new(inner))) })
    }

    fn identity(&self) -> String {
        "fake".to_owned()
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
        let session = fake.open().await;
        tokio::time::sleep(10 * MINUTE).await;
        let opened = fake.times("GET");
        assert_at_most(10, &opened);
        // Nor is it given up.
        assert!(opened.len() > 90, "{stream:?}: {}", opened.len());
        session.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_is_tried_again_ten_times_a_minute_at_most() {
    let fake = Fake::new(|what, id| match what {
        "tools/list" => (503, None, String::new()),
        _ => good(what, id),
    });
    let session = fake.open().await;
    let begun = Instant::now();
    let mut lists = 0;
    while begun.elapsed() < 10 * MINUTE {
        session.list_tools().await.unwrap_err();
        lists += 1;
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let asked = fake.times("tools/list");
    let again = asked.len() - lists;
    assert!((50..=100).contains(&again), "{again} more than {lists}");
    assert_at_most(10 + 61, &asked);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_always_to_come_is_asked_after_ten_times_a_minute_at_most() {
    let fake = Fake::new(|what, id| match what {
        "tools/call" | "GET" => (200, None, "id: 7\nretry: 0\ndata:\n\n".to_owned()),
        _ => good(what, id),
    });
    let session = fake.open().await;
    let deadline = Deadline::within(10 * MINUTE);
    let options = CallOptions::default().deadline(deadline);
    let error = session.call_tool("slow", None, options).await.unwrap_err();
    assert!(error.is_timeout(), "{error:?}");
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
        let session = fake.open().await;
        tokio::time::sleep(3 * MINUTE).await;
        let opened = fake.times("GET");
        let waited = opened[1] - opened[0];
        assert!((least..=most).contains(&waited), "{asked}: {waited:?}");
        session.close().await;
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
            let first = Mutex::new(true);
            let fake = Fake::new(move |what, id| {
                if what == "tools/list" && std::mem::take(&mut *first.lock().unwrap()) {
                    return (status, Some(("retry-after", said)), String::new());
                }
                good(what, id)
            });
            let session = fake.open().await;
            session.list_tools().await.unwrap();
            let asked = fake.times("tools/list");
            let waited = (asked[1] - asked[0]).as_secs();
            assert!((least..=most).contains(&waited), "{said}: {waited}");
        }
    }
}
