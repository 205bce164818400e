//! Clients: the memory of a server about one, for one request or for many.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use switchboard_wire::{Raw, Version};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::channel::{Channel, Entry, Role};
use super::shared::{Shared, Ways};
use crate::chaos::Act;
use crate::service::{Announcement, Connection, Incoming, Sink, Way};

/// Capacity of the queue into a channel.
const WAITING_LINES: usize = 64;

/// Number of streams of a session that are kept for resuming.
const KEPT_CHANNELS: usize = 64;

/// One client: a session, or a self-contained request.
///
/// Dropping it stops everything that it has started.
pub(super) struct Session {
    connection: tokio::sync::Mutex<Connection>,
    /// Messages outside of requests.
    pub(super) general: Arc<Channel>,
    general_sink: Sink,
    channels: Mutex<Channels>,
    tasks: Mutex<JoinSet<()>>,
    calls: AtomicU64,
}

#[derive(Default)]
struct Channels {
    last: u64,
    kept: VecDeque<Arc<Channel>>,
}

/// A request that is to be answered.
pub(super) struct IncomingRequest<'a> {
    pub(super) text: &'a str,
    pub(super) incoming: Incoming,
    /// Messages that belong to the request go with its answer; otherwise to the general stream.
    pub(super) together: bool,
    /// The channel for messages that faults send on their own.
    pub(super) aside: Option<Arc<Channel>>,
}

impl Session {
    /// Creates a session: messages outside of requests are kept for it.
    pub(super) fn new(shared: &Arc<Shared>) -> Arc<Self> {
        let (session, lines) = Self::create(shared, None);
        let ways = Ways {
            channel: Arc::clone(&session.general),
            aside: None,
        };
        session.pump(shared, ways, lines, None);
        session.listen(shared);
        session
    }

    /// Creates a client that is forgotten after its request.
    pub(super) fn brief(shared: &Arc<Shared>, agreed: Option<Version>) -> Arc<Self> {
        Self::create(shared, agreed).0
    }

    fn create(
        shared: &Arc<Shared>,
        agreed: Option<Version>,
    ) -> (Arc<Self>, mpsc::Receiver<String>) {
        let (sender, lines) = mpsc::channel(WAITING_LINES);
        let sink = Sink::new(sender);
        let service = Arc::clone(&shared.service);
        let connection = match agreed {
            Some(version) => Connection::with_version(service, sink.clone(), version),
            None => Connection::new(service, sink.clone()),
        };
        let general = Channel::new(0);
        let session = Arc::new(Self {
            connection: tokio::sync::Mutex::new(connection),
            general,
            general_sink: sink,
            channels: Mutex::default(),
            tasks: Mutex::new(JoinSet::new()),
            calls: AtomicU64::new(0),
        });
        (session, lines)
    }

    /// The version that the handshake negotiated.
    pub(super) async fn version(&self) -> Option<Version> {
        self.connection.lock().await.negotiated()
    }

