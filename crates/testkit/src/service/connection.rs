//! One client's connection.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use switchboard_wire::{LogLevel, Message, Raw, RequestId, Version};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};

use super::Service;
use super::change::Change;
use super::era::EraState;
use super::failure::{Failure, string};
use super::incoming::{Incoming, Item, Refused};
use super::listen::Subscriptions;
use super::log;
use super::questions::Questions;
use super::talk::Sent;
use super::wire::{Reply, Sink};

/// Everything that one client's connection is made of.
pub(crate) struct Connection {
    /// Tells it from the others.
    pub(crate) number: u64,
    service: Arc<Service>,
    era: EraState,
    /// Where that goes which belongs to no request.
    pub(super) client: Sink,
    pub(super) questions: Questions,
    pub(super) subscriptions: Subscriptions,
    pub(super) sent: Sent,
    /// The operations that run; each ends with the id of its request.
    tasks: JoinSet<Option<RequestId>>,
    running: HashMap<RequestId, AbortHandle>,
    /// Whether the server wants no more of it.
    over: bool,
}

/// Where what a message leads to goes. With stdio there is only one way.
pub(crate) struct Way {
    pub(crate) answers: Sink,
    /// For progress and questions that belong to a request.
    pub(crate) related: Sink,
}

impl Connection {
    pub(crate) fn new(service: Arc<Service>, client: Sink) -> Self {
        Self {
            number: service.number(),
            era: EraState::new(service.eras),
            subscriptions: Subscriptions::new(service.growing, Arc::downgrade(&service.listening)),
            service,
            client,
            questions: Questions::default(),
            sent: Sent::default(),
            tasks: JoinSet::new(),
            running: HashMap::new(),
            over: false,
        }
    }

    /// A legacy connection that needs no handshake: its terms come from elsewhere.
    #[cfg(feature = "http")]
    pub(crate) fn agreed(service: Arc<Service>, client: Sink, version: Version) -> Self {
        let mut connection = Self::new(service, client);
        connection.era.agree(version);
        connection
    }

    /// The version that the handshake agreed on; `None` without one.
    #[cfg(feature = "http")]
    pub(crate) fn negotiated(&self) -> Option<Version> {
        self.era.negotiated()
    }

    /// Tells the client of this connection what has changed, if it wants to know.
    pub(crate) async fn announce(&mut self, change: &Change) {
        if self.era.negotiated().is_some() {
            let subscriptions = &self.subscriptions;
            subscriptions.announce_to_legacy(&self.client, change).await;
        }
        self.over |= self.subscriptions.announce(change).await;
    }

    /// Tells this client, and those of other connections.
    pub(super) async fn tell_everybody(&mut self, change: Change) {
        self.announce(&change).await;
        self.service.announce(self.number, change);
    }

