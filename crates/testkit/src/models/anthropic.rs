//! Anthropic's messages.

#![allow(
    clippy::indexing_slicing,
    reason = "what a value does not have is null, and nothing is written to"
)]

use serde_json::{Value, json};

use super::{Asked, Given, KEY, unknown};

const FIELDS: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "system",
    "temperature",
    "stop_sequences",
    "tools",
    "tool_choice",
];

/// Answers like Anthropic's messages API: with a text that repeats the last user message, or with a
/// use of the first tool if one is required.
pub fn anthropic(asked: &Asked) -> Given {
    match judge(asked) {
        Ok(()) => Given::json(200, &message(&asked.body)),
        Err((status, kind, message)) => {
            let error = json!({"type": kind, "message": message});
            Given::json(
                status,
                &json!({"type": "error", "error": error, "request_id": "req_1"}),
            )
        }
    }
}

type AnthropicRefusal = (u16, &'static str, String);

fn judge(asked: &Asked) -> Result<(), AnthropicRefusal> {
    let wrong = |message: &str| (400, "invalid_request_error", message.to_owned());
    if (asked.method.as_str(), asked.path.as_str()) != ("POST", "/v1/messages") {
        return Err((404, "not_found_error", "Not found".to_owned()));
    }
    if asked.header("x-api-key") != Some(KEY) {
        return Err((401, "authentication_error", "invalid x-api-key".to_owned()));
    }
    if asked.header("anthropic-version") != Some("2023-06-01") {
        return Err(wrong("anthropic-version: header is required"));
    }
    let body = &asked.body;
    if let Some(key) = unknown(body, FIELDS) {
        return Err(wrong(&format!("{key}: Extra inputs are not permitted")));
    }
    if !body["model"].is_string() || !body["max_tokens"].is_u64() {
        return Err(wrong("model, max_tokens: Field required"));
    }
    let temperature = &body["temperature"];
    if !temperature.is_null()
        && !temperature
            .as_f64()
            .is_some_and(|t| (0.0..=1.0).contains(&t))
    {
        return Err(wrong("temperature: range: 0..1"));
    }
    let Some(messages) = body["messages"].as_array().filter(|list| !list.is_empty()) else {
        return Err(wrong("messages: at least one message is required"));
    };
    // Tool uses that have no result yet: the next user message must have all of them.
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        if !matches!(role, "user" | "assistant") {
            return Err(wrong("messages: Unexpected role"));
        }
        let Some(blocks) = message["content"]
            .as_array()
            .filter(|list| !list.is_empty())
        else {
            return Err(wrong("messages: content is required"));
        };
        for block in blocks {
            match (role, block["type"].as_str().unwrap_or_default()) {
                (_, "text") if block["text"].is_string() => {}
                ("user", "image") if is_image(&block["source"]) => {}
                ("assistant", "tool_use") if block["input"].is_object() => {
                    open.extend(block["id"].as_str());
                    continue;
                }
                ("user", "tool_result") => {
                    let id = block["tool_use_id"].as_str().unwrap_or_default();
                    let Some(place) = open.iter().position(|known| *known == id) else {
                        return Err(wrong(
                            "unexpected `tool_use_id` found in `tool_result` blocks",
                        ));
                    };
                    open.remove(place);
                }
                _ => return Err(wrong("messages: Input tag does not match")),
            }
        }
        if role == "user" && !open.is_empty() {
            return Err(wrong(
                "`tool_use` ids were found without `tool_result` blocks",
            ));
        }
    }
    Ok(())
}

fn is_image(source: &Value) -> bool {
    let kinds = ["image/jpeg", "image/png", "image/gif", "image/webp"];
    let kind = source["media_type"].as_str().unwrap_or_default();
    source["type"] == "base64" && kinds.contains(&kind) && source["data"].is_string()
}

fn message(body: &Value) -> Value {
    let (content, stop) = if body["tool_choice"]["type"] == "any" {
        let name = &body["tools"][0]["name"];
        let input = json!({"city": "Paris"});
        let text = json!({"type": "text", "text": "I look it up."});
        let used = json!({"type": "tool_use", "id": "toolu_01", "name": name, "input": input});
        (json!([text, used]), "tool_use")
    } else {
        let text = format!("You said: {}", last(body));
        let thought = json!({"type": "thinking", "thinking": "hm", "signature": "x"});
        (json!([thought, {"type": "text", "text": text}]), "end_turn")
    };
    json!({
        "id": "msg_01XFDUDYJgAACzvnptvVoYEL",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": content,
        "stop_reason": stop,
        "stop_sequence": null,
        "usage": {
            "input_tokens": 19,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 10,
        },
    })
}

fn last(body: &Value) -> String {
    let messages = body["messages"].as_array();
    let blocks = messages.and_then(|messages| messages.last()?["content"].as_array());
    let texts = blocks
        .into_iter()
        .flatten()
        .filter_map(|block| block["text"].as_str());
    texts.collect()
}
