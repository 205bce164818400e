//! From what a server sends to a request that a provider understands.

use switchboard_wire::{
    Content, CreateMessageParams, MediaContent, SamplingContent, SamplingMessage, ToolResultContent,
};

use super::balance::check_rounds;
use super::limits::SamplingLimits;
use super::model::{Media, ModelRequest, ModelTool, Part, Prompt, Role, ToolUse, Turn};

/// Reads a question for this model. Requests for context of other servers are ignored.
///
/// # Errors
/// Fails if it breaks the protocol's rules or a limit, with a message for the server.
pub fn read_request(
    question: &CreateMessageParams,
    model: &str,
    limits: &SamplingLimits,
) -> Result<ModelRequest, String> {
    // The size first: nothing of a prompt that is too large is copied.
    let bytes = question.raw().len_bytes();
    if bytes > limits.prompt_bytes {
        let most = limits.prompt_bytes;
        return Err(format!(
            "the question has {bytes} bytes, and at most {most} are taken"
        ));
    }
    if question.messages().is_empty() {
        return Err("there is no message".to_owned());
    }
    if question.max_tokens() == 0 {
        return Err("maxTokens is 0".to_owned());
    }
    let turns: Result<Vec<Turn>, String> = question.messages().iter().map(turn).collect();
    let prompt = Prompt {
        system: question.system_prompt().map(str::to_owned),
        turns: turns?,
    };
    // Counted in the prompt itself, as the server repeats its history with each request.
    let rounds = check_rounds(&prompt.turns)?;
    if rounds > limits.tool_rounds {
        let most = limits.tool_rounds;
        return Err(format!(
            "there were {rounds} rounds of tools in a row, and {most} are the most"
        ));
    }
    Ok(ModelRequest {
        model: model.to_owned(),
        prompt,
        // More is not refused: the answer is only shorter than the server hoped for.
        max_tokens: question.max_tokens().min(limits.request_tokens),
        temperature: question.temperature(),
        stop_sequences: question.stop_sequences().to_vec(),
        tools: question.tools().iter().map(tool).collect(),
        tool_use: tool_use(question)?,
    })
}

fn tool(tool: &switchboard_wire::Tool) -> ModelTool {
    ModelTool {
        name: tool.name().to_owned(),
        description: tool.description().map(str::to_owned),
        input_schema: tool.input_schema().raw().clone(),
    }
}

fn tool_use(question: &CreateMessageParams) -> Result<ToolUse, String> {
    let mode = question.tool_choice().and_then(|choice| choice.mode());
    match mode {
        None | Some("auto") => Ok(ToolUse::Auto),
        Some("required") if question.tools().is_empty() => {
            Err("toolChoice requires a tool, but no tools are given".to_owned())
        }
        Some("required") => Ok(ToolUse::Required),
        Some("none") => Ok(ToolUse::None),
        Some(_) => Err("toolChoice has a mode that is not known".to_owned()),
    }
}

fn turn(message: &SamplingMessage) -> Result<Turn, String> {
    let role = match message.role() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return Err("the role of a message is neither user nor assistant".to_owned()),
    };
    let parts: Result<Vec<Part>, String> = message.content().iter().map(part).collect();
    let parts = parts?;
    if parts.is_empty() {
        Err("a message says nothing".to_owned())
    } else {
        Ok(Turn { role, parts })
    }
}

fn part(content: &SamplingContent) -> Result<Part, String> {
    match content {
        SamplingContent::ToolUse(block) => {
            if block.input().is_object() {
                Ok(Part::Use {
                    id: block.id().to_owned(),
                    name: block.name().to_owned(),
                    input: block.input().clone(),
                })
            } else {
                Err("the input of a use of a tool is no object".to_owned())
            }
        }
        SamplingContent::ToolResult(block) => result(block),
        SamplingContent::Block(block) => message_part(block),
        _ => Err("a message has content of a type that is not known".to_owned()),
    }
}

fn result(block: &ToolResultContent) -> Result<Part, String> {
    let parts: Result<Vec<Part>, String> = block.content().iter().map(result_part).collect();
    let mut parts = parts?;
    // Structured data alone would be lost: models take text.
    if let (true, Some(data)) = (parts.is_empty(), block.structured_content()) {
        parts.push(Part::Text(data.as_str().to_owned()));
    }
    Ok(Part::Result {
        id: block.tool_use_id().to_owned(),
        parts,
        is_error: block.is_error().unwrap_or(false),
    })
}

/// Converts a content block of a message.
fn message_part(content: &Content) -> Result<Part, String> {
    match content {
        Content::Text(block) => Ok(Part::Text(block.text().to_owned())),
        Content::Image(block) => Ok(Part::Image(media(block))),
        Content::Audio(block) => Ok(Part::Audio(media(block))),
        _ => {
            Err("a message has content that is neither text, image, audio nor a tool's".to_owned())
        }
    }
}

/// Converts a content block of a tool result. Models get resources as their text.
fn result_part(content: &Content) -> Result<Part, String> {
    match content {
        Content::ResourceLink(link) => Ok(Part::Text(link.uri().to_owned())),
        Content::Resource(block) => match block.resource().text() {
            Some(text) => Ok(Part::Text(text.to_owned())),
            None => Err("a result of a tool has a resource without text".to_owned()),
        },
        _ => message_part(content),
    }
}

fn media(block: &MediaContent) -> Media {
    Media {
        mime_type: block.mime_type().to_owned(),
        data: block.data().to_owned(),
    }
}
