//! A bounded queue of the notifications of one call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use switchboard_wire::Raw;
use tokio::sync::mpsc;

use super::callbacks::CallSink;

/// Limits of a [`CallQueue`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallQueueLimits {
    /// Notifications that are kept until they are read.
    pub notices: usize,
    /// Bytes of these.
    pub bytes: usize,
}

impl Default for CallQueueLimits {
    fn default() -> Self {
        Self {
            notices: 256,
            bytes: 256 * 1024,
        }
    }
}

/// A notification of one call: its parameters, as the server wrote them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum CallNotice {
    /// Progress.
    Progress(Raw),
    /// A log message.
    Log(Raw),
}

impl CallNotice {
    fn len_bytes(&self) -> usize {
        let (Self::Progress(params) | Self::Log(params)) = self;
        params.len_bytes()
    }
}

/// A sink that keeps notifications until they are read. Those over its limits are shed and counted.
#[derive(Debug)]
pub struct CallQueue {
    sender: mpsc::Sender<CallNotice>,
    counts: Arc<QueueCounts>,
    most_bytes: usize,
}

#[derive(Debug, Default)]
struct QueueCounts {
    bytes: AtomicUsize,
    shed: AtomicU64,
}

/// Reads the notifications of one call.
#[derive(Debug)]
pub struct CallQueueReader {
    receiver: mpsc::Receiver<CallNotice>,
    counts: Arc<QueueCounts>,
}

/// Creates a bounded queue: the sink goes into [`Callbacks`](super::Callbacks), the reader is awaited.
pub fn call_queue(limits: CallQueueLimits) -> (Arc<CallQueue>, CallQueueReader) {
    let (sender, receiver) = mpsc::channel(limits.notices.max(1));
    let counts = Arc::new(QueueCounts::default());
    let queue = CallQueue {
        sender,
        counts: Arc::clone(&counts),
        most_bytes: limits.bytes,
    };
    (Arc::new(queue), CallQueueReader { receiver, counts })
}

impl CallQueue {
    fn push(&self, notice: CallNotice) {
        let (counts, len) = (&*self.counts, notice.len_bytes());
        // Counted before it is kept: two streams of one call may push at once.
        let before = counts.bytes.fetch_add(len, Ordering::Relaxed);
        let is_kept = before.saturating_add(len) <= self.most_bytes
            // A reader that is gone needs nothing.
            && self.sender.try_send(notice).is_ok();
        if !is_kept {
            counts.bytes.fetch_sub(len, Ordering::Relaxed);
            counts.shed.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl CallSink for CallQueue {
    fn progress(&self, params: &Raw) {
        self.push(CallNotice::Progress(params.clone()));
    }

    fn log(&self, params: &Raw) {
        self.push(CallNotice::Log(params.clone()));
    }
}

impl CallQueueReader {
    /// Returns the next notification, or `None` once the call is over and all were read. Cancel safe.
    pub async fn next(&mut self) -> Option<CallNotice> {
        let notice = self.receiver.recv().await?;
        Some(self.took(notice))
    }

    /// Returns the next notification if one is there already.
    pub fn next_now(&mut self) -> Option<CallNotice> {
        let notice = self.receiver.try_recv().ok()?;
        Some(self.took(notice))
    }

    /// The number of notifications that were shed.
    pub fn shed(&self) -> u64 {
        self.counts.shed.load(Ordering::Relaxed)
    }

    fn took(&self, notice: CallNotice) -> CallNotice {
        let len = notice.len_bytes();
        self.counts.bytes.fetch_sub(len, Ordering::Relaxed);
        notice
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(number: usize) -> Raw {
        Raw::parse(&format!(r#"{{"progress":{number}.50}}"#)).unwrap()
    }

    #[tokio::test]
    async fn notices_at_the_limit_are_kept_and_those_over_it_counted() {
        let limits = |notices, bytes| CallQueueLimits { notices, bytes };
        // Each takes 17 bytes.
        for limits in [limits(2, 1000), limits(1000, 34)] {
            let (queue, mut reader) = call_queue(limits);
            for number in 1..=3 {
                queue.progress(&step(number));
            }
            assert_eq!(reader.shed(), 1);
            assert_eq!(reader.next().await, Some(CallNotice::Progress(step(1))));
            // Room that was read is room again.
            queue.log(&step(4));
            assert_eq!(reader.next_now(), Some(CallNotice::Progress(step(2))));
            drop(queue);
            assert_eq!(reader.next().await, Some(CallNotice::Log(step(4))));
            assert_eq!(reader.next().await, None);
            assert_eq!(reader.shed(), 1);
        }
    }
}
