//! Questions to the user about a use by an agent.

use std::fmt;

use switchboard_wire::Raw;

use super::caller::Caller;
use super::decision::{Reason, Scope};
use super::request::{Kind, Request, Verb};
use crate::spec::{Identity, ServerName};

/// The answer to a [`UseRequest`]: how much may be used, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UseApproval {
    /// Allows this use only; the next one asks again.
    Once,
    /// Allows this use as long as the program runs.
    Session,
    /// Allows everything that is granted of this server as long as the program runs.
    Server,
    /// Allows everything that is granted of this server until it is revoked.
    Always,
    /// Refuses.
    Refuse,
}

/// A use that the user is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UseRequest {
    /// The agent that wants it.
    pub caller: Caller,
    /// The name of the server, for display only: approvals do not depend on it.
    pub server: ServerName,
    /// The place of the server's description, in words.
    pub origin: String,
    /// The identity of the server; the approval is bound to it.
    pub identity: Identity,
    /// The use.
    pub item: Item,
    /// The rule that requires the question.
    pub reason: Reason,
    /// The scope of the question.
    pub scope: Scope,
    /// The arguments of a tool call, as they would be sent.
    pub arguments: Option<Raw>,
}

/// One action on one item of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[doc(hidden)]
pub struct Item {
    /// The action.
    pub verb: Verb,
    /// The kind of the item; `None` for the server itself.
    pub kind: Option<Kind>,
    /// The name or URI, as the server gave it.
    pub name: String,
}

impl UseRequest {
    /// Creates the question for a request. The host provides the identity of the server and the place of
    /// its description.
    pub fn new(
        request: &Request<'_>,
        reason: Reason,
        scope: Scope,
        identity: Identity,
        origin: impl Into<String>,
    ) -> Self {
        Self {
            caller: request.caller.clone(),
            server: request.target.server().clone(),
            origin: origin.into(),
            identity,
            item: Item::of(request),
            reason,
            scope,
            arguments: None,
        }
    }
}

impl Item {
    /// Takes the verb and the item from a request, without its caller and server.
    pub fn of(request: &Request<'_>) -> Self {
        let (kind, name) = request.target.item().unzip();
        Self {
            verb: request.verb,
            kind,
            name: name.unwrap_or_default().to_owned(),
        }
    }

    /// Returns `true` if a request has the same verb and the same item.
    pub fn is(&self, request: &Request<'_>) -> bool {
        let (kind, name) = request.target.item().unzip();
        self.verb == request.verb && self.kind == kind && self.name == name.unwrap_or_default()
    }
}

/// `call tool get_issue`, verbatim: sanitise it before showing it on a terminal.
impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => write!(f, "{} {kind} {}", self.verb, self.name),
            None => write!(f, "{} server", self.verb),
        }
    }
}

/// One sentence, verbatim: sanitise it before showing it on a terminal.
impl fmt::Display for UseRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            caller,
            server,
            item,
            reason,
            ..
        } = self;
        write!(f, "agent {caller} wants to {item} of {server} ({reason})")
    }
}
