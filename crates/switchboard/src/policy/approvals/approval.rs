//! One thing that was approved, and how it is written down.

use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::policy::approve::Item;
use crate::policy::caller::CallerId;
use crate::policy::request::{Kind, Verb};
use crate::private_store::{Record, from_seconds, to_seconds};
use crate::spec::{Identity, ParseIdentityError, ServerName};

/// The lifetime of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[doc(hidden)]
pub enum Lasts {
    /// Covers one use.
    Once,
    /// Lasts as long as the program runs.
    Session,
    /// Lasts until it is revoked.
    Always,
}

/// The scope of an approval: one item, or the whole server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[doc(hidden)]
pub enum Covers {
    /// Everything that is granted of the server.
    Server,
    /// One item.
    Item(Item),
}

/// A stored approval.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
pub struct Approval {
    /// The agent that it is for.
    pub caller: CallerId,
    /// The name of the server, for display only.
    pub server: ServerName,
    /// The place where the server was described, in words.
    pub origin: String,
    /// The identity of the server; matching uses this, not the name.
    pub identity: Identity,
    /// The scope of the approval.
    pub covers: Covers,
    /// For how long.
    pub lasts: Lasts,
    /// The time of the approval, to the second.
    pub approved: SystemTime,
}

/// Selects approvals: those that match every field given here, or all if none is given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[doc(hidden)]
pub struct Which {
    /// For this agent.
    pub caller: Option<CallerId>,
    /// For servers that were called this.
    pub server: Option<ServerName>,
    /// For this very server.
    pub identity: Option<Identity>,
}

impl Which {
    /// Returns `true` if an approval is selected.
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

/// `everything` or the item, verbatim: sanitise it before showing it on a terminal.
impl fmt::Display for Covers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server => f.write_str("everything"),
            Self::Item(item) => fmt::Display::fmt(item, f),
        }
    }
}

/// An approval in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenApproval {
    agent: String,
    server: String,
    origin: String,
    identity: String,
    /// The approved item; `None` for the whole server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    item: Option<WrittenItem>,
    /// Seconds since 1970.
    approved: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenItem {
    verb: String,
    kind: String,
    name: String,
}

impl Record for Approval {
    type Written = WrittenApproval;

    fn to_written(&self) -> WrittenApproval {
        WrittenApproval {
            agent: self.caller.to_string(),
            server: self.server.to_string(),
            origin: self.origin.clone(),
            identity: self.identity.to_string(),
            item: match &self.covers {
                Covers::Server => None,
                Covers::Item(item) => Some(WrittenItem {
                    verb: item.verb.to_string(),
                    kind: item.kind.map_or("server", Kind::as_str).to_owned(),
                    name: item.name.clone(),
                }),
            },
            approved: to_seconds(self.approved),
        }
    }

    fn from_written(written: WrittenApproval) -> Result<Self, String> {
        let covers = match written.item {
            None => Covers::Server,
            Some(item) => Covers::Item(read_item(item)?),
        };
        let identity = written.identity.parse();
        Ok(Self {
            caller: CallerId::parse(&written.agent).map_err(|error| error.to_string())?,
            server: ServerName::parse(&written.server).map_err(|error| error.to_string())?,
            origin: written.origin,
            identity: identity.map_err(|error: ParseIdentityError| error.to_string())?,
            covers,
            // Only permanent approvals are written to disk.
            lasts: Lasts::Always,
            approved: from_seconds(written.approved)?,
        })
    }

    fn server(&self) -> &str {
        self.server.as_str()
    }
}

fn read_item(written: WrittenItem) -> Result<Item, String> {
    // Unknown words are errors: a record of a later version must not be read as a wider approval.
    let verb = Verb::ALL
        .into_iter()
        .find(|verb| verb.as_str() == written.verb)
        .ok_or_else(|| format!("unknown verb {:?}", written.verb))?;
    let kinds = [Kind::Tool, Kind::Resource, Kind::Prompt];
    let kind = kinds.into_iter().find(|kind| kind.as_str() == written.kind);
    if kind.is_none() && written.kind != "server" {
        return Err(format!("unknown kind {:?}", written.kind));
    }
    Ok(Item {
        verb,
        kind,
        name: written.name,
    })
}
