//! What is decided, and which rule decided it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::approvals::Lasts;
use super::grant::Grant;
use super::level::Level;
use crate::spec::ServerName;

/// Whether something may be done, with the rule that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// It may.
    Allow(Reason),
    /// The person is to be asked first, about as much as the scope says.
    Ask(Reason, Scope),
    /// It may not.
    Deny(Reason),
}

/// How much a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// All that was granted of the server.
    Server,
}

/// The rule that decided.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The person may do everything.
    Owner,
    /// What was wanted is nothing that can be done with this.
    Unfit,
    /// The server is for others.
    Audience(ServerName),
    /// Nobody has said what this agent may do.
    NoPolicy,
    /// The agent's level.
    Level(Level),
    /// A pattern of a block list.
    Block {
        /// Whose list it is.
        list: List,
        /// The pattern.
        pattern: Arc<str>,
    },
    /// An allow list without it.
    Unlisted(List),
    /// A grant of what the agent may never do.
    Withheld(Arc<Grant>),
    /// A grant.
    Grant(Arc<Grant>),
    /// There is no grant.
    NoGrant,
    /// A predicate of the program.
    Admit {
        /// The name that the program gave it.
        name: Arc<str>,
        /// What it said.
        words: Cow<'static, str>,
    },
    /// The person was asked and approved.
    Approved(Lasts),
    /// The person was asked and refused, or there was nobody to ask.
    Refused,
}

/// Whose list of tools it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum List {
    /// That of a server, which is for all agents.
    Server(ServerName),
    /// That of the agent, which is for all servers.
    Agent,
}

impl Decision {
    /// Whether it may be done without asking anybody.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    /// Whether it may not be done, whoever is asked.
    pub fn is_denied(&self) -> bool {
        matches!(self, Self::Deny(_))
    }

    /// The rule that decided.
    pub fn reason(&self) -> &Reason {
        match self {
            Self::Allow(reason) | Self::Ask(reason, _) | Self::Deny(reason) => reason,
        }
    }

    /// `allow`, `ask` or `deny`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allow(_) => "allow",
            Self::Ask(..) => "ask",
            Self::Deny(_) => "deny",
        }
    }
}

impl Reason {
    /// What the rule is called in records: the same for ever, unlike the words.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Unfit => "unfit",
            Self::Audience(_) => "audience",
            Self::NoPolicy => "no-policy",
            Self::Level(_) => "level",
            Self::Block { .. } => "block",
            Self::Unlisted(_) => "allow-list",
            Self::Withheld(_) => "withheld",
            Self::Grant(_) => "grant",
            Self::NoGrant => "no-grant",
            Self::Admit { .. } => "admit",
            Self::Approved(_) => "approved",
            Self::Refused => "refused",
        }
    }
}

/// `allow: grant mcp:github:*`.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.as_str(), self.reason())
    }
}

/// In words. What patterns and predicates say is verbatim: it is to be made safe where it meets a
/// terminal.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner => f.write_str("the owner"),
            Self::Unfit => f.write_str("nothing that can be done with this"),
            Self::Audience(server) => write!(f, "audience of server {server}"),
            Self::NoPolicy => f.write_str("no policy for this agent"),
            Self::Level(level) => write!(f, "level {level}"),
            Self::Block { list, pattern } => write!(f, "block list of {list}: {pattern}"),
            Self::Unlisted(list) => write!(f, "not in the allow list of {list}"),
            Self::Withheld(grant) => write!(f, "withheld {grant}"),
            Self::Grant(grant) => write!(f, "grant {grant}"),
            Self::NoGrant => f.write_str("no grant"),
            Self::Admit { name, words } => write!(f, "admit hook {name}: {words}"),
            Self::Approved(lasts) => write!(f, "approved by the owner {lasts}"),
            Self::Refused => f.write_str("not approved by the owner"),
        }
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(server) => write!(f, "server {server}"),
            Self::Agent => f.write_str("the agent"),
        }
    }
}
