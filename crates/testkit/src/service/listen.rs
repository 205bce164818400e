//! Subscriptions, and announcements to those who hold them.

use serde_json::{Map, Value, json};
use switchboard_protocol::RequestId;

use super::era::{Context, Keep};
use super::failure::{Failure, object};
use super::wire::{Reply, Sink};

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The lists that can change.
const LISTS: [&str; 3] = ["tools", "prompts", "resources"];

/// The subscriptions of one connection.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions(Vec<Subscription>);

#[derive(Debug)]
struct Subscription {
    context: Context,
    lists: Vec<&'static str>,
    /// Answered when the server ends the subscription; dropped when the client does.
    reply: Reply,
}

impl Subscriptions {
    /// Opens a subscription and says which of its wishes are granted.
    pub(crate) async fn open(
        &mut self,
        context: Context,
        params: &Map<String, Value>,
        reply: Reply,
    ) {
        let lists = match wanted(params) {
            Ok(lists) => lists,
            Err(failure) => return reply.finish(Err(failure)).await,
        };
        let granted: Map<String, Value> = lists
            .iter()
            .map(|list| (wish(list), Value::Bool(true)))
            .collect();
        let params = json!({"_meta": {SUBSCRIPTION_ID: reply.id}, "notifications": granted});
        let method = "notifications/subscriptions/acknowledged";
        reply.client.notify(method, Some(&params)).await;
        self.0.push(Subscription {
            context,
            lists,
            reply,
        });
    }

    pub(crate) fn holds(&self, id: &RequestId) -> bool {
        self.0
            .iter()
            .any(|subscription| subscription.reply.id == *id)
    }

    /// Ends the subscription that the client cancels, without an answer.
    pub(crate) fn cancel(&mut self, id: &RequestId) {
        self.0.retain(|subscription| subscription.reply.id != *id);
    }

    /// Tells those who asked for it that `list` has changed.
    pub(crate) async fn announce(&self, list: &str) {
        for subscription in &self.0 {
            if subscription.lists.contains(&list) {
                let params = json!({"_meta": {SUBSCRIPTION_ID: subscription.reply.id}});
                let method = list_changed(list);
                subscription
                    .reply
                    .client
                    .notify(&method, Some(&params))
                    .await;
            }
        }
    }

    /// Ends all subscriptions from this side.
    pub(crate) async fn close(&mut self) {
        for Subscription { context, reply, .. } in self.0.drain(..) {
            let mut body = Map::new();
            body.insert("_meta".to_owned(), json!({SUBSCRIPTION_ID: reply.id}));
            reply.finish(Ok(context.complete(body, Keep::Unsaid))).await;
        }
    }
}

/// Tells a legacy client, which needs no subscription for it, that `list` has changed.
pub(crate) async fn announce_to_all(client: &Sink, list: &str) {
    client.notify(&list_changed(list), None).await;
}

fn list_changed(list: &str) -> String {
    format!("notifications/{list}/list_changed")
}

/// The member of a subscription that asks for changes of `list`.
fn wish(list: &str) -> String {
    format!("{list}ListChanged")
}

/// The lists that are asked for. Wishes for single resources are not granted: those never change.
fn wanted(params: &Map<String, Value>) -> Result<Vec<&'static str>, Failure> {
    let asked = object(params, "notifications")?
        .ok_or_else(|| Failure::invalid_params("notifications is missing"))?;
    let mut lists = LISTS.to_vec();
    lists.retain(|list| asked.get(&wish(list)) == Some(&Value::Bool(true)));
    Ok(lists)
}
