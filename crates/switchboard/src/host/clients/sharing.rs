//! The rule by which clients share the connections to one server.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use switchboard_wire::{ClientCapabilities, Era, InputRequest};

use super::OwnConnection;
use crate::session::{Refusal, Respond, Responding, Session};

/// The way that clients share the connections to a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Modern servers are shared. A legacy server that opens a session over HTTP has a connection for
    /// each client; any other is shared until it has asked a question.
    #[default]
    Auto,
    /// All clients share one connection.
    Shared,
    /// Each client has a connection of its own.
    PerClient,
}

/// The connection that a use goes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// The shared one.
    Shared,
    /// The shared one, over which the server may ask a question of the one whose call it works on.
    SharedWithQuestions,
    /// The client's own.
    PerClient,
    /// Not known before the server was connected to.
    Unknown,
}

/// The kind of a server, as far as sharing depends on it; as numbers, because calls read it.
const UNKNOWN: u8 = 0;
const MODERN: u8 = 1;
const LEGACY: u8 = 2;
const LEGACY_WITH_SESSION: u8 = 3;

/// The state of sharing of one server.
#[derive(Default)]
pub(in crate::host) struct SharingState {
    /// What the program set; as a number, because calls read it.
    set: AtomicU8,
    kind: AtomicU8,
    /// The server has asked a question over the shared connection.
    has_asked: AtomicBool,
    /// The connections of single clients.
    own: Mutex<Vec<Weak<OwnConnection>>>,
}

impl SharingState {
    pub(super) fn set(&self, sharing: Sharing) {
        self.set.store(sharing as u8, Ordering::Relaxed);
    }

    /// Notes what a connection shows of the server.
    pub(in crate::host) fn learn(&self, session: &Session) {
        let kind = match session.negotiated().era() {
            Era::Modern => MODERN,
            Era::Legacy if session.session_id().is_some() => LEGACY_WITH_SESSION,
            Era::Legacy => LEGACY,
        };
        self.kind.store(kind, Ordering::Relaxed);
    }

    /// The rule for the next use.
    pub(super) fn rule(&self) -> Rule {
        let (set, kind) = (
            self.set.load(Ordering::Relaxed),
            self.kind.load(Ordering::Relaxed),
        );
        if set == Sharing::PerClient as u8 {
            return Rule::PerClient;
        }
        let is_shared = set == Sharing::Shared as u8;
        match kind {
            MODERN => Rule::Shared,
            UNKNOWN if !is_shared => Rule::Unknown,
            LEGACY_WITH_SESSION if !is_shared => Rule::PerClient,
            LEGACY if !is_shared && self.has_asked.load(Ordering::Relaxed) => Rule::PerClient,
            _ => Rule::SharedWithQuestions,
        }
    }

    /// Adds a connection of a client.
    pub(super) fn add(&self, connection: &Arc<OwnConnection>) {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        own.retain(|known| known.strong_count() > 0);
        own.push(Arc::downgrade(connection));
    }

    /// Ends all connections of clients, and waits until the server of each has ended.
    pub(in crate::host) async fn end_own(&self) {
        let own = {
            let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *own)
        };
        let own: Vec<_> = own.iter().filter_map(Weak::upgrade).collect();
        // All at once, then one wait after the other.
        own.iter().for_each(|own| own.end());
        for own in own {
            own.ended().await;
        }
    }
}

/// Handles the questions over a connection that clients share. Those that belong to a client's call go
/// to that client and do not come here.
pub(in crate::host) struct SharedQuestions {
    /// The capabilities of clients, as the program declares them.
    pub(in crate::host) declared: ClientCapabilities,
    /// The host's own handlers, which answer for the folders that its settings name.
    pub(in crate::host) host: Arc<dyn Respond>,
    pub(in crate::host) sharing: Arc<SharingState>,
}

impl SharedQuestions {
    fn is_for_host(&self, request: &InputRequest) -> bool {
        matches!(request, InputRequest::Roots) && self.host.capabilities().roots.is_some()
    }
}

impl Respond for SharedQuestions {
    fn capabilities(&self) -> ClientCapabilities {
        let mut capabilities = self.declared.clone();
        capabilities.roots = self.host.capabilities().roots.or(capabilities.roots);
        capabilities
    }

    fn respond<'a>(&'a self, request: &'a InputRequest) -> Responding<'a> {
        if self.is_for_host(request) {
            return self.host.respond(request);
        }
        let why = "it is not known which client is asked".to_owned();
        Box::pin(std::future::ready(Err(Refusal::Failed(why))))
    }

    fn claims(&self, request: &InputRequest) -> bool {
        let is_for_host = self.is_for_host(request);
        if !is_for_host {
            self.sharing.has_asked.store(true, Ordering::Relaxed);
        }
        is_for_host
    }
}
