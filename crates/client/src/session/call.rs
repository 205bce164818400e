//! Requests that are typed by their method, with the rounds of questions a server may want.

use std::borrow::Cow;
use std::time::Duration;

use switchboard_core::limits::{Deadline, Hold};
use switchboard_wire::{
    CallTool, CallToolResult, Era, InputRequest, InputRequired, LogLevel, Method, Outcome, Pairs,
    Raw, RawError, meta, read_outcome,
};
use tokio::time::Instant;

use super::encode::{Member, Params, Request};
use super::engine::{Ask, Engine};
use super::error::CallError;
use super::inbound::undeclared;
use super::negotiated::Dialect;
use super::options::CallOptions;
use super::pending::Received;
use super::responder::is_sent_away;

/// One request, before its parameters: the terms that it is made on.
///
/// Options are borrowed, so that a request which never left can be made once more, on another connection, without
/// every request being copied for that.
pub(crate) struct Call<'a> {
    engine: &'a Engine,
    dialect: &'a Dialect,
    options: &'a CallOptions,
    deadline: Deadline,
}

impl<'a> Call<'a> {
    /// A request that may take as long as its options say, or `usual`.
    pub(crate) fn new(engine: &'a Engine, options: &'a CallOptions, usual: Deadline) -> Self {
        Self {
            engine,
            dialect: engine.dialect(),
            options,
            deadline: options.deadline.unwrap_or(usual),
        }
    }

    /// Makes a request, answers what the server asks back, and reads the result.
    pub(crate) fn make<M: Method>(
        self,
        params: &M::Params,
    ) -> impl Future<Output = Result<M::Result, CallError>> {
        self.make_about::<M>(None, |out: &mut Vec<u8>| M::write_params(params, out))
    }

    /// Calls a tool.
    pub(crate) fn call_tool(
        self,
        name: &'a str,
        arguments: Option<&'a Raw>,
    ) -> impl Future<Output = Result<CallToolResult, CallError>> {
        self.make_about::<CallTool>(Some(name), move |out: &mut Vec<u8>| {
            CallTool::write(name, arguments, out)
        })
    }

    /// Makes a request whose parameters `write` writes; `subject` is the one thing that it is about, where that is
    /// known without reading them.
    async fn make_about<M: Method>(
        self,
        subject: Option<&str>,
        write: impl Fn(&mut Vec<u8>) -> Result<(), RawError> + Sync,
    ) -> Result<M::Result, CallError> {
        let engine = self.engine;
        let meta = self.meta();
        let may_ask = M::ROUNDS && self.dialect.era() == Era::Modern;
        let mut rounds = Rounds::new(engine.limits.empty_round_wait, may_ask);
        loop {
            let members = rounds.members();
            let mut ask = self.ask::<M>(&write, &members, &meta);
            ask.subject = subject;
            ask.deadline = rounds.deadline_left(self.deadline);
            let Received { raw, depth, held } = match engine.exchange(ask).await {
                Ok(received) => received,
                Err(error) if !rounds.was_away && is_sent_away::<M>(self.dialect, &error) => {
                    rounds.was_away = true;
                    Box::pin(self.send_away(error)).await?;
                    continue;
                }
                Err(error) if rounds.made == 0 => return Err(error),
                // Earlier rounds reached the server, whatever became of this one.
                Err(error) => return Err(error.sent_before()),
            };
            // Before the result is read: reading follows the nesting.
            if depth > engine.limits.json_depth {
                return Err(CallError::TooDeep {
                    limit: engine.limits.json_depth,
                });
            }
            let needed = match read_outcome::<M>(self.dialect.era(), &raw) {
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
            if rounds.made >= engine.limits.input_rounds {
                return Err(CallError::TooManyRounds {
                    limit: engine.limits.input_rounds,
                });
            }
            if needed.requests.len() > engine.limits.round_questions {
                return Err(CallError::TooManyQuestions {
                    limit: engine.limits.round_questions,
                });
            }
            // Questions are held until they are answered, and their state until it is sent.
            rounds.held = held;
            // Few calls are asked back: the others are not to carry the room for it.
            Box::pin(self.answer_round(needed, &mut rounds)).await?;
        }
    }

    /// Makes a request once, and gives its result unread.
    pub(crate) async fn make_raw<M: Method>(
        self,
        params: &M::Params,
    ) -> Result<Received, CallError> {
        let write = |out: &mut Vec<u8>| M::write_params(params, out);
        let meta = self.meta();
        let ask = self.ask::<M>(&write, &[], &meta);
        self.engine.exchange(ask).await
    }

    fn ask<'b, M: Method>(
        &'b self,
        params: &'b Params<'b>,
        members: &'b [Member<'b>],
        meta: &'b str,
    ) -> Ask<'b> {
        // Tools are what takes long: asking for progress shows which of them are alive.
        let is_tool = M::NAME == CallTool::NAME;
        Ask {
            id: None,
            request: Request {
                method: M::NAME,
                params,
                members,
                meta,
                wants_progress: is_tool || self.options.progress.is_some(),
            },
            subject: None,
            progress: self.options.progress.clone(),
            deadline: self.deadline,
            version: Some(self.dialect.version),
            cancellable: true,
            idempotent: self.options.idempotent,
            reason: &self.options.reason,
        }
    }

    /// Has a person sent to where the server wants them before it does what it was asked for.
    ///
    /// # Errors
    /// With what the server refused the request with, where the person does not go.
    async fn send_away(&self, refused: CallError) -> Result<(), CallError> {
        tokio::select! {
            goes_on = self.engine.responder.send_away(&refused) => {
                if goes_on { Ok(()) } else { Err(refused) }
            }
            () = self.engine.stop.cancelled() => Err(self.engine.closed_before().sent_before()),
        }
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
            rounds.answers = None;
        } else {
            // The call's clock stands still while a person answers.
            rounds.stood_still += asked_at.elapsed();
            let answers = serde_json::to_string(&answers);
            rounds.answers = Some(answers.map_err(|error| CallError::BadParams {
                method: "inputResponses".to_owned(),
                source: error.into(),
            })?);
        }
        rounds.state = needed.state;
        rounds.made += 1;
        Ok(())
    }

    async fn answer_one(&self, request: &InputRequest) -> Result<Raw, CallError> {
        let engine = self.engine;
        let refused = |why| CallError::InputRefused {
            method: request.method().to_owned(),
            why,
        };
        if let Some(why) = undeclared(request, &engine.responder.capabilities()) {
            return Err(refused(why));
        }
        tokio::select! {
            answer = engine.responder.ask(request) => answer.map_err(refused),
            () = engine.stop.cancelled() => Err(engine.closed_before().sent_before()),
        }
    }

    /// The inside of `_meta`: what the era wants, and what the caller adds.
    fn meta(&self) -> Cow<'a, str> {
        let (dialect, options) = (self.dialect, self.options);
        // 2026-07-28: each request says for itself from which level on it wants logs.
        let level = (dialect.era() == Era::Modern)
            .then(|| {
                options
                    .log_level
                    .or_else(|| self.engine.level.of_requests())
            })
            .flatten();
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
}

/// How far a call with questions has come.
struct Rounds {
    made: usize,
    /// Whether the person was sent to an address, after which the call is made again with its whole time.
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

    /// What the session adds to the parameters: the answers of the last round, and the server's state.
    fn members(&self) -> Vec<Member<'_>> {
        let mut members: Vec<Member<'_>> = Vec::new();
        if let Some(answers) = &self.answers {
            members.push(("inputResponses", answers));
        }
        if let Some(state) = &self.state {
            members.push(("requestState", state.as_str()));
        }
        members
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
