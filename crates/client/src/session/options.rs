//! Options of a session and of a call, and what a call reports while it runs.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use switchboard_core::limits::{Budget, Deadline, Limits, Timeouts};
use switchboard_core::spec::Protocol;
use switchboard_wire::{Implementation, LogLevel, ProgressParams, Raw};
use tokio::sync::watch;

use super::negotiated::Verdict;
use super::respond::{RefuseAll, Respond};

/// What a program decides about a session.
#[derive(Clone)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Who we say we are.
    pub client: Implementation,
    /// Which era to speak.
    pub protocol: Protocol,
    /// What an earlier session with the same server found out; saves the probe.
    pub verdict: Option<Verdict>,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// What bounds the connection.
    pub limits: Limits,
    /// What bounds this connection and others together.
    pub budget: Budget,
    /// Who answers what the server asks.
    pub respond: Arc<dyn Respond>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            client: Implementation::new("switchboard", env!("CARGO_PKG_VERSION")),
            protocol: Protocol::default(),
            verdict: None,
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            budget: Budget::of_process(),
            respond: Arc::new(RefuseAll),
        }
    }
}

impl SessionOptions {
    /// Says who we are.
    #[must_use]
    pub fn client(mut self, client: Implementation) -> Self {
        self.client = client;
        self
    }

    /// Chooses the era to speak.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.protocol = protocol;
        self
    }

    /// Remembers what an earlier session with the same server found out.
    #[must_use]
    pub fn verdict(mut self, verdict: Option<Verdict>) -> Self {
        self.verdict = verdict;
        self
    }

    /// Sets how long things may take.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets what bounds the connection.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what this connection may hold together with others.
    #[must_use]
    pub fn budget(mut self, budget: &Budget) -> Self {
        self.budget = budget.clone();
        self
    }

    /// Sets who answers what the server asks.
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
            .field("verdict", &self.verdict)
            .field("timeouts", &self.timeouts)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// What a program decides about one call.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// How long it may take; the session's own limit where it is left out.
    pub deadline: Option<Deadline>,
    /// Where its progress is shown.
    pub progress: Option<watch::Sender<Option<Progress>>>,
    /// What the server is told when the call is dropped.
    pub reason: CancelReason,
    /// What goes into `_meta` beside what the session puts there: an object.
    pub meta: Option<Raw>,
    /// The level of logs that the call asks a modern server for.
    pub log_level: Option<LogLevel>,
    /// Whether the call may run twice: then it is sent again when the connection was lost.
    pub idempotent: bool,
}

impl CallOptions {
    /// Sets how long the call may take.
    #[must_use]
    pub fn deadline(mut self, deadline: Deadline) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets where its progress is shown.
    #[must_use]
    pub fn progress(mut self, progress: watch::Sender<Option<Progress>>) -> Self {
        self.progress = Some(progress);
        self
    }

    /// Sets what the server is told when the call is dropped.
    #[must_use]
    pub fn reason(mut self, reason: &CancelReason) -> Self {
        self.reason = reason.clone();
        self
    }

    /// Says that the call may run twice without harm.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.idempotent = true;
        self
    }

    /// Adds to `_meta`.
    #[must_use]
    pub fn meta(mut self, meta: Raw) -> Self {
        self.meta = Some(meta);
        self
    }
}

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How far; it only grows.
    pub progress: f64,
    /// Of how much, if the server knows.
    pub total: Option<f64>,
    /// The server's words; cut where they are longer than
    /// [`Limits::progress_bytes`](switchboard_core::limits::Limits::progress_bytes).
    pub message: Option<String>,
}

impl Progress {
    /// What a report says, with at most that many bytes of its words.
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

/// A place where the latest progress of a call is seen.
pub type ProgressWatch = watch::Receiver<Option<Progress>>;

/// The two ends of a place for progress: one goes into [`CallOptions`], the other is watched.
///
/// [`CallOptions`]: super::CallOptions
pub fn progress() -> (watch::Sender<Option<Progress>>, ProgressWatch) {
    watch::channel(None)
}

/// Why a call is dropped, in words for the server; may be set until the very drop.
#[derive(Debug, Clone, Default)]
pub struct CancelReason(Option<Arc<Mutex<String>>>);

impl CancelReason {
    /// A reason that is known beforehand or becomes known later.
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
