//! Connections of single clients, for a program that offers a host to many of them.
//!
//! Lists, policy, pins, events and the audit are those of the host; only the connection that a use goes
//! over depends on the client. `sharing` has the rule for each server: shared by all
//! clients, or one connection for each. A connection of a client (`own`) is made from the
//! same admitted server, with the client's own handler of questions, when it is first used. It ends when
//! it is idle, with its client, its server or the host. `levels` has the log level that
//! clients want together.

mod levels;
mod own;
mod sharing;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_wire::{Implementation, LogLevel, Raw};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(super) use levels::{ClientLevels, follow_level};
pub(super) use own::{OwnConnection, OwnLease};
pub use sharing::Sharing;
pub(super) use sharing::{SharedQuestions, SharingState};

use own::NewConnection;
use sharing::Rule;

use super::Host;
use super::member::{Member, Ready};
use super::registry::Registry;
use super::tool_call::ToolCall;
use super::view::View;
use crate::error::{Error, HostError};
use crate::server::Server;
use crate::session::{CallOptions, Callbacks, RefuseAll, Respond};
use crate::spec::ServerName;

/// Takes the log messages of a client's own connections. Called by the reading task, so it must not
/// block.
pub trait ClientSink: Send + Sync {
    /// Takes the parameters of a log message, as the server wrote them.
    fn log(&self, server: &ServerName, params: &Raw);
}

/// Limits of the connections of one client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimits {
    /// Connections of its own at the same time. The one that was not used for the longest time is closed
    /// for another.
    pub connections: usize,
    /// Time without a use after which a connection is closed.
    pub idle: Duration,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            connections: 32,
            idle: Duration::from_secs(300),
        }
    }
}

/// Options of the connections of one client.
#[derive(Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// Answers the questions of servers.
    pub respond: Arc<dyn Respond>,
    /// The name and version that servers are told; those of the host if `None`.
    pub client: Option<Implementation>,
    /// Takes the log messages of the client's own connections.
    pub log_sink: Option<Arc<dyn ClientSink>>,
    /// The limits of its connections.
    pub limits: ClientLimits,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            respond: Arc::new(RefuseAll),
            client: None,
            log_sink: None,
            limits: ClientLimits::default(),
        }
    }
}

/// The connections of one client. Dropping it ends those of its own.
pub struct ClientConnections(Arc<ClientCore>);

/// The connections of a client's own, by server.
type OwnConnections = BTreeMap<ServerName, Arc<OwnConnection>>;

/// The state of a client, which the views that use it share.
pub(super) struct ClientCore {
    options: ClientOptions,
    own: Mutex<OwnConnections>,
    level: watch::Sender<Option<LogLevel>>,
    levels: ClientLevels,
    /// One permit for each connection of any client.
    permits: Arc<Semaphore>,
    most_of_all: usize,
    /// Cancelled when the client is gone.
    closed: CancellationToken,
    /// The tasks of its connections.
    tasks: TaskTracker,
}

/// The connection that a use goes over. An own one is not idle until this is dropped.
pub(super) enum Lease<'r> {
    /// The one that the host has.
    Shared(&'r Server),
    /// One of the client's own.
    Own(OwnLease),
}

impl Lease<'_> {
    pub(super) fn server(&self) -> &Server {
        match self {
            Self::Shared(server) => server,
            Self::Own(own) => own.server(),
        }
    }
}

impl Host {
    /// Begins to make connections for a client. Nothing is opened before it is used.
    #[doc(hidden)]
    pub fn client_connections(&self, options: ClientOptions) -> ClientConnections {
        let registry = &self.0.registry;
        ClientConnections(Arc::new(ClientCore {
            options,
            own: Mutex::default(),
            level: watch::Sender::new(None),
            levels: registry.options().client_levels.clone(),
            permits: registry.client_permits(),
            most_of_all: registry.options().host_limits.client_connections,
            closed: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }))
    }

    /// Sets how clients share the connections to a server, from the next use on.
    ///
    /// # Errors
    /// Fails if there is no such server.
    #[doc(hidden)]
    pub fn set_sharing(&self, server: &str, sharing: Sharing) -> Result<(), Error> {
        self.0.registry.find(server)?.sharing.set(sharing);
        Ok(())
    }
}

impl ClientConnections {
    /// Sets the level from which on legacy servers log: those of the client's own connections, now and
    /// later, and on shared ones if no other client wants more. Never blocks.
    pub fn set_log_level(&self, level: LogLevel) {
        // Under the lock: one change after the other, and none after the end.
        let own = self.0.own();
        if !self.0.closed.is_cancelled() {
            let before = self.0.level.send_replace(Some(level));
            self.0.levels.change(before, Some(level));
        }
        drop(own);
    }

    /// Notifies the legacy servers of the client's own connections that its roots have changed.
    pub fn roots_changed(&self) {
        let own: Vec<_> = self.0.own().values().cloned().collect();
        let live = own.iter().filter_map(|own| own.server().live());
        live.for_each(|session| session.roots_changed());
    }

    /// The number of connections of the client's own.
    pub fn open(&self) -> usize {
        self.0.own().len()
    }

