//! Typed requests, and the `input_required` rounds of a modern server.

use std::borrow::Cow;
use std::time::Duration;

use switchboard_core::limits::{Deadline, Hold};
use switchboard_wire::{
    CallTool, CallToolResult, Era, InputRequest, InputRequired, LogLevel, Method, Outcome, Pairs,
    Raw, RawError, meta, read_outcome,
};
use tokio::time::Instant;

use super::encode::{Member, Params, RequestContent};
use super::engine::{Engine, PendingRequest};
use super::error::CallError;
use super::inbound::undeclared;
use super::negotiated::Dialect;
use super::options::CallOptions;
use super::pending::Received;
use super::relay::InputRelay;
use super::responder::is_sent_away;

/// One request without its parameters: engine, dialect, options and deadline.
///
/// Options are borrowed, so that a request that never left can be repeated on another connection
/// without copying the options of every request.
pub(crate) struct Call<'a> {
    engine: &'a Engine,
    dialect: &'a Dialect,
    options: &'a CallOptions,
    deadline: Deadline,
}

impl<'a> Call<'a> {
    /// Creates a request with the deadline of its options, or `usual` if they have none.
    pub(crate) fn new(engine: &'a Engine, options: &'a CallOptions, usual: Deadline) -> Self {
        Self {
            engine,
            dialect: engine.dialect(),
            options,
            deadline: options.deadline.unwrap_or(usual),
        }
    }

    /// Makes a request, answers the server's questions in `input_required` rounds, and reads the
    /// result.
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

    /// Makes a request whose parameters `write` writes. `subject` is the tool that is called, if it
    /// is known without parsing the parameters.
    async fn make_about<M: Method>(
        self,
        subject: Option<&str>,
        write: impl Fn(&mut Vec<u8>) -> Result<(), RawError> + Sync,
    ) -> Result<M::Result, CallError> {
        let engine = self.engine;
        let (meta, relay) = (self.meta(), self.relay());
        let may_ask = M::ROUNDS && self.dialect.era() == Era::Modern;
        let mut rounds = Rounds::new(engine.limits.empty_round_wait, may_ask);
        loop {
            let members = match relay {
                Some(relay) => relay.members(),
                None => rounds.members(),
            };
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
                // Earlier rounds reached the server, so the call may have had an effect even if
                // this one did not.
                Err(error) => return Err(error.sent_before()),
            };
            // Check the depth before the typed reading, which recurses.
            if depth > engine.limits.json_depth {
                return Err(CallError::TooDeep {
                    limit: engine.limits.json_depth,
                });
            }
            let era = self.dialect.era();
            let read = read_outcome::<M>(era, &raw).or_else(|misfit| {
                let is_tool = M::NAME == CallTool::NAME;
                let content = is_tool.then(|| as_content(&raw)).flatten();
                // Counted, so that the mistake of the server shows up.
                content.map_or(Err(misfit), |content| {
                    engine.counters.malformed.add();
                    read_outcome::<M>(era, &content)
                })
            });
            let needed = match read {
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
            if let Some(relay) = relay {
                return Err(relay.pass_on(M::NAME, needed, engine.limits.round_questions));
            }
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
            // Keep the budget for the questions until they are answered, and for their state until
            // it is sent.
            rounds.held = held;
            // Boxed: few calls have rounds, and their state would make every call's future larger.
            Box::pin(self.answer_round(needed, &mut rounds)).await?;
        }
    }

