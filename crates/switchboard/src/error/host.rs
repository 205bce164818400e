//! Errors between a program and a session: unknown names, missing approvals, wrong arguments and
//! the like.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::ErrorKind;
use super::denial::Denial;
use crate::auth::AuthError;
#[cfg(feature = "config")]
use crate::config::Problem;
use crate::policy::CallerId;
use crate::schema::Violation;
use crate::session::CloseReason;
use crate::spec::ServerName;
use crate::trust::{Question, StoreError};

/// The causes of an error that arise in a host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[cfg_attr(not(all(feature = "auth", feature = "config")), expect(dead_code))]
pub(crate) enum HostError {
    /// A file describes the server wrongly.
    #[cfg(feature = "config")]
    #[error("{0}")]
    Problem(Box<Problem>),
    /// The server is switched off.
    #[error("the server is disabled")]
    Disabled,
    /// The person has not approved the server.
    #[error("the server is not approved: a project's file defines it")]
    Untrusted(Box<Question>),
    /// The stored approvals cannot be read.
    #[error("the list of approvals cannot be used")]
    Store(#[source] StoreError),
    /// A person has to log in to the server, or its login is described wrongly.
    #[error("{0}")]
    Auth(Box<AuthError>),
    /// The server has no login.
    #[error("there is nothing to log in to: {why}")]
    NoLogin {
        /// The reason.
        why: &'static str,
    },
    /// There is no such thing.
    #[error("there is no {what} named {name:?}")]
    Unknown {
        /// The kind of thing that was looked for, such as `tool`.
        what: &'static str,
        /// Its name.
        name: String,
        /// A name that is much like it.
        closest: Option<String>,
        /// The names there are, as far as they are worth showing.
        known: Vec<String>,
    },
    /// The policy does not mention an agent.
    #[error("{0}")]
    NoPolicy(Box<MissingPolicy>),
    /// The policy, or the person, does not let an agent do this.
    #[error("{0}")]
    Denied(Box<Denial>),
    /// A server of that name is there already.
    #[error("there is a server named {0:?} already")]
    Twice(ServerName),
    /// The program registered a tool of that name already.
    #[error("the server has a tool named {tool:?} already")]
    ToolTwice {
        /// The name.
        tool: String,
    },
    /// A new server was not connected within the time that the program allows.
    #[error("the server was not connected within {limit:?}, and is not kept")]
    NewServerTimedOut {
        /// The time.
        limit: Duration,
    },
    /// The tool was registered by hand and has no server behind it.
    #[error("the tool {tool:?} has no live server: it was registered by its description alone")]
    Offline {
        /// Its own name.
        tool: String,
    },
    /// The connection is gone.
    #[error("{0}")]
    Ended(Arc<CloseReason>),
    /// A server that is to have tools has none.
    #[error("the server offers no tools, and `fail_if_no_tools` is set")]
    NoTools,
    /// A client, or all of them together, have too many connections of their own.
    #[error("{most} connections of {} are open already", whose(*of_all))]
    TooManyConnections {
        /// The most there may be.
        most: usize,
        /// True if the limit is that of all clients together.
        of_all: bool,
    },
    /// The client is gone whose connections were to be used.
    #[error("the client is gone")]
    ClientGone,
    /// The arguments are no JSON object.
    #[error("the arguments must be a JSON object{}", because(why.as_deref()))]
    NoObject {
        /// The reason, if it is known.
        why: Option<String>,
    },
    /// The arguments do not fit the tool's schema.
    #[error("the arguments do not fit: {}", all(violations))]
    Arguments {
        /// The tool's own name.
        tool: String,
        /// The violations of the schema.
        violations: Vec<Violation>,
    },
    /// The structured result is not of the type that the program reads it as.
    #[error("the result is not of the expected type: {why}")]
    Structure {
        /// The reason.
        why: String,
    },
}

impl HostError {
    pub(super) fn kind(&self) -> ErrorKind {
        match self {
            #[cfg(feature = "config")]
            Self::Problem(_) => ErrorKind::Configuration,
            Self::Disabled
            | Self::Twice(_)
            | Self::ToolTwice { .. }
            | Self::NoLogin { .. }
            | Self::NoPolicy(_) => ErrorKind::Configuration,
            Self::Auth(error) => error.kind(),
            Self::Untrusted(_) | Self::Store(_) => ErrorKind::Untrusted,
            Self::Unknown { what: "server", .. } => ErrorKind::Configuration,
            Self::Unknown { .. } => ErrorKind::NotFound,
            Self::Denied(_) => ErrorKind::Denied,
            Self::Offline { .. } => ErrorKind::NotOffered,
            Self::NoTools
            | Self::NewServerTimedOut { .. }
            | Self::TooManyConnections { .. }
            | Self::ClientGone => ErrorKind::Connect,
            Self::Ended(_) => ErrorKind::Closed,
            Self::NoObject { .. } | Self::Arguments { .. } => ErrorKind::Arguments,
            Self::Structure { .. } => ErrorKind::Protocol,
        }
    }

    pub(super) fn was_sent(&self) -> bool {
        matches!(self, Self::Structure { .. })
    }
}

/// An agent that the policy does not mention, so that it could see and use nothing.
///
/// To fix it, add an entry to the section `agents` in [`file`](Self::file), at
/// [`pointer`](Self::pointer), such as [`example`](Self::example); a program that makes its own
/// policy calls [`HostBuilder::agent`](crate::HostBuilder::agent).
///
/// ```
/// use switchboard::Host;
///
/// # fn main() -> Result<(), switchboard::Error> {
/// let host = Host::builder().build()?;
/// let error = host.agent("planner").unwrap_err();
/// let missing = error.missing_policy().expect("an agent without a policy");
/// assert_eq!(missing.pointer(), "/agents/planner");
/// println!("add this entry: {}", missing.example());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MissingPolicy {
    /// The agent.
    pub agent: CallerId,
    /// The agents that the policy mentions.
    pub known: Vec<CallerId>,
    /// The config file whose section `agents` applies; `None` if the program makes the policy.
    pub file: Option<PathBuf>,
}

impl MissingPolicy {
    /// The place of the missing entry in the file, as a JSON pointer: `/agents/planner`.
    pub fn pointer(&self) -> String {
        let id = self.agent.as_str().replace('~', "~0").replace('/', "~1");
        format!("/agents/{id}")
    }

    /// An entry that lets the agent use all tools of one server and asks the person first.
    pub fn example(&self) -> &'static str {
        r#"{ "level": "trusted", "grants": ["mcp:SERVER:*"] }"#
    }
}

impl fmt::Display for MissingPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no policy for agent {:?}: nothing is allowed. ",
            self.agent
        )?;
        match &self.file {
            Some(file) => write!(f, "Add it under `agents` in {}", file.display()),
            None => f.write_str("Add it to the policy of the host"),
        }
    }
}

fn whose(of_all: bool) -> &'static str {
    if of_all { "all clients" } else { "this client" }
}

fn because(why: Option<&str>) -> String {
    why.map(|why| format!(": {why}")).unwrap_or_default()
}

fn all(violations: &[Violation]) -> String {
    let each = violations.iter().map(ToString::to_string);
    each.collect::<Vec<_>>().join("; ")
}
