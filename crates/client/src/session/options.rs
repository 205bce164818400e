//! Options of a session and of a call, and the progress of a call.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use switchboard_core::limits::{Budget, Deadline, Limits, Timeouts};
use switchboard_core::spec::Protocol;
use switchboard_wire::{Implementation, LogLevel, ProgressParams, Raw};
use tokio::sync::watch;

use super::callbacks::Callbacks;
use super::negotiated::EraHint;
use super::relay::InputRelay;
use super::respond::{RefuseAll, Respond};

/// Options of a session.
///
/// ```
/// use std::time::Duration;
/// use switchboard_client::SessionOptions;
/// use switchboard_core::limits::{Deadline, Timeouts};
///
/// let soon = Timeouts::all(Deadline::within(Duration::from_secs(5)));
/// let options = SessionOptions::default().timeouts(soon);
/// assert_eq!(options.timeouts.connect.total, Duration::from_secs(5));
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct SessionOptions {
    /// The client's name and version, as declared to the server.
    pub client: Implementation,
    /// The era to speak.
    pub protocol: Protocol,
    /// The era that an earlier session with the same server found; saves the probe.
    pub era_hint: Option<EraHint>,
    /// The timeouts of connecting, discovery and execution.
    pub timeouts: Timeouts,
    /// The limits of the connection.
    pub limits: Limits,
    /// The memory budget that this connection shares with others.
    pub budget: Budget,
    /// The handler of the server's requests.
    pub respond: Arc<dyn Respond>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            client: Implementation::new("switchboard", env!("CARGO_PKG_VERSION")),
            protocol: Protocol::default(),
            era_hint: None,
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            budget: Budget::of_process(),
            respond: Arc::new(RefuseAll),
        }
    }
}

impl SessionOptions {
    /// Sets the client's name and version.
    #[must_use]
    pub fn client(mut self, client: Implementation) -> Self {
        self.client = client;
        self
    }

    /// Sets the era to speak.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// Sets the era that an earlier session with the same server found.
    #[must_use]
    pub fn era_hint(mut self, era_hint: Option<EraHint>) -> Self {
        self.era_hint = era_hint;
        self
    }

    /// Sets the timeouts.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets the limits of the connection.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the memory budget that this connection shares with others.
    #[must_use]
    pub fn budget(mut self, budget: &Budget) -> Self {
        self.budget = budget.clone();
        self
    }

    /// Sets the handler of the server's requests.
    #[must_use]
    pub fn respond(mut self, respond: impl Respond + 'static) -> Self {
        self.respond = Arc::new(respond);
        self
    }
}

impl fmt::Debug for SessionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionOptions")
            .field("client", &self.client.name)
            .field("protocol", &self.protocol)
            .field("era_hint", &self.era_hint)
            .field("timeouts", &self.timeouts)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Options of one call.
///
/// ```
/// use std::time::Duration;
/// use switchboard_client::CallOptions;
/// use switchboard_core::limits::Deadline;
///
/// let options = CallOptions::default().deadline(Deadline::within(Duration::from_secs(5)));
/// assert!(options.deadline.is_some() && !options.idempotent);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// The deadline; the session's default if `None`.
    pub deadline: Option<Deadline>,
    /// The channel for its progress.
    pub progress: Option<watch::Sender<Option<Progress>>>,
    /// The reason in `notifications/cancelled` when the call is dropped.
    pub reason: CancelReason,
    /// Members of `_meta` besides those of the session: an object.
    pub meta: Option<Raw>,
    /// The log level that the call requests from a modern server.
    pub log_level: Option<LogLevel>,
    /// The call may run twice, so it is sent again when the connection was lost.
    pub idempotent: bool,
    /// The caller's own handlers of what the server sends during the call.
    #[doc(hidden)]
    pub callbacks: Option<Arc<Callbacks>>,
    /// Passes the questions of a modern server on, in place of answering them.
    #[doc(hidden)]
    pub relay: Option<Arc<InputRelay>>,
}

impl CallOptions {
    /// Sets the deadline.
    #[must_use]
    pub fn deadline(mut self, deadline: Deadline) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the channel for its progress.
    #[must_use]
    pub fn progress(mut self, progress: watch::Sender<Option<Progress>>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Sets the reason in `notifications/cancelled` when the call is dropped.
    #[must_use]
    pub fn reason(mut self, reason: &CancelReason) -> Self {
        self.reason = reason.clone();
        self
    }

    /// Declares that the call may run twice without harm.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Sets the caller's own handlers of what the server sends during the call.
    #[doc(hidden)]
    #[must_use]
    pub fn callbacks(mut self, callbacks: Arc<Callbacks>) -> Self {
        self.callbacks = Some(callbacks);
        self
    }

    /// Passes the questions of a modern server on to the client that the call is made for.
    #[doc(hidden)]
    #[must_use]
    pub fn relay(mut self, relay: Arc<InputRelay>) -> Self {
        self.relay = Some(relay);
        self
    }

    /// Returns true if the progress of the call is wanted.
    pub(crate) fn wants_progress(&self) -> bool {
        let callbacks = self.callbacks.as_ref();
        self.progress.is_some() || callbacks.is_some_and(|it| it.sink.is_some())
    }

    /// Returns true if the call may be sent again after it may have run. One that a server has questions
    /// about may not: its answers are for one use.
    pub(crate) fn may_repeat(&self) -> bool {
        let relay = self.relay.as_ref();
        self.idempotent && !relay.is_some_and(|relay| relay.is_repeated())
    }

    /// Adds to `_meta`.
    #[must_use]
    pub fn meta(mut self, meta: Raw) -> Self {
        self.meta = Some(meta);
        self
    }
}

/// The progress of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The progress so far; it only grows.
    pub progress: f64,
    /// The value at completion, if the server knows it.
    pub total: Option<f64>,
    /// The server's message, cut to
    /// [`Limits::progress_bytes`](switchboard_core::limits::Limits::progress_bytes).
    pub message: Option<String>,
}

impl Progress {
    /// Reads a progress notification, with at most `most` bytes of its message.
    pub(crate) fn of(params: &ProgressParams, most: usize) -> Self {
        let kept = |words: &str| {
            let mut ends = (0..=most.min(words.len())).rev();
            let end = ends.find(|end| words.is_char_boundary(*end))?;
            words.get(..end).map(str::to_owned)
        };
        Self {
            progress: params.progress(),
            total: params.total(),
            message: params.message().and_then(kept),
        }
    }
}

/// A receiver of the latest progress of a call.
pub type ProgressWatch = watch::Receiver<Option<Progress>>;

/// Creates a progress channel: the sender goes into [`CallOptions`], the receiver is watched.
///
/// [`CallOptions`]: super::CallOptions
pub fn progress() -> (watch::Sender<Option<Progress>>, ProgressWatch) {
    watch::channel(None)
}

/// The reason for cancelling a call, sent to the server; it may be changed until the call is
/// dropped.
#[derive(Debug, Clone, Default)]
pub struct CancelReason(Option<Arc<Mutex<String>>>);

impl CancelReason {
    /// Creates a reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(Some(Arc::new(Mutex::new(reason.into()))))
    }

    /// Changes the reason.
    pub fn set(&self, reason: impl Into<String>) {
        if let Some(words) = &self.0 {
            *words.lock().unwrap_or_else(PoisonError::into_inner) = reason.into();
        }
    }

    pub(crate) fn words(&self) -> String {
        match &self.0 {
            Some(words) => words.lock().unwrap_or_else(PoisonError::into_inner).clone(),
            None => "the caller gave up".to_owned(),
        }
    }
}
