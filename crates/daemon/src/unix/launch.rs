//! Servers of the daemon in place of own ones.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use switchboard_process::{Exit, Launch, Launching, Process, RemoteProcess, Running, Start};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{sleep, timeout};

use super::{Contact, programs};
use crate::frame::{self, Frame, Frames};
use crate::message::{self, Event, Request, ServerStart, Started};
use crate::{DaemonError, Notice, Place, Unused};

/// Capacity between the connection and the session.
const PIPE_BYTES: usize = 64 << 10;

/// Time for the daemon to take a server back, which includes that it ends one that cannot be used again.
const TO_RELEASE: Duration = Duration::from_secs(30);

/// Time for what a session has written last.
const LAST_INPUT: Duration = Duration::from_secs(1);

/// Time for the daemon to start a server's program; what that does then is not waited for.
const TO_START: Duration = Duration::from_secs(10);

/// Starts servers in the daemon of a place, if one runs.
pub struct DaemonLauncher {
    place: Place,
    context: String,
    sets_level: bool,
    /// Called once, if the daemon cannot be used although one seems to run.
    notice: Mutex<Option<Notice>>,
}

impl fmt::Debug for DaemonLauncher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DaemonLauncher")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl DaemonLauncher {
    /// Uses the daemon of a place. Servers of another `context` are other servers. `notice` is called at most once,
    /// with the reason that a daemon which runs is not used.
    pub fn new(place: Place, context: String, notice: Notice) -> Self {
        Self {
            place,
            context,
            sets_level: false,
            notice: Mutex::new(Some(notice)),
        }
    }

    /// For a command that sets the level of log messages of its servers: these are other servers than those of
    /// commands that do not.
    #[must_use]
    pub fn sets_level(mut self, sets_level: bool) -> Self {
        self.sets_level = sets_level;
        self
    }

    fn tell(&self, why: &Unused) {
        let notice = self
            .notice
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(notice) = notice {
            notice(why);
        }
    }

    async fn start(&self, start: &Start) -> Option<Running> {
        let wanted = self.describe(start)?;
        match timeout(TO_START, self.lease(&wanted)).await {
            Ok(Ok(Some((contact, pid, first_id)))) => Some(run(contact, pid, first_id, start)),
            Ok(Ok(None)) => None,
            Ok(Err(why)) => {
                self.tell(&why);
                None
            }
            Err(_) => {
                self.tell(&Unused::Failed(DaemonError::Silent));
                None
            }
        }
    }

    /// The description of a server; `None` if it cannot be sent.
    fn describe(&self, start: &Start) -> Option<ServerStart> {
        let variables = start.variables.iter();
        let variables = variables.map(|(name, value)| (name.clone(), value.expose().clone()));
        // Without a folder of its own the server runs in that of the command.
        let folder = match &start.cwd {
            Some(folder) => std::path::absolute(folder).ok()?,
            None => std::env::current_dir().ok()?,
        };
        let programs = programs::describe(&start.program, &start.args, &folder);
        let record = start.record.as_ref();
        Some(ServerStart {
            name: record.map(|it| it.server.to_string()).unwrap_or_default(),
            command: record.map(|it| it.command.clone()).unwrap_or_default(),
            program: start.program.clone(),
            args: start.args.clone(),
            variables: variables.collect(),
            folder,
            context: format!("{}\n\n{programs}", self.context),
            sets_level: self.sets_level,
        })
    }

    async fn lease(&self, wanted: &ServerStart) -> Result<Option<(Contact, u32, i64)>, Unused> {
        let contact = Contact::open(&self.place).await;
        let Some(mut contact) = contact.map_err(Unused::Failed)? else {
            return Ok(None);
        };
        if !contact.is_same_version() {
            return Err(Unused::Version(contact.version().to_owned()));
        }
        let request = Request::Start(wanted.clone());
        let started = contact.ask(&request).await;
        match started.map_err(Unused::Failed)? {
            Started::Yes { pid, first_id, .. } => Ok(Some((contact, pid, first_id))),
            Started::No => Ok(None),
        }
    }
}

