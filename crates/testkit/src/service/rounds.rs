//! Questions in one round or several, in the way of either era.
//!
//! A modern call is answered with the questions of a round and is made again with the answers. What
//! was answered before travels in the `requestState`, sealed: a state that was changed, or is of
//! another tool, is refused. A legacy client is sent one request after the other.

use std::hash::{BuildHasher, RandomState};

use serde_json::{Map, Value, json};

use super::era::Context;
use super::failure::{Failure, object, string};
use super::questions::Questions;
use super::wire::Sink;
use crate::conformance::{Ask, Asking, InputResponses};

/// The state of a modern call.
pub(super) enum Turn {
    /// The members of an `input_required` result.
    Ask(Map<String, Value>),
    /// All answers, worded.
    Done(String),
}

/// What travels in a `requestState`.
#[derive(Default)]
struct RequestState {
    round: usize,
    answers: InputResponses,
}

impl Asking {
    /// One round of a modern call.
    pub(super) fn turn(
        &self,
        context: Context,
        params: &Map<String, Value>,
        seal: &RandomState,
    ) -> Result<Turn, Failure> {
        let responses = object(params, "inputResponses")?;
        // The state before the answers: it says which round they belong to.
        let mut progress = match params.get("requestState") {
            Some(_) => self.open(string(params, "requestState")?, seal)?,
            None => RequestState::default(),
        };
        // Answers to a sealed round count only together with its state.
        let counts = !self.is_sealed || params.contains_key("requestState");
        let responses = responses.filter(|_| counts);
        let answer = |ask: &Ask| {
            let answer = responses.and_then(|responses| responses.get(ask.key));
            answer.filter(|answer| ask.is_answered_by(answer)).cloned()
        };
        let asks = self.asks(context, progress.round);
        let mut missing = Vec::new();
        for ask in asks {
            match answer(ask) {
                Some(answer) => drop(progress.answers.0.insert(ask.key.to_owned(), answer)),
                None => missing.push(ask),
            }
        }
        // What is missing is asked again; a complete round leads to the next one.
        if missing.is_empty() {
            progress.round += 1;
            if progress.round >= self.rounds.len() {
                return Ok(Turn::Done((self.answer)(&progress.answers)));
            }
            missing = self.asks(context, progress.round);
        }
        // Checked before asking: a client is never asked what it did not declare.
        self.check_declared(context, &missing)?;
        let requests = missing.into_iter().map(|ask| {
            let params = ask.params(context.features().dialect);
            (
                ask.key.to_owned(),
                json!({"method": ask.method(), "params": params}),
            )
        });
        let mut body = Map::new();
        body.insert(
            "inputRequests".to_owned(),
            Value::Object(requests.collect()),
        );
        // Sealed last: the state carries the answers of this round too.
        if self.is_sealed {
            body.insert("requestState".to_owned(), self.seal(&progress, seal).into());
        }
        Ok(Turn::Ask(body))
    }

    /// The questions of a round.
    fn asks(&self, context: Context, round: usize) -> Vec<&Ask> {
        let asks = self.rounds.get(round).into_iter().flatten();
        let declared = |ask: &&Ask| !self.only_declared || is_declared(context, ask);
        let asks: Vec<&Ask> = asks.filter(declared).collect();
        if asks.is_empty() {
            // With nothing left to ask, the refusal names everything.
            return self.rounds.get(round).into_iter().flatten().collect();
        }
        asks
    }

    fn check_declared(&self, context: Context, asks: &[&Ask]) -> Result<(), Failure> {
        let undeclared = asks.iter().filter(|ask| !is_declared(context, ask));
        let needed: Map<String, Value> = undeclared
            .map(|ask| ask.needs())
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        if needed.is_empty() {
            return Ok(());
        }
        Err(Failure::missing_capability(&Value::Object(needed)))
    }

    /// Writes a state that only this process can have written.
    fn seal(&self, progress: &RequestState, seal: &RandomState) -> String {
        let state = json!({
            "of": self.name, "round": progress.round, "answers": progress.answers.0,
        });
        let state = state.to_string();
        format!("{:016x}.{state}", seal.hash_one(&state))
    }

    fn open(&self, text: &str, seal: &RandomState) -> Result<RequestState, Failure> {
        let opened = || {
            let (mark, state) = text.split_once('.')?;
            // The mark before the content: nothing of a forged state is read.
            if mark != format!("{:016x}", seal.hash_one(state)) {
                return None;
            }
            let state: Value = serde_json::from_str(state).ok()?;
            let round = state.get("round")?.as_u64()?;
            (state.get("of")? == self.name).then_some(RequestState {
                round: usize::try_from(round).ok()?,
                answers: InputResponses(state.get("answers")?.as_object()?.clone()),
            })
        };
        opened().ok_or_else(|| Failure::invalid_params("requestState is not what was given out"))
    }
}

/// A legacy call: sends one request after the other, and words the answers.
pub(super) async fn ask(
    asking: &Asking,
    context: Context,
    questions: &Questions,
    client: &Sink,
) -> Result<String, String> {
    let mut answers = InputResponses::default();
    for round in 0..asking.rounds.len() {
        for ask in asking.asks(context, round) {
            if !is_declared(context, ask) {
                let (name, _) = ask.needs();
                return Err(format!("this tool needs a client that declares {name}"));
            }
            let params = ask.params(context.features().dialect);
            let answer = questions.ask(client, ask.method(), &params).await?;
            let answer: Value = answer
                .decode()
                .map_err(|_| "the answer cannot be read".to_owned())?;
            if !ask.is_answered_by(&answer) {
                return Err(format!("this is no answer to {}", ask.method()));
            }
            answers.0.insert(ask.key.to_owned(), answer);
        }
    }
    Ok((asking.answer)(&answers))
}

fn is_declared(context: Context, ask: &Ask) -> bool {
    match ask.needs().0 {
        "elicitation" => context.shows_forms,
        "sampling" => context.has_model,
        _ => context.has_roots,
    }
}
