//! Who wants to be told of which resources of one server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use switchboard_wire::{
    FromRaw as _, Notice as _, RequestId, ResourceUpdated, ResourceUpdatedParams,
    SubscriptionFilter, SubscriptionsAcknowledged, SubscriptionsAcknowledgedParams, meta,
};
use tokio::sync::watch;

use super::mailbox::Mailbox;
use crate::session::{Announcement, CallError, CloseReason};

/// Who wants to be told of which resources of one server, over all of its connections.
#[derive(Default)]
pub(in crate::host) struct Topics {
    state: Mutex<State>,
    /// How often what is wanted was changed.
    wishes: watch::Sender<u64>,
    /// What a server said it would tell of, under an id that was waited for.
    agreed: watch::Sender<Option<(RequestId, Vec<String>)>>,
}

#[derive(Default)]
struct State {
    topics: BTreeMap<String, Topic>,
    /// The requests that a modern server tells by.
    ids: Vec<RequestId>,
    /// Why the last connection ended, where it has and there is no other yet.
    lost: Option<Arc<CloseReason>>,
}

#[derive(Default)]
struct Topic {
    mailboxes: Vec<Arc<Mailbox>>,
    /// Whether the server tells of it.
    is_open: bool,
}

impl Topics {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wish(&self) {
        self.wishes.send_modify(|wishes| *wishes += 1);
    }

    /// Has somebody told of a resource; nothing where too many are watched.
    pub(super) fn join(&self, uri: &str, mailbox: Mailbox, most: usize) -> Option<Arc<Mailbox>> {
        let mut state = self.state();
        if !state.topics.contains_key(uri) && state.topics.len() >= most {
            return None;
        }
        let mailbox = Arc::new(mailbox);
        let topic = state.topics.entry(uri.to_owned()).or_default();
        topic.mailboxes.push(Arc::clone(&mailbox));
        if topic.is_open {
            mailbox.open();
        }
        drop(state);
        self.wish();
        Some(mailbox)
    }

    /// Has somebody told no more; the last one takes the resource along.
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

    /// What is wanted, now.
    pub(super) fn wanted(&self) -> BTreeSet<String> {
        self.state().topics.keys().cloned().collect()
    }

    /// Says when something else is.
    pub(super) fn wishes(&self) -> watch::Receiver<u64> {
        self.wishes.subscribe()
    }

    /// Notes that the server tells of these.
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

    /// Notes that the server does not tell of them for a while.
    pub(super) fn interrupted(&self) {
        let mut state = self.state();
        for topic in state.topics.values_mut() {
            topic.is_open = false;
        }
    }

    /// Notes that the server will not tell of these; they are wanted no more.
    pub(super) fn refused<'u>(&self, uris: impl IntoIterator<Item = &'u String>, why: &CallError) {
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

    /// Which of these the server has never told of, and which it does not tell of now.
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

    /// Notes that there is none any more.
    pub(in crate::host) fn lost(&self, reason: Option<&Arc<CloseReason>>) {
        self.interrupted();
        let mut state = self.state();
        state.ids.clear();
        state.lost = reason.cloned();
        for topic in state.topics.values() {
            topic.mailboxes.iter().for_each(|mailbox| mailbox.stir());
        }
    }

    /// Why there is no connection, where one was lost.
    pub(super) fn why_lost(&self) -> Option<Arc<CloseReason>> {
        self.state().lost.clone()
    }

    /// Waits for what is said under that id.
    pub(super) fn expect(&self, id: &RequestId) {
        self.state().ids.push(id.clone());
    }

    /// Waits for it no more.
    pub(super) fn forget(&self, id: &RequestId) {
        self.state().ids.retain(|known| known != id);
    }

    /// What the server says it will tell of under that id, once it does.
    pub(super) async fn agreed(&self, id: &RequestId) -> Vec<String> {
        let mut agreed = self.agreed.subscribe();
        let found = agreed.wait_for(|agreed| agreed.as_ref().is_some_and(|(of, _)| of == id));
        let found = found.await.ok().and_then(|agreed| agreed.clone());
        match found {
            Some((_, uris)) => uris,
            None => std::future::pending().await,
        }
    }

    /// Takes what a server announces; true where somebody was told.
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
            // 2026-07-28 subscriptions: what is said under another's id is not for us.
            return false;
        }
        let mut is_told = false;
        // What is below a resource is the server's to say: where there is but one, it means that one.
        let is_only = id.is_some() && state.topics.len() == 1;
        for (watched, topic) in &state.topics {
            if is_only || is_within(uri, watched) {
                is_told = true;
                for mailbox in &topic.mailboxes {
                    mailbox.changed(uri);
                }
            }
        }
        is_told
    }
}

/// Whether a resource is the one that is watched, or below it.
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
