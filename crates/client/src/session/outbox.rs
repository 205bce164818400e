//! The outbox: messages to the server, in order.
//!
//! A caller that is alone writes its request itself; with several in flight, one task writes the
//! queued messages in one go. No caller waits for the server to read: bytes that the pipe does not
//! take stay here, and a request of which no byte has left can be withdrawn. That is how "never
//! sent" is known.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use switchboard_wire::RequestId;
use tokio::io::AsyncWrite as _;
use tokio::sync::{Notify, OwnedSemaphorePermit};

use crate::transport::BoxWrite;

/// Maximum size of one write.
const BATCH: usize = 64 * 1024;

/// A message on its way out.
pub(crate) struct QueuedMessage {
    /// The id of the request, if the message is one that can be withdrawn.
    pub(crate) id: Option<RequestId>,
    pub(crate) bytes: Vec<u8>,
    /// The room that the message takes in the queue; released when it begins to leave.
    pub(crate) _permit: Option<OwnedSemaphorePermit>,
}

impl QueuedMessage {
    pub(crate) fn notice(bytes: Vec<u8>) -> Self {
        Self {
            id: None,
            bytes,
            _permit: None,
        }
    }
}

/// The queue of messages to the server, with the writer that drains it.
///
/// Owns the write half of the connection. All writing happens under its lock and never blocks:
/// either a caller writes at once (`write_now`), or the writing task does (`run`). Messages leave
/// in the order in which they were queued, and each is written whole before the next.
pub(crate) struct Outbox {
    state: Mutex<State>,
    /// Wakes the writing task.
    wake: Notify,
    /// Wakes tasks that wait for everything to have left.
    drained: Notify,
}

struct State {
    /// `None` once the outbox is shut: dropping the writer closes the server's input.
    writer: Option<BoxWrite>,
    queue: VecDeque<QueuedMessage>,
    queued_bytes: usize,
    /// The bytes being written; those before `written` have left.
    leaving: Vec<u8>,
    written: usize,
    needs_flush: bool,
    error: Option<io::Error>,
    /// The waker of the writing task while it waits for the server to read: dropping the writer
    /// would not wake it.
    blocked: Option<Waker>,
}

/// The outbox is shut; nothing of the message left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shut;

impl Outbox {
    pub(crate) fn new(writer: BoxWrite) -> Self {
        Self {
            state: Mutex::new(State {
                writer: Some(writer),
                queue: VecDeque::new(),
                queued_bytes: 0,
                leaving: Vec::new(),
                written: 0,
                needs_flush: false,
                error: None,
                blocked: None,
            }),
            wake: Notify::new(),
            drained: Notify::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a message; the writing task sends it.
    pub(crate) fn push(&self, message: QueuedMessage) -> Result<(), Shut> {
        let mut state = self.lock();
        if state.writer.is_none() {
            return Err(Shut);
        }
        state.queued_bytes += message.bytes.len();
        state.queue.push_back(message);
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    /// Writes a message at once if nothing is queued before it, else queues it.
    pub(crate) fn write_now(
        &self,
        message: QueuedMessage,
        cx: &mut Context<'_>,
    ) -> Result<(), Shut> {
        let mut state = self.lock();
        // Never overtake: another message may be half written.
        if !state.is_empty() {
            drop(state);
            return self.push(message);
        }
        let Some(writer) = state.writer.as_mut() else {
            return Err(Shut);
        };
        match Pin::new(&mut *writer).poll_write(cx, &message.bytes) {
            Poll::Ready(Ok(written)) if written == message.bytes.len() => {
                if Pin::new(writer).poll_flush(cx).is_ready() {
                    return Ok(());
                }
                state.needs_flush = true;
            }
            Poll::Ready(Ok(written)) => {
                state.leaving = message.bytes;
                state.written = written;
            }
            // Not a byte of it left: queue it, from where it can still be withdrawn.
            unsent => {
                if let Poll::Ready(Err(error)) = unsent {
                    state.error = Some(error);
                }
                state.queued_bytes += message.bytes.len();
                state.queue.push_back(message);
            }
        }
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    /// Withdraws a request; false if some of it may have left.
    pub(crate) fn withdraw(&self, id: &RequestId) -> bool {
        let mut state = self.lock();
        let at = state
            .queue
            .iter()
            .position(|message| message.id.as_ref() == Some(id));
        let taken = at.and_then(|at| state.queue.remove(at));
        if let Some(message) = &taken {
            state.queued_bytes -= message.bytes.len();
        }
        taken.is_some()
    }

    /// Bytes that wait in the queue.
    pub(crate) fn queued_bytes(&self) -> usize {
        self.lock().queued_bytes
    }

    /// Closes the server's input, and returns the requests that never left.
    pub(crate) fn shut(&self) -> Vec<RequestId> {
        let mut state = self.lock();
        state.writer = None;
        state.leaving = Vec::new();
        state.queued_bytes = 0;
        let left = std::mem::take(&mut state.queue);
        let blocked = state.blocked.take();
        drop(state);
        self.wake.notify_one();
        if let Some(blocked) = blocked {
            blocked.wake();
        }
        left.into_iter().filter_map(|message| message.id).collect()
    }

    /// Writes queued messages until the outbox is shut or writing fails.
    pub(crate) async fn run(&self) -> io::Result<()> {
        loop {
            let written = std::future::poll_fn(|cx| {
                let mut state = self.lock();
                let written = state.poll_write(cx);
                state.blocked = written.is_pending().then(|| cx.waker().clone());
                written
            })
            .await;
            self.drained.notify_waiters();
            if !written? {
                return Ok(());
            }
            self.wake.notified().await;
        }
    }

    /// Waits until everything has left or can no longer leave.
    pub(crate) async fn wait_until_empty(&self) {
        loop {
            // Subscribe before looking, or the last write could fall in between.
            let drained = self.drained.notified();
            if self.lock().is_done() {
                return;
            }
            drained.await;
        }
    }
}

impl State {
    /// Returns true if nothing more will leave.
    fn is_done(&self) -> bool {
        self.writer.is_none() || self.error.is_some() || self.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.written == self.leaving.len() && !self.needs_flush
    }

    /// Writes everything there is; false when the outbox is shut.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            if let Some(error) = self.error.take() {
                return Poll::Ready(Err(error));
            }
            if self.written == self.leaving.len() {
                self.gather();
            }
            let Some(writer) = self.writer.as_mut() else {
                return Poll::Ready(Ok(false));
            };
            let rest = self.leaving.get(self.written..).unwrap_or_default();
            if rest.is_empty() {
                if self.needs_flush {
                    std::task::ready!(Pin::new(writer).poll_flush(cx))?;
                    self.needs_flush = false;
                }
                return Poll::Ready(Ok(true));
            }
            let written = std::task::ready!(Pin::new(writer).poll_write(cx, rest))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.written += written;
            self.needs_flush = true;
        }
    }

    /// Moves queued messages into one buffer.
    fn gather(&mut self) {
        self.written = 0;
        self.leaving.clear();
        if self.leaving.capacity() > 4 * BATCH {
            self.leaving = Vec::new();
        }
        // A large message is written from its own buffer, without a copy.
        while let Some(message) = self.queue.pop_front() {
            self.queued_bytes -= message.bytes.len();
            if self.leaving.is_empty() && message.bytes.len() >= BATCH {
                self.leaving = message.bytes;
                return;
            }
            self.leaving.extend_from_slice(&message.bytes);
            if self.leaving.len() >= BATCH {
                return;
            }
        }
    }
}
