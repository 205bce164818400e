//! Somebody who answers what servers ask, as a test wants it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard::protocol::{ClientCapabilities, ElicitationCapability, InputRequest, Raw};
use switchboard::session::{Refusal, Respond, Responding};

/// Answers elicitations only, each after the same time with the same answer.
#[derive(Clone)]
pub(crate) struct Person {
    after: Duration,
    answer: Result<Value, Refusal>,
    /// How many questions were asked.
    pub(crate) asked: Arc<AtomicUsize>,
    /// How many were taken back before the answer.
    pub(crate) withdrawn: Arc<AtomicUsize>,
}

impl Person {
    /// Says yes at once.
    pub(crate) fn willing() -> Self {
        Self::saying(Ok(json!({"action": "accept", "content": {"name": "Ada"}})))
    }

    pub(crate) fn saying(answer: Result<Value, Refusal>) -> Self {
        Self {
            after: Duration::ZERO,
            answer,
            asked: Arc::default(),
            withdrawn: Arc::default(),
        }
    }

    /// Thinks first.
    pub(crate) fn after(mut self, time: Duration) -> Self {
        self.after = time;
        self
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub(crate) fn withdrawn(&self) -> usize {
        self.withdrawn.load(Ordering::SeqCst)
    }
}

impl Respond for Person {
    fn capabilities(&self) -> ClientCapabilities {
        ClientCapabilities {
            elicitation: Some(ElicitationCapability::default()),
            ..ClientCapabilities::default()
        }
    }

    fn respond<'a>(&'a self, _request: &'a InputRequest) -> Responding<'a> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let open = Open(Some(&self.withdrawn));
        Box::pin(async move {
            let mut open = open;
            tokio::time::sleep(self.after).await;
            open.0 = None;
            self.answer.clone().map(|answer| Raw::of(&answer).unwrap())
        })
    }
}

struct Open<'a>(Option<&'a AtomicUsize>);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(withdrawn) = self.0 {
            withdrawn.fetch_add(1, Ordering::SeqCst);
        }
    }
}
