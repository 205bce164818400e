//! What is said to a client on one stream, kept until it is known to have arrived.
//!
//! Every POST of a request has a channel, and every session one for what belongs to no request.
//! What is said is put in at one end; a reader at the other end can go away, and another one
//! can go on where it stopped.

use std::collections::VecDeque;
use std::sync::Arc;

use tokio::sync::watch;

use crate::chaos::Act;

/// How much a channel keeps. Who reads more slowly than that is waited for; who does not read at
/// all loses the oldest.
const KEPT: usize = 1000;

/// One thing that is said.
pub(super) struct Entry {
    pub(super) acts: Vec<Act>,
    pub(super) role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The answer to the request; an error has a code.
    Answer(Option<i64>),
    Other,
}

impl Entry {
    pub(super) fn line(line: String, role: Role) -> Self {
        let acts = vec![Act::Bytes(line.into_bytes())];
        Self { acts, role }
    }
}

/// A stream of things that are said.
pub(super) struct Channel {
    pub(super) number: u64,
    state: watch::Sender<State>,
}

#[derive(Default)]
struct State {
    entries: VecDeque<Arc<Entry>>,
    /// How many were there before the first that is kept.
    gone: u64,
    ended: bool,
    /// Which reader is the one that counts: the last that came. 0 when it has left.
    reader: u64,
    readers: u64,
    /// How many entries that reader has taken.
    read: u64,
}

impl State {
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

    /// Adds what belongs together.
    pub(super) async fn push(&self, entries: Vec<Entry>) {
        let mut watching = self.state.subscribe();
        // The sender is our own: it cannot be gone.
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

    /// Says that there is no more to come.
    pub(super) fn end(&self) {
        self.state.send_modify(|state| state.ended = true);
    }

    /// Reads from behind the first `after` entries on, in place of whoever reads now; `None` when
    /// they are gone, or were never there.
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

    /// Where a reader begins that wants only what is still to come, or nobody has read yet.
    pub(super) fn unread(&self) -> u64 {
        let state = self.state.borrow();
        state.read.max(state.gone)
    }
}

/// One who reads.
pub(super) struct Reader {
    pub(super) channel: Arc<Channel>,
    number: u64,
    next: u64,
}

impl Reader {
    /// How many entries have been read, counted from the start of the channel.
    pub(super) fn position(&self) -> u64 {
        self.next
    }

    /// The next entry; `None` at the end, or when somebody else reads now.
    pub(super) async fn next(&mut self) -> Option<Arc<Entry>> {
        let mut watching = self.channel.state.subscribe();
        let found = watching.wait_for(|state| {
            state.total() > self.next || state.ended || state.reader != self.number
        });
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

    /// What there is already.
    pub(super) fn peek_now(&self) -> Option<Peek> {
        self.channel.state.borrow().peek()
    }

    /// Waits for something to be said, and says what an answer could look like: the only thing
    /// there is, or more than that. `None` when it ends without an answer.
    pub(super) async fn peek(&self) -> Option<Peek> {
        let mut watching = self.channel.state.subscribe();
        let state = watching
            .wait_for(|state| state.total() > self.next || state.ended)
            .await
            .ok()?;
        state.peek()
    }
}

/// What there is to read first.
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
