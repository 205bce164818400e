//! Subscriptions, and the announcements to them.

use std::sync::{Arc, Weak};

use serde_json::{Map, Value, json};
use switchboard_wire::RequestId;

use super::change::{Change, Goodbye};
use super::era::{Context, Keep};
use super::failure::{Failure, object};
use super::wire::{Reply, Sink};

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The lists that can change.
const LISTS: [&str; 3] = ["tools", "prompts", "resources"];

/// The member of a subscription that names single resources.
const RESOURCES: &str = "resourceSubscriptions";

/// The subscriptions of one connection.
#[derive(Debug)]
pub(crate) struct Subscriptions {
    open: Vec<Subscription>,
    /// The resources that a legacy client watches.
    watched: Vec<String>,
    /// Single resources can change.
    growing: bool,
    /// Held by each subscription, for counting.
    count: Weak<()>,
}

#[derive(Debug)]
struct Subscription {
    context: Context,
    lists: Vec<&'static str>,
    resources: Vec<String>,
    /// Answered when the server ends the subscription; dropped when the client does.
    reply: Reply,
    _counted: Option<Arc<()>>,
}

impl Subscriptions {
    pub(crate) fn new(growing: bool, count: Weak<()>) -> Self {
        Self {
            open: Vec::new(),
            watched: Vec::new(),
            growing,
            count,
        }
    }

    /// Opens a subscription, and acknowledges the parts that are granted.
    pub(crate) async fn open(
        &mut self,
        context: Context,
        params: &Map<String, Value>,
        reply: Reply,
    ) {
        let (lists, mut resources) = match parse_filter(params) {
            Ok(wanted) => wanted,
            Err(failure) => return reply.finish(Err(failure)).await,
        };
        if !self.growing {
            // They never change.
            resources.clear();
        }
        let mut granted: Map<String, Value> = lists
            .iter()
            .map(|list| (wish(list), Value::Bool(true)))
            .collect();
        if !resources.is_empty() {
            granted.insert(RESOURCES.to_owned(), json!(resources));
        }
        let params = json!({"_meta": {SUBSCRIPTION_ID: reply.id}, "notifications": granted});
        let method = "notifications/subscriptions/acknowledged";
        // Acknowledge before opening: the first change must not overtake the acknowledgement.
        reply.client.notify(method, Some(&params)).await;
        self.open.push(Subscription {
            context,
            lists,
            resources,
            reply,
            _counted: self.count.upgrade(),
        });
    }

    pub(crate) fn holds(&self, id: &RequestId) -> bool {
        self.open
            .iter()
            .any(|subscription| subscription.reply.id == *id)
    }

    /// Ends the subscription that the client cancels, without an answer.
    pub(crate) fn cancel(&mut self, id: &RequestId) {
        self.open
            .retain(|subscription| subscription.reply.id != *id);
    }

    /// Announces a change to the subscriptions that include it; returns true if the connection ends
    /// with it.
    pub(crate) async fn announce(&mut self, change: &Change) -> bool {
        if let Change::End(goodbye) = change {
            // Without a stream of its own, cutting a subscription off means closing the connection.
            let any = !self.open.is_empty();
            self.end(*goodbye).await;
            return any && *goodbye == Goodbye::Cut;
        }
        for subscription in &self.open {
            if subscription.wants(change) {
                let meta = json!({SUBSCRIPTION_ID: subscription.reply.id});
                let (method, params) = notification(change, Some(meta));
                let client = &subscription.reply.client;
                client.notify(&method, params.as_ref()).await;
            }
        }
        false
    }

    /// Announces a change to a legacy client, which needs no subscription for lists.
    pub(crate) async fn announce_to_legacy(&self, client: &Sink, change: &Change) {
        let wanted = match change {
            Change::List(_) => true,
            Change::Resource(uri) => self.watched.iter().any(|known| is_within(uri, known)),
            Change::End(_) => false,
        };
        if wanted {
            let (method, params) = notification(change, None);
            client.notify(&method, params.as_ref()).await;
        }
    }

