//! The status of a server.

use std::sync::Arc;
use std::time::Duration;

use switchboard_wire::{ServerCapabilities, ServerInfo, Version};

use super::member::{Member, Source};
#[cfg(feature = "auth")]
use crate::auth::{AuthError, LoginReason, NeedsLogin};
use crate::catalog::{Freshness, ItemKind, ServerCatalog};
use crate::error::{Error, HostError};
use crate::secret::Secret;
use crate::server::ServerState;
use crate::session::{CloseCause, CloseReason, Counts};
use crate::spec::{Origin, ServerName, TransportKind};

/// The status of one server of a host.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// The name that a person gave it.
    pub name: ServerName,
    /// Its state.
    pub state: State,
    /// Its transport; not known of a server that is only described by its tools.
    pub transport: Option<TransportKind>,
    /// The place of its description.
    pub origin: Origin,
    /// Its identity: `stdio:CMD:ARGS`, `http:URL`, secrets redacted. Not known before it is
    /// approved.
    pub identity: Option<String>,
    /// The protocol version of the last connection.
    pub version: Option<Version>,
    /// The name and version that the server reports of itself.
    pub server: Option<ServerInfo>,
    /// The time that the last connection took to make.
    pub took: Option<Duration>,
    /// The number of items that it offers, by kind.
    pub offers: Offers,
    /// Irregularities: items set aside, lists cut short or not available.
    pub notices: Vec<String>,
    /// The lists that could not be read the last time, and why.
    pub unlisted: Vec<(ItemKind, Error)>,
    /// The capabilities that it declared on the live connection.
    pub capabilities: Option<ServerCapabilities>,
    /// The process id behind the live connection, if we started the process.
    pub pid: Option<u32>,
    /// The id of the session that a legacy server over HTTP opened on the live connection. It is a secret,
    /// because knowing it gives access to the session.
    pub session_id: Option<Secret<String>>,
    /// The last lines that it wrote to stderr, on the live connection or on the one that failed.
    pub stderr: Vec<String>,
    /// Counts of the messages that were dropped or refused on the live connection.
    pub counts: Option<Counts>,
    /// The freshness of what it offers; `None` if nothing is known of it.
    #[doc(hidden)]
    pub freshness: Option<Freshness>,
    /// What is known of it is from an earlier run.
    #[doc(hidden)]
    pub is_kept: bool,
    /// The capabilities that it declared on its last connection, which may be one of an earlier run.
    #[doc(hidden)]
    pub known_capabilities: Option<ServerCapabilities>,
}

/// The state of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum State {
    /// Nothing has used it yet, or its owner has closed the connection.
    Idle,
    /// A connection is being made.
    Connecting,
    /// There is a live connection. Lists that could not be read are in [`Status::unlisted`].
    Connected,
    /// It cannot be used, for this reason: not started or reached, described wrongly, or it has ended.
    Failed(Error),
    /// It is switched off.
    Disabled,
    /// It came with a folder, and the person has not approved it: [`Error::question`].
    NeedsApproval(Error),
    /// A person has to log in to it: [`Error::needs_login`].
    NeedsLogin(Error),
    /// It has no connection: its tools were registered by hand.
    Offline,
}

/// The number of items that a server offers, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
#[doc(hidden)]
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
    /// A word for it: `connected`, `needs_approval`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Failed(_) => "failed",
            Self::Disabled => "disabled",
            Self::NeedsApproval(_) => "needs_approval",
            Self::NeedsLogin(_) => "needs_login",
            Self::Offline => "offline",
        }
    }

    /// Makes the state of a server that cannot be used: it needs approval or a login, or it failed.
    fn of(error: Error) -> Self {
        // The more specific state first: an open question or a missing login is something to act
        // on.
        if error.question().is_some() {
            Self::NeedsApproval(error)
        } else if error.needs_login().is_some() {
            Self::NeedsLogin(error)
        } else {
            Self::Failed(error)
        }
    }
}

impl Status {
    /// Returns true if the server is disabled.
    pub fn is_disabled(&self) -> bool {
        matches!(self.state, State::Disabled)
    }

    /// Returns true if the server is connected.
    pub fn is_ready(&self) -> bool {
        matches!(self.state, State::Connected)
    }

    /// Returns the error that keeps the server from being used, if there is one.
    pub fn error(&self) -> Option<&Error> {
        match &self.state {
            State::Failed(error) | State::NeedsApproval(error) | State::NeedsLogin(error) => {
                Some(error)
            }
            _ => None,
        }
    }

    /// Returns the error that keeps the server from being used, or else that of the first list that
    /// could not be read.
    pub fn problem(&self) -> Option<&Error> {
        let unlisted = || self.unlisted.first().map(|(_, error)| error);
        self.error().or_else(unlisted)
    }
}

