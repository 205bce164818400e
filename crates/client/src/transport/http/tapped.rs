//! An HTTP client with a tap.
//!
//! The tap sits where requests are made, because only there everything passes: repetitions,
//! redirects, refusals and listening streams.

use std::sync::Arc;

use reqwest::Method;

use super::fetch::{Body, Chunk, Fetch, Fetching, Request};
use super::inner::Inner;
use super::sse::{Piece, Sse};
use crate::transport::{OverHttp, Spot, Way};

/// Puts a tap on a connection before anything is sent.
pub(crate) fn tap(inner: &mut Arc<Inner>, spot: Spot) {
    // Not shared yet: it was created for this connection.
    if let Some(inner) = Arc::get_mut(inner) {
        inner.fetch = Arc::new(Tapped {
            fetch: Arc::clone(&inner.fetch),
            spot,
            event_bytes: inner.limits.message_bytes,
        });
    } else {
        debug_assert!(false, "a connection in use cannot be tapped");
    }
}

struct Tapped {
    fetch: Arc<dyn Fetch>,
    spot: Spot,
    /// Maximum length of an event; only the start of a longer one is reported.
    event_bytes: usize,
}

impl Fetch for Tapped {
    fn fetch(&self, request: Request) -> Fetching<'_> {
        let method = name(&request.method);
        let sent = OverHttp::new(method, None);
        self.spot
            .note(Way::Sent, &request.body, request.body.len(), Some(sent));
        // Reported before it is sent: the report of the request precedes that of its answer.
        let answering = self.fetch.fetch(request);
        Box::pin(async move {
            let mut response = answering.await?;
            let reporter = Reporter {
                spot: self.spot.clone(),
                http: OverHttp::new(method, Some(response.status)),
            };
            let is_stream = super::answer::is_stream(&response);
            response.body = Box::new(TappedBody {
                body: response.body,
                seen: if is_stream {
                    reporter.stream(self.event_bytes)
                } else {
                    TappedContent::Body(Whole::new(reporter))
                },
            });
            Ok(response)
        })
    }
}

fn name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::DELETE => "DELETE",
        _ => "POST",
    }
}

/// Reports the response to one request.
struct Reporter {
    spot: Spot,
    http: OverHttp,
}

impl Reporter {
    fn report(&self, kept: &[u8], whole: usize) {
        self.spot.note(Way::Received, kept, whole, Some(self.http));
    }

    /// Reports the start of a stream, and returns the state for its events.
    fn stream(self, event_bytes: usize) -> TappedContent {
        self.report(b"", 0);
        TappedContent::Events(Box::new(Events {
            sse: Sse::new(event_bytes),
            over: None,
            reporter: self,
        }))
    }
}

struct TappedBody {
    body: Box<dyn Body>,
    seen: TappedContent,
}

impl Body for TappedBody {
    fn chunk(&mut self) -> Chunk<'_> {
        Box::pin(async move {
            let chunk = self.body.chunk().await;
            match (&chunk, &mut self.seen) {
                (Ok(Some(bytes)), TappedContent::Body(whole)) => whole.take(bytes),
                (Ok(Some(bytes)), TappedContent::Events(events)) => events.take(bytes),
                (Ok(None) | Err(_), TappedContent::Body(whole)) => whole.end(),
                (Ok(None) | Err(_), TappedContent::Events(_)) => {}
            }
            chunk
        })
    }
}

/// The reporting state of a body.
enum TappedContent {
    Body(Whole),
    Events(Box<Events>),
}

/// A body that is one message; reported at its end, or when it is dropped.
struct Whole {
    kept: Vec<u8>,
    bytes: usize,
    is_reported: bool,
    reporter: Reporter,
}

impl Whole {
    fn new(reporter: Reporter) -> Self {
        Self {
            kept: Vec::new(),
            bytes: 0,
            is_reported: false,
            reporter,
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        let room = self.reporter.spot.most().saturating_sub(self.kept.len());
        let kept = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.kept.extend_from_slice(kept);
        self.bytes = self.bytes.saturating_add(bytes.len());
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.is_reported, true) {
            self.reporter.report(&self.kept, self.bytes);
        }
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        self.end();
    }
}

/// A stream, of which each event is one message.
struct Events {
    sse: Sse,
    /// The start of an event that is too long to keep.
    over: Option<Vec<u8>>,
    reporter: Reporter,
}

impl Events {
    fn take(&mut self, bytes: &[u8]) {
        self.sse.push(bytes);
        while let Some(piece) = self.sse.next_piece() {
            match piece {
                Piece::Event(event) if event.event.as_deref() == Some("endpoint") => {
                    let path = without_query(&event.data);
                    self.reporter.report(&path, path.len());
                }
                Piece::Event(event) => self.reporter.report(&event.data, event.data.len()),
                Piece::Primed { .. } => {}
                Piece::OverLimit { head } => self.over = Some(head),
                Piece::OverLimitEnd { bytes, .. } => {
                    let head = self.over.take().unwrap_or_default();
                    let whole = usize::try_from(bytes).unwrap_or(usize::MAX);
                    self.reporter.report(&head, whole);
                }
            }
        }
    }
}

/// Cuts the query off the endpoint of a 2024-11-05 server: it contains the session id, with which
/// others could act as us.
fn without_query(address: &[u8]) -> Vec<u8> {
    match memchr::memchr(b'?', address) {
        Some(at) => {
            let path = address.get(..=at).unwrap_or_default();
            [path, switchboard_core::secret::MASK.as_bytes()].concat()
        }
        None => address.to_vec(),
    }
}
