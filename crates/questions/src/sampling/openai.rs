//! APIs like OpenAI's chat completions, which most others speak too.

use std::time::Duration;

use serde_json::{Map, Value, json};
use switchboard_wire::Raw;

use super::api::{Api, ApiError, api, below, unreadable};
use super::model::{Media, ModelAnswer, ModelRequest, Part, Role, Stop, ToolUse, Turn};
use super::provider::{Completing, Provider, ProviderError};
use switchboard_client::transport::Proxy;
use switchboard_core::secret::Secret;
use switchboard_core::spec::AddressRange;

/// Asks models over an API like OpenAI's chat completions: `POST BASE/chat/completions`.
#[derive(Debug, Clone)]
pub struct OpenAi {
    api: Api,
    tokens_field: TokensField,
}

/// The field in which an API takes the maximum length of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokensField {
    /// `max_tokens`, which nearly all understand.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's own newer models insist on.
    MaxCompletionTokens,
}

impl OpenAi {
    /// The base URL of OpenAI's own API.
    pub const BASE: &'static str = "https://api.openai.com/v1";

    /// Uses a model of the API at a base URL, such as `http://localhost:11434/v1`.
    ///
    /// # Errors
    /// Fails if the base is not a URL, or if requests to it are not allowed.
    pub fn new(base: &str, model: &str) -> Result<Self, ApiError> {
        Self::allowing(base, model, &[])
    }

    /// Like `new`, but also permits the given addresses, which are refused otherwise.
    ///
    /// # Errors
    /// Fails if the base is not a URL, or if requests to it are not allowed.
    pub fn allowing(base: &str, model: &str, allowed: &[AddressRange]) -> Result<Self, ApiError> {
        let url = below(base, "chat/completions");
        let api = Api::new("openai", &url, model, allowed)?;
        // OpenAI's newer models refuse `max_tokens`; most compatible servers know nothing else.
        let is_own = api.post.url().expose().host_str() == Some("api.openai.com");
        let tokens_field = if is_own {
            TokensField::MaxCompletionTokens
        } else {
            TokensField::MaxTokens
        };
        Ok(Self { api, tokens_field })
    }

    /// Sets the key to send.
    ///
    /// # Errors
    /// Fails if the key cannot be sent in a header.
    pub fn key(mut self, key: &Secret<String>) -> Result<Self, ApiError> {
        self.api.hide(key);
        let value = Secret::new(format!("Bearer {}", key.expose()));
        self.api.header("authorization", &value)?;
        Ok(self)
    }

    /// Sets the field for the maximum length of the answer; the default depends on the address.
    #[must_use]
    pub fn tokens_field(mut self, field: TokensField) -> Self {
        self.tokens_field = field;
        self
    }

    fn body(&self, request: &ModelRequest) -> Result<Value, ProviderError> {
        let mut messages = Vec::new();
        // This API has no field for it: the system prompt is the first message.
        if let Some(system) = &request.prompt.system {
            messages.push(json!({"role": "system", "content": system}));
        }
        for turn in &request.prompt.turns {
            match turn.role {
                Role::User => user(turn, &mut messages)?,
                Role::Assistant => messages.push(assistant(turn)?),
            }
        }
        let mut body = Map::new();
        body.insert("model".to_owned(), request.model.as_str().into());
        body.insert("messages".to_owned(), Value::Array(messages));
        let field = match self.tokens_field {
            TokensField::MaxTokens => "max_tokens",
            TokensField::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(field.to_owned(), request.max_tokens.into());
        if let Some(temperature) = request.temperature {
            body.insert("temperature".to_owned(), temperature.into());
        }
        if !request.stop_sequences.is_empty() {
            body.insert("stop".to_owned(), json!(request.stop_sequences));
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter();
            let tools = tools
                .map(|tool| json!({"type": "function", "function": tool.to_json("parameters")}));
            body.insert("tools".to_owned(), tools.collect());
            let choice = match request.tool_use {
                ToolUse::Auto => "auto",
                ToolUse::Required => "required",
                ToolUse::None => "none",
            };
            body.insert("tool_choice".to_owned(), choice.into());
        }
        Ok(Value::Object(body))
    }
}

api!(OpenAi);

/// Writes a user turn: a message for each tool result, then one for the rest, if there is any.
fn user(turn: &Turn, messages: &mut Vec<Value>) -> Result<(), ProviderError> {
    let mut said = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Result {
                id,
                parts,
                is_error,
            } => {
                let content = result(parts, *is_error)?;
                // Each result is a message of its own, before the rest of the turn: this API wants
                // them right after the call.
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
            }
            Part::Text(text) => said.push(json!({"type": "text", "text": text})),
            Part::Image(media) => said.push(image(media)?),
            Part::Audio(media) => said.push(audio(media)?),
            Part::Use { .. } => return Err(unsupported("a user who uses a tool")),
        }
    }
    // A single text goes as a string: some compatible servers take no list.
    match (said.as_slice(), turn.parts.as_slice()) {
        ([], _) => {}
        (_, [Part::Text(text)]) => messages.push(json!({"role": "user", "content": text})),
        _ => messages.push(json!({"role": "user", "content": said})),
    }
    Ok(())
}

