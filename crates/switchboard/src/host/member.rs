//! One server of a host, from its description to its live connection.
//!
//! A [`Member`] is shared by the four owners, and each part of its state belongs to one of them: the
//! description, the admitted server and what its last connection found out to `Registry`, the
//! progress of its lists to `CatalogKeeper`, the approved baseline to `Access`. The types of the last
//! two have private fields, so that no other owner can change them.
//!
//! A prepared call (a `ToolHandle`) does not look its tool up again. It remembers the [`revision`] at
//! which it looked, and every change that a call has to notice stamps the member with a newer one
//! ([`Member::mark_changed`]): other definitions, another baseline, removal.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use switchboard_wire::{ServerCapabilities, ServerInfo, Tool, Version};
use tokio::sync::{Mutex as Turn, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::access::MemberBaseline;
use super::catalog_keeper::Listing;
use super::clients::SharingState;
use super::description::Description;
use super::local::LocalTools;
#[cfg(feature = "config")]
use super::registry::describe;
use super::watching::Topics;
#[cfg(feature = "auth")]
use crate::auth::Authorizer;
#[cfg(feature = "config")]
use crate::config::{Entry, Problem, edit};
use crate::error::{Context, Error};
use crate::secret::Redactor;
use crate::server::{Server, ServerState};
#[cfg(not(feature = "config"))]
use crate::spec::Endpoint;
use crate::spec::{
    Identity, Origin, ServerName, ServerSpec, Settings, ToolPredicate, TransportKind,
};
use crate::talk::Roots;
use crate::transport::{Connect, Environment};
#[cfg(feature = "config")]
use crate::trust::Fingerprint;

/// The newest revision of anything that prepared calls depend on, in all hosts of the program.
static REVISION: AtomicU64 = AtomicU64::new(1);

/// Returns the current revision. Read it before the state that it stands for: later changes have a
/// newer one.
pub(super) fn revision() -> u64 {
    REVISION.load(Ordering::Acquire)
}

/// Announces every revision after its change.
static REVISIONS: LazyLock<watch::Sender<u64>> = LazyLock::new(|| watch::Sender::new(1));

/// Returns a receiver that holds the newest revision that was announced.
pub(super) fn watch_revision() -> watch::Receiver<u64> {
    REVISIONS.subscribe()
}

pub(super) fn next_revision() -> u64 {
    let revision = REVISION.fetch_add(1, Ordering::AcqRel) + 1;
    // Two changes at once must not announce the older revision last.
    REVISIONS.send_modify(|newest| *newest = revision.max(*newest));
    revision
}

/// The revision of the last change of a server that prepared calls have to notice. The reader of its
/// connection has a clone, and not the member, which has the connection.
#[derive(Clone)]
pub(super) struct LastChange(Arc<AtomicU64>);

impl LastChange {
    /// Has every prepared call of the server's tools look again. Call it after the change, or while the
    /// lock is held that readers of the change need.
    pub(super) fn mark(&self) {
        let revision = next_revision();
        // Two changes at once must not leave the older revision behind.
        self.0.fetch_max(revision, Ordering::AcqRel);
    }
}

/// The origin of a member.
pub(super) enum Source {
    /// A description with nothing left to expand, made by the program.
    Spec(Box<ServerSpec>),
    /// An entry of a config file, not yet approved or expanded.
    #[cfg(feature = "config")]
    Entry(Box<Entry>),
    /// A transport of the program's own.
    Own(Arc<dyn Connect>, Box<Settings>),
    /// Tools without a server.
    Offline(Vec<Tool>),
    /// Tools that the program itself runs.
    Local(LocalTools),
    /// An entry of a config file that cannot be used.
    #[cfg(feature = "config")]
    Broken(Box<Problem>),
}

/// A server as it is described: its name, its place and its description.
pub(super) type Described = (ServerName, Origin, Source);

/// One server of a host.
pub(super) struct Member {
    pub(super) name: ServerName,
    /// Its lines may move while the server stays as it is.
    origin: RwLock<Origin>,
    pub(super) source: Source,
    #[cfg_attr(
        not(feature = "config"),
        expect(dead_code, reason = "only entries of files refer to it")
    )]
    environment: Arc<Environment>,
    /// Set once the server is admitted (approved and expanded); it stays from then on.
    ready: OnceLock<Arc<Ready>>,
    /// The identity, to which approvals and pins belong; computed once.
    identity: OnceLock<Identity>,
    /// Its description for errors; computed once.
    description: OnceLock<Description>,
    /// Held while it is made ready.
    pub(super) opening: Turn<()>,
    /// True once the host has another server of that name, or none: no use begins any more.
    left: AtomicBool,
    /// The uses that have begun; waited for before the server of a changed entry ends.
    uses: TaskTracker,
    /// The number of uses that have ever begun.
    begun: AtomicU64,
    /// Cancelled when its connections end for good.
    pub(super) gone: CancellationToken,
    /// The last change that prepared calls have to notice.
    pub(super) changed: LastChange,
    /// The folders that it is sent as roots.
    pub(super) roots: Roots,
    /// The watchers of its resources.
    pub(super) topics: Arc<Topics>,
    /// Progress in reading its lists; the state of `CatalogKeeper`.
    pub(super) listing: Listing,
    /// How clients share connections to it; the state of `clients`.
    pub(super) sharing: Arc<SharingState>,
    /// The definitions that were approved; the state of `Access`.
    pub(super) baseline: MemberBaseline,
    facts: Mutex<Facts>,
}

