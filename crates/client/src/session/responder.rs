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
}

impl Visits {
    fn open(&self) -> MutexGuard<'_, VecDeque<Visit>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers an address; beyond `most`, the oldest is forgotten.
    fn begin(&self, id: &str, most: usize) {
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

    /// Marks one as done; false if it is unknown or was done before.
    fn complete(&self, id: &str) -> bool {
        let mut open = self.open();
        let visit = open.iter_mut().find(|visit| visit.id == id);
        let is_news = visit.is_some_and(|visit| !std::mem::replace(&mut visit.is_done, true));
        drop(open);
        self.changed.notify_waiters();
        is_news
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

    /// Passes one question to the handler.
    pub(crate) async fn ask(&self, request: &InputRequest) -> Result<Raw, Refusal> {
        let id = id_of(request);
        // Remember it before the person is asked: a server may report completion before it has the
        // answer.
        id.inspect(|id| self.visits.begin(id, self.most_visits));
        let answer = match (self.respond.respond(request).await, request) {
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
            self.visits.begin(id, self.most_visits);
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
            && self.visits.complete(done.elicitation_id())
        {
            self.respond.completed(done.elicitation_id());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_done_before_it_is_waited_for_is_done() {
        let visits = Visits::default();
        visits.begin("a", 2);
        visits.begin("b", 2);
        assert!(visits.complete("a"));
        assert!(!visits.complete("a"), "it was done before");
        assert!(!visits.complete("z"), "nobody was sent there");
        let both = visits.done(&["a", "b"]);
        let ((), is_news) = tokio::join!(both, async { visits.complete("b") });
        assert!(is_news);
    }

    #[test]
    fn only_so_many_are_remembered_and_no_long_names() {
        let visits = Visits::default();
        for id in ["a", "b", "c"] {
            visits.begin(id, 2);
        }
        assert!(!visits.complete("a"));
        assert!(visits.complete("b"));
        let long = "x".repeat(ID_BYTES + 1);
        visits.begin(&long, 2);
        assert!(!visits.complete(&long));
        visits.begin(&long[1..], 2);
        assert!(visits.complete(&long[1..]));
        visits.forget("c");
        assert!(!visits.complete("c"));
    }
}
