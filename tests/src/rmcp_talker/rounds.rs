//! Questions, and what came back.

use rmcp3::ErrorData;
use rmcp3::model::{InputRequests, InputRequiredResult, InputResponses};
use serde_json::{Value, json};

use crate::talk;

/// Where something that asks has got to.
pub(super) enum Round {
    Ask(InputRequiredResult),
    Answered(String),
}

/// A form that is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// A name alone.
    Name,
    /// A name and a size.
    Order,
}

impl Form {
    /// The question.
    pub(super) fn question(self) -> Value {
        let mut fields = json!({"name": {"type": "string", "title": "Name"}});
        if let (Self::Order, Some(fields)) = (self, fields.as_object_mut()) {
            let size = json!({"type": "string", "enum": ["small", "large"], "default": "small"});
            fields.insert("size".to_owned(), size);
        }
        let schema = json!({"type": "object", "properties": fields, "required": ["name"]});
        let params = json!({"mode": "form", "message": talk::WHO, "requestedSchema": schema});
        json!({"method": "elicitation/create", "params": params})
    }

    /// Asks, or gives the name that was filled in.
    pub(super) fn round(self, responses: Option<&InputResponses>) -> Result<Round, ErrorData> {
        let Some(answer) = responses.and_then(|all| all.get("form")) else {
            return ask(&json!({"form": self.question()}), None).map(Round::Ask);
        };
        let name = answer.pointer("/content/name").and_then(Value::as_str);
        Ok(Round::Answered(name.unwrap_or("nobody").to_owned()))
    }
}

/// A visit to an address.
pub(super) fn visit() -> Value {
    let params = json!({
        "mode": "url", "message": "Sign in", "url": talk::ADDRESS, "elicitationId": "visit-1",
    });
    json!({"method": "elicitation/create", "params": params})
}

/// A question for a model.
pub(super) fn sampling(prompt: &str) -> Value {
    let content = json!({"type": "text", "text": prompt});
    let messages = json!([{"role": "user", "content": content}]);
    let params = json!({"messages": messages, "maxTokens": 50, "systemPrompt": talk::SYSTEM});
    json!({"method": "sampling/createMessage", "params": params})
}

/// A question for the folders of the client.
pub(super) fn roots() -> Value {
    json!({"method": "roots/list"})
}

/// A result that asks, out of questions by their keys.
pub(super) fn ask(
    questions: &Value,
    state: Option<String>,
) -> Result<InputRequiredResult, ErrorData> {
    let questions: Result<InputRequests, _> = serde_json::from_value(questions.clone());
    let questions = questions.map_err(|why| ErrorData::internal_error(why.to_string(), None))?;
    Ok(InputRequiredResult::new(Some(questions), state))
}
