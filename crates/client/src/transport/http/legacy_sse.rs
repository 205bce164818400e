//! HTTP+SSE, the transport of 2024-11-05: one stream for all answers, which begins with the
//! endpoint to post to.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::{Method, Url};
use switchboard_core::limits::Budget;
use switchboard_wire::{Era, Tool};
use tokio::sync::watch;

use super::answer;
use super::events::{self, End, Place};
use super::fetch::Request;
use super::guard;
use super::inner::{Inner, STREAM};
use super::sse::Piece;
use super::tapped;
use crate::transport::{
    Exchange, Exchanging, FailedRequest, Fault, FaultKind, Heard, Inlet, Outgoing, Spot, Working,
};

/// One connection to an HTTP+SSE server.
pub(crate) struct SseExchange {
    inner: Arc<Inner>,
    /// The endpoint to post to, or the reason that it will never be known.
    endpoint: watch::Sender<Option<Result<Url, Fault>>>,
}

impl SseExchange {
    pub(crate) fn new(inner: Arc<Inner>) -> Self {
        Self {
            inner,
            endpoint: watch::Sender::new(None),
        }
    }

    async fn stream(&self, inlet: &dyn Inlet, budget: &Budget) -> Result<(), Fault> {
        let mut response = self
            .inner
            .fetch(self.inner.url(), |url| Request {
                method: Method::GET,
                url,
                headers: self.inner.headers(STREAM),
                body: Bytes::new(),
            })
            .await?;
        if !matches!(response.status, 200..=299) {
            let refused = answer::classify_refusal(&self.inner, &mut response, Era::Legacy, false);
            return Err(refused.await.into_fault());
        }
        match answer::kind(&self.inner, &mut response).await? {
            answer::Form::Stream => {}
            answer::Form::Json => {
                return Err(self.inner.answer_fault(FaultKind::ContentType {
                    found: "application/json".to_owned(),
                    excerpt: String::new(),
                }));
            }
        }
        let bounds = self.inner.bounds(budget);
        let mut foreign = None;
        let mut take = |piece: Piece| match &piece {
            Piece::Event(event) if event.event.as_deref() == Some("endpoint") => {
                match self.resolve(&event.data) {
                    Ok(url) => {
                        self.endpoint.send_replace(Some(Ok(url)));
                        Heard::Aside
                    }
                    Err(fault) => {
                        foreign = Some(fault);
                        Heard::Answer
                    }
                }
            }
            _ => events::hand_on(piece, inlet),
        };
        let mut place = Place::default();
        let end = events::read(&mut *response.body, &bounds, &mut place, &mut take).await;
        Err(match (foreign, end) {
            (Some(fault), _) => fault,
            (None, End::Lost(failed) | End::NoRoom(failed)) => self.inner.fault(failed),
            (None, End::Answered | End::Early) => self.inner.fault(events::early()),
        })
    }

    /// Resolves the endpoint, which must be at the same origin.
    fn resolve(&self, written: &[u8]) -> Result<Url, Fault> {
        let written = String::from_utf8_lossy(written);
        let resolved = guard::same_origin(self.inner.url(), written.trim());
        resolved.map_err(|why| {
            self.inner.answer_fault(FaultKind::Redirect {
                status: 200,
                location: written.trim().to_owned(),
                what: why.to_string(),
            })
        })
    }

    async fn post(&self, message: &Outgoing<'_>) -> Result<(), Fault> {
        let mut endpoint = self.endpoint.subscribe();
        // The stream announces the endpoint; until then there is no place to post to.
        let known = endpoint.wait_for(Option::is_some).await;
        let url = match known.map(|known| known.clone()) {
            Ok(Some(known)) => known?,
            Ok(None) | Err(_) => return Err(self.inner.fault(events::early())),
        };
        let mut response = self
            .inner
            .fetch(&url, |url| Request {
                method: Method::POST,
                url,
                headers: self.inner.headers_of_message(),
                body: Bytes::copy_from_slice(message.body),
            })
            .await?;
        if matches!(response.status, 200..=299) {
            return Ok(());
        }
        let refused = answer::classify_refusal(&self.inner, &mut response, Era::Legacy, false);
        Err(refused.await.into_fault())
    }
}

impl Exchange for SseExchange {
    fn send<'a>(&'a self, message: Outgoing<'a>, _: &'a dyn Inlet) -> Exchanging<'a> {
        Box::pin(async move { self.post(&message).await })
    }

    fn listen<'a>(&'a self, inlet: &'a dyn Inlet, budget: &'a Budget) -> Exchanging<'a> {
        Box::pin(async move {
            let ended = self.stream(inlet, budget).await;
            if let Err(fault) = &ended {
                // Fail the posts that wait for the endpoint with the same fault.
                self.endpoint.send_replace(Some(Err(fault.clone())));
            }
            ended
        })
    }

    fn tap(&mut self, spot: Spot) {
        tapped::tap(&mut self.inner, spot);
    }

    fn close(&self) -> Working<'_> {
        // The end of the stream is the end of the session.
        Box::pin(self.inner.settle())
    }

    fn learn_tool(&self, _: &Tool) -> Result<(), String> {
        Ok(())
    }

    fn wants_tools(&self) -> bool {
        false
    }

    fn mark_tools_complete(&self) {}

    fn wait_before_repeating(&self, repeat: &FailedRequest<'_>) -> Option<Duration> {
        self.inner.wait_before(repeat)
    }

    fn era(&self) -> Option<Era> {
        Some(Era::Legacy)
    }

    fn may_repair(&self, _: &str, _: i64) -> bool {
        // Header mismatches and sessions are of later versions.
        false
    }
}
