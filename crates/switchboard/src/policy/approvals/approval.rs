//! One thing that was approved.

use std::fmt;
use std::time::SystemTime;

use crate::policy::approve::Item;
use crate::policy::caller::CallerId;
use crate::spec::{Identity, ServerName};

/// How long an approval lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lasts {
    /// For one use.
    Once,
    /// As long as the program runs.
    Session,
    /// Until it is revoked.
    Always,
}

/// How much is approved.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Covers {
    /// All that is granted of the server.
    Server,
    /// One thing.
    Item(Item),
}

/// Something that was approved.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Approval {
    /// For which agent.
    pub caller: CallerId,
    /// What the server was called; to be shown, nothing else.
    pub server: ServerName,
    /// Where the server was described, in words.
    pub origin: String,
    /// Which server it really is.
    pub identity: Identity,
    /// How much.
    pub covers: Covers,
    /// For how long.
    pub lasts: Lasts,
    /// When that was, to the second.
    pub approved: SystemTime,
}

/// Which approvals are meant: those that have all of what is given here; all, where nothing is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Which {
    /// For this agent.
    pub caller: Option<CallerId>,
    /// For servers that were called this.
    pub server: Option<ServerName>,
    /// For this very server.
    pub identity: Option<Identity>,
}

impl Which {
    /// Whether an approval is one of them.
    pub fn means(&self, approval: &Approval) -> bool {
        let Self {
            caller,
            server,
            identity,
        } = self;
        caller.as_ref().is_none_or(|id| *id == approval.caller)
            && server.as_ref().is_none_or(|name| *name == approval.server)
            && identity.is_none_or(|identity| identity == approval.identity)
    }
}

impl fmt::Display for Lasts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Once => "once",
            Self::Session => "for this session",
            Self::Always => "for good",
        })
    }
}

/// `everything` or the one thing, verbatim: it is to be made safe where it meets a terminal.
impl fmt::Display for Covers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server => f.write_str("everything"),
            Self::Item(item) => fmt::Display::fmt(item, f),
        }
    }
}
