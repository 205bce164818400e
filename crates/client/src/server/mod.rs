//! One server that survives its connections.
//!
//! A [`Server`] owns the description of a server (name, transport, options, reconnect policy) and
//! at most one live [`Session`]. It connects on first use, makes one connection however many
//! callers ask at once, notices when the connection is gone, and connects again on the next use, as
//! the policy ([`Reconnect`]) allows. Every error names the server.
//!
//! A call is repeated on a new connection only if provably none of it left on the old one
//! (`requests`).

mod lists;
mod pace;
mod requests;

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_core::limits::pause;
use switchboard_core::spec::ServerName;
use switchboard_wire::Era;
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

pub use lists::ListRequest;
pub use pace::Reconnect;

use lists::KnownLists;
use pace::{Pace, Rest};

use crate::error::{ServerError, ServerErrorCause};
use crate::session::{
    CallError, CloseCause, CloseReason, EraHint, OpenError, Session, SessionOptions,
};
use crate::transport::{Connect, ConnectError, Connector, Peer, StartError};

/// The connection state of a server.
#[derive(Debug, Clone)]
pub enum ServerState {
    /// Not connected, and no connection was requested yet.
    Idle,
    /// A connection is being made.
    Connecting,
    /// There is a connection.
    Connected,
    /// The last connection could not be made, for this reason.
    Failed(ServerError),
    /// The connection is gone, for this reason.
    Closed(Arc<CloseReason>),
}

/// One server, with a connection that is made on demand. Clones share it.
///
/// ```no_run
/// use switchboard_client::transport::Stdio;
/// use switchboard_client::{CallOptions, Server, SessionOptions};
/// use switchboard_core::spec::ServerName;
/// use switchboard_wire::Raw;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let time = Stdio::new("uvx").args(["mcp-server-time"]);
/// let server = Server::new(ServerName::parse("time")?, time, SessionOptions::default());
/// let berlin = Raw::parse(r#"{ "timezone": "Europe/Berlin" }"#)?;
/// let result = server
///     .call_tool("get_current_time", Some(berlin), CallOptions::default())
///     .await?;
/// println!("{:?}", result.content());
/// server.close().await;
/// # Ok(())
/// # }
/// ```
///
/// `session` holds the live connection and is locked only briefly. `live` is held for a whole
/// attempt to connect, so that concurrent callers wait for the one attempt and share its result.
/// `attempts` remembers processes of failed attempts, so that closing waits for them too.
#[derive(Clone)]
pub struct Server(Arc<ServerCore>);

struct ServerCore {
    name: ServerName,
    connect: Connector,
    /// The transport without the record of its processes, for other servers of the same description.
    transport: Arc<Connector>,
    options: SessionOptions,
    policy: Reconnect,
    observe: Option<Box<dyn Observe>>,
    session: Mutex<Option<Session>>,
    /// The lists as they were last read, over all connections.
    lists: Mutex<KnownLists>,
    attempts: Arc<StartedProcesses>,
    /// Held while a connection is made, with the state that attempts need.
    live: AsyncMutex<Live>,
    state: watch::Sender<ServerState>,
    /// Cancelled when no more connections are to be made.
    retired: CancellationToken,
}

#[derive(Default)]
struct Live {
    /// The era that the last connection found, to save the probe on the next.
    era_hint: Option<EraHint>,
    pace: Pace,
    /// True once there was a connection.
    again: bool,
    /// The reason of an unwanted end of the last connection.
    lost: Option<Arc<CloseReason>>,
}

/// Observes the connections of a server, as things happen.
///
/// Called while callers wait for the connection, so it must not block.
#[doc(hidden)]
pub trait Observe: Send + Sync {
    /// A connection is being made; `again` if there was one before.
    fn connecting(&self, again: bool);
    /// The connection was made.
    fn connected(&self, session: &Session, again: bool, took: Duration);
    /// The connection could not be made.
    fn failed(&self, error: &ServerError, again: bool, took: Duration);
    /// Tells whether a login took place since a connection failed for want of one; `None` where that cannot be told.
    fn has_new_login(&self) -> Pin<Box<dyn Future<Output = Option<bool>> + Send + '_>> {
        Box::pin(std::future::ready(None))
    }
}

/// The urgency of a request for a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pauses {
    /// A use of the server: respects the pauses of the policy.
    Respect,
    /// An explicit request to connect: overrides them.
    Override,
}

