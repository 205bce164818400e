//! Requests that are typed by their method, with the rounds of questions a server may want.

use std::borrow::Cow;
use std::time::Duration;

use switchboard_core::limits::{Deadline, Hold};
use switchboard_wire::{
    ElicitResult, Era, InputRequest, InputRequired, LogLevel, Method, Outcome, Pairs, Raw, meta,
    read_outcome,
};
use tokio::time::Instant;

use super::dialect::Dialect;
use super::encode::{Member, Request};
use super::engine::{Ask, Engine};
use super::error::CallError;
use super::inbound::undeclared;
use super::options::CallOptions;
use super::pending::Received;
use super::respond::Refusal;
use super::visits::{id_of, is_accepted, is_sent_away};

/// What a call needs besides its parameters.
pub(crate) struct Terms<'a> {
    pub(crate) options: CallOptions,
    pub(crate) deadline: Deadline,
    /// Whether the server is asked for progress, which shows that it is alive.
    pub(crate) wants_progress: bool,
    pub(crate) dialect: &'a Dialect,
}

impl Engine {
    /// Makes a request, answers what the server asks back, and reads the result.
    pub(crate) async fn call<M: Method>(
        &self,
        params: &M::Params,
        terms: Terms<'_>,
    ) -> Result<M::Result, CallError> {
        let may_ask = M::ROUNDS && terms.dialect.era() == Era::Modern;
        let mut rounds = Rounds::new(self.limits.empty_round_wait, may_ask);
        loop {
            let received = self.round::<M>(params, &terms, &rounds).await;
            let Received { raw, depth, held } = match received {
                Ok(received) => received,
                Err(error) if !rounds.was_away && is_sent_away::<M>(terms.dialect, &error) => {
                    rounds.was_away = true;
                    Box::pin(self.send_away(error)).await?;
                    continue;
                }
                Err(error) if rounds.made == 0 => return Err(error),
                Err(error) => return Err(error.sent_before()),
            };
            if depth > self.limits.json_depth {
                return Err(CallError::TooDeep {
                    limit: self.limits.json_depth,
                });
            }
            let outcome = read_outcome::<M>(terms.dialect.era(), &raw);
            let needed = match outcome {
                Ok(Outcome::Complete(result)) => return Ok(result),
                Ok(Outcome::InputRequired(needed)) => needed,
                Ok(Outcome::Task(_)) => {
                    let method = M::NAME.to_owned();
                    return Err(CallError::UnexpectedTask { method });
                }
                Err(misfit) => {
                    let method = M::NAME.to_owned();
                    return Err(CallError::Unfit { method, misfit });
                }
            };
            if rounds.made >= self.limits.input_rounds {
                return Err(CallError::TooManyRounds {
                    limit: self.limits.input_rounds,
                });
            }
            if needed.requests.len() > self.limits.round_questions {
                return Err(CallError::TooManyQuestions {
                    limit: self.limits.round_questions,
                });
            }
            // Questions are held until they are answered, and their state until it is sent.
            rounds.held = held;
            // Few calls are asked back: the others are not to carry the room for it.
            Box::pin(self.answer_round(needed, &mut rounds)).await?;
        }
    }

    /// Makes a request once, and gives its result unread.
    pub(crate) async fn call_raw<M: Method>(
        &self,
        params: &M::Params,
        terms: Terms<'_>,
    ) -> Result<Received, CallError> {
        let rounds = Rounds::new(self.limits.empty_round_wait, false);
        self.round::<M>(params, &terms, &rounds).await
    }

    async fn round<M: Method>(
        &self,
        params: &M::Params,
        terms: &Terms<'_>,
        rounds: &Rounds,
    ) -> Result<Received, CallError> {
        let mut members: Vec<Member<'_>> = Vec::new();
        if let Some(answers) = &rounds.answers {
            members.push(("inputResponses", answers));
        }
        if let Some(state) = &rounds.state {
            members.push(("requestState", state.as_str()));
        }
        let meta = full_meta(terms.dialect, &terms.options);
        self.exchange(Ask {
            id: None,
            request: Request {
                method: M::NAME,
                params: &|out: &mut Vec<u8>| M::write_params(params, out),
                members: &members,
                meta: &meta,
                wants_progress: terms.wants_progress || terms.options.progress.is_some(),
            },
            progress: terms.options.progress.clone(),
            deadline: rounds.deadline_left(terms.deadline),
            version: Some(terms.dialect.version),
            cancellable: true,
            idempotent: terms.options.idempotent,
            reason: &terms.options.reason,
        })
        .await
    }

