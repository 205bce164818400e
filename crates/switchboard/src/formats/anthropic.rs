//! Anthropic's Messages API.

use serde_json::{Value, json};
use switchboard_wire::{CallToolResult, Content, Tool};

use super::adapt::{Notes, check_name, description, parameters};
use super::{Adapted, Call, ParseCallError, TextLimits, call, text};

/// Images that the API takes.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// Writes a tool as the API takes it, in `tools`.
///
/// `name` is what the model is told; its calls come back under it.
pub fn definition(name: &str, tool: &Tool) -> Adapted<Value> {
    let mut notes = Notes::default();
    check_name(name, &mut notes);
    let mut value = json!({"name": name});
    let description = description(tool, None, &mut notes);
    let schema = parameters(tool.input_schema(), "input_schema", &mut notes);
    if let Value::Object(members) = &mut value {
        members.extend(description.map(|text| ("description".to_owned(), text.into())));
        members.insert("input_schema".to_owned(), schema);
    }
    Adapted {
        value,
        notes: notes.0,
    }
}

/// Writes a result as a block of a message: texts, images, and documents where a resource was
/// sent along.
pub fn result(id: &str, result: &CallToolResult, limits: &TextLimits) -> Adapted<Value> {
    let mut notes = Notes::default();
    let content = if result.content().is_empty() {
        let made = text::text(result, limits);
        if made.is_cut {
            notes.add("content", "cut, and the cut is said in the text");
        }
        Vec::from_iter((!made.text.is_empty()).then(|| text_block(&made.text)))
    } else {
        blocks(result.content(), limits, &mut notes)
    };
    let mut value = json!({"type": "tool_result", "tool_use_id": id, "content": content});
    if let (true, Value::Object(members)) = (result.is_error(), &mut value) {
        members.insert("is_error".to_owned(), Value::Bool(true));
    }
    Adapted {
        value,
        notes: notes.0,
    }
}

fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn blocks(content: &[Content], limits: &TextLimits, notes: &mut Notes) -> Vec<Value> {
    let mut blocks = Vec::new();
    let (mut room, mut is_cut) = (limits.bytes, false);
    for block in content {
        let (value, bytes) = match block {
            Content::Image(image) if IMAGES.contains(&image.mime_type()) => (
                json!({"type": "image", "source": {
                    "type": "base64", "media_type": image.mime_type(), "data": image.data()}}),
                image.data().len(),
            ),
            Content::Resource(embedded) => match document(embedded.resource()) {
                Some(document) => document,
                None => describe_block(block, notes),
            },
            block => describe_block(block, notes),
        };
        match room.checked_sub(bytes) {
            _ if bytes == 0 => notes.add("content", "an empty block left out: the API refuses it"),
            Some(left) => {
                room = left;
                blocks.push(value);
            }
            None => is_cut = true,
        }
    }
    if is_cut {
        notes.add("content", "blocks left out that are too large");
        blocks.push(text_block("[cut: blocks that are too large]"));
    }
    blocks
}

fn describe_block(block: &Content, notes: &mut Notes) -> (Value, usize) {
    let text = text::block_text(block, notes);
    (text_block(&text), text.len())
}

/// A resource as a document: text, or a PDF.
fn document(contents: &switchboard_wire::ResourceContents) -> Option<(Value, usize)> {
    let source = |kind: &str, media_type: &str, data: &str| {
        json!({"type": "document", "title": contents.uri(), "source": {
            "type": kind, "media_type": media_type, "data": data}})
    };
    match (contents.text(), contents.blob(), contents.mime_type()) {
        (Some(text), _, _) => Some((source("text", "text/plain", text), text.len())),
        (None, Some(blob), Some("application/pdf")) => {
            Some((source("base64", "application/pdf", blob), blob.len()))
        }
        _ => None,
    }
}

/// Reads a `tool_use` block.
///
/// # Errors
/// Fails if the value is not such a block, or its input is not a JSON object.
pub fn tool_use(value: &Value) -> Result<Call, ParseCallError> {
    call::of_type(value, "tool_use")?;
    Ok(Call {
        id: call::string(value, "id")?,
        name: call::string(value, "name")?,
        arguments: call::arguments(value.get("input"))?,
    })
}

#[cfg(test)]
#[path = "anthropic_tests.rs"]
mod tests;
