//! Plays the tools and prompts of the conformance fixture.

use std::time::Duration;

use serde_json::{Map, Value, json};
use switchboard_wire::LogLevel;
use tokio::time::sleep;

use super::change::Change;
use super::connection::Connection;
use super::era::{Context, Keep};
use super::failure::{Failure, string};
use super::log;
use super::rounds::{self, Turn};
use super::slow::progress_token;
use super::wire::{Reply, Sink};
use crate::conformance::{self, Asking, Behaviour, Script, ScriptStep, TOGGLED};
use crate::tools::{Kind, Outcome};

/// The wait between two steps.
const WAIT: Duration = Duration::from_millis(50);

type JsonObject = Map<String, Value>;

impl Connection {
    /// Calls a tool of the fixture, with arguments that fit it.
    pub(super) async fn play(
        &mut self,
        context: Context,
        name: &str,
        params: &JsonObject,
        arguments: &JsonObject,
        reply: Reply,
    ) {
        match conformance::behaviour(name, arguments) {
            Behaviour::Play(script) => {
                let steps = script.steps;
                let result = context.complete(content(script), Keep::Unsaid);
                if steps.is_empty() {
                    return reply.finish(Ok(result)).await;
                }
                let token = progress_token(params);
                // In a task: the connection must read a cancellation meanwhile.
                self.spawn(reply.id.clone(), async move {
                    run(steps, context, token.as_ref(), &reply.client).await;
                    reply.finish(Ok(result)).await;
                });
            }
            Behaviour::Ask(asking) => {
                let worded = move |asked: Result<String, String>| {
                    let outcome = asked.map_or_else(Outcome::error, Outcome::text);
                    Ok(outcome.into_members(context.features()))
                };
                self.ask(context, asking, params, reply, worded).await;
            }
            Behaviour::Toggle(kind) => {
                // Changed before it is announced: a client that lists at once sees the change.
                self.service().toggle(kind);
                self.tell_everybody(Change::List(kind.list())).await;
                let outcome = Outcome::text(format!("changed the list of {}", kind.list()));
                let members = outcome.into_members(context.features());
                reply
                    .finish(Ok(context.complete(members, Keep::Unsaid)))
                    .await;
            }
        }
    }

    /// Fills a prompt that asks first.
    pub(super) async fn fill_after_asking(
        &mut self,
        context: Context,
        asking: Asking,
        params: &JsonObject,
        reply: Reply,
    ) {
        let worded = |asked: Result<String, String>| {
            let text = asked.map_err(Failure::internal)?;
            let message = json!({"role": "user", "content": {"type": "text", "text": text}});
            Ok(Map::from_iter([("messages".to_owned(), json!([message]))]))
        };
        self.ask(context, asking, params, reply, worded).await;
    }

    /// Asks the client in the way of its era, and answers with what `worded` makes of it.
    async fn ask(
        &mut self,
        context: Context,
        asking: Asking,
        params: &JsonObject,
        reply: Reply,
        worded: impl FnOnce(Result<String, String>) -> Result<JsonObject, Failure> + Send + 'static,
    ) {
        let complete = move |members| context.complete(members, Keep::Unsaid);
        // A modern question is the answer itself, so nothing waits for the client.
        if context.modern() {
            let turn = asking.turn(context, params, &self.service().seal);
            let answer = turn.and_then(|turn| match turn {
                Turn::Ask(body) => Ok(context.input_required(body)),
                Turn::Done(text) => worded(Ok(text)).map(complete),
            });
            return reply.finish(answer).await;
        }
        let questions = self.questions.clone();
        self.spawn(reply.id.clone(), async move {
            let asked = rounds::ask(&asking, context, &questions, &reply.client).await;
            reply.finish(worded(asked).map(complete)).await;
        });
    }
}

impl super::Service {
    /// The questions of the prompt that a request names, if it asks any.
    pub(super) fn prompt_asking(&self, params: &JsonObject) -> Option<Asking> {
        let name = string(params, "name").ok().filter(|_| self.conformance)?;
        conformance::prompt_asking(name)
    }

    /// Adds the item that comes and goes, or removes it.
    fn toggle(&self, kind: Kind) {
        let item = Map::from_iter([(kind.key().to_owned(), TOGGLED.into())]);
        // One change: two callers at once each see their own.
        let toggled = self.alter(|catalog| {
            let removed = catalog.remove(kind, &item);
            removed.or_else(|_| catalog.add(kind, &item))
        });
        // An item that could not be removed is not there, so it can be added.
        debug_assert!(toggled.is_ok());
    }
}

/// Takes the steps one by one. Dropping the future stops between two of them.
async fn run(steps: &[ScriptStep], context: Context, token: Option<&Value>, client: &Sink) {
    for step in steps {
        match (step, token) {
            (ScriptStep::Wait, _) => sleep(WAIT).await,
            (ScriptStep::Log(text), _) => log::log(context, client, LogLevel::Info, text).await,
            (ScriptStep::Progress(progress), Some(token)) => {
                let params = json!({"progressToken": token, "progress": progress, "total": 100});
                client.notify("notifications/progress", Some(&params)).await;
            }
            // 2025-11-25, progress: without a token there is nothing to report on.
            (ScriptStep::Progress(_), None) => {}
        }
    }
}

fn content(script: Script) -> JsonObject {
    let mut members = Map::from_iter([("content".to_owned(), Value::Array(script.content))]);
    if script.is_error {
        members.insert("isError".to_owned(), Value::Bool(true));
    }
    members
}
