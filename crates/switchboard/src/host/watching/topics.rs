//! The resources of one server that are watched, and their watchers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_wire::{
    FromRaw as _, Notice as _, RequestId, ResourceUpdated, ResourceUpdatedParams,
    SubscriptionFilter, SubscriptionsAcknowledged, SubscriptionsAcknowledgedParams, meta,
};
use tokio::sync::watch;

use super::mailbox::Mailbox;
use crate::session::{Announcement, CallError, CloseReason};

/// The watched resources of one server and their watchers, over all of its connections.
#[derive(Default)]
pub(in crate::host) struct Topics {
    state: Mutex<TopicsState>,
    /// Number of changes to the set of watched resources.
    wishes: watch::Sender<u64>,
    /// The resources that a server has agreed to announce, with the id of the subscription.
    agreed: watch::Sender<Option<(RequestId, Vec<String>)>>,
}

#[derive(Default)]
struct TopicsState {
    topics: BTreeMap<String, Topic>,
    /// The subscription requests whose updates are accepted from a modern server.
    ids: Vec<RequestId>,
    /// The reason for which the last connection ended, until there is another.
    lost: Option<Arc<CloseReason>>,
}

#[derive(Default)]
struct Topic {
    mailboxes: Vec<Arc<Mailbox>>,
    /// True while the server announces its changes.
    is_open: bool,
}

