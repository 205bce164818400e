//! Changes that clients are told of: of lists, and of resources that they subscribed to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bytes::Bytes;
use rustc_hash::FxHashMap;
use switchboard::ServerName;
use switchboard::host::{Update, Watching};
use switchboard_wire::{
    Notice as _, PromptsListChanged, ResourceUpdated, ResourcesListChanged, RpcError,
    ToolsListChanged,
};
use tokio::task::AbortHandle;

use super::failure::Subject;
use super::params::Params;
use super::requests::too_many;
use super::result::{Answer, Members, Outcome};
use super::{Asked, Client};
use crate::message::notification;
use crate::offer::{List, OfferedResource};
use crate::outlet::{Outlet, Priority};

/// Time after which an announcement is sent to a client whose queue is full, in place of one that is
/// merged with later ones.
const PRESSED: Duration = Duration::from_millis(100);

/// Sends an announcement. A client that is slow gets fewer of them: what changes meanwhile is merged.
pub(super) async fn announce_to(outlet: &Arc<dyn Outlet>, message: Bytes) -> bool {
    if outlet.send(message.clone(), Priority::CanDrop) {
        return true;
    }
    if outlet.is_closed() {
        return false;
    }
    tokio::time::sleep(PRESSED).await;
    // The second attempt must arrive: nothing else says that the list has changed.
    outlet.send(message, Priority::MustArrive)
}

/// The stamps of the lists whose changes are announced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Stamps {
    tools: u64,
    prompts: u64,
    resources: (u64, u64),
}

/// The lists that have changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changed {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
}

impl Stamps {
    /// The stamps of what the client is offered now.
    pub(super) fn of(client: &Client) -> Self {
        let Ok(offer) = client.offer() else {
            return Self::default();
        };
        Self {
            tools: offer.stamp(List::Tools),
            prompts: offer.stamp(List::Prompts),
            resources: (offer.stamp(List::Resources), offer.stamp(List::Templates)),
        }
    }

    /// Compares with the stamps of before.
    pub(super) fn since(self, before: Self) -> Changed {
        Changed {
            tools: self.tools != before.tools,
            prompts: self.prompts != before.prompts,
            resources: self.resources != before.resources,
        }
    }
}

impl Changed {
    /// The notifications of the changes.
    pub(super) fn methods(self) -> impl Iterator<Item = &'static str> {
        let each = [
            (self.tools, ToolsListChanged::NAME),
            (self.prompts, PromptsListChanged::NAME),
            (self.resources, ResourcesListChanged::NAME),
        ];
        each.into_iter()
            .filter_map(|(changed, name)| changed.then_some(name))
    }
}

/// Announces changes of lists to a client of the legacy era, as long as it is there.
pub(super) fn announce(client: &Client) -> impl Future<Output = ()> + Send + use<> {
    let this = Weak::clone(&client.this);
    let pause = client.gateway.0.options.limits.change_pause;
    // The receiver before the stamps: a change in between is noticed.
    let mut changed = client.gateway.0.offers.watch();
    changed.mark_unchanged();
    let mut known = Stamps::of(client);
    async move {
        while changed.changed().await.is_ok() {
            // Changes come in bursts: a server that connects brings four lists.
            tokio::time::sleep(pause).await;
            changed.mark_unchanged();
            let Some(client) = this.upgrade() else {
                return;
            };
            let now = Stamps::of(&client);
            let outlet = Arc::clone(&client.outlet);
            // Not kept while waiting: the client may end meanwhile.
            drop(client);
            for method in now.since(known).methods() {
                announce_to(&outlet, notification(method, None)).await;
            }
            known = now;
        }
    }
}

/// The subscriptions of one client to resources.
#[derive(Default)]
pub(super) struct Subscriptions {
    /// Those of the legacy era, by the address that the client used.
    by_uri: Mutex<FxHashMap<String, AbortHandle>>,
    /// The number of all, also those of `subscriptions/listen`.
    count: Arc<AtomicUsize>,
}

/// A place among the subscriptions of a client.
pub(super) struct SubscriptionSlot(Arc<AtomicUsize>);

impl Drop for SubscriptionSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Subscriptions {
    fn by_uri(&self) -> MutexGuard<'_, FxHashMap<String, AbortHandle>> {
        self.by_uri.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if updates of an address are passed on. Those that have ended are forgotten.
    fn is_open(&self, uri: &str) -> bool {
        let mut by_uri = self.by_uri();
        // An ended task must not pass for an open subscription.
        by_uri.retain(|_, task| !task.is_finished());
        by_uri.contains_key(uri)
    }

