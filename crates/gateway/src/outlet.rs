//! The way of messages to a client.

use bytes::Bytes;

/// The way of messages to a client: a byte stream, the answer to one POST, a stream of events.
///
/// Sending never waits: what does not fit is dropped and counted if it can be lost.
pub(crate) trait Outlet: Send + Sync {
    /// Queues one JSON-RPC message (without a line end). Returns false if it was not queued because the
    /// client is gone, or, for a notification, because the queue is full.
    fn send(&self, message: Bytes, priority: Priority) -> bool;

    /// Returns true if the client cannot be reached this way any more.
    fn is_closed(&self) -> bool;
}

/// Decides what happens to a message when the queue of a client is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Priority {
    /// A notification that may be dropped: progress, logs.
    CanDrop,
    /// A message that must arrive or end the connection: answers, questions, announcements of changes.
    MustArrive,
}
