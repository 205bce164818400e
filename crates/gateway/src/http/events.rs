//! Streams of server-sent events: the body of a response that is more than one message.

use std::future::Future;
use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::StatusCode;
use tokio::time::{Instant, Sleep, sleep};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::channel::{Channel, Reader};
use super::older::Closing;
use super::sessions::SessionUse;

/// A comment, which clients ignore: it keeps connections open and finds out those that are gone.
const COMMENT: &[u8] = b":\n\n";

/// The work on one request: its answer, if it has one.
pub(super) type Work = Pin<Box<dyn Future<Output = Option<Answer>> + Send>>;

/// The answer to one request.
pub(super) struct Answer {
    /// The status that it has if it is all there is.
    pub(super) status: StatusCode,
    /// The message as JSON text.
    pub(super) text: Bytes,
}

/// The body of a response that is a stream of events.
pub(super) struct EventStream {
    channel: Arc<Channel>,
    reader: Reader,
    /// Text that comes before the first event.
    start: Option<Bytes>,
    /// True if clients can resume behind an event, so that events have ids.
    can_resume: bool,
    /// Work that runs in the stream: closing the stream cancels it.
    work: Option<Work>,
    ticks: Pin<Box<Sleep>>,
    interval: Duration,
    ending: Option<Ending>,
    /// Keeps the session from being idle.
    session: Option<SessionUse>,
    /// Ends the session with the stream.
    closing: Option<Closing>,
}

/// The end of a stream that would otherwise stay open when the gateway drains.
pub(super) struct Ending {
    pub(super) draining: Pin<Box<WaitForCancellationFutureOwned>>,
    /// The last message.
    pub(super) message: Option<Bytes>,
}

impl EventStream {
    pub(super) fn new(channel: Arc<Channel>, reader: Reader, interval: Duration) -> Self {
        Self {
            channel,
            reader,
            start: None,
            can_resume: false,
            work: None,
            ticks: Box::pin(sleep(interval)),
            interval,
            ending: None,
            session: None,
            closing: None,
        }
    }

    /// Sends a text before the first event.
    pub(super) fn starting_with(mut self, text: Bytes) -> Self {
        self.start = Some(text);
        self
    }

    /// Runs work in the stream; its answer is the last event.
    pub(super) fn running(mut self, work: Work) -> Self {
        self.work = Some(work);
        self
    }

    /// Gives events ids, for a session that keeps them.
    pub(super) fn of_session(mut self, session: SessionUse, can_resume: bool) -> Self {
        self.session = Some(session);
        self.can_resume = can_resume;
        self
    }

    /// Ends the stream when the gateway drains.
    pub(super) fn ending(mut self, ending: Ending) -> Self {
        self.ending = Some(ending);
        self
    }

    /// Ends the session when the stream is dropped.
    pub(super) fn closing(mut self, closing: Closing) -> Self {
        self.closing = Some(closing);
        self
    }

    pub(super) fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(start) = self.start.take() {
            return Poll::Ready(Some(start));
        }
        loop {
            if let Poll::Ready(next) = self.channel.poll_next(self.reader, cx) {
                let number = self.channel.number();
                let id = |at| self.can_resume.then_some((number, at));
                return Poll::Ready(next.map(|(at, message)| event(id(at), &message)));
            }
            // The work comes after what it has sent, so that its answer is the last event.
            if let Some(work) = &mut self.work
                && let Poll::Ready(answer) = work.as_mut().poll(cx)
            {
                self.work = None;
                self.channel.finish(answer.map(|answer| answer.text));
                continue;
            }
            if let Some(ending) = &mut self.ending
                && ending.draining.as_mut().poll(cx).is_ready()
            {
                let message = ending.message.take();
                self.ending = None;
                // Dropping the work cancels it: its answer must not follow the last message.
                self.work = None;
                if message.is_some() {
                    self.channel.finish(message);
                    continue;
                }
                // The channel belongs to the session, which may outlive the stream.
                return Poll::Ready(None);
            }
            // The work may have sent something and not be done.
            if self.channel.has_waiting() {
                continue;
            }
            return match self.ticks.as_mut().poll(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(()) => {
                    let next = Instant::now() + self.interval;
                    self.ticks.as_mut().reset(next);
                    Poll::Ready(Some(Bytes::from_static(COMMENT)))
                }
            };
        }
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        if self.can_resume {
            self.channel.detach(self.reader);
        } else {
            self.channel.close();
        }
        // The use ends first: what ends a session has no use of it.
        drop((self.session.take(), self.closing.take()));
    }
}

/// The id of an event, as clients bring it back in `Last-Event-ID`.
pub(super) fn parse_event_id(text: &str) -> Option<(u32, u64)> {
    let (stream, number) = text.split_once('-')?;
    // `parse` would also take a sign, which no id of ours has.
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(stream) || !is_number(number) {
        return None;
    }
    Some((stream.parse().ok()?, number.parse().ok()?))
}

/// An event without data, whose id lets a client resume a stream from its start.
pub(super) fn priming(stream: u32, retry: Duration) -> Bytes {
    let text = format!("id: {stream}-0\nretry: {}\ndata: \n\n", retry.as_millis());
    Bytes::from(text)
}

/// The first event of the older transport: the address for messages.
pub(super) fn endpoint(address: &str) -> Bytes {
    Bytes::from(format!("event: endpoint\ndata: {address}\n\n"))
}

/// Writes one message as an event.
fn event(id: Option<(u32, u64)>, message: &[u8]) -> Bytes {
    let mut text = Vec::with_capacity(message.len() + 64);
    text.extend_from_slice(b"event: message\n");
    if let Some((stream, number)) = id {
        // Writing into a vector cannot fail.
        let _ = writeln!(text, "id: {stream}-{number}");
    }
    // Line ends between the parts of a JSON text mean nothing, but would end the data.
    for line in message.split(|byte| matches!(byte, b'\n' | b'\r')) {
        text.extend_from_slice(b"data: ");
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    text.push(b'\n');
    Bytes::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_with_line_ends_stays_one_event() {
        let text = event(Some((2, 7)), b"{\"a\":\r\n1,\n\"b\":2}");
        let expected =
            "event: message\nid: 2-7\ndata: {\"a\":\ndata: \ndata: 1,\ndata: \"b\":2}\n\n";
        assert_eq!(text, expected);
        assert_eq!(event(None, b"{}"), "event: message\ndata: {}\n\n");
    }

    #[test]
    fn event_ids_are_read_strictly() {
        assert_eq!(parse_event_id("2-7"), Some((2, 7)));
        for bad in [
            "",
            "2",
            "-",
            "2-",
            "+2-7",
            "2-7-1",
            "99999999999-1",
            "a-b",
            "2 -7",
            "2--7",
        ] {
            assert_eq!(parse_event_id(bad), None, "{bad}");
        }
    }
}