    /// Takes a place.
    ///
    /// # Errors
    /// Fails if there are too many subscriptions.
    pub(super) fn reserve(&self, most: usize) -> Result<SubscriptionSlot, RpcError> {
        // One atomic step: two requests at once cannot both take the last place.
        let more = |count: usize| (count < most).then_some(count + 1);
        let reserved = (self.count).fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        match reserved {
            Ok(_) => Ok(SubscriptionSlot(Arc::clone(&self.count))),
            Err(_) => Err(too_many("subscriptions", most)),
        }
    }

    /// Ends all.
    pub(super) fn close(&self) {
        for (_, task) in self.by_uri().drain() {
            task.abort();
        }
    }
}

/// The updates of one resource, on their way to a client.
pub(super) struct Updates {
    pub(super) client: Weak<Client>,
    pub(super) outlet: Arc<dyn Outlet>,
    pub(super) server: ServerName,
    /// The address that the client subscribed to.
    pub(super) uri: String,
    /// Modern: `_meta` that names the subscription.
    pub(super) meta: Option<Arc<str>>,
    pub(super) slot: SubscriptionSlot,
}

impl Updates {
    /// Passes updates on until there are no more.
    pub(super) async fn forward(self, mut watching: Watching) {
        while let Ok(update) = watching.next().await {
            let own = match &update {
                Update::Changed(uri) if uri != watching.uri() => Some(uri.as_str()),
                // The resource itself; or updates were missed, so the client has to read it again.
                _ => None,
            };
            let Some(message) = self.message(own) else {
                return;
            };
            if !announce_to(&self.outlet, message).await {
                return;
            }
        }
        drop(self.slot);
    }

    /// The notification for a part of the resource, or for the whole.
    fn message(&self, own: Option<&str>) -> Option<Bytes> {
        let mut params = Members::new();
        match own {
            Some(own) => {
                let offer = self.client.upgrade()?.offer().ok()?;
                params.text("uri", &offer.outward_uri(&self.server, own));
            }
            None => {
                params.text("uri", &self.uri);
            }
        }
        if let Some(meta) = &self.meta {
            params.raw("_meta", meta);
        }
        Some(notification(ResourceUpdated::NAME, Some(&params.end())))
    }
}

impl Client {
    /// Subscribes a client of the legacy era to a resource. A second time changes nothing.
    pub(super) async fn subscribe(&self, asked: &Asked<'_>) -> Outcome {
        let uri = Params::text(asked.params.uri.as_ref(), "uri")?.into_owned();
        let subject = Subject::Resource(&uri);
        let resource = self.offer()?.resource(&uri);
        let OfferedResource {
            server,
            uri: own_uri,
        } = resource.ok_or_else(|| subject.unknown(asked.version))?;
        // Before a place is taken: a repeated subscription must not count twice.
        if self.subscriptions.is_open(&uri) {
            return Ok(Answer::empty());
        }
        let most = self.gateway.0.options.limits.subscriptions;
        // A place before the server is asked: the limit holds for attempts under way too.
        let slot = self.subscriptions.reserve(most)?;
        let watching = self.upstream.view.watch(server.as_str(), &own_uri).await;
        let watching = watching.map_err(|error| self.failure(asked, subject, &error))?;
        let updates = Updates {
            client: Weak::clone(&self.this),
            outlet: Arc::clone(&self.outlet),
            server,
            uri: uri.clone(),
            meta: None,
            slot,
        };
        let task = {
            let mut tasks = self.tasks();
            // Those that have ended are forgotten.
            while tasks.try_join_next().is_some() {}
            tasks.spawn(updates.forward(watching))
        };
        // Two requests for one address may both get here: the later one replaces the earlier.
        if let Some(other) = self.subscriptions.by_uri().insert(uri, task) {
            other.abort();
        }
        Ok(Answer::empty())
    }

    /// Ends a subscription of a client of the legacy era. One that there is not is no error.
    pub(super) fn unsubscribe(&self, asked: &Asked<'_>) -> Outcome {
        let uri = Params::text(asked.params.uri.as_ref(), "uri")?;
        if let Some(task) = self.subscriptions.by_uri().remove(&*uri) {
            task.abort();
        }
        Ok(Answer::empty())
    }
}