/// A member that may be connected to.
pub(super) struct Ready {
    pub(super) server: Server,
    pub(super) settings: Settings,
    pub(super) secrets: Arc<Redactor>,
    pub(super) identity: String,
    /// The approval that it needs in the store, if a file of a project describes it.
    #[cfg(feature = "config")]
    pub(super) approval: Option<Fingerprint>,
    /// Its login, if it is a server at a URL without a configured header.
    #[cfg(feature = "auth")]
    pub(super) authorizer: Option<Authorizer>,
}

/// A use of a member, until it is dropped.
pub(super) struct MemberUse(
    #[expect(dead_code, reason = "counted while it lives")] TaskTrackerToken,
);

/// Facts that admission and the last connection found out about a member.
#[derive(Default)]
pub(super) struct Facts {
    /// The error that keeps it from being used, unless the connection is at fault.
    pub(super) refused: Option<Error>,
    pub(super) version: Option<Version>,
    pub(super) server: Option<ServerInfo>,
    pub(super) took: Option<Duration>,
    pub(super) capabilities: Option<ServerCapabilities>,
    /// What is known of it is from an earlier run.
    pub(super) is_kept: bool,
    /// The reason that what was kept of it is not used.
    pub(super) unusable: Option<String>,
}

impl Member {
    pub(super) fn new(
        name: ServerName,
        origin: Origin,
        source: Source,
        environment: &Arc<Environment>,
    ) -> Self {
        Self {
            name,
            origin: RwLock::new(origin),
            source,
            environment: Arc::clone(environment),
            ready: OnceLock::new(),
            identity: OnceLock::new(),
            description: OnceLock::new(),
            opening: Turn::new(()),
            left: AtomicBool::new(false),
            uses: TaskTracker::new(),
            begun: AtomicU64::new(0),
            gone: CancellationToken::new(),
            // A call that was prepared for another server of that name must look again.
            changed: LastChange(Arc::new(AtomicU64::new(next_revision()))),
            roots: Roots::default(),
            topics: Arc::default(),
            listing: Listing::default(),
            sharing: Arc::default(),
            baseline: MemberBaseline::default(),
            facts: Mutex::new(Facts::default()),
        }
    }

    /// Tells whether a login took place since a connection failed for want of one; `None` without authorization.
    #[cfg(feature = "auth")]
    pub(super) async fn has_new_login(&self) -> Option<bool> {
        let authorizer = self.ready()?.authorizer.as_ref()?;
        Some(authorizer.has_new_login().await)
    }

    /// The admitted server, if it may be connected to already.
    pub(super) fn ready(&self) -> Option<&Arc<Ready>> {
        self.ready.get()
    }