/// There is only text in a tool's answer, and no word for its failure.
fn result(parts: &[Part], is_error: bool) -> Result<String, ProviderError> {
    let texts: Result<Vec<&str>, ProviderError> = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => Ok(text.as_str()),
            _ => Err(unsupported("results of tools that are not text")),
        })
        .collect();
    let text = texts?.join("\n");
    Ok(if is_error {
        format!("error: {text}")
    } else {
        text
    })
}

fn assistant(turn: &Turn) -> Result<Value, ProviderError> {
    let mut text = String::new();
    let mut calls = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Text(said) => text.push_str(said),
            Part::Use { id, name, input } => calls.push(json!({
                "id": id,
                "type": "function",
                // The arguments are JSON in a string.
                "function": {"name": name, "arguments": input.as_str()},
            })),
            _ => {
                return Err(unsupported(
                    "images and sounds that the model is to have made",
                ));
            }
        }
    }
    // A message of calls alone has a null content in this API.
    let content = if text.is_empty() && !calls.is_empty() {
        Value::Null
    } else {
        text.into()
    };
    let mut message = json!({"role": "assistant", "content": content});
    if let (false, Some(message)) = (calls.is_empty(), message.as_object_mut()) {
        message.insert("tool_calls".to_owned(), Value::Array(calls));
    }
    Ok(message)
}

fn image(media: &Media) -> Result<Value, ProviderError> {
    // The type becomes part of a URL, so it must not bring syntax of its own.
    let is_token = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let subtype = media.mime_type.strip_prefix("image/");
    if !subtype.is_some_and(|subtype| !subtype.is_empty() && subtype.chars().all(is_token)) {
        return Err(unsupported("images of such a type"));
    }
    let url = format!("data:{};base64,{}", media.mime_type, media.data);
    Ok(json!({"type": "image_url", "image_url": {"url": url}}))
}

fn audio(media: &Media) -> Result<Value, ProviderError> {
    let format = match media.mime_type.as_str() {
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        _ => return Err(unsupported("sounds that are neither WAV nor MP3")),
    };
    Ok(json!({"type": "input_audio", "input_audio": {"data": media.data, "format": format}}))
}

fn unsupported(what: &str) -> ProviderError {
    ProviderError::Unsupported(format!("the model's provider does not take {what}"))
}

fn answer(value: &Value, request: &ModelRequest) -> Result<ModelAnswer, ProviderError> {
    let choice = value.pointer("/choices/0");
    let choice = choice.ok_or_else(|| unreadable("it has no choice"))?;
    let message = choice.get("message");
    let message = message.ok_or_else(|| unreadable("it has no message"))?;
    let text = |key: &str| message.get(key).and_then(Value::as_str).unwrap_or_default();
    // A refusal comes in place of the content, in a field of its own.
    let (said, refusal) = (text("content"), text("refusal"));
    let mut parts = Vec::new();
    if !said.is_empty() || !refusal.is_empty() {
        let text = if said.is_empty() { refusal } else { said };
        parts.push(Part::Text(text.to_owned()));
    }
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for call in calls.into_iter().flatten() {
        parts.push(tool_call(call)?);
    }
    // An empty list is the same as none.
    let has_calls = calls.is_some_and(|calls| !calls.is_empty());
    // Some say which of the words it was; OpenAI says `stop` for both.
    let word = choice.get("stop_reason").and_then(Value::as_str);
    let is_word = word.is_some_and(|word| request.stop_sequences.iter().any(|stop| stop == word));
    let stop = match choice.get("finish_reason").and_then(Value::as_str) {
        // The calls themselves decide: compatible servers report `stop` for them as well.
        _ if has_calls => Stop::ToolUse,
        Some("stop") if is_word => Stop::StopSequence,
        Some("length") => Stop::MaxTokens,
        _ if said.is_empty() && !refusal.is_empty() => Stop::Other("refusal".to_owned()),
        Some("stop" | "tool_calls") | None => Stop::EndTurn,
        Some(other) => Stop::Other(other.to_owned()),
    };
    let model = value.get("model").and_then(Value::as_str);
    Ok(ModelAnswer {
        model: model.unwrap_or(&request.model).to_owned(),
        parts,
        stop,
        tokens: value.pointer("/usage/total_tokens").and_then(Value::as_u64),
    })
}

fn tool_call(call: &Value) -> Result<Part, ProviderError> {
    let text = |pointer: &str| call.pointer(pointer).and_then(Value::as_str);
    let (Some(id), Some(name)) = (text("/id"), text("/function/name")) else {
        return Err(unreadable("a call of a tool has no id or no name"));
    };
    // Some servers leave the arguments empty for a tool that takes none.
    let arguments = text("/function/arguments").unwrap_or_default();
    let input = match arguments.trim() {
        "" => Raw::empty_object(),
        arguments => Raw::parse(arguments)
            .ok()
            .filter(Raw::is_object)
            .ok_or_else(|| unreadable("the arguments of a tool are no JSON object"))?,
    };
    Ok(Part::Use {
        id: id.to_owned(),
        name: name.to_owned(),
        input,
    })
}
