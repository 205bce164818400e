//! Messages on their way to a client over HTTP.
//!
//! A channel is one queue of messages with at most one reader, the stream of events that a client
//! reads. Messages that were read may be kept for a while, so that a client whose connection broke can
//! resume behind the last one that it saw. Writing never waits; what does not fit is dropped and
//! counted, or, if it must arrive, ends the stream.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use super::stats::Counters;
use crate::outlet::{Outlet, Priority};

/// The bounds of a channel.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChannelBounds {
    /// Most messages that wait for the reader.
    pub(super) waiting: usize,
    /// Most bytes that wait for the reader, as long as more than one message does.
    pub(super) waiting_bytes: usize,
    /// Most messages that wait while there is no reader, and only such as must arrive. `None` if one is on
    /// its way, so that all may wait.
    pub(super) unread: Option<usize>,
    /// Most messages that are kept after they were read.
    pub(super) kept: usize,
    /// Most bytes that are kept after they were read.
    pub(super) kept_bytes: usize,
    /// Most bytes of all channels together, beyond which none keeps messages, nor any for a missing reader.
    pub(super) all_bytes: usize,
}

/// One queue of messages with one reader.
pub(super) struct Channel {
    /// Its number in the session; part of the ids of its events.
    number: u32,
    bounds: ChannelBounds,
    counters: Arc<Counters>,
    state: Mutex<ChannelState>,
}

#[derive(Default)]
struct ChannelState {
    /// Messages that were read and are kept, then those that wait.
    messages: VecDeque<Bytes>,
    /// The count of read messages at the front.
    read: usize,
    read_bytes: usize,
    waiting_bytes: usize,
    /// The bytes of this channel in the count of all channels.
    counted: usize,
    /// The number of the first message in `messages`, from 1 once there is any.
    before: u64,
    /// The current reader. Readers with an older number have been replaced.
    reader: u32,
    has_reader: bool,
    waker: Option<Waker>,
    /// No message comes after those that are there.
    is_ended: bool,
    /// The client cannot be reached any more: nothing is kept.
    is_closed: bool,
}

/// A message that was asked for again is not kept any more, or never was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotKept;

/// The right to read a channel, until another reader replaces this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reader(u32);

impl Channel {
    pub(super) fn new(number: u32, bounds: ChannelBounds, counters: &Arc<Counters>) -> Arc<Self> {
        Arc::new(Self {
            number,
            bounds,
            counters: Arc::clone(counters),
            state: Mutex::default(),
        })
    }

    pub(super) fn number(&self) -> u32 {
        self.number
    }

    fn state(&self) -> MutexGuard<'_, ChannelState> {
        // Nothing under this lock can stop halfway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the caller the reader, in place of an earlier one, whose stream ends.
    ///
    /// With `after`, it reads again from behind that message; otherwise it reads what waits.
    ///
    /// # Errors
    /// Fails if a message after `after` is not kept any more; the earlier reader stays.
    pub(super) fn attach(&self, after: Option<u64>) -> Result<Reader, NotKept> {
        let mut state = self.state();
        // Rewound before the reader changes: if that fails, the earlier one stays.
        if let Some(after) = after {
            state.rewind(after)?;
        }
        state.reader = state.reader.wrapping_add(1);
        state.has_reader = true;
        let earlier = state.waker.take();
        let reader = Reader(state.reader);
        // Unlocked before waking: the woken task takes the lock at once.
        drop(state);
        if let Some(earlier) = earlier {
            earlier.wake();
        }
        Ok(reader)
    }

    /// Ends the reading of one reader. The messages stay for the next one.
    pub(super) fn detach(&self, reader: Reader) {
        let mut state = self.state();
        // A replaced reader must not detach its successor.
        if state.reader == reader.0 {
            state.has_reader = false;
            state.waker = None;
        }
    }

