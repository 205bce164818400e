//! One server that survives its connections.
//!
//! A [`Server`] connects on first use, connects once however many ask at the same time, notices
//! when its connection is gone and connects anew on the next use. It adds to every error which
//! server it is about.

mod pace;
mod requests;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_core::spec::ServerName;
use switchboard_wire::Era;
use tokio::sync::{Mutex as Turn, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

pub use pace::Reconnect;

use pace::{Pace, Rest};

use crate::error::{ServerError, ServerErrorCause};
use crate::session::{CloseCause, CloseReason, Session, SessionOptions, Verdict};
use crate::transport::{Connect, Connector, Peer};

/// What a server is doing.
#[derive(Debug, Clone)]
pub enum ServerState {
    /// There is no connection, and nobody has wanted one yet.
    Idle,
    /// A connection is being made.
    Connecting,
    /// There is a connection.
    Connected,
    /// The last connection could not be made, for this reason.
    Failed(ServerError),
    /// There was a connection, and it is gone for this reason.
    Closed(Arc<CloseReason>),
}

/// One server, whatever becomes of its connections. Clones share them.
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    name: ServerName,
    connect: Connector,
    options: SessionOptions,
    policy: Reconnect,
    observe: Option<Box<dyn Observe>>,
    session: Mutex<Option<Session>>,
    attempts: Arc<Attempts>,
    /// Whoever makes a connection, and what they need to know.
    live: Turn<Live>,
    state: watch::Sender<ServerState>,
    /// Cancelled when no more connections are to be made.
    retired: CancellationToken,
}

#[derive(Default)]
struct Live {
    /// What the last connection found out, to save the probe on the next.
    verdict: Option<Verdict>,
    pace: Pace,
    /// Whether there was a connection before.
    again: bool,
    /// Why the last connection ended, where nobody wanted that.
    lost: Option<Arc<CloseReason>>,
}

/// Is told what becomes of a server's connections, at the moment that it happens.
///
/// It must not wait: whoever wants the connection is kept waiting.
#[doc(hidden)]
pub trait Observe: Send + Sync {
    /// One is being made; `again` when there was one before.
    fn connecting(&self, again: bool);
    /// It was made.
    fn connected(&self, session: &Session, again: bool, took: Duration);
    /// It was not made.
    fn failed(&self, error: &ServerError, again: bool, took: Duration);
}

/// Who wants a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Want {
    /// Somebody who wants to use it.
    Use,
    /// Somebody who asks for a connection outright.
    Outright,
}

impl Server {
    /// A server behind a transport, connected to whenever it is used and there is no connection.
    /// Nothing is started before.
    pub fn new(name: ServerName, connect: impl Connect + 'static, options: SessionOptions) -> Self {
        Self::paced(name, connect, options, Reconnect::always())
    }

    /// Has somebody told of the server's connections, of which no more are made once `retired` is
    /// cancelled.
    #[doc(hidden)]
    pub fn observed(
        name: ServerName,
        connect: Connector,
        options: SessionOptions,
        policy: Reconnect,
        observe: Box<dyn Observe>,
        retired: CancellationToken,
    ) -> Self {
        Self::make(name, connect, options, policy, Some(observe), retired)
    }