    /// Makes it one that may be connected to.
    pub(super) fn make_ready(&self, ready: Ready) -> &Arc<Ready> {
        // An earlier refusal is over, before others can see that the member is ready.
        self.facts().refused = None;
        self.ready.get_or_init(|| Arc::new(ready))
    }

    pub(super) fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where its description stands.
    pub(super) fn origin(&self) -> Origin {
        let origin = self.origin.read().unwrap_or_else(PoisonError::into_inner);
        origin.clone()
    }

    /// Notes that its description stands elsewhere in its file by now.
    #[cfg(feature = "config")]
    pub(super) fn set_origin(&self, origin: &Origin) {
        let mut known = self.origin.write().unwrap_or_else(PoisonError::into_inner);
        known.clone_from(origin);
    }

    /// Begins a use. Look afterwards whether the member is still the one to use: then its connection
    /// lasts until the use ends, or for [`HostLimits::drain`](super::HostLimits::drain).
    pub(super) fn begin_use(&self) -> MemberUse {
        let begun = MemberUse(self.uses.token());
        self.begun.fetch_add(1, Ordering::Relaxed);
        // Either the look that follows sees that it has left, or `leave` sees this use.
        fence(Ordering::SeqCst);
        begun
    }

    /// Has no further use begin. Call it while the lock is held that finds members.
    pub(super) fn leave(&self) {
        self.left.store(true, Ordering::Release);
        // A prepared call that looks again must not find it.
        self.mark_changed();
        fence(Ordering::SeqCst);
    }

    /// Returns true if the host has another server of that name by now, or none.
    pub(super) fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// Waits until all uses have ended that began before it left.
    #[cfg(feature = "config")]
    pub(super) async fn is_unused(&self) {
        self.uses.close();
        self.uses.wait().await;
    }

    /// The number of uses that have ever begun, or `None` while one goes on or a resource is watched.
    pub(super) fn uses_unless_busy(&self) -> Option<u64> {
        let begun = self.begun.load(Ordering::Relaxed);
        (self.uses.is_empty() && !self.topics.is_watched()).then_some(begun)
    }

    /// Has every prepared call of its tools look again: see [`LastChange::mark`].
    pub(super) fn mark_changed(&self) {
        self.changed.mark();
    }

    /// Returns true if nothing that prepared calls depend on has changed since that revision.
    pub(super) fn is_unchanged_since(&self, revision: u64) -> bool {
        self.changed.0.load(Ordering::Acquire) <= revision
    }

    /// The transport that its description asks for, as far as that is known.
    pub(super) fn transport(&self) -> Option<TransportKind> {
        match &self.source {
            Source::Spec(spec) => Some(spec.transport()),
            #[cfg(feature = "config")]
            Source::Entry(entry) => Some(entry.transport()),
            _ => None,
        }
    }

    /// The program's predicates over its tools.
    pub(super) fn tool_predicates(&self) -> &[ToolPredicate] {
        match &self.source {
            Source::Spec(spec) => &spec.settings.tool_predicates,
            Source::Own(_, settings) => &settings.tool_predicates,
            _ => &[],
        }
    }

    /// The settings of its description, as far as they are known before it is admitted; `None` if there is
    /// no server behind it.
    pub(super) fn settings(&self) -> Option<&Settings> {
        match &self.source {
            Source::Spec(spec) => Some(&spec.settings),
            #[cfg(feature = "config")]
            Source::Entry(entry) => Some(entry.settings()),
            Source::Own(_, settings) => Some(settings),
            _ => None,
        }
    }

    /// Returns true if it is disabled.
    pub(super) fn is_disabled(&self) -> bool {
        match &self.source {
            Source::Spec(spec) => !spec.is_enabled,
            #[cfg(feature = "config")]
            Source::Entry(entry) => !entry.is_enabled(),
            _ => false,
        }
    }

    /// Returns true if its tools come from the program, without a server.
    pub(super) fn is_offline(&self) -> bool {
        matches!(self.source, Source::Offline(_))
    }

    /// Returns true if the program itself runs its tools.
    pub(super) fn is_local(&self) -> bool {
        matches!(self.source, Source::Local(_))
    }

