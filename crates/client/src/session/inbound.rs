//! Requests of a legacy server: each is answered in a task of its own, within a bound.
//!
//! A modern server may not make requests; they are counted and dropped.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
use super::outbox::QueuedMessage;
use super::respond::Refusal;
use crate::transport::Kind;

/// The requests being answered, each with the token that cancels it.
#[derive(Default)]
pub(crate) struct Inbound(Mutex<FxHashMap<RequestId, CancellationToken>>);

impl Inbound {
    fn open(&self) -> MutexGuard<'_, FxHashMap<RequestId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a request and returns its cancellation token; `None` if its id is already open or
    /// `most` requests are.
    fn begin(&self, id: &RequestId, most: usize) -> Option<CancellationToken> {
        let mut open = self.open();
        if open.len() >= most || open.contains_key(id) {
            return None;
        }
        let taken_back = CancellationToken::new();
        open.insert(id.clone(), taken_back.clone());
        Some(taken_back)
    }

    /// Cancels a request; returns false if it is not open.
    fn take_back(&self, id: &RequestId) -> bool {
        let open = self.open();
        let taken_back = open.get(id);
        taken_back.inspect(|it| it.cancel()).is_some()
    }

    fn end(&self, id: &RequestId) {
        self.open().remove(id);
    }
}

/// Handles a request of the server.
///
/// `of_call` is the call on whose own stream it came.
pub(super) fn on_request(
    engine: &Arc<Engine>,
    id: RequestId,
    method: &str,
    params: Option<Raw>,
    of_call: Option<&RequestId>,
) {
    if engine.era() == Some(Era::Modern) {
        // 2026-07-28 stdio: the server must not write requests, the client must not answer.
        engine.counters.forbidden_requests.add();
        return;
    }
    if method == Ping::NAME {
        answer(engine, &id, &Ok(Raw::empty_object()));
        return;
    }
    if method == Initialize::NAME || method == Discover::NAME {
        // Only clients send these: a server that does so echoes its input, which is worth showing
        // in errors.
        let id = serde_json::to_string(&id).unwrap_or_default();
        engine.keep_noise(format!("{{\"id\":{id},\"method\":\"{method}\", ...").as_bytes());
    }
    let bytes = params.as_ref().map_or(0, Raw::len_bytes);
    let request = InputRequest::new(method, params);
    // Refuse undeclared requests before reserving anything: they cost no slot and no budget.
    let mut refusal = undeclared(&request, &engine.responder.capabilities());
    let mut addressee = None;
    if refusal.is_none() && !engine.responder.claims(&request) {
        // The handler of the call that asks, if that is known. It may be able to do less.
        addressee = engine.table().addressee(of_call);
        let able = addressee.as_ref().map(|it| it.respond.capabilities());
        refusal = able.and_then(|able| undeclared(&request, &able));
    }
    if let Some(refusal) = refusal {
        answer::<Raw>(engine, &id, &Err(refusal.to_rpc(method)));
        return;
    }
    let busy = || {
        engine.counters.refused_requests.add();
        let busy = RpcError::new(code::INTERNAL_ERROR, "too many requests are open");
        answer::<Raw>(engine, &id, &Err(busy));
    };
    // Budget and slot before the task: a flood of requests is refused without starting any.
    let Ok(held) = engine.budget.hold(bytes) else {
        engine.counters.no_room.add();
        return busy();
    };
    let Some(taken_back) = engine.inbound.begin(&id, engine.limits.inbound_requests) else {
        return busy();
    };
    // A request before the end of the handshake does not extend the connect timeout.
    let pauses = engine.dialect.get().is_some();
    if pauses {
        // While a person answers, no call of this connection may time out.
        engine.table().pause(Instant::now());
    }
    let me = Arc::clone(engine);
    drop(engine.tasks.spawn(async move {
        let _held = held;
        let _open = Open {
            engine: &me,
            id: &id,
            pauses,
        };
        tokio::select! {
            outcome = me.responder.ask_for(addressee.as_ref(), &request) => {
                let outcome = outcome.map_err(|refusal| refusal.to_rpc(request.method()));
                answer(&me, &id, &outcome);
            }
            // 2025-11-25: a cancelled request gets no answer.
            () = taken_back.cancelled() => {}
            () = me.stop.cancelled() => {}
        }
    }));
}

/// Cancels the handling of a request, as the server demands.
pub(super) fn on_request_cancelled(engine: &Engine, id: &RequestId) {
    if !engine.inbound.take_back(id) && engine.era() == Some(Era::Modern) {
        on_listen_cancelled(engine, id);
    }
}

/// Fails a subscription that the server cancels.
///
/// 2026-07-28 cancellation: servers may cancel subscriptions only; other requests go on.
fn on_listen_cancelled(engine: &Engine, id: &RequestId) {
    let mut table = engine.table();
    match table.take(id) {
        Some(waiting) if waiting.method == Listen::NAME => {
            let method = waiting.method.to_owned();
            // A caller that is gone does not need the answer.
            waiting
                .answer
                .send(Err(CallError::Cancelled { method }))
                .ok();
        }
        // Not a subscription: put it back. The table stayed locked, so no other task saw it
        // missing.
        Some(waiting) => drop(table.add(id.clone(), waiting)),
        None => {}
    }
}

fn answer<R: Serialize>(engine: &Engine, id: &RequestId, outcome: &Result<R, RpcError>) {
    let unread = match &engine.driver {
        None => engine.outbox.queued_bytes(),
        Some(driver) => driver.posted_bytes(),
    };
    // A server that does not read its answers must not fill our memory: drop and count them.
    if unread > engine.limits.unread_answer_bytes {
        engine.counters.shed_answers.add();
        return;
    }
    match encode::answer(id, outcome) {
        // A connection that is closed needs no answers.
        Ok(bytes) => drop(match &engine.driver {
            None => engine.outbox.push(QueuedMessage::notice(bytes)),
            Some(driver) => driver.post(engine, Kind::Answer, "", bytes),
        }),
        Err(error) => {
            let error = RpcError::new(code::INTERNAL_ERROR, &error.to_string());
            answer::<Raw>(engine, id, &Err(error));
        }
    }
}

/// Returns the refusal of a request that our declared capabilities do not cover, before a person is
/// asked.
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
        // 2025-11-25: likewise tools for sampling that were not declared.
        InputRequest::Sample(question) => {
            let takes_tools = declared.sampling.is_some_and(|sampling| sampling.tools);
            let has_tools = !question.tools().is_empty() || question.tool_choice().is_some();
            let why = "tools were not declared to be taken here";
            (has_tools && !takes_tools).then(|| Refusal::Invalid(why.to_owned()))
        }
        _ => None,
    }
}

/// A request being answered; dropping it removes the entry and resumes the clocks.
struct Open<'a> {
    engine: &'a Engine,
    id: &'a RequestId,
    /// The clocks are paused for it.
    pauses: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.engine.inbound.end(self.id);
        if self.pauses {
            self.engine.table().resume(Instant::now());
            self.engine.clocks.notify_one();
        }
    }
}
