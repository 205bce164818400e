//! The messages of one stream, kept until the client has them.
//!
//! Each POST of a request has a channel, and each session has one for messages outside of requests.
//! Messages are pushed at one end; a reader at the other end can disappear, and another one can
//! continue at its position.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use crate::chaos::Act;

/// Capacity of a channel. A slow reader makes the server wait; without a reader the oldest entries
/// are dropped.
const KEPT: usize = 1000;

/// One message.
pub(super) struct Entry {
    pub(super) acts: Vec<Act>,
    pub(super) role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The answer to the request, with the code if it is an error.
    Answer(Option<i64>),
    Other,
}

impl Entry {
    pub(super) fn line(line: String, role: Role) -> Self {
        let acts = vec![Act::Bytes(line.into_bytes())];
        Self { acts, role }
    }
}

/// A stream of messages.
pub(super) struct Channel {
    pub(super) number: u64,
    state: watch::Sender<ChannelState>,
}

#[derive(Default)]
struct ChannelState {
    entries: VecDeque<Arc<Entry>>,
    /// The number of entries dropped before the first that is kept.
    gone: u64,
    ended: bool,
    /// The number of the current reader, which is the latest; 0 when it has left.
    reader: u64,
    readers: u64,
    /// The number of entries that this reader has taken.
    read: u64,
}

impl ChannelState {
    fn total(&self) -> u64 {
        self.gone + self.entries.len() as u64
    }

    fn peek(&self) -> Option<Peek> {
        Some(Peek {
            role: self.entries.front()?.role,
            alone: self.entries.len() == 1,
        })
    }

    fn is_full(&self) -> bool {
        self.entries.len() >= KEPT && self.reader != 0 && self.read <= self.gone
    }
}

impl Channel {
    pub(super) fn new(number: u64) -> Arc<Self> {
        let state = watch::Sender::default();
        Arc::new(Self { number, state })
    }

    /// Adds entries, all at once.
    pub(super) async fn push(&self, entries: Vec<Entry>) {
        let mut watching = self.state.subscribe();
        // The sender is our own, so it cannot be gone.
        // Wait for a slow reader before adding, outside of the state's lock.
        let _ = watching.wait_for(|state| !state.is_full()).await;
        self.state.send_modify(|state| {
            for entry in entries {
                if state.entries.len() >= KEPT {
                    state.entries.pop_front();
                    state.gone += 1;
                }
                state.entries.push_back(Arc::new(entry));
            }
        });
    }

    /// Ends the channel.
    pub(super) fn end(&self) {
        self.state.send_modify(|state| state.ended = true);
    }

    /// Creates a reader that starts after the first `after` entries and replaces the current one;
    /// `None` if they are no longer kept, or never existed.
    pub(super) fn read(self: &Arc<Self>, after: u64) -> Option<Reader> {
        let mut number = None;
        self.state.send_modify(|state| {
            if (state.gone..=state.total()).contains(&after) {
                state.readers += 1;
                state.reader = state.readers;
                state.read = after;
                number = Some(state.reader);
            }
        });
        Some(Reader {
            number: number?,
            channel: Arc::clone(self),
            next: after,
        })
    }

    /// The position for a new reader: the first unread entry that is still kept.
    pub(super) fn unread(&self) -> u64 {
        let state = self.state.borrow();
        state.read.max(state.gone)
    }
}

/// A reader of a channel.
pub(super) struct Reader {
    pub(super) channel: Arc<Channel>,
    number: u64,
    next: u64,
}

impl Reader {
    /// The number of entries read, counted from the start of the channel.
    pub(super) fn position(&self) -> u64 {
        self.next
    }

    /// Waits for the next entry; `None` at the end, or once another reader has taken over.
    pub(super) async fn next(&mut self) -> Option<Arc<Entry>> {
        let mut watching = self.channel.state.subscribe();
        let found = watching.wait_for(|state| {
            state.total() > self.next || state.ended || state.reader != self.number
        });
        // A newer reader has taken over: this one ends, so that no message is sent twice.
        let entry = {
            let state = found.await.ok()?;
            if state.reader != self.number {
                return None;
            }
            let at = usize::try_from(self.next.checked_sub(state.gone)?).ok()?;
            state.entries.get(at).map(Arc::clone)?
        };
        self.next += 1;
        let (number, next) = (self.number, self.next);
        self.channel.state.send_modify(|state| {
            if state.reader == number {
                state.read = next;
            }
        });
        Some(entry)
    }

    /// The first entry, if there is one now.
    pub(super) fn peek_now(&self) -> Option<Peek> {
        self.channel.state.borrow().peek()
    }

    /// Waits for the first entry, and reports if it is the only one. `None` if the channel ends
    /// without one.
    pub(super) async fn peek(&self) -> Option<Peek> {
        let mut watching = self.channel.state.subscribe();
        let state = watching
            .wait_for(|state| state.total() > self.next || state.ended)
            .await
            .ok()?;
        state.peek()
    }
}

/// The role of the first entry, and whether it is the only one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peek {
    pub(super) role: Role,
    pub(super) alone: bool,
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.channel.state.send_modify(|state| {
            if state.reader == self.number {
                state.reader = 0;
            }
        });
    }
}
