//! What happens in a host, for whoever wants to know.
//!
//! An [`Event`] says what happened, to which server, and how long it took; never what was sent or
//! what came back. Events go out on a bounded channel: who reads too slowly misses the oldest, and
//! is told how many. [`write_line`] turns one into a line of JSON for a file of them.
//!
//! The same facts go to [`tracing`], at the level `debug`, under the target `switchboard`.

mod audit;
mod line;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;

pub use audit::{ArgumentHash, Rule};
pub use line::write_line;

use crate::spec::ServerName;

/// Something that happened.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A connection is being made.
    ConnectStarted {
        /// To which server.
        server: ServerName,
        /// Whether there was one before.
        is_reconnect: bool,
    },
    /// A connection was made.
    Connected {
        /// To which server.
        server: ServerName,
        /// Whether there was one before.
        is_reconnect: bool,
        /// How long it took.
        took: Duration,
        /// The version that is spoken.
        version: &'static str,
    },
    /// A connection could not be made.
    ConnectFailed {
        /// To which server.
        server: ServerName,
        /// Whether there was one before.
        is_reconnect: bool,
        /// How long it took.
        took: Duration,
        /// Why, without secrets.
        error: String,
    },
    /// A connection is gone.
    Disconnected {
        /// To which server.
        server: ServerName,
        /// Why, without secrets.
        reason: String,
    },
    /// A tool is being called, a resource read or a prompt got.
    CallStarted(Call),
    /// It was decided whether a call may be made.
    Decided {
        /// Which call.
        call: Call,
        /// `allow` or `deny`.
        decision: &'static str,
        /// The rule that decided.
        rule: Rule,
        /// A hash of what was to be sent.
        arguments: Option<ArgumentHash>,
    },
    /// It was.
    CallCompleted {
        /// Which call.
        call: Call,
        /// How long it took.
        took: Duration,
        /// Whether the tool reported an error.
        is_error: bool,
    },
    /// There is no result.
    CallFailed {
        /// Which call.
        call: Call,
        /// How long it took.
        took: Duration,
        /// Why, without secrets.
        error: String,
    },
    /// What the servers offer has changed.
    CatalogChanged {
        /// At which server.
        server: ServerName,
        /// What changed, one line each, at most so many as are worth reading.
        changes: Vec<String>,
    },
    /// A list could not be had.
    ListFailed {
        /// From which server.
        server: ServerName,
        /// Which list.
        list: &'static str,
        /// Why, without secrets.
        error: String,
    },
    /// A request failed because a person has to log in; the same need is told once.
    LoginNeeded {
        /// To which server.
        server: ServerName,
        /// At which issuer, where it is known.
        issuer: Option<String>,
        /// The scopes to ask for; empty where the server names none.
        scopes: Vec<String>,
        /// `no_token`, `rejected`, `revoked` or `insufficient_scope`.
        reason: &'static str,
    },
    /// There is a new token for a server, without a person.
    TokenRenewed {
        /// For which server.
        server: ServerName,
        /// The issuer that gave it.
        issuer: String,
    },
    /// A login was begun and did not succeed.
    LoginFailed {
        /// To which server.
        server: ServerName,
        /// Why, without secrets.
        error: String,
    },
    /// Something is odd with a server, and it works nevertheless.
    Notice {
        /// With which server.
        server: ServerName,
        /// What it is.
        text: String,
    },
    /// Messages of a server were passed over, all in all.
    Shed {
        /// Of which server.
        server: ServerName,
        /// How many.
        messages: u64,
    },
}

/// Which call an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// Different for each call of a host.
    pub id: u64,
    /// The server that is called.
    pub server: ServerName,
    /// What is called.
    pub what: What,
    /// Its own name, or its URI.
    pub name: Arc<str>,
    /// Who calls.
    pub caller: Arc<str>,
}

/// What can be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum What {
    /// A tool is called.
    Tool,
    /// A resource is read.
    Resource,
    /// A prompt is got.
    Prompt,
    /// A resource is watched.
    Subscription,
    /// An argument of a prompt, or of a template, is completed.
    Completion,
}