impl Server {
    /// Creates a server that connects whenever it is used and there is no connection. Starts
    /// nothing yet.
    pub fn new(name: ServerName, connect: impl Connect + 'static, options: SessionOptions) -> Self {
        Self::with_policy(name, connect, options, Reconnect::always())
    }

    /// Creates a server whose connections are observed, and which makes no more of them once
    /// `retired` is cancelled.
    #[doc(hidden)]
    pub fn with_observer(
        name: ServerName,
        connect: Connector,
        options: SessionOptions,
        policy: Reconnect,
        observe: Box<dyn Observe>,
        retired: CancellationToken,
    ) -> Self {
        Self::make(name, connect, options, policy, Some(observe), retired)
    }

    /// Creates a server of the same description with a connection of its own. `change` adapts the options
    /// of its sessions.
    #[doc(hidden)]
    #[must_use]
    pub fn sibling(
        &self,
        change: impl FnOnce(&mut SessionOptions),
        observe: Box<dyn Observe>,
        retired: CancellationToken,
    ) -> Self {
        let mut options = self.0.options.clone();
        change(&mut options);
        let transport = Arc::clone(&self.0.transport) as Arc<dyn Connect>;
        let connect = Connector::new(transport);
        let (name, policy) = (self.0.name.clone(), self.0.policy);
        Self::make(name, connect, options, policy, Some(observe), retired)
    }

    /// Creates a server that reconnects according to `policy`.
    pub fn with_policy(
        name: ServerName,
        connect: impl Connect + 'static,
        options: SessionOptions,
        policy: Reconnect,
    ) -> Self {
        let retired = CancellationToken::new();
        let connect = Connector::new(Arc::new(connect));
        Self::make(name, connect, options, policy, None, retired)
    }

    fn make(
        name: ServerName,
        connect: Connector,
        options: SessionOptions,
        policy: Reconnect,
        observe: Option<Box<dyn Observe>>,
        retired: CancellationToken,
    ) -> Self {
        let live = Live {
            era_hint: options.era_hint,
            ..Live::default()
        };
        let attempts = Arc::new(StartedProcesses::default());
        let started = Arc::clone(&attempts);
        let transport = Arc::new(connect);
        let connect = Connector::new(Arc::clone(&transport) as Arc<dyn Connect>);
        let connect = connect.map_link(move |link| {
            started.note(link.peer());
            link
        });
        Self(Arc::new(ServerCore {
            name,
            connect,
            transport,
            options,
            policy,
            observe,
            session: Mutex::new(None),
            lists: Mutex::default(),
            attempts,
            live: AsyncMutex::new(live),
            state: watch::Sender::new(ServerState::Idle),
            retired,
        }))
    }

    /// The name that a person gave the server.
    pub fn name(&self) -> &ServerName {
        &self.0.name
    }

    /// The identity of the server, such as `stdio:CMD:ARGS`, with secrets redacted.
    pub fn identity(&self) -> String {
        self.0.connect.identity()
    }

    /// Subscribes to the connection state.
    pub fn state(&self) -> watch::Receiver<ServerState> {
        self.0.state.subscribe()
    }

    /// Returns the live session, or connects if there is none and the policy allows it.
    ///
    /// Concurrent callers share one attempt.
    ///
    /// # Cancel safety
    /// Dropping the future gives its attempt up and ends the process. A caller that waited for that
    /// attempt then makes one of its own.
    ///
    /// # Errors
    /// Fails when no connection could be made; nothing of the attempt is left.
    pub async fn session(&self) -> Result<Session, ServerError> {
        self.open(Pauses::Respect).await
    }

    /// Returns the live session, or connects if there is none, even if the policy would pause.
    /// Cancel safe like [`Server::session`].
    ///
    /// # Errors
    /// Fails when no connection could be made; nothing of the attempt is left.
    pub async fn connect(&self) -> Result<Session, ServerError> {
        self.open(Pauses::Override).await
    }

    /// Returns the live session, if there is one. Never connects and never waits.
    pub fn live(&self) -> Option<Session> {
        let session = self.session_slot();
        let session = session.as_ref()?;
        session.close_reason().is_none().then(|| session.clone())
    }

    /// The reason that the last connection ended, until another one is made.
    #[doc(hidden)]
    pub fn last_close_reason(&self) -> Option<Arc<CloseReason>> {
        self.session_slot().as_ref().and_then(Session::close_reason)
    }

