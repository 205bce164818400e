//! One live connection to a server, in either era.
//!
//! A session owns the connection's tasks and the calls that wait on it. It promises that every
//! call resolves exactly once, within its deadline, and that all who wait on a connection
//! which closes learn the same reason. It does not reconnect: that is the server's affair.
//!
//! # How it works
//!
//! Three parts: callers, the engine, and the tasks of the connection.
//!
//! - [`Session`] is the handle that callers hold. Each of its methods makes a `Call` (`call`),
//!   which adds the options and `_meta`, answers the questions of `input_required` rounds and reads
//!   the typed result.
//! - `Engine` (`engine`) makes one exchange at a time for a `Call`: it encodes the request
//!   (`encode`), registers it in the table of pending calls (`pending`), and puts it into the queue
//!   for the server (`outbox`).
//! - The reading task (`read`) takes a call off the table when its answer arrives, the clocks task
//!   (`clocks`) when its deadline passes. Whichever removes it first resolves it.
//!
//! Over HTTP the engine has an `ExchangeDriver` (`exchange`, `reply`) instead of two byte streams:
//! each call drives its own POST. `open`, `negotiate` and `handshake` find the protocol era before
//! the first call. `inbound` and `responder` answer requests that the server makes.

mod call;
mod call_queue;
mod callbacks;
mod clocks;
mod close;
mod counters;
mod encode;
mod engine;
mod error;
mod exchange;
mod handshake;
mod inbound;
mod listing;
mod log_level;
mod negotiate;
mod negotiated;
mod notices;
mod open;
mod options;
mod outbox;
mod pending;
mod read;
mod recover_id;
mod relay;
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "only HTTP is like this")
)]
mod reply;
mod respond;
mod responder;
mod when_woken;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use switchboard_core::limits::Deadline;
use switchboard_core::secret::Secret;
use switchboard_wire::{
    CallToolResult, Complete, CompleteParams, CompleteResult, Discover, Era, GetPrompt,
    GetPromptParams, GetPromptResult, ListPrompts, ListResourceTemplates, ListResources, Listen,
    ListenParams, LogLevel, Method, NoParams, Notice as _, Ping, Prompt, Raw, ReadResource,
    ReadResourceResult, RequestId, Resource, ResourceParams, ResourceTemplate, RootsListChanged,
    SetLevel, SetLevelParams, Subscribe, SubscriptionFilter, Tool, Unsubscribe, Version, code,
};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

#[doc(hidden)]
pub use call_queue::{CallNotice, CallQueue, CallQueueLimits, CallQueueReader, call_queue};
#[doc(hidden)]
pub use callbacks::{CallSink, Callbacks};
pub use close::{CloseCause, CloseReason};
pub use counters::Counts;
pub use error::{CallError, Clock, Delivery, OpenError, Seen};
pub use listing::{Cut, Listing, SetAside};
pub use negotiated::{EraHint, Negotiated};
#[doc(hidden)]
pub use notices::NoticeSink;
pub use notices::{Announcement, Changes};
pub use options::{CallOptions, CancelReason, Progress, ProgressWatch, SessionOptions, progress};
#[doc(hidden)]
pub use relay::InputRelay;
pub use respond::{Refusal, RefuseAll, Respond, Responding};

use call::Call;
use encode::RequestContent;
use engine::{Engine, PendingRequest};

use crate::transport::{Connect, Peer};

/// One live connection to a server.
///
/// Owns the tasks that serve the connection and the calls in flight. Every call resolves exactly
/// once: with its answer, with a timeout, or with the [`CloseReason`] that all calls of a closed
/// connection share.
///
/// Clones share the connection. It closes when the last clone is dropped, or by [`Session::close`],
/// which also waits until the server has ended. A session never reconnects;
/// [`Server`](crate::server::Server) does.
///
/// ```no_run
/// use switchboard_client::transport::Stdio;
/// use switchboard_client::{Session, SessionOptions};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let time = Stdio::new("uvx").args(["mcp-server-time"]);
/// let session = Session::connect(&time, SessionOptions::default()).await?;
/// println!("{}", session.negotiated().version);
/// session.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session(Arc<Shared>);

struct Shared {
    engine: Arc<Engine>,
    negotiated: Negotiated,
    identity: String,
}

/// The deadline of a subscription: longer than any connection lasts.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// The way of subscribing to resource changes, which depends on the era.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subscribing {
    /// `resources/subscribe` for each resource (legacy).
    Each,
    /// One `subscriptions/listen` for all of them, which lasts as long as the subscription
    /// (modern).
    Together,
}

impl Session {
    fn new(engine: Arc<Engine>, negotiated: Negotiated, connect: &dyn Connect) -> Self {
        Self(Arc::new(Shared {
            engine,
            negotiated,
            identity: connect.identity(),
        }))
    }