    /// Ends the client's own connections and waits until each server has ended. Later uses fail.
    pub async fn close(&self) {
        self.end();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    fn end(&self) {
        // Under the lock: no connection is made after it, and no level set.
        let own = self.0.own();
        self.0.closed.cancel();
        self.0.levels.change(self.0.level.send_replace(None), None);
        drop(own);
    }
}

impl Drop for ClientConnections {
    fn drop(&mut self) {
        self.end();
    }
}

impl fmt::Debug for ClientConnections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientConnections")
            .field("open", &self.open())
            .field("limits", &self.0.options.limits)
            .finish_non_exhaustive()
    }
}

impl View {
    /// Returns this view over the connections of a client.
    #[doc(hidden)]
    #[must_use]
    pub fn with_connections(&self, connections: &ClientConnections) -> View {
        View {
            connections: Some(Arc::clone(&connections.0)),
            ..self.clone()
        }
    }
}

impl ToolCall<'_> {
    /// Makes the call over the connections of a client.
    #[doc(hidden)]
    pub fn connections(mut self, connections: &ClientConnections) -> Self {
        self.connections = Some(Arc::clone(&connections.0));
        self
    }
}

impl ClientCore {
    fn own(&self) -> MutexGuard<'_, OwnConnections> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection for a use of an admitted server. If it is not known yet how clients share
    /// the server, it is connected to.
    ///
    /// # Errors
    /// Fails if the client is gone, has too many connections, or the server cannot be connected to.
    pub(super) async fn lease<'r>(
        self: &Arc<Self>,
        registry: &Registry,
        member: &Arc<Member>,
        ready: &'r Ready,
        options: &mut CallOptions,
    ) -> Result<Lease<'r>, Error> {
        if let Some(lease) = self.lease_at_once(registry, member, ready, options) {
            return lease;
        }
        let session = ready.server.session().await;
        let session = session.map_err(|error| member.with_context(error))?;
        member.sharing.learn(&session);
        let lease = self.lease_at_once(registry, member, ready, options);
        // What was learned is not forgotten.
        lease.unwrap_or(Ok(Lease::Shared(&ready.server)))
    }

    /// Does the same without waiting; `None` if the server has to be connected to first.
    pub(super) fn lease_at_once<'r>(
        self: &Arc<Self>,
        registry: &Registry,
        member: &Arc<Member>,
        ready: &'r Ready,
        options: &mut CallOptions,
    ) -> Option<Result<Lease<'r>, Error>> {
        if self.closed.is_cancelled() {
            return Some(Err(member.with_context(HostError::ClientGone)));
        }
        match member.sharing.rule() {
            Rule::Shared => {}
            // In this process, and never asks.
            _ if member.is_local() => {}
            Rule::SharedWithQuestions => self.answer_in(options),
            Rule::PerClient => {
                let own = self.connection(registry, member, ready);
                return Some(own.map(Lease::Own));
            }
            Rule::Unknown => return None,
        }
        Some(Ok(Lease::Shared(&ready.server)))
    }

    /// Forgets a connection, unless another has taken its place.
    fn forget(&self, connection: &Arc<OwnConnection>, own: &mut OwnConnections) {
        let name = connection.name();
        if own
            .get(name)
            .is_some_and(|known| Arc::ptr_eq(known, connection))
        {
            own.remove(name);
        }
    }

    /// Has the client answer the questions that belong to a call, unless the call has a handler.
    fn answer_in(&self, options: &mut CallOptions) {
        let known = options.callbacks.as_deref();
        if known.is_some_and(|known| known.respond.is_some()) {
            return;
        }
        let callbacks: Callbacks = known.cloned().unwrap_or_default();
        let respond = Arc::clone(&self.options.respond);
        options.callbacks = Some(Arc::new(callbacks.respond(respond)));
    }

    /// Returns the client's own connection to a server, which is not made before it is used.
    fn connection(
        self: &Arc<Self>,
        registry: &Registry,
        member: &Arc<Member>,
        ready: &Ready,
    ) -> Result<OwnLease, Error> {
        let mut own = self.own();
        if let Some(known) = own.get(&member.name)
            && known.is_of(member)
        {
            return Ok(OwnConnection::lease(known));
        }
        // Under the lock, like the end of the client: no connection outlives it.
        if self.closed.is_cancelled() {
            return Err(member.with_context(HostError::ClientGone));
        }
        let most = self.options.limits.connections;
        if own.len() >= most && !make_room(&mut own) {
            let error = HostError::TooManyConnections {
                most,
                of_all: false,
            };
            return Err(member.with_context(error));
        }
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        let permit = permit.map_err(|_| {
            member.with_context(HostError::TooManyConnections {
                most: self.most_of_all,
                of_all: true,
            })
        })?;
        let made = OwnConnection::new(NewConnection {
            client: self,
            registry,
            member,
            ready,
            permit,
        });
        own.insert(member.name.clone(), Arc::clone(&made));
        Ok(OwnConnection::lease(&made))
    }
}

/// Ends the connection that was not used for the longest time; returns false if all are in use.
fn make_room(own: &mut OwnConnections) -> bool {
    let idle = own.iter().filter_map(|(name, own)| {
        let since = own.idle_since()?;
        Some((since, name.clone()))
    });
    let Some((_, name)) = idle.min() else {
        return false;
    };
    let ended = own.remove(&name);
    ended.inspect(|own| own.end()).is_some()
}
