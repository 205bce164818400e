//! The use of a server by one command: everything passes as it is, in both directions.
//!
//! One command at a time uses a server, so that its questions, progress, logs and changes reach the right one.
//! The daemon reads along: it repeats the answers of the handshake, gives the command another server if this one
//! cannot take it, and knows at the end whether the next command can have the server. It can if nothing of this
//! command is left in it.

use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, Bytes, BytesMut};
use switchboard_process::Exit;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::head::{Head, Kind};
use super::instance::{Instance, answer_unused};
use super::lines::{LineCutter, Piece};
use super::past::Fit;
use super::pool::Pool;
use crate::frame::{self, Frame, Frames};
use crate::message::{self, Event, ServerStart, Started};

/// Bytes that may wait for one side before the other one is read on.
const MOST_WAITING: usize = 256 << 10;

/// Time for what is left of the output of a server that has ended: another process may hold it open.
const LAST_OUTPUT: Duration = Duration::from_millis(500);

/// Time for a server to take the last lines of a command.
const LAST_INPUT: Duration = Duration::from_secs(1);

/// Requests that leave nothing behind in the server, even if they were not answered.
const READING: &[&str] = &[
    "completion/complete",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "subscriptions/listen",
    "tools/list",
];

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
        is_unclear: false,
        has_level: false,
        has_subscriptions: false,
        is_output_over: false,
        is_released: false,
        is_client_gone: false,
        handshakes: BTreeMap::new(),
        open: BTreeMap::new(),
        questions: BTreeSet::new(),
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
struct Lease<'p> {
    pool: &'p Arc<Pool>,
    instance: Instance,
    frames: Frames<OwnedReadHalf>,
    socket: OwnedWriteHalf,
    to_client: BytesMut,
    to_server: BytesMut,
    client_lines: LineCutter,
    /// The command has got through the handshake, or the server is new: everything passes.
    is_settled: bool,
    /// The answer to `initialize` was repeated.
    is_replayed: bool,
    /// The server has got something of this command.
    has_passed: bool,
    /// Something passed that the daemon does not understand.
    is_unclear: bool,
    /// The command has set the level of the server's log messages.
    has_level: bool,
    /// The command has subscribed to a resource.
    has_subscriptions: bool,
    is_output_over: bool,
    /// The command has closed its side.
    is_released: bool,
    /// The command cannot be written to any more.
    is_client_gone: bool,
    /// Requests of the handshake that wait for their answers: method and parameters.
    handshakes: BTreeMap<String, (String, String)>,
    /// Requests of the command that wait for their answers, with their methods.
    open: BTreeMap<String, String>,
    /// Requests of the server that wait for their answers.
    questions: BTreeSet<String>,
}

/// What has happened.
enum Step {
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
enum Ending {
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
        while !self.open.is_empty() || !self.to_client.is_empty() {
            let step = self.step().await;
            if let Some(ending) = self.take_step(step).await {
                return ending;
            }
        }
        Ending::Dropped
    }

