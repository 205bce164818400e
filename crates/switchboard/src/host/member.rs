//! One server of a host, from its description to its live connection.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use switchboard_wire::{LogLevel, ServerInfo, Tool, Version};
use tokio::sync::{Mutex as Turn, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::catalog::{ItemKind, ServerCatalog};
use crate::config::{Entry, Problem};
use crate::error::{Context, Error};
use crate::pins::Pinned;
use crate::secret::Redactor;
use crate::server::{Server, ServerState};
use crate::spec::{Identity, Origin, ServerName, ServerSpec, Settings, TransportKind};
use crate::talk::Roots;
use crate::transport::Connect;

use super::watching::Topics;

/// Where a member comes from.
pub(super) enum Source {
    /// A description with nothing left to expand, made by the program.
    Spec(Box<ServerSpec>),
    /// An entry of a config file, not yet approved or expanded.
    Entry(Box<Entry>),
    /// A transport of the program's own.
    Own(Arc<dyn Connect>, Box<Settings>),
    /// Tools without a server.
    Offline(Vec<Tool>),
    /// An entry of a config file that cannot be used.
    Broken(Box<Problem>),
}

/// One server of a host.
pub(super) struct Member {
    pub(super) name: ServerName,
    pub(super) origin: Origin,
    pub(super) source: Source,
    /// What it is once it is approved and expanded; from then on it stays.
    ready: OnceLock<Arc<Ready>>,
    /// Which server it really is.
    pub(super) identity: OnceLock<Identity>,
    /// Whoever makes it ready.
    pub(super) opening: Turn<()>,
    /// Cancelled when the host has it no more.
    pub(super) gone: CancellationToken,
    /// How often its lists were wanted fresh.
    pub(super) wanted: watch::Sender<u64>,
    /// Up to which of these its tools are.
    pub(super) tools_listed: watch::Sender<u64>,
    /// Up to which of these all of its lists are.
    pub(super) listed: watch::Sender<u64>,
    /// Whoever tends the connection: after one is lost, the next waits until that is said.
    pub(super) tending: Turn<()>,
    /// The folders that it is told of.
    pub(super) roots: Roots,
    /// Who wants to be told of which of its resources.
    pub(super) topics: Arc<Topics>,
    facts: Mutex<Facts>,
}

/// A member that may be connected to.
pub(super) struct Ready {
    pub(super) server: Server,
    pub(super) settings: Settings,
    pub(super) secrets: Arc<Redactor>,
    pub(super) identity: String,
}

/// What was found out about a member.
#[derive(Default)]
pub(super) struct Facts {
    /// Why it cannot be used, where that is not its connection's fault.
    pub(super) refused: Option<Error>,
    /// What it offered when it was approved.
    pub(super) pinned: Option<Arc<Pinned>>,
    /// Of which offer it is known how its instructions stand to what was approved, and how.
    pub(super) instructed: Option<(Arc<ServerCatalog>, Arc<Pinned>, bool)>,
    pub(super) version: Option<Version>,
    pub(super) server: Option<ServerInfo>,
    pub(super) took: Option<Duration>,
    /// From which level on it is to log, where somebody has said so.
    pub(super) log_level: Option<LogLevel>,
    /// The lists that could not be read the last time, and why.
    pub(super) unlisted: Vec<(ItemKind, Error)>,
    /// The lists that are known, when each was read and until when it may be kept.
    pub(super) reads: BTreeMap<ItemKind, Read>,
}

/// When a list was read.
#[derive(Clone, Copy)]
pub(super) struct Read {
    pub(super) at: Instant,
    /// For how long the server says that it may be kept.
    pub(super) ttl: Option<Duration>,
}

impl Member {
    pub(super) fn new(name: ServerName, origin: Origin, source: Source) -> Self {
        Self {
            name,
            origin,
            source,
            ready: OnceLock::new(),
            identity: OnceLock::new(),
            opening: Turn::new(()),
            gone: CancellationToken::new(),
            wanted: watch::Sender::new(0),
            tools_listed: watch::Sender::new(0),
            listed: watch::Sender::new(0),
            tending: Turn::new(()),
            roots: Roots::default(),
            topics: Arc::default(),
            facts: Mutex::new(Facts::default()),
        }
    }

    /// What it is, if it may be connected to already.
    pub(super) fn ready(&self) -> Option<&Arc<Ready>> {
        self.ready.get()
    }

    /// Makes it one that may be connected to.
    pub(super) fn make_ready(&self, ready: Ready) -> &Arc<Ready> {
        self.facts().refused = None;
        self.ready.get_or_init(|| Arc::new(ready))
    }

    pub(super) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How it is reached, as far as that is known.
    pub(super) fn transport(&self) -> Option<TransportKind> {
        match &self.source {
            Source::Spec(spec) => Some(spec.transport()),
            Source::Entry(entry) => Some(entry.transport()),
            Source::Own(..) | Source::Offline(_) | Source::Broken(_) => None,
        }
    }

    /// Whether it is switched off.
    pub(super) fn is_disabled(&self) -> bool {
        match &self.source {
            Source::Spec(spec) => !spec.is_enabled,
            Source::Entry(entry) => !entry.is_enabled(),
            Source::Own(..) | Source::Offline(_) | Source::Broken(_) => false,
        }
    }

    /// Says that an error is about this server.
    pub(super) fn about(&self, error: impl Into<Error>) -> Error {
        let ready = self.ready();
        let identity = ready.map(|ready| ready.identity.clone());
        let context = Context::of(&self.name, identity, &self.origin);
        let error = error.into().in_context(context);
        match ready {
            Some(ready) => error.without(&ready.secrets),
            None => error,
        }
    }

    /// What its connection is doing, if there may be one.
    pub(super) fn connection(&self) -> Option<ServerState> {
        let ready = self.ready()?;
        Some(ready.server.state().borrow().clone())
    }
}

impl Member {
    /// Takes the secrets of the server out of a text.
    pub(super) fn redact(&self, text: &str) -> String {
        self.redacted(text).into_owned()
    }

    /// The same, which borrows where there are none.
    pub(super) fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.ready() {
            Some(ready) => ready.secrets.redact(text),
            None => Cow::Borrowed(text),
        }
    }
}
