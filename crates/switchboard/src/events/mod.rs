//! Events: what happens in a host, for programs that subscribe.
//!
//! An [`Event`] says what happened, to which server, and how long it took; it never contains the content
//! of requests or answers. Events go out on a bounded channel: a slow reader loses the oldest events and
//! learns how many it lost. [`write_line`] turns an event into a line of JSON for a log file.
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

/// An event of a host.
///
/// ```no_run
/// use switchboard::{Event, Host};
///
/// # async fn example(host: Host) {
/// let mut events = host.events();
/// while let Ok(event) = events.recv().await {
///     match event {
///         Event::Disconnected { server, reason } => println!("{server} is gone: {reason}"),
///         Event::CallFailed { call, error, .. } => println!("{}: {error}", call.name),
///         other => println!("{}: {}", other.server(), other.name()),
///     }
/// }
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Event {
    /// A connection is being made.
    ConnectStarted {
        /// The server.
        server: ServerName,
        /// Set if the server was connected before.
        is_reconnect: bool,
    },
    /// A connection was made.
    Connected {
        /// The server.
        server: ServerName,
        /// Set if the server was connected before.
        is_reconnect: bool,
        /// The time it took to connect.
        took: Duration,
        /// The version that is spoken.
        version: &'static str,
    },
    /// A connection could not be made.
    ConnectFailed {
        /// The server.
        server: ServerName,
        /// Set if the server was connected before.
        is_reconnect: bool,
        /// The time until the attempt failed.
        took: Duration,
        /// The cause, without secrets.
        error: String,
    },
    /// A connection is gone.
    Disconnected {
        /// The server.
        server: ServerName,
        /// The cause, without secrets.
        reason: String,
    },
    /// A tool is being called, a resource read or a prompt got.
    CallStarted(Call),
    /// The policy allowed or denied a call.
    Decided {
        /// The call.
        call: Call,
        /// `allow` or `deny`.
        decision: &'static str,
        /// The rule that decided.
        rule: Rule,
        /// A hash of the arguments.
        arguments: Option<ArgumentHash>,
    },
    /// A call has returned a result.
    CallCompleted {
        /// The call.
        call: Call,
        /// The duration of the call.
        took: Duration,
        /// Set if the tool reported an error.
        is_error: bool,
    },
    /// A call has failed without a result.
    CallFailed {
        /// The call.
        call: Call,
        /// The time until the call failed.
        took: Duration,
        /// The cause, without secrets.
        error: String,
    },
    /// A server's tools, resources or prompts have changed.
    CatalogChanged {
        /// The server.
        server: ServerName,
        /// The changes, one line each; long lists are cut.
        changes: Vec<String>,
    },
    /// A list could not be fetched from a server.
    ListFailed {
        /// The server.
        server: ServerName,
        /// The name of the list.
        list: &'static str,
        /// The cause, without secrets.
        error: String,
    },
    /// A request failed because the user has to log in; sent once for the same need.
    LoginNeeded {
        /// The server.
        server: ServerName,
        /// The issuer to log in at, if it is known.
        issuer: Option<String>,
        /// The scopes to ask for; empty if the server names none.
        scopes: Vec<String>,
        /// `no_token`, `rejected`, `revoked` or `insufficient_scope`.
        reason: &'static str,
    },
    /// A token was renewed without the user.
    TokenRenewed {
        /// The server.
        server: ServerName,
        /// The issuer that gave it.
        issuer: String,
    },
    /// A login was started and failed.
    LoginFailed {
        /// The server.
        server: ServerName,
        /// The cause, without secrets.
        error: String,
    },
    /// Something is odd about a server, but it works.
    Notice {
        /// The server.
        server: ServerName,
        /// The notice, in words.
        text: String,
    },
    /// Messages of a server were dropped.
    Shed {
        /// The server.
        server: ServerName,
        /// The total number of messages.
        messages: u64,
    },
}

/// The call that an event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// Different for each call of a host.
    pub id: u64,
    /// The server that is called.
    pub server: ServerName,
    /// The kind of the called item.
    pub what: What,
    /// Its own name, or its URI.
    pub name: Arc<str>,
    /// The id of the caller.
    pub caller: Arc<str>,
}

/// The kinds of items that can be called.
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

    /// Returns the name of the event, as [`write_line`] writes it.
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
/// A reader that falls behind gets [`RecvError::Lagged`](broadcast::error::RecvError::Lagged) with the
/// number of missed events, and then the events that are still kept.
pub type Events = broadcast::Receiver<Event>;

/// The sending side of the event channel.
#[derive(Debug, Clone)]
pub(crate) struct EventSender(broadcast::Sender<Event>);

impl EventSender {
    /// Creates a channel that keeps up to `most` events for a slow reader.
    pub(crate) fn new(most: usize) -> Self {
        Self(broadcast::Sender::new(most.max(1)))
    }

    pub(crate) fn subscribe(&self) -> Events {
        self.0.subscribe()
    }

    /// Returns `true` if there is a subscriber, or if tracing at the level `debug` is on.
    pub(crate) fn is_heard(&self) -> bool {
        self.0.receiver_count() > 0
            || tracing::enabled!(target: "switchboard", tracing::Level::DEBUG)
    }

    /// Sends an event to all subscribers and to tracing. Does not even build the event if there are none.
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
        // An error means only that there are no subscribers.
        drop(self.0.send(event));
    }
}
