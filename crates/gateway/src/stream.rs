//! Clients on byte streams: standard input and output, Unix sockets.
//!
//! One message a line, both ways; a batch of 2025-03-26 is one line too. One task writes what is queued; the reader handles each message up to its
//! first wait, so that messages take effect in their order, and what then waits for a server goes on in a
//! task of its own. The reader stops only for its own client: when that does not take its answers.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use bytes::{Buf as _, Bytes, BytesMut};
use memchr::memchr;
use switchboard_wire::{RpcError, Version, code};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use crate::batch::{self, Answering, is_batch};
use crate::caller::ClientIdentity;
use crate::client::Client;
use crate::error::GatewayError;
use crate::gateway::Gateway;
use crate::limits::GatewayLimits;
use crate::message::{BadMessage, ClientMessage};
use crate::outlet::{Outlet, Priority};
use crate::scope::Scope;

/// Most messages in one write.
const MESSAGES_PER_WRITE: usize = 64;

/// Bytes that are read at once, and that a buffer keeps when it is empty.
const BUFFER: usize = 64 << 10;

impl Gateway {
    /// Serves one client over a byte stream until its input ends, the gateway has drained, or the client's
    /// credential does not count any more.
    ///
    /// The end of the input cancels what still runs and ends the client's own connections to servers.
    ///
    /// # Errors
    /// Fails if the scope does not exist for the client, or the input cannot be read. A client that is gone
    /// is not an error.
    ///
    /// # Cancel safety
    /// Dropping the future ends the client.
    pub async fn serve<R, W>(
        &self,
        read: R,
        write: W,
        identity: ClientIdentity,
        scope: Scope,
    ) -> Result<(), GatewayError>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        if self.0.offers.current(&identity, &scope).is_none() {
            return Err(GatewayError::Profile {
                name: scope.to_string(),
                why: "no profile or server has that name".to_owned(),
            });
        }
        let limits = &self.0.options.limits;
        let validity = identity.validity().clone();
        let (outbox, queue) = Outbox::new(limits.outbox, &self.0.dropped);
        let finish = CancellationToken::new();
        let writing = write_queue(write, queue, Arc::clone(&outbox), finish.clone());
        // Aborted on drop: the writer must not outlive a dropped `serve`.
        let writing = AbortOnDropHandle::new(tokio::spawn(writing));
        let outlet: Arc<dyn Outlet> = Arc::clone(&outbox) as Arc<dyn Outlet>;
        let mut stream = Stream {
            client: Client::new(self, identity, scope, Arc::clone(&outlet)),
            outlet,
            outbox,
            running: JoinSet::new(),
            most_running: limits
                .in_flight
                .saturating_add(limits.listens)
                .saturating_mul(2),
            limits: limits.clone(),
        };
        let mut lines = Lines::new(read, limits.message_bytes);
        let ended = tokio::select! {
            // The end first: a client that never stops sending must not delay it.
            biased;
            () = self.0.drain.over() => Ok(StreamEnd::Drained),
            () = stream.outbox.closed.clone().cancelled_owned() => Ok(StreamEnd::Gone),
            () = validity.ended() => Ok(StreamEnd::Gone),
            ended = stream.receive(&mut lines) => ended.map(|()| StreamEnd::Input),
        };
        if let Ok(StreamEnd::Drained) = ended {
            // All have finished, or had their time; their answers may still wait for the queue.
            let rest = async { while stream.running.join_next().await.is_some() {} };
            drop(timeout(limits.change_pause, rest).await);
        }
        // Tasks first: none may use the client after it is closed.
        stream.running.shutdown().await;
        stream.client.close().await;
        // What is queued is still written, for a client that takes it.
        finish.cancel();
        // Bounded: a client that does not read must not keep the gateway from ending.
        drop(timeout(limits.drain, writing).await);
        ended.map(drop).map_err(GatewayError::Io)
    }

    /// Takes no new requests, lets those in flight finish for at most that long, and ends subscriptions in
    /// good order. Returns false if some requests did not finish. Streams end after it.
    pub async fn drain(&self, time: std::time::Duration) -> bool {
        self.0.drain.run(time).await
    }
}

