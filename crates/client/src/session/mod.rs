//! One live connection to a server, in either era.
//!
//! A session owns the connection's tasks and the calls that wait on it. It promises that every
//! call resolves exactly once, within its deadline, and that all who wait on a connection
//! which closes learn the same reason. It does not reconnect: that is the server's affair.
//!
//! [`Session`] is what callers hold. A request of theirs becomes a `Call`, which answers what the server asks back
//! and reads the result; its `Engine` makes the exchange: it writes the request (`encode`, `outbox`), keeps it in the
//! table of those that wait (`pending`), and the reading task (`read`) or the clocks (`clocks`) take it off. Over HTTP
//! the engine has an `ExchangeDriver` instead of two byte streams (`exchange`, `reply`).

mod call;
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
use switchboard_wire::{
    CallToolResult, Complete, CompleteParams, CompleteResult, Discover, Era, GetPrompt,
    GetPromptParams, GetPromptResult, ListPrompts, ListResourceTemplates, ListResources, Listen,
    ListenParams, LogLevel, Method, NoParams, Notice as _, Ping, Prompt, Raw, ReadResource,
    ReadResourceResult, RequestId, Resource, ResourceParams, ResourceTemplate, RootsListChanged,
    SetLevel, SetLevelParams, Subscribe, SubscriptionFilter, Tool, Unsubscribe, Version, code,
};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

pub use close::{CloseCause, CloseReason};
pub use counters::Counts;
pub use error::{CallError, Clock, Delivery, OpenError, Seen};
pub use listing::{Cut, Listing, SetAside};
pub use negotiated::{Negotiated, Verdict};
#[doc(hidden)]
pub use notices::Ear;
pub use notices::{Announcement, Changes};
pub use options::{CallOptions, CancelReason, Progress, ProgressWatch, SessionOptions, progress};
pub use respond::{Refusal, RefuseAll, Respond, Responding};

use call::Call;
use encode::Request;
use engine::{Ask, Engine};

use crate::transport::{Connect, Peer};

/// One live connection to a server.
///
/// Clones share the connection; it closes when the last one is dropped, or by
/// [`Session::close`], which also waits for the server's end.
#[derive(Clone)]
pub struct Session(Arc<Shared>);

struct Shared {
    engine: Arc<Engine>,
    negotiated: Negotiated,
    identity: String,
}

