//! Requests from the server to a legacy client.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use switchboard_wire::{Raw, RequestId, RpcError};
use tokio::sync::oneshot;

use super::wire::Sink;

/// Maximum time for a person to answer.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

type Answer = Result<Raw, RpcError>;
type Waiting = Mutex<HashMap<RequestId, oneshot::Sender<Answer>>>;

/// The requests of one connection that have no answer yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Questions {
    waiting: Arc<Waiting>,
    asked: Arc<AtomicU64>,
}

impl Questions {
    /// Sends a request to the client; an error says why there is no answer.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request on the wire.
    pub(crate) async fn ask(
        &self,
        client: &Sink,
        method: &str,
        params: &Value,
    ) -> Result<Raw, String> {
        let number = self.asked.fetch_add(1, Ordering::Relaxed) + 1;
        // A string: ids of clients are mostly numbers, and the two must not be confused.
        let id = RequestId::Text(format!("server-{number}"));
        let (sender, receiver) = oneshot::channel();
        // Registered before it is sent: a fast client may answer before `request` returns.
        self.with(|waiting| waiting.insert(id.clone(), sender));
        // From here on dropping the future cancels the question on the wire.
        let question = OpenQuestion {
            questions: self,
            client,
            id,
        };
        client.request(&question.id, method, params).await;
        match tokio::time::timeout(PATIENCE, receiver).await {
            Ok(Ok(Ok(answer))) => Ok(answer),
            Ok(Ok(Err(error))) => Err(format!("the client answered with an error: {error}")),
            Ok(Err(_)) => Err("the connection ended".to_owned()),
            Err(_) => Err("the client did not answer in time".to_owned()),
        }
    }

    /// Passes an answer on. One without a pending request is late, and ignored.
    pub(crate) fn answer(&self, id: &RequestId, answer: Answer) {
        if let Some(sender) = self.with(|waiting| waiting.remove(id)) {
            // The asking task may have been cancelled this very moment.
            let _ = sender.send(answer);
        }
    }

    fn with<T>(
        &self,
        act: impl FnOnce(&mut HashMap<RequestId, oneshot::Sender<Answer>>) -> T,
    ) -> T {
        // Nothing in here can leave the map half changed, so a poisoned lock is fine.
        act(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A request on the wire; cancels itself when it is dropped without an answer.
struct OpenQuestion<'a> {
    questions: &'a Questions,
    client: &'a Sink,
    id: RequestId,
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if self
            .questions
            .with(|waiting| waiting.remove(&self.id))
            .is_some()
        {
            let params = json!({"requestId": self.id, "reason": "no longer needed"});
            self.client.notify_now("notifications/cancelled", &params);
        }
    }
}