impl Launch for DaemonLauncher {
    fn launch<'a>(&'a self, start: &'a Start) -> Launching<'a> {
        Box::pin(self.start(start))
    }
}

/// Connects the session to a server of the daemon.
fn run(contact: Contact, pid: u32, first_id: i64, start: &Start) -> Running {
    let (process, remote) = Process::remote(pid, start.network.clone(), &start.limits);
    let (reader, output) = duplex(PIPE_BYTES);
    let (writer, input) = duplex(PIPE_BYTES);
    let (frames, socket) = contact.into_parts();
    let remote = Arc::new(remote);
    drop(tokio::spawn(send_input(socket, input, Arc::clone(&remote))));
    drop(tokio::spawn(receive(frames, output, remote)));
    Running {
        process,
        reader: Box::new(reader),
        writer: Box::new(writer),
        first_id,
    }
}

/// Sends what the session writes, until it has ended; then gives the server back.
async fn send_input(
    mut socket: OwnedWriteHalf,
    mut input: DuplexStream,
    remote: Arc<RemoteProcess>,
) {
    let mut bytes = BytesMut::new();
    let mut frames = BytesMut::new();
    let mut is_released = false;
    loop {
        bytes.reserve(PIPE_BYTES);
        let read = tokio::select! {
            // What was written before the end is sent before it.
            biased;
            read = input.read_buf(&mut bytes) => read,
            () = remote.released(), if !is_released => {
                is_released = true;
                // The session closes its side too, and nothing is written after that.
                continue;
            }
        };
        if !matches!(read, Ok(1..)) {
            break;
        }
        frames.clear();
        frame::put_bytes(&mut frames, &bytes);
        bytes.clear();
        // A server that does not read must not keep the session from ending.
        let is_sent = tokio::select! {
            sent = socket.write_all(&frames) => sent.is_ok(),
            () = overdue(&remote) => false,
        };
        if !is_sent {
            break;
        }
    }
    socket.shutdown().await.ok();
}

/// Waits until the session has ended, and what it has written last should have been sent.
async fn overdue(remote: &RemoteProcess) {
    remote.released().await;
    sleep(LAST_INPUT).await;
}

/// Takes what the daemon sends, until it has taken the server back or the server has ended.
async fn receive(
    mut frames: Frames<OwnedReadHalf>,
    output: DuplexStream,
    remote: Arc<RemoteProcess>,
) {
    let mut output = Some(output);
    let receiving = async {
        loop {
            match frames.next().await {
                Ok(Some(Frame::Bytes(bytes))) => pass(&mut output, &bytes).await,
                Ok(Some(Frame::Message(text))) => {
                    if take_event(&text, &mut output, &remote) {
                        return;
                    }
                }
                _ => {
                    let why = "switchboard: the daemon that ran this server has ended";
                    remote.add_stderr(why, why.len());
                    remote.set_ended(Exit::Unknown, None);
                    return;
                }
            }
        }
    };
    let too_late = async {
        remote.released().await;
        sleep(TO_RELEASE).await;
    };
    tokio::select! {
        () = receiving => {}
        () = too_late => remote.set_ended(Exit::Unknown, None),
    }
}

async fn pass(output: &mut Option<DuplexStream>, bytes: &Bytes) {
    if let Some(to) = output
        // The session has closed its side: the rest is read for what follows it.
        && to.write_all(bytes).await.is_err()
    {
        *output = None;
    }
}

/// Takes an event. Returns true if it is the last one.
fn take_event(text: &[u8], output: &mut Option<DuplexStream>, remote: &RemoteProcess) -> bool {
    match message::parse::<Event>(text) {
        Ok(Event::Stderr { text, bytes }) => remote.add_stderr(&text, bytes),
        Ok(Event::OpenStderr { text }) => remote.set_open_stderr(&text),
        Ok(Event::OutputEnd) => *output = None,
        Ok(Event::Ended { exit, cleanup }) => {
            remote.set_ended(exit.into(), cleanup.map(Into::into));
            return true;
        }
        Ok(Event::Released) => {
            remote.set_ended(Exit::Code(0), None);
            return true;
        }
        Err(_) => {
            remote.set_ended(Exit::Unknown, None);
            return true;
        }
    }
    false
}
