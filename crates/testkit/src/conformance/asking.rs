//! Questions to a client, in one round or several, and what is made of its answers.

use serde_json::{Map, Value, json};

/// The questions of a tool or a prompt.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    /// The tool or prompt, which a `requestState` is valid for.
    pub(crate) name: &'static str,
    pub(crate) rounds: Vec<Vec<Ask>>,
    /// Results of the modern era carry a sealed `requestState`.
    pub(crate) is_sealed: bool,
    /// Questions that the client cannot answer are left out instead of refusing the call.
    pub(crate) only_declared: bool,
    /// Words the answers.
    pub(crate) answer: fn(&InputResponses) -> String,
}

impl Asking {
    /// One round without a state.
    pub(super) fn once(
        name: &'static str,
        asks: Vec<Ask>,
        answer: fn(&InputResponses) -> String,
    ) -> Self {
        Self {
            name,
            rounds: vec![asks],
            is_sealed: false,
            only_declared: false,
            answer,
        }
    }

    pub(super) fn sealed(self) -> Self {
        Self {
            is_sealed: true,
            ..self
        }
    }

    /// Adds a round, for which there must be a state.
    pub(super) fn then(mut self, asks: Vec<Ask>) -> Self {
        self.rounds.push(asks);
        self.sealed()
    }

    pub(super) fn only_declared(self) -> Self {
        Self {
            only_declared: true,
            ..self
        }
    }
}

/// One question.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    /// The key in `inputRequests`.
    pub(crate) key: &'static str,
    pub(crate) kind: AskKind,
}

#[derive(Debug, Clone)]
pub(crate) enum AskKind {
    Form { message: String, schema: Value },
    Model { prompt: String, max_tokens: u32 },
    Roots,
}

impl Ask {
    pub(super) fn form(key: &'static str, message: &str, schema: Value) -> Self {
        let message = message.to_owned();
        Self {
            key,
            kind: AskKind::Form { message, schema },
        }
    }

    pub(super) fn model(key: &'static str, prompt: &str, max_tokens: u32) -> Self {
        let prompt = prompt.to_owned();
        Self {
            key,
            kind: AskKind::Model { prompt, max_tokens },
        }
    }

    pub(super) fn roots(key: &'static str) -> Self {
        Self {
            key,
            kind: AskKind::Roots,
        }
    }

    pub(crate) fn method(&self) -> &'static str {
        match self.kind {
            AskKind::Form { .. } => "elicitation/create",
            AskKind::Model { .. } => "sampling/createMessage",
            AskKind::Roots => "roots/list",
        }
    }

    /// The parameters; `with_mode` for versions in which a form says that it is one.
    pub(crate) fn params(&self, with_mode: bool) -> Value {
        match &self.kind {
            AskKind::Form { message, schema } => {
                let mut params = json!({"message": message, "requestedSchema": schema});
                if let Some(params) = params.as_object_mut().filter(|_| with_mode) {
                    params.insert("mode".to_owned(), "form".into());
                }
                params
            }
            AskKind::Model { prompt, max_tokens } => json!({
                "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
                "maxTokens": max_tokens,
            }),
            AskKind::Roots => json!({}),
        }
    }

    /// The capability that the client must declare, with its name.
    pub(crate) fn needs(&self) -> (&'static str, Value) {
        match self.kind {
            AskKind::Form { .. } => ("elicitation", json!({"form": {}})),
            AskKind::Model { .. } => ("sampling", json!({})),
            AskKind::Roots => ("roots", json!({})),
        }
    }

    /// Returns true if an answer has the members that it must have.
    pub(crate) fn is_answered_by(&self, answer: &Value) -> bool {
        let member = |name: &str| answer.get(name);
        match self.kind {
            AskKind::Form { .. } => {
                // 2025-11-25, elicitation: an answer accepts, declines or cancels.
                let action = member("action").and_then(Value::as_str);
                action.is_some_and(|action| ["accept", "decline", "cancel"].contains(&action))
            }
            AskKind::Model { .. } => member("content").is_some(),
            AskKind::Roots => member("roots").is_some_and(Value::is_array),
        }
    }
}

/// The answers to all questions, by their keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct InputResponses(pub(crate) Map<String, Value>);

impl InputResponses {
    /// A field of a form as text; the action if the form was not filled in.
    pub(super) fn field(&self, key: &str, field: &str) -> String {
        let answer = self.0.get(key).unwrap_or(&Value::Null);
        match answer.get("content").and_then(|content| content.get(field)) {
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
            None => format!("({})", self.action(key)),
        }
    }

    pub(super) fn action(&self, key: &str) -> &str {
        let action = self.0.get(key).and_then(|answer| answer.get("action"));
        action.and_then(Value::as_str).unwrap_or("no answer")
    }

    /// The content of a form as JSON.
    pub(super) fn content(&self, key: &str) -> String {
        let content = self.0.get(key).and_then(|answer| answer.get("content"));
        content.map_or_else(|| "{}".to_owned(), Value::to_string)
    }

    /// The text that the model wrote.
    pub(super) fn model(&self, key: &str) -> String {
        let content = self.0.get(key).and_then(|answer| answer.get("content"));
        let text = content
            .and_then(|content| content.get("text"))
            .and_then(Value::as_str);
        match text {
            Some(text) => text.to_owned(),
            None => content.unwrap_or(&Value::Null).to_string(),
        }
    }

    /// The URIs of the roots.
    pub(super) fn roots(&self, key: &str) -> String {
        let roots = self.0.get(key).and_then(|answer| answer.get("roots"));
        let roots = roots.and_then(Value::as_array).into_iter().flatten();
        let uris = roots.filter_map(|root| root.get("uri").and_then(Value::as_str));
        uris.collect::<Vec<_>>().join(", ")
    }
}

/// A form of required texts.
pub(super) fn texts(names: &[&str]) -> Value {
    let fields = names
        .iter()
        .map(|name| ((*name).to_owned(), json!({"type": "string"})));
    object(&Value::Object(fields.collect()), names)
}

pub(super) fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}
