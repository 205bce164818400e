//! The callbacks of one call: a sink for what the server sends about it, and a handler of its questions.

use std::fmt;
use std::sync::Arc;

use switchboard_wire::Raw;
use tokio_util::sync::CancellationToken;

use super::respond::Respond;

/// Takes the notifications of one call, in the order in which they arrive and before the call's result.
///
/// Called by the reading task, so it must not block; `call_queue` makes a bounded
/// one.
pub trait CallSink: Send + Sync {
    /// Takes the parameters of a progress notification, as the server wrote them; also those of one that
    /// does not increase.
    fn progress(&self, params: &Raw);

    /// Takes the parameters of a log message that came on the call's own stream, as over HTTP.
    fn log(&self, params: &Raw);
}

/// The callbacks of one call.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Callbacks {
    /// Takes the notifications of the call.
    pub sink: Option<Arc<dyn CallSink>>,
    /// Answers the questions of a legacy server that belong to the call: those on its own stream, and on
    /// a stream that calls share those that come while it is the only one in flight.
    pub respond: Option<Arc<dyn Respond>>,
}

impl Callbacks {
    /// Sets the sink of its notifications.
    #[must_use]
    pub fn sink(mut self, sink: Arc<dyn CallSink>) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Sets the handler of its questions.
    #[must_use]
    pub fn respond(mut self, respond: Arc<dyn Respond>) -> Self {
        self.respond = Some(respond);
        self
    }
}

impl fmt::Debug for Callbacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Callbacks")
            .field("sink", &self.sink.is_some())
            .field("respond", &self.respond.is_some())
            .finish()
    }
}

/// The callbacks of a pending call. Dropping them ends the questions that are open.
pub(crate) struct PendingCallbacks {
    callbacks: Arc<Callbacks>,
    /// Cancelled when the call is resolved, if it has a handler.
    over: Option<CancellationToken>,
}

impl PendingCallbacks {
    pub(crate) fn new(callbacks: &Arc<Callbacks>) -> Self {
        Self {
            callbacks: Arc::clone(callbacks),
            over: callbacks.respond.as_ref().map(|_| CancellationToken::new()),
        }
    }

    /// The sink of the call's notifications.
    pub(crate) fn sink(&self) -> Option<&Arc<dyn CallSink>> {
        self.callbacks.sink.as_ref()
    }

    /// The handler of the call's questions, while the call is pending.
    pub(crate) fn addressee(&self) -> Option<Addressee> {
        let (respond, over) = (self.callbacks.respond.as_ref()?, self.over.as_ref()?);
        Some(Addressee {
            respond: Arc::clone(respond),
            over: over.clone(),
        })
    }
}

impl Drop for PendingCallbacks {
    fn drop(&mut self) {
        if let Some(over) = &self.over {
            over.cancel();
        }
    }
}

/// The handler that a question goes to, because it belongs to a call.
pub(crate) struct Addressee {
    pub(crate) respond: Arc<dyn Respond>,
    /// Cancelled when that call is resolved.
    pub(crate) over: CancellationToken,
}