    /// Makes a request once and returns its result without the typed reading.
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
    ) -> PendingRequest<'b> {
        // Tool calls are what takes long: progress shows that a server is alive, and extends the
        // idle clock.
        let is_tool = M::NAME == CallTool::NAME;
        PendingRequest {
            id: None,
            request: RequestContent {
                method: M::NAME,
                params,
                members,
                meta,
                wants_progress: is_tool || self.options.wants_progress(),
            },
            subject: None,
            progress: self.options.progress.clone(),
            callbacks: self.options.callbacks.as_ref(),
            deadline: self.deadline,
            version: Some(self.dialect.version),
            cancellable: true,
            idempotent: self.options.may_repeat(),
            reason: &self.options.reason,
        }
    }

    /// The relay of the call. A legacy server asks in another way.
    fn relay(&self) -> Option<&'a InputRelay> {
        let relay = self.options.relay.as_deref();
        relay.filter(|_| self.dialect.era() == Era::Modern)
    }

    /// Sends the person to the addresses that the server named in its refusal (-32042), and waits
    /// until the call may be repeated.
    ///
    /// # Errors
    /// Fails with the server's refusal if the person declines.
    async fn send_away(&self, refused: CallError) -> Result<(), CallError> {
        tokio::select! {
            goes_on = self.engine.responder.send_away(&refused) => {
                if goes_on { Ok(()) } else { Err(refused) }
            }
            () = self.engine.stop.cancelled() => Err(self.engine.closed_error().sent_before()),
        }
    }

    /// Answers all questions of one `input_required` result, and prepares the next round.
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
            // The call's total clock stands still while a person answers.
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
            () = engine.stop.cancelled() => Err(engine.closed_error().sent_before()),
        }
    }

    /// Builds the inside of `_meta`: the members of the era, then those of the caller.
    fn meta(&self) -> Cow<'a, str> {
        let (dialect, options) = (self.dialect, self.options);
        // 2026-07-28: each request carries its own log level.
        let level = (dialect.era() == Era::Modern)
            .then(|| {
                options
                    .log_level
                    .or_else(|| self.engine.level.of_requests())
            })
            .flatten();
        let relay = self.relay();
        if options.meta.is_none() && level.is_none() && relay.is_none() {
            return Cow::Borrowed(&dialect.meta);
        }
        let mut all = match relay {
            Some(relay) => dialect.meta_declaring(relay.capabilities()),
            None => dialect.meta.clone(),
        };
        if let Some(level) = level {
            add(&mut all, meta::LOG_LEVEL, &log_level(level));
        }
        let given = options.meta.as_ref().map(Raw::members).unwrap_or_default();
        for (key, value) in given {
            // A level of the call counts, not one that the caller wrote beside it.
            if key == meta::LOG_LEVEL && level.is_some() {
                continue;
            }
            // Members that the session is responsible for cannot be overridden by a caller.
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

/// The state of a call between its rounds.
struct Rounds {
    made: usize,
    /// The person was sent to an address once; the repeated call starts with its full time.
    was_away: bool,
    answers: Option<String>,
    state: Option<Raw>,
    /// Budget held for the questions of the last round.
    held: Option<Hold>,
    /// The start of the call; only set when the method may have rounds.
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

    /// The members that the session adds to the parameters: the answers of the last round and the
    /// server's state.
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

    /// The deadline of the next round: the total time spans all rounds, without the time that
    /// people took to answer.
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
/// Rewrites the result of a tool that is a plain text, or whose `content` is one block or a plain text
/// instead of a list, as some servers send it.
fn as_content(raw: &Raw) -> Option<Raw> {
    let block = |text: &Raw| format!(r#"{{"type":"text","text":{}}}"#, text.as_str());
    if raw.as_text().is_some() {
        return Raw::parse(&format!(r#"{{"content":[{}]}}"#, block(raw))).ok();
    }
    let content = raw.member("content")?;
    let content = match content.as_text() {
        Some(_) => block(&content),
        None if content.is_object() => content.as_str().to_owned(),
        None => return None,
    };
    let members = raw.members().into_iter().map(|(key, value)| {
        let key = serde_json::to_string(&key).ok()?;
        let is_content = key == "\"content\"";
        let value = if is_content {
            format!("[{content}]")
        } else {
            value.as_str().to_owned()
        };
        Some(format!("{key}:{value}"))
    });
    let members: Option<Vec<String>> = members.collect();
    Raw::parse(&format!("{{{}}}", members?.join(","))).ok()
}
