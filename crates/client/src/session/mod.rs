//! One live connection to a server, in either era.
//!
//! A session owns the connection's tasks and the calls that wait on it. It promises that every
//! call resolves exactly once, within its deadline, and that everybody who waits on a connection
//! which closes learns the same reason. It does not reconnect: that is the server's affair.

mod agreed;
mod call;
mod clocks;
mod close;
mod counters;
mod dialect;
mod encode;
mod engine;
mod error;
mod exchange;
mod handshake;
mod inbound;
mod level;
mod listing;
mod negotiate;
mod notices;
mod open;
mod options;
mod outbox;
mod pending;
mod progress;
mod read;
mod recover_id;
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "only HTTP is like this")
)]
mod reply;
mod respond;
mod subscribe;
mod visits;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use switchboard_core::limits::{Deadline, Timeouts};
use switchboard_wire::{
    CallTool, CallToolParams, CallToolResult, Complete, CompleteParams, CompleteResult, Discover,
    Era, GetPrompt, GetPromptParams, GetPromptResult, Method, NoParams, Ping, Raw, ReadResource,
    ReadResourceResult, ResourceParams, Version,
};
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

pub use agreed::{Negotiated, Verdict};
pub use close::{CloseCause, CloseReason};
pub use counters::Counts;
pub use error::{CallError, Clock, Delivery, OpenError, Seen};
pub use listing::{Cut, Listing, SetAside};
#[doc(hidden)]
pub use notices::Ear;
pub use notices::{Announcement, Changes};
pub use options::{CallOptions, CancelReason, SessionOptions};
pub use progress::{Progress, ProgressWatch, progress};
pub use respond::{Refusal, RefuseAll, Respond, Responding};
#[doc(hidden)]
pub use subscribe::Subscribing;

use call::Terms;
use dialect::Dialect;
use engine::Engine;

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
    dialect: Dialect,
    timeouts: Timeouts,
    identity: String,
    level: level::Level,
}

impl Session {
    fn new(
        engine: Arc<Engine>,
        negotiated: Negotiated,
        options: &SessionOptions,
        connect: &dyn Connect,
    ) -> Self {
        let dialect = engine.dialect.get().cloned().unwrap_or_else(|| Dialect {
            version: negotiated.version,
            meta: String::new(),
        });
        Self(Arc::new(Shared {
            engine,
            negotiated,
            dialect,
            timeouts: options.timeouts,
            identity: connect.identity(),
            level: level::Level::default(),
        }))
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    pub(crate) fn timeouts(&self) -> Timeouts {
        self.0.timeouts
    }

    pub(crate) fn terms(
        &self,
        mut options: CallOptions,
        usual: Deadline,
        wants_progress: bool,
    ) -> Terms<'_> {
        options.log_level = options.log_level.or_else(|| self.0.level.of_requests());
        Terms {
            deadline: options.deadline.unwrap_or(usual),
            options,
            wants_progress,
            dialect: &self.0.dialect,
        }
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
        let params = CallToolParams {
            name: name.to_owned(),
            arguments,
        };
        let over_http = self.0.engine.driver.is_some();
        let mut options = options;
        if over_http {
            Box::pin(self.learn_tool(&mut options)).await?;
        }
        let mut again = over_http.then(|| options.clone());
        // One place that calls: a second would cost every call that needs no other.
        loop {
            let called = self.request::<CallTool>(&params, options).await;
            let Some(mut once_more) = again.take() else {
                return called;
            };
            if !Box::pin(self.has_learned_more(&called, &mut once_more)).await {
                return called;
            }
            options = once_more;
        }
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
        self.request::<ReadResource>(&params, options).await
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
        self.request::<GetPrompt>(params, options).await
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
        let terms = self.terms(options, self.0.timeouts.discovery, false);
        self.0.engine.call::<Complete>(&params, terms).await
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
        // Tools are what takes long: asking for progress shows which of them are alive.
        let wants_progress = M::NAME == CallTool::NAME;
        let terms = self.terms(options, self.0.timeouts.execution, wants_progress);
        self.0.engine.call::<M>(params, terms).await
    }

    /// Asks whether the server is there, and says how long it took to answer.
    ///
    /// # Errors
    /// When it did not answer.
    pub async fn ping(&self) -> Result<Duration, CallError> {
        let terms = self.terms(CallOptions::default(), self.0.timeouts.discovery, false);
        let asked = Instant::now();
        match self.negotiated().era() {
            Era::Legacy => drop(self.0.engine.call::<Ping>(&NoParams {}, terms).await?),
            // 2026-07-28 has no ping: any cheap request will do.
            Era::Modern => drop(self.0.engine.call::<Discover>(&NoParams {}, terms).await?),
        }
        Ok(asked.elapsed())
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
