//! Requests to an operator, and the answers that have no other home.

use switchboard_wire::ElicitParams;

#[cfg(feature = "config")]
use crate::config::Input;
use crate::pins::Drift;
use crate::secret::SafeUrl;
use crate::spec::ServerName;

/// Definitions of a server that have changed since it was approved.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ChangeRequest {
    /// The server.
    pub server: ServerName,
    /// The changes that concern the tool that is about to be used.
    pub drifts: Vec<Drift>,
}

impl ChangeRequest {
    pub(crate) fn new(server: ServerName, drifts: Vec<Drift>) -> Self {
        Self { server, drifts }
    }
}

/// The answer to a [`ChangeRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChangeApproval {
    /// The definitions are approved as they are now.
    Approve,
    /// Agents do not get them.
    Refuse,
}

/// A question of a server for the user.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ElicitRequest {
    /// The server.
    pub server: ServerName,
    /// The question: see [`Form::read`](crate::talk::Form::read) and
    /// [`Link::parse`](crate::talk::Link::parse).
    pub params: ElicitParams,
}

impl ElicitRequest {
    /// Creates the request for a question of a server.
    pub fn new(server: ServerName, params: ElicitParams) -> Self {
        Self { server, params }
    }
}

/// The kinds of questions that an operator answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum ElicitSupport {
    /// None.
    #[default]
    None,
    /// Forms.
    Forms,
    /// Forms, and URLs that the user is sent to.
    FormsAndUrls,
}

/// A value that a config file asks the user for.
#[cfg(feature = "config")]
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputPrompt {
    /// The server whose entry needs the value.
    pub server: ServerName,
    /// The description of the value in the file.
    pub input: Input,
}

#[cfg(feature = "config")]
impl InputPrompt {
    pub(crate) fn new(server: ServerName, input: Input) -> Self {
        Self { server, input }
    }
}

/// A login that a server needs, and the page on which the person logs in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoginRequest {
    /// The server.
    pub server: ServerName,
    /// The issuer, who asks the person for the password. Show its host whole.
    pub issuer: String,
    /// The scopes that are requested.
    pub scopes: Vec<String>,
    /// The address to open in a browser; [`SafeUrl::expose`] shows all of it.
    pub page: SafeUrl,
}

impl LoginRequest {
    /// Creates the request of a server, without scopes.
    pub fn new(server: ServerName, issuer: impl Into<String>, page: SafeUrl) -> Self {
        Self {
            server,
            issuer: issuer.into(),
            scopes: Vec::new(),
            page,
        }
    }
}

/// The answer to a [`LoginRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoginDecision {
    /// The page was opened: the host waits for the person to log in.
    PageOpened,
    /// The server stays without a login.
    Refuse,
}