impl What {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Resource => "resource",
            Self::Prompt => "prompt",
            Self::Subscription => "subscription",
            Self::Completion => "completion",
        }
    }
}

impl Call {
    pub(crate) fn new(
        id: u64,
        server: &ServerName,
        what: What,
        name: &Arc<str>,
        caller: &Arc<str>,
    ) -> Self {
        Self {
            id,
            server: server.clone(),
            what,
            name: Arc::clone(name),
            caller: Arc::clone(caller),
        }
    }
}

impl Event {
    /// The server that it is about.
    pub fn server(&self) -> &ServerName {
        match self {
            Self::ConnectStarted { server, .. }
            | Self::Connected { server, .. }
            | Self::ConnectFailed { server, .. }
            | Self::Disconnected { server, .. }
            | Self::CatalogChanged { server, .. }
            | Self::ListFailed { server, .. }
            | Self::LoginNeeded { server, .. }
            | Self::TokenRenewed { server, .. }
            | Self::LoginFailed { server, .. }
            | Self::Notice { server, .. }
            | Self::Shed { server, .. } => server,
            Self::CallStarted(call)
            | Self::Decided { call, .. }
            | Self::CallCompleted { call, .. }
            | Self::CallFailed { call, .. } => &call.server,
        }
    }

    /// The call that it is about, if it is about one.
    pub fn call(&self) -> Option<&Call> {
        match self {
            Self::CallStarted(call)
            | Self::Decided { call, .. }
            | Self::CallCompleted { call, .. }
            | Self::CallFailed { call, .. } => Some(call),
            _ => None,
        }
    }

    /// A word for what happened, as it is in [`write_line`].
    pub fn name(&self) -> &'static str {
        match self {
            Self::ConnectStarted { .. } => "connect_started",
            Self::Connected { .. } => "connected",
            Self::ConnectFailed { .. } => "connect_failed",
            Self::Disconnected { .. } => "disconnected",
            Self::CallStarted(_) => "call_started",
            Self::Decided { .. } => "decided",
            Self::CallCompleted { .. } => "call_completed",
            Self::CallFailed { .. } => "call_failed",
            Self::CatalogChanged { .. } => "catalog_changed",
            Self::ListFailed { .. } => "list_failed",
            Self::LoginNeeded { .. } => "login_needed",
            Self::TokenRenewed { .. } => "token_renewed",
            Self::LoginFailed { .. } => "login_failed",
            Self::Notice { .. } => "notice",
            Self::Shed { .. } => "shed",
        }
    }
}

/// The events from now on; see [`tokio::sync::broadcast::Receiver::recv`].
///
/// A reader who falls behind gets [`RecvError::Lagged`](broadcast::error::RecvError::Lagged) with the number that it missed, and then
/// those that are still kept.
pub type Events = broadcast::Receiver<Event>;

/// Where events go out.
#[derive(Debug, Clone)]
pub(crate) struct Sender(broadcast::Sender<Event>);

impl Sender {
    /// A channel that keeps so many for a slow reader.
    pub(crate) fn new(most: usize) -> Self {
        Self(broadcast::Sender::new(most.max(1)))
    }

    pub(crate) fn subscribe(&self) -> Events {
        self.0.subscribe()
    }

    /// Whether anybody would hear of anything.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.receiver_count() > 0
            || tracing::enabled!(target: "switchboard", tracing::Level::DEBUG)
    }

    /// Tells all who listen; what nobody listens for is not even made.
    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) {
        let is_traced = tracing::enabled!(target: "switchboard", tracing::Level::DEBUG);
        if !is_traced && self.0.receiver_count() == 0 {
            return;
        }
        let event = event();
        if is_traced {
            let mut line = String::new();
            write_line(&event, &mut line);
            tracing::debug!(target: "switchboard", event = event.name(), "{line}");
        }
        // That nobody listens is no error.
        drop(self.0.send(event));
    }
}
