//! From a model's answer to what a server gets.

use serde_json::{Value, json};
use switchboard_wire::{CreateMessageResult, Raw};

use super::model::{ModelAnswer, Part};

/// Writes an answer. Texts alone become one block, which every version of the protocol takes; with uses of
/// tools, it is an array, which came with them.
///
/// # Errors
/// When it has no JSON form.
pub(super) fn result(answer: &ModelAnswer) -> Result<CreateMessageResult, String> {
    let blocks: Vec<Value> = answer.parts.iter().filter_map(block).collect();
    let has_uses = answer
        .parts
        .iter()
        .any(|part| matches!(part, Part::Use { .. }));
    let content = match has_uses {
        true => Value::Array(blocks),
        false => {
            let texts = answer.parts.iter().filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            });
            json!({"type": "text", "text": texts.collect::<String>()})
        }
    };
    Ok(CreateMessageResult {
        role: "assistant".to_owned(),
        content: Raw::of(&content).map_err(|error| error.to_string())?,
        model: answer.model.clone(),
        stop_reason: Some(answer.stop.word().to_owned()),
    })
}

fn block(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        Part::Use { id, name, input } => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
        }
        // No provider gives anything else.
        Part::Image(_) | Part::Audio(_) | Part::Result { .. } => None,
    }
}