    fn session_slot(&self) -> MutexGuard<'_, Option<Session>> {
        let session = self.0.session.lock();
        session.unwrap_or_else(PoisonError::into_inner)
    }

    async fn open(&self, pauses: Pauses) -> Result<Session, ServerError> {
        // Fast path without the lock: nearly always there is a session.
        if let Some(session) = self.live() {
            return Ok(session);
        }
        // One attempt at a time: other callers wait here, and find its session below.
        let mut live = self.0.live.lock().await;
        if let Some(session) = self.live() {
            return Ok(session);
        }
        if let Some(reason) = self
            .session_slot()
            .take()
            .and_then(|gone| gone.close_reason())
        {
            let is_wanted = reason.cause == CloseCause::ByUs;
            live.lost = (!is_wanted).then(|| Arc::clone(&reason));
            self.0.state.send_replace(ServerState::Closed(reason));
        }
        // After the look at the old session: its end is reported even if no new connection follows.
        if self.0.retired.is_cancelled() {
            return Err(self.error(ServerErrorCause::Stopped));
        }
        match pauses {
            Pauses::Override => live.pace.reset(),
            Pauses::Respect => {
                self.await_login(&mut live).await?;
                self.may_connect(&live)?;
            }
        }
        // From here on the state says "connecting"; the guard resets it if this future is dropped.
        let connecting = ConnectingGuard(&self.0.state);
        connecting.0.send_replace(ServerState::Connecting);
        // The era of the last connection saves the probe on this one.
        let options = self.0.options.clone().era_hint(live.era_hint);
        let observe = self.0.observe.as_deref();
        let (again, began) = (live.again, Instant::now());
        if let Some(observe) = observe {
            observe.connecting(again);
        }
        let made = tokio::select! {
            // Boxed, to keep the future of a call small.
            made = Box::pin(self.start(options)) => made.map_err(ServerErrorCause::from),
            () = self.0.retired.cancelled() => Err(ServerErrorCause::Stopped),
        };
        match made {
            Ok(session) => {
                // Store the session before announcing it: an observer may use the server at once.
                live.again = true;
                live.lost = None;
                live.era_hint = Some(session.negotiated().era_hint());
                live.pace.reset();
                *self.session_slot() = Some(session.clone());
                self.0.state.send_replace(ServerState::Connected);
                if let Some(observe) = observe {
                    observe.connected(&session, again, began.elapsed());
                }
                Ok(session)
            }
            Err(error) => {
                // An era that led to no connection is not worth remembering.
                live.era_hint = None;
                let error = self.error(error);
                let now = Instant::now();
                live.pace.record_failure(error.clone(), &self.0.policy, now);
                let state = ServerState::Failed(error.clone());
                self.0.state.send_replace(state);
                if let Some(observe) = observe {
                    observe.failed(&error, again, began.elapsed());
                }
                Err(error)
            }
        }
    }

    /// Makes a connection; a start that fails without a known cause is repeated as the policy says.
    async fn start(&self, options: SessionOptions) -> Result<Session, OpenError> {
        let mut failed = 0;
        loop {
            match Session::connect(&self.0.connect, options.clone()).await {
                Err(error) if failed < self.0.policy.start_retries && may_start_again(&error) => {
                    let limits = &options.limits;
                    sleep(pause(limits.retry_first, limits.retry_most, failed)).await;
                    failed += 1;
                }
                made => return made,
            }
        }
    }

    /// Refuses a connection if the last attempt failed for want of a login and none took place since: the server
    /// would only refuse again.
    async fn await_login(&self, live: &mut Live) -> Result<(), ServerError> {
        let last = live.pace.last().filter(|last| {
            let error = last.auth_error();
            error.is_some_and(|error| error.needs_login().is_some())
        });
        let (Some(last), Some(observe)) = (last.cloned(), self.0.observe.as_deref()) else {
            return Ok(());
        };
        match observe.has_new_login().await {
            Some(true) => live.pace.reset(),
            Some(false) => return Err(last),
            None => {}
        }
        Ok(())
    }

    /// Refuses a connection that the policy does not allow, or not yet.
    fn may_connect(&self, live: &Live) -> Result<(), ServerError> {
        let now = Instant::now();
        if let Some(Rest { last, until }) = live.pace.rest(&self.0.policy, now) {
            let wait = until.map(|until| until - now);
            return Err(self.error(ServerErrorCause::Resting { last, wait }));
        }
        match &live.lost {
            Some(reason) if !self.0.policy.is_on => {
                Err(self.error(ServerErrorCause::Lost(Arc::clone(reason))))
            }
            _ => Ok(()),
        }
    }

    /// The era that the server last spoke.
    pub async fn era(&self) -> Option<Era> {
        self.0.live.lock().await.era_hint.map(|hint| hint.era)
    }

    /// Closes the connection, if there is one, and waits until the server has ended.
    ///
    /// # Cancel safety
    /// Dropping the future stops the waiting only; the connection still closes.
    pub async fn close(&self) {
        self.close_after(std::future::ready(())).await;
    }

    /// Takes the connection out of use at once, and closes it when `unused` completes. A later use makes a new one.
    ///
    /// # Cancel safety
    /// Dropping the future while it waits for `unused` closes the connection.
    #[doc(hidden)]
    pub async fn close_after(&self, unused: impl Future<Output = ()>) {
        let (session, left) = {
            let mut live = self.0.live.lock().await;
            live.lost = None;
            // The lock is held, so no attempt is running: all processes of attempts are ending.
            (self.session_slot().take(), self.0.attempts.running())
        };
        // Close outside of the lock: callers may connect again while the old process ends.
        if let Some(session) = session {
            unused.await;
            let reason = session.close().await;
            let newer = self.session_slot();
            // A caller may have connected again meanwhile: then the newer state counts.
            self.0.state.send_if_modified(|state| {
                let is_last = newer.is_none() && matches!(state, ServerState::Connected);
                if is_last {
                    *state = ServerState::Closed(reason);
                }
                is_last
            });
        }
        // Processes of failed attempts end on their own; wait for them too.
        for process in left {
            process.ended().await;
        }
    }

    /// Closes the connection for good: cancels a running attempt, and refuses all later ones.
    #[doc(hidden)]
    pub async fn retire(&self) {
        self.0.retired.cancel();
        self.close().await;
    }

    /// Closes the connection and makes a new one.
    ///
    /// # Cancel safety
    /// Dropping the future may leave the server without a connection; the next use makes one.
    ///
    /// # Errors
    /// Fails when no new connection could be made.
    pub async fn reconnect(&self) -> Result<Session, ServerError> {
        self.close().await;
        self.connect().await
    }

    fn error(&self, cause: impl Into<ServerErrorCause>) -> ServerError {
        ServerError::new(self.0.name.clone(), self.identity(), cause)
    }
}

