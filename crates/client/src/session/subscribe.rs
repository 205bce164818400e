//! Being told when resources change, and telling when ours do.

use std::time::Duration;

use switchboard_core::limits::Deadline;
use switchboard_wire::{
    Era, Listen, ListenParams, Method as _, NoParams, Notice as _, RequestId, ResourceParams,
    RootsListChanged, Subscribe, SubscriptionFilter, Unsubscribe,
};

use super::encode::Request;
use super::engine::Ask;
use super::{CallError, CallOptions, CancelReason, Session};

/// Longer than any connection lasts.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

const RESOURCE_CHANGES: CallError = CallError::NotOffered {
    what: "changes of resources",
};

/// How a server is asked to tell of changes of resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subscribing {
    /// One request for each resource.
    Each,
    /// One request for all, which lasts as long as it is told of them.
    Together,
}

impl Session {
    /// How the server is asked to tell of changes of resources.
    ///
    /// # Errors
    /// When it tells of none.
    pub fn subscribing(&self) -> Result<Subscribing, CallError> {
        match (
            self.negotiated().capabilities.resources_subscribe(),
            self.negotiated().era(),
        ) {
            (false, _) => Err(RESOURCE_CHANGES),
            (true, Era::Legacy) => Ok(Subscribing::Each),
            (true, Era::Modern) => Ok(Subscribing::Together),
        }
    }

    /// Asks a legacy server to tell when a resource changes.
    pub async fn subscribe(&self, uri: &str) -> Result<(), CallError> {
        let params = ResourceParams {
            uri: uri.to_owned(),
        };
        let terms = self.terms(CallOptions::default(), self.0.timeouts.discovery, false);
        let answered = self.0.engine.call::<Subscribe>(&params, terms);
        answered.await.map(drop)
    }

    /// Asks it to stop.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), CallError> {
        let params = ResourceParams {
            uri: uri.to_owned(),
        };
        let terms = self.terms(CallOptions::default(), self.0.timeouts.discovery, false);
        let answered = self.0.engine.call::<Unsubscribe>(&params, terms);
        answered.await.map(drop)
    }

    /// An id that no request on this connection has had, for [`Session::listen`].
    pub fn fresh_id(&self) -> RequestId {
        RequestId::Number(self.0.engine.next_number())
    }

    /// Has a modern server tell when these resources change, under an id by which what it says can be
    /// known. Ends when the server ends it; dropping the future does, too.
    pub async fn listen(&self, id: RequestId, uris: Vec<String>) -> Result<(), CallError> {
        let params = ListenParams {
            notifications: SubscriptionFilter {
                resource_subscriptions: uris,
                ..SubscriptionFilter::default()
            },
        };
        let reason = CancelReason::new("nobody wants to know any more");
        let write = |out: &mut Vec<u8>| Listen::write_params(&params, out);
        let asked = self.0.engine.exchange(Ask {
            id: Some(id),
            request: Request {
                method: Listen::NAME,
                params: &write,
                members: &[],
                meta: &self.0.dialect.meta,
                wants_progress: false,
            },
            progress: None,
            deadline: Deadline::within(FOREVER),
            version: Some(self.0.dialect.version),
            cancellable: true,
            idempotent: false,
            reason: &reason,
        });
        // What it says at the end is not more than that it is the end.
        asked.await.map(drop)
    }

    /// How long the server may take to say what it will tell of.
    pub fn acknowledgement(&self) -> Duration {
        self.0.timeouts.discovery.idle
    }

    /// Tells a legacy server that the folders are others; a modern one asks when it wants to know.
    pub fn roots_changed(&self) {
        if self.negotiated().era() == Era::Legacy {
            // A connection that is closed is told on the next one.
            self.0
                .engine
                .notify::<NoParams>(RootsListChanged::NAME, None)
                .ok();
        }
    }
}
