//! Inlets for the messages of an exchange, and for messages outside of any exchange.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::value::RawValue;
use switchboard_wire::{Envelope, EnvelopeKind, Raw, RequestId};

use super::engine::Engine;
use super::error::CallError;
use super::inbound;
use super::read::malformed;
use super::recover_id::{self, MessageOwner};
use crate::transport::{Heard, Inlet};

/// Takes the messages that come back for one call.
pub(crate) struct CallInlet<'a> {
    engine: Arc<Engine>,
    id: &'a RequestId,
}

impl<'a> CallInlet<'a> {
    pub(crate) fn new(engine: Arc<Engine>, id: &'a RequestId) -> Self {
        Self { engine, id }
    }

    fn fail(&self, error: CallError) -> Heard {
        self.engine.fail(self.id, error);
        Heard::Answer
    }

    fn message(&self, text: &str) -> Heard {
        let kind = match Envelope::parse(text) {
            Ok(envelope) => envelope.into_kind(),
            Err(error) => Err(error),
        };
        match kind {
            Ok(EnvelopeKind::Success { id, result }) if id == *self.id => {
                self.engine.succeed(&id, result);
                Heard::Answer
            }
            // Errors may come without an id or with a strange one: the exchange they came by
            // identifies the call.
            Ok(EnvelopeKind::Failure { error, .. }) => {
                self.engine.on_failure(Some(self.id.clone()), error, text);
                Heard::Answer
            }
            Ok(EnvelopeKind::Success { .. }) => {
                self.engine.counters.unmatched_answers.add();
                Heard::Aside
            }
            Ok(EnvelopeKind::Notification { method, params }) => {
                self.engine.on_notice_of(Some(self.id), &method, params);
                Heard::Aside
            }
            Ok(EnvelopeKind::Request { id, method, params }) => {
                let params = params.map(Raw::from);
                inbound::on_request(&self.engine, id, &method, params, Some(self.id));
                Heard::Aside
            }
            Err(error) => {
                self.engine.counters.malformed.add();
                self.engine.keep_noise(text.as_bytes());
                self.fail(malformed(text.as_bytes(), &error.what))
            }
        }
    }
}

impl Inlet for CallInlet<'_> {
    fn message(&self, text: &[u8]) -> Heard {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let Ok(text) = std::str::from_utf8(text) else {
            self.engine.counters.invalid_utf8.add();
            return self.fail(malformed(text, "not valid UTF-8"));
        };
        let text = text.trim_ascii();
        if !text.starts_with('[') {
            return self.message(text);
        }
        // 2025-03-26: a server may answer with several messages as an array.
        match serde_json::from_str::<Vec<&RawValue>>(text) {
            Ok(batch) => batch.iter().fold(Heard::Aside, |heard, message| {
                match self.message(message.get()) {
                    Heard::Answer => Heard::Answer,
                    Heard::Aside => heard,
                }
            }),
            Err(error) => self.fail(malformed(text.as_bytes(), &error.to_string())),
        }
    }

    fn over_limit(&self, head: &[u8]) -> Heard {
        self.engine.counters.over_limit.add();
        match recover_id::owner_in_head(head) {
            MessageOwner::Server => Heard::Aside,
            // It may be the answer, and it may never end.
            MessageOwner::Request(_) | MessageOwner::Unknown => self.fail(self.engine.too_large()),
        }
    }

    fn over_limit_end(&self, _tail: &[u8]) -> Heard {
        Heard::Aside
    }
}

/// Takes messages from the listening stream, which belong to no exchange.
pub(crate) struct ListenInlet {
    engine: Arc<Engine>,
    in_doubt: AtomicBool,
}

impl ListenInlet {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self {
            engine,
            in_doubt: AtomicBool::new(false),
        }
    }
}

impl Inlet for ListenInlet {
    fn message(&self, text: &[u8]) -> Heard {
        self.engine.on_line(text);
        Heard::Aside
    }

    fn over_limit(&self, head: &[u8]) -> Heard {
        self.engine.counters.over_limit.add();
        match recover_id::owner_in_head(head) {
            MessageOwner::Server => {}
            MessageOwner::Request(id) => self.engine.fail_or_count(&id, self.engine.too_large()),
            MessageOwner::Unknown => self.in_doubt.store(true, Ordering::Relaxed),
        }
        Heard::Aside
    }

    fn over_limit_end(&self, tail: &[u8]) -> Heard {
        if self.in_doubt.swap(false, Ordering::Relaxed) {
            match recover_id::id_in_tail(tail) {
                Some(id) => self.engine.fail_or_count(&id, self.engine.too_large()),
                None => self.engine.fail_all(&self.engine.too_large()),
            }
        }
        Heard::Aside
    }
}

/// Discards the messages that come back for a fire-and-forget message; there should be none.
pub(crate) struct Discard;

impl Inlet for Discard {
    fn message(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }

    fn over_limit(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }

    fn over_limit_end(&self, _: &[u8]) -> Heard {
        Heard::Aside
    }
}
