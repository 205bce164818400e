//! Lists: pages of what the client is offered, without asking a server.

use std::sync::Arc;

use switchboard_wire::{Era, RpcError, code};

use super::params::invalid;
use super::result::{Answer, Members, Outcome};
use super::{Asked, Client};
use crate::gateway::Gateway;
use crate::offer::{List, Offer};

/// In `_meta`: the servers that are not offered, and what the operator can do about it.
const LEFT_OUT: &str = "switchboard/leftOut";

impl Client {
    /// Answers a request for a page of a list.
    pub(super) async fn list(&self, asked: &Asked<'_>, method: &str) -> Outcome {
        let (list, member) = match method {
            "tools/list" => (List::Tools, "tools"),
            "prompts/list" => (List::Prompts, "prompts"),
            "resources/list" => (List::Resources, "resources"),
            "resources/templates/list" => (List::Templates, "resourceTemplates"),
            _ => return Err(RpcError::new(code::METHOD_NOT_FOUND, "method not found")),
        };
        let cursor = asked.params.cursor()?;
        // The wait before the offer: servers that connect meanwhile are in it.
        self.wait_for_first_lists(asked).await;
        let offer = self.offer()?;
        let page = offer.page(list, cursor.as_deref());
        // 2025-11-25, pagination: an invalid cursor is answered with -32602.
        let page = page.map_err(|_| invalid("the cursor is not valid for this list"))?;
        let mut result = Members::of_result(asked.version);
        result.raw(member, page.items.as_str());
        if let Some(next) = page.next {
            result.text("nextCursor", &next);
        }
        if asked.version.era() == Era::Modern {
            add_cache_hints(&mut result, &self.gateway);
        }
        // Commands are for the operator of this machine.
        let left_out = offer.left_out();
        if !left_out.is_empty()
            && !self.identity.is_remote()
            && let Ok(left_out) = serde_json::to_string(&left_out)
        {
            let meta = Members::new().raw(LEFT_OUT, &left_out).end();
            result.raw("_meta", &meta);
        }
        Ok(Answer::own(result.end_raw()))
    }

    /// The offer for an item that is not in it yet: a client may know the item from an earlier run, and use it
    /// before it lists anything.
    pub(super) async fn later_offer(&self, asked: &Asked<'_>) -> Result<Arc<Offer>, RpcError> {
        // Boxed: few requests come here, and all of them would carry its future.
        Box::pin(self.wait_for_first_lists(asked)).await;
        self.offer()
    }

    /// Gives servers that were never seen a little time, the first time that anything is listed or not
    /// found.
    async fn wait_for_first_lists(&self, asked: &Asked<'_>) {
        let limits = &self.gateway.0.options.limits;
        let patience = if self.is_own(asked.outlet) {
            limits.first_list_stream
        } else {
            limits.first_list_http
        };
        // Counted from the first list of any client: a server that hangs costs no more than that.
        let left = patience.saturating_sub(self.gateway.0.first_list().elapsed());
        if left.is_zero() && !self.gateway.0.may_connect() {
            return;
        }
        self.upstream.connect_within(left).await;
    }
}

/// Adds the time that a client may keep an answer. A policy looked at the caller, so no cache may share it.
pub(super) fn add_cache_hints(result: &mut Members, gateway: &Gateway) {
    let ttl = gateway.0.options.limits.list_ttl.as_millis();
    result.raw("ttlMs", &ttl.to_string());
    result.raw("cacheScope", r#""private""#);
}
