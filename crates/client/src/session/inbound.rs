//! Requests of a legacy server: each is answered, but not too many at once.

use std::sync::{Arc, PoisonError};

use rustc_hash::FxHashMap;
use serde::Serialize;
use switchboard_wire::{
    Ask as _, ClientCapabilities, CreateMessage, Discover, Elicit, ElicitMode, Era, Initialize,
    InputRequest, ListRoots, Listen, Method, Ping, Raw, RequestId, RpcError, code,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::encode;
use super::engine::Engine;
use super::error::CallError;
use super::outbox::Parcel;
use super::respond::Refusal;
use crate::transport::Kind;

/// The requests being answered, with what takes each of them back.
pub(crate) type Inbound = FxHashMap<RequestId, CancellationToken>;

impl Engine {
    /// Takes a request of the server's.
    pub(crate) fn on_request(self: &Arc<Self>, id: RequestId, method: &str, params: Option<Raw>) {
        if self
            .dialect
            .get()
            .is_some_and(|dialect| dialect.era() == Era::Modern)
        {
            // 2026-07-28 stdio: the server must not write requests, the client must not answer.
            self.counters.forbidden_requests.add();
            return;
        }
        if method == Ping::NAME {
            self.answer(&id, &Ok(Raw::empty_object()));
            return;
        }
        if method == Initialize::NAME || method == Discover::NAME {
            // Only we ask this: whoever does so sends back what it was sent, which is worth showing.
            let id = serde_json::to_string(&id).unwrap_or_default();
            self.keep_noise(format!("{{\"id\":{id},\"method\":\"{method}\", ...").as_bytes());
        }
        let bytes = params.as_ref().map_or(0, Raw::len_bytes);
        let request = InputRequest::new(method, params);
        let declared = self.respond.capabilities();
        if let Some(refusal) = undeclared(&request, &declared) {
            self.answer::<Raw>(&id, &Err(refusal.to_rpc(method)));
            return;
        }
        let busy = || {
            self.counters.refused_requests.add();
            let busy = RpcError::new(code::INTERNAL_ERROR, "too many requests are open");
            self.answer::<Raw>(&id, &Err(busy));
        };
        let Ok(held) = self.budget.hold(bytes) else {
            self.counters.no_room.add();
            return busy();
        };
        let taken_back = CancellationToken::new();
        {
            let mut inbound = self.inbound.lock().unwrap_or_else(PoisonError::into_inner);
            if inbound.len() >= self.limits.inbound_requests || inbound.contains_key(&id) {
                drop(inbound);
                return busy();
            }
            inbound.insert(id.clone(), taken_back.clone());
        }
        // Who asks before the handshake is over does not get more time for it.
        let pauses = self.dialect.get().is_some();
        if pauses {
            self.table().pause(Instant::now());
        }
        let engine = Arc::clone(self);
        drop(self.tasks.spawn(async move {
            let _held = held;
            let _open = Open {
                engine: &engine,
                id: &id,
                pauses,
            };
            tokio::select! {
                outcome = engine.ask(&request) => {
                    let outcome = outcome.map_err(|refusal| refusal.to_rpc(request.method()));
                    engine.answer(&id, &outcome);
                }
                // 2025-11-25: a cancelled request gets no answer.
                () = taken_back.cancelled() => {}
                () = engine.stop.cancelled() => {}
            }
        }));
    }

    /// Takes back a request that the server no longer wants answered.
    pub(crate) fn on_request_cancelled(&self, id: &RequestId) {
        let inbound = self.inbound.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken_back) = inbound.get(id) {
            taken_back.cancel();
            return;
        }
        drop(inbound);
        let era = self.dialect.get().map(super::dialect::Dialect::era);
        if era == Some(Era::Modern) {
            self.on_listen_cancelled(id);
        }
    }

    /// Ends a subscription that the server ends.
    ///
    /// 2026-07-28 cancellation: servers cancel nothing else, and what they cannot cancel goes on.
    fn on_listen_cancelled(&self, id: &RequestId) {
        let mut table = self.table();
        match table.take(id) {
            Some(waiting) if waiting.method == Listen::NAME => {
                let method = waiting.method.to_owned();
                // A caller that is gone does not need the answer.
                waiting
                    .answer
                    .send(Err(CallError::Cancelled { method }))
                    .ok();
            }
            // Open, as it was here a moment ago.
            Some(waiting) => drop(table.add(id.clone(), waiting)),
            None => {}
        }
    }

    fn answer<R: Serialize>(&self, id: &RequestId, outcome: &Result<R, RpcError>) {
        let unread = match &self.driver {
            None => self.outbox.queued_bytes(),
            Some(driver) => driver.posted_bytes(),
        };
        if unread > self.limits.unread_answer_bytes {
            self.counters.shed_answers.add();
            return;
        }
        match encode::answer(id, outcome) {
            // A connection that is closed needs no answers.
            Ok(bytes) => drop(match &self.driver {
                None => self.outbox.push(Parcel::notice(bytes)),
                Some(driver) => self.post(driver, Kind::Answer, "", bytes),
            }),
            Err(error) => {
                let error = RpcError::new(code::INTERNAL_ERROR, &error.to_string());
                self.answer::<Raw>(id, &Err(error));
            }
        }
    }
}

/// Why a request is refused before anybody is asked: what we did not declare, we do not answer.
pub(crate) fn undeclared(request: &InputRequest, declared: &ClientCapabilities) -> Option<Refusal> {
    let offered = match request.method() {
        Elicit::NAME => declared.elicitation.is_some(),
        CreateMessage::NAME => declared.sampling.is_some(),
        ListRoots::NAME => declared.roots.is_some(),
        _ => false,
    };
    match request {
        _ if !offered => Some(Refusal::NotAvailable),
        InputRequest::Unknown { misfit, .. } => Some(Refusal::Invalid(
            misfit.as_ref().map(ToString::to_string).unwrap_or_default(),
        )),
        // 2025-11-25: a mode that was not declared is an invalid request.
        InputRequest::Elicit(question) => {
            let declared = declared.elicitation.unwrap_or_default();
            let takes = match question.mode() {
                ElicitMode::Form => declared.takes_form(),
                ElicitMode::Url => declared.url,
                _ => false,
            };
            let mode = question.mode_name().unwrap_or("form");
            let mode = switchboard_core::text::excerpt(mode, 40);
            (!takes).then(|| Refusal::Invalid(format!("the mode {mode:?} was not declared")))
        }
        // 2025-11-25: so are tools for a model that were not.
        InputRequest::Sample(question) => {
            let takes_tools = declared.sampling.is_some_and(|sampling| sampling.tools);
            let has_tools = !question.tools().is_empty() || question.tool_choice().is_some();
            let why = "tools were not declared to be taken here";
            (has_tools && !takes_tools).then(|| Refusal::Invalid(why.to_owned()))
        }
        _ => None,
    }
}

/// A request being answered; dropping it lets the clocks run on.
struct Open<'a> {
    engine: &'a Engine,
    id: &'a RequestId,
    /// Whether the clocks stand still for it.
    pauses: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        let mut inbound = self
            .engine
            .inbound
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        inbound.remove(self.id);
        drop(inbound);
        if self.pauses {
            self.engine.table().resume(Instant::now());
            self.engine.clocks.notify_one();
        }
    }
}
