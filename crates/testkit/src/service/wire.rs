//! Outgoing messages.

use serde::Serialize;
use serde_json::{Map, Value};
use switchboard_wire::RequestId;
use tokio::sync::mpsc;

use super::failure::Failure;

/// The sink for lines. Bounded: writers wait for the reader.
#[derive(Debug, Clone)]
pub(crate) struct Sink(mpsc::Sender<String>);

#[derive(Serialize)]
struct WireLine<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a RequestId>,
    #[serde(flatten)]
    body: MessageBody<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum MessageBody<'a> {
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

    async fn line(&self, id: Option<&RequestId>, body: MessageBody<'_>) {
        // A receiver that is gone means that the client is gone, too.
        let _ = self.0.send(text(id, body)).await;
    }

    /// Sends a line that is already encoded.
    pub(crate) async fn send_line(&self, line: String) {
        // As above.
        let _ = self.0.send(line).await;
    }

    pub(crate) async fn notify(&self, method: &str, params: Option<&Value>) {
        self.line(None, MessageBody::Call { method, params }).await;
    }

    /// Sends a notification if there is room right now, for callers that cannot wait.
    pub(crate) fn notify_now(&self, method: &str, params: &Value) {
        let params = Some(params);
        // Without room the notification is lost, which a client must tolerate.
        let _ = self
            .0
            .try_send(text(None, MessageBody::Call { method, params }));
    }

    pub(crate) async fn request(&self, id: &RequestId, method: &str, params: &Value) {
        let params = Some(params);
        self.line(Some(id), MessageBody::Call { method, params })
            .await;
    }

    /// Refuses a message that may have no usable id.
    pub(crate) async fn refuse(&self, id: Option<&RequestId>, error: &Failure) {
        match id {
            Some(id) => self.line(Some(id), MessageBody::Failure { error }).await,
            // JSON-RPC demands null here, not an absent id.
            None => {
                let error = serde_json::json!({"jsonrpc": "2.0", "id": null, "error": error});
                self.send_line(error.to_string()).await;
            }
        }
    }
}

fn text(id: Option<&RequestId>, body: MessageBody<'_>) -> String {
    let line = WireLine {
        jsonrpc: "2.0",
        id,
        body,
    };
    serde_json::to_string(&line).expect("our own messages have no keys that are not strings")
}

/// The duty to answer one request.
///
/// Dropping it leaves the request without an answer, as cancellation demands.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) id: RequestId,
    /// The sink for the answer: the client, or the batch that the request came in.
    pub(crate) answers: Sink,
    /// The sink for everything else.
    pub(crate) client: Sink,
}

impl Reply {
    /// Answers with a result that is JSON text already, unchanged.
    pub(crate) async fn finish_raw(self, result: &str) {
        let id = serde_json::json!(self.id);
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        self.answers.send_line(line).await;
    }

    pub(crate) async fn finish(self, outcome: Result<Map<String, Value>, Failure>) {
        match outcome {
            Ok(result) => {
                let result = &result;
                let body = MessageBody::Success { result };
                self.answers.line(Some(&self.id), body).await;
            }
            Err(error) => self.answers.refuse(Some(&self.id), &error).await,
        }
    }
}
