//! The use of a server by one command: everything passes as it is, in both directions.
//!
//! One command at a time uses a server, so that its questions, progress, logs and changes reach the right one.
//! The daemon reads along: it repeats the answers of the handshake, gives the command another server if this one
//! cannot take it, and knows at the end whether the next command can have the server. It can if nothing of this
//! command is left in it.

use std::future::pending;
use std::io;
use std::sync::Arc;

use bytes::{Buf as _, Bytes, BytesMut};
use switchboard_process::Exit;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, timeout_at};

use super::head::{Head, Kind};
use super::instance::{Instance, answer_unused};
use super::lines::{LineCutter, Piece};
use super::past::Fit;
use super::pool::Pool;
use super::traffic::Traffic;
use crate::frame::{self, Frame, Frames};
use crate::message::{self, Event, ServerStart, Started};

/// Bytes that may wait for one side before the other one is read on.
const MOST_WAITING: usize = 256 << 10;

/// Serves a command that needs a server, until the command or the server has ended.
pub(super) async fn serve(
    pool: &Arc<Pool>,
    start: ServerStart,
    frames: Frames<OwnedReadHalf>,
    mut socket: OwnedWriteHalf,
) -> io::Result<()> {
    let start = Arc::new(start);
    let taken = pool.take(&start, |_| true).await;
    let is_warm = taken.is_some();
    let instance = match taken {
        Some(instance) => Some(instance),
        None => pool.start(&start).await,
    };
    let mut answer = BytesMut::new();
    let Some(mut instance) = instance else {
        message::put(&mut answer, &Started::No)?;
        return socket.write_all(&answer).await;
    };
    begin_use(pool, &mut instance);
    // The command may change to another server that waits now, and its ids must be new there too.
    instance.next_id = instance.next_id.max(pool.next_id(&start));
    let started = Started::Yes {
        pid: instance.process.pid(),
        first_id: instance.next_id,
        is_warm,
    };
    message::put(&mut answer, &started)?;
    let lease = Lease {
        pool,
        is_settled: !instance.past.is_used,
        instance,
        frames,
        socket,
        to_client: answer,
        to_server: BytesMut::new(),
        client_lines: LineCutter::default(),
        is_replayed: false,
        has_passed: false,
        is_output_over: false,
        is_released: false,
        is_ending: false,
        is_client_gone: false,
        traffic: Traffic::default(),
    };
    lease.run().await;
    Ok(())
}

fn begin_use(pool: &Pool, instance: &mut Instance) {
    instance.uses = instance.uses.saturating_add(1);
    // Those were for earlier commands.
    if instance.past.is_used {
        drop(instance.stderr.take());
    }
    pool.note(instance, true);
}

/// One command and its server.
pub(super) struct Lease<'p> {
    pub(super) pool: &'p Arc<Pool>,
    pub(super) instance: Instance,
    frames: Frames<OwnedReadHalf>,
    pub(super) socket: OwnedWriteHalf,
    pub(super) to_client: BytesMut,
    pub(super) to_server: BytesMut,
    pub(super) client_lines: LineCutter,
    /// The command has got through the handshake, or the server is new: everything passes.
    is_settled: bool,
    /// The answer to `initialize` was repeated.
    is_replayed: bool,
    /// The server has got something of this command.
    has_passed: bool,
    pub(super) is_output_over: bool,
    /// The command has closed its side.
    pub(super) is_released: bool,
    /// The server is asked to end.
    pub(super) is_ending: bool,
    /// The command cannot be written to any more.
    pub(super) is_client_gone: bool,
    /// What is open between the two.
    pub(super) traffic: Traffic,
}

/// What has happened.
pub(super) enum Step {
    FromClient(io::Result<Option<Frame>>),
    FromServer(io::Result<Option<Piece>>),
    ToClient(io::Result<usize>),
    ToServer(io::Result<usize>),
    Stderr,
    /// The command has closed its side, and more of what it has sent waits than is read.
    ClientGone,
    Ended(Exit),
}

/// How the use of a server ends.
pub(super) enum Ending {
    /// The command has closed its side.
    Released,
    /// The server has ended.
    Ended(Exit),
    /// The daemon stops, or the server is of no use.
    Dropped,
}

