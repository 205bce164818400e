//! Uses that a person is asked about.

use std::fmt;

use super::caller::Caller;
use super::decision::{Reason, Scope};
use super::request::{Kind, Request, Verb};
use crate::spec::{Identity, ServerName};

/// The answer to a [`UseRequest`]: how much may be used, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UseApproval {
    /// This, now; the next time is asked about again.
    Once,
    /// This, as long as the program runs.
    Session,
    /// All that is granted of this server, as long as the program runs.
    Server,
    /// All that is granted of this server, from now on.
    Always,
    /// Nothing.
    Refuse,
}

/// A use that the person is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UseRequest {
    /// The agent that wants it.
    pub caller: Caller,
    /// The name of the server. It is to be shown; nothing is approved by it.
    pub server: ServerName,
    /// The place of the server's description, in words.
    pub origin: String,
    /// The identity of the server, which an approval is bound to.
    pub identity: Identity,
    /// The use.
    pub item: Item,
    /// The rule that has it asked about.
    pub reason: Reason,
    /// The extent of the question.
    pub scope: Scope,
}

/// One thing that is done with something of a server.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    /// What is done.
    pub verb: Verb,
    /// With what kind of thing; nothing where it is the server as such.
    pub kind: Option<Kind>,
    /// Its name or its address, as the server gave it.
    pub name: String,
}

impl UseRequest {
    /// Creates the question that a request leads to. The host knows the identity of the server, and
    /// where it is described.
    pub fn new(
        request: &Request<'_>,
        (reason, scope): (Reason, Scope),
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
        }
    }
}

impl Item {
    /// What a request is about, without who and whose.
    pub fn of(request: &Request<'_>) -> Self {
        let (kind, name) = request.target.item().unzip();
        Self {
            verb: request.verb,
            kind,
            name: name.unwrap_or_default().to_owned(),
        }
    }

    /// Whether a request is about this.
    pub fn is(&self, request: &Request<'_>) -> bool {
        let (kind, name) = request.target.item().unzip();
        self.verb == request.verb && self.kind == kind && self.name == name.unwrap_or_default()
    }
}

/// `call tool get_issue`, verbatim: it is to be made safe where it meets a terminal.
impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(kind) => write!(f, "{} {kind} {}", self.verb, self.name),
            None => write!(f, "{} server", self.verb),
        }
    }
}

/// One sentence, verbatim: it is to be made safe where it meets a terminal.
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
