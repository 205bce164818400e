//! `tools/call`: from the name of a tool to its answer.

use serde_json::{Map, Value};

use super::ask::{self, Round};
use super::ask_model;
use super::change::Change;
use super::connection::Connection;
use super::era::{Context, Keep};
use super::failure::{Failure, object, string};
use super::listen::list_named;
use super::log::Logged;
use super::slow::Slow;
use super::talk::Question;
use super::wire::Reply;
use crate::catalog::Catalog;
use crate::shapes;
use crate::tools::{Action, Outcome, Tool, whole_number};

impl Connection {
    /// Calls a tool; one that waits continues as a task.
    pub(crate) async fn call(
        &mut self,
        context: Context,
        params: &Map<String, Value>,
        reply: Reply,
    ) {
        let service = self.service();
        let none = Map::new();
        let catalog = service.catalog();
        let (tool, arguments) = match find(&catalog, params) {
            Ok((tool, arguments)) => (tool, arguments.unwrap_or(&none)),
            Err(failure) => return reply.finish(Err(failure)).await,
        };
        // Arguments before the journal: a refused call has not run, and must not be in it.
        if let Some(what) = tool.misfit(arguments) {
            return reply.finish(misfit(context, what)).await;
        }
        if let Some(journal) = &service.journal
            && let Err(error) = journal.write(&tool.name, arguments)
        {
            // A call that is not in the journal must not run, or the journal would be wrong.
            let outcome = Outcome::error(format!("the journal cannot be written: {error}"));
            return reply.finish(Ok(result(context, outcome))).await;
        }
        // Operations that wait run as tasks, so that the connection can take the next message.
        match tool.action {
            Action::SlowOperation => {
                let slow = Slow::new(arguments, params, context.features());
                self.spawn(reply.id.clone(), async move {
                    let outcome = slow.run(&reply.client).await;
                    reply.finish(Ok(result(context, outcome))).await;
                });
            }
            Action::AskName if context.modern() => {
                let round = ask::round(context, params);
                reply.finish(round_result(context, round)).await;
            }
            Action::AskModel if context.modern() => {
                let round = ask_model::round(context, params, arguments);
                reply.finish(round_result(context, round)).await;
            }
            Action::AskModel => {
                let (questions, arguments) = (self.questions.clone(), arguments.clone());
                self.spawn(reply.id.clone(), async move {
                    let outcome =
                        ask_model::ask(context, &arguments, &questions, &reply.client).await;
                    reply.finish(Ok(result(context, outcome))).await;
                });
            }
            Action::AskName => {
                let questions = self.questions.clone();
                self.spawn(reply.id.clone(), async move {
                    let outcome = ask::ask(context, &questions, &reply.client).await;
                    reply.finish(Ok(result(context, outcome))).await;
                });
            }
            Action::Visit => {
                let number = service.number();
                if let Some(first) = self.sent.first(context, number, arguments) {
                    let first = first.map(|outcome| result(context, outcome));
                    return reply.finish(first).await;
                }
                let question = Question::visit(context, number, arguments);
                self.question(context, question, params, reply).await;
            }
            Action::ListRoots => {
                let question = Question::roots(context);
                self.question(context, question, params, reply).await;
            }
            Action::Log => {
                let logged = Logged::new(arguments);
                self.spawn(reply.id.clone(), async move {
                    let outcome = logged.run(context, &reply.client).await;
                    reply.finish(Ok(result(context, outcome))).await;
                });
            }
            Action::AnnounceChange => {
                let list = arguments.get("list").and_then(Value::as_str);
                let list = list.and_then(list_named).unwrap_or_default();
                self.tell_everybody(Change::List(list)).await;
                let outcome = Outcome::text(format!("announced a change of {list}"));
                reply.finish(Ok(result(context, outcome))).await;
            }
            Action::Shape => match shape(context, arguments) {
                Some(shape) => reply.finish_raw(shape).await,
                None => {
                    let outcome = Outcome::error("there is no such shape");
                    reply.finish(Ok(result(context, outcome))).await;
                }
            },
            Action::Fixture => {
                self.play(context, &tool.name, params, arguments, reply)
                    .await;
            }

            Action::Grow(step) => {
                let outcome = match service.grow(step, arguments) {
                    Ok((change, outcome)) => {
                        if let Some(change) = change {
                            self.tell_everybody(change).await;
                        }
                        outcome
                    }
                    Err(what) => Outcome::error(what),
                };
                reply.finish(Ok(result(context, outcome))).await;
            }
            Action::Echo
            | Action::GetTime
            | Action::Add
            | Action::Fail
            | Action::Mirrored
            | Action::Grown
            | Action::WhoAmI
            | Action::Generated => {
                reply.finish(Ok(result(context, tool.run(arguments)))).await;
            }
        }
    }
}

impl Connection {
    /// Asks the client, in the way of its era.
    async fn question(
        &mut self,
        context: Context,
        question: Question,
        params: &Map<String, Value>,
        reply: Reply,
    ) {
        if context.modern() {
            let round = question.round(params);
            return reply.finish(round_result(context, round)).await;
        }
        let questions = self.questions.clone();
        self.spawn(reply.id.clone(), async move {
            let outcome = question.ask(&questions, &reply.client).await;
            reply.finish(Ok(result(context, outcome))).await;
        });
    }
}

type CallArguments<'a> = Option<&'a Map<String, Value>>;

fn find<'a, 'b>(
    catalog: &'a Catalog,
    params: &'b Map<String, Value>,
) -> Result<(&'a Tool, CallArguments<'b>), Failure> {
    let name = string(params, "name")?;
    let tool = catalog
        .tool(name)
        .ok_or_else(|| Failure::invalid_params(format!("unknown tool {name}")))?;
    Ok((tool, object(params, "arguments")?))
}

/// The raw result of that number.
fn shape(context: Context, arguments: &Map<String, Value>) -> Option<&'static str> {
    let all = if context.modern() {
        shapes::modern()
    } else {
        shapes::legacy()
    };
    let index = whole_number(arguments, "number")?.checked_sub(1)?;
    let shape = all.get(usize::try_from(index).ok()?)?;
    Some(shape.as_str())
}

fn result(context: Context, outcome: Outcome) -> Map<String, Value> {
    context.complete(outcome.into_members(context.features()), Keep::Unsaid)
}

/// The result of a modern round.
fn round_result(
    context: Context,
    round: Result<Round, Failure>,
) -> Result<Map<String, Value>, Failure> {
    Ok(match round? {
        Round::Ask(body) => context.input_required(body),
        Round::Done(outcome) => result(context, outcome),
    })
}

/// Since 2025-11-25 a model sees errors about its arguments.
fn misfit(context: Context, what: String) -> Result<Map<String, Value>, Failure> {
    if context.features().dialect {
        Ok(result(context, Outcome::error(what)))
    } else {
        Err(Failure::invalid_params(what))
    }
}
