//! Many servers at once: from config files to named, checked, callable tools.
//!
//! A [`Host`] owns its servers. Each is approved if it has to be, connected to when it is wanted,
//! and has its lists read again when they change; one that is slow or broken delays nobody. What
//! they offer is put together in a [`Catalog`], and used through a [`View`].
//!
//! `member` is one server from its description to its connection, `admission` what must be so before it
//! is connected to, `refresh` and `lists` keep what is known of it fresh, `calls` is the way of a call.

mod access;
mod admission;
pub mod agents;
mod approval_claims;
mod builder;
mod calls;
mod cleanups;
mod complete;
mod eras;
mod handle;
mod launch;
mod level;
mod lists;
mod logs;
mod manage;
mod member;
mod models;
mod observer;
mod options;
mod prompts;
#[cfg(feature = "sampling")]
pub mod providers;
mod refresh;
mod result;
mod review;
mod rights;
mod roots;
pub mod secrets;
mod sections;
mod status;
pub mod surroundings;
mod templates;
mod told;
mod transport_for;
mod view;
mod watching;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::{Mutex as Turn, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use builder::HostBuilder;
pub use complete::Completions;
pub use eras::{EraBounds, Eras};
pub use handle::ToolHandle;
pub use logs::{Log, Logs, Said};
pub use models::{Passage, Reading};
pub use options::HostLimits;
pub use result::ToolResult;
pub use review::{Nobody, Review};
pub use status::{Offers, State, Status};
pub use told::ViewEvents;
pub use view::View;
pub use watching::{Update, Watching};

use cleanups::Cleanups;
use member::Member;
use options::Options;

use crate::catalog::Catalog;
use crate::config::{Config, Places, Problem};
use crate::error::{Error, HostError};
use crate::events::{Events, Sender};
pub use crate::policy::Caller;
use crate::spec::ServerName;
use crate::text::closest;
use crate::transport::Environment;

/// Names that are shown to somebody who asked for one that is not there.
const SHOWN_NAMES: usize = 20;

/// Many servers at once.
///
/// Clones share them. When the last is dropped, connections close and servers that were started
/// end; [`Host::shutdown`] also waits for it.
#[derive(Clone)]
pub struct Host(Arc<Inner>);

struct Inner {
    options: Options,
    members: RwLock<BTreeMap<ServerName, Arc<Member>>>,
    catalog: watch::Sender<Catalog>,
    events: Sender,
    logs: logs::Sender,
    problems: Vec<Problem>,
    cleanups: Arc<Cleanups>,
    /// Whoever asks the person something.
    asking: Turn<()>,
    calls: AtomicU64,
    /// Cancelled when nothing is to be connected to any more.
    closing: CancellationToken,
    /// Cancelled when connections need not be tended any more.
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Host {
    /// Begins to make a host.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }

    /// A host with every server that the config files at those places describe.
    ///
    /// What came with a folder is refused until it is approved; to keep approvals and to ask for
    /// them, use [`Host::builder`] with [`HostBuilder::trust`] and [`HostBuilder::vouch`].
    ///
    /// # Errors
    /// Never for what is in the files: see [`Host::problems`] and the status of each server.
    pub fn from_config(places: &Places, environment: &Environment) -> Result<Self, Error> {
        let config = Config::load(places);
        let mut builder = Self::builder()
            .environment(environment)
            .workspace(places.folder())
            .config(&config);
        if let Some(home) = places.home() {
            builder = builder.home(home);
        }
        builder.build()
    }

    fn new(inner: Inner) -> Self {
        let inner = Arc::new(inner);
        for member in inner.all_members() {
            inner.publish_offline(&member);
        }
        Self(inner)
    }

    /// What is wrong with the config files that the host was made from.
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// What all servers offer, now.
    pub fn catalog(&self) -> Catalog {
        self.0.catalog.borrow().clone()
    }

    /// What all servers offer, now and from now on.
    pub fn watch_catalog(&self) -> watch::Receiver<Catalog> {
        self.0.catalog.subscribe()
    }

    /// What happens from now on.
    pub fn events(&self) -> Events {
        self.0.events.subscribe()
    }

    /// What a caller can see and use.
    pub fn view(&self, caller: Caller) -> View {
        View::new(&self.0, caller)
    }
}

impl Inner {
    fn new(
        options: Options,
        members: BTreeMap<ServerName, Arc<Member>>,
        problems: Vec<Problem>,
    ) -> Self {
        Self {
            events: Sender::new(options.host_limits.events),
            logs: logs::Sender::new(options.host_limits.logs),
            options,
            members: RwLock::new(members),
            catalog: watch::Sender::new(Catalog::default()),
            problems,
            cleanups: Arc::default(),
            asking: Turn::new(()),
            calls: AtomicU64::new(0),
            closing: CancellationToken::new(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// The server of that name.
    fn member(&self, name: &ServerName) -> Option<Arc<Member>> {
        let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
        members.get(name).cloned()
    }

    fn all_members(&self) -> Vec<Arc<Member>> {
        let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
        members.values().cloned().collect()
    }

    /// The server of that name, or an error with the name that was perhaps meant.
    fn named_member(&self, name: &str) -> Result<Arc<Member>, Error> {
        let members = self.members.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(member) = members.get(name) {
            return Ok(Arc::clone(member));
        }
        let names = || members.keys().map(ServerName::as_str);
        Err(Error::from(HostError::Unknown {
            what: "server",
            name: name.to_owned(),
            closest: closest(name, names()).map(str::to_owned),
            known: names().take(SHOWN_NAMES).map(str::to_owned).collect(),
        }))
    }

    fn known_member(&self, name: &ServerName) -> Result<Arc<Member>, Error> {
        match self.member(name) {
            Some(member) => Ok(member),
            None => self.named_member(name.as_str()),
        }
    }

    fn next_call(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.closing.cancel();
        self.stop.cancel();
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("servers", &self.servers())
            .finish_non_exhaustive()
    }
}
