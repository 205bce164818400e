//! Has what a server asks answered, and sees to the addresses that it sends a person to.
//!
//! 2025-11-25 alone: a server may refuse a request until the person has been at an address (-32042), and says
//! when they have (`notifications/elicitation/complete`). The request is then made again, once: the server
//! did not run it. Nothing here fetches an address.

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

/// Longer ids are not remembered, and nobody is told that what they name is done.
const ID_BYTES: usize = 1024;

/// Has what a server asks answered by whichever handler the program gave the session.
pub(crate) struct Responder {
    respond: Arc<dyn Respond>,
    visits: Visits,
    /// How many addresses are remembered.
    most_visits: usize,
    /// How long a visit is waited for.
    visit: Duration,
}

/// The addresses that the person was sent to and that the server may speak of again.
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

    /// Remembers that the person is sent away; of more than `most`, the oldest is forgotten.
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

    /// Forgets one that is not wanted.
    fn forget(&self, id: &str) {
        self.open().retain(|visit| visit.id != id);
        self.changed.notify_waiters();
    }

    /// Notes that one is done; false where it is not known, or was done before.
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

/// The id of a question that sends the person to an address.
fn id_of(request: &InputRequest) -> Option<&str> {
    match request {
        InputRequest::Elicit(question) if question.mode() == ElicitMode::Url => {
            question.elicitation_id()
        }
        _ => None,
    }
}

/// Whether an answer is a yes.
fn is_accepted(answer: &Raw) -> bool {
    let action = answer.member("action").and_then(|action| action.as_text());
    action.as_deref() == Some("accept")
}

/// Whether a server has refused a request until the person has been at an address.
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

    /// What is declared to servers.
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        self.respond.capabilities()
    }

    /// Has one question answered.
    pub(crate) async fn ask(&self, request: &InputRequest) -> Result<Raw, Refusal> {
        let id = id_of(request);
        // Before the person is asked: a server may be done before it has the answer.
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

    /// Has a person sent to where a server wants them before it does what it was asked for, and waits until that
    /// is done: the server says so, the person does, or the time for it is over. False where the request is not to be
    /// made again.
    pub(super) async fn send_away(&self, refused: &CallError) -> bool {
        let Some(questions) = self.addresses(refused) else {
            return false;
        };
        // All of them before the first is asked about: a person may have done the second meanwhile.
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
            // Servers need not say it. Asking costs a second refusal at most.
            () = sleep(self.visit) => true,
        }
    }

    /// Where a server wants the person to go; nothing where it is not for us, or makes no sense.
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

    /// Takes note of what a server says is done; an unknown id is passed over.
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