    /// Waits for the next thing that happens. Cancel safe.
    async fn step(&mut self) -> Step {
        let Self {
            instance,
            frames,
            socket,
            to_client,
            to_server,
            is_output_over,
            is_client_gone,
            is_released,
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
        let may_give = to_client.len() < MOST_WAITING || *is_client_gone;
        let has_input = !to_server.is_empty() && input.is_some();
        let writing = async {
            match input {
                Some(input) => input.write(to_server).await,
                None => pending().await,
            }
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
            wrote = socket.write(to_client), if !to_client.is_empty() && !*is_client_gone => {
                Step::ToClient(wrote)
            }
            piece = output.next(), if may_give && !*is_output_over => Step::FromServer(piece),
            step = receiving, if !*is_released => step,
            () = stderr.has_lines(), if may_give => Step::Stderr,
            exit = process.ended() => Step::Ended(exit),
        }
    }

    async fn take_step(&mut self, step: Step) -> Option<Ending> {
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
                self.is_unclear = true;
                return Some(Ending::Released);
            }
            Step::FromClient(Ok(None)) => return Some(Ending::Released),
            Step::FromClient(Err(_)) | Step::ClientGone => {
                self.is_unclear = true;
                return Some(Ending::Released);
            }
            Step::Stderr => self.tell_stderr(),
            Step::Ended(exit) => return Some(Ending::Ended(exit)),
        }
        None
    }

    fn tell(&mut self, event: &Event) {
        if !self.is_client_gone {
            // An event is short: lines of stderr are cut.
            message::put(&mut self.to_client, event).ok();
        }
    }

    fn tell_stderr(&mut self) {
        for (text, bytes) in self.instance.stderr.take() {
            self.tell(&Event::Stderr { text, bytes });
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
                Piece::Part(part) => {
                    self.is_unclear = true;
                    self.pass(&part);
                }
            }
        }
        None
    }

    /// Takes a line of the command. Returns false if no server can be had for it.
    async fn take_line(&mut self, line: &Bytes) -> bool {
        let Some(head) = Head::read(line) else {
            self.is_unclear = true;
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
        self.note_line(&head);
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

    fn pass(&mut self, bytes: &[u8]) {
        self.has_passed = true;
        self.to_server.extend_from_slice(bytes);
    }

    /// Notes what a line of the command begins and ends.
    fn note_line(&mut self, head: &Head<'_>) {
        let method = head.method.as_deref().unwrap_or_default();
        match head.kind() {
            Kind::Request => {
                let id = head.id().to_owned();
                let next = head.number().map(|number| number.saturating_add(1));
                self.instance.next_id = self.instance.next_id.max(next.unwrap_or_default());
                self.has_level |= method == "logging/setLevel";
                self.has_subscriptions |= method == "resources/subscribe";
                if matches!(method, "initialize" | "server/discover") {
                    let params = head.params().to_owned();
                    let begun = (method.to_owned(), params);
                    self.handshakes.insert(id, begun);
                } else {
                    self.open.insert(id, method.to_owned());
                }
            }
            Kind::Notification if method == "notifications/initialized" => {
                self.instance.past.is_ready = true;
            }
            Kind::Notification => {}
            Kind::Answer => drop(self.questions.remove(head.id())),
        }
    }

    /// Takes output of the server.
    fn take_output(&mut self, piece: &Piece) {
        let Piece::Line(line) = piece else {
            self.is_unclear = true;
            return frame::put_bytes(&mut self.to_client, piece.bytes());
        };
        // What is not a message passes: the command says what it makes of it.
        if let Some(head) = Head::read(line)
            && !self.note_output(&head, line)
        {
            return;
        }
        if !self.is_client_gone {
            frame::put_bytes(&mut self.to_client, line);
        }
    }

    /// Notes what a line of the server begins and ends. Returns false if it is not for this command.
    fn note_output(&mut self, head: &Head<'_>, line: &[u8]) -> bool {
        match head.kind() {
            Kind::Answer => {
                let id = head.id();
                if let Some((method, params)) = self.handshakes.remove(id) {
                    self.instance.past.record(&method, params, head, line);
                    return true;
                }
                // An answer that an earlier command did not wait for.
                self.open.remove(id).is_some() || !self.instance.past.stale.remove(id)
            }
            // Written before this command came.
            Kind::Request if !self.is_settled => {
                let answer = answer_unused(head);
                self.to_server.extend_from_slice(answer.as_bytes());
                false
            }
            Kind::Request => {
                self.questions.insert(head.id().to_owned());
                true
            }
            Kind::Notification => self.is_settled,
        }
    }

    /// Returns true if the next command can have the server.
    fn is_clean(&self) -> bool {
        let is_reading = |method: &String| READING.contains(&method.as_str());
        // The next command of a description that sets a level sets its own.
        let has_foreign_level = self.has_level && !self.instance.start.sets_level;
        let is_as_before = !self.has_subscriptions && !has_foreign_level;
        let is_between = self.client_lines.is_between() && self.instance.output.is_between();
        let is_begun = self.instance.past.has_begun() && self.handshakes.is_empty();
        !self.is_unclear
            && is_as_before
            && is_between
            && is_begun
            && self.instance.input.is_some()
            && self.questions.is_empty()
            && self.open.values().all(is_reading)
    }

    /// The command is done with the server.
    async fn release(mut self) {
        self.is_released = true;
        // What it has sent still goes out, such as the cancellation of its last request.
        let until = Instant::now() + LAST_INPUT;
        if !self.client_lines.is_between() {
            self.is_unclear = true;
            let rest = self.client_lines.take_rest();
            self.pass(rest.bytes());
        }
        while !self.to_server.is_empty() && self.instance.input.is_some() {
            let step = tokio::select! {
                step = self.step() => step,
                () = sleep_until(until) => break,
            };
            if let Some(Ending::Ended(exit)) = self.take_step(step).await {
                return self.report_end(exit).await;
            }
        }
        if self.to_server.is_empty() && self.is_clean() && self.cancel_rest().await {
            self.tell(&Event::Released);
            // The server first: the next command may come as soon as this one knows.
            let Self {
                pool,
                instance,
                mut socket,
                to_client,
                ..
            } = self;
            pool.park(instance);
            drop(timeout_at(until, socket.write_all(&to_client)).await);
            return;
        }
        self.end_server().await;
    }

    /// Cancels what the server still works on for this command.
    async fn cancel_rest(&mut self) -> bool {
        let open = std::mem::take(&mut self.open);
        for (id, _) in open {
            let line = format!(
                "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}\n"
            );
            if !self.instance.send(&line).await {
                return false;
            }
            self.instance.past.stale.insert(id);
        }
        true
    }

    /// Ends the server as the command would: its stdin is closed first.
    async fn end_server(mut self) {
        self.instance.input = None;
        self.to_server.clear();
        if self.instance.past.has_begun() {
            self.instance.process.end();
        } else {
            self.instance.process.give_up();
        }
        loop {
            let step = self.step().await;
            if let Some(Ending::Ended(exit)) = self.take_step(step).await {
                return self.report_end(exit).await;
            }
        }
    }

    /// Tells the command that its server has ended, after what it has written last.
    async fn report_end(mut self, exit: Exit) {
        let until = Instant::now() + LAST_OUTPUT;
        while !self.is_output_over {
            match timeout_at(until, self.instance.output.next()).await {
                Ok(Ok(Some(piece))) => self.take_output(&piece),
                _ => break,
            }
        }
        self.tell_stderr();
        let cleanup = self.instance.process.cleanup();
        self.tell(&Event::Ended {
            exit: exit.into(),
            cleanup: cleanup.map(Into::into),
        });
        let until = Instant::now() + self.pool.options.drain;
        let written = self.socket.write_all(&self.to_client);
        drop(timeout_at(until, written).await);
    }
}
