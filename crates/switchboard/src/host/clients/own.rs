//! A connection of one client to one server, from its first use to its end.

use std::future::pending;
#[cfg(feature = "auth")]
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use switchboard_client::ServerError;
use switchboard_wire::{LogLevel, LoggingMessage, Notice as _};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{ClientCore, ClientSink, follow_level};
use crate::events::{Event, EventSender};
use crate::host::HostLimits;
use crate::host::logs::Listener;
use crate::host::member::{Member, Ready};
use crate::host::registry::Registry;
use crate::host::watching::{Topics, following};
use crate::server::{Observe, Server};
use crate::session::{Announcement, CallError, NoticeSink, Session};
use crate::spec::ServerName;

/// A connection of one client to one server.
///
/// `uses` counts the leases; without one the connection is idle. A task of the host supervises it: it
/// keeps subscriptions and the log level, and closes the connection for good when the first of these
/// ends: the client, the server's membership, the host, the time that it may be idle, or [`Self::end`].
pub(in crate::host) struct OwnConnection {
    member: Arc<Member>,
    server: Server,
    pub(in crate::host) topics: Arc<Topics>,
    uses: Mutex<Uses>,
    /// Cancelled when it is to be closed for good.
    end: CancellationToken,
    /// Cancelled when the server has ended.
    ended: CancellationToken,
}

struct Uses {
    count: usize,
    /// The end of the last use.
    last: Instant,
}

/// The parts that a connection is made from.
pub(super) struct NewConnection<'a> {
    pub(super) client: &'a Arc<ClientCore>,
    pub(super) registry: &'a Registry,
    pub(super) member: &'a Arc<Member>,
    pub(super) ready: &'a Ready,
    pub(super) permit: OwnedSemaphorePermit,
}

/// One use of a connection.
pub(in crate::host) struct OwnLease(Arc<OwnConnection>);

impl OwnLease {
    pub(in crate::host) fn server(&self) -> &Server {
        &self.0.server
    }

    pub(in crate::host) fn topics(&self) -> &Arc<Topics> {
        &self.0.topics
    }

    /// Waits until the connection is to be closed for good.
    pub(in crate::host) async fn closing(&self) {
        self.0.end.cancelled().await;
    }
}

impl Drop for OwnLease {
    fn drop(&mut self) {
        let mut uses = self.0.uses();
        uses.count = uses.count.saturating_sub(1);
        uses.last = Instant::now();
    }
}

impl OwnConnection {
    /// Prepares a connection, which is opened when it is used, and has it supervised.
    pub(super) fn new(parts: NewConnection<'_>) -> Arc<Self> {
        let NewConnection {
            client,
            registry,
            member,
            ready,
            permit,
        } = parts;
        let (topics, end) = (Arc::<Topics>::default(), client.closed.child_token());
        let observer = OwnObserver {
            #[cfg(feature = "auth")]
            member: Arc::downgrade(member),
            ears: OwnEars {
                topics: Arc::clone(&topics),
                listener: registry.listener(member, &ready.secrets),
                sink: client.options.log_sink.clone(),
            },
        };
        let shared = ready.server.live();
        let server = ready.server.sibling(
            |options| {
                options.respond = Arc::clone(&client.options.respond);
                if let Some(known) = &client.options.client {
                    options.client = known.clone();
                }
                // The era that the shared connection found saves the probe.
                if let Some(shared) = shared {
                    options.era_hint = Some(shared.negotiated().era_hint());
                }
            },
            Box::new(observer),
            end.clone(),
        );
        let this = Arc::new(Self {
            member: Arc::clone(member),
            server,
            topics,
            uses: Mutex::new(Uses {
                count: 0,
                last: Instant::now(),
            }),
            end,
            ended: CancellationToken::new(),
        });
        member.sharing.add(&this);
        let supervision = Supervision {
            connection: Arc::clone(&this),
            client: Arc::downgrade(client),
            limits: registry.options().host_limits.clone(),
            level: client.level.subscribe(),
            idle: client.options.limits.idle,
            events: registry.events().clone(),
            closing: registry.closing().clone(),
            permit,
        };
        // The host waits for the task at its end, and the client at its own.
        registry.spawn(client.tasks.track_future(supervision.run()));
        this
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a use. Called under the lock of the client's connections, like the end of an idle one.
    pub(super) fn lease(this: &Arc<Self>) -> OwnLease {
        this.uses().count += 1;
        OwnLease(Arc::clone(this))
    }

    pub(super) fn server(&self) -> &Server {
        &self.server
    }

    pub(super) fn name(&self) -> &ServerName {
        &self.member.name
    }

    /// Returns true if it is one to that server and not about to be closed.
    pub(super) fn is_of(&self, member: &Arc<Member>) -> bool {
        Arc::ptr_eq(&self.member, member) && !self.end.is_cancelled()
    }

    /// The end of its last use; `None` while it is used.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        let uses = self.uses();
        (uses.count == 0).then_some(uses.last)
    }

