//! Passes the server's questions to [`Respond`], and repeats calls after URL elicitations.
//!
//! 2025-11-25 only: a server may refuse a request until the person has visited an address (-32042),
//! and report when they have (`notifications/elicitation/complete`). The request is then repeated,
//! once: the server did not run it. Nothing here fetches an address.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use switchboard_core::limits::Limits;
use switchboard_wire::{
    ClientCapabilities, ElicitMode, ElicitParams, ElicitResult, ElicitationCompleteParams, FromRaw,
    InputRequest, Method, Raw, Version, code,
};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::callbacks::Addressee;
use super::error::CallError;
use super::negotiated::Dialect;
use super::respond::{Refusal, Respond};

/// Longer elicitation ids are not remembered, so their completion is not reported.
const ID_BYTES: usize = 1024;

/// Answers a server's questions with the handler that the program gave the session.
pub(crate) struct Responder {
    respond: Arc<dyn Respond>,
    visits: Visits,
    /// Maximum number of addresses that are remembered.
    most_visits: usize,
    /// Maximum time to wait for a visit.
    visit: Duration,
}

/// The addresses that the person was sent to, until the server reports them as done.
#[derive(Default)]
struct Visits {
    open: Mutex<VecDeque<Visit>>,
    changed: Notify,
}

struct Visit {
    id: String,
    is_done: bool,
    /// The handler that sent the person there, if not that of the session.
    respond: Option<Arc<dyn Respond>>,
}

impl Visits {
    fn open(&self) -> MutexGuard<'_, VecDeque<Visit>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers an address; beyond `most`, the oldest is forgotten.
    fn begin(&self, id: &str, respond: Option<&Arc<dyn Respond>>, most: usize) {
        if id.len() > ID_BYTES {
            return;
        }
        let mut open = self.open();
        if open.iter().any(|visit| visit.id == id) {
            return;
        }
        open.push_back(Visit {
            id: id.to_owned(),
            is_done: false,
            respond: respond.cloned(),
        });
        while open.len() > most {
            open.pop_front();
        }
    }

    /// Forgets an address.
    fn forget(&self, id: &str) {
        self.open().retain(|visit| visit.id != id);
        self.changed.notify_waiters();
    }

    /// Marks one as done, and returns the handler that sent the person there, if not that of the session;
    /// `None` if it is unknown or was done before.
    fn complete(&self, id: &str) -> Option<Option<Arc<dyn Respond>>> {
        let mut open = self.open();
        let visit = open
            .iter_mut()
            .find(|visit| visit.id == id && !visit.is_done);
        let news = visit.map(|visit| {
            visit.is_done = true;
            visit.respond.clone()
        });
        drop(open);
        self.changed.notify_waiters();
        news
    }

    /// Waits until all of these are done. Cancel safe.
    async fn done(&self, ids: &[&str]) {
        loop {
            // Enable before looking: a completion between the look and the wait must not be missed.
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            {
                let open = self.open();
                let is_done = |id: &&str| open.iter().any(|it| it.id == **id && it.is_done);
                if ids.iter().all(is_done) {
                    return;
                }
            }
            changed.await;
        }
    }
}

/// The elicitation id of a question that sends the person to an address.
fn id_of(request: &InputRequest) -> Option<&str> {
    match request {
        InputRequest::Elicit(question) if question.mode() == ElicitMode::Url => {
            question.elicitation_id()
        }
        _ => None,
    }
}

/// Returns true if an answer's action is `accept`.
fn is_accepted(answer: &Raw) -> bool {
    let action = answer.member("action").and_then(|action| action.as_text());
    action.as_deref() == Some("accept")
}

/// Returns true if the server refused a request until the person has visited an address.
pub(super) fn is_sent_away<M: Method>(dialect: &Dialect, error: &CallError) -> bool {
    M::ROUNDS
        && dialect.version == Version::V2025_11_25
        && matches!(error, CallError::Rpc(error) if error.code() == code::URL_ELICITATION_REQUIRED)
}

impl Responder {
    pub(crate) fn new(respond: Arc<dyn Respond>, limits: &Limits) -> Self {
        Self {
            respond,
            visits: Visits::default(),
            most_visits: limits.visits,
            visit: limits.visit,
        }
    }