impl Lease<'_> {
    async fn run(mut self) {
        let pool = self.pool;
        // Whichever is first: the command or the server has ended, or the daemon stops.
        let ending = tokio::select! {
            ending = self.relay() => ending,
            () = pool.stop.cancelled() => Ending::Dropped,
        };
        let ending = match ending {
            // Calls in flight have a little time.
            Ending::Dropped if self.pool.stop.is_cancelled() => {
                let until = Instant::now() + self.pool.options.drain;
                timeout_at(until, self.relay_in_flight())
                    .await
                    .unwrap_or(Ending::Dropped)
            }
            ending => ending,
        };
        match ending {
            Ending::Released => self.release().await,
            Ending::Ended(exit) => self.report_end(exit).await,
            Ending::Dropped => self.pool.discard(self.instance),
        }
    }

    /// Passes everything on until one side has ended.
    async fn relay(&mut self) -> Ending {
        loop {
            let step = self.step().await;
            if let Some(ending) = self.take_step(step).await {
                return ending;
            }
        }
    }

    /// The same, as long as the command waits for an answer.
    async fn relay_in_flight(&mut self) -> Ending {
        // What waits to be written to the command is a part of its answer.
        while self.traffic.is_waiting() || !self.to_client.is_empty() {
            let step = self.step().await;
            if let Some(ending) = self.take_step(step).await {
                return ending;
            }
        }
        Ending::Dropped
    }

    /// Waits for the next thing that happens. Cancel safe.
    pub(super) async fn step(&mut self) -> Step {
        let Self {
            instance,
            frames,
            socket,
            to_client,
            to_server,
            is_output_over,
            is_client_gone,
            is_released,
            is_settled,
            ..
        } = self;
        let Instance {
            process,
            output,
            input,
            stderr,
            ..
        } = instance;
        let (to_client, to_server) = (&*to_client, &*to_server);
        let may_take = to_server.len() < MOST_WAITING;
        // What the daemon answers itself, before the command has got through the handshake, waits for the server.
        let may_answer = *is_settled || may_take;
        let may_give = (to_client.len() < MOST_WAITING || *is_client_gone) && may_answer;
        let has_input = !to_server.is_empty() && input.is_some();
        let writing = async {
            match input {
                Some(input) => input.write(to_server).await,
                None => pending().await,
            }
        };
        let telling = async {
            if !to_client.is_empty() {
                return Step::ToClient(socket.write(to_client).await);
            }
            // Until the command has closed its side, its end is seen there.
            if !*is_released {
                pending::<()>().await;
            }
            frame::until_closed(socket).await;
            Step::ToClient(Err(io::ErrorKind::BrokenPipe.into()))
        };
        let receiving = async {
            if may_take {
                return Step::FromClient(frames.next().await);
            }
            // Its end is seen also while the server takes nothing.
            frames.closed().await;
            Step::ClientGone
        };
        tokio::select! {
            // Both sides are written before more is read: what waits is bounded, and neither blocks the other.
            wrote = writing, if has_input => Step::ToServer(wrote),
            step = telling, if !*is_client_gone => step,
            piece = output.next(), if may_give && !*is_output_over => Step::FromServer(piece),
            step = receiving, if !*is_released => step,
            () = stderr.has_lines(), if may_give => Step::Stderr,
            exit = process.ended() => Step::Ended(exit),
        }
    }

    pub(super) async fn take_step(&mut self, step: Step) -> Option<Ending> {
        match step {
            Step::ToServer(Ok(wrote)) => self.to_server.advance(wrote),
            // The server has closed its stdin; that it ends is seen elsewhere.
            Step::ToServer(Err(_)) => {
                self.to_server.clear();
                self.instance.input = None;
            }
            Step::ToClient(Ok(wrote)) => self.to_client.advance(wrote),
            // It may have sent something before.
            Step::ToClient(Err(_)) => {
                self.is_client_gone = true;
                self.to_client.clear();
                // No command waits for it any more.
                if self.is_ending {
                    self.instance.process.give_up();
                }
            }
            Step::FromServer(Ok(Some(piece))) => self.take_output(&piece),
            Step::FromServer(_) => {
                self.is_output_over = true;
                self.tell(&Event::OutputEnd);
            }
            Step::FromClient(Ok(Some(Frame::Bytes(bytes)))) => {
                return self.take_input(&bytes).await;
            }
            // A command has nothing more to say than bytes; after anything else it is not trusted to be one.
            Step::FromClient(Ok(Some(Frame::Message(_)))) => {
                self.traffic.is_unclear = true;
                return Some(Ending::Released);
            }
            Step::FromClient(Ok(None)) => return Some(Ending::Released),
            Step::FromClient(Err(_)) | Step::ClientGone => {
                self.traffic.is_unclear = true;
                return Some(Ending::Released);
            }
            Step::Stderr => self.tell_stderr(),
            Step::Ended(exit) => return Some(Ending::Ended(exit)),
        }
        None
    }

    pub(super) fn tell(&mut self, event: &Event) {
        if !self.is_client_gone {
            // An event is short: lines of stderr are cut.
            message::put(&mut self.to_client, event).ok();
        }
    }

    pub(super) fn tell_stderr(&mut self) {
        let (lines, open) = self.instance.stderr.take();
        for (text, bytes) in lines {
            self.tell(&Event::Stderr { text, bytes });
        }
        // The line without an end comes last: more of it may follow.
        if let Some(text) = open {
            self.tell(&Event::OpenStderr { text });
        }
    }

    /// Takes bytes of the command.
    async fn take_input(&mut self, bytes: &[u8]) -> Option<Ending> {
        self.client_lines.add(bytes);
        while let Some(piece) = self.client_lines.take() {
            match piece {
                Piece::Line(line) => {
                    if !self.take_line(&line).await {
                        return Some(Ending::Dropped);
                    }
                }
                // A line too long to be read: what it asks is unknown, so the server is lent to no other command.
                Piece::Part(part) => {
                    self.traffic.is_unclear = true;
                    self.pass(&part);
                }
            }
        }
        None
    }

    /// Takes a line of the command. Returns false if no server can be had for it.
    async fn take_line(&mut self, line: &Bytes) -> bool {
        let Some(head) = Head::read(line) else {
            // Not a message: it passes as it is, and what it begins is unknown.
            self.traffic.is_unclear = true;
            self.pass(line);
            return true;
        };
        if !self.is_settled {
            let mut fit = self.instance.past.fit(&head, self.is_replayed);
            if fit == Fit::Misfit && !self.has_passed {
                if !self.change_server(&head).await {
                    return false;
                }
                fit = self.instance.past.fit(&head, self.is_replayed);
            }
            match fit {
                Fit::Replay(answer) => {
                    self.is_replayed |= head.method.as_deref() == Some("initialize");
                    frame::put_bytes(&mut self.to_client, &answer);
                    return true;
                }
                Fit::Known => {
                    self.is_settled = true;
                    return true;
                }
                Fit::Forward | Fit::Misfit => self.is_settled = true,
            }
        }
        self.traffic.note_line(&head, &mut self.instance);
        self.pass(line);
        true
    }

    /// Gives the command another server, which fits its message. This one waits for others.
    async fn change_server(&mut self, head: &Head<'_>) -> bool {
        let start = Arc::clone(&self.instance.start);
        let is_replayed = self.is_replayed;
        let fits = |past: &super::past::Past| past.fit(head, is_replayed) != Fit::Misfit;
        let other = match self.pool.take(&start, fits).await {
            Some(instance) => Some(instance),
            None => self.pool.start(&start).await,
        };
        let Some(mut other) = other else { return false };
        begin_use(self.pool, &mut other);
        // The command counts on from the ids of the other server.
        other.next_id = other.next_id.max(self.instance.next_id);
        std::mem::swap(&mut self.instance, &mut other);
        other.uses = other.uses.saturating_sub(1);
        self.pool.park(other);
        true
    }

    pub(super) fn pass(&mut self, bytes: &[u8]) {
        self.has_passed = true;
        self.to_server.extend_from_slice(bytes);
    }

    /// Takes output of the server.
    pub(super) fn take_output(&mut self, piece: &Piece) {
        let Piece::Line(line) = piece else {
            self.traffic.is_unclear = true;
            return self.give(piece.bytes());
        };
        // What is not a message passes: the command says what it makes of it.
        if let Some(head) = Head::read(line)
            && !self.note_output(&head, line)
        {
            return;
        }
        self.give(line);
    }

    /// Sends bytes of the server to the command; nothing gathers for one that is gone.
    fn give(&mut self, bytes: &[u8]) {
        if !self.is_client_gone {
            frame::put_bytes(&mut self.to_client, bytes);
        }
    }

    /// Notes what a line of the server begins and ends. Returns false if it is not for this command.
    fn note_output(&mut self, head: &Head<'_>, line: &[u8]) -> bool {
        match head.kind() {
            Kind::Answer => self.traffic.note_answer(head, line, &mut self.instance),
            // Written before this command came.
            Kind::Request if !self.is_settled => {
                let answer = answer_unused(head);
                self.to_server.extend_from_slice(answer.as_bytes());
                false
            }
            Kind::Request => {
                self.traffic.note_question(head);
                true
            }
            Kind::Notification => self.is_settled,
        }
    }
}
