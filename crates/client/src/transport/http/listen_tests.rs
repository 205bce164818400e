//! Calls and the stream that a server asks by, in the order in which they reach it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderValue};
use switchboard_core::limits::Limits;
use switchboard_core::secret::SafeUrl;
use switchboard_wire::{CallTool, Initialize, Initialized, Method as _, Notice as _, Version};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::*;
use crate::transport::http::fetch::{Body, Chunk, Fetch, Fetching, Request, Response};
use crate::transport::http::inner::Inner;
use crate::transport::http::retry::Attempts;
use crate::transport::http::{Headers, IdRule, Streams};
use crate::transport::{Exchange as _, Heard, Kind, Outgoing};

/// Answers every message at once, and the stream when it may.
struct Slow {
    seen: Mutex<Vec<String>>,
    may_answer: Semaphore,
    status: u16,
}

impl Slow {
    fn note(&self, what: &str) {
        self.seen.lock().unwrap().push(what.to_owned());
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

/// One piece and the end, or no end at all.
struct Pieces(Option<Bytes>, bool);

impl Body for Pieces {
    fn chunk(&mut self) -> Chunk<'_> {
        let (piece, endless) = (self.0.take(), self.1);
        Box::pin(async move {
            match piece {
                None if endless => std::future::pending().await,
                piece => Ok(piece),
            }
        })
    }
}

fn response(status: u16, kind: &'static str, body: Pieces) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static(kind));
    Response {
        status,
        headers,
        body: Box::new(body),
    }
}

impl Fetch for Slow {
    fn fetch(&self, request: Request) -> Fetching<'_> {
        Box::pin(async move {
            if request.method == Method::GET {
                self.note("GET");
                self.may_answer.acquire().await.unwrap().forget();
                self.note("GET answered");
                return Ok(response(
                    self.status,
                    "text/event-stream",
                    Pieces(None, true),
                ));
            }
            let sent = String::from_utf8(request.body.to_vec()).unwrap();
            let method = [CallTool::NAME, Initialized::NAME, Initialize::NAME]
                .into_iter()
                .find(|name| sent.contains(name));
            self.note(method.unwrap());
            let result = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
            Ok(response(
                200,
                "application/json",
                Pieces(Some(result), false),
            ))
        })
    }
}

/// Takes everything.
struct Anyone;

impl Inlet for Anyone {
    fn message(&self, _: &[u8]) -> Heard {
        Heard::Answer
    }

    fn over_limit(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }

    fn over_limit_end(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }
}

async fn send(server: &Streamable, kind: Kind, method: &str) {
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
    let message = Outgoing {
        kind,
        method,
        subject: None,
        version: Some(Version::V2025_11_25),
        body: body.as_bytes(),
        budget: &Budget::of_process(),
    };
    server.send(message, &Anyone).await.unwrap();
}

/// A server with which a session is open, whose stream has been asked for.
async fn opened(status: u16, streams: Streams) -> (Arc<Slow>, Arc<Streamable>) {
    let slow = Arc::new(Slow {
        seen: Mutex::default(),
        may_answer: Semaphore::new(0),
        status,
    });
    let limits = Limits::default();
    let server = Arc::new(Streamable::new(Arc::new(Inner {
        url: SafeUrl::parse("http://localhost:1/mcp").unwrap(),
        headers: Headers::default(),
        of_message: std::sync::OnceLock::new(),
        #[cfg(feature = "auth")]
        authorization: None,
        id_rule: IdRule::default(),
        redirects: super::super::Redirects::default(),
        streams,
        attempts: Arc::new(Mutex::new(Attempts::new(
            limits.attempts,
            Duration::from_secs(60),
        ))),
        limits,
        fetch: Arc::clone(&slow) as Arc<dyn Fetch>,
    })));
    let listening = Arc::clone(&server);
    tokio::spawn(async move {
        let budget = Budget::of_process();
        listening.listen(&Anyone, &budget).await
    });
    send(&server, Kind::Request, Initialize::NAME).await;
    send(&server, Kind::Notification, Initialized::NAME).await;
    (slow, server)
}

#[tokio::test(start_paused = true)]
async fn a_call_is_sent_once_the_stream_that_the_server_asks_by_stands_or_is_refused() {
    for status in [200, 405] {
        let (slow, server) = opened(status, Streams::Welcome).await;
        let call = send(&server, Kind::Request, CallTool::NAME);
        tokio::pin!(call);
        let early = timeout(Duration::from_millis(900), &mut call).await;
        assert!(early.is_err(), "{:?}", slow.seen());
        slow.may_answer.add_permits(1);
        call.await;
        let expected = [
            Initialize::NAME,
            Initialized::NAME,
            "GET",
            "GET answered",
            CallTool::NAME,
        ];
        assert_eq!(slow.seen(), expected, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_never_answered_holds_up_the_first_call_alone_and_not_for_long() {
    let (_slow, server) = opened(200, Streams::Welcome).await;
    let begun = Instant::now();
    send(&server, Kind::Request, CallTool::NAME).await;
    assert_eq!(begun.elapsed(), Limits::default().listen);
    send(&server, Kind::Request, CallTool::NAME).await;
    assert_eq!(begun.elapsed(), Limits::default().listen);
}

#[tokio::test(start_paused = true)]
async fn where_no_stream_is_wanted_none_is_waited_for() {
    let (slow, server) = opened(200, Streams::Refused).await;
    let begun = Instant::now();
    send(&server, Kind::Request, CallTool::NAME).await;
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert!(!slow.seen().contains(&"GET".to_owned()));
}
