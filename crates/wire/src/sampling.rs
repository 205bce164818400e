//! Sampling (`sampling/createMessage`): a server asks our model.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::{Content, FromRaw, Misfit, Raw, Tool};

wire_object! {
    /// A tool call that the model requests.
    pub struct ToolUseContent {
        /// The id that the tool's result will refer to.
        id: [str] = "id",
        /// The tool's name.
        name: [str] = "name",
        /// The arguments.
        input: [of Raw] = "input",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

wire_object! {
    /// The result of a tool call, for the model.
    pub struct ToolResultContent {
        /// The id of the call.
        tool_use_id: [str] = "toolUseId",
        /// The blocks of the result.
        content: [list Content] = "content",
        /// The result as structured data.
        structured_content: [opt of Raw] = "structuredContent",
        /// True if the tool failed.
        is_error: [opt copy bool] = "isError",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

/// One block of a message for a model.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum SamplingContent {
    /// Since 2025-11-25: a tool call that the model requests.
    ToolUse(ToolUseContent),
    /// Since 2025-11-25: the result of such a call.
    ToolResult(ToolResultContent),
    /// Text, an image, a sound, or a block of unknown type.
    Block(Content),
}

impl SamplingContent {
    /// The block as it was sent.
    pub fn raw(&self) -> &Raw {
        match self {
            Self::ToolUse(block) => block.raw(),
            Self::ToolResult(block) => block.raw(),
            Self::Block(block) => block.raw(),
        }
    }
}

impl FromRaw for SamplingContent {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        let kind = raw.member("type").and_then(|kind| kind.as_text());
        match kind.as_deref() {
            Some("tool_use") => FromRaw::from_raw(raw).map(Self::ToolUse),
            Some("tool_result") => FromRaw::from_raw(raw).map(Self::ToolResult),
            _ => FromRaw::from_raw(raw).map(Self::Block),
        }
    }
}

impl Serialize for SamplingContent {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw().serialize(serializer)
    }
}

/// The content of a message: one block, or since 2025-11-25 an array of them.
#[derive(Debug, Clone, PartialEq)]
pub struct SamplingBlocks(Vec<SamplingContent>);

impl Deref for SamplingBlocks {
    type Target = [SamplingContent];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl FromRaw for SamplingBlocks {
    fn from_raw(raw: &Raw) -> Result<Self, Misfit> {
        // Before 2025-11-25 there was exactly one block.
        if !raw.is_array() {
            return Ok(Self(vec![SamplingContent::from_raw(raw)?]));
        }
        let read = |(index, item): (usize, Raw)| {
            SamplingContent::from_raw(&item)
                .map_err(|misfit| misfit.under(format_args!("[{index}]")))
        };
        let blocks: Result<Vec<_>, _> = raw.items().into_iter().enumerate().map(read).collect();
        blocks.map(Self)
    }
}

wire_object! {
    /// One message of the conversation.
    pub struct SamplingMessage {
        /// The speaker: `user` or `assistant`.
        role: [str] = "role",
        /// The content.
        content: [of SamplingBlocks] = "content",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

wire_object! {
    /// A suggested model.
    pub struct ModelHint {
        /// A part of a model's name.
        name: [opt str] = "name",
    }
}

wire_object! {
    /// Priorities for choosing the model. Advice only.
    pub struct ModelPreferences {
        /// Suggested models, the preferred one first.
        hints: [list ModelHint] = "hints",
        /// The weight of a low price, from 0 to 1.
        cost_priority: [opt copy f64] = "costPriority",
        /// The weight of speed, from 0 to 1.
        speed_priority: [opt copy f64] = "speedPriority",
        /// The weight of intelligence, from 0 to 1.
        intelligence_priority: [opt copy f64] = "intelligencePriority",
    }
}

wire_object! {
    /// The permission, or obligation, of the model to use tools.
    pub struct ToolChoice {
        /// `auto`, `required` or `none`; absent is `auto`.
        mode: [opt str] = "mode",
    }
}

wire_object! {
    /// Parameters of `sampling/createMessage`.
    pub struct CreateMessageParams {
        /// The conversation so far.
        messages: [list SamplingMessage] = "messages",
        /// Priorities for choosing the model.
        model_preferences: [opt of ModelPreferences] = "modelPreferences",
        /// The system prompt. Untrusted.
        system_prompt: [opt str] = "systemPrompt",
        /// Context to add: `none`, `thisServer` or `allServers`; absent is `none`.
        include_context: [opt str] = "includeContext",
        /// The sampling temperature.
        temperature: [opt copy f64] = "temperature",
        /// The maximum length of the answer, in tokens.
        max_tokens: [copy u64] = "maxTokens",
        /// Sequences that end the answer.
        stop_sequences: [list String] = "stopSequences",
        /// Data for the model's provider.
        metadata: [opt of Raw] = "metadata",
        /// Since 2025-11-25: tools that the model may use.
        tools: [list Tool] = "tools",
        /// Since 2025-11-25: the permission to use them.
        tool_choice: [opt of ToolChoice] = "toolChoice",
        /// 2025-11-25: the server wants a task.
        task: [opt of Raw] = "task",
        /// The `_meta` object, as sent.
        meta: [opt of Raw] = "_meta",
    }
}

/// The result of `sampling/createMessage`: our model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CreateMessageResult {
    /// The speaker: `assistant`.
    pub role: String,
    /// One block, or an array of them: see [`SamplingContent`].
    pub content: Raw,
    /// The model's name.
    pub model: String,
    /// The stop reason: `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or the provider's own word.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stop_reason: Option<String>,
}

impl CreateMessageResult {
    /// Creates an answer of one text block.
    pub fn text(model: impl Into<String>, text: &str) -> Self {
        #[derive(Serialize)]
        struct TextBlock<'a> {
            r#type: &'a str,
            text: &'a str,
        }
        let block = TextBlock {
            r#type: "text",
            text,
        };
        Self {
            role: "assistant".to_owned(),
            // Two strings always have a JSON form.
            content: Raw::of(&block).unwrap_or_else(|_| Raw::empty_object()),
            model: model.into(),
            stop_reason: Some("endTurn".to_owned()),
        }
    }
}

ask! {
    /// Asks our model, on behalf of a server.
    CreateMessage = "sampling/createMessage", CreateMessageParams => CreateMessageResult
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_may_be_one_block_or_several() {
        let text = r#"{"maxTokens":5,"messages":[
            {"role":"user","content":{"type":"text","text":"a"}},
            {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"t","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[]},
                                      {"type":"later"}]}]}"#;
        let params = CreateMessageParams::from_raw(&Raw::parse(text).unwrap()).unwrap();
        let kinds: Vec<Vec<_>> = params
            .messages()
            .iter()
            .map(|message| {
                let kind = |block: &SamplingContent| match block {
                    SamplingContent::ToolUse(block) => format!("use {}", block.id()),
                    SamplingContent::ToolResult(block) => format!("result {}", block.tool_use_id()),
                    SamplingContent::Block(Content::Unknown(_)) => "unknown".to_owned(),
                    SamplingContent::Block(block) => block.as_text().unwrap().to_owned(),
                };
                message.content().iter().map(kind).collect()
            })
            .collect();
        assert_eq!(
            kinds,
            [vec!["a"], vec!["use 1"], vec!["result 1", "unknown"]]
        );
    }

    #[test]
    fn a_text_answer_is_written_as_one_block() {
        assert_eq!(
            serde_json::to_string(&CreateMessageResult::text("m", "hi")).unwrap(),
            r#"{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m","stopReason":"endTurn"}"#
        );
    }
}
