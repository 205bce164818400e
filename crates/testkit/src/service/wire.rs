//! Messages on their way out.

use serde::Serialize;
use serde_json::{Map, Value};
use switchboard_wire::RequestId;
use tokio::sync::mpsc;

use super::failure::Failure;

/// Where lines go. Bounded: who writes waits for who reads.
#[derive(Debug, Clone)]
pub(crate) struct Sink(mpsc::Sender<String>);

#[derive(Serialize)]
struct Line<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RequestId>,
    #[serde(flatten)]
    body: Body<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Body<'a> {
    Success {
        result: &'a Map<String, Value>,
    },
    Failure {
        error: &'a Failure,
    },
    Call {
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a Value>,
    },
}

impl Sink {
    pub(crate) fn new(sender: mpsc::Sender<String>) -> Self {
        Self(sender)
    }

    async fn line(&self, id: Option<&RequestId>, body: Body<'_>) {
        // A receiver that is gone means that the client is: nobody misses the line.
        let _ = self.0.send(text(id, body)).await;
    }

    /// Sends a line that is already written.
    pub(crate) async fn written(&self, line: String) {
        // As above.
        let _ = self.0.send(line).await;
    }

    pub(crate) async fn notify(&self, method: &str, params: Option<&Value>) {
        self.line(None, Body::Call { method, params }).await;
    }

    /// Notifies if there is room right now: for a place that cannot wait.
    pub(crate) fn notify_now(&self, method: &str, params: &Value) {
        let params = Some(params);
        // Where there is no room the client is told nothing, which it must be able to bear.
        let _ = self.0.try_send(text(None, Body::Call { method, params }));
    }

    pub(crate) async fn request(&self, id: &RequestId, method: &str, params: &Value) {
        let params = Some(params);
        self.line(Some(id), Body::Call { method, params }).await;
    }

    /// Refuses a message that may have had no usable id.
    pub(crate) async fn refuse(&self, id: Option<&RequestId>, error: &Failure) {
        match id {
            Some(id) => self.line(Some(id), Body::Failure { error }).await,
            // JSON-RPC wants a null here, not an absence.
            None => {
                let error = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": error});
                self.written(error.to_string()).await;
            }
        }
    }
}

fn text(id: Option<&RequestId>, body: Body<'_>) -> String {
    let line = Line {
        jsonrpc: "2.0",
        id,
        body,
    };
    serde_json::to_string(&line).expect("our own messages have no keys that are not strings")
}

/// The duty to answer one request.
///
/// Dropping it without an answer is what cancellation asks for.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) id: RequestId,
    /// Where the answer goes: the client, or the batch that the request came in.
    pub(crate) answers: Sink,
    /// Where everything else goes.
    pub(crate) client: Sink,
}

impl Reply {
    pub(crate) async fn finish(self, outcome: Result<Map<String, Value>, Failure>) {
        match outcome {
            Ok(result) => {
                let result = &result;
                let body = Body::Success { result };
                self.answers.line(Some(&self.id), body).await;
            }
            Err(error) => self.answers.refuse(Some(&self.id), &error).await,
        }
    }
}
