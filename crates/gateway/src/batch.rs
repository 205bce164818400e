//! Batches of messages, which only 2025-03-26 has.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use bytes::Bytes;
use switchboard_wire::{Raw, RpcError, code};

use crate::limits::GatewayLimits;
use crate::message::{BadMessage, ClientMessage};

/// The work on one request: its answer, if it has one.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Option<Bytes>> + Send>>;

/// Returns true for a text that is a batch, if it is JSON at all.
pub(crate) fn is_batch(text: &str) -> bool {
    text.trim_ascii_start().starts_with('[')
}

/// Reads a batch. All messages are read before any has an effect.
#[allow(clippy::result_large_err, reason = "a bad message is rare")]
pub(crate) fn parse(text: &str, limits: &GatewayLimits) -> Result<Vec<ClientMessage>, BadMessage> {
    let bad = |code, why: &str| {
        let error = RpcError::new(code, why);
        BadMessage { id: None, error }
    };
    let items = Raw::parse(text).map_err(|_| bad(code::PARSE_ERROR, "the batch is not JSON"))?;
    let items = items.items();
    if items.is_empty() || items.len() > limits.batch_messages {
        let why = "a batch has at least one message, and not too many";
        return Err(bad(code::INVALID_REQUEST, why));
    }
    let read = items.iter().map(|item| {
        let message = ClientMessage::parse(item.as_str(), limits.json_depth)?;
        match &message {
            ClientMessage::Request(request) if request.method == "initialize" => {
                let why = "initialize must not be in a batch";
                Err(bad(code::INVALID_REQUEST, why))
            }
            _ => Ok(message),
        }
    });
    read.collect()
}

/// Runs all requests of a batch at once; their answers are one array. `None` if none has an answer.
pub(crate) async fn join(requests: Vec<Answering>) -> Option<Bytes> {
    let mut parts: Vec<Part> = requests.into_iter().map(Part::Running).collect();
    poll_fn(|cx| {
        let mut is_done = true;
        for part in &mut parts {
            if let Part::Running(work) = part {
                match work.as_mut().poll(cx) {
                    Poll::Ready(answer) => *part = Part::Done(answer),
                    Poll::Pending => is_done = false,
                }
            }
        }
        if is_done {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    let mut text = Vec::new();
    for part in parts {
        if let Part::Done(Some(answer)) = part {
            text.push(if text.is_empty() { b'[' } else { b',' });
            text.extend_from_slice(&answer);
        }
    }
    // All may have been cancelled: an empty array is no answer.
    if text.is_empty() {
        return None;
    }
    text.push(b']');
    Some(text.into())
}

/// One request of a batch.
enum Part {
    Running(Answering),
    Done(Option<Bytes>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_read_whole_or_not_at_all() {
        let mut limits = GatewayLimits::default();
        limits.batch_messages = 2;
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let read = |text: &str| {
            parse(text, &limits)
                .map(|it| it.len())
                .map_err(|bad| bad.error.code())
        };
        assert_eq!(read(&format!("[{ping}, {ping}]")), Ok(2));
        let first = ping.replace("ping", "initialize");
        for bad in [
            "[]".to_owned(),
            "[7]".to_owned(),
            format!("[{ping},{ping},{ping}]"),
            format!("[{ping},[{ping}]]"),
            format!("[{ping},{first}]"),
        ] {
            assert_eq!(read(&bad), Err(code::INVALID_REQUEST), "{bad}");
        }
        assert_eq!(read("[7"), Err(code::PARSE_ERROR));
    }

    #[tokio::test]
    async fn a_batch_without_answers_is_answered_by_nothing() {
        let answer = |text: Option<&'static str>| -> Answering {
            Box::pin(async move { text.map(|text| Bytes::from_static(text.as_bytes())) })
        };
        assert_eq!(join(vec![answer(None), answer(None)]).await, None);
        let joined = join(vec![answer(Some("1")), answer(None), answer(Some("2"))]).await;
        assert_eq!(joined.as_deref(), Some(&b"[1,2]"[..]));
    }
}