    /// A short request with the discovery timeout, for requests that make the server do no work.
    fn discovery<'a>(&'a self, options: &'a CallOptions) -> Call<'a> {
        Call::new(&self.0.engine, options, self.0.engine.timeouts.discovery)
    }

    /// The result of negotiation: version, the server's name, its capabilities and instructions.
    pub fn negotiated(&self) -> &Negotiated {
        &self.0.negotiated
    }

    /// Names the server in logs, secrets redacted.
    pub fn identity(&self) -> &str {
        &self.0.identity
    }

    /// The process or address at the other end: process id, stderr.
    pub fn peer(&self) -> &Peer {
        &self.0.engine.peer
    }

    /// The id of the session that a legacy server over HTTP opened: the current one, if the server has
    /// forgotten an earlier one. It is a secret, because knowing it gives access to the session.
    pub fn session_id(&self) -> Option<Secret<String>> {
        self.0.engine.driver.as_ref()?.exchange.session_id()
    }

    /// The number of messages dropped or refused so far, by reason.
    pub fn counts(&self) -> Counts {
        self.0.engine.counters.now()
    }

    /// Calls a tool with arguments that are an object, sent verbatim.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the call on the wire, with [`CallOptions::reason`]. A request of
    /// which no byte has left is withdrawn instead.
    ///
    /// # Errors
    /// Fails when there is no result. A tool that reports a failure has one: see
    /// [`CallToolResult::is_error`].
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: Option<Raw>,
        options: CallOptions,
    ) -> Result<CallToolResult, CallError> {
        self.call_tool_with(name, arguments.as_ref(), &options)
            .await
    }

    /// Reads a resource.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request, as for [`Session::call_tool`].
    ///
    /// # Errors
    /// Fails when there is no result; also when the server offers no resources.
    pub async fn read_resource(
        &self,
        uri: &str,
        options: CallOptions,
    ) -> Result<ReadResourceResult, CallError> {
        if !self.negotiated().capabilities.has_resources() {
            return Err(CallError::NotOffered { what: "resources" });
        }
        let params = ResourceParams {
            uri: uri.to_owned(),
        };
        self.execution(&options).make::<ReadResource>(&params).await
    }

    /// Gets a prompt, filled in with arguments.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request, as for [`Session::call_tool`].
    ///
    /// # Errors
    /// Fails when there is no result; also when the server offers no prompts.
    pub async fn get_prompt(
        &self,
        params: &GetPromptParams,
        options: CallOptions,
    ) -> Result<GetPromptResult, CallError> {
        if !self.negotiated().capabilities.has_prompts() {
            return Err(CallError::NotOffered { what: "prompts" });
        }
        self.execution(&options).make::<GetPrompt>(params).await
    }

    /// Requests completions for an argument of a prompt or of a resource template.
    ///
    /// The context (arguments that are already filled in) is left out for versions before
    /// 2025-06-18, which do not know it.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request, as for [`Session::call_tool`].
    ///
    /// # Errors
    /// Fails when there is no result; also when the server completes nothing.
    pub async fn complete(
        &self,
        params: &CompleteParams,
        options: CallOptions,
    ) -> Result<CompleteResult, CallError> {
        let Negotiated {
            version,
            capabilities,
            ..
        } = self.negotiated();
        // 2024-11-05 has no capability for completions, so such a server is simply asked.
        if !capabilities.has_completions() && *version != Version::V2024_11_05 {
            return Err(CallError::NotOffered {
                what: "completions",
            });
        }
        let mut params = params.clone();
        if matches!(version, Version::V2024_11_05 | Version::V2025_03_26) {
            params.context = None;
        }
        self.discovery(&options).make::<Complete>(&params).await
    }

    /// Makes any request that has a type.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request, as for [`Session::call_tool`].
    ///
    /// # Errors
    /// Fails when there is no result.
    pub async fn request<M: Method>(
        &self,
        params: &M::Params,
        options: CallOptions,
    ) -> Result<M::Result, CallError> {
        self.execution(&options).make::<M>(params).await
    }

    /// Calls a tool with borrowed arguments and options, so that the caller can repeat the call on
    /// another connection.
    pub(crate) fn call_tool_with<'a>(
        &'a self,
        name: &'a str,
        arguments: Option<&'a Raw>,
        options: &'a CallOptions,
    ) -> impl Future<Output = Result<CallToolResult, CallError>> {
        self.execution(options).call_tool(name, arguments)
    }

    /// A request with the execution timeout, for requests that make the server work.
    fn execution<'a>(&'a self, options: &'a CallOptions) -> Call<'a> {
        Call::new(&self.0.engine, options, self.0.engine.timeouts.execution)
    }

    /// Measures how long the server takes to answer a ping.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request.
    ///
    /// # Errors
    /// Fails when it did not answer.
    pub async fn ping(&self) -> Result<Duration, CallError> {
        let options = CallOptions::default();
        let call = self.discovery(&options);
        let asked = Instant::now();
        match self.negotiated().era() {
            Era::Legacy => drop(call.make::<Ping>(&NoParams {}).await?),
            // 2026-07-28 has no ping: any cheap request will do.
            Era::Modern => drop(call.make::<Discover>(&NoParams {}).await?),
        }
        Ok(asked.elapsed())
    }

    /// Lists the server's tools, all pages of them; empty when the server offers no tools.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request for the page that is being read; earlier pages are
    /// lost.
    ///
    /// # Errors
    /// Fails when a page could not be had. Items that do not fit are set aside instead.
    pub async fn list_tools(&self) -> Result<Listing<Tool>, CallError> {
        listing::list_tools(&self.0.engine).await
    }

    /// Lists the server's resources; empty when the server offers none. Cancel safe like
    /// [`Session::list_tools`].
    ///
    /// # Errors
    /// Fails when a page could not be had. Items that do not fit are set aside instead.
    pub async fn list_resources(&self) -> Result<Listing<Resource>, CallError> {
        let offered = self.negotiated().capabilities.has_resources();
        listing::list::<ListResources, _>(&self.0.engine, offered).await
    }

    /// Lists the server's resource templates; empty when the server offers no resources or does not
    /// know templates. Cancel safe like [`Session::list_tools`].
    ///
    /// # Errors
    /// Fails when a page could not be had. Items that do not fit are set aside instead.
    pub async fn list_resource_templates(&self) -> Result<Listing<ResourceTemplate>, CallError> {
        let offered = self.negotiated().capabilities.has_resources();
        let listed = listing::list::<ListResourceTemplates, _>(&self.0.engine, offered).await;
        match listed {
            // Offering resources does not promise templates.
            Err(CallError::Rpc(error)) if error.code() == code::METHOD_NOT_FOUND => {
                Ok(Listing::default())
            }
            listing => listing,
        }
    }

    /// Lists the server's prompts; empty when the server offers none. Cancel safe like
    /// [`Session::list_tools`].
    ///
    /// # Errors
    /// Fails when a page could not be had. Items that do not fit are set aside instead.
    pub async fn list_prompts(&self) -> Result<Listing<Prompt>, CallError> {
        let offered = self.negotiated().capabilities.has_prompts();
        listing::list::<ListPrompts, _>(&self.0.engine, offered).await
    }

    /// Sets the minimum level of the server's log messages, which arrive as
    /// [`Session::announcement`].
    ///
    /// A legacy server gets one `logging/setLevel`. For a modern server the level goes into the
    /// `_meta` of every later request that has no [`CallOptions::log_level`]; without a level it
    /// logs nothing.
    ///
    /// # Cancel safety
    /// A level that was dropped midway may or may not be set; setting it again is safe.
    ///
    /// # Errors
    /// Fails when a legacy server does not log, or did not answer.
    pub async fn set_log_level(&self, level: LogLevel) -> Result<(), CallError> {
        // Held across the request: of two callers that set levels at once, the last one wins on
        // both sides.
        let mut set = self.0.engine.level.set.lock().await;
        if *set == Some(level) {
            return Ok(());
        }
        match self.negotiated().era() {
            // 2026-07-28 has no request for it: each request carries its own level.
            Era::Modern => self.0.engine.level.ask(level),
            Era::Legacy => {
                if !self.negotiated().capabilities.has_logging() {
                    return Err(CallError::NotOffered { what: "logging" });
                }
                let options = CallOptions::default();
                let params = SetLevelParams { level };
                self.discovery(&options).make::<SetLevel>(&params).await?;
            }
        }
        *set = Some(level);
        Ok(())
    }

    /// The way of subscribing that the server supports.
    ///
    /// # Errors
    /// Fails when the server does not report resource changes.
    pub fn subscribing(&self) -> Result<Subscribing, CallError> {
        match (
            self.negotiated().capabilities.resources_subscribe(),
            self.negotiated().era(),
        ) {
            (false, _) => Err(CallError::NotOffered {
                what: "changes of resources",
            }),
            (true, Era::Legacy) => Ok(Subscribing::Each),
            (true, Era::Modern) => Ok(Subscribing::Together),
        }
    }

    /// Subscribes to changes of a resource on a legacy server.
    pub async fn subscribe(&self, uri: &str) -> Result<(), CallError> {
        let params = ResourceParams {
            uri: uri.to_owned(),
        };
        let options = CallOptions::default();
        let answered = self.discovery(&options).make::<Subscribe>(&params);
        answered.await.map(drop)
    }

    /// Ends the subscription to a resource on a legacy server.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), CallError> {
        let params = ResourceParams {
            uri: uri.to_owned(),
        };
        let options = CallOptions::default();
        let answered = self.discovery(&options).make::<Unsubscribe>(&params);
        answered.await.map(drop)
    }

    /// Returns an id that no request on this connection has used, for [`Session::listen`].
    pub fn fresh_id(&self) -> RequestId {
        RequestId::Number(self.0.engine.next_number())
    }

    /// Subscribes to changes of these resources on a modern server. Notifications carry `id`, which
    /// tells one subscription from another.
    ///
    /// Resolves when the server ends the subscription.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the subscription on the wire.
    pub async fn listen(&self, id: RequestId, uris: Vec<String>) -> Result<(), CallError> {
        let params = ListenParams {
            notifications: SubscriptionFilter {
                resource_subscriptions: uris,
                ..SubscriptionFilter::default()
            },
        };
        let reason = CancelReason::new("the subscription is no longer needed");
        let dialect = self.0.engine.dialect();
        let write = |out: &mut Vec<u8>| Listen::write_params(&params, out);
        let asked = self.0.engine.exchange(PendingRequest {
            id: Some(id),
            request: RequestContent {
                method: Listen::NAME,
                params: &write,
                members: &[],
                meta: &dialect.meta,
                wants_progress: false,
            },
            subject: None,
            progress: None,
            callbacks: None,
            deadline: Deadline::within(FOREVER),
            version: Some(dialect.version),
            cancellable: true,
            idempotent: false,
            reason: &reason,
        });
        // The result of a subscription has no content: its arrival is the end.
        asked.await.map(drop)
    }

    /// The time within which the server must acknowledge a subscription.
    pub fn acknowledgement(&self) -> Duration {
        self.0.engine.timeouts.discovery.idle
    }

    /// Notifies a legacy server that the roots have changed; a modern one asks for them when it
    /// needs them.
    pub fn roots_changed(&self) {
        if self.negotiated().era() == Era::Legacy {
            // A closed connection needs none: the server asks for the roots again on the next one.
            self.0
                .engine
                .notify::<NoParams>(RootsListChanged::NAME, None)
                .ok();
        }
    }

    /// Returns the next notification of the server, or `None` once the connection has closed.
    ///
    /// Unread notifications are kept up to
    /// [`Limits::notices`](switchboard_core::limits::Limits::notices); beyond it the oldest are
    /// dropped and counted.
    ///
    /// # Cancel safety
    /// Cancel safe: a notification is taken only when the future resolves.
    pub async fn announcement(&self) -> Option<Announcement> {
        self.0.engine.notices.next().await
    }

    /// Installs a sink that gets notifications as they arrive, starting with those that are kept.
    /// Notifications that the sink gives back are kept as before.
    #[doc(hidden)]
    pub fn set_notice_sink(&self, sink: Box<dyn NoticeSink>) {
        self.0.engine.notices.set_sink(sink);
    }

    /// Subscribes to counters of list changes: tools, prompts, resources.
    pub fn changes(&self) -> watch::Receiver<Changes> {
        self.0.engine.notices.changes.subscribe()
    }

    /// The reason the connection closed, or `None` while it is open.
    pub fn close_reason(&self) -> Option<Arc<CloseReason>> {
        self.0.engine.table().closed().cloned()
    }

    /// Waits until the connection has closed, and returns the reason. Cancel safe.
    pub async fn closed(&self) -> Arc<CloseReason> {
        self.0.engine.stop.cancelled().await;
        self.close_reason()
            .unwrap_or_else(|| self.0.engine.close(CloseCause::ByUs))
    }

    /// Closes the connection and waits until the server has ended, by force if need be.
    ///
    /// Calls in flight fail at once.
    ///
    /// # Cancel safety
    /// Dropping the future does not take the closing back: the connection is closed and the process
    /// still ends; only the waiting stops.
    pub async fn close(&self) -> Arc<CloseReason> {
        let engine = &self.0.engine;
        let limits = &engine.limits;
        if engine.table().closed().is_none() && engine.table().len() == 0 {
            // Let queued messages leave first, for instance the cancellation of a call that was
            // just dropped. Only without calls in flight: those may wait for a server that does not
            // read.
            timeout(limits.drain, engine.outbox.wait_until_empty())
                .await
                .ok();
        }
        // Close before waiting: closing stdin is what makes the process end.
        let reason = engine.close(CloseCause::ByUs);
        if engine.peer.is_process() {
            engine.peer.ended().await;
        }
        // The tasks last: the reading task drains stdout until the process has ended.
        engine.tasks.wait().await;
        reason
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.engine.close(CloseCause::ByUs);
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("identity", &self.0.identity)
            .field("version", &self.0.negotiated.version)
            .field("peer", &self.0.engine.peer)
            .finish_non_exhaustive()
    }
}
