//! Modern subscriptions (`subscriptions/listen`): the notifications that a client wants to receive.

use serde::{Deserialize, Serialize};

use crate::object::{Field, each_member};
use crate::{FromRaw, Misfit, Raw, RequestId, meta};

/// A set of notifications: in a request the wanted ones, in the acknowledgement the granted ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubscriptionFilter {
    /// Changes of the list of tools.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub tools_list_changed: bool,
    /// Changes of the list of prompts.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub prompts_list_changed: bool,
    /// Changes of the list of resources.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub resources_list_changed: bool,
    /// Changes of these resources, and of those below them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub resource_subscriptions: Vec<String>,
    /// Tasks extension: changes of these tasks.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub task_ids: Vec<String>,
}

impl SubscriptionFilter {
    /// Returns true if it contains no notification.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Read by hand rather than with serde, so that `null` members count as absent.
impl FromRaw for SubscriptionFilter {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        const KEYS: [&str; 5] = [
            "toolsListChanged",
            "promptsListChanged",
            "resourcesListChanged",
            "resourceSubscriptions",
            "taskIds",
        ];
        // One pass over the members, then each is read by its type.
        let mut found = [None; 5];
        each_member(raw.as_str(), |key, value| {
            let place = KEYS.iter().position(|name| *name == key);
            if let Some(place) = place.and_then(|place| found.get_mut(place)) {
                *place = Some(value);
            }
        })?;
        let [tools, prompts, resources, uris, tasks] = found;
        let flag =
            |member, key| Option::<bool>::read(raw, member, key).map(Option::unwrap_or_default);
        Ok(Self {
            tools_list_changed: flag(tools, "toolsListChanged")?,
            prompts_list_changed: flag(prompts, "promptsListChanged")?,
            resources_list_changed: flag(resources, "resourcesListChanged")?,
            resource_subscriptions: Field::read(raw, uris, "resourceSubscriptions")?,
            task_ids: Field::read(raw, tasks, "taskIds")?,
        })
    }
}

/// Parameters of `subscriptions/listen`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListenParams {
    /// The wanted notifications.
    pub notifications: SubscriptionFilter,
}

wire_object! {
    /// The end of a subscription.
    pub struct ListenResult {
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

impl ListenResult {
    /// The subscription that ended: the id of its request.
    pub fn subscription_id(&self) -> Option<RequestId> {
        meta::subscription_id(self.raw())
    }
}

method! {
    /// Opens a subscription, which lasts until it is answered.
    Listen = "subscriptions/listen", ListenParams => ListenResult
}

wire_object! {
    /// Parameters of `notifications/subscriptions/acknowledged`.
    pub struct SubscriptionsAcknowledgedParams {
        /// The granted notifications: perhaps fewer than requested.
        notifications: [of SubscriptionFilter] = "notifications",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

impl SubscriptionsAcknowledgedParams {
    /// The subscription: the id of its request.
    pub fn subscription_id(&self) -> Option<RequestId> {
        meta::subscription_id(self.raw())
    }
}

notice! {
    /// Confirms a subscription.
    SubscriptionsAcknowledged = "notifications/subscriptions/acknowledged",
    SubscriptionsAcknowledgedParams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_reads_as_it_is_written() {
        let filter = SubscriptionFilter {
            tools_list_changed: true,
            resource_subscriptions: vec!["file:///a".to_owned()],
            task_ids: vec!["t".to_owned()],
            ..SubscriptionFilter::default()
        };
        let raw = Raw::of(&filter).unwrap();
        assert_eq!(
            raw.as_str(),
            r#"{"toolsListChanged":true,"resourceSubscriptions":["file:///a"],"taskIds":["t"]}"#
        );
        assert_eq!(SubscriptionFilter::from_raw(&raw), Ok(filter));
    }

    #[test]
    fn an_acknowledgement_names_its_subscription() {
        let text = r#"{"notifications":{"toolsListChanged":null,"promptsListChanged":true},
            "_meta":{"io.modelcontextprotocol/subscriptionId":4}}"#;
        let params = SubscriptionsAcknowledgedParams::from_raw(&Raw::parse(text).unwrap()).unwrap();
        assert_eq!(params.subscription_id(), Some(RequestId::Number(4)));
        assert_eq!(
            params.notifications(),
            &SubscriptionFilter {
                prompts_list_changed: true,
                ..SubscriptionFilter::default()
            }
        );
    }
}
