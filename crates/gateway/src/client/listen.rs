//! `subscriptions/listen`: what a client of the modern era is told besides answers.

use std::sync::{Arc, Weak};

use switchboard::host::Watching;
use switchboard_wire::{
    FromRaw as _, Notice as _, RequestId, SubscriptionFilter, SubscriptionsAcknowledged, meta,
};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::changes::{Stamps, Updates, announce_to};
use super::params::invalid;
use super::result::{Answer, Members, Outcome};
use super::{Asked, Client};
use crate::message::{notification, write_id};
use crate::offer::OfferedResource;
use crate::outlet::{Outlet, Priority};

/// One subscription under way.
struct Listening<'a> {
    outlet: &'a Arc<dyn Outlet>,
    /// `_meta` that names the subscription.
    meta: Arc<str>,
    /// The notifications that were agreed on.
    filter: SubscriptionFilter,
    /// Forwards updates of resources; ended with this.
    updates: JoinSet<()>,
}

impl Client {
    /// Tells the client of changes until it cancels, or the gateway drains.
    pub(super) async fn listen(&self, id: &RequestId, asked: &Asked<'_>) -> Outcome {
        let wanted = asked.params.member("notifications");
        let wanted = wanted.ok_or_else(|| invalid("the parameter notifications is missing"))?;
        let wanted = SubscriptionFilter::from_raw(&wanted);
        let wanted = wanted.map_err(|misfit| invalid(&format!("notifications: {misfit}")))?;
        let most = self.gateway.0.options.limits.subscriptions;
        if wanted.resource_subscriptions.len() > most {
            return Err(super::requests::too_many("subscriptions", most));
        }
        // The receiver before the stamps: a change in between is noticed.
        let mut changed = self.gateway.0.offers.watch();
        changed.mark_unchanged();
        let mut known = Stamps::of(self);
        let mut listening = self.open_listening(id, asked, wanted).await;
        let pause = self.gateway.0.options.limits.change_pause;
        loop {
            tokio::select! {
                // What has changed is announced before the end.
                biased;
                Ok(()) = changed.changed() => {}
                () = self.gateway.0.drain.begun() => return Ok(listening.end()),
            }
            tokio::time::sleep(pause).await;
            changed.mark_unchanged();
            let now = Stamps::of(self);
            let mut since = now.since(known);
            since.tools &= listening.filter.tools_list_changed;
            since.prompts &= listening.filter.prompts_list_changed;
            since.resources &= listening.filter.resources_list_changed;
            for method in since.methods() {
                listening.announce(method).await;
            }
            known = now;
            // Those that have ended are forgotten.
            while listening.updates.try_join_next().is_some() {}
        }
    }

    /// Subscribes to the resources that the client wants. A server that does not agree in time costs its own
    /// resources alone: they are not in the acknowledgement, which is sent here.
    async fn open_listening<'a>(
        &self,
        id: &RequestId,
        asked: &Asked<'a>,
        wanted: SubscriptionFilter,
    ) -> Listening<'a> {
        let mut meta_id = Vec::new();
        write_id(&mut meta_id, Some(id));
        let meta_id = String::from_utf8(meta_id).unwrap_or_default();
        let meta: Arc<str> = Members::new()
            .raw(meta::SUBSCRIPTION_ID, &meta_id)
            .end()
            .into();
        let SubscriptionFilter {
            tools_list_changed,
            prompts_list_changed,
            resources_list_changed,
            resource_subscriptions,
            ..
        } = wanted;
        let opened = self.watch_all(asked, &resource_subscriptions, &meta).await;
        let (mut agreed, mut begun) = (Vec::new(), Vec::new());
        for (to_client, watching) in opened {
            agreed.push(to_client.uri.clone());
            begun.push((to_client, watching));
        }
        // In the order that the client has them in.
        agreed.sort_by_key(|uri| resource_subscriptions.iter().position(|it| it == uri));
        let filter = SubscriptionFilter {
            tools_list_changed,
            prompts_list_changed,
            resources_list_changed,
            resource_subscriptions: agreed,
            ..SubscriptionFilter::default()
        };
        let mut listening = Listening {
            outlet: asked.outlet,
            meta,
            filter,
            updates: JoinSet::new(),
        };
        // 2026-07-28, subscriptions: the acknowledgement is the first message, so that updates are forwarded
        // after it alone.
        listening.acknowledge();
        for (to_client, watching) in begun {
            listening.updates.spawn(to_client.forward(watching));
        }
        listening
    }

    /// Watches resources, all at once and as long as the acknowledgement can wait.
    async fn watch_all(
        &self,
        asked: &Asked<'_>,
        uris: &[String],
        meta: &Arc<str>,
    ) -> Vec<(Updates, Watching)> {
        let Ok(offer) = self.offer() else {
            return Vec::new();
        };
        let limits = &self.gateway.0.options.limits;
        // Over HTTP many clients may share the principal: one must not take the places of all.
        let most = if self.is_own(asked.outlet) {
            limits.subscriptions
        } else {
            limits.subscriptions_principal
        };
        let patience = self.gateway.0.options.limits.listen_time;
        let mut opening = JoinSet::new();
        for uri in uris {
            let Some(OfferedResource {
                server,
                uri: own_uri,
            }) = offer.resource(uri)
            else {
                continue;
            };
            // A resource without a place is left out of the acknowledgement; the others stay.
            let Ok(slot) = self.subscriptions.reserve(most) else {
                continue;
            };
            let view = self.upstream.view.clone();
            let updates = Updates {
                client: Weak::clone(&self.this),
                outlet: Arc::clone(asked.outlet),
                server,
                uri: uri.clone(),
                meta: Some(Arc::clone(meta)),
                slot,
            };
            opening.spawn(async move {
                let watching = view.watch(updates.server.as_str(), &own_uri);
                let watching = timeout(patience, watching).await.ok()?.ok()?;
                Some((updates, watching))
            });
        }
        let opened = opening.join_all().await;
        opened.into_iter().flatten().collect()
    }
}

impl Listening<'_> {
    fn acknowledge(&self) {
        let filter = serde_json::to_string(&self.filter).unwrap_or_default();
        let mut params = Members::new();
        params
            .raw("notifications", &filter)
            .raw("_meta", &self.meta);
        let message = notification(SubscriptionsAcknowledged::NAME, Some(&params.end()));
        // Must arrive: without it the client does not know what it is subscribed to.
        self.outlet.send(message, Priority::MustArrive);
    }

    async fn announce(&self, method: &str) {
        let params = Members::new().raw("_meta", &self.meta).end();
        announce_to(self.outlet, notification(method, Some(&params))).await;
    }

    /// The result that ends the subscription in good order.
    fn end(&self) -> Answer {
        let mut result = Members::of_result(switchboard_wire::Version::V2026_07_28);
        Answer::own(result.raw("_meta", &self.meta).end_raw())
    }
}