/// The reason that a stream ends.
enum StreamEnd {
    /// The client has closed its side.
    Input,
    /// The client cannot be written to.
    Gone,
    /// The gateway has drained.
    Drained,
}

/// One client on a byte stream.
struct Stream {
    client: Arc<Client>,
    outlet: Arc<dyn Outlet>,
    outbox: Arc<Outbox>,
    /// Requests that wait for a server, or for room in the queue.
    running: JoinSet<()>,
    most_running: usize,
    limits: GatewayLimits,
}

impl Stream {
    /// Takes messages until the input ends.
    async fn receive<R: AsyncRead + Unpin>(&mut self, lines: &mut Lines<R>) -> io::Result<()> {
        while let Some(line) = lines.next().await? {
            match self.parse(&line) {
                Ok(Input::Nothing) => {}
                Ok(Input::Message(message)) => self.handle(message).await,
                Ok(Input::Batch(messages)) => self.handle_batch(messages).await,
                Err(bad) => self.outbox.queue(bad.to_bytes()).await,
            }
            while self.running.try_join_next().is_some() {}
            // A client that takes no answers gets no further: nothing else holds them.
            while self.running.len() >= self.most_running {
                self.running.join_next().await;
            }
        }
        Ok(())
    }

    /// Reads one line.
    #[allow(clippy::result_large_err, reason = "a bad message is rare")]
    fn parse(&self, line: &Line) -> Result<Input, BadMessage> {
        let bad = |code, why: &str| {
            let error = RpcError::new(code, why);
            Err(BadMessage { id: None, error })
        };
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::TooLong { most } => {
                let why = format!("the message is longer than the limit of {most} bytes");
                return bad(code::INVALID_REQUEST, &why);
            }
        };
        match std::str::from_utf8(bytes) {
            Ok(text) if text.trim_ascii().is_empty() => Ok(Input::Nothing),
            Ok(text) if is_batch(text) && self.client.version() == Some(Version::V2025_03_26) => {
                batch::parse(text, &self.limits).map(Input::Batch)
            }
            Ok(text) => ClientMessage::parse(text, self.limits.json_depth).map(Input::Message),
            Err(_) => bad(code::PARSE_ERROR, "the message is not UTF-8"),
        }
    }

    /// Handles a message up to its first wait; the rest goes on in a task of its own.
    async fn handle(&mut self, message: ClientMessage) {
        let answering = Box::pin(self.answering(message));
        self.begin(answering).await;
    }

    /// Handles the messages of a batch at once. Their answers are one line.
    async fn handle_batch(&mut self, messages: Vec<ClientMessage>) {
        let each = messages.into_iter();
        let each = each.map(|message| Box::pin(self.answering(message)) as Answering);
        let answering = Box::pin(batch::join(each.collect()));
        self.begin(answering).await;
    }

    fn answering(
        &self,
        message: ClientMessage,
    ) -> impl Future<Output = Option<Bytes>> + Send + use<> {
        let (client, outlet) = (Arc::clone(&self.client), Arc::clone(&self.outlet));
        async move {
            let reply = client.handle(message, &outlet).await;
            reply.map(|reply| reply.to_bytes())
        }
    }

    async fn begin<F>(&mut self, mut answering: Pin<Box<F>>)
    where
        F: Future<Output = Option<Bytes>> + Send + 'static,
    {
        // Polled here first: what needs no server is answered at once, and a message takes effect before
        // the next one is read.
        let begun = poll_fn(|context| Poll::Ready(answering.as_mut().poll(context))).await;
        match begun {
            Poll::Ready(Some(answer)) => self.outbox.queue(answer).await,
            Poll::Ready(None) => {}
            Poll::Pending => {
                let finish = finish(answering, Arc::clone(&self.outbox));
                self.running.spawn(finish);
            }
        }
    }
}