    /// A server behind a transport, connected to again no more often than a policy has it.
    pub fn paced(
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
            verdict: options.verdict,
            ..Live::default()
        };
        let attempts = Arc::new(Attempts::default());
        let started = Arc::clone(&attempts);
        let connect = connect.map_link(move |link| {
            started.note(link.peer());
            link
        });
        Self(Arc::new(Inner {
            name,
            connect,
            options,
            policy,
            observe,
            session: Mutex::new(None),
            attempts,
            live: Turn::new(live),
            state: watch::Sender::new(ServerState::Idle),
            retired,
        }))
    }

    /// The name that a person gave the server.
    pub fn name(&self) -> &ServerName {
        &self.0.name
    }

    /// What the server is: `stdio:CMD:ARGS`, secrets redacted.
    pub fn identity(&self) -> String {
        self.0.connect.identity()
    }

    /// What the server is doing, now and from now on.
    pub fn state(&self) -> watch::Receiver<ServerState> {
        self.0.state.subscribe()
    }

    /// The live session; connects if there is none and the policy has no rest.
    ///
    /// However many ask at once, one connection is made. Dropping the future leaves nothing
    /// behind.
    ///
    /// # Errors
    /// When no connection could be made; nothing of the attempt is left.
    pub async fn session(&self) -> Result<Session, ServerError> {
        self.open(Want::Use).await
    }

    /// The live session; connects if there is none, whatever failed before.
    ///
    /// # Errors
    /// When no connection could be made; nothing of the attempt is left.
    pub async fn connect(&self) -> Result<Session, ServerError> {
        self.open(Want::Outright).await
    }

    /// The live session, if there is one: nothing is started, and nobody is waited for.
    pub fn live(&self) -> Option<Session> {
        let session = self.kept();
        let session = session.as_ref()?;
        session.close_reason().is_none().then(|| session.clone())
    }

    /// Why the connection is gone, where there was one and nothing has made another.
    #[doc(hidden)]
    pub fn lost(&self) -> Option<Arc<CloseReason>> {
        self.kept().as_ref().and_then(Session::close_reason)
    }

    fn kept(&self) -> MutexGuard<'_, Option<Session>> {
        let session = self.0.session.lock();
        session.unwrap_or_else(PoisonError::into_inner)
    }

    async fn open(&self, want: Want) -> Result<Session, ServerError> {
        if let Some(session) = self.live() {
            return Ok(session);
        }
        let mut live = self.0.live.lock().await;
        if let Some(session) = self.live() {
            return Ok(session);
        }
        if let Some(reason) = self.kept().take().and_then(|gone| gone.close_reason()) {
            let is_wanted = reason.cause == CloseCause::ByUs;
            live.lost = (!is_wanted).then(|| Arc::clone(&reason));
            self.0.state.send_replace(ServerState::Closed(reason));
        }
        if self.0.retired.is_cancelled() {
            return Err(self.about(ServerErrorCause::Stopped));
        }
        match want {
            Want::Outright => live.pace.reset(),
            Want::Use => self.may_connect(&live)?,
        }
        let connecting = Connecting(&self.0.state);
        connecting.0.send_replace(ServerState::Connecting);
        let options = self.0.options.clone().verdict(live.verdict);
        let observe = self.0.observe.as_deref();
        let (again, began) = (live.again, Instant::now());
        if let Some(observe) = observe {
            observe.connecting(again);
        }
        let made = tokio::select! {
            // Boxed, so that no call is as large as what it takes to connect.
            made = Box::pin(Session::connect(&self.0.connect, options)) => made.map_err(ServerErrorCause::from),
            () = self.0.retired.cancelled() => Err(ServerErrorCause::Stopped),
        };
        match made {
            Ok(session) => {
                live.again = true;
                live.lost = None;
                live.verdict = Some(session.negotiated().verdict());
                live.pace.reset();
                *self.kept() = Some(session.clone());
                self.0.state.send_replace(ServerState::Connected);
                if let Some(observe) = observe {
                    observe.connected(&session, again, began.elapsed());
                }
                Ok(session)
            }
            Err(error) => {
                // A verdict that led to nothing is not worth keeping.
                live.verdict = None;
                let error = self.about(error);
                let now = Instant::now();
                live.pace.failed(error.clone(), &self.0.policy, now);
                let state = ServerState::Failed(error.clone());
                self.0.state.send_replace(state);
                if let Some(observe) = observe {
                    observe.failed(&error, again, began.elapsed());
                }
                Err(error)
            }
        }
    }

    /// Says no where a connection is not to be made by itself, or not yet.
    fn may_connect(&self, live: &Live) -> Result<(), ServerError> {
        let now = Instant::now();
        if let Some(Rest { last, until }) = live.pace.rest(&self.0.policy, now) {
            let wait = until.map(|until| until - now);
            return Err(self.about(ServerErrorCause::Resting { last, wait }));
        }
        match &live.lost {
            Some(reason) if !self.0.policy.is_on => {
                Err(self.about(ServerErrorCause::Lost(Arc::clone(reason))))
            }
            _ => Ok(()),
        }
    }

    /// The era that the server was last seen to speak.
    pub async fn era(&self) -> Option<Era> {
        self.0.live.lock().await.verdict.map(|verdict| verdict.era)
    }

    /// Closes the connection, if there is one, and waits until the server has ended.
    pub async fn close(&self) {
        let (session, left) = {
            let mut live = self.0.live.lock().await;
            live.lost = None;
            // Nobody else connects at this moment, so that all of these are over.
            (self.kept().take(), self.0.attempts.left())
        };
        if let Some(session) = session {
            let reason = session.close().await;
            let newer = self.kept();
            // Somebody may have wanted another connection meanwhile, and what it does is what counts.
            self.0.state.send_if_modified(|state| {
                let is_last = newer.is_none() && matches!(state, ServerState::Connected);
                if is_last {
                    *state = ServerState::Closed(reason);
                }
                is_last
            });
        }
        for process in left {
            process.ended().await;
        }
    }

    /// Closes the connection for good: none is made any more, and an attempt to is given up.
    #[doc(hidden)]
    pub async fn retire(&self) {
        self.0.retired.cancel();
        self.close().await;
    }

    /// Closes the connection and makes a new one.
    ///
    /// # Errors
    /// When no new connection could be made.
    pub async fn reconnect(&self) -> Result<Session, ServerError> {
        self.close().await;
        self.connect().await
    }

    fn about(&self, cause: impl Into<ServerErrorCause>) -> ServerError {
        ServerError::new(self.0.name.clone(), self.identity(), cause)
    }
}

/// The processes that attempts to connect have started and that may not have ended yet.
///
/// An attempt that fails or is given up leaves its process to end by itself, which takes a while where the process
/// does not listen. Closing a server waits for these too.
#[derive(Default)]
struct Attempts(Mutex<Vec<Peer>>);

impl Attempts {
    /// Returns those that have not ended yet.
    fn left(&self) -> Vec<Peer> {
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

/// A connection being made; one that is given up leaves the server idle.
struct Connecting<'a>(&'a watch::Sender<ServerState>);

impl Drop for Connecting<'_> {
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