    /// Closes it for good, without waiting.
    pub(super) fn end(&self) {
        self.end.cancel();
    }

    /// Waits until its server has ended.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }
}

/// Supervises a connection until its end.
struct Supervision {
    connection: Arc<OwnConnection>,
    client: Weak<ClientCore>,
    limits: HostLimits,
    /// The level of its client.
    level: watch::Receiver<Option<LogLevel>>,
    idle: Duration,
    events: EventSender,
    /// Cancelled when the host closes.
    closing: CancellationToken,
    /// Held until the server has ended.
    permit: OwnedSemaphorePermit,
}

impl Supervision {
    async fn run(self) {
        let connection = &self.connection;
        tokio::select! {
            () = connection.end.cancelled() => {}
            () = connection.member.gone.cancelled() => {}
            () = self.closing.cancelled() => {}
            () = self.until_idle() => {}
            () = Box::pin(self.follow()) => {}
        }
        // Before the client forgets it: watchers and callers must not use it any more.
        connection.end();
        if let Some(client) = self.client.upgrade() {
            client.forget(connection, &mut client.own());
        }
        connection.server.retire().await;
        drop(self.permit);
        connection.ended.cancel();
    }

    /// Returns once it was not used for the time that it may be idle, and takes it from its client.
    async fn until_idle(&self) {
        loop {
            let until = {
                let Some(client) = self.client.upgrade() else {
                    return;
                };
                let mut own = client.own();
                let since = self.connection.idle_since();
                let until = since.unwrap_or_else(Instant::now).checked_add(self.idle);
                if since.is_some() && until.is_some_and(|until| until <= Instant::now()) {
                    // Under the lock: no use begins from here on.
                    client.forget(&self.connection, &mut own);
                    return;
                }
                until
            };
            match until {
                Some(until) => sleep_until(until).await,
                // Without a limit.
                None => pending().await,
            }
        }
    }

    /// Keeps subscriptions and the log level on every connection that is made. Never returns.
    async fn follow(&self) {
        let connection = &self.connection;
        let (server, topics) = (&connection.server, &connection.topics);
        let mut state = server.state();
        loop {
            // Before the look at the session: a connection in between is seen in the next round.
            state.borrow_and_update();
            match server.live() {
                Some(session) => {
                    let lost = tokio::select! {
                        lost = session.closed() => lost,
                        () = following(topics, &session, &self.limits) => return,
                        () = self.follow_level(&session) => return,
                    };
                    topics.record_loss(Some(&lost));
                }
                None => {
                    if let Some(lost) = server.last_close_reason() {
                        topics.record_loss(Some(&lost));
                    }
                }
            }
            if state.changed().await.is_err() {
                return;
            }
        }
    }

    async fn follow_level(&self, session: &Session) {
        let report = |error: &CallError| self.report(error);
        follow_level(session, self.level.clone(), || None, report).await;
    }

    fn report(&self, error: &CallError) {
        let member = &self.connection.member;
        self.events.emit(|| Event::Notice {
            server: member.name.clone(),
            text: member.redact(&format!("the log level could not be set: {error}")),
        });
    }
}

/// Observes the connections that are made. The host reports none of them: its state is that of the shared
/// connection.
struct OwnObserver {
    #[cfg(feature = "auth")]
    member: Weak<Member>,
    ears: OwnEars,
}

impl Observe for OwnObserver {
    fn connecting(&self, _again: bool) {}

    fn connected(&self, session: &Session, _again: bool, _took: Duration) {
        session.set_notice_sink(Box::new(self.ears.clone()));
    }

    fn failed(&self, _error: &ServerError, _again: bool, _took: Duration) {}

    #[cfg(feature = "auth")]
    fn has_new_login(&self) -> Pin<Box<dyn Future<Output = Option<bool>> + Send + '_>> {
        Box::pin(async move {
            let member = self.member.upgrade()?;
            member.has_new_login().await
        })
    }
}

/// Takes the notifications of a connection of a client.
#[derive(Clone)]
struct OwnEars {
    topics: Arc<Topics>,
    listener: Listener,
    sink: Option<Arc<dyn ClientSink>>,
}

impl NoticeSink for OwnEars {
    fn take(&self, announcement: Announcement) -> Option<Announcement> {
        let is_log = announcement.method == LoggingMessage::NAME;
        let relayed = (is_log.then_some(()))
            .and(self.sink.as_ref())
            .zip(announcement.params.as_ref())
            .map(|(sink, params)| sink.log(&self.listener.server, params));
        self.topics.hear(&announcement);
        // Nothing is kept: what changes in lists is noticed on the shared connection.
        self.listener.hear(announcement, relayed.is_some());
        None
    }

    fn take_relayed(&self, announcement: Announcement) -> Option<Announcement> {
        self.listener.hear(announcement, true);
        None
    }
}