    /// Has all questions of a round answered.
    async fn answer_round(
        &self,
        needed: InputRequired,
        rounds: &mut Rounds,
    ) -> Result<(), CallError> {
        let asked_at = Instant::now();
        let mut answers: Pairs<Raw> = Pairs::new();
        for (key, request) in &needed.requests {
            answers.insert(key.clone(), self.answer_one(request).await?);
        }
        if needed.requests.is_empty() {
            tokio::time::sleep(rounds.pause()).await;
        } else {
            // The call's clock stands still while somebody answers.
            rounds.stood_still += asked_at.elapsed();
        }
        rounds.answers = match needed.requests.is_empty() {
            true => None,
            false => {
                Some(
                    serde_json::to_string(&answers).map_err(|error| CallError::BadParams {
                        method: "inputResponses".to_owned(),
                        source: error.into(),
                    })?,
                )
            }
        };
        rounds.state = needed.state;
        rounds.made += 1;
        Ok(())
    }

    async fn answer_one(&self, request: &InputRequest) -> Result<Raw, CallError> {
        let refused = |why| CallError::InputRefused {
            method: request.method().to_owned(),
            why,
        };
        if let Some(why) = undeclared(request, &self.respond.capabilities()) {
            return Err(refused(why));
        }
        tokio::select! {
            answer = self.ask(request) => answer.map_err(refused),
            () = self.stop.cancelled() => Err(self.closed_before().sent_before()),
        }
    }

    /// Has one question answered.
    pub(crate) async fn ask(&self, request: &InputRequest) -> Result<Raw, Refusal> {
        let id = id_of(request);
        // Before anybody is asked: a server may be done before it has the answer.
        id.inspect(|id| self.visits.begin(id, self.limits.visits));
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
}

/// How far a call with questions has come.
struct Rounds {
    made: usize,
    /// Whether somebody was sent to an address, after which the call is made again with its whole time.
    was_away: bool,
    answers: Option<String>,
    state: Option<Raw>,
    /// The room that the questions of the last round take.
    held: Option<Hold>,
    /// When the call began; only kept where there may be rounds.
    begun: Option<Instant>,
    stood_still: Duration,
    pause: Duration,
    longest_pause: Duration,
}

impl Rounds {
    fn new(wait: Duration, may_ask: bool) -> Self {
        Self {
            made: 0,
            was_away: false,
            answers: None,
            state: None,
            held: None,
            begun: may_ask.then(Instant::now),
            stood_still: Duration::ZERO,
            pause: wait,
            longest_pause: wait.saturating_mul(5),
        }
    }

    /// Nothing extends the total time of a call, further rounds do not either.
    fn deadline_left(&self, deadline: Deadline) -> Deadline {
        if self.made == 0 {
            return deadline;
        }
        let spent = self.begun.map(|begun| begun.elapsed()).unwrap_or_default();
        let spent = spent.saturating_sub(self.stood_still);
        Deadline {
            idle: deadline.idle,
            total: deadline.total.saturating_sub(spent),
        }
    }

    fn pause(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = pause.saturating_mul(2).min(self.longest_pause);
        pause
    }
}

/// The inside of `_meta`: what the era wants, and what the caller adds.
fn full_meta<'a>(dialect: &'a Dialect, options: &CallOptions) -> Cow<'a, str> {
    let level = options.log_level.filter(|_| dialect.era() == Era::Modern);
    if options.meta.is_none() && level.is_none() {
        return Cow::Borrowed(&dialect.meta);
    }
    let mut all = dialect.meta.clone();
    if let Some(level) = level {
        add(&mut all, meta::LOG_LEVEL, &log_level(level));
    }
    let given = options.meta.as_ref().map(Raw::members).unwrap_or_default();
    for (key, value) in given {
        // What the session itself says is not for a caller to say otherwise.
        if !matches!(
            key.as_str(),
            meta::PROTOCOL_VERSION
                | meta::CLIENT_CAPABILITIES
                | meta::CLIENT_INFO
                | meta::PROGRESS_TOKEN
        ) {
            add(&mut all, &key, value.as_str());
        }
    }
    Cow::Owned(all)
}

fn log_level(level: LogLevel) -> String {
    format!("\"{level}\"")
}

fn add(members: &mut String, key: &str, value: &str) {
    if !members.is_empty() {
        members.push(',');
    }
    // A string always has a JSON form.
    members.push_str(&serde_json::to_string(key).unwrap_or_default());
    members.push(':');
    members.push_str(value);
}