    /// Counts a call; returns the number of earlier ones.
    pub(super) fn count(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// Takes a message that has no answer, or none on a channel of its own.
    pub(super) async fn hear(&self, shared: &Arc<Shared>, text: &str, incoming: Incoming) {
        let heard = shared.hear(text, incoming);
        if let Some(incoming) = heard.incoming {
            self.connection.lock().await.receive(incoming).await;
        }
        self.act(shared, &self.general, heard.acts);
    }

    /// Performs the acts that faults take on their own.
    fn act(&self, shared: &Arc<Shared>, channel: &Arc<Channel>, acts: Vec<Act>) {
        for act in acts {
            let (shared, channel) = (Arc::clone(shared), Arc::clone(channel));
            self.spawn(async move { shared.act(&channel, act).await });
        }
    }

    /// Takes a request; its answer comes on the returned channel.
    pub(super) async fn ask(
        &self,
        shared: &Arc<Shared>,
        asked: IncomingRequest<'_>,
    ) -> Arc<Channel> {
        let (sender, mut lines) = mpsc::channel(WAITING_LINES);
        let answers = Sink::new(sender);
        let related = if asked.together {
            answers.clone()
        } else {
            self.general_sink.clone()
        };
        let channel = self.open();
        // The faults hear the request before the server does, and may change or withhold it.
        let way = Way { answers, related };
        let heard = shared.hear(asked.text, asked.incoming);
        self.act(shared, &channel, heard.acts);
        let Some(incoming) = heard.incoming else {
            // The server did not receive it, so it is never answered.
            return channel;
        };
        // Dropping `way` leaves only running operations with a sender: `is_closed` tells if there are
        // any.
        let mut connection = self.connection.lock().await;
        connection.receive_on(incoming, &way).await;
        drop((connection, way));
        // Fast path: most answers are ready by now, and need no task.
        if !shared.is_faulty() {
            let mut entries = Vec::new();
            while let Ok(line) = lines.try_recv() {
                let role = role(&line);
                entries.push(Entry::line(line, role));
            }
            let all = lines.is_closed();
            channel.push(entries).await;
            // Most requests are answered by now.
            if all {
                channel.end();
                return channel;
            }
        }
        let ways = Ways {
            channel: Arc::clone(&channel),
            aside: asked.aside,
        };
        self.pump(shared, ways, lines, heard.request);
        channel
    }

    /// Opens a channel for a request.
    pub(super) fn open(&self) -> Arc<Channel> {
        let mut channels = lock(&self.channels);
        channels.last += 1;
        let channel = Channel::new(channels.last);
        if channels.kept.len() >= KEPT_CHANNELS {
            channels.kept.pop_front();
        }
        channels.kept.push_back(Arc::clone(&channel));
        channel
    }

    pub(super) fn channel(&self, number: u64) -> Option<Arc<Channel>> {
        if number == 0 {
            return Some(Arc::clone(&self.general));
        }
        let channels = lock(&self.channels);
        let mut kept = channels.kept.iter();
        kept.find(|channel| channel.number == number).cloned()
    }

    /// Passes on changes that were made through other connections.
    pub(super) fn listen(self: &Arc<Self>, shared: &Arc<Shared>) {
        let mut announcements = shared.service.announcements();
        let session = Arc::downgrade(self);
        self.spawn(async move {
            loop {
                let Announcement { from, change } = match announcements.recv().await {
                    Ok(announcement) => announcement,
                    // A session that lags behind misses the oldest changes.
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return,
                };
                let Some(session) = session.upgrade() else {
                    return;
                };
                // The connection that made a change has announced it to its own client already.
                let mut connection = session.connection.lock().await;
                if connection.number != from {
                    connection.announce(&change).await;
                }
            }
        });
    }

    /// Moves lines of the server into a channel, until there are no more.
    fn pump(
        &self,
        shared: &Arc<Shared>,
        ways: Ways,
        mut lines: mpsc::Receiver<String>,
        mut request: Option<crate::chaos::ClientRequest>,
    ) {
        let shared = Arc::clone(shared);
        self.spawn(async move {
            let mut silenced = false;
            while let Some(line) = lines.recv().await {
                let role = role(&line);
                let answered = match role {
                    Role::Answer(_) => request.take(),
                    Role::Other => None,
                };
                silenced |= shared.say(&ways, line, role, answered).await;
            }
            // A request without an answer keeps its stream open, as long as the client likes.
            if !silenced {
                ways.channel.end();
            }
        });
    }

    /// Runs some work for as long as the session lives.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(work);
    }

    /// Stops everything, even while others hold the session.
    pub(super) fn close(&self) {
        lock(&self.tasks).abort_all();
        self.general.end();
        for channel in lock(&self.channels).kept.drain(..) {
            channel.end();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Nothing under these locks can stop halfway, so a poisoned lock is fine.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Classifies a line of the server.
pub(super) fn role(line: &str) -> Role {
    if line.starts_with(r#"{"jsonrpc":"2.0","method""#) {
        return Role::Other;
    }
    let Ok(message) = Raw::parse(line) else {
        return Role::Other;
    };
    if message.is_object() && message.member("method").is_some() {
        return Role::Other;
    }
    let error = message
        .member("error")
        .and_then(|error| error.member("code"));
    Role::Answer(error.and_then(|code| code.decode().ok()))
}
