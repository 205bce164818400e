//! Anthropic's Messages API.

use std::time::Duration;

use serde_json::{Map, Value, json};
use switchboard_wire::Raw;

use super::api::{Api, ApiError, api, below, unreadable};
use super::model::{Media, ModelAnswer, ModelRequest, Part, Stop, ToolUse};
use super::provider::{Completing, Provider, ProviderError};
use switchboard_client::transport::Proxy;
use switchboard_core::secret::Secret;
use switchboard_core::spec::AddressRange;

/// The version of the API that is spoken.
const VERSION: &str = "2023-06-01";

/// The images that the API takes.
const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Asks models over Anthropic's Messages API: `POST BASE/v1/messages`. It takes no sounds.
#[derive(Debug, Clone)]
pub struct Anthropic {
    api: Api,
}

impl Anthropic {
    /// The base URL of Anthropic's own API.
    pub const BASE: &'static str = "https://api.anthropic.com";

    /// Uses a model of the API at a base URL.
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
        // Some write the base with the version, as the other API wants it.
        let base = base.trim_end_matches('/').trim_end_matches("/v1");
        let url = below(base, "v1/messages");
        let mut api = Api::new("anthropic", &url, model, allowed)?;
        api.header("anthropic-version", &Secret::from(VERSION))?;
        Ok(Self { api })
    }

    /// Sets the key to send.
    ///
    /// # Errors
    /// Fails if the key cannot be sent in a header.
    pub fn key(mut self, key: &Secret<String>) -> Result<Self, ApiError> {
        self.api.hide(key);
        self.api.header("x-api-key", key)?;
        Ok(self)
    }

    #[allow(
        clippy::unused_self,
        reason = "the other API has something to say here"
    )]
    fn body(&self, request: &ModelRequest) -> Result<Value, ProviderError> {
        let mut messages = Vec::new();
        for turn in &request.prompt.turns {
            let content = blocks(&turn.parts)?;
            messages.push(json!({"role": turn.role.word(), "content": content}));
        }
        let mut body = Map::new();
        body.insert("model".to_owned(), request.model.as_str().into());
        // This API requires the field.
        body.insert("max_tokens".to_owned(), request.max_tokens.into());
        if let Some(system) = &request.prompt.system {
            body.insert("system".to_owned(), system.as_str().into());
        }
        body.insert("messages".to_owned(), Value::Array(messages));
        if let Some(temperature) = request.temperature {
            // Others go up to 2, and this one refuses what is more than 1.
            body.insert("temperature".to_owned(), temperature.clamp(0.0, 1.0).into());
        }
        if !request.stop_sequences.is_empty() {
            body.insert("stop_sequences".to_owned(), json!(request.stop_sequences));
        }
        if !request.tools.is_empty() {
            let tools = request.tools.iter();
            let tools = tools.map(|tool| tool.to_json("input_schema"));
            body.insert("tools".to_owned(), tools.collect());
            let choice = match request.tool_use {
                ToolUse::Auto => "auto",
                ToolUse::Required => "any",
                ToolUse::None => "none",
            };
            body.insert("tool_choice".to_owned(), json!({"type": choice}));
        }
        Ok(Value::Object(body))
    }
}

api!(Anthropic);

fn blocks(parts: &[Part]) -> Result<Vec<Value>, ProviderError> {
    parts.iter().map(block).collect()
}

fn block(part: &Part) -> Result<Value, ProviderError> {
    Ok(match part {
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Image(media) => image(media)?,
        Part::Audio(_) => return Err(unsupported("sounds")),
        Part::Use { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
        Part::Result {
            id,
            parts,
            is_error,
        } => {
            let mut block = json!({
                "type": "tool_result",
                "tool_use_id": id,
                "content": blocks(parts)?,
            });
            // Left out where it is false, which is the default.
            if let (true, Some(block)) = (is_error, block.as_object_mut()) {
                block.insert("is_error".to_owned(), true.into());
            }
            block
        }
    })
}

fn image(media: &Media) -> Result<Value, ProviderError> {
    let Media { mime_type, data } = media;
    if !IMAGES.contains(&mime_type.as_str()) {
        return Err(unsupported(
            "images that are neither JPEG, PNG, GIF nor WebP",
        ));
    }
    let source = json!({"type": "base64", "media_type": mime_type, "data": data});
    Ok(json!({"type": "image", "source": source}))
}

fn unsupported(what: &str) -> ProviderError {
    ProviderError::Unsupported(format!("the model's provider does not take {what}"))
}

fn answer(value: &Value, request: &ModelRequest) -> Result<ModelAnswer, ProviderError> {
    let content = value.get("content").and_then(Value::as_array);
    let content = content.ok_or_else(|| unreadable("it has no content"))?;
    let mut parts = Vec::new();
    for block in content {
        let text = |key: &str| block.get(key).and_then(Value::as_str);
        match text("type") {
            Some("text") => parts.push(Part::Text(text("text").unwrap_or_default().to_owned())),
            Some("tool_use") => {
                let input = block.get("input").filter(|input| input.is_object());
                let (Some(id), Some(name), Some(input)) = (text("id"), text("name"), input) else {
                    return Err(unreadable("a use of a tool has no id, no name or no input"));
                };
                parts.push(Part::Use {
                    id: id.to_owned(),
                    name: name.to_owned(),
                    input: Raw::of(input).map_err(|error| unreadable(&error.to_string()))?,
                });
            }
            // The model's thinking is not passed on to servers.
            _ => {}
        }
    }
    let stop = match value.get("stop_reason").and_then(Value::as_str) {
        // A missing reason counts as the usual end.
        Some("end_turn") | None => Stop::EndTurn,
        Some("stop_sequence") => Stop::StopSequence,
        Some("max_tokens") => Stop::MaxTokens,
        Some("tool_use") => Stop::ToolUse,
        Some(other) => Stop::Other(other.to_owned()),
    };
    let model = value.get("model").and_then(Value::as_str);
    Ok(ModelAnswer {
        model: model.unwrap_or(&request.model).to_owned(),
        parts,
        stop,
        tokens: tokens(value),
    })
}

fn tokens(value: &Value) -> Option<u64> {
    let usage = value.get("usage")?;
    // Cached tokens are counted apart from the others, and all of them are paid for.
    let fields = [
        "input_tokens",
        "cache_creation_input_tokens",
        "cache_read_input_tokens",
        "output_tokens",
    ];
    let counts = fields.iter().filter_map(|field| usage.get(field)?.as_u64());
    Some(counts.fold(0, u64::saturating_add))
}
