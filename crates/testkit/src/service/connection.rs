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

/// The state of one client's connection.
pub(crate) struct Connection {
    /// Identifies the connection.
    pub(crate) number: u64,
    service: Arc<Service>,
    era: EraState,
    /// The sink for messages outside of requests.
    pub(super) client: Sink,
    pub(super) questions: Questions,
    pub(super) subscriptions: Subscriptions,
    pub(super) sent: Sent,
    /// The running operations; each returns the id of its request.
    tasks: JoinSet<Option<RequestId>>,
    running: HashMap<RequestId, AbortHandle>,
    /// The server has ended the connection.
    over: bool,
}

/// The sinks for the messages that a request causes. Over stdio they are the same.
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
            subscriptions: Subscriptions::new(
                service.is_watchable(),
                Arc::downgrade(&service.listening),
            ),
            service,
            client,
            questions: Questions::default(),
            sent: Sent::default(),
            tasks: JoinSet::new(),
            running: HashMap::new(),
            over: false,
        }
    }

    /// Creates a legacy connection without a handshake: its version comes from elsewhere.
    #[cfg(feature = "http")]
    pub(crate) fn with_version(service: Arc<Service>, client: Sink, version: Version) -> Self {
        let mut connection = Self::new(service, client);
        connection.era.agree(version);
        connection
    }

    /// The version that the handshake negotiated; `None` without one.
    #[cfg(feature = "http")]
    pub(crate) fn negotiated(&self) -> Option<Version> {
        self.era.negotiated()
    }

    /// Announces a change to this client, if it is interested.
    pub(crate) async fn announce(&mut self, change: &Change) {
        if self.era.negotiated().is_some() {
            let subscriptions = &self.subscriptions;
            subscriptions.announce_to_legacy(&self.client, change).await;
        }
        self.over |= self.subscriptions.announce(change).await;
    }

    /// Announces a change to this client and to those of other connections.
    pub(super) async fn tell_everybody(&mut self, change: Change) {
        self.announce(&change).await;
        self.service.announce(self.number, change);
    }

    /// Returns true if the server has ended the connection.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn service(&self) -> Arc<Service> {
        Arc::clone(&self.service)
    }

    /// Handles a message of the client. Waits while the client does not read its answers.
    pub(crate) async fn receive(&mut self, incoming: Incoming) {
        let client = self.client.clone();
        let way = Way {
            answers: client.clone(),
            related: client,
        };
        self.receive_on(incoming, &way).await;
    }

    /// Handles a message of the client, with its own sinks for the answers.
    pub(crate) async fn receive_on(&mut self, incoming: Incoming, way: &Way) {
        self.reap();
        match incoming {
            Incoming::One(item) => self.item(item, way).await,
            Incoming::Batch(items) => self.batch(items, way).await,
        }
    }

    /// Stops running operations, and ends the subscriptions unless they were cut off.
    pub(crate) async fn close(mut self) {
        // Operations first, so that nothing is written after the subscriptions have ended.
        self.tasks.shutdown().await;
        self.subscriptions.close().await;
    }

    /// Runs the part of a call that waits, as a task.
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
            // A cancelled one was already removed.
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
            // No other notification has an effect.
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
        // Batches exist in 2025-03-26 only.
        if self.era.negotiated() != Some(Version::V2025_03_26) || items.is_empty() {
            let failure = Failure::invalid_request("batches are not part of this version");
            return way.answers.refuse(None, &failure).await;
        }
        // Capacity for every answer, so that the first ones never wait for the last.
        let (sender, mut receiver) = mpsc::channel(items.len());
        // The answers of the batch are collected; progress and questions go out at once.
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
                client.send_line(format!("[{}]", lines.join(","))).await;
            }
            None
        });
    }

    async fn request(&mut self, method: &str, params: Option<Raw>, reply: Reply) {
        // JSON-RPC ids must be unique among open requests, or answers could not be told apart.
        if self.running.contains_key(&reply.id) || self.subscriptions.holds(&reply.id) {
            let failure = Failure::invalid_request("a request with this id is still running");
            return reply.finish(Err(failure)).await;
        }
        // The era decides before the method: a request of the wrong era is refused, whatever it
        // asks for.
        let (context, params) = match self.admit(method, params) {
            Ok(admitted) => admitted,
            Err(failure) => return reply.finish(Err(failure)).await,
        };
        if method == "prompts/get"
            && let Some(asking) = self.service.prompt_asking(&params)
        {
            return self
                .fill_after_asking(context, asking, &params, reply)
                .await;
        }
        match (method, context.modern()) {
            ("tools/call", _) => self.call(context, &params, reply).await,
            ("subscriptions/listen", true) => {
                self.subscriptions.open(context, &params, reply).await;
            }
            ("resources/subscribe" | "resources/unsubscribe", false)
                if self.service.is_watchable() =>
            {
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
                // Log before answering, so that the message precedes the answer on the wire.
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

    /// Subscribes a legacy client to a resource, or ends that.
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

    /// Cancels a request without an answer. An unknown id is not an error.
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
