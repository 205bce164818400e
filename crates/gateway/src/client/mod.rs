//! The state of one client, and the way of each of its messages.
//!
//! A [`Client`] is one connection over a byte stream, one legacy session over HTTP, or all modern requests
//! over HTTP of one principal in one scope. Over a byte stream a client may use both eras: a request with
//! the modern `_meta` is modern, the others belong to the session that `initialize` began.
//!
//! [`Client::handle`] reads the parameters once, decides the version, and answers: what the offer knows at
//! once (`session`, `lists`), what a server has to do as a request in flight (`calls`), which the client
//! can cancel and which counts towards its limits (`requests`). `upstream` is the way to the servers:
//! options of calls, and what servers send about them. `changes`, `listen` and `logs` send what belongs
//! to no request. `questions` asks the client what servers of the legacy era want to know, `rounds` passes
//! on the questions of modern ones. `failure` says errors as a server would.

#![allow(
    clippy::result_large_err,
    reason = "an error moves a few times on its way to the answer, and is rare"
)]

mod calls;
mod changes;
mod failure;
mod listen;
mod lists;
mod logs;
mod params;
mod questions;
mod requests;
mod result;
mod rounds;
mod session;
mod upstream;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

#[cfg(feature = "http")]
use switchboard::policy::Caller;
use switchboard_wire::{ClientCapabilities, Era, Raw, RequestId, RpcError, Version, code};
use tokio::task::JoinSet;

use changes::Subscriptions;
use failure::Subject;
pub(crate) use params::Params;
use params::invalid;
use questions::Questions;
pub use questions::client_capabilities;
use requests::{Admission, InFlight};
use result::{Answer, Outcome};
use session::LegacySession;
use upstream::Upstream;

use crate::caller::ClientIdentity;
use crate::gateway::Gateway;
use crate::message::{ClientMessage, ClientRequest, Reply};
use crate::offer::Offer;
use crate::outlet::Outlet;
use crate::scope::Scope;

/// One client.
pub(crate) struct Client {
    this: Weak<Self>,
    gateway: Gateway,
    identity: ClientIdentity,
    scope: Scope,
    upstream: Upstream,
    /// Takes what belongs to no request.
    outlet: Arc<dyn Outlet>,
    session: Mutex<LegacySession>,
    in_flight: InFlight,
    questions: Questions,
    subscriptions: Subscriptions,
    /// The newest offer, and the revision of the host before it was made.
    offer: Mutex<Option<(u64, Arc<Offer>)>>,
    /// What goes on as long as the client is there.
    tasks: Mutex<JoinSet<()>>,
}

/// One request, read.
struct Asked<'a> {
    version: Version,
    params: Box<Params>,
    /// Takes what belongs to the request.
    outlet: &'a Arc<dyn Outlet>,
}