    /// The capabilities that are declared to servers.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        self.respond.capabilities()
    }

    /// Returns true if the session's handler answers a question whatever call it belongs to.
    pub(super) fn claims(&self, request: &InputRequest) -> bool {
        self.respond.claims(request)
    }

    /// Passes one question to the handler.
    pub(crate) async fn ask(&self, request: &InputRequest) -> Result<Raw, Refusal> {
        self.ask_of(None, request).await
    }

    /// Passes one question to the handler of the call that it belongs to, until that call is over.
    pub(super) async fn ask_for(
        &self,
        addressee: Option<&Addressee>,
        request: &InputRequest,
    ) -> Result<Raw, Refusal> {
        let Some(Addressee { respond, over }) = addressee else {
            return self.ask(request).await;
        };
        tokio::select! {
            answer = self.ask_of(Some(respond), request) => answer,
            () = over.cancelled() => Err(Refusal::Failed("the call is over".to_owned())),
        }
    }

    async fn ask_of(
        &self,
        respond: Option<&Arc<dyn Respond>>,
        request: &InputRequest,
    ) -> Result<Raw, Refusal> {
        let id = id_of(request);
        // Remember it before the person is asked: a server may report completion before it has the
        // answer.
        id.inspect(|id| self.visits.begin(id, respond, self.most_visits));
        let handler = respond.unwrap_or(&self.respond);
        let answer = match (handler.respond(request).await, request) {
            // A person's no is an answer where the protocol has one for it.
            (Err(Refusal::ByThePerson), InputRequest::Elicit(_)) => {
                Raw::of(&ElicitResult::decline()).map_err(|_| Refusal::ByThePerson)
            }
            (answer, _) => answer,
        };
        if let Some(id) = id
            && !answer.as_ref().is_ok_and(is_accepted)
        {
            self.visits.forget(id);
        }
        answer
    }

    /// Sends the person to the addresses in a server's refusal, and waits until that is done: the
    /// server reports it, the person does, or the time is over. Returns false if the request should
    /// not be repeated.
    pub(super) async fn send_away(&self, refused: &CallError) -> bool {
        let Some(questions) = self.addresses(refused) else {
            return false;
        };
        // Remember all before asking about the first: a person may finish the second one meanwhile.
        for id in questions.iter().filter_map(ElicitParams::elicitation_id) {
            self.visits.begin(id, None, self.most_visits);
        }
        let goes_on = self.visit_all(&questions).await;
        for id in questions.iter().filter_map(ElicitParams::elicitation_id) {
            self.visits.forget(id);
        }
        goes_on
    }

    async fn visit_all(&self, questions: &[ElicitParams]) -> bool {
        for question in questions {
            let request = InputRequest::Elicit(question.clone());
            if !self.ask(&request).await.is_ok_and(|it| is_accepted(&it)) {
                return false;
            }
        }
        let ids: Option<Vec<&str>> = questions.iter().map(|it| it.elicitation_id()).collect();
        // Three ways to go on: the server reports completion, the person does, or the time is over.
        let done = async {
            match &ids {
                Some(ids) => self.visits.done(ids).await,
                None => std::future::pending().await,
            }
        };
        let finished = async {
            for question in questions {
                if self.respond.finished(question).await != Ok(true) {
                    return false;
                }
            }
            true
        };
        tokio::select! {
            biased;
            () = done => true,
            goes_on = finished => goes_on,
            // Servers need not report it. Repeating costs a second refusal at most.
            () = sleep(self.visit) => true,
        }
    }

    /// The addresses in a refusal; `None` if URL elicitation is not declared or the data is
    /// invalid.
    fn addresses(&self, refused: &CallError) -> Option<Vec<ElicitParams>> {
        let CallError::Rpc(error) = refused else {
            return None;
        };
        if !self.respond.capabilities().elicitation?.url {
            return None;
        }
        let questions = error.data()?.member("elicitations")?.items();
        if questions.is_empty() || questions.len() > self.most_visits {
            return None;
        }
        let read = |question: &Raw| {
            let question = ElicitParams::from_raw(question).ok()?;
            (question.mode() == ElicitMode::Url).then_some(question)
        };
        questions.iter().map(read).collect()
    }

    /// Handles `notifications/elicitation/complete`; an unknown id is ignored.
    pub(super) fn on_elicitation_complete(&self, params: &Raw) {
        let done = ElicitationCompleteParams::from_raw(params);
        if let Ok(done) = done
            && let Some(respond) = self.visits.complete(done.elicitation_id())
        {
            let handler = respond.as_ref().unwrap_or(&self.respond);
            handler.completed(done.elicitation_id());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_done_before_it_is_waited_for_is_done() {
        let visits = Visits::default();
        visits.begin("a", None, 2);
        visits.begin("b", None, 2);
        assert!(visits.complete("a").is_some());
        assert!(visits.complete("a").is_none(), "it was done before");
        assert!(visits.complete("z").is_none(), "it is unknown");
        let both = visits.done(&["a", "b"]);
        let ((), news) = tokio::join!(both, async { visits.complete("b") });
        assert!(news.is_some());
    }

    #[test]
    fn only_so_many_are_remembered_and_no_long_names() {
        let visits = Visits::default();
        for id in ["a", "b", "c"] {
            visits.begin(id, None, 2);
        }
        assert!(visits.complete("a").is_none());
        assert!(visits.complete("b").is_some());
        let long = "x".repeat(ID_BYTES + 1);
        visits.begin(&long, None, 2);
        assert!(visits.complete(&long).is_none());
        visits.begin(&long[1..], None, 2);
        assert!(visits.complete(&long[1..]).is_some());
        visits.forget("c");
        assert!(visits.complete("c").is_none());
    }
}
