//! The end of connections that ask for nothing for too long.
//!
//! hyper could end them too, with a timer that it makes anew for every request.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

use super::body::HttpBody;
use crate::limits::GatewayLimits;

/// Completes when a connection has been without a request for too long.
pub(super) struct Idle {
    requests: Requests,
    /// Time for the head of the first request.
    first: Duration,
    /// Time for the head of each later one.
    later: Duration,
    clock: Pin<Box<Sleep>>,
}

/// The requests of one connection.
#[derive(Debug, Clone)]
pub(super) struct Requests(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    opened: Instant,
    begun: AtomicU64,
    running: AtomicUsize,
    /// The end of the last one, in milliseconds after the connection was opened.
    last_end: AtomicU64,
}

/// A request that is running until this is dropped.
#[derive(Debug)]
pub(super) struct RunningRequest(Requests);

/// The body of a response, whose request is running until it is sent.
#[derive(Debug)]
pub(super) struct RunningBody {
    body: HttpBody,
    _running: RunningRequest,
}

impl Idle {
    pub(super) fn new(limits: &GatewayLimits) -> Self {
        let counts = Counts {
            opened: Instant::now(),
            begun: AtomicU64::new(0),
            running: AtomicUsize::new(0),
            last_end: AtomicU64::new(0),
        };
        Self {
            requests: Requests(Arc::new(counts)),
            first: limits.head_time,
            later: limits.head_time.max(limits.idle_time),
            clock: Box::pin(sleep(limits.head_time)),
        }
    }

    pub(super) fn requests(&self) -> Requests {
        self.requests.clone()
    }

    /// The time at which the connection has been idle for too long; `None` while a request is running.
    fn end(&self) -> Option<Instant> {
        let counts = &*self.requests.0;
        if counts.running.load(Ordering::Acquire) > 0 {
            return None;
        }
        let last_end = Duration::from_millis(counts.last_end.load(Ordering::Acquire));
        let patience = match counts.begun.load(Ordering::Acquire) {
            0 => self.first,
            _ => self.later,
        };
        Some(counts.opened + last_end + patience)
    }
}

impl Future for Idle {
    type Output = ();

    /// Must be polled after each request: nothing wakes it then.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let Some(end) = self.end() else {
                return Poll::Pending;
            };
            // Moved only once it has run out: most requests leave the clock as it is.
            if self.clock.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if end <= Instant::now() {
                return Poll::Ready(());
            }
            self.clock.as_mut().reset(end);
        }
    }
}

impl Requests {
    pub(super) fn begin(&self) -> RunningRequest {
        self.0.begun.fetch_add(1, Ordering::AcqRel);
        self.0.running.fetch_add(1, Ordering::AcqRel);
        RunningRequest(self.clone())
    }
}

impl RunningRequest {
    pub(super) fn until_sent(self, body: HttpBody) -> RunningBody {
        RunningBody {
            body,
            _running: self,
        }
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        let counts = &*self.0.0;
        let now = u64::try_from(counts.opened.elapsed().as_millis()).unwrap_or(u64::MAX);
        // Before the count goes down: once nothing runs, the time of the end is read.
        counts.last_end.store(now, Ordering::Release);
        counts.running.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Body for RunningBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle() -> (Idle, Requests) {
        let limits = GatewayLimits {
            head_time: Duration::from_secs(1),
            idle_time: Duration::from_secs(10),
            ..GatewayLimits::default()
        };
        let idle = Idle::new(&limits);
        let requests = idle.requests();
        (idle, requests)
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_a_request_ends_after_the_time_of_a_head() {
        let started = Instant::now();
        idle().0.await;
        assert_eq!(started.elapsed().as_secs(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_counts_until_its_body_is_gone_and_the_time_begins_then() {
        let (mut idle, requests) = idle();
        let body = requests.begin().until_sent(HttpBody::empty());
        let day = Duration::from_secs(24 * 60 * 60);
        assert!(tokio::time::timeout(day, &mut idle).await.is_err());
        drop(body);
        let ended = Instant::now();
        idle.await;
        assert_eq!(ended.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn each_request_begins_the_time_anew() {
        let (mut idle, requests) = idle();
        for _ in 0..5 {
            drop(requests.begin());
            let short = Duration::from_secs(9);
            assert!(tokio::time::timeout(short, &mut idle).await.is_err());
        }
        let early = Instant::now();
        idle.await;
        assert_eq!(early.elapsed().as_secs(), 1);
    }
}