impl Client {
    /// A client on a byte stream, one legacy session over HTTP, or the modern requests over HTTP of one
    /// principal in one scope. `outlet` takes what belongs to no request.
    pub(crate) fn new(
        gateway: &Gateway,
        identity: ClientIdentity,
        scope: Scope,
        outlet: Arc<dyn Outlet>,
    ) -> Arc<Self> {
        let limits = &gateway.0.options.limits;
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            upstream: Upstream::new(gateway, &identity, this, &outlet),
            questions: Questions::new(limits.questions, limits.question_time),
            gateway: gateway.clone(),
            identity,
            scope,
            outlet,
            session: Mutex::default(),
            in_flight: InFlight::default(),
            subscriptions: Subscriptions::default(),
            offer: Mutex::default(),
            tasks: Mutex::default(),
        })
    }

    /// Handles one message; returns the answer of a request. What belongs to the request goes to
    /// `of_request`. A request that was cancelled by `notifications/cancelled` has no answer.
    ///
    /// Everything that is decided without a server is decided before this first waits: messages that are
    /// handled one after the other up to there take effect in their order.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request, also at its server.
    pub(crate) async fn handle(
        self: &Arc<Self>,
        message: ClientMessage,
        of_request: &Arc<dyn Outlet>,
    ) -> Option<Reply> {
        match message {
            ClientMessage::Request(request) => {
                let ClientRequest { id, method, params } = request;
                let params = Params::read(params);
                self.answer(id, &method, params, of_request).await
            }
            ClientMessage::Notification { method, params } => {
                self.notice(&method, params.as_ref());
                None
            }
            ClientMessage::Answer { id, outcome } => {
                self.questions.answer(id.as_ref(), outcome);
                None
            }
        }
    }

    /// The version that `initialize` agreed on.
    pub(crate) fn version(&self) -> Option<Version> {
        self.session().version
    }

    /// Returns true if the client is that agent.
    #[cfg(feature = "http")]
    pub(crate) fn acts_as(&self, caller: &Caller) -> bool {
        self.identity.caller() == caller
    }

    /// Cancels everything, and ends the client's own connections to servers.
    pub(crate) async fn close(&self) {
        // Requests first: after this, none begins that could ask the client or subscribe.
        self.in_flight.close();
        self.questions.close();
        self.subscriptions.close();
        let mut tasks = std::mem::take(&mut *self.tasks());
        tasks.shutdown().await;
        // Connections last: the work that uses them has been cancelled by now.
        self.upstream.close().await;
    }

    fn session(&self) -> MutexGuard<'_, LegacySession> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The capabilities that the client declared in `initialize`.
    fn declared(&self) -> ClientCapabilities {
        self.session().capabilities.clone()
    }

    /// What the client is offered now.
    fn offer(&self) -> Result<Arc<Offer>, RpcError> {
        // The revision before the offer: a change in between makes the next request look again.
        let now = self.gateway.0.host.revision();
        let mut newest = self.offer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((revision, offer)) = &*newest
            && *revision == now
        {
            return Ok(Arc::clone(offer));
        }
        let offer = self.gateway.0.offers.current(&self.identity, &self.scope);
        let offer = offer.ok_or_else(|| {
            RpcError::new(code::INTERNAL_ERROR, "nothing is served here any more")
        })?;
        *newest = Some((now, Arc::clone(&offer)));
        Ok(offer)
    }

    /// Handles a request as [`Client::handle`] does, with its parameters as they were read.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request, also at its server.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        id: RequestId,
        method: &str,
        params: Result<Box<Params>, RpcError>,
        outlet: &Arc<dyn Outlet>,
    ) -> Option<Reply> {
        let asked = params.and_then(|params| self.with_version(method, params, outlet));
        let outcome = match asked {
            Ok(asked) => self.dispatch(&id, method, asked).await?,
            Err(error) => Err(error),
        };
        Some(match outcome {
            Ok(Answer { result, added }) => Reply {
                id,
                outcome: Ok(result),
                added,
            },
            Err(error) => Reply::new(id, Err(error)),
        })
    }

    /// Decides the version that a request is written in.
    fn with_version<'a>(
        &self,
        method: &str,
        params: Box<Params>,
        outlet: &'a Arc<dyn Outlet>,
    ) -> Result<Asked<'a>, RpcError> {
        // `initialize` with a `protocolVersion` begins a legacy session, whatever `_meta` has.
        let is_handshake = method == "initialize"
            && (params.member("protocolVersion").is_some() || !params.meta.is_modern());
        let version = if is_handshake {
            Version::NEWEST_LEGACY
        } else if params.meta.is_modern() {
            session::modern_version(&params.meta)?
        } else {
            match self.session().version {
                Some(version) => version,
                // 2025-11-25, lifecycle: a client may send pings before `initialize` is answered.
                None if method == "ping" => Version::NEWEST_LEGACY,
                None => return Err(invalid(session::NOT_BEGUN)),
            }
        };
        Ok(Asked {
            version,
            params,
            outlet,
        })
    }

    /// Answers a request; `None` if the client cancels it.
    async fn dispatch(
        self: &Arc<Self>,
        id: &RequestId,
        method: &str,
        asked: Asked<'_>,
    ) -> Option<Outcome> {
        let era = asked.version.era();
        // A gateway that is about to end still answers whether it is alive.
        if method == "ping" && era == Era::Legacy {
            return Some(Ok(Answer::empty()));
        }
        // The token before the work: a drain waits for every request that holds one.
        let Some(_running) = self.gateway.0.drain.begin() else {
            let error = RpcError::new(code::INTERNAL_ERROR, "the gateway is shutting down");
            return Some(Err(error));
        };
        // Answered without a ticket: these wait for no server, so there is nothing to cancel.
        match (method, era) {
            ("initialize", Era::Legacy) => return Some(self.initialize(&asked)),
            ("server/discover", Era::Modern) => return Some(self.discover()),
            ("logging/setLevel", Era::Legacy) => return Some(self.set_level(&asked)),
            ("resources/unsubscribe", Era::Legacy) => return Some(self.unsubscribe(&asked)),
            (
                "tools/call"
                | "tools/list"
                | "prompts/list"
                | "prompts/get"
                | "resources/list"
                | "resources/templates/list"
                | "resources/read"
                | "completion/complete",
                _,
            )
            | ("resources/subscribe", Era::Legacy)
            | ("subscriptions/listen", Era::Modern) => {}
            _ => {
                return Some(Err(RpcError::new(
                    code::METHOD_NOT_FOUND,
                    "method not found",
                )));
            }
        }
        // A place before the work: over the limit, nothing reaches a server.
        let mut ticket = match self.in_flight.begin(id, self.admission(method, &asked)) {
            Ok(ticket) => ticket,
            Err(error) => return Some(Err(error)),
        };
        let reason = ticket.reason.clone();
        let work = async {
            match method {
                "tools/call" => self.call_tool(&asked, reason).await,
                "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
                    self.list(&asked, method).await
                }
                // Boxed: these are rare, and would make the future of every call larger.
                "prompts/get" => Box::pin(self.get_prompt(&asked, reason)).await,
                "resources/read" => Box::pin(self.read_resource(&asked, reason)).await,
                "completion/complete" => Box::pin(self.complete(&asked, reason)).await,
                "resources/subscribe" => Box::pin(self.subscribe(&asked)).await,
                _ => Box::pin(self.listen(id, &asked)).await,
            }
        };
        tokio::select! {
            // The answer first: a request that is done when its cancellation arrives is still answered.
            biased;
            outcome = work => Some(outcome),
            // The ticket holds its own sender's entry, so this completes by a cancellation alone.
            Ok(()) = &mut ticket.cancelled => None,
        }
    }

    /// The way in which a request counts towards the limits.
    fn admission(&self, method: &str, asked: &Asked<'_>) -> Admission {
        let limits = &self.gateway.0.options.limits;
        let is_listen = method == "subscriptions/listen";
        // Modern POSTs of all clients of a principal are counted together, with their own limit.
        let is_modern_post = asked.version.era() == Era::Modern && !self.is_own(asked.outlet);
        let most = match (is_listen, is_modern_post) {
            (true, false) => limits.listens,
            (false, false) => limits.in_flight,
            (_, true) => limits.in_flight_principal,
        };
        Admission {
            by_id: !is_modern_post,
            is_listen,
            most,
        }
    }

    /// Returns true for the outlet of the client itself: then everything shares one byte stream.
    fn is_own(&self, outlet: &Arc<dyn Outlet>) -> bool {
        Arc::ptr_eq(&self.outlet, outlet)
    }

    fn notice(&self, method: &str, params: Option<&Raw>) {
        match method {
            "notifications/initialized" => self.initialized(),
            "notifications/cancelled" => {
                let id = params.and_then(|params| params.member("requestId"));
                let id = id.and_then(|id| RequestId::from_json(id.as_str()));
                let reason = params.and_then(|params| params.member("reason"));
                // A malformed cancellation is ignored, as the specification says.
                if let Some(id) = id {
                    let reason = reason.and_then(|reason| reason.as_text());
                    self.in_flight.cancel(&id, reason);
                }
            }
            "notifications/roots/list_changed" => self.upstream.roots_changed(),
            _ => {}
        }
    }

    /// The error that the client gets for an error of the host.
    fn failure(
        &self,
        asked: &Asked<'_>,
        subject: Subject<'_>,
        error: &switchboard::Error,
    ) -> RpcError {
        failure::failure(&self.identity, asked.version, subject, error)
    }
}