    /// Returns the identity: a hash of where its description comes from and of its contents.
    pub(super) fn identity(&self) -> Identity {
        *self.identity.get_or_init(|| {
            let mut hash = Sha256::new();
            match &self.source {
                #[cfg(feature = "config")]
                Source::Entry(entry) => {
                    let claim = describe(entry, &self.environment);
                    hash.update(claim.description().as_bytes());
                }
                Source::Spec(spec) => {
                    // In clear, so that another secret is another server; only the hash is kept.
                    hash.update(in_clear(spec));
                    hash.update(self.place());
                }
                Source::Own(connect, _) => {
                    // Two transports of a program may call themselves the same.
                    hash.update(self.name.as_str());
                    hash.update([0]);
                    hash.update(connect.identity());
                }
                #[cfg(feature = "config")]
                // Neither is ever connected to, so the name is all that tells them apart.
                Source::Broken(_) => hash.update(self.name.as_str()),
                Source::Offline(_) | Source::Local(_) => hash.update(self.name.as_str()),
            }
            Identity::new(hash.finalize().into())
        })
    }

    /// Returns the file and pointer of its description, or the layer if there is no file.
    pub(super) fn place(&self) -> String {
        let origin = self.origin();
        match &origin.file {
            Some(file) => format!("{}#{}", file.display(), origin.pointer),
            None => origin.layer.to_string(),
        }
    }

    /// Adds to an error which server it is about, and takes the server's secrets out.
    pub(super) fn with_context(&self, error: impl Into<Error>) -> Error {
        // Before it is ready a member has no secrets of its own that could be in the text.
        let ready = self.ready();
        let identity = ready.map(|ready| ready.identity.clone());
        let description = self
            .description
            .get_or_init(|| Description::of(&self.source));
        let context = Context::of(&self.name, identity, &self.origin());
        let error = error.into().in_context(description.complete(context));
        match ready {
            Some(ready) => error.without(&ready.secrets),
            None => error,
        }
    }

    /// The state of its connection, if there may be one.
    pub(super) fn connection(&self) -> Option<ServerState> {
        let ready = self.ready()?;
        Some(ready.server.state().borrow().clone())
    }

    /// Takes the secrets of the server out of a text.
    pub(super) fn redact(&self, text: &str) -> String {
        self.redacted(text).into_owned()
    }

    /// The same, but borrows a text without secrets.
    pub(super) fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.ready() {
            Some(ready) => ready.secrets.redact(text),
            None => Cow::Borrowed(text),
        }
    }
}

/// The whole of a description, with its secrets.
#[cfg(feature = "config")]
fn in_clear(spec: &ServerSpec) -> String {
    let written = edit::entry(spec, edit::Secrets::AsTyped);
    let written = written.map(|written| written.value.to_string());
    written.unwrap_or_else(|_| format!("{spec:?}"))
}

/// The whole of a description, with its secrets.
#[cfg(not(feature = "config"))]
fn in_clear(spec: &ServerSpec) -> String {
    let secrets: Vec<&str> = match &spec.endpoint {
        Endpoint::Process(process) => {
            let args = process.args.iter().map(String::as_str);
            let values = process.env.values().map(|value| value.expose().as_str());
            args.chain(values).collect()
        }
        Endpoint::Remote(remote) => {
            let values = remote.headers.iter();
            let values = values.map(|(_, value)| value.expose().as_str());
            std::iter::once(remote.url.expose().as_str())
                .chain(values)
                .collect()
        }
    };
    // `Debug` masks secrets in the first part, so the second adds their values.
    format!("{spec:?}{secrets:?}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::test_support::{Script, member};

    #[test]
    fn calls_prepared_before_a_change_or_for_another_server_look_again() {
        let before = revision();
        let server = member("a", &Script::answering(0));
        // Another server of that name may have been prepared for.
        assert!(!server.is_unchanged_since(before));
        let prepared = revision();
        assert!(server.is_unchanged_since(prepared));
        // A change of another server leaves this one as it is.
        member("b", &Script::answering(0)).mark_changed();
        assert!(server.is_unchanged_since(prepared));
        server.mark_changed();
        assert!(!server.is_unchanged_since(prepared));
        assert!(server.is_unchanged_since(revision()));
    }
}