/// Returns true if a start that failed may succeed the next time: not if the command is not there or
/// cannot be run, the server refused, or its last words name a cause. Over HTTP the transport has
/// repeated it already.
fn may_start_again(error: &OpenError) -> bool {
    match error {
        OpenError::Connect(ConnectError::Start(StartError::Spawn { source, .. })) => matches!(
            source.kind(),
            io::ErrorKind::WouldBlock | io::ErrorKind::ExecutableFileBusy
        ),
        OpenError::Connect(ConnectError::Start(_)) | OpenError::NoCommonVersion { .. } => false,
        OpenError::Connect(ConnectError::Other { .. }) => true,
        OpenError::Handshake { error, .. } => match &**error {
            CallError::Closed { reason, .. } => {
                reason.cause != CloseCause::ByUs && !reason.is_explained()
            }
            _ => false,
        },
    }
}

/// Processes of attempts to connect that may not have ended yet.
///
/// An attempt that fails or is dropped leaves its process to end on its own, which takes a while if
/// the process ignores its signals. Closing a server waits for these too.
#[derive(Default)]
struct StartedProcesses(Mutex<Vec<Peer>>);

impl StartedProcesses {
    /// Returns the processes that still run.
    fn running(&self) -> Vec<Peer> {
        let mut started = self.started();
        started.retain(|peer| peer.exit().is_none());
        started.clone()
    }

    fn note(&self, peer: &Peer) {
        if peer.is_process() {
            let mut started = self.started();
            started.retain(|peer| peer.exit().is_none());
            started.push(peer.clone());
        }
    }

    fn started(&self) -> MutexGuard<'_, Vec<Peer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Resets the state to idle when an attempt to connect is dropped.
struct ConnectingGuard<'a>(&'a watch::Sender<ServerState>);

impl Drop for ConnectingGuard<'_> {
    fn drop(&mut self) {
        self.0.send_if_modified(|state| {
            let given_up = matches!(state, ServerState::Connecting);
            if given_up {
                *state = ServerState::Idle;
            }
            given_up
        });
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("name", &self.0.name)
            .field("identity", &self.identity())
            .field("state", &*self.0.state.borrow())
            .finish_non_exhaustive()
    }
}