    /// Subscribes a legacy client to a resource.
    pub(crate) fn watch(&mut self, uri: &str) {
        self.unwatch(uri);
        self.watched.push(uri.to_owned());
    }

    pub(crate) fn unwatch(&mut self, uri: &str) {
        self.watched.retain(|known| known != uri);
    }

    /// Ends all subscriptions from this side.
    pub(crate) async fn close(&mut self) {
        self.end(Goodbye::Result).await;
    }

    async fn end(&mut self, goodbye: Goodbye) {
        for Subscription { context, reply, .. } in self.open.drain(..) {
            match goodbye {
                Goodbye::Result => {
                    let mut body = Map::new();
                    body.insert("_meta".to_owned(), json!({SUBSCRIPTION_ID: reply.id}));
                    reply.finish(Ok(context.complete(body, Keep::Unsaid))).await;
                }
                Goodbye::Error => {
                    let failure = Failure::internal("the subscription cannot go on");
                    reply.finish(Err(failure)).await;
                }
                Goodbye::Cancelled => {
                    let reason = "the subscription cannot go on";
                    let params = json!({"requestId": reply.id, "reason": reason});
                    let client = &reply.client;
                    client
                        .notify("notifications/cancelled", Some(&params))
                        .await;
                }
                Goodbye::Cut => {}
            }
        }
    }
}

impl Subscription {
    fn wants(&self, change: &Change) -> bool {
        match change {
            Change::List(list) => self.lists.contains(list),
            Change::Resource(uri) => self.resources.iter().any(|known| is_within(uri, known)),
            Change::End(_) => false,
        }
    }
}

/// The notification of a change.
fn notification(change: &Change, meta: Option<Value>) -> (String, Option<Value>) {
    let mut params = Map::new();
    let method = match change {
        Change::Resource(uri) => {
            params.insert("uri".to_owned(), uri.as_str().into());
            "notifications/resources/updated".to_owned()
        }
        Change::List(list) => format!("notifications/{list}/list_changed"),
        // An end is announced in other ways.
        Change::End(_) => String::new(),
    };
    if let Some(meta) = meta {
        params.insert("_meta".to_owned(), meta);
    }
    let params = (!params.is_empty()).then_some(Value::Object(params));
    (method, params)
}

/// Returns true if a resource is the known one, or below it.
fn is_within(uri: &str, known: &str) -> bool {
    let Some(rest) = uri.strip_prefix(known) else {
        return false;
    };
    rest.is_empty() || known.ends_with('/') || rest.starts_with(['/', '?', '#'])
}

/// The list of that name.
pub(crate) fn list_named(name: &str) -> Option<&'static str> {
    LISTS.into_iter().find(|list| *list == name)
}

/// The member of a subscription that selects changes of `list`.
fn wish(list: &str) -> String {
    format!("{list}ListChanged")
}

/// The lists and the resources that a subscription selects.
fn parse_filter(params: &Map<String, Value>) -> Result<(Vec<&'static str>, Vec<String>), Failure> {
    let asked = object(params, "notifications")?
        .ok_or_else(|| Failure::invalid_params("notifications is missing"))?;
    let mut lists = LISTS.to_vec();
    lists.retain(|list| asked.get(&wish(list)) == Some(&Value::Bool(true)));
    let resources = match asked.get(RESOURCES) {
        None => Vec::new(),
        Some(uris) => serde_json::from_value(uris.clone())
            .map_err(|error| Failure::invalid_params(format!("{RESOURCES}: {error}")))?,
    };
    Ok((lists, resources))
}

#[cfg(test)]
mod tests {
    use super::is_within;

    #[test]
    fn what_is_below_a_resource_is_part_of_it() {
        for uri in ["file:///a", "file:///a/b", "file:///a#b", "file:///a?b"] {
            assert!(is_within(uri, "file:///a"), "{uri}");
        }
        for uri in ["file:///ab", "file:///", "file:///b/file:///a"] {
            assert!(!is_within(uri, "file:///a"), "{uri}");
        }
        assert!(is_within("file:///a/b", "file:///a/"));
        assert!(!is_within("file:///a", "file:///a/"));
    }
}