    /// Whether the server ends the connection, and says no more.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn service(&self) -> Arc<Service> {
        Arc::clone(&self.service)
    }

    /// Takes in what the client sent. Waits while the client does not read its answers.
    pub(crate) async fn receive(&mut self, incoming: Incoming) {
        let client = self.client.clone();
        let way = Way {
            answers: client.clone(),
            related: client,
        };
        self.receive_on(incoming, &way).await;
    }

    /// Takes in what the client sent, and answers it in another way than the rest.
    pub(crate) async fn receive_on(&mut self, incoming: Incoming, way: &Way) {
        self.reap();
        match incoming {
            Incoming::One(item) => self.item(item, way).await,
            Incoming::Batch(items) => self.batch(items, way).await,
        }
    }

    /// Stops what still runs and ends the subscriptions, unless they were cut off.
    pub(crate) async fn close(mut self) {
        self.tasks.shutdown().await;
        self.subscriptions.close().await;
    }

    /// Runs the part of a call that waits.
    pub(super) fn spawn(&mut self, id: RequestId, work: impl Future<Output = ()> + Send + 'static) {
        let ended = id.clone();
        let handle = self.tasks.spawn(async move {
            work.await;
            Some(ended)
        });
        self.running.insert(id, handle);
    }

    fn reap(&mut self) {
        while let Some(joined) = self.tasks.try_join_next() {
            // One that was cancelled has been forgotten already.
            if let Ok(Some(id)) = joined {
                self.running.remove(&id);
            }
        }
    }

    async fn item(&mut self, item: Item, way: &Way) {
        match item {
            Ok(Message::Request { id, method, params }) => {
                let reply = Reply {
                    id,
                    answers: way.answers.clone(),
                    client: way.related.clone(),
                };
                self.request(&method, params, reply).await;
            }
            Ok(Message::Notification { method, params }) if method == "notifications/cancelled" => {
                self.cancel(params);
            }
            // There is nothing to do about the others, known or not.
            Ok(Message::Notification { .. }) => {}
            Ok(Message::Response { id, outcome }) => {
                if let Some(id) = id {
                    self.questions.answer(&id, outcome);
                }
            }
            Err(refused) => {
                let Refused { id, failure } = refused;
                way.answers.refuse(id.as_ref(), &failure).await;
            }
        }
    }

    /// Answers the requests of one line in one line.
    async fn batch(&mut self, items: Vec<Item>, way: &Way) {
        // 2025-06-18 took batches away again, and 2024-11-05 had not thought of them.
        if self.era.negotiated() != Some(Version::V2025_03_26) || items.is_empty() {
            let failure = Failure::invalid_request("batches are not part of this version");
            return way.answers.refuse(None, &failure).await;
        }
        // One place for each answer, so that the first ones never wait for the last.
        let (sender, mut receiver) = mpsc::channel(items.len());
        let each = Way {
            answers: Sink::new(sender),
            related: way.related.clone(),
        };
        for item in items {
            self.item(item, &each).await;
        }
        drop(each);
        let client = way.answers.clone();
        self.tasks.spawn(async move {
            let mut lines = Vec::new();
            while let Some(line) = receiver.recv().await {
                lines.push(line);
            }
            if !lines.is_empty() {
                client.written(format!("[{}]", lines.join(","))).await;
            }
            None
        });
    }

    async fn request(&mut self, method: &str, params: Option<Raw>, reply: Reply) {
        if self.running.contains_key(&reply.id) || self.subscriptions.holds(&reply.id) {
            let failure = Failure::invalid_request("a request with this id is still running");
            return reply.finish(Err(failure)).await;
        }
        let (context, params) = match self.admit(method, params) {
            Ok(admitted) => admitted,
            Err(failure) => return reply.finish(Err(failure)).await,
        };
        match (method, context.modern()) {
            ("tools/call", _) => self.call(context, &params, reply).await,
            ("subscriptions/listen", true) => {
                self.subscriptions.open(context, &params, reply).await;
            }
            ("resources/subscribe" | "resources/unsubscribe", false) if self.service.growing => {
                let answer = self.watch(method, &params);
                reply.finish(answer).await;
            }
            ("server/discover", true) => {
                let supported = self.era.supported();
                let result = self.service.discovered(context, &supported);
                reply.finish(Ok(result)).await;
            }
            ("logging/setLevel", false) => {
                let level = log::level(&params, "level");
                let answer = level.map(|level| self.era.log_from(level));
                reply.finish(answer.map(|()| Map::new())).await;
            }
            _ => {
                if self.service.talking && method.ends_with("/list") {
                    let text = format!("{method} was asked for");
                    log::log(context, &reply.client, LogLevel::Debug, &text).await;
                }
                let answer = self.service.answer(context, method, &params);
                let answer = answer.unwrap_or_else(|| Err(Failure::unknown_method(method)));
                reply.finish(answer).await;
            }
        }
    }

    /// Has a legacy client hear of one resource, or no more of it.
    fn watch(
        &mut self,
        method: &str,
        params: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Failure> {
        let uri = string(params, "uri")?;
        if method == "resources/subscribe" {
            self.subscriptions.watch(uri);
        } else {
            self.subscriptions.unwatch(uri);
        }
        Ok(Map::new())
    }

    fn admit(
        &mut self,
        method: &str,
        params: Option<Raw>,
    ) -> Result<(super::era::Context, Map<String, Value>), Failure> {
        let params = match params {
            None => Map::new(),
            Some(params) => params
                .decode()
                .map_err(|error| Failure::invalid_params(format!("params: {error}")))?,
        };
        Ok((self.era.admit(method, &params)?, params))
    }

    /// Stops a request without answering it. One that is over, or never was, is no mistake.
    fn cancel(&mut self, params: Option<Raw>) {
        let id = params.and_then(|params| params.member("requestId"));
        let Some(id) = id.and_then(|id| RequestId::from_json(id.as_str())) else {
            return;
        };
        if let Some(task) = self.running.remove(&id) {
            task.abort();
        }
        self.subscriptions.cancel(&id);
    }
}
