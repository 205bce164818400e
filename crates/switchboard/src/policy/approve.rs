//! Asking the person.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use super::caller::Caller;
use super::decision::{Reason, Scope};
use super::request::{Kind, Request, Verb};
use crate::spec::{Identity, ServerName};

/// Answers for what an agent may do only after asking.
///
/// A program that has a person at hand shows the [`Ask`] and waits for them. The future may take as
/// long as the person does, and may be dropped at any time, which is a refusal.
pub trait Approve: Send + Sync {
    /// Says whether what is asked about may be done.
    fn approve<'a>(&'a self, ask: &'a Ask) -> Pin<Box<dyn Future<Output = Approved> + Send + 'a>>;
}

/// What may be done, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Approved {
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

/// Refuses everything: the answer where there is nobody to ask.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unattended;

/// What the person is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ask {
    /// Who wants something.
    pub caller: Caller,
    /// Of which server; its name is to be shown, and nothing is approved by it.
    pub server: ServerName,
    /// Where the description of the server comes from, in words.
    pub origin: String,
    /// Which server it really is.
    pub identity: Identity,
    /// What is wanted.
    pub item: Item,
    /// The rule that has it asked about.
    pub reason: Reason,
    /// How much is asked about.
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

impl Ask {
    /// The question that a request leads to. The host says which server it really is, and where it is
    /// described.
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
impl fmt::Display for Ask {
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

impl Approve for Unattended {
    fn approve<'a>(&'a self, _ask: &'a Ask) -> Pin<Box<dyn Future<Output = Approved> + Send + 'a>> {
        Box::pin(std::future::ready(Approved::Refuse))
    }
}
