//! OpenAI's chat completions.

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
    "max_completion_tokens",
    "temperature",
    "stop",
    "tools",
    "tool_choice",
];

/// Answers like OpenAI's chat completions, below `/v1`: with a text that repeats the last user
/// message, or with a call of the first tool if one is required.
pub fn openai(asked: &Asked) -> Given {
    match judge(asked) {
        Ok(()) => Given::json(200, &completion(&asked.body)),
        Err((status, kind, message)) => Given::json(
            status,
            &json!({"error": {"message": message, "type": kind, "param": null, "code": null}}),
        ),
    }
}

type OpenAiRefusal = (u16, &'static str, String);

fn judge(asked: &Asked) -> Result<(), OpenAiRefusal> {
    let wrong = |message: String| (400, "invalid_request_error", message);
    if (asked.method.as_str(), asked.path.as_str()) != ("POST", "/v1/chat/completions") {
        return Err((
            404,
            "invalid_request_error",
            format!("Invalid URL ({})", asked.path),
        ));
    }
    let sent = asked.header("authorization").unwrap_or_default();
    if sent != format!("Bearer {KEY}") {
        // The real one repeats a part of the key.
        let message = format!("Incorrect API key provided: {sent}.");
        return Err((401, "invalid_request_error", message));
    }
    let body = &asked.body;
    if let Some(key) = unknown(body, FIELDS) {
        return Err(wrong(format!(
            "Unrecognized request argument supplied: {key}"
        )));
    }
    if !body["model"].is_string() {
        return Err(wrong("you must provide a model parameter".to_owned()));
    }
    let Some(messages) = body["messages"].as_array().filter(|list| !list.is_empty()) else {
        return Err(wrong("Missing required parameter: 'messages'.".to_owned()));
    };
    // Tool calls that have no result yet: each needs one before the next message.
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        match role {
            "tool" => {
                let id = message["tool_call_id"].as_str().unwrap_or_default();
                let Some(place) = open.iter().position(|known| *known == id) else {
                    return Err(wrong(format!(
                        "messages.[{at}]: 'tool' must follow 'tool_calls'"
                    )));
                };
                open.remove(place);
                if !message["content"].is_string() {
                    return Err(wrong(format!("messages.[{at}].content must be a string")));
                }
                continue;
            }
            _ if !open.is_empty() => {
                return Err(wrong(
                    "'tool_calls' must be followed by tool messages".to_owned(),
                ));
            }
            "system" | "user" | "assistant" => {}
            _ => return Err(wrong(format!("Invalid value: '{role}'."))),
        }
        let calls = message["tool_calls"].as_array();
        for call in calls.into_iter().flatten() {
            let arguments = &call["function"]["arguments"];
            if call["type"] != "function" || !arguments.is_string() {
                return Err(wrong(format!("messages.[{at}].tool_calls are wrong")));
            }
            open.extend(call["id"].as_str());
        }
        content(&message["content"], calls.is_some()).map_err(wrong)?;
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(wrong(
            "'tool_calls' must be followed by tool messages".to_owned(),
        ))
    }
}

fn content(content: &Value, may_be_null: bool) -> Result<(), String> {
    match content {
        Value::String(_) => Ok(()),
        Value::Null if may_be_null => Ok(()),
        Value::Array(parts) => parts.iter().try_for_each(|part| {
            let is_fine = match part["type"].as_str() {
                Some("text") => part["text"].is_string(),
                Some("image_url") => {
                    let url = part["image_url"]["url"].as_str();
                    url.is_some_and(|url| url.starts_with("data:image/"))
                }
                Some("input_audio") => {
                    let audio = &part["input_audio"];
                    audio["data"].is_string()
                        && (audio["format"] == "wav" || audio["format"] == "mp3")
                }
                _ => false,
            };
            if is_fine {
                Ok(())
            } else {
                Err(format!("Invalid content part: {}", part["type"]))
            }
        }),
        _ => Err("Invalid type for 'content'.".to_owned()),
    }
}

fn completion(body: &Value) -> Value {
    let is_required = body["tool_choice"] == "required";
    let (message, finish) = if is_required {
        let name = &body["tools"][0]["function"]["name"];
        let function = json!({"name": name, "arguments": "{\"city\":\"Paris\"}"});
        let call = json!({"id": "call_abc123", "type": "function", "function": function});
        let message =
            json!({"role": "assistant", "content": null, "tool_calls": [call], "refusal": null});
        (message, "tool_calls")
    } else {
        let text = format!("You said: {}", last(body));
        let message =
            json!({"role": "assistant", "content": text, "refusal": null, "annotations": []});
        (message, "stop")
    };
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish});
    json!({
        "id": "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
        "object": "chat.completion",
        "created": 1_741_569_952,
        "model": format!("{}-2026-01-01", body["model"].as_str().unwrap_or_default()),
        "choices": [choice],
        "usage": {"prompt_tokens": 19, "completion_tokens": 10, "total_tokens": 29},
        "service_tier": "default",
    })
}

fn last(body: &Value) -> String {
    let messages = body["messages"].as_array();
    let content = messages
        .and_then(|messages| messages.last())
        .map(|last| &last["content"]);
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect()
        }
        _ => String::new(),
    }
}