/// What one line is.
enum Input {
    /// White space.
    Nothing,
    Message(ClientMessage),
    /// Several messages, of a client that agreed on 2025-03-26.
    Batch(Vec<ClientMessage>),
}

/// Waits for the answer of a request and queues it.
async fn finish(answering: Pin<Box<impl Future<Output = Option<Bytes>>>>, outbox: Arc<Outbox>) {
    if let Some(answer) = answering.await {
        outbox.queue(answer).await;
    }
}

/// The messages on their way to the client.
struct Outbox {
    queue: mpsc::Sender<Bytes>,
    /// Places that are kept for messages that must arrive.
    kept: usize,
    /// Counts notifications that had no room, of all clients.
    dropped: Arc<AtomicU64>,
    /// The client cannot be written to any more.
    closed: CancellationToken,
}

impl Outbox {
    fn new(most: usize, dropped: &Arc<AtomicU64>) -> (Arc<Self>, mpsc::Receiver<Bytes>) {
        let (queue, messages) = mpsc::channel(most.max(2));
        let outbox = Self {
            queue,
            kept: most / 2,
            dropped: Arc::clone(dropped),
            closed: CancellationToken::new(),
        };
        (Arc::new(outbox), messages)
    }

    /// Queues an answer, waiting for room.
    async fn queue(&self, message: Bytes) {
        // Sending fails if the client is gone, which the reader learns of in another way.
        drop(self.queue.send(message).await);
    }
}

impl Outlet for Outbox {
    fn send(&self, message: Bytes, priority: Priority) -> bool {
        let can_drop = priority == Priority::CanDrop;
        let sent = if can_drop && self.queue.capacity() <= self.kept {
            false
        } else {
            self.queue.try_send(message).is_ok()
        };
        if !sent && can_drop {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        } else if !sent {
            // A client that misses a question or an announcement is better off without the connection.
            self.closed.cancel();
        }
        sent
    }

    fn is_closed(&self) -> bool {
        self.closed.is_cancelled() || self.queue.is_closed()
    }
}

/// Writes what is queued, until `finish` and the end of the queue.
async fn write_queue(
    mut write: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<Bytes>,
    outbox: Arc<Outbox>,
    finish: CancellationToken,
) {
    let (mut messages, mut bytes) = (Vec::with_capacity(MESSAGES_PER_WRITE), Vec::new());
    loop {
        tokio::select! {
            // The queue first: what was queued before `finish` is still written.
            biased;
            count = queue.recv_many(&mut messages, MESSAGES_PER_WRITE) => if count == 0 {
                return;
            },
            () = finish.cancelled(), if !queue.is_closed() => queue.close(),
        }
        for message in messages.drain(..) {
            push_line(&mut bytes, &message);
        }
        let written = async {
            write.write_all(&bytes).await?;
            write.flush().await
        };
        if written.await.is_err() {
            // `serve` waits on this token: without it, a client that is gone would still be served.
            outbox.closed.cancel();
            return;
        }
        bytes.clear();
        // One large message must not keep its memory for the life of the client.
        bytes.shrink_to(BUFFER);
    }
}

/// Adds a message as one line. A newline in it stands between values, so that a space means the same.
fn push_line(bytes: &mut Vec<u8>, message: &[u8]) {
    let start = bytes.len();
    bytes.extend_from_slice(message);
    // 2025-11-25, transports: messages must not contain newlines.
    if memchr(b'\n', message).is_some() {
        let line = bytes.iter_mut().skip(start);
        line.filter(|byte| **byte == b'\n')
            .for_each(|byte| *byte = b' ');
    }
    bytes.push(b'\n');
}

/// One line of a client.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    Whole(Bytes),
    /// It was longer than the limit, and skipped.
    TooLong {
        most: usize,
    },
}

