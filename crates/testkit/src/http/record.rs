//! The record of requests, and the counts of a server.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use hyper::HeaderMap;
use serde_json::Value;
use tokio::sync::watch;

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Request {
    /// The number of the request, counted from 1.
    pub number: u64,
    /// The number of its TCP connection, counted from 1.
    pub connection: u64,
    /// The HTTP method.
    pub method: String,
    /// The path, with the query if there is one.
    pub path: String,
    /// The headers in their order; names in lower case, bytes that are not text replaced.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The time at which it was complete.
    pub at: Instant,
    /// It came to the other origin that some faults send clients to.
    pub elsewhere: bool,
}

impl Request {
    /// The value of a header, by its name in any case; the first of several.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(header, _)| header.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The JSON-RPC method in the body; empty if there is none.
    pub fn rpc_method(&self) -> String {
        let json = self.json();
        let method = json.get("method").and_then(Value::as_str);
        method.unwrap_or_default().to_owned()
    }
}

/// The counts of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Counts {
    /// TCP connections that were accepted.
    pub connections: u64,
    /// Those of them that are open.
    pub open: u64,
    /// Complete requests.
    pub requests: u64,
    /// Answers in progress: running calls and open streams.
    pub running: u64,
    /// Modern requests whose client closed the connection before the answer. Their work was
    /// stopped.
    pub cancelled: u64,
    /// Existing legacy sessions.
    pub sessions: u64,
}

/// The log of a server; it survives a restart of the server.
#[derive(Debug)]
pub(super) struct Log {
    counts: watch::Sender<Counts>,
    requests: Mutex<VecDeque<Request>>,
    kept: usize,
}

/// A request before it has a number.
pub(super) struct Arrival<'a> {
    pub(super) connection: u64,
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a [u8],
    pub(super) elsewhere: bool,
}

impl Log {
    pub(super) fn new(kept: usize) -> Self {
        Self {
            counts: watch::Sender::default(),
            requests: Mutex::default(),
            kept,
        }
    }

    pub(super) fn counts(&self) -> watch::Receiver<Counts> {
        self.counts.subscribe()
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Counts)) -> Counts {
        let mut after = Counts::default();
        self.counts.send_modify(|counts| {
            change(counts);
            after = *counts;
        });
        after
    }

    pub(super) fn record(&self, arrival: &Arrival<'_>) {
        if self.kept > 0 {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let headers = arrival.headers.iter();
            let request = Request {
                number: 0,
                connection: arrival.connection,
                method: arrival.method.to_owned(),
                path: arrival.path.to_owned(),
                headers: headers
                    .map(|(name, value)| (name.as_str().to_owned(), text(value.as_bytes())))
                    .collect(),
                body: arrival.body.to_vec(),
                at: Instant::now(),
                elsewhere: arrival.elsewhere,
            };
            let mut requests = self.lock();
            let number = self.count(|counts| counts.requests += 1).requests;
            if requests.len() == self.kept {
                requests.pop_front();
            }
            requests.push_back(Request { number, ..request });
        } else {
            self.count(|counts| counts.requests += 1);
        }
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.lock().iter().cloned().collect()
    }

    pub(super) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Request>> {
        // A deque is never half changed, so a poisoned lock is fine.
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
