//! Decisions, each with the rule that made it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::approvals::Lasts;
use super::grant::Grant;
use super::level::Level;
use crate::spec::ServerName;

/// The decision about a request, with the rule that made it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Decision {
    /// The request is allowed.
    Allow(Reason),
    /// The user has to be asked first, about everything in the scope.
    Ask(Reason, Scope),
    /// The request is denied.
    Deny(Reason),
}

/// The scope of a question to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
#[doc(hidden)]
pub enum Scope {
    /// Everything that is granted of the server.
    #[default]
    Server,
    /// One action on one item of the server, such as a call of one tool.
    Item,
}

/// The rule that decided.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The owner may do everything.
    Owner,
    /// The verb does not apply to the target.
    Unfit,
    /// The server is not offered to this agent.
    Audience(ServerName),
    /// There is no policy for this agent.
    NoPolicy,
    /// The agent's level.
    Level(Level),
    /// A pattern of a block list.
    Block {
        /// The owner of the list.
        list: List,
        /// The pattern.
        pattern: Arc<str>,
    },
    /// An allow list that does not contain the tool.
    Unlisted(List),
    /// A grant that is withheld from the agent.
    Withheld(Arc<Grant>),
    /// A grant.
    Grant(Arc<Grant>),
    /// There is no grant.
    NoGrant,
    /// A predicate of the program.
    Admit {
        /// The name that the program gave it.
        name: Arc<str>,
        /// The reason that the predicate gave.
        words: Cow<'static, str>,
    },
    /// A predicate of the program over the tool's definition and the context of the use.
    Filter(List),
    /// The user was asked and approved.
    Approved(Lasts),
    /// The user was asked and refused, or no operator was there to answer.
    Refused,
}

/// The owner of a list of tools.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[doc(hidden)]
pub enum List {
    /// The list of a server; it applies to all agents.
    Server(ServerName),
    /// The list of the agent; it applies to all servers.
    Agent,
    /// The filters of the host; they apply to all servers and to everyone.
    Host,
}

impl Decision {
    /// Returns `true` if the request is allowed without asking the user.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow(_))
    }

    /// Returns `true` if the request is denied and asking the user cannot change that.
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
    /// Returns the stable identifier of the rule for records. Unlike the message, it never changes.
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
            Self::Filter(_) => "filter",
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

/// Describes the rule in words. Patterns and the texts of predicates are verbatim: sanitise them before
/// showing them on a terminal.
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
            Self::Filter(list) => write!(f, "tool filter of {list}"),
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
            Self::Host => f.write_str("the host"),
        }
    }
}
