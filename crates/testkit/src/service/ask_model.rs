//! The tool that asks the client's model, in either era.

use serde_json::{Map, Value, json};

use super::ask::Round;
use super::era::Context;
use super::failure::{Failure, object};
use super::questions::Questions;
use super::wire::Sink;
use crate::tools::Outcome;

/// The key of our question in `inputRequests`.
const QUESTION: &str = "model";

const METHOD: &str = "sampling/createMessage";

/// One round of a modern call.
pub(crate) fn round(
    context: Context,
    params: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Result<Round, Failure> {
    let responses = object(params, "inputResponses")?;
    if let Some(answer) = responses.and_then(|responses| responses.get(QUESTION)) {
        return Ok(Round::Done(describe_answer(answer)));
    }
    if !context.has_model {
        return Err(Failure::missing_capability(&json!({"sampling": {}})));
    }
    let question = match question(arguments) {
        Ok(question) => json!({"method": METHOD, "params": question}),
        Err(what) => return Ok(Round::Done(Outcome::error(what))),
    };
    let mut body = Map::new();
    body.insert("inputRequests".to_owned(), json!({QUESTION: question}));
    Ok(Round::Ask(body))
}

/// A legacy call: sends a request to the client and waits.
pub(crate) async fn ask(
    context: Context,
    arguments: &Map<String, Value>,
    questions: &Questions,
    client: &Sink,
) -> Outcome {
    if !context.has_model {
        return Outcome::error("this tool needs a client that declares sampling");
    }
    let question = match question(arguments) {
        Ok(question) => question,
        Err(what) => return Outcome::error(what),
    };
    match questions.ask(client, METHOD, &question).await {
        Ok(answer) => answer.decode().map_or_else(
            |_| Outcome::error("the answer cannot be read"),
            |answer: Value| describe_answer(&answer),
        ),
        Err(why) => Outcome::error(why),
    }
}

/// The request in the arguments, or a default one with their prompt.
fn question(arguments: &Map<String, Value>) -> Result<Value, String> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    if let Some(request) = text("request") {
        return serde_json::from_str(request).map_err(|_| "the request is no JSON".to_owned());
    }
    let prompt = text("prompt").unwrap_or("What is the answer?");
    Ok(json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "systemPrompt": "You answer in one sentence.",
        "maxTokens": 100,
    }))
}

/// The answer of the model: its text, or the whole answer if there is more.
fn describe_answer(answer: &Value) -> Outcome {
    let text = answer.pointer("/content/text").and_then(Value::as_str);
    let text = text.map_or_else(|| answer.to_string(), str::to_owned);
    Outcome::structured(text, answer.clone())
}
