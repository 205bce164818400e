//! The tools that ask the client for a visit or for roots.

use serde_json::{Map, Value, json};
use switchboard_wire::Version;

use super::ask::Round;
use super::era::Context;
use super::failure::{Failure, object};
use super::questions::Questions;
use super::wire::Sink;
use crate::tools::{ADDRESS, Outcome};

/// Number of addresses remembered besides the newest.
const MOST_SENT: usize = 63;

type ToolArguments = Map<String, Value>;

/// A question to the client, in either era.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// The key in `inputRequests`.
    key: &'static str,
    method: &'static str,
    /// The parameters, if there are any.
    params: Option<Value>,
    /// The capabilities that the client must declare.
    needed: Value,
    is_declared: bool,
    told: fn(&Value) -> Outcome,
}

impl Question {
    /// Asks a person to go to an address.
    pub(crate) fn visit(context: Context, number: u64, arguments: &ToolArguments) -> Self {
        Self {
            key: "visit",
            method: "elicitation/create",
            params: Some(visit(context, number, address(arguments))),
            needed: json!({"elicitation": {"url": {}}}),
            is_declared: context.opens_addresses,
            told: visited,
        }
    }

    /// Asks for the client's roots.
    pub(crate) fn roots(context: Context) -> Self {
        Self {
            key: "roots",
            method: "roots/list",
            params: None,
            needed: json!({"roots": {}}),
            is_declared: context.has_roots,
            told: listed,
        }
    }

    /// One round of a modern call.
    pub(crate) fn round(self, params: &Map<String, Value>) -> Result<Round, Failure> {
        let responses = object(params, "inputResponses")?;
        // An answer that is there counts, even from a client that did not declare the capability.
        if let Some(answer) = responses.and_then(|responses| responses.get(self.key)) {
            return Ok(Round::Done((self.told)(answer)));
        }
        if !self.is_declared {
            return Err(Failure::missing_capability(&self.needed));
        }
        let mut question = json!({"method": self.method});
        if let Some((question, params)) = question.as_object_mut().zip(self.params) {
            question.insert("params".to_owned(), params);
        }
        let mut body = Map::new();
        body.insert("inputRequests".to_owned(), json!({self.key: question}));
        Ok(Round::Ask(body))
    }

    /// A legacy call: sends a request to the client and waits.
    pub(crate) async fn ask(self, questions: &Questions, client: &Sink) -> Outcome {
        if !self.is_declared {
            return self.undeclared();
        }
        let params = self.params.unwrap_or_else(|| json!({}));
        match questions.ask(client, self.method, &params).await {
            Ok(answer) => answer.decode().map_or_else(
                |_| Outcome::error("the answer cannot be read"),
                |answer: Value| (self.told)(&answer),
            ),
            Err(why) => Outcome::error(why),
        }
    }

    fn undeclared(&self) -> Outcome {
        let needed = &self.needed;
        Outcome::error(format!("this tool needs a client that declares {needed}"))
    }
}

/// The addresses that a legacy client was sent to by an error.
#[derive(Debug, Default)]
pub(crate) struct Sent(Vec<String>);

impl Sent {
    /// Refuses a call until its client was sent to the address; `None` if the usual question is to
    /// be asked. It is not checked that the person went: the next call counts as a yes.
    pub(crate) fn first(
        &mut self,
        context: Context,
        number: u64,
        arguments: &ToolArguments,
    ) -> Option<Result<Outcome, Failure>> {
        let by_error = arguments.get("by_error") == Some(&Value::Bool(true));
        if !by_error || !context.opens_addresses || context.version != Version::V2025_11_25 {
            return None;
        }
        let address = address(arguments);
        if let Some(at) = self.0.iter().position(|known| known == address) {
            self.0.remove(at);
            return Some(Ok(Outcome::text("Called again after the visit.")));
        }
        // Bounded: a client that is sent elsewhere again and again does not fill our memory.
        self.0.truncate(MOST_SENT);
        self.0.insert(0, address.to_owned());
        let question = visit(context, number, address);
        Some(Err(Failure::visit_first(&question)))
    }
}

fn address(arguments: &ToolArguments) -> &str {
    let address = arguments.get("url").and_then(Value::as_str);
    address.unwrap_or(ADDRESS)
}

fn visit(context: Context, number: u64, address: &str) -> Value {
    let message = "Please go to this address, and come back.";
    let mut params = json!({"mode": "url", "message": message, "url": address});
    if let Some(params) = params.as_object_mut().filter(|_| !context.modern()) {
        let id = format!("visit-{number}");
        params.insert("elicitationId".to_owned(), id.into());
    }
    params
}

fn visited(answer: &Value) -> Outcome {
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => Outcome::text("The visit was agreed to."),
        Some("decline") => Outcome::text("The visit was declined."),
        Some("cancel") => Outcome::text("The visit was dismissed."),
        _ => Outcome::error("the answer has no action that is known"),
    }
}

fn listed(answer: &Value) -> Outcome {
    let Some(roots) = answer.get("roots").and_then(Value::as_array) else {
        return Outcome::error("the answer has no roots");
    };
    let text = |root: &Value, key| root.get(key).and_then(Value::as_str).map(str::to_owned);
    let lines = roots.iter().map(|root| {
        let uri = text(root, "uri").filter(|uri| uri.starts_with("file://"));
        let uri = uri.ok_or_else(|| format!("this is no root: {root}"))?;
        Ok(match text(root, "name") {
            Some(name) => format!("{name}: {uri}"),
            None => uri,
        })
    });
    match lines.collect::<Result<Vec<String>, String>>() {
        Ok(lines) if lines.is_empty() => Outcome::text("There are no roots."),
        Ok(lines) => Outcome::text(lines.join("\n")),
        Err(what) => Outcome::error(what),
    }
}