    /// The next message and its number; `None` at the end, or if another reader has taken over.
    pub(super) fn poll_next(
        &self,
        reader: Reader,
        cx: &mut Context<'_>,
    ) -> Poll<Option<(u64, Bytes)>> {
        let mut state = self.state();
        if state.reader != reader.0 || state.is_closed {
            return Poll::Ready(None);
        }
        // What waits comes before the end: a finished channel is read to its last message.
        if let Some(next) = state.take_next(self.bounds) {
            self.count(&mut state);
            while !self.is_within(0) && state.forget_oldest() {
                self.count(&mut state);
            }
            return Poll::Ready(Some(next));
        }
        if state.is_ended {
            return Poll::Ready(None);
        }
        if !state
            .waker
            .as_ref()
            .is_some_and(|waker| waker.will_wake(cx.waker()))
        {
            state.waker = Some(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Ready once a message waits; wakes the task of `cx` until then.
    pub(super) fn poll_waiting(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state();
        if state.messages.len() > state.read || state.is_closed {
            return Poll::Ready(());
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Returns true if messages wait for a reader.
    pub(super) fn has_waiting(&self) -> bool {
        let state = self.state();
        state.messages.len() > state.read
    }

    /// Adds the last message, whatever waits before it, and ends the channel.
    pub(super) fn finish(&self, message: Option<Bytes>) {
        let mut state = self.state();
        // The bounds are not checked: without its answer a request would never end.
        if let Some(message) = message
            && !state.is_closed
            && !state.is_ended
        {
            if self.has_room(&mut state, message.len()) {
                state.waiting_bytes += message.len();
                state.messages.push_back(message);
                self.count(&mut state);
            } else {
                // Who resumes learns that the stream is gone, and not that there was no answer.
                self.counters.dropped(1);
                state.close();
                self.count(&mut state);
            }
        }
        state.is_ended = true;
        state.wake();
    }

    /// Ends the channel at once: its client is gone, and nothing is kept.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.close();
        self.count(&mut state);
        state.wake();
    }

    /// Brings the count of all channels up to date with this one.
    fn count(&self, state: &mut ChannelState) {
        let now = state.read_bytes.saturating_add(state.waiting_bytes);
        self.counters.hold(state.counted, now);
        state.counted = now;
    }

    /// Returns true if a message may wait as far as all channels together go. A reader takes it soon; without one
    /// what is only kept makes room first.
    fn has_room(&self, state: &mut ChannelState, length: usize) -> bool {
        if state.has_reader || self.is_within(length) {
            return true;
        }
        while !self.is_within(length) && state.forget_oldest() {
            self.count(state);
        }
        self.is_within(length)
    }

    fn is_within(&self, length: usize) -> bool {
        self.counters.held_bytes().saturating_add(length) <= self.bounds.all_bytes
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        let mut state = self.state();
        state.close();
        self.count(&mut state);
    }
}

impl ChannelState {
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn close(&mut self) {
        self.is_closed = true;
        self.messages = VecDeque::new();
        (self.read, self.read_bytes, self.waiting_bytes) = (0, 0, 0);
    }

    /// Returns true if there is no room for a message of that length. One message always fits.
    fn is_full(&self, bounds: ChannelBounds, length: usize) -> bool {
        let waiting = self.messages.len().saturating_sub(self.read);
        let bytes = self.waiting_bytes.saturating_add(length);
        let unread = bounds.unread.filter(|_| !self.has_reader);
        let most = unread.map_or(bounds.waiting, |unread| unread.min(bounds.waiting));
        waiting > 0 && (waiting >= most || bytes > bounds.waiting_bytes)
    }

    /// Takes the next waiting message, and forgets old ones over the bounds.
    fn take_next(&mut self, bounds: ChannelBounds) -> Option<(u64, Bytes)> {
        let message = self.messages.get(self.read)?.clone();
        self.read += 1;
        self.read_bytes += message.len();
        self.waiting_bytes = self.waiting_bytes.saturating_sub(message.len());
        let number = self
            .before
            .saturating_add(u64::try_from(self.read).unwrap_or(u64::MAX));
        // Old messages are forgotten here: nothing else bounds what a channel keeps.
        while (self.read > bounds.kept || self.read_bytes > bounds.kept_bytes)
            && self.forget_oldest()
        {}
        Some((number, message))
    }

    /// Forgets the oldest message that was read; false if there is none.
    fn forget_oldest(&mut self) -> bool {
        let oldest = (self.read > 0).then(|| self.messages.pop_front()).flatten();
        let Some(oldest) = oldest else {
            return false;
        };
        self.read -= 1;
        self.read_bytes = self.read_bytes.saturating_sub(oldest.len());
        self.before += 1;
        true
    }

    /// Makes the messages behind `after` wait again.
    fn rewind(&mut self, after: u64) -> Result<(), NotKept> {
        let read = after.checked_sub(self.before).ok_or(NotKept)?;
        let read = usize::try_from(read).map_err(|_| NotKept)?;
        // A message that was never read cannot have been seen.
        if read > self.read {
            return Err(NotKept);
        }
        self.read = read;
        let bytes = |messages: &mut dyn Iterator<Item = &Bytes>| messages.map(Bytes::len).sum();
        self.read_bytes = bytes(&mut self.messages.iter().take(read));
        self.waiting_bytes = bytes(&mut self.messages.iter().skip(read));
        Ok(())
    }
}

impl Outlet for Channel {
    fn send(&self, message: Bytes, priority: Priority) -> bool {
        let mut state = self.state();
        if state.is_closed || state.is_ended {
            return false;
        }
        let is_unread = !state.has_reader && self.bounds.unread.is_some();
        // A session may never have a stream. What can be dropped would wait in all of those for nothing.
        if is_unread && priority == Priority::CanDrop {
            return false;
        }
        let is_full = state.is_full(self.bounds, message.len());
        if is_full && priority == Priority::CanDrop {
            self.counters.dropped(1);
            return false;
        }
        if is_full && state.has_reader {
            // The client does not read, and must not miss this: its stream ends.
            self.counters.dropped(1);
            state.close();
            self.count(&mut state);
            state.wake();
            return false;
        }
        // Nothing reads: the oldest make room, as many as it takes.
        while state.is_full(self.bounds, message.len()) {
            let oldest = state.read;
            let lost = state.messages.remove(oldest);
            let lost = lost.map_or(0, |lost| lost.len());
            state.waiting_bytes = state.waiting_bytes.saturating_sub(lost);
            self.counters.dropped(1);
        }
        self.count(&mut state);
        if !self.has_room(&mut state, message.len()) {
            self.counters.dropped(1);
            return false;
        }
        state.waiting_bytes = state.waiting_bytes.saturating_add(message.len());
        state.messages.push_back(message);
        self.count(&mut state);
        state.wake();
        true
    }

    fn is_closed(&self) -> bool {
        let state = self.state();
        state.is_closed || state.is_ended
    }
}

#[cfg(test)]
#[path = "channel_tests.rs"]
mod tests;
