//! What a host knows of one of its servers.

use std::time::Duration;

use switchboard_protocol::{ServerCapabilities, ServerInfo, Version};

use crate::catalog::ItemKind;
use crate::error::Error;
use crate::session::Counts;
use crate::spec::{Origin, ServerName, TransportKind};

/// What a host knows of one of its servers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// The name that a person gave it.
    pub name: ServerName,
    /// How it is.
    pub state: State,
    /// How it is reached; not known of one that is only described by its tools.
    pub transport: Option<TransportKind>,
    /// Where it is described.
    pub origin: Origin,
    /// What it is: `stdio:CMD:ARGS`, `http:URL`, secrets redacted. Not known before it is approved.
    pub identity: Option<String>,
    /// The version that was last spoken with it.
    pub version: Option<Version>,
    /// Who it says it is.
    pub server: Option<ServerInfo>,
    /// How long the last connection took to make.
    pub took: Option<Duration>,
    /// How much of each it offers.
    pub offers: Offers,
    /// What is odd with it: items set aside, lists cut short or not to be had.
    pub notices: Vec<String>,
    /// The lists that could not be read the last time, and why.
    pub unlisted: Vec<(ItemKind, Error)>,
    /// What it says on the live connection that it can do.
    pub capabilities: Option<ServerCapabilities>,
    /// The process behind the live connection, where it is one of ours.
    pub pid: Option<u32>,
    /// What was passed over on the live connection.
    pub counts: Option<Counts>,
}

/// How a server is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum State {
    /// Nobody has wanted it yet.
    Idle,
    /// A connection is being made.
    Connecting,
    /// It can be used.
    Ready,
    /// It cannot be used, for this reason: not reached, not approved, disabled, described wrongly.
    Failed(Error),
    /// There was a connection, and it is gone. The next use makes another, if it may.
    Closed(String),
    /// It has no connection: its tools were registered by hand.
    Offline,
}

/// How much a server offers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Offers {
    /// Tools that can be seen.
    pub tools: usize,
    /// Prompts.
    pub prompts: usize,
    /// Resources.
    pub resources: usize,
    /// Templates of resources.
    pub templates: usize,
}

impl State {
    /// A word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Connecting => "connecting",
            Self::Ready => "ready",
            Self::Failed(_) => "failed",
            Self::Closed(_) => "closed",
            Self::Offline => "offline",
        }
    }
}

impl Status {
    /// Whether the server is switched off.
    pub fn is_disabled(&self) -> bool {
        self.error().is_some_and(Error::is_disabled)
    }

    /// Whether the server can be used now.
    pub fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready)
    }

    /// Why it cannot be used, if it cannot.
    pub fn error(&self) -> Option<&Error> {
        match &self.state {
            State::Failed(error) => Some(error),
            _ => None,
        }
    }
}