/// The lines of a client.
struct Lines<R> {
    read: R,
    buffer: BytesMut,
    /// Bytes of the buffer that have no line end.
    searched: usize,
    most: usize,
    /// The rest of a line that is too long is not kept.
    skipping: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(read: R, most: usize) -> Self {
        Self {
            read,
            buffer: BytesMut::with_capacity(BUFFER),
            searched: 0,
            most,
            skipping: false,
        }
    }

    /// The next line, without its end. Cancel safe.
    async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            // Buffered lines first: a read could wait forever for a line that is already here.
            if let Some(line) = self.take_line() {
                return Ok(Some(line));
            }
            self.buffer.reserve(BUFFER);
            if self.read.read_buf(&mut self.buffer).await? > 0 {
                continue;
            }
            // The end of the input also ends the last line.
            if self.buffer.is_empty() && !self.skipping {
                return Ok(None);
            }
            self.buffer.extend_from_slice(b"\n");
        }
    }

    fn take_line(&mut self) -> Option<Line> {
        loop {
            let fresh = self.buffer.get(self.searched..).unwrap_or_default();
            let Some(found) = memchr(b'\n', fresh) else {
                self.searched = self.buffer.len();
                if self.skipping || self.searched > self.most {
                    // The start of a line that is too long is dropped now: memory stays within the limit.
                    self.skipping = true;
                    self.buffer.clear();
                    self.searched = 0;
                }
                return None;
            };
            let end = self.searched + found;
            let line = self.buffer.split_to(end).freeze();
            self.buffer.advance(1);
            self.searched = 0;
            if std::mem::take(&mut self.skipping) || line.len() > self.most {
                return Some(Line::TooLong { most: self.most });
            }
            if !line.is_empty() {
                return Some(Line::Whole(line));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(input: &str, most: usize) -> Vec<Option<String>> {
        let mut lines = Lines::new(input.as_bytes(), most);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(match line {
                Line::Whole(line) => Some(String::from_utf8(line.to_vec()).unwrap()),
                Line::TooLong { .. } => None,
            });
        }
        all
    }

    fn whole(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[tokio::test]
    async fn a_line_at_the_limit_is_whole_and_one_over_it_is_not() {
        assert_eq!(lines("12345\n1\n", 5).await, whole(&["12345", "1"]));
        let mut expected = vec![None];
        expected.extend(whole(&["1"]));
        assert_eq!(lines("123456\n1\n", 5).await, expected);
        let long = "x".repeat(BUFFER * 3);
        assert_eq!(lines(&format!("{long}\n1"), 5).await, expected);
        assert_eq!(lines(&long, 5).await, [None]);
    }

    #[tokio::test]
    async fn the_last_line_needs_no_end() {
        assert_eq!(lines("a\n\nb", 5).await, whole(&["a", "b"]));
        assert_eq!(lines("", 5).await, whole(&[]));
    }

    #[test]
    fn a_message_is_one_line_whatever_white_space_it_has() {
        let mut bytes = b"x\n".to_vec();
        push_line(&mut bytes, b"{\n\"a\":\n1}");
        assert_eq!(bytes, b"x\n{ \"a\": 1}\n");
    }

    #[tokio::test]
    async fn notifications_leave_room_for_what_must_arrive() {
        let (outbox, mut queue) = Outbox::new(4, &Arc::default());
        let send = |priority| outbox.send(Bytes::from_static(b"{}"), priority);
        assert!(send(Priority::CanDrop) && send(Priority::CanDrop));
        assert!(!send(Priority::CanDrop) && !outbox.is_closed());
        assert!(send(Priority::MustArrive) && send(Priority::MustArrive));
        assert!(!send(Priority::MustArrive) && outbox.is_closed());
        assert_eq!(outbox.dropped.load(Ordering::Relaxed), 1);
        let mut messages = Vec::new();
        assert_eq!(queue.recv_many(&mut messages, 9).await, 4);
    }
}
