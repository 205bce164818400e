//! Parses incoming lines.

use serde::de::IgnoredAny;
use switchboard_wire::{Message, Raw, RequestId};

use super::failure::Failure;

/// A parsed line.
#[derive(Debug)]
pub(crate) enum Incoming {
    One(Item),
    /// Several messages in one line, as 2025-03-26 allows.
    Batch(Vec<Item>),
}

/// One message, or the reason that it is not one.
pub(crate) type Item = Result<Message, Refused>;

/// The refusal of an invalid message.
#[derive(Debug)]
pub(crate) struct Refused {
    pub(crate) id: Option<RequestId>,
    pub(crate) failure: Failure,
}

impl Incoming {
    /// Parses one line.
    pub(crate) fn parse(text: &str) -> Self {
        if text.trim_start().starts_with('[')
            && let Ok(whole) = Raw::parse(text)
        {
            let items = whole.items();
            return Self::Batch(items.iter().map(|item| message(item.as_str())).collect());
        }
        Self::One(message(text))
    }

    /// A line that is not even text.
    pub(crate) fn unreadable(why: &str) -> Self {
        Self::One(Err(Refused {
            id: None,
            failure: Failure::parse(why),
        }))
    }
}

fn message(text: &str) -> Item {
    let message = Message::parse(text).map_err(|error| {
        // JSON-RPC tells text that is not JSON (-32700) from JSON that is not a request (-32600).
        let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
        let failure = if is_json {
            Failure::invalid_request(error.what)
        } else {
            Failure::parse(error.what)
        };
        Refused {
            id: error.id,
            failure,
        }
    })?;
    // The parser is lenient about `jsonrpc`; this server is not.
    let version = Raw::parse(text)
        .ok()
        .and_then(|whole| whole.member("jsonrpc"));
    if version.is_some_and(|version| version.as_str() == "\"2.0\"") {
        return Ok(message);
    }
    let id = match message {
        Message::Request { id, .. } => Some(id),
        Message::Response { id, .. } => id,
        Message::Notification { .. } => None,
    };
    Err(Refused {
        id,
        failure: Failure::invalid_request("jsonrpc must be \"2.0\""),
    })
}