impl Topics {
    fn state(&self) -> MutexGuard<'_, TopicsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wish(&self) {
        self.wishes.send_modify(|wishes| *wishes += 1);
    }

    /// Adds a watcher of a resource; `None` if too many resources are watched.
    pub(super) fn join(&self, uri: &str, mailbox: Mailbox, most: usize) -> Option<Arc<Mailbox>> {
        let mut state = self.state();
        if !state.topics.contains_key(uri) && state.topics.len() >= most {
            return None;
        }
        let mailbox = Arc::new(mailbox);
        let topic = state.topics.entry(uri.to_owned()).or_default();
        topic.mailboxes.push(Arc::clone(&mailbox));
        // The server announces this resource already: there is no acknowledgement to wait for.
        if topic.is_open {
            mailbox.open();
        }
        drop(state);
        self.wish();
        Some(mailbox)
    }

    /// Removes a watcher, and the resource with its last watcher.
    pub(super) fn leave(&self, uri: &str, mailbox: &Arc<Mailbox>) {
        let mut state = self.state();
        let Some(topic) = state.topics.get_mut(uri) else {
            return;
        };
        topic.mailboxes.retain(|known| !Arc::ptr_eq(known, mailbox));
        if topic.mailboxes.is_empty() {
            state.topics.remove(uri);
        }
        drop(state);
        self.wish();
    }

    /// Returns true if a resource is watched.
    pub(in crate::host) fn is_watched(&self) -> bool {
        !self.state().topics.is_empty()
    }

    /// Returns the watched resources.
    pub(super) fn watched_uris(&self) -> BTreeSet<String> {
        self.state().topics.keys().cloned().collect()
    }

    /// Returns a receiver that changes whenever the set of watched resources does.
    pub(super) fn wishes(&self) -> watch::Receiver<u64> {
        self.wishes.subscribe()
    }

    /// Notes that the server announces changes of these.
    pub(super) fn opened<'u>(&self, uris: impl IntoIterator<Item = &'u String>) {
        let mut state = self.state();
        for uri in uris {
            if let Some(topic) = state.topics.get_mut(uri)
                && !std::mem::replace(&mut topic.is_open, true)
            {
                topic.mailboxes.iter().for_each(|mailbox| mailbox.open());
            }
        }
    }

    /// Notes that the server announces no changes until it agrees again.
    pub(super) fn interrupted(&self) {
        let mut state = self.state();
        for topic in state.topics.values_mut() {
            topic.is_open = false;
        }
    }

    /// Notes that the server refuses these resources, and removes them.
    pub(super) fn refuse<'u>(&self, uris: impl IntoIterator<Item = &'u String>, why: &CallError) {
        let mut state = self.state();
        for uri in uris {
            if let Some(topic) = state.topics.remove(uri) {
                topic
                    .mailboxes
                    .iter()
                    .for_each(|mailbox| mailbox.refuse(why));
            }
        }
    }

    /// Returns those of these resources that the server has never announced, and those that it does
    /// not announce now.
    pub(super) fn closed(&self, uris: &BTreeSet<String>) -> (Vec<String>, Vec<String>) {
        let state = self.state();
        let closed = uris.iter().filter(|uri| {
            let topic = state.topics.get(*uri);
            topic.is_some_and(|topic| !topic.is_open)
        });
        let closed: Vec<String> = closed.cloned().collect();
        let is_new = |uri: &&String| {
            let topic = state.topics.get(*uri);
            topic.is_some_and(|topic| !topic.mailboxes.iter().any(|one| one.has_begun()))
        };
        (closed.iter().filter(is_new).cloned().collect(), closed)
    }

    /// Notes that there is a connection.
    pub(super) fn connected(&self) {
        self.state().lost = None;
    }

    /// Notes that the connection has ended.
    pub(in crate::host) fn record_loss(&self, reason: Option<&Arc<CloseReason>>) {
        self.interrupted();
        let mut state = self.state();
        state.ids.clear();
        state.lost = reason.cloned();
        for topic in state.topics.values() {
            topic.mailboxes.iter().for_each(|mailbox| mailbox.stir());
        }
    }

    /// Returns the reason for which the connection was lost, until there is another.
    pub(super) fn why_lost(&self) -> Option<Arc<CloseReason>> {
        self.state().lost.clone()
    }

    /// Accepts updates under that subscription id.
    pub(super) fn expect(&self, id: &RequestId) {
        self.state().ids.push(id.clone());
    }

    /// Stops accepting updates under that subscription id.
    pub(super) fn forget(&self, id: &RequestId) {
        self.state().ids.retain(|known| known != id);
    }

    /// Waits for the acknowledgement under that id, and returns the resources that it names.
    pub(super) async fn wait_for_acknowledgement(&self, id: &RequestId) -> Vec<String> {
        let mut agreed = self.agreed.subscribe();
        let found = agreed.wait_for(|agreed| agreed.as_ref().is_some_and(|(of, _)| of == id));
        let found = found.await.ok().and_then(|agreed| agreed.clone());
        match found {
            Some((_, uris)) => uris,
            None => std::future::pending().await,
        }
    }

    /// Handles a notification of the server; returns true if it was meant for a watcher or a
    /// subscription.
    pub(in crate::host) fn hear(&self, announcement: &Announcement) -> bool {
        let Some(params) = &announcement.params else {
            return false;
        };
        match announcement.method.as_str() {
            ResourceUpdated::NAME => match ResourceUpdatedParams::from_raw(params) {
                Ok(updated) => {
                    let id = meta::subscription_id(params);
                    self.updated(updated.uri(), id.as_ref())
                }
                Err(_) => false,
            },
            SubscriptionsAcknowledged::NAME => {
                let params = SubscriptionsAcknowledgedParams::from_raw(params);
                params.is_ok_and(|params| self.acknowledged(&params))
            }
            _ => false,
        }
    }

    fn acknowledged(&self, params: &SubscriptionsAcknowledgedParams) -> bool {
        let id = params.subscription_id();
        let Some(id) = id.filter(|id| self.state().ids.contains(id)) else {
            return false;
        };
        let SubscriptionFilter {
            resource_subscriptions,
            ..
        } = params.notifications().clone();
        self.agreed.send_replace(Some((id, resource_subscriptions)));
        true
    }

    fn updated(&self, uri: &str, id: Option<&RequestId>) -> bool {
        let state = self.state();
        if id.is_some_and(|id| !state.ids.contains(id)) {
            // 2026-07-28 subscriptions: an update under an unknown subscription id is not for us.
            return false;
        }
        let mut is_told = false;
        // The server decides what lies below a resource: with a single watched resource, it means
        // that one.
        let is_only = id.is_some() && state.topics.len() == 1;
        for (watched, topic) in &state.topics {
            if is_only || is_within(uri, watched) {
                is_told = true;
                for mailbox in &topic.mailboxes {
                    mailbox.record_change(uri);
                }
            }
        }
        is_told
    }
}

/// Returns true if a resource is the watched one, or below it.
fn is_within(uri: &str, watched: &str) -> bool {
    let Some(rest) = uri.strip_prefix(watched) else {
        return false;
    };
    rest.is_empty() || watched.ends_with(['/', '?', '#']) || rest.starts_with(['/', '?', '#'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_a_resource_is_a_part_of_it() {
        for uri in ["file:///a", "file:///a/b", "file:///a#b", "file:///a?b"] {
            assert!(is_within(uri, "file:///a"), "{uri}");
        }
        for uri in ["file:///ab", "file:///", "file:///b", "x:file:///a"] {
            assert!(!is_within(uri, "file:///a"), "{uri}");
        }
        assert!(is_within("file:///a/b", "file:///a/"));
    }
}