impl Status {
    /// The status of a server with that part in the catalog.
    pub(super) fn of(member: &Member, part: Option<&ServerCatalog>) -> Self {
        let offers = part.map(|part| Offers {
            tools: part.tools().len(),
            prompts: part.prompts().len(),
            resources: part.resources().len(),
            templates: part.templates().len(),
        });
        let unlisted = member.listing.unlisted();
        let mut notices: Vec<String> = Vec::new();
        if let Some(part) = part {
            let odd = part.notices().iter().map(ToString::to_string);
            notices.extend(odd.map(|notice| member.redact(&notice)));
            let name = format!("{}: ", member.name);
            notices.extend(unlisted.iter().map(|(kind, error)| {
                // The reader knows the server.
                format!("{kind}s not listed: {error}").replacen(&name, "", 1)
            }));
            let is_read = member.listing.why_unlisted(ItemKind::Tool).is_none();
            if part.tools().is_empty() && is_read && !member.is_offline() {
                notices.push("it offers no tools".to_owned());
            }
        }
        // The state before the notices: a needed login is a notice only while the server works
        // without it.
        let state = state(member);
        #[cfg(feature = "auth")]
        if let (State::Connected, Some(needed)) = (&state, needed_login(member)) {
            notices.push(needed.to_string());
        }
        let live = member.ready().and_then(|ready| ready.server.live());
        // A live process has the newest lines; an error kept those of the one that ended.
        let stderr = match (&live, &state) {
            (Some(live), _) => live.peer().stderr(),
            (None, State::Failed(error)) => error.stderr().to_vec(),
            _ => Vec::new(),
        };
        // Locked last and held briefly: the calls above take this lock too.
        let facts = member.facts();
        notices.extend(facts.unusable.clone());
        Self {
            name: member.name.clone(),
            state,
            transport: member.transport(),
            origin: member.origin(),
            identity: member.ready().map(|ready| ready.identity.clone()),
            version: facts.version,
            server: facts.server.clone(),
            took: facts.took,
            offers: offers.unwrap_or_default(),
            notices,
            unlisted,
            capabilities: (live.as_ref()).map(|live| live.negotiated().capabilities.clone()),
            stderr: stderr.iter().map(|line| member.redact(line)).collect(),
            pid: live.as_ref().and_then(|live| live.peer().pid()),
            session_id: live.as_ref().and_then(|live| live.session_id()),
            counts: live.map(|session| session.counts()),
            freshness: part.map(ServerCatalog::freshness),
            is_kept: facts.is_kept,
            known_capabilities: facts.capabilities.clone(),
        }
    }
}

fn state(member: &Member) -> State {
    match &member.source {
        Source::Offline(_) => return State::Offline,
        #[cfg(feature = "config")]
        Source::Broken(problem) => {
            return State::Failed(member.with_context(HostError::Problem(problem.clone())));
        }
        _ if member.is_disabled() => return State::Disabled,
        _ => {}
    }
    // Refused before the connection state: such a server was never connected to.
    if let Some(error) = &member.facts().refused {
        return State::of(error.clone());
    }
    match member.connection() {
        None | Some(ServerState::Idle) => State::Idle,
        Some(ServerState::Connecting) => State::Connecting,
        Some(ServerState::Connected) => {
            // The state lags behind by a moment when a connection has just ended.
            match member.ready().and_then(|r| r.server.last_close_reason()) {
                Some(reason) => ended(member, reason),
                None => match rejection_of(member) {
                    Some(error) => State::NeedsLogin(error),
                    None => State::Connected,
                },
            }
        }
        Some(ServerState::Failed(error)) => State::of(member.with_context(error)),
        Some(ServerState::Closed(reason)) => ended(member, reason),
    }
}

/// The error of a server that is connected and does not take its token any more. One that only wants more scopes for
/// some of its tools can be used.
#[cfg(feature = "auth")]
fn rejection_of(member: &Member) -> Option<Error> {
    let needed = needed_login(member)?;
    let is_usable = needed.reason == LoginReason::InsufficientScope;
    (!is_usable)
        .then(|| member.with_context(HostError::Auth(Box::new(AuthError::NeedsLogin(needed)))))
}

#[cfg(not(feature = "auth"))]
fn rejection_of(_: &Member) -> Option<Error> {
    None
}

/// The login that the last request to a server failed for.
#[cfg(feature = "auth")]
fn needed_login(member: &Member) -> Option<NeedsLogin> {
    let ready = member.ready()?;
    ready.authorizer.as_ref()?.needed_login()
}

/// The state of a server whose connection is gone.
fn ended(member: &Member, reason: Arc<CloseReason>) -> State {
    match reason.cause {
        CloseCause::ByUs => State::Idle,
        _ => State::Failed(member.with_context(HostError::Ended(reason))),
    }
}
