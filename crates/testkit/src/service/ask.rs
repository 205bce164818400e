//! The tool that asks a person for a name, in either era.

use serde_json::{Map, Value, json};

use super::era::Context;
use super::failure::{Failure, object, string};
use super::questions::Questions;
use super::wire::Sink;
use crate::tools::Outcome;

/// The key of our question in `inputRequests`.
const QUESTION: &str = "name";

/// The `requestState` that a client must return exactly: with characters that need care in JSON,
/// and non-ASCII ones.
const STATE: &str = "ask_name/1 \"\\\u{7f}\u{e9}\u{2028}\u{1f511}==";

/// The state of a modern call.
pub(crate) enum Round {
    /// The members of an `input_required` result.
    Ask(Map<String, Value>),
    Done(Outcome),
}

/// One round of a modern call.
pub(crate) fn round(context: Context, params: &Map<String, Value>) -> Result<Round, Failure> {
    let responses = object(params, "inputResponses")?;
    if params.contains_key("requestState") || responses.is_some() {
        // 2026-07-28: the client must return the state byte for byte.
        if string(params, "requestState")? != STATE {
            return Err(Failure::invalid_params(
                "requestState is not what was given out",
            ));
        }
        // Without an answer to the question it is asked again.
        if let Some(answer) = responses.and_then(|responses| responses.get(QUESTION)) {
            return Ok(Round::Done(greet(answer)));
        }
    }
    // Only ask clients that can answer: an undeclared capability is an error of its own.
    if !context.shows_forms {
        return Err(Failure::missing_capability(
            &json!({"elicitation": {"form": {}}}),
        ));
    }
    let mut body = Map::new();
    let question = json!({"method": "elicitation/create", "params": form(context)});
    body.insert("inputRequests".to_owned(), json!({QUESTION: question}));
    body.insert("requestState".to_owned(), STATE.into());
    Ok(Round::Ask(body))
}

/// A legacy call: sends a request to the client and waits.
pub(crate) async fn ask(context: Context, questions: &Questions, client: &Sink) -> Outcome {
    if !context.shows_forms {
        return Outcome::error("this tool needs a client that declares elicitation");
    }
    match questions
        .ask(client, "elicitation/create", &form(context))
        .await
    {
        Ok(answer) => answer.decode().map_or_else(
            |_| Outcome::error("the answer cannot be read"),
            |answer: Value| greet(&answer),
        ),
        Err(why) => Outcome::error(why),
    }
}

fn form(context: Context) -> Value {
    let mut params = Map::new();
    if context.features().dialect {
        params.insert("mode".to_owned(), "form".into());
    }
    params.insert("message".to_owned(), "What is your name?".into());
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name", "description": "The name to greet you by"},
        },
        "required": ["name"],
    });
    params.insert("requestedSchema".to_owned(), schema);
    Value::Object(params)
}

fn greet(answer: &Value) -> Outcome {
    let name = answer
        .get("content")
        .and_then(|content| content.get("name"));
    match (answer.get("action").and_then(Value::as_str), name) {
        (Some("accept"), Some(Value::String(name))) => Outcome::text(format!("Hello, {name}!")),
        (Some("accept"), _) => Outcome::error("the form came back without a name"),
        (Some("decline"), _) => Outcome::text("The question was declined."),
        (Some("cancel"), _) => Outcome::text("The question was dismissed."),
        _ => Outcome::error("the answer has no action that is known"),
    }
}