/// Longer than any connection lasts.
const FOREVER: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// How a server is asked to tell of changes of resources.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subscribing {
    /// One request for each resource.
    Each,
    /// One request for all, which lasts as long as it is told of them.
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

    /// A short request of the session's own, which is not work of the server's.
    fn discovery<'a>(&'a self, options: &'a CallOptions) -> Call<'a> {
        Call::new(&self.0.engine, options, self.0.engine.timeouts.discovery)
    }

    /// What was agreed on: version, the server's name, what it offers, how it wants to be used.
    pub fn negotiated(&self) -> &Negotiated {
        &self.0.negotiated
    }

    /// Names the server in logs, secrets redacted.
    pub fn identity(&self) -> &str {
        &self.0.identity
    }

    /// What is behind the connection: process id, stderr.
    pub fn peer(&self) -> &Peer {
        &self.0.engine.peer
    }

    /// What was passed over so far.
    pub fn counts(&self) -> Counts {
        self.0.engine.counters.now()
    }

    /// Calls a tool with arguments that are an object, sent verbatim.
    ///
    /// Dropping the future cancels the call on the wire, with [`CallOptions::reason`].
    ///
    /// # Errors
    /// When there is no result. A tool that reports a failure has one: see
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
    /// # Errors
    /// When there is no result; also when the server offers no resources.
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
    /// # Errors
    /// When there is no result; also when the server offers no prompts.
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

    /// Asks what an argument of a prompt, or of a template, may become.
    ///
    /// What else is filled in is left out for a server of a version that does not know of it.
    ///
    /// # Errors
    /// When there is no result; also when the server completes nothing.
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
        // 2024-11-05 has no word for that a server completes.
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
    /// # Errors
    /// When there is no result.
    pub async fn request<M: Method>(
        &self,
        params: &M::Params,
        options: CallOptions,
    ) -> Result<M::Result, CallError> {
        self.execution(&options).make::<M>(params).await
    }

    /// Calls a tool with what the caller keeps, should it have to call again.
    pub(crate) fn call_tool_with<'a>(
        &'a self,
        name: &'a str,
        arguments: Option<&'a Raw>,
        options: &'a CallOptions,
    ) -> impl Future<Output = Result<CallToolResult, CallError>> {
        self.execution(options).call_tool(name, arguments)
    }

    /// A request that has the server do its work.
    fn execution<'a>(&'a self, options: &'a CallOptions) -> Call<'a> {
        Call::new(&self.0.engine, options, self.0.engine.timeouts.execution)
    }

    /// Asks whether the server is there, and says how long it took to answer.
    ///
    /// # Errors
    /// When it did not answer.
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

    /// Lists the server's tools; none where the server offers none.
    ///
    /// # Errors
    /// When a page could not be had. Items that do not fit are set aside instead.
    pub async fn list_tools(&self) -> Result<Listing<Tool>, CallError> {
        listing::list_tools(&self.0.engine).await
    }

    /// Lists the server's resources; none where the server offers none.
    ///
    /// # Errors
    /// When a page could not be had. Items that do not fit are set aside instead.
    pub async fn list_resources(&self) -> Result<Listing<Resource>, CallError> {
        let offered = self.negotiated().capabilities.has_resources();
        listing::list::<ListResources, _>(&self.0.engine, offered).await
    }

    /// Lists the server's resource templates; none where the server offers no resources, or does
    /// not know templates.
    ///
    /// # Errors
    /// When a page could not be had. Items that do not fit are set aside instead.
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

    /// Lists the server's prompts; none where the server offers none.
    ///
    /// # Errors
    /// When a page could not be had. Items that do not fit are set aside instead.
    pub async fn list_prompts(&self) -> Result<Listing<Prompt>, CallError> {
        let offered = self.negotiated().capabilities.has_prompts();
        listing::list::<ListPrompts, _>(&self.0.engine, offered).await
    }

    /// Says from which level on the server is to log: see [`Session::announcement`].
    ///
    /// A legacy server is told once. A modern one is told with every request from here on that has no
    /// level of its own ([`CallOptions::log_level`]), and logs nothing otherwise.
    ///
    /// # Errors
    /// When a legacy server does not log, or did not answer.
    pub async fn set_log_level(&self, level: LogLevel) -> Result<(), CallError> {
        let mut set = self.0.engine.level.set.lock().await;
        if *set == Some(level) {
            return Ok(());
        }
        match self.negotiated().era() {
            // 2026-07-28: there is no request for it any more, each request says it for itself.
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

    /// How the server is asked to tell of changes of resources.
    ///
    /// # Errors
    /// When it tells of none.
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

    /// Asks a legacy server to tell when a resource changes.
    pub async fn subscribe(&self, uri: &str) -> Result<(), CallError> {
        let params = ResourceParams {
            uri: uri.to_owned(),
        };
        let options = CallOptions::default();
        let answered = self.discovery(&options).make::<Subscribe>(&params);
        answered.await.map(drop)
    }

    /// Asks it to stop.
    pub async fn unsubscribe(&self, uri: &str) -> Result<(), CallError> {
        let params = ResourceParams {
            uri: uri.to_owned(),
        };
        let options = CallOptions::default();
        let answered = self.discovery(&options).make::<Unsubscribe>(&params);
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
        let dialect = self.0.engine.dialect();
        let write = |out: &mut Vec<u8>| Listen::write_params(&params, out);
        let asked = self.0.engine.exchange(Ask {
            id: Some(id),
            request: Request {
                method: Listen::NAME,
                params: &write,
                members: &[],
                meta: &dialect.meta,
                wants_progress: false,
            },
            subject: None,
            progress: None,
            deadline: Deadline::within(FOREVER),
            version: Some(dialect.version),
            cancellable: true,
            idempotent: false,
            reason: &reason,
        });
        // What it says at the end is not more than that it is the end.
        asked.await.map(drop)
    }

    /// How long the server may take to say what it will tell of.
    pub fn acknowledgement(&self) -> Duration {
        self.0.engine.timeouts.discovery.idle
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

    /// The next thing that the server announced; `None` once the connection has closed.
    ///
    /// What nobody reads is kept up to a limit; the oldest go first, and are counted.
    pub async fn announcement(&self) -> Option<Announcement> {
        self.0.engine.notices.next().await
    }

    /// Has somebody told what the server announces, at the moment that it does, and first what is
    /// kept. What they do not want is kept as before.
    #[doc(hidden)]
    pub fn hear(&self, ear: Box<dyn Ear>) {
        self.0.engine.notices.hear(ear);
    }

    /// Says when lists have changed.
    pub fn changes(&self) -> watch::Receiver<Changes> {
        self.0.engine.notices.changes.subscribe()
    }

    /// Why the connection closed, if it has.
    pub fn close_reason(&self) -> Option<Arc<CloseReason>> {
        self.0.engine.table().closed().cloned()
    }

    /// Waits until the connection has closed, and says why.
    pub async fn closed(&self) -> Arc<CloseReason> {
        self.0.engine.stop.cancelled().await;
        self.close_reason()
            .unwrap_or_else(|| self.0.engine.close(CloseCause::ByUs))
    }

    /// Closes the connection and waits until the server has ended, by force if need be.
    ///
    /// Calls in flight fail at once. Dropping the future does not take the closing back.
    pub async fn close(&self) -> Arc<CloseReason> {
        let engine = &self.0.engine;
        let limits = &engine.limits;
        if engine.table().closed().is_none() && engine.table().len() == 0 {
            // The last words, such as a cancellation, should still leave.
            timeout(limits.drain, engine.outbox.emptied()).await.ok();
        }
        let reason = engine.close(CloseCause::ByUs);
        if engine.peer.is_process() {
            engine.peer.ended().await;
        }
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
