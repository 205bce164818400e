//! OpenAI's two APIs: Chat Completions and Responses.

use serde_json::{Value, json};
use switchboard_wire::{CallToolResult, Content, Tool};

use super::adapt::{Notes, check_name, description, parameters};
use super::{Adapted, Call, ParseCallError, TextLimits, call, strict, text};

/// Longest description of a function, in characters.
const DESCRIPTION: usize = 1024;

/// Images that the Responses API takes.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/webp", "image/gif"];

/// The first line of a result that the tool calls an error: neither API has a flag for it.
const ERROR: &str = "The tool reported an error:\n";

/// Writes a tool as Chat Completions takes it, in `tools`.
///
/// `name` is what the model is told; its calls come back under it.
pub fn chat(name: &str, tool: &Tool) -> Adapted<Value> {
    let Function {
        members,
        is_strict,
        notes,
    } = function(name, tool);
    let mut function = members;
    // Left out it means no; only said where it holds.
    if let (true, Value::Object(function)) = (is_strict, &mut function) {
        function.insert("strict".to_owned(), Value::Bool(true));
    }
    Adapted {
        value: json!({"type": "function", "function": function}),
        notes,
    }
}

/// Writes a tool as the Responses API takes it, in `tools`.
pub fn responses(name: &str, tool: &Tool) -> Adapted<Value> {
    let Function {
        members,
        is_strict,
        notes,
    } = function(name, tool);
    let mut value = json!({"type": "function"});
    if let (Value::Object(value), Value::Object(members)) = (&mut value, members) {
        value.extend(members);
        // Left out it means yes here, which refuses most schemas.
        value.insert("strict".to_owned(), Value::Bool(is_strict));
    }
    Adapted { value, notes }
}

struct Function {
    members: Value,
    is_strict: bool,
    notes: Vec<super::Note>,
}

fn function(name: &str, tool: &Tool) -> Function {
    let mut notes = Notes::default();
    check_name(name, &mut notes);
    let description = description(tool, Some(DESCRIPTION), &mut notes);
    let parameters = parameters(tool.input_schema(), "parameters", &mut notes);
    let is_strict = strict::qualifies(&parameters);
    let mut members = json!({"name": name});
    if let (Value::Object(members), Some(description)) = (&mut members, description) {
        members.insert("description".to_owned(), description.into());
    }
    if let Value::Object(members) = &mut members {
        members.insert("parameters".to_owned(), parameters);
    }
    Function {
        members,
        is_strict,
        notes: notes.0,
    }
}

/// Writes a result as a message of Chat Completions.
pub fn chat_result(id: &str, result: &CallToolResult, limits: &TextLimits) -> Adapted<Value> {
    let mut notes = Notes::default();
    let said = result_text(result, limits, &mut notes);
    Adapted {
        value: json!({"role": "tool", "tool_call_id": id, "content": said}),
        notes: notes.0,
    }
}

/// Writes a result as an item of the Responses API: a text, or a list of parts where it has images.
pub fn responses_result(id: &str, result: &CallToolResult, limits: &TextLimits) -> Adapted<Value> {
    let mut notes = Notes::default();
    let has_images = result.content().iter().any(|block| image(block).is_some());
    let output = if has_images {
        parts(result, limits, &mut notes)
    } else {
        Value::String(result_text(result, limits, &mut notes))
    };
    Adapted {
        value: json!({"type": "function_call_output", "call_id": id, "output": output}),
        notes: notes.0,
    }
}

/// The whole result as one text.
fn result_text(result: &CallToolResult, limits: &TextLimits, notes: &mut Notes) -> String {
    let made = text::text(result, limits);
    if made.described > 0 {
        let count = made.described;
        notes.add(
            "content",
            format!("{count} blocks described: only text is taken"),
        );
    }
    if made.is_cut {
        notes.add("content", "cut, and the cut is said in the text");
    }
    if !result.is_error() {
        return made.text;
    }
    notes.add(
        "content",
        "the error is said in the text: the API has no flag for it",
    );
    format!("{ERROR}{}", made.text)
}

/// A URL that holds an image.
fn image(block: &Content) -> Option<String> {
    match block {
        Content::Image(image) if IMAGES.contains(&image.mime_type()) => Some(format!(
            "data:{};base64,{}",
            image.mime_type(),
            image.data()
        )),
        _ => None,
    }
}

fn parts(result: &CallToolResult, limits: &TextLimits, notes: &mut Notes) -> Value {
    let mut parts = Vec::new();
    if result.is_error() {
        notes.add(
            "content",
            "the error is said in the text: the API has no flag for it",
        );
        parts.push(json!({"type": "input_text", "text": ERROR.trim_end()}));
    }
    let (mut room, mut is_cut) = (limits.bytes, false);
    for block in result.content() {
        let (part, bytes) = match (image(block), block) {
            (Some(url), _) => {
                let bytes = url.len();
                (json!({"type": "input_image", "image_url": url}), bytes)
            }
            (None, block) => {
                let said = text::block_text(block, notes);
                let bytes = said.len();
                (json!({"type": "input_text", "text": said}), bytes)
            }
        };
        match room.checked_sub(bytes) {
            Some(left) => {
                room = left;
                parts.push(part);
            }
            None => is_cut = true,
        }
    }
    if is_cut {
        notes.add("content", "blocks left out that are too large");
        parts.push(json!({"type": "input_text", "text": "[cut: blocks that are too large]"}));
    }
    Value::Array(parts)
}

/// Reads a call out of `tool_calls` of Chat Completions.
///
/// # Errors
/// Fails if the value is not a function call, or its arguments are not a JSON object.
pub fn chat_call(value: &Value) -> Result<Call, ParseCallError> {
    call::of_type(value, "function")?;
    let function = value.get("function").unwrap_or(&Value::Null);
    Ok(Call {
        id: call::string(value, "id")?,
        name: call::string(function, "name")?,
        arguments: call::arguments(function.get("arguments"))?,
    })
}

/// Reads a call out of `output` of the Responses API.
///
/// # Errors
/// Fails if the value is not a function call, or its arguments are not a JSON object.
pub fn responses_call(value: &Value) -> Result<Call, ParseCallError> {
    call::of_type(value, "function_call")?;
    Ok(Call {
        id: call::string(value, "call_id")?,
        name: call::string(value, "name")?,
        arguments: call::arguments(value.get("arguments"))?,
    })
}

#[cfg(test)]
#[path = "openai_tests.rs"]
mod tests;
